//! Rules to begin with. Each file is sound by itself, and its own examples hold; a test says so.

use std::fmt::Write as _;

/// The name and the rules of each, without `version`.
pub const EXAMPLES: &[(&str, &str)] = &[
    ("write-only-for-named-subagents", include_str!("../examples/write-only-for-named-subagents.toml")),
    ("no-raw-echo-into-logs", include_str!("../examples/no-raw-echo-into-logs.toml")),
    ("completion-log-required", include_str!("../examples/completion-log-required.toml")),
    ("tests-before-stop", include_str!("../examples/tests-before-stop.toml")),
    ("no-recursive-delete", include_str!("../examples/no-recursive-delete.toml")),
    ("agent-tracer-stays", include_str!("../examples/agent-tracer-stays.toml")),
    ("budget", include_str!("../examples/budget.toml")),
];

const HEAD: &str = "\
# Rules for your agents. Nothing here is in force yet: take the `#` away from the rules that
# you want, then run `agent-tracer policy check` and `agent-tracer policy test`.
# Every key is described in docs/policy.md.

version = 1
";

/// Returns a file with every example, commented out.
#[must_use]
pub fn template() -> String {
    let mut text = HEAD.to_owned();
    for (_, example) in EXAMPLES {
        text.push('\n');
        for line in example.lines() {
            // Writing to a string cannot fail.
            match line {
                "" => writeln!(text, "#"),
                line if line.starts_with('#') => writeln!(text, "#{line}"),
                line => writeln!(text, "# {line}"),
            }
            .ok();
        }
    }
    text
}
