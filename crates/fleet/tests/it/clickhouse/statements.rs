//! The statements of both layouts, as they are sent.
//!
//! `schema.sql` holds the whole schema of one server, once. `steps.sql` holds what each step adds to it and what keeps it,
//! and `cluster.diff` what a cluster has otherwise: a change of a column is one line of one file.

use std::io::Write;
use std::path::Path;

use agent_tracer_fleet::clickhouse::schema::{
    Layout, VERSION, create, database, delete, keep_for, page, step,
};

/// The names of the lists of statements, in the order in which they are first sent, each with its statements.
fn sections(layout: &Layout) -> Vec<(String, Vec<String>)> {
    let steps = (2..=VERSION).map(|version| (format!("step {version}"), step(version, layout)));
    let whole = [database("team", layout)].into_iter().chain(create(layout)).collect();
    let mut sections = vec![("create".to_owned(), whole)];
    sections.extend(steps);
    sections.push(("retention".to_owned(), keep_for(Some(90), layout)));
    sections.push(("no retention".to_owned(), keep_for(None, layout)));
    sections.push(("deletion".to_owned(), vec![delete("fact", "owner = 'ann'", layout)]));
    sections
}

/// Writes a section; statements in a row that an earlier section has too become one line that names their places there.
fn section(earlier: &[(String, Vec<String>)], (name, statements): &(String, Vec<String>)) -> String {
    let mut text = format!("-- {name}\n");
    let mut at = 0;
    while let Some(statement) = statements.get(at) {
        let seen = earlier.iter().find_map(|(name, known)| {
            known.iter().position(|one| one == statement).map(|place| (name, known, place))
        });
        let Some((name, known, place)) = seen else {
            text.push_str(&format!("{statement};\n"));
            at += 1;
            continue;
        };
        let run =
            known[place..].iter().zip(&statements[at..]).take_while(|(one, other)| one == other).count();
        text.push_str(&format!("-- {name}: {} to {}\n", place + 1, place + run));
        at += run;
    }
    text
}

fn texts(layout: &Layout) -> (String, String) {
    let sections = sections(layout);
    let texts: Vec<String> =
        sections.iter().enumerate().map(|(at, one)| section(&sections[..at], one)).collect();
    (texts[0].clone(), texts[1..].join("\n"))
}

/// Compares with the stored text; `SNAPSHOT=update` stores the new one.
fn check(name: &str, text: &str) {
    check_text(&format!("crates/fleet/tests/it/clickhouse/statements/{name}"), text);
}

fn check_text(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    if std::env::var_os("SNAPSHOT").is_some_and(|value| value == "update") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == text,
        "`{name}` changed: a database that exists needs a step to it\nhint: `SNAPSHOT=update cargo test -p agent-tracer-fleet statements` stores the new text\n{}",
        similar::TextDiff::from_lines(stored.as_str(), text).unified_diff()
    );
}

#[test]
fn statements_for_one_server_are_as_stored() {
    let (schema, steps) = texts(&Layout::Single);
    check("schema.sql", &schema);
    check("steps.sql", &steps);
}

#[test]
fn statements_for_a_cluster_differ_only_as_stored() {
    let (schema, steps) = texts(&Layout::Single);
    let (on_cluster, cluster_steps) = texts(&Layout::Cluster { name: "tracer".to_owned() });
    let (single, cluster) = (schema + &steps, on_cluster + &cluster_steps);
    let diff = similar::TextDiff::from_lines(&single, &cluster);
    let changes = diff.iter_all_changes().filter(|change| change.tag() != similar::ChangeTag::Equal);
    let lines: String = changes.map(|change| format!("{}{change}", change.tag())).collect();
    check("cluster.diff", &lines);
}

#[test]
fn the_page_about_the_tables_is_made_of_their_definitions() {
    check_text("docs/tables.md", &page());
}
