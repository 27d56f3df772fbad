//! Whatever stands in `policy.tbl`: a table or damage, and never a row that points outside of it.

use agent_tracer_policy_abi::{Outage, Question, Row, Table, build};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "policy_table",
    run,
    seeds,
    dictionary: &[
        b"ATPOLTB2",
        b"claude_code",
        b"codex",
        b"PreToolUse",
        b"Bash",
        b"*",
        b"?",
        b"\xff\xff\xff\xff",
    ],
};

fn run(bytes: &[u8]) {
    look(bytes);
    // Chance does not find a checksum: with length and sum put right the rows themselves are tried.
    let mut sealed = bytes.to_vec();
    let length = u32::try_from(sealed.len()).unwrap_or(u32::MAX).to_le_bytes();
    let sum = sealed.iter().skip(20).fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let head = b"ATPOLTB2".iter().copied().chain(length).chain(sum.to_le_bytes());
    for (byte, right) in sealed.iter_mut().zip(head) {
        *byte = right;
    }
    look(&sealed);
}

fn look(bytes: &[u8]) {
    let Ok(table) = Table::open(bytes) else { return };
    let rows: Vec<Row<'_>> = table.rows().collect();
    for row in &rows {
        let question =
            Question { agent: row.agent, event: row.event, tool: row.tool, directories: [row.project, b""] };
        let found = table.ask(&question);
        // A name that is its own pattern is found by it, unless it holds a wildcard.
        if !row.tool.iter().any(|byte| matches!(byte, b'*' | b'?')) {
            assert!(found.is_some_and(|found| found.row.outage >= row.outage), "a row answers for itself");
        }
    }
    if let Ok(again) = build(table.deadline_ms(), table.guard(), &rows) {
        let table = Table::open(&again).expect("what was built is sound");
        assert!(table.rows().eq(rows), "what goes in comes out");
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let row = Row {
        agent: b"claude_code",
        event: b"PreToolUse",
        tool: b"mcp__*",
        project: b"/work",
        outage: Outage::Deny,
        stdout: b"{}\n",
        stderr: b"no\n",
        exit: 2,
        rule: b"user/no",
        server_only: false,
    };
    let rows = [row, Row { tool: b"Bash", outage: Outage::Ask, ..row }, Row { agent: b"codex", ..row }];
    [build(50, b"", &[]), build(50, b"/bin/guard", &rows)].into_iter().flatten().collect()
}
