//! The name of an event, put into a payload that lacks it.

/// The longest name. Those of clients have at most thirty letters.
const NAME_BYTES: usize = 64;

/// Writes the name of an event; see [`crate::Agent::name_event`].
pub(crate) fn write(payload: &mut Vec<u8>, event: &[u8]) -> bool {
    // The name comes from a command line and goes into JSON unescaped: these letters need no escape, and no name of a
    // client has another one.
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
    if event.is_empty() || event.len() > NAME_BYTES || !event.iter().all(is_letter) {
        return false;
    }
    // Found by its first byte and not parsed: the hook has no JSON tree, and a payload that turns out to be broken is
    // reported by privacy, which scans it anyway.
    let start = payload.iter().position(|byte| !byte.is_ascii_whitespace());
    let Some(inside) = start.filter(|start| payload.get(*start) == Some(&b'{')).map(|start| start + 1) else {
        return false;
    };
    // An empty object must not get a comma, or a valid payload would become an invalid one.
    let next = payload.get(inside..).unwrap_or_default().iter().find(|byte| !byte.is_ascii_whitespace());
    let end: &[u8] = if next == Some(&b'}') { b"\"" } else { b"\"," };
    let member = [b"\"hook_event_name\":\"", event, end].concat();
    payload.splice(inside..inside, member);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_gets_the_name_and_nothing_else_does() {
        for (payload, event, named) in [
            (r#"{"a":1}"#, "preToolUse", Some(r#"{"hook_event_name":"preToolUse","a":1}"#)),
            (" \n{ }", "stop", Some(" \n{\"hook_event_name\":\"stop\" }")),
            (r#"{"a""#, "stop", Some(r#"{"hook_event_name":"stop","a""#)),
            ("[]", "stop", None),
            ("", "stop", None),
            (r#"{"a":1}"#, "", None),
            (r#"{"a":1}"#, "a\"b", None),
            (r#"{"a":1}"#, "é", None),
        ] {
            let mut bytes = payload.as_bytes().to_vec();
            assert_eq!(write(&mut bytes, event.as_bytes()), named.is_some(), "{payload} {event}");
            assert_eq!(String::from_utf8(bytes).unwrap(), named.unwrap_or(payload));
        }
        let mut bytes = b"{}".to_vec();
        assert!(!write(&mut bytes, &[b'a'; NAME_BYTES + 1]));
        assert!(write(&mut bytes, &[b'a'; NAME_BYTES]));
    }
}
