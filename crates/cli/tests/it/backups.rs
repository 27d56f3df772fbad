//! The way back: backups of the store, restoring them, and what can be salvaged of a damaged one.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::history::{LEDGER, full, json as ask, nested, tasks};
use crate::serve::Server;
use crate::world::World;

const DATA: &str = "home/.local/share/agent-tracer";
const FOLDER: &str = "home/.local/share/agent-tracer/backup";

fn ids(world: &World) -> BTreeSet<String> {
    tasks(world).into_iter().map(|task| task.id).collect()
}

fn listed(world: &World, kind: &str) -> Vec<String> {
    let list = ask(world, &["backup", "list"]);
    let all = list.get("backups").and_then(Value::as_array).expect("a list").iter();
    let text = |it: &Value, key: &str| it.get(key).and_then(Value::as_str).map(str::to_owned);
    all.filter(|it| text(it, "kind").as_deref() == Some(kind)).filter_map(|it| text(it, "name")).collect()
}

fn create(world: &World) -> String {
    let made = ask(world, &["backup", "create"]);
    made.get("name").and_then(Value::as_str).expect("a name").to_owned()
}

fn post(world: &World, server: &Server, number: usize) {
    let token = world.read(&format!("{DATA}/token"));
    let event = json!({
        "id": format!("ev-{number}"), "kind": "tool.used", "runtimeSource": "claude-plugin",
        "runtimeSessionId": format!("posted-{number}"), "occurredAt": "2026-11-15T21:10:04.001Z", "title": "run",
        "metadata": {"toolUseId": format!("toolu_{number}"), "toolName": "Bash", "toolInput": {"command": "true"}},
    });
    let body = json!({ "events": [event] }).to_string();
    let address = server.address();
    let mut stream = TcpStream::connect(&address).expect("it listens");
    let head = format!(
        "POST /ingest/v1/events HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        token.trim(),
        body.len()
    );
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
}

#[test]
fn a_backup_takes_the_place_of_the_store_which_is_kept_and_can_be_brought_back() {
    let world = full();
    let before = ids(&world);
    let name = create(&world);
    assert_eq!((world.mode(FOLDER), world.mode(&format!("{FOLDER}/{name}"))), (0o700, 0o600));
    assert_eq!(world.names(FOLDER), [name.as_str()], "one file, and nothing beside it");
    world.write(
        "home/.claude/projects/-later/later.jsonl",
        "{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"1ater\",\"cwd\":\"/later\",\"timestamp\":\"2026-11-16T21:10:04.001Z\",\"promptId\":\"p1\",\"message\":{\"role\":\"user\",\"content\":\"later\"}}\n",
    );
    world.run(&["import"]).ended_with(0);
    let later = ids(&world);
    assert_eq!(later.len(), before.len() + 1);

    let looked = world.run(&["backup", "restore", &name, "--dry-run"]).ended_with(0);
    assert!(
        looked.stdout.starts_with("would put") && looked.stderr.contains("in the backup: "),
        "{looked:?}"
    );
    let unasked = world.run(&["backup", "restore", &name]).ended_with(2);
    assert!(unasked.stderr.contains("--yes"), "{}", unasked.stderr);
    assert_eq!(ids(&world), later);

    let done = world.run(&["backup", "restore", &name, "--yes"]).ended_with(0);
    assert!(done.stdout.contains(&format!("restored `{name}`: {} tasks", before.len())), "{}", done.stdout);
    assert!(
        done.stderr.contains("agent-tracer import") && done.stderr.contains("undoes this"),
        "{}",
        done.stderr
    );
    assert_eq!(ids(&world), before);
    world.run(&["import"]).ended_with(0);
    assert_eq!(ids(&world), later, "import reads what came after the backup");

    let undo = listed(&world, "undo");
    assert_eq!(undo.len(), 1);
    assert_eq!(world.mode(&format!("{DATA}/{}", undo[0])), 0o700);
    world.run(&["backup", "restore", &name, "--yes"]).ended_with(0);
    world.run(&["backup", "restore", &undo[0], "--yes"]).ended_with(0);
    assert_eq!(ids(&world), later, "what was undone is back");
    for name in listed(&world, "undo").iter().chain([&name]) {
        world.run(&["backup", "remove", name]).ended_with(0);
    }
    let none = world.run(&["backup", "list"]).ended_with(0);
    assert!(none.stderr.contains("no copies"), "{}", none.stderr);
    for odd in ["../ledger.db", "store-.db", ""] {
        world.run(&["backup", "restore", odd, "--yes"]).ended_with(1);
    }
}

#[test]
fn what_was_acknowledged_before_is_in_a_backup_that_is_made_beside_a_server() {
    let world = World::without_hook();
    let server = Server::start(&world);
    let mut made = Vec::new();
    for number in 0..30 {
        post(&world, &server, number);
        if number % 6 == 5 {
            made.push((number + 1, ask(&world, &["backup", "create"])));
        }
    }
    for (count, backup) in &made {
        assert_eq!(backup["tasks"], *count, "{backup}");
    }
    assert_eq!(world.names(FOLDER).len(), made.len(), "nothing beside them: {:?}", world.names(FOLDER));
    let name = made[2].1["name"].as_str().expect("a name");
    let refused = world.run(&["backup", "restore", name, "--yes"]).ended_with(1).stderr;
    assert!(
        refused.contains("in use by process") && refused.contains("stop `agent-tracer serve`"),
        "{refused}"
    );
    server.end(Signal::SIGTERM);
    world.run(&["backup", "restore", name, "--yes"]).ended_with(0);
    let there = ask(&world, &["tasks", "--limit", "100"]);
    assert_eq!(there["items"].as_array().expect("tasks").len(), 18);
}

#[test]
fn a_purge_reaches_backups_and_a_restore_does_not_bring_back_what_was_purged() {
    let world = full();
    let (name, root) = (create(&world), nested());
    let all = ids(&world);
    let purged = world.run(&["purge", &root, "--yes", "--keep-backups"]).ended_with(0);
    assert!(purged.stderr.contains(&format!("`{name}` still holds what was deleted")), "{}", purged.stderr);
    let left = ids(&world);
    assert_eq!(left.len(), all.len() - 3);
    let restored = world.run(&["backup", "restore", &name, "--yes"]).ended_with(0);
    assert!(restored.stderr.contains("3 tasks in it were purged since"), "{}", restored.stderr);
    assert_eq!(ids(&world), left);
    let after = create(&world);
    let other = left.iter().next().expect("a task");
    let purged = world.run(&["purge", other, "--yes"]).ended_with(0);
    assert!(purged.stderr.contains(&format!("removed the store backup `{after}`")), "{}", purged.stderr);
    assert!(listed(&world, "store").is_empty() && listed(&world, "undo").is_empty());
}

#[test]
fn the_server_backs_up_when_it_is_due_and_keeps_as_many_as_asked_for() {
    let world = full();
    world.run(&["backup", "on", "--days", "7"]).ended_with(0);
    let said = world.run(&["backup", "create", "--every", "1d", "--keep", "2"]).ended_with(0);
    assert!(said.stderr.contains("every 1d from now on and keeps 2"), "{}", said.stderr);
    let conf = world.read("home/.config/agent-tracer/config.toml");
    assert_eq!(
        conf,
        "[backup.compactions]\nenabled = true\ndays = 7\nmegabytes = 1024\n\n\
         [backup.store]\nevery_minutes = 1440\nkeep = 2\n"
    );
    let doctor = |world: &World| {
        let checks = world.run(&["doctor", "--json"]).stdout;
        let checks: Value = serde_json::from_str(&checks).expect("JSON");
        let found = checks["checks"].as_array().expect("checks").iter().find(|it| it["name"] == "backup");
        found.cloned().expect("a check")
    };
    assert_eq!(doctor(&world)["state"], "ok");
    // It was made long ago, and two others before it.
    let name = listed(&world, "store").remove(0);
    for (number, from) in [("20200101", true), ("20200102", true), ("20200103", false)] {
        let to = world.path(&format!("{FOLDER}/store-{number}T000000000Z.db"));
        let from_path = world.path(&format!("{FOLDER}/{name}"));
        if from { fs::copy(from_path, to).map(drop) } else { fs::rename(from_path, to) }.expect("laid");
    }
    let overdue = doctor(&world);
    assert!(
        overdue["state"] == "warn" && overdue["text"].as_str().is_some_and(|it| it.contains("overdue")),
        "{overdue}"
    );
    let mut server = Server::start(&world);
    server.read_until("backed up the store");
    let health = server.get("/api/v1/health");
    assert!(!health.contains("overdue"), "{health}");
    server.end(Signal::SIGTERM);
    let kept = listed(&world, "store");
    assert!(kept.len() == 2 && kept[0].contains("20200103"), "{kept:?}");
    world.run(&["backup", "create", "--every", "off"]).ended_with(0);
    world.run(&["backup", "off"]).ended_with(0);
    assert!(!world.read("home/.config/agent-tracer/config.toml").contains("every_minutes"));
    for arguments in [&["--every", "soon"][..], &["--every", "1m"], &["--every", "1d", "--keep", "0"]] {
        world.run(&[&["backup", "create"], arguments].concat()).ended_with(2);
    }
}

/// Changes one bit of a file.
fn flip(world: &World, file: &str, at: u64) {
    let file = OpenOptions::new().read(true).write(true).open(world.path(file)).expect("a file");
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).expect("a byte");
    file.write_all_at(&[byte[0] ^ 4], at).expect("written");
}

#[test]
fn a_backup_of_which_a_single_bit_was_changed_is_not_put_in_place() {
    let world = full();
    let (before, name) = (ids(&world), create(&world));
    let file = format!("{FOLDER}/{name}");
    let length = fs::metadata(world.path(&file)).expect("facts").len();
    for at in (4_096..length).step_by(usize::try_from(length / 7).expect("small")).chain([length - 1]) {
        flip(&world, &file, at);
        for arguments in [&["--dry-run"][..], &["--yes"]] {
            let refused =
                world.run(&[&["backup", "restore", &name], arguments].concat()).ended_with(1).stderr;
            assert!(refused.contains("cannot use") && refused.contains("recover --from"), "{at}: {refused}");
        }
        flip(&world, &file, at);
    }
    assert_eq!(ids(&world), before);
    world.run(&["backup", "list", "--verify"]).ended_with(0);
    flip(&world, &file, length / 2);
    let listed = world.run(&["backup", "list", "--verify", "--json"]).ended_with(1);
    assert!(listed.stdout.contains("\"damage\"") && listed.stderr.contains(&name), "{listed:?}");
    world.run(&["backup", "list"]).ended_with(0);
    let saved = ["recover", "--from", &format!("[W]/{file}"), "--to", "[W]/project/saved.db"];
    world.run(&saved).ended_with(0);
    flip(&world, &file, length / 2);
    world.run(&["backup", "restore", &name, "--yes"]).ended_with(0);
    assert_eq!(ids(&world), before);
    let doctor = world.run(&["doctor", "--json"]).stdout;
    assert!(!doctor.contains("damaged"), "{doctor}");
}

#[test]
fn a_damaged_store_is_not_backed_up_and_no_backup_goes_for_it() {
    let world = full();
    world.run(&["backup", "create", "--every", "1d", "--keep", "1"]).ended_with(0);
    let name = listed(&world, "store").remove(0);
    let old = "store-20200101T000000000Z.db";
    fs::rename(world.path(&format!("{FOLDER}/{name}")), world.path(&format!("{FOLDER}/{old}")))
        .expect("aged");
    // A change within a page that its shape does not tell of.
    let pages = fs::metadata(world.path(LEDGER)).expect("facts").len() / 4096;
    let damaged = (1..pages).find(|page| {
        flip(&world, LEDGER, page * 4096 + 4000);
        let is_seen = world.run(&["doctor"]).stdout.contains("1 page of `ledger.db` is damaged");
        if !is_seen {
            flip(&world, LEDGER, page * 4096 + 4000);
        }
        is_seen
    });
    assert!(damaged.is_some());
    let refused = world.run(&["backup", "create", "--every", "1d", "--keep", "1"]).ended_with(1).stderr;
    assert!(refused.contains("none was removed") && refused.contains("hint: "), "{refused}");
    assert_eq!(listed(&world, "store"), [old]);
}

#[test]
fn a_backup_of_a_time_that_has_not_come_keeps_no_other_from_being_made() {
    let world = full();
    world.run(&["backup", "create", "--every", "1d", "--keep", "1"]).ended_with(0);
    let name = listed(&world, "store").remove(0);
    let ahead = "store-21000101T000000000Z.db";
    fs::rename(world.path(&format!("{FOLDER}/{name}")), world.path(&format!("{FOLDER}/{ahead}")))
        .expect("moved");
    let mut server = Server::start(&world);
    server.read_until("backed up the store");
    server.end(Signal::SIGTERM);
    let kept = listed(&world, "store");
    assert!(kept.len() == 2 && kept[1] == ahead, "{kept:?}");
}

/// Writes something over a part of the store.
fn damage(world: &World, at: u64, bytes: &[u8]) {
    let file = OpenOptions::new().write(true).open(world.path(LEDGER)).expect("the store");
    file.write_all_at(bytes, at).expect("written");
}

#[test]
fn a_damaged_store_says_what_to_run_and_what_is_untouched_is_salvaged() {
    let world = full();
    let before = ids(&world);
    let whole = world.run(&["recover", "--yes"]).ended_with(0);
    assert!(whole.stderr.contains("nothing to recover"), "{}", whole.stderr);
    let name = create(&world);
    let pages = fs::metadata(world.path(LEDGER)).expect("facts").len() / 4096;
    for page in [pages / 5, pages / 2, pages - 3] {
        damage(&world, page * 4096, &[0; 4096]);
    }
    for arguments in
        [&["serve", "--listen", "127.0.0.1:0"][..], &["import"], &["rebuild"], &["backup", "create"]]
    {
        let refused = world.run(arguments).ended_with(1).stderr;
        assert!(refused.contains("`agent-tracer recover`"), "{arguments:?}: {refused}");
        assert!(
            refused.contains(&format!("`agent-tracer backup restore {name}`")),
            "{arguments:?}: {refused}"
        );
        assert!(!refused.contains("aside"), "{refused}");
    }
    let doctor = world.run(&["doctor"]).ended_with(1).stdout;
    assert!(doctor.contains("agent-tracer recover") && doctor.contains(&name), "{doctor}");
    let damaged = fs::read(world.path(LEDGER)).expect("bytes");
    let looked = world.run(&["recover", "--dry-run"]).ended_with(0);
    assert!(looked.stdout.starts_with("could salvage "), "{}", looked.stdout);
    assert_eq!(fs::read(world.path(LEDGER)).expect("bytes"), damaged);
    assert!(world.run(&["recover"]).ended_with(2).stderr.contains("--yes"));
    assert!(!world.exists(&format!("{LEDGER}.incoming")));
    let elsewhere = world.run(&["recover", "--to", "[W]/project/new.db"]).ended_with(0);
    assert!(elsewhere.stderr.contains("new.db"), "{}", elsewhere.stderr);
    world.run(&["recover", "--to", "[W]/project/new.db"]).ended_with(1);

    let report = ask(&world, &["recover", "--yes"]);
    let kept = report["kept"].as_str().expect("a name");
    assert_eq!(fs::read(world.path(&format!("{DATA}/{kept}/ledger.db"))).expect("bytes"), damaged);
    let lost: BTreeSet<String> = report["lostTasks"]
        .as_array()
        .expect("tasks")
        .iter()
        .map(|it| it.as_str().expect("an id").to_owned())
        .collect();
    let after = ids(&world);
    assert!(
        after.is_subset(&before)
            && before
                .difference(&after)
                .all(|id| lost.contains(id) || report["lostEntries"].as_u64() > Some(0)),
        "{report}"
    );
    assert!(after.len() * 10 > before.len() * 8, "{} of {}", after.len(), before.len());
    world.run(&["rebuild"]).ended_with(0);
    world.run(&["reread"]).ended_with(0);
    assert!(world.run(&["doctor"]).stdout.contains("the ledger is readable and intact"));
    world.run(&["backup", "restore", &name, "--yes"]).ended_with(0);
    assert_eq!(ids(&world), before);
}

#[test]
fn what_is_no_store_is_refused_and_left_alone() {
    let world = full();
    let theirs = world.path("theirs.db");
    rusqlite::Connection::open(&theirs)
        .expect("a file")
        .execute_batch("CREATE TABLE theirs (x)")
        .expect("a table");
    let theirs = fs::read(theirs).expect("bytes");
    for (bytes, words) in [
        (&[][..], "it is empty"),
        (&[0x5a; 9000], "nothing in it looks like a store"),
        (&theirs, "another program"),
    ] {
        fs::remove_file(world.path(LEDGER)).expect("removed");
        fs::File::create(world.path(LEDGER)).and_then(|mut file| file.write_all(bytes)).expect("laid");
        drop(fs::remove_file(world.path(&format!("{LEDGER}-journal-of-posts"))));
        let refused = world.run(&["recover", "--yes"]).ended_with(1).stderr;
        assert!(refused.contains(words) && refused.contains("hint: "), "{words}: {refused}");
        assert_eq!(fs::read(world.path(LEDGER)).expect("bytes"), bytes);
        assert!(!world.exists(&format!("{LEDGER}.incoming")));
    }
    world.run(&["recover", "--yes", "--start-empty"]).ended_with(0);
    assert_eq!(listed(&world, "undo").len(), 1);
    world.run(&["import"]).ended_with(0);
    assert!(tasks(&world).len() > 50);
}

#[test]
fn a_restore_that_is_killed_leaves_the_old_store_or_the_new_one() {
    let world = full();
    let name = create(&world);
    let new = ids(&world);
    world.run(&["purge", new.iter().next_back().expect("a task"), "--yes", "--keep-backups"]).ended_with(0);
    let old = ids(&world);
    // What was purged stays away, so both have the same tasks; what tells them apart is a task that only the old one has.
    world.write(
        "home/.claude/projects/-later/later.jsonl",
        "{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"1ater\",\"cwd\":\"/later\",\"timestamp\":\"2026-11-16T21:10:04.001Z\",\"promptId\":\"p1\",\"message\":{\"role\":\"user\",\"content\":\"later\"}}\n",
    );
    world.run(&["import"]).ended_with(0);
    let with_later = ids(&world);
    for delay in 0..14_u64 {
        let mut child = Command::new(world.path("bin/agent-tracer"))
            .args(["backup", "restore", &name, "--yes"])
            .env_clear()
            .env("HOME", world.path("home"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let (held, silence) = std::sync::mpsc::channel::<()>();
        // Only the time passes.
        assert!(silence.recv_timeout(Duration::from_millis(delay * delay * 3)).is_err());
        drop(held);
        drop(child.kill());
        child.wait().expect("it ends");
        world.run(&["rebuild"]).ended_with(0);
        let now = ids(&world);
        assert!(now == with_later || now == old, "after {delay}: {} tasks", now.len());
        if now == old {
            let undo = listed(&world, "undo").pop().expect("what was there");
            world.run(&["backup", "restore", &undo, "--yes"]).ended_with(0);
            assert_eq!(ids(&world), with_later, "after {delay}");
        }
    }
}
