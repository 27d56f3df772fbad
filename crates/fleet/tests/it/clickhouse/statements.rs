//! The statements of both layouts, as they are sent.
//!
//! The snapshot `schema` holds the whole schema of one server, once. `steps` holds what each step adds to it and what keeps
//! it, and `cluster` what a cluster has otherwise: a change of a column is one line of one file. A snapshot that changed
//! means that a database that exists needs a step to it.

use agent_tracer_fleet::clickhouse::schema::{
    Layout, VERSION, create, database, delete, keep_for, page, step,
};

/// Returns the names of the lists of statements, in the order in which they are first sent, each with its statements.
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

fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("statements");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

#[test]
fn statements_for_one_server_are_as_stored() {
    let (schema, steps) = texts(&Layout::Single);
    settings().bind(|| {
        insta::assert_snapshot!("schema", schema);
        insta::assert_snapshot!("steps", steps);
    });
}

#[test]
fn statements_for_a_cluster_differ_only_as_stored() {
    let (schema, steps) = texts(&Layout::Single);
    let (on_cluster, cluster_steps) = texts(&Layout::Cluster { name: "tracer".to_owned() });
    let (single, cluster) = (schema + &steps, on_cluster + &cluster_steps);
    let diff = similar::TextDiff::from_lines(&single, &cluster);
    let changes = diff.iter_all_changes().filter(|change| change.tag() != similar::ChangeTag::Equal);
    let lines: String = changes.map(|change| format!("{}{change}", change.tag())).collect();
    settings().bind(|| insta::assert_snapshot!("cluster", lines));
}

#[test]
fn the_page_about_the_tables_is_made_of_their_definitions() {
    agent_tracer_house::assert_file("docs/tables.md", &page());
}
