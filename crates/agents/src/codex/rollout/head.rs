//! The beginning of a row, looked at before anything is parsed.
//!
//! Most of the bytes of a rollout are rows that say nothing to us: the instructions of the harness, the state of the
//! world, the model's own copy of each message. Codex writes the members of a row in a fixed order, so a few bytes
//! tell such a row. A row that begins in any other way is parsed and recognised by its members; this only saves work.

/// Describes what the beginning of a row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head<'a> {
    /// The type of the row.
    pub(super) row: &'a str,
    /// The type of its payload, if the payload begins with one.
    pub(super) payload: Option<&'a str>,
}

/// Reads the beginning of a row that is written in the usual order.
pub(super) fn head(bytes: &[u8]) -> Option<Head<'_>> {
    let rest = bytes.strip_prefix(b"{\"timestamp\":")?;
    let (_, rest) = word(rest)?;
    let rest = rest.strip_prefix(b",")?;
    let rest = match rest.strip_prefix(b"\"ordinal\":") {
        Some(rest) => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            rest.get(digits..)?.strip_prefix(b",")?
        }
        None => rest,
    };
    let (row, rest) = word(rest.strip_prefix(b"\"type\":")?)?;
    let rest = rest.strip_prefix(b",\"payload\":{")?;
    let payload = rest.strip_prefix(b"\"type\":").and_then(word).map(|(payload, _)| payload);
    Some(Head { row, payload })
}

/// The longest word that is looked for.
const WORD_BYTES: usize = 64;

/// Returns a quoted text without escapes, and what follows it.
fn word(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(b"\"")?;
    let near = rest.get(..WORD_BYTES).unwrap_or(rest);
    let end = near.iter().position(|byte| *byte == b'"' || *byte == b'\\')?;
    let (word, rest) = rest.split_at_checked(end)?;
    Some((std::str::from_utf8(word).ok()?, rest.strip_prefix(b"\"")?))
}

/// Returns whether rows of this type are known and say nothing.
pub(super) fn says_nothing(row: &str, payload: Option<&str>) -> bool {
    match (row, payload) {
        // A snapshot of the environment; whether a message to another agent starts a turn.
        ("world_state" | "inter_agent_communication_metadata" | "inter_agent_communication", _) => true,
        // The model's copy of what items and events tell, the harness's own texts, and what only the model reads.
        ("response_item", Some(kind)) => matches!(
            kind,
            "message"
                | "reasoning"
                | "additional_tools"
                | "compaction"
                | "compaction_summary"
                | "compaction_trigger"
                | "context_compaction"
                | "ghost_snapshot"
        ),
        // `turn_context` repeats the settings for each turn; the rest are remarks of the client to its user.
        ("event_msg", Some(kind)) => matches!(
            kind,
            "thread_name_updated"
                | "thread_goal_updated"
                | "thread_rolled_back"
                | "undo_completed"
                | "plan_update"
                | "realtime_conversation_closed"
                | "warning"
                | "background_event"
                | "deprecation_notice"
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_the_usual_order_are_recognised_by_their_beginning() {
        for (row, expected) in [
            (
                r#"{"timestamp":"2026-11-15T19:33:11.642Z","ordinal":4,"type":"world_state","payload":{"full":true"#,
                Some(("world_state", None)),
            ),
            (
                r#"{"timestamp":"2026-11-15T19:33:11.642Z","type":"event_msg","payload":{"type":"token_count","#,
                Some(("event_msg", Some("token_count"))),
            ),
            (r#"{"type":"event_msg","payload":{}}"#, None),
            (r#"{"timestamp":"2026","ordinal":x,"type":"event_msg","payload":{}}"#, None),
            (r#"{"timestamp":"2026","type":"event_msg","payload":[]}"#, None),
            (r#"{"timestamp":"20\"26","type":"world_state","payload":{}}"#, None),
            (r#"{"timestamp":""#, None),
            ("", None),
        ] {
            let expected = expected.map(|(row, payload)| Head { row, payload });
            assert_eq!(head(row.as_bytes()), expected, "{row}");
        }
    }
}
