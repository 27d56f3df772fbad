//! `docs/cli.md` is made from the command line itself, and this test holds it to that.

use std::fmt::Write as _;

use clap::{Command, CommandFactory};

use crate::arguments::Arguments;
use crate::variables::VARIABLES;

const HEAD: &str = "\
# Command line

Generated from `agent-tracer --help` by a test; do not edit. Data goes to standard output, messages to standard error. Exit
codes: 0 done, 1 failed (for `doctor`: a check failed), 2 invalid usage. `NO_COLOR` is honoured.
";

fn describe(command: &mut Command, title: &str, text: &mut String) {
    let help = command.clone().term_width(100).render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    write!(text, "\n## {title}\n\n```text\n{}\n```\n", lines.join("\n").trim()).expect("text can be written");
    let listed = command.get_subcommands().filter(|it| !it.is_hide_set());
    let names: Vec<String> = listed.map(|it| it.get_name().to_owned()).collect();
    for name in names.iter().filter(|name| *name != "help") {
        let subcommand = command.find_subcommand_mut(name).expect("just listed");
        describe(subcommand, &format!("{title} {name}"), text);
    }
}

fn reference() -> String {
    let mut text = HEAD.to_owned();
    let mut command = Arguments::command();
    command.build();
    describe(&mut command, "agent-tracer", &mut text);
    text.push_str("\n## Environment variables\n\n| variable | read by | effect |\n|---|---|---|\n");
    for variable in VARIABLES {
        writeln!(text, "| `{}` | {} | {} |", variable.name, variable.reader, variable.effect)
            .expect("text can be written");
    }
    text
}

#[test]
fn the_reference_is_what_the_commands_say() {
    agent_tracer_house::assert_file("docs/cli.md", &reference());
}

#[test]
fn every_command_has_examples() {
    let command = Arguments::command();
    for subcommand in command.get_subcommands().filter(|it| it.get_name() != "help") {
        let after = subcommand.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(after.contains("Examples:\n"), "`{}` has no examples", subcommand.get_name());
        assert!(subcommand.get_about().is_some(), "`{}` does not say what it does", subcommand.get_name());
    }
}
