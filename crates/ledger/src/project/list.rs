//! The list that a fact stands in: which of a task's pages shows it, and what it means for the task's life.

use agent_tracer_event::{Kind, Lane, Metadata, attributes};
use serde_json::Value;

use super::ruling;
use crate::fold::Fact;

macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)+) => {
        /// The list that a fact stands in. The numbers are stored.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum List { $($(#[$doc])* $name = $code,)+ }

        impl List {
            /// Returns the list with a stored number; unknown numbers are [`List::Other`].
            #[must_use]
            pub const fn from_code(code: i64) -> Self {
                match code { $($code => Self::$name,)+ _ => Self::Other }
            }
        }
    };
}

lists! {
    /// Only in the timeline.
    Other = 0,
    /// Prompts.
    Prompt = 1,
    /// Final messages and failures of turns.
    Stop = 2,
    /// Starts of a process.
    SessionStart = 3,
    /// Ends of a process.
    SessionEnd = 4,
    /// Permissions asked for.
    Permission = 5,
    /// Questions to people.
    Question = 6,
    /// Changes of to-dos.
    Todo = 7,
    /// Use of the context, compactions, changes of the model.
    Context = 8,
    /// Responses of providers.
    Response = 9,
    /// Shell commands.
    Command = 10,
    /// Reads and searches.
    Exploration = 11,
    /// Look-ups in the web.
    Web = 12,
    /// Other tool calls.
    Call = 13,
    /// Interrupted turns.
    Interrupt = 14,
    /// Decisions of the user's rules.
    Rule = 15,
    /// Turns.
    Turn = 20,
}

/// Expands to the stored number of a list as a literal, for `concat!` in the text of a statement.
///
/// A bound parameter would make SQLite plan the statement again at every call, because the partial indexes depend on the
/// list; a number written by hand would say nothing to a reader.
macro_rules! list_code {
    (SessionStart) => {
        "3"
    };
    (SessionEnd) => {
        "4"
    };
    (Context) => {
        "8"
    };
    (Response) => {
        "9"
    };
    (Web) => {
        "12"
    };
}
pub(crate) use list_code;

impl List {
    /// The lists of facts that may be one of a series.
    pub const IN_SERIES: [Self; 2] = [Self::Prompt, Self::Stop];

    /// Returns its stored number.
    #[must_use]
    pub const fn code(self) -> i64 {
        self as i64
    }

    /// Returns the list of a fact.
    #[must_use]
    pub fn of(fact: &Fact) -> Self {
        let Some(kind) = fact.kind() else { return Self::Turn };
        Self::of_fields(kind, fact.tool_name.as_deref(), fact.lane, &fact.metadata)
    }

    /// Returns the list of an event, by the fields that decide it.
    pub(crate) fn of_fields(kind: Kind, tool: Option<&str>, lane: Option<Lane>, metadata: &Metadata) -> Self {
        let text = |key: &str| metadata.get(key).and_then(Value::as_str);
        match kind {
            Kind::UserMessage => Self::Prompt,
            Kind::AssistantResponse => Self::Stop,
            Kind::SessionStarted => Self::SessionStart,
            // A client that says so means the end of a turn: the task waits for its next prompt.
            Kind::SessionEnded if metadata.get(attributes::COMPLETE_TASK) == Some(&Value::Bool(false)) => {
                Self::Stop
            }
            Kind::SessionEnded => Self::SessionEnd,
            Kind::PermissionRequest => Self::Permission,
            Kind::RuleLogged if text(attributes::RULE_STATUS) == Some("requested") => Self::Permission,
            Kind::RuleLogged if text(attributes::RULE_POLICY) == Some(ruling::OURS) => Self::Rule,
            Kind::QuestionLogged => Self::Question,
            Kind::TodoLogged => Self::Todo,
            Kind::ContextSnapshot | Kind::ModelSwitched => Self::Context,
            // Other saved moments, such as a changed folder or a batch of tools, say nothing about the context.
            Kind::ContextSaved if metadata.contains_key(attributes::COMPACT_PHASE) => Self::Context,
            Kind::TokenUsage => Self::Response,
            // An attempt that says what it used, of which a better account may tell too.
            Kind::ModelRequest if text(attributes::USAGE_SOURCE) == Some("hook") => Self::Response,
            Kind::TurnInterrupted => Self::Interrupt,
            Kind::TerminalCommand => Self::Command,
            _ if matches!(text(attributes::SUBTYPE_KEY), Some("web_search" | "web_fetch")) => Self::Web,
            // The order of these arms is the rule: a search of the web is a tool call in the exploration lane too.
            _ if tool.is_none() => Self::Other,
            _ if lane == Some(Lane::Exploration) => Self::Exploration,
            _ => Self::Call,
        }
    }

    /// Returns whether facts of this list may end calls without an end of their own.
    #[must_use]
    pub const fn is_boundary(self) -> bool {
        matches!(self, Self::Prompt | Self::Stop | Self::SessionEnd | Self::Interrupt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_statements_are_those_that_are_stored() {
        for (text, list) in [
            (list_code!(SessionStart), List::SessionStart),
            (list_code!(SessionEnd), List::SessionEnd),
            (list_code!(Context), List::Context),
            (list_code!(Response), List::Response),
            (list_code!(Web), List::Web),
        ] {
            assert_eq!(text, list.code().to_string());
        }
    }

    /// Returns the lines of a file that write the number of a word (a list, a dimension, …) into the text of a statement.
    fn numbered(path: &std::path::Path) -> Vec<String> {
        let text = std::fs::read_to_string(path).unwrap();
        let is_numbered = |line: &&str| {
            let before = ["list", "dim", "level", "status", "state", "kind"]
                .iter()
                .flat_map(|column| [" = ", " <> ", " IN ("].map(|operator| format!("{column}{operator}")));
            before.into_iter().any(|before| {
                line.split(&before)
                    .skip(1)
                    .any(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
            })
        };
        let lines = text.lines().filter(is_numbered);
        lines.map(|line| format!("{}: {}", path.display(), line.trim())).collect()
    }

    #[test]
    fn no_statement_names_a_word_by_its_number() {
        let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                // A step of the schema is frozen: its text stays as it was released.
                match path.is_dir() {
                    true => folders.push(path),
                    false
                        if path.extension().is_some_and(|end| end == "rs")
                            && !path.ends_with("sqlite/upgrade.rs") =>
                    {
                        found.extend(numbered(&path));
                    }
                    false => {}
                }
            }
        }
        assert!(found.is_empty(), "use `list_code!`, `facts::in_list` or `code()`: {found:#?}");
    }

    #[test]
    fn stored_numbers_read_back() {
        for list in [List::Other, List::Prompt, List::Response, List::Call, List::Rule, List::Turn] {
            assert_eq!(List::from_code(list.code()), list);
        }
        assert_eq!(List::from_code(99), List::Other);
    }
}
