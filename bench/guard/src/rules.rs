//! Rules as people have them: most about tools, paths and commands, some about the past. None of them stops the command
//! that is measured, so that all of them are looked at every time; one rehearses, so that every decision is on record.

use std::path::Path;

use agent_tracer_spool::Home;

/// The rule whose decisions say how long deciding took.
pub(crate) const MEASURED: &str = "measured";

/// Lists the kinds of rules, used in turn. `N` stands for the number of the rule.
const KINDS: &[&str] = &[
    "match.command = { program = \"tool-N\" }",
    "match.command = { effect = \"delete\", target = \"keep-N/**\" }",
    "match.tool = \"Bash\"\nmatch.writes = [\"secret-N/**\", \"*.N.pem\"]",
    "match.command = { program = \"git\", subcommand = \"sub-N\" }\nunless.command = { text = \"*--dry-run*\" }",
    "match.host = \"host-N.example\"",
    "match.agent_type = \"type-N\"\nmatch.tool = \"Bash\"",
    "match.tool = \"Write\"\nmatch.path = \"src/N/**\"",
    "match.mcp_server = \"server-N\"",
    "match.command = { wrapper = \"sudo\", text = \"*N*\" }",
    "match.tool = \"*\"\nmatch.reads = \"private-N/**\"",
];

/// Rules about the past that hold for every command, in turn.
const PAST: &[&str] = &[
    "match.tool = \"Bash\"\nwhen.repeated = 100000",
    "match.tool = \"Bash\"\nwhen.failures_in_a_row = 100000",
    "match.tool = \"Bash\"\nwhen.tokens = { per = \"task\", over = 900000000000 }",
    "match.tool = \"Bash\"\nwhen.tokens = { per = \"day\", over = 900000000000 }",
    "match.tool = \"Bash\"\nwhen.cost_usd = { per = \"tree\", over = 1000000 }",
    "match.tool = \"Bash\"\nwhen.minutes_since = { last = \"start\", over = 100000000 }",
];

/// The text of so many rules.
fn text(rules: usize) -> String {
    let mut text = "version = 1\ndeadline_ms = 1000\n".to_owned();
    for number in 1..rules {
        let kinds = if number % 10 == 0 { PAST } else { KINDS };
        let kind = kinds
            .get(number / if number % 10 == 0 { 10 } else { 1 } % kinds.len())
            .copied()
            .unwrap_or_default();
        let kind = kind.replace('N', &number.to_string());
        text.push_str(&format!(
            "\n[[rule]]\nname = \"rule-{number}\"\non = \"PreToolUse\"\ndecision = \"deny\"\nreason = \"because\"\n{kind}\n"
        ));
    }
    let measured = "on = \"PreToolUse\"\ndecision = \"deny\"\nmode = \"dry_run\"\nreason = \"because\"\nmatch.tool = \"Bash\"";
    text + &format!("\n[[rule]]\nname = \"{MEASURED}\"\n{measured}\n")
}

/// Writes so many rules as the user's own.
pub(crate) fn write(home: &Path, rules: usize) -> Result<(), String> {
    let path = Home::in_folder(home).policy_file();
    let text = text(rules);
    if let Err(faults) = agent_tracer_policy::read(&text) {
        return Err(format!("the rules of this bench are not sound: {faults:?}"));
    }
    let folder = path.parent().unwrap_or(home);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::File::create(&path))
        .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()))
        .map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_rules_as_asked_for_and_they_are_sound() {
        for wanted in [1, 20, 200] {
            assert_eq!(agent_tracer_policy::read(&text(wanted)).unwrap().rules.len(), wanted);
        }
    }
}
