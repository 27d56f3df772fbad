//! The tables as earlier versions of the schema made them: those of today without what the steps since then brought.
//!
//! An edit that no longer finds its text fails, so that a change of a table is answered here as well as in a step.

use agent_tracer_fleet::clickhouse::schema::{Layout, create};

/// A difference between the statements of a version and those of the version after it.
enum Undo {
    /// The table or view did not exist.
    Table(&'static str),
    /// The lines of a table that begin with this text did not exist.
    Line(&'static str, &'static str),
    /// A text of a table was another one.
    Text(&'static str, &'static str, &'static str),
}

/// Leads from each version back to an earlier one, newest first.
///
/// Versions 2 and 3 added an index and a view to what version 1 has; no test starts from them.
const BACK: &[(u32, &[Undo])] = &[
    (
        4,
        &[
            Undo::Line("day_sum", "`machine` "),
            Undo::Text("day_sum", ", key, machine)", ", key)"),
            Undo::Text(
                "task",
                "by_parent parent TYPE bloom_filter(0.0001)",
                "by_parent parent TYPE bloom_filter(0.01)",
            ),
        ],
    ),
    (
        1,
        &[
            Undo::Table("closed_day"),
            Undo::Table("task_day"),
            Undo::Table("day_sum"),
            Undo::Table("day_mark"),
            Undo::Table("visit"),
            Undo::Table("tool_latencies"),
            Undo::Line("task", "INDEX by_task "),
            Undo::Line("fact", "INDEX by_list "),
            Undo::Line("fact", "INDEX by_beginnings "),
            Undo::Text("task", "\nSETTINGS index_granularity = 256", ""),
            Undo::Text("fact", "\nSETTINGS index_granularity = 1024", ""),
        ],
    ),
];

/// Returns the statements with which a server of that version made its tables, on one server.
pub(crate) fn statements(version: u32) -> Vec<String> {
    let mut statements = create(&Layout::Single);
    for (_, edits) in BACK.iter().filter(|(before, _)| *before >= version) {
        for edit in *edits {
            undo(&mut statements, edit);
        }
    }
    statements
}

fn undo(statements: &mut Vec<String>, edit: &Undo) {
    let (Undo::Table(table) | Undo::Line(table, _) | Undo::Text(table, ..)) = edit;
    let place = statements.iter().position(|statement| name(statement) == *table);
    let place = place.unwrap_or_else(|| panic!("no statement makes `{table}`"));
    let before = &statements[place];
    let after = match edit {
        Undo::Table(_) => {
            statements.remove(place);
            return;
        }
        Undo::Line(_, begin) => without_line(before, begin),
        Undo::Text(_, from, to) => before.replace(from, to),
    };
    assert_ne!(after, *before, "`{table}` has nothing to undo");
    statements[place] = after;
}

/// Returns the name of the table or view that a statement makes.
fn name(statement: &str) -> &str {
    let first = statement.lines().next().unwrap_or_default();
    first.trim_end_matches(" AS").rsplit(' ').next().unwrap_or_default().trim_matches('`')
}

fn without_line(statement: &str, begin: &str) -> String {
    let lines: Vec<&str> = statement.lines().filter(|line| !line.trim_start().starts_with(begin)).collect();
    // The last line of the definitions has no comma.
    lines.join("\n").replace(",\n)", "\n)")
}

#[test]
fn statements_of_older_versions_are_made_of_those_of_today() {
    let names = |version| statements(version).iter().map(|one| name(one).to_owned()).collect::<Vec<_>>();
    let views = ["session_summaries", "agent_runs", "skill_activations"];
    let first = [&["schema_step", "task", "fact", "token"][..], &views].concat();
    assert_eq!(names(1), first);
    assert_eq!(names(4), create(&Layout::Single).iter().map(|one| name(one).to_owned()).collect::<Vec<_>>());
    let machine = |version| {
        statements(version).concat().contains("`machine` LowCardinality(String) COMMENT 'the machine they")
    };
    assert!(machine(5) && !machine(4));
}
