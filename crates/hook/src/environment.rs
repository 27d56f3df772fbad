//! The environment variables that are recorded, by name. No other ever is.
//!
//! A hook inherits the user's whole environment, keys included, and some agents add tokens of
//! their own: a list of what to leave out would always be one name short.

use std::ffi::OsString;

use agent_tracer_agent::Agent;

/// Returns the names, in the order in which they are written.
///
/// The list covers every agent, because the variables of an agent that runs in another's shell show its parent.
pub(crate) fn recorded() -> impl Iterator<Item = &'static str> {
    Agent::ALL.iter().flat_map(|agent| agent.spec().recorded_variables).copied()
}

/// Returns the root of the project, as the agent or one around it names it.
pub(crate) fn project() -> Option<OsString> {
    Agent::ALL.iter().filter_map(|agent| agent.spec().project_variable).find_map(std::env::var_os)
}

/// Returns `true` if the user has switched recording off for this process and its children.
pub(crate) fn switched_off() -> bool {
    std::env::var_os("AGENT_TRACER_OFF")
        .is_some_and(|value| agent_tracer_spool::means_yes(value.as_encoded_bytes()))
}

/// Returns the id of the run of `agent-tracer run` that this process is a part of.
pub(crate) fn run() -> Option<OsString> {
    std::env::var_os(agent_tracer_spool::run::VARIABLE)
}

#[cfg(test)]
mod tests {
    use super::recorded;

    #[test]
    fn nothing_that_could_hold_a_secret_is_on_the_list() {
        for name in recorded() {
            for word in ["TOKEN", "KEY", "SECRET", "PASSWORD", "AUTH", "SOCKET"] {
                assert!(!name.contains(word), "`{name}` looks like it holds a secret");
            }
        }
    }
}
