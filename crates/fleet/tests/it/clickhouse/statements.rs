//! The statements of both layouts, as they are sent.

use std::io::Write;
use std::path::Path;

use agent_tracer_fleet::clickhouse::schema::{
    Layout, VERSION, create, database, delete, keep_for, page, step,
};

/// Compares with the kept text; `SNAPSHOT=update` keeps the new one.
fn check(name: &str, statements: &[String]) {
    let text = statements.iter().map(|statement| format!("{statement};\n")).collect::<Vec<_>>().join("\n");
    check_text(&format!("crates/fleet/tests/it/clickhouse/statements/{name}"), &text);
}

fn check_text(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    if std::env::var_os("SNAPSHOT").is_some_and(|value| value == "update") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == text,
        "`{name}` changed: a database that exists needs a step to it\nhint: `SNAPSHOT=update cargo test -p agent-tracer-clickhouse` keeps the new text\n{}",
        similar::TextDiff::from_lines(kept.as_str(), text).unified_diff()
    );
}

#[test]
fn statements_for_one_server_are_as_kept() {
    check("single.sql", &create(&Layout::Single));
}

#[test]
fn statements_for_a_cluster_are_made_of_the_same_definitions() {
    let layout = Layout::Cluster { name: "tracer".to_owned() };
    let made = [vec![database("team", &layout)], create(&layout)].concat();
    check("cluster.sql", &made);
}

#[test]
fn steps_deletions_and_retention_are_as_kept_in_both_layouts() {
    let mut statements = Vec::new();
    for layout in [Layout::Single, Layout::Cluster { name: "tracer".to_owned() }] {
        let made = create(&layout);
        for version in 2..=VERSION {
            statements
                .extend(step(version, &layout).into_iter().filter(|statement| !made.contains(statement)));
        }
        statements.extend(keep_for(Some(90), &layout));
        statements.extend(keep_for(None, &layout));
        statements.push(delete("fact", "owner = 'ann'", &layout));
    }
    check("tending.sql", &statements);
}

#[test]
fn the_page_about_the_tables_is_made_of_their_definitions() {
    check_text("docs/tables.md", &page());
}
