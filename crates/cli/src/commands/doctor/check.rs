//! One thing that `doctor` looked at.

use agent_tracer_event::Agent;
use serde::{Serialize, Serializer};

/// Lists the results of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
// In the order of gravity: `--brief` compares.
pub(crate) enum State {
    /// As it should be.
    Ok,
    /// Worth knowing, no judgement.
    Info,
    /// Needs attention, but events are recorded.
    Warn,
    /// Events are not recorded, or not as asked.
    Fail,
}

/// The part of the installation that a check belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// The two binaries.
    Program,
    /// Data and the rules for it.
    Home,
    /// A coding agent.
    Agent(Agent),
    /// Reader of the spool.
    Server,
}

impl Group {
    /// Returns every group, in the order in which they are shown.
    pub(crate) fn all() -> impl Iterator<Item = Group> {
        let agents = Agent::rows().map(Group::Agent);
        [Group::Program, Group::Home].into_iter().chain(agents).chain([Group::Server])
    }

    /// Returns the heading.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Group::Program => "Program",
            Group::Home => "Home",
            Group::Agent(agent) => agent.name(),
            Group::Server => "Server",
        }
    }
}

/// Written as one word: that of the agent on our command line, or the part's own.
impl Serialize for Group {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Group::Program => "program",
            Group::Home => "home",
            Group::Agent(agent) => agent.spec().word,
            Group::Server => "server",
        })
    }
}

/// A state, a sentence, and a way to fix it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    pub(crate) group: Group,
    /// A stable name for programs: words with `_`.
    pub(crate) name: &'static str,
    pub(crate) state: State,
    /// One sentence, without a full stop.
    pub(crate) text: String,
    /// Hint that fixes it.
    pub(crate) fix: Option<String>,
    /// The same, one by one, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<Box<serde_json::Value>>,
}

impl Check {
    pub(crate) fn new(group: Group, name: &'static str, state: State, text: impl Into<String>) -> Check {
        Check { group, name, state, text: text.into(), fix: None, details: None }
    }

    /// Returns the check with a way to fix it.
    pub(crate) fn fix(mut self, fix: impl Into<String>) -> Check {
        self.fix = Some(fix.into());
        self
    }

    /// Returns the check with what it found one by one.
    pub(crate) fn details(mut self, details: serde_json::Value) -> Check {
        self.details = Some(Box::new(details));
        self
    }
}

/// Writes `1 event`, `2 events`.
pub(crate) fn counted(count: u64, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}
