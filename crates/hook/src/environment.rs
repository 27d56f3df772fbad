//! The environment variables that are worth having, by name. No other is ever recorded.
//!
//! A hook inherits the user's whole environment, keys included, and Claude Code adds a messaging token of
//! its own: a list of what to leave out would always be one name short.

/// The names, in the order in which they are written.
pub(crate) const RECORDED: &[&str] = &[
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_PID",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_REMOTE",
    "CLAUDE_CODE_AGENT",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_EFFORT",
];

/// Tells whether the user has switched recording off for this process and its children.
pub(crate) fn switched_off() -> bool {
    std::env::var_os("AGENT_TRACER_OFF")
        .is_some_and(|value| agent_tracer_spool::means_yes(value.as_encoded_bytes()))
}

#[cfg(test)]
mod tests {
    use super::RECORDED;

    #[test]
    fn nothing_that_could_hold_a_secret_is_on_the_list() {
        for name in RECORDED {
            for word in ["TOKEN", "KEY", "SECRET", "PASSWORD", "AUTH", "SOCKET"] {
                assert!(!name.contains(word), "`{name}` looks like it holds a secret");
            }
        }
    }
}
