//! The values of switches in the environment, such as `AGENT_TRACER_OFF`.

/// Returns `true` unless the value is a plain no: a user who sets such a variable wants it to take effect.
#[must_use]
pub fn means_yes(value: &[u8]) -> bool {
    !matches!(value.to_ascii_lowercase().as_slice(), b"" | b"0" | b"no" | b"off" | b"false")
}

#[cfg(test)]
mod tests {
    use super::means_yes;

    #[test]
    fn only_a_plain_no_is_a_no() {
        for no in ["", "0", "no", "off", "false", "FALSE"] {
            assert!(!means_yes(no.as_bytes()), "{no}");
        }
        for yes in ["1", "yes", "true", "on", "2"] {
            assert!(means_yes(yes.as_bytes()), "{yes}");
        }
    }
}
