//! One thing that `doctor` looked at.

use serde::Serialize;

/// Lists the results of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Group {
    /// The two binaries.
    Program,
    /// Data and the rules for it.
    Home,
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Reader of the spool.
    Server,
}

impl Group {
    /// Every group, in the order in which they are shown.
    pub(super) const ALL: [Group; 5] =
        [Group::Program, Group::Home, Group::Claude, Group::Codex, Group::Server];

    /// Returns the heading.
    pub(super) fn title(self) -> &'static str {
        match self {
            Group::Program => "Program",
            Group::Home => "Home",
            Group::Claude => "Claude Code",
            Group::Codex => "Codex",
            Group::Server => "Server",
        }
    }
}

/// A state, a sentence, and a way to fix it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    pub(super) group: Group,
    /// A stable name for programs: words with `_`.
    pub(super) name: &'static str,
    pub(super) state: State,
    /// One sentence, without a full stop.
    pub(super) text: String,
    /// Hint that fixes it.
    pub(super) fix: Option<String>,
    /// The same, one by one, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<Box<serde_json::Value>>,
}

impl Check {
    pub(super) fn new(group: Group, name: &'static str, state: State, text: impl Into<String>) -> Check {
        Check { group, name, state, text: text.into(), fix: None, details: None }
    }

    /// Returns the check with a way to fix it.
    pub(super) fn fix(mut self, fix: impl Into<String>) -> Check {
        self.fix = Some(fix.into());
        self
    }

    /// Returns the check with what it found one by one.
    pub(super) fn details(mut self, details: serde_json::Value) -> Check {
        self.details = Some(Box::new(details));
        self
    }
}

/// Writes `1 event`, `2 events`.
pub(super) fn counted(count: u64, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}
