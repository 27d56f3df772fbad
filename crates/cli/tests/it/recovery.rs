//! Tests the faults that point to `agent-tracer recover`, and that it helps.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

use rusqlite::Connection;

use crate::history::{LEDGER, full, json as ask};
use crate::world::World;

/// Turns some bits of the last page of a table, as a disk does: the file is not younger for it.
fn damage(world: &World, table: &str, bits: &[u64]) {
    let conn = Connection::open(world.path(LEDGER)).expect("the store");
    let find = "SELECT max(pageno) FROM dbstat WHERE name = ?1 AND pagetype = 'leaf'";
    let page: u32 = conn.query_row(find, [table], |row| row.get(0)).expect("a page");
    drop(conn);
    let file = OpenOptions::new().read(true).write(true).open(world.path(LEDGER)).expect("the store");
    let then = file.metadata().and_then(|facts| facts.modified()).expect("a moment");
    for bit in bits {
        let (at, mut byte) = (u64::from(page) * 4096 - 21, [0]);
        file.read_exact_at(&mut byte, at).expect("a byte");
        file.write_all_at(&[byte[0] ^ (1 << bit)], at).expect("written");
    }
    file.set_modified(then).expect("a moment");
}

fn rows(world: &World) -> Vec<String> {
    let conn = Connection::open(world.path(LEDGER)).expect("the store");
    let mut all = Vec::new();
    for sql in ["SELECT quote(data) FROM entry ORDER BY 1", "SELECT text FROM word ORDER BY 1"] {
        let mut find = conn.prepare(sql).expect("a question");
        let rows = find.query_map([], |row| row.get::<_, String>(0)).expect("rows");
        all.extend(rows.map(|row| row.expect("a row")));
    }
    all
}

#[test]
fn damage_that_doctor_sees_is_not_refused_and_one_bit_of_it_costs_nothing() {
    let world = full();
    let before = rows(&world);
    for table in ["entry", "word", "source", "task"] {
        damage(&world, table, &[2]);
        let doctor = world.run(&["doctor"]).ended_with(1).stdout;
        assert!(doctor.contains("damaged") && doctor.contains("agent-tracer recover"), "{table}: {doctor}");
        let report = ask(&world, &["recover", "--yes"]);
        assert_eq!(
            (&report["whole"], &report["mendedPages"]),
            (&true.into(), &1.into()),
            "{table}: {report}"
        );
        assert_eq!(rows(&world), before, "{table}");
        let doctor = world.run(&["doctor"]).stdout;
        assert!(!doctor.contains("damaged:") && doctor.contains("are what was written"), "{table}: {doctor}");
    }
    damage(&world, "word", &[1, 2, 4]);
    let said = world.run(&["recover", "--yes"]).ended_with(0).stderr;
    assert!(said.contains("may be wrong") && said.contains("word"), "{said}");
    assert!(world.run(&["doctor"]).stdout.contains("are what was written"));
}

#[test]
fn what_another_program_wrote_is_said_until_it_is_accepted_with_one_command() {
    let world = full();
    Connection::open(world.path(LEDGER))
        .expect("the store")
        .execute_batch("UPDATE word SET text = text || ' and more' WHERE id < 5")
        .expect("changed");
    for _ in 0..2 {
        let doctor = world.run(&["doctor"]).ended_with(1).stdout;
        assert!(doctor.contains("another program") && doctor.contains("--accept-changes"), "{doctor}");
        assert!(!doctor.contains("damaged"), "{doctor}");
        // It opens the store, and changes nothing about it.
        world.run(&["rebuild"]).ended_with(0);
    }
    let accepted = ask(&world, &["recover", "--accept-changes"]);
    assert!(accepted["acceptedPages"].as_u64() > Some(0), "{accepted}");
    let doctor = world.run(&["doctor"]).stdout;
    assert!(doctor.contains("are what was written"), "{doctor}");
    assert!(rows(&world).iter().any(|row| row.ends_with(" and more")), "it is as the other program left it");
}
