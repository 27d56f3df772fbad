//! The table from outside: rows round-trip, damage is found, and patterns match as a simple matcher says.

use agent_tracer_policy_abi::{Damage, Outage, Question, Row, Table, TooLarge};
use proptest::prelude::*;

const DENY: Row<'_> = Row {
    agent: b"claude_code",
    event: b"PreToolUse",
    tool: b"Bash",
    project: b"",
    outage: Outage::Deny,
    stdout: b"{\"x\":1}\n",
    stderr: b"",
    exit: 0,
    rule: b"user/no",
    server_only: false,
};

fn build(deadline_ms: u32, rows: &[Row<'_>]) -> Result<Vec<u8>, TooLarge> {
    agent_tracer_policy_abi::build(deadline_ms, b"/bin/guard", rows)
}

fn question<'q>(event: &'q str, tool: &'q str, directory: &'q str) -> Question<'q> {
    Question {
        agent: b"claude_code",
        event: event.as_bytes(),
        tool: tool.as_bytes(),
        directories: [directory.as_bytes(), b""],
    }
}

#[test]
fn the_bytes_are_the_specified_ones() {
    let bytes = build(50, &[DENY]).expect("small");
    let mut expected = b"ATPOLTB2".to_vec();
    let texts = b"/bin/guardclaude_codePreToolUseBash{\"x\":1}\nuser/no";
    expected.extend((36 + 52 + texts.len() as u32).to_le_bytes());
    let mut checked = 50_u32.to_le_bytes().to_vec();
    checked.extend(1_u32.to_le_bytes());
    let mut text = |offset: u32, length: u8| {
        checked.extend(offset.to_le_bytes());
        checked.extend([length, 0, 0]);
    };
    text(88, 10);
    checked.push(0);
    let mut text = |offset: u32, length: u8| {
        checked.extend(offset.to_le_bytes());
        checked.extend([length, 0, 0]);
    };
    for (offset, length) in [(98, 11), (109, 10), (119, 4), (123, 0), (123, 8), (123, 0), (131, 7)] {
        text(offset, length);
    }
    checked.extend([2, 0, 0]);
    checked.extend(texts);
    let sum = checked
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    expected.extend(sum.to_le_bytes());
    expected.extend(checked);
    assert_eq!(bytes, expected);
}

#[test]
fn rows_answer_for_their_event_tool_and_project() {
    let rows = [
        DENY,
        Row { tool: b"mcp__*", outage: Outage::Ask, ..DENY },
        Row { event: b"Stop", tool: b"*", outage: Outage::Allow, ..DENY },
        Row { tool: b"Write", project: b"/code/app", ..DENY },
    ];
    let bytes = build(0, &rows).expect("small");
    let table = Table::open(&bytes).expect("sound");
    for (event, tool, directory, expected) in [
        ("PreToolUse", "Bash", "/x", Some(Outage::Deny)),
        ("PreToolUse", "BashOutput", "/x", None),
        ("PreToolUse", "mcp__a__b", "/x", Some(Outage::Ask)),
        ("PreToolUse", "", "/x", None),
        ("Stop", "", "/x", Some(Outage::Allow)),
        ("PreToolUse", "Write", "/code/app", Some(Outage::Deny)),
        ("PreToolUse", "Write", "/code/app/src", Some(Outage::Deny)),
        ("PreToolUse", "Write", "/code/apples", None),
        ("PreToolUse", "Write", "/code", None),
        ("SessionStart", "", "/x", None),
    ] {
        let answer = table.ask(&question(event, tool, directory)).map(|asked| asked.row.outage);
        assert_eq!(answer, expected, "{event} {tool} {directory}");
    }
    let codex = Question { agent: b"codex", ..question("PreToolUse", "Bash", "/") };
    assert!(table.ask(&codex).is_none());
}

#[test]
fn the_strictest_row_holds_in_an_outage() {
    let rows = [
        Row { outage: Outage::Ask, stdout: b"ask", ..DENY },
        Row { tool: b"*", stdout: b"deny", ..DENY },
        Row { outage: Outage::Allow, stdout: b"", ..DENY },
    ];
    let bytes = build(7, &rows).expect("small");
    let table = Table::open(&bytes).expect("sound");
    let asked = table.ask(&question("PreToolUse", "Bash", "/"));
    assert_eq!(asked.map(|asked| asked.row.stdout), Some(&b"deny"[..]));
    assert_eq!(table.guard(), b"/bin/guard");
    assert_eq!(table.deadline_ms(), 7);
}

#[test]
fn only_the_server_is_asked_if_every_matching_row_needs_it() {
    let quiet = Row { outage: Outage::Allow, server_only: true, ..DENY };
    for (rows, expected) in [
        (vec![quiet, quiet], true),
        (vec![quiet, DENY], false),
        (vec![DENY, quiet], false),
        (vec![DENY], false),
    ] {
        let bytes = build(0, &rows).expect("small");
        let table = Table::open(&bytes).expect("sound");
        let asked = table.ask(&question("PreToolUse", "Bash", "/")).expect("a matching row");
        assert_eq!(asked.server_only, expected, "{rows:?}");
    }
}

#[test]
fn a_rule_of_a_project_holds_for_its_root_and_for_the_working_directory() {
    let bytes = build(0, &[Row { project: b"/code/app", ..DENY }]).expect("small");
    let table = Table::open(&bytes).expect("sound");
    for (directories, expected) in [
        ([&b"/code/app"[..], b"/tmp"], true),
        ([b"", b"/code/app/src"], true),
        ([b"/code", b"/tmp"], false),
        ([b"", b""], false),
    ] {
        let asked = table.ask(&Question { directories, ..question("PreToolUse", "Bash", "") });
        assert_eq!(asked.is_some(), expected, "{directories:?}");
    }
}

#[test]
fn every_damage_is_found() {
    let bytes = build(50, &[DENY, DENY]).expect("small");
    assert_eq!(Table::open(b"").unwrap_err(), Damage::NotATable);
    assert_eq!(Table::open(b"ATPOLTB1 and more").unwrap_err(), Damage::NotATable);
    assert_eq!(Table::open(&bytes[..bytes.len() - 1]).unwrap_err(), Damage::Torn);
    for at in 20..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert_eq!(Table::open(&changed).unwrap_err(), Damage::Changed, "byte {at}");
    }
}

#[test]
fn more_than_the_limits_is_refused() {
    let long = vec![b'x'; 9 << 20];
    assert_eq!(build(0, &[Row { stdout: &long, ..DENY }]), Err(TooLarge));
    let many = vec![DENY; 65_537];
    assert_eq!(build(0, &many), Err(TooLarge));
    // Equal texts are kept once.
    let text = vec![b'y'; 1000];
    let bytes = build(0, &vec![Row { stdout: &text, ..DENY }; 1000]).expect("small");
    assert!(bytes.len() < 1000 * 52 + 2000);
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..20)
}

prop_compose! {
    fn row()(
        texts in prop::array::uniform7(text()), outage in 0..3_u8, exit in any::<u8>(), alone in any::<bool>(),
    ) -> ([Vec<u8>; 7], u8, u8, bool) {
        (texts, outage, exit, alone)
    }
}

/// Matches a pattern by trying every split: slow, and simple enough to compare with.
fn slowly(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) if slowly(rest, name) => true,
        (Some((b'*', _)), Some((_, left))) => slowly(pattern, left),
        (Some((b'?', rest)), Some((_, left))) => slowly(rest, left),
        (Some((one, rest)), Some((other, left))) => one == other && slowly(rest, left),
        _ => false,
    }
}

proptest! {
    #[test]
    fn rows_round_trip(all in prop::collection::vec(row(), 0..20), deadline in any::<u32>()) {
        let outage = |code: u8| [Outage::Allow, Outage::Ask, Outage::Deny][usize::from(code)];
        let rows: Vec<Row<'_>> = all.iter().map(|(texts, code, exit, alone)| Row {
            agent: &texts[0], event: &texts[1], tool: &texts[2], project: &texts[3], stdout: &texts[4],
            stderr: &texts[5], rule: &texts[6], outage: outage(*code), exit: *exit, server_only: *alone,
        }).collect();
        let bytes = build(deadline, &rows).unwrap();
        let table = Table::open(&bytes).unwrap();
        prop_assert_eq!(table.deadline_ms(), deadline);
        prop_assert_eq!(table.rows().collect::<Vec<_>>(), rows);
    }

    #[test]
    fn patterns_match_as_they_should(pattern in "[ab*?]{0,7}", name in "[ab]{0,7}") {
        let bytes = build(0, &[Row { tool: pattern.as_bytes(), ..DENY }]).unwrap();
        let table = Table::open(&bytes).unwrap();
        let found = table.ask(&question("PreToolUse", &name, "/")).is_some();
        prop_assert_eq!(found, slowly(pattern.as_bytes(), name.as_bytes()));
    }
}
