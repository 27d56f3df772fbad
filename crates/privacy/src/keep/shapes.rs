//! The shapes that kept values must have.

/// Returns `true` if `value` is an id: `[0-9a-z-]{1,64}`.
pub(crate) fn is_id(value: &[u8]) -> bool {
    (1..=64).contains(&value.len())
        && value.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'-'))
}

/// Returns `true` if `value` is a state: `[a-z_]{1,32}`.
pub(crate) fn is_state(value: &[u8]) -> bool {
    (1..=32).contains(&value.len()) && value.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'_'))
}

/// Returns `true` if `value` is a short word, which in `error` is no body: `[a-z_]{1,64}`.
pub(crate) fn is_error_word(value: &[u8]) -> bool {
    (1..=64).contains(&value.len()) && value.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'_'))
}

/// Returns `true` if `value` is the name of a model: `(claude|gpt|o[0-9])[a-z0-9.-]{0,60}`.
pub(crate) fn is_model(value: &[u8]) -> bool {
    let rest = match value {
        [b'c', b'l', b'a', b'u', b'd', b'e', rest @ ..] | [b'g', b'p', b't', rest @ ..] => rest,
        [b'o', b'0'..=b'9', rest @ ..] => rest,
        _ => return false,
    };
    rest.len() <= 60 && rest.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-'))
}

/// Returns `true` if `value` is an absolute path of sane length without control characters.
///
/// Only characters of the agent's own paths count: a sentence that starts with a slash is no path.
pub(crate) fn is_absolute_path(value: &[u8]) -> bool {
    value.starts_with(b"/")
        && value.len() <= 1024
        && value.iter().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'-' | b'+' | b'@' | b'~')
        })
}

/// Returns `true` if `value` is the name of a branch that the agent itself made for a worktree.
pub(crate) fn is_worktree_branch(value: &[u8]) -> bool {
    value.starts_with(b"worktree-")
        && value.len() <= 256
        && value
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'-' | b'+'))
}

/// Returns `true` if `value` is the path-like name of a Codex subagent: `/[a-z0-9_/-]{1,128}`.
pub(crate) fn is_task_name(value: &[u8]) -> bool {
    let Some(rest) = value.strip_prefix(b"/") else { return false };
    (1..=128).contains(&rest.len())
        && rest.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'/' | b'-'))
}

/// Returns `true` if `value` is a UUID in lower case.
pub(crate) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

/// Returns `true` if `value` is one word: a name, an id, a version. Kept at level `metadata`.
pub(crate) fn is_word(value: &[u8]) -> bool {
    value.len() <= 128
        && value.iter().all(|byte| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'_' | b'-' | b'.' | b':' | b'@' | b'/' | b'+' | b'*')
        })
}

/// Returns `true` if `value` is a short label such as the name of a model on the screen. Kept at level `metadata`.
pub(crate) fn is_label(value: &[u8]) -> bool {
    value.len() <= 64
        && value.iter().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_' | b'-' | b'.' | b'(' | b')')
        })
}

/// Returns `true` if `value` can be a path. Kept at level `metadata`.
pub(crate) fn is_path(value: &[u8]) -> bool {
    value.len() <= 4096 && !value.iter().any(u8::is_ascii_control)
}

/// Returns `true` if `name` is the name of a member and not a text in the place of one. Kept at level `metadata`.
pub(crate) fn is_member_name(name: &[u8]) -> bool {
    name.len() <= 64
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$' | b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_accept_only_values_of_the_clients() {
        assert!(is_id(b"aff290ceeb7216ead") && is_id(b"1") && is_id(b"aresearcher-6ff197c7c6b8fda5"));
        assert!(!is_id(b"") && !is_id(b"CANARY") && !is_id(b"a b") && !is_id(&[b'a'; 65]));
        assert!(
            is_state(b"async_launched") && !is_state(b"Async") && !is_state(b"in-progress") && !is_state(b"")
        );
        assert!(
            is_model(b"claude-opus-5-5")
                && is_model(b"gpt-5.5")
                && is_model(b"o3-mini")
                && is_model(b"claude")
        );
        assert!(!is_model(b"llama") && !is_model(b"claude Opus") && !is_model(b"o") && !is_model(b"gpt_5"));
        assert!(is_absolute_path(b"/home/dev") && !is_absolute_path(b"home") && !is_absolute_path(b"/a\nb"));
        assert!(is_worktree_branch(b"worktree-wt-one") && !is_worktree_branch(b"main; rm"));
        assert!(
            is_task_name(b"/root/scout")
                && !is_task_name(b"/")
                && !is_task_name(b"/Root")
                && !is_task_name(b"x")
        );
        assert!(
            is_uuid(b"01a1e0be-84a3-7821-97dd-747b90c57e02")
                && !is_uuid(b"01A1E0BE-84a3-7821-97dd-747b90c57e02")
        );
        assert!(is_word(b"mcp__demo__ask") && !is_word(b"two words"));
    }
}
