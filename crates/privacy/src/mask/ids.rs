//! Ids that are in every payload, told apart first because there are so many of them: they are never secrets.

/// Whether `text` is a UUID, or the id of a tool call.
#[inline]
pub(super) fn is_id(text: &[u8]) -> bool {
    is_uuid_like(text) || is_call_id(text)
}

/// Whether a stretch of word characters is built like a UUID. No key is.
#[inline]
pub(super) fn is_uuid_like(text: &[u8]) -> bool {
    text.len() == 36
        && [8, 13, 18, 23].iter().all(|place| text.get(*place) == Some(&b'-'))
        && text.iter().all(|byte| byte.is_ascii_hexdigit() | (*byte == b'-'))
}

/// `toolu_…` of Claude, `call_…` of Codex: letters and digits behind a prefix.
#[inline]
fn is_call_id(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"toolu_").or_else(|| text.strip_prefix(b"call_")) else {
        return false;
    };
    rest.len() <= 32 && rest.iter().all(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_told_from_what_only_looks_like_one() {
        assert!(is_id(b"5a133364-48e1-40c2-b568-cfba1112cbce"));
        assert!(is_id(b"toolu_40897adff8f74b43bf5153ec"));
        assert!(is_id(b"call_06f2226527ec411da74e"));
        assert!(!is_id(b"5a133364-48e1-40c2-b568-cfba1112cbcg"));
        assert!(!is_id(b"5a133364x48e1-40c2-b568-cfba1112cbce"));
        assert!(!is_id(b"call_password=hunter2"));
        assert!(!is_id(b""));
    }
}
