//! Heartbeats of subagents, as some versions wrote them into the file of their session.
//!
//! `{"type":"progress","data":{"type":"agent_progress","agentId":…,"message":…}}`: a row within a row. The message is
//! a row of the subagent, or only what it said. The subagent's own file tells the same, under the same ids.

use super::row::{Depth, Row, nested};
use super::scan::Cursor;
use super::text::Text;

/// Returns the row of a subagent that a heartbeat carries, and whose it is. `None` for heartbeats of other things.
pub(super) fn carried<'a>(outer: &Row<'a>, depth: Depth) -> Option<(Row<'a>, Text<'a>)> {
    let data = outer.data?;
    let about = nested(&mut Cursor::new(data), depth).ok()?;
    if !about.kind.is("agent_progress") || about.agent.is_empty() {
        return None;
    }
    let agent = about.agent;
    // Two readings of one member: as a row that has a message in it, else as that message itself.
    let mut message = None;
    let mut cursor = Cursor::new(data);
    let read = cursor.members(|cursor, name| {
        if name.is("message") {
            message = nested(cursor, depth).ok();
            return Ok(());
        }
        cursor.skip()
    });
    let whole = message.filter(|row| read.is_ok() && row.message.is_some());
    let mut row = whole.unwrap_or(about);
    // Only what was said is there: its role is the type that the row of the subagent has.
    if row.kind.is("agent_progress") {
        row.kind = row.message.as_ref()?.role;
    }
    row.agent = agent;
    for (own, given) in [
        (&mut row.session, outer.session),
        (&mut row.timestamp, outer.timestamp),
        (&mut row.cwd, outer.cwd),
        (&mut row.version, outer.version),
        (&mut row.branch, outer.branch),
    ] {
        if own.is_empty() {
            *own = given;
        }
    }
    Some((row, agent))
}

#[cfg(test)]
mod tests {
    use super::super::row::row;
    use super::*;

    fn carried_by(line: &str) -> Option<(String, String, String, String, Option<u64>)> {
        let outer = row(line.as_bytes(), Depth::Content).unwrap();
        let (row, agent) = carried(&outer, Depth::Content)?;
        let message = row.message?;
        Some((
            agent.to_string(),
            row.kind.to_string(),
            row.session.to_string(),
            message.id.to_string(),
            message.usage.map(|usage| usage.billed.tokens.output),
        ))
    }

    #[test]
    fn a_whole_row_and_a_bare_message_are_both_read() {
        let whole = r#"{"type":"progress","sessionId":"s","timestamp":"t","data":{"type":"agent_progress","agentId":"a1","message":{"type":"assistant","uuid":"u","message":{"id":"msg_1","role":"assistant","usage":{"output_tokens":3}}}}}"#;
        let bare = r#"{"type":"progress","sessionId":"s","data":{"message":{"id":"msg_1","role":"assistant","usage":{"output_tokens":3}},"agentId":"a1","type":"agent_progress"}}"#;
        for line in [whole, bare] {
            let (agent, kind, session, id, output) = carried_by(line).unwrap();
            assert_eq!((agent.as_str(), kind.as_str(), session.as_str()), ("a1", "assistant", "s"), "{line}");
            assert_eq!((id.as_str(), output), ("msg_1", Some(3)), "{line}");
        }
    }

    #[test]
    fn heartbeats_of_other_things_carry_nothing() {
        for line in [
            r#"{"type":"progress","data":{"type":"bash_progress","output":"x"}}"#,
            r#"{"type":"progress","data":{"type":"agent_progress"}}"#,
            r#"{"type":"progress","data":{"type":"agent_progress","agentId":"a"}}"#,
            r#"{"type":"progress","data":7}"#,
            r#"{"type":"progress"}"#,
        ] {
            assert_eq!(carried_by(line), None, "{line}");
        }
    }
}
