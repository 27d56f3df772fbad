//! The table that rules become.

use agent_tracer_policy::{Origin, RuleScope, compile};
use agent_tracer_policy_abi::{Outage, Table};

use crate::world::rules;

/// Returns the rows of the user's rules: agent, event, tool, outage, what is printed then.
fn rows(text: &str) -> Vec<String> {
    let file = rules(text);
    let placed = file.rules.iter().map(|rule| (RuleScope { origin: Origin::User, project: None }, rule));
    let bytes = compile(placed, &[], 50, b"/bin/guard").expect("small");
    let table = Table::open(&bytes).expect("sound");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    table
        .rows()
        .map(|row| {
            format!(
                "{} {} {} {:?} {}",
                text(row.agent),
                text(row.event),
                text(row.tool),
                row.outage,
                text(row.stdout)
            )
            .trim_end()
            .to_owned()
        })
        .collect()
}

#[test]
fn a_rule_becomes_a_row_for_each_agent_and_tool_it_could_be_about() {
    let ask = r#"Ask {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"[policy rule `r`; the call could not be checked] no"}}"#;
    let deny = r#"Ask {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"[policy rule `r`; the call could not be checked] no\nask the user first: this agent cannot be made to from here"}}"#;
    assert_eq!(
        rows(
            "[[rule]]\nname = \"r\"\non = \"PreToolUse\"\ndecision = \"deny\"\nreason = \"no\"\nmatch.tool = [\"Write\", \"mcp__*\"]\n"
        ),
        [
            format!("claude_code PreToolUse Write {ask}"),
            format!("claude_code PreToolUse mcp__* {ask}"),
            format!("codex PreToolUse Write {deny}"),
            format!("codex PreToolUse mcp__* {deny}"),
            format!("codex PreToolUse apply_patch {deny}"),
        ]
    );
    assert_eq!(
        rows(
            "[[rule]]\nname = \"r\"\non = [\"Stop\", \"TeammateIdle\"]\ndecision = \"deny\"\nreason = \"no\"\n"
        ),
        ["claude_code Stop * Allow", "codex Stop * Allow", "claude_code TeammateIdle * Allow"]
    );
    assert_eq!(
        rows("[[rule]]\nname = \"r\"\non = \"PreToolUse\"\ndecision = \"deny\"\nreason = \"no\"\nmatch = { agent = \"codex\", skill = \"x\" }\n").len(),
        2
    );
}

#[test]
fn an_outage_is_ready_to_be_printed() {
    let text = "[[rule]]\nname = \"r\"\non = \"PreToolUse\"\ndecision = \"deny\"\nreason = \"no\"\nmatch.tool = \"Write\"\nwhen.repeated = 3\non_outage = \"ask\"\n";
    let rows = rows(text);
    assert_eq!(
        rows[0],
        "claude_code PreToolUse Write Ask {\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"ask\",\"permissionDecisionReason\":\"[policy rule `r`; what happened before could not be looked up] no\"}}"
    );
    assert!(
        rows[1].starts_with("codex PreToolUse Write Ask {") && rows[1].contains("\"deny\""),
        "{}",
        rows[1]
    );
}

#[test]
fn rules_that_only_the_server_can_judge_need_no_guard() {
    let head = "[[rule]]\nname = \"r\"\non = \"PreToolUse\"\ndecision = \"deny\"\nreason = \"no\"\n";
    let end = "[[rule]]\nname = \"e\"\non = \"Stop\"\ndecision = \"deny\"\nreason = \"no\"\n";
    for (text, server_only, outage) in [
        (head.to_owned(), false, Outage::Ask),
        (head.replace("deny", "warn"), false, Outage::Allow),
        (format!("{head}mode = \"dry_run\"\non_outage = \"deny\"\n"), true, Outage::Allow),
        (format!("{head}when.repeated = 3\n"), true, Outage::Allow),
        (format!("{head}when.repeated = 3\non_outage = \"deny\"\n"), false, Outage::Deny),
        (format!("{end}require.todos_closed = true\n"), true, Outage::Allow),
    ] {
        let file = rules(&text);
        let placed = file.rules.iter().map(|rule| (RuleScope { origin: Origin::User, project: None }, rule));
        let bytes = compile(placed, &[], 50, b"/bin/guard").expect("small");
        let table = Table::open(&bytes).expect("sound");
        assert!(table.rows().count() > 0);
        for row in table.rows() {
            assert_eq!((row.server_only, row.outage), (server_only, outage), "{text}");
            assert!(row.rule.starts_with(b"user/"), "{text}");
        }
        assert_eq!(table.guard(), b"/bin/guard");
    }
}

#[test]
fn rules_that_may_do_nothing_have_no_row() {
    let file =
        rules("[[rule]]\nname = \"r\"\non = \"PreToolUse\"\ndecision = \"allow\"\nmatch.tool = \"Read\"\n");
    for (origin, expected) in [(Origin::Project, 0), (Origin::TrustedProject, 2)] {
        let placed = file.rules.iter().map(|rule| (RuleScope { origin, project: Some("/code/app") }, rule));
        let bytes = compile(placed, &[], 50, b"/bin/guard").expect("small");
        let table = Table::open(&bytes).expect("sound");
        assert_eq!(table.rows().count(), expected);
        assert!(table.rows().all(|row| row.project == b"/code/app" && row.outage == Outage::Allow));
    }
}

#[test]
fn who_has_no_sound_table_asks_at_every_event_that_rules_can_be_about() {
    let all: Vec<&[u8]> =
        agent_tracer_policy::Event::ALL.iter().map(|event| event.as_str().as_bytes()).collect();
    assert_eq!(agent_tracer_policy_abi::EVENTS.to_vec(), all);
}
