//! Faults of a file are reported with their place and a hint.

use agent_tracer_policy::{Decision, Event, OnOutage, Severity, read};

use crate::world::rules;

#[track_caller]
fn faults(text: &str) -> Vec<String> {
    let faults = read(text).expect_err("something is wrong");
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn a_sound_rule_is_read_whole() {
    let file = rules(
        r#"
[[rule]]
name = "no-prod"
description = "keep away from production"
on = ["PreToolUse", "PermissionRequest"]
decision = "deny"
reason = "production is out of bounds"
severity = "critical"
mode = "dry_run"
on_outage = "deny"
match.agent = ["claude_code", "codex"]
match.command = { program = "kubectl", effect = ["delete", "network"] }
unless.permission_mode = "plan"
when = { tokens = { per = "turn", over = 1000 }, repeated = 3 }

[[rule.example]]
tool = "Bash"
input = { command = "kubectl delete pod x" }
expect = "nothing"
"#,
    );
    let [rule] = file.rules.as_slice() else { panic!("one rule") };
    assert_eq!((rule.name.as_str(), rule.line), ("no-prod", 3));
    assert_eq!(rule.events, [Event::PreToolUse, Event::PermissionRequest]);
    assert_eq!((rule.decision, rule.on_outage), (Decision::Deny, OnOutage::Deny));
    assert_eq!(rule.severity, Severity::Critical);
    assert_eq!(rule.when.len(), 2);
    assert_eq!(rule.examples.len(), 1);
    assert_eq!(rule.examples[0].line, 17);
    assert!(file.notes.is_empty());
}

#[test]
fn all_faults_of_a_file_are_reported_at_once_with_line_and_column() {
    let text = r#"version = 1

[[rule]]
name = "one"
on = "PretoolUse"
desicion = "deny"
reason = ""

[[rule]]
name = "two words"
on = "PreToolUse"
decision = "forbid"
reason = "no"
  [rule.match]
  tool = 3
  comand = { program = "rm" }
"#;
    assert_eq!(
        faults(text),
        [
            "3:1: `decision` is missing",
            "5:6: `on` cannot be `PretoolUse`\n  hint: did you mean `PreToolUse`?",
            "6:1: a rule has no key `desicion`\n  hint: did you mean `decision`?",
            "7:10: `reason` is empty",
            "10:8: `two words` is not a valid name\n  hint: use at most 64 letters, digits, `-`, `_` and `.`",
            "12:12: `decision` cannot be `forbid`\n  hint: it is one of `allow`, `rewrite`, `warn`, `ask`, `deny` and `stop`",
            "15:10: `tool` is an integer, and should be a text or a list of texts",
            "16:3: `match` has no key `comand`\n  hint: did you mean `command`?",
        ]
    );
}

#[test]
fn columns_count_characters() {
    let said = faults("version = 1\n'näme' = 1");
    assert_eq!(said, ["2:1: the file has no key `näme`\n  hint: it has `version`, `deadline_ms` and `rule`"]);
    let said = faults("version = 1\n'ä' = 1\nrule = [{ \"ö\" = 1, x = 1 }]");
    assert!(
        said.contains(&"3:20: a rule has no key `x`".to_owned())
            || said.iter().any(|it| it.starts_with("3:20: ")),
        "{said:?}"
    );
}

#[test]
fn the_deadline_is_a_time_that_a_person_would_wait() {
    let deadline = |text: &str| read(text).map(|file| file.deadline_ms);
    assert_eq!(deadline("version = 1\n"), Ok(None));
    assert_eq!(deadline("version = 1\ndeadline_ms = 10000\n"), Ok(Some(10_000)));
    for wrong in ["0", "-1", "10001", "\"50\""] {
        assert_eq!(faults(&format!("version = 1\ndeadline_ms = {wrong}\n")).len(), 1, "{wrong}");
    }
}

#[test]
fn broken_toml_is_reported_with_its_place() {
    let said = faults("version = 1\n[[rule]]\nname = \"x\n");
    assert_eq!(said.len(), 1);
    assert!(said[0].starts_with("3:"), "{said:?}");
}

#[test]
fn a_file_says_its_version() {
    assert_eq!(faults(""), ["1:1: `version` is missing\n  hint: begin with `version = 1`"]);
    assert_eq!(faults("version = 2"), ["1:11: `version` is 2, and only 1 is known"]);
    assert!(read("version = 1").expect("no rules").rules.is_empty());
}

/// Returns a rule with the given lines besides the usual ones.
fn with(lines: &str) -> String {
    format!("version = 1\n[[rule]]\nname = \"r\"\nreason = \"because\"\n{lines}\n")
}

#[test]
fn what_no_agent_could_do_is_refused() {
    for (lines, expected) in [
        (
            "on = \"PostToolUse\"\ndecision = \"ask\"",
            "2:1: rule `r` cannot `ask` at `PostToolUse`\n  hint: at `PostToolUse` it can be `warn`, `deny` and `stop`",
        ),
        (
            "on = \"TaskCompleted\"\ndecision = \"deny\"\nmatch.agent = \"codex\"",
            "2:1: rule `r` cannot `deny` at `TaskCompleted`\n  hint: only `claude_code` has `TaskCompleted`",
        ),
        (
            "on = \"PreToolUse\"\ndecision = \"allow\"\nmatch.agent = \"codex\"",
            "2:1: rule `r` cannot `allow` at `PreToolUse`\n  hint: at `PreToolUse` it can be `rewrite`, `warn`, `ask`, `deny` and `stop`",
        ),
        (
            "on = \"Stop\"\ndecision = \"deny\"\non_outage = \"deny\"",
            "2:1: rule `r` cannot `deny` an outage at `Stop`\n  hint: an outage never keeps an agent working: leave `on_outage` out",
        ),
        (
            "on = \"Stop\"\ndecision = \"deny\"\nmatch.tool = \"Bash\"",
            "2:1: rule `r` matches on a tool call, and `Stop` has none",
        ),
        (
            "on = \"PreToolUse\"\ndecision = \"rewrite\"\nmatch.tool = \"Bash\"",
            "2:1: rule `r` rewrites nothing\n  hint: add `[rule.rewrite]` with `set`, `remove`, `add_flag` and `directory`",
        ),
        (
            "on = \"PreToolUse\"\ndecision = \"deny\"\nstop_reason = \"x\"\nmatch.tool = \"Bash\"",
            "2:1: rule `r` has `stop_reason` and does not stop\n  hint: write `decision = \"stop\"`, or take `stop_reason` away",
        ),
        (
            "on = \"PreToolUse\"\ndecision = \"allow\"\npermissions = [{ type = \"addRules\" }]\nmatch.tool = \"Bash\"",
            "2:1: rule `r` cannot update permissions\n  hint: they come with `allow` at `PermissionRequest` of Claude Code and nowhere else",
        ),
        (
            "on = \"PreToolUse\"\ndecision = \"deny\"\nat_most = 2\nmatch.tool = \"Bash\"",
            "7:11: `at_most` is for ends that are put off, such as `Stop`",
        ),
        (
            "on = \"PreToolUse\"\ndecision = \"deny\"\nmatch.time = { from = \"25:00\" }",
            "7:23: `from` cannot be `25:00`\n  hint: write hours and minutes, such as `22:00`",
        ),
        (
            "on = \"PreToolUse\"\ndecision = \"deny\"\nwhen.tokens = { per = \"turn\" }",
            "7:15: `tokens` needs `per` and `over`",
        ),
        (
            "on = \"PreToolUse\"\ndecision = \"deny\"\nmatch.tool = []",
            "7:14: `tool` is an empty list\n  hint: leave it out if it should not matter",
        ),
        (
            "on = \"UserPromptSubmit\"\ndecision = \"deny\"\non_outage = \"ask\"",
            "2:1: cannot ask at `UserPromptSubmit` during an outage\n  hint: use `deny` or `allow`",
        ),
    ] {
        assert_eq!(faults(&with(lines)), [expected], "{lines}");
    }
}

#[test]
fn one_bracket_too_few_is_explained() {
    assert_eq!(
        faults("version = 1\n[rule]\nname = \"x\""),
        [
            "2:1: `rule` is a table, and should be a list of tables\n  hint: write `[[rule]]`, with two brackets"
        ]
    );
}

#[test]
fn two_rules_do_not_share_a_name() {
    let rule = "[[rule]]\nname = \"r\"\non = \"Stop\"\ndecision = \"deny\"\nreason = \"x\"\n";
    assert_eq!(faults(&format!("version = 1\n{rule}{rule}")), ["7:1: two rules are called `r`"]);
}

#[test]
fn what_only_one_agent_does_is_noted() {
    let file =
        read(&with("on = \"PreToolUse\"\ndecision = \"allow\"\nmatch.tool = \"Read\"")).expect("sound");
    let notes: Vec<String> = file.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["2:1: rule `r` does nothing at `PreToolUse` of `codex`"]);
    let file = read(&with("on = \"PreToolUse\"\ndecision = \"deny\"")).expect("sound");
    assert_eq!(file.notes[0].to_string(), "2:1: rule `r` is about every call of its events");
}

#[test]
fn huge_files_are_refused() {
    let text = format!("version = 1\n# {}", "x".repeat(2 << 20));
    assert_eq!(faults(&text), ["1:1: the file is over 1048576 bytes"]);
}
