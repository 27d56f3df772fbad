//! The registry of attributes: every key that the metadata of a fact may have, declared once.
//!
//! A declaration makes a constant, which readers and folds use instead of a literal, and a row of [`GROUPS`], from
//! which the documentation, the OpenAPI document and the types of the dashboard are generated. A new key is a new
//! row here. Keys of posted events that no row declares are kept as they came: they belong to their sender.
//!
//! A row names the constant, the key, the type with its unit, the lowest level of privacy at which the value is
//! kept, and the facts that carry it. An attribute whose values are words of ours names their set:
//!
//! ```text
//! /// Measures the text of the result.
//! OUTPUT_BYTES = "outputBytes": Integer(Bytes), Metadata, [CALLS];
//! /// Names the family of the tool.
//! TOOL_FAMILY = "toolFamily": String<ToolFamily>, Metadata, [CALLS];
//! ```

mod agent;
mod carriers;
mod context;
mod file;
mod message;
mod model;
mod permission;
mod question;
mod session;
mod shell;
mod todo;
mod tool;
mod web;

pub use agent::*;
pub use carriers::{ACCOUNT, CALLS, Carriers, EVENTS, TASK, TURN};
pub use context::*;
pub use file::*;
pub use message::*;
pub use model::*;
pub use permission::*;
pub use question::*;
pub use session::*;
pub use shell::*;
pub use todo::*;
pub use tool::*;
pub use web::*;

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::words;

words! {
    /// The type of an attribute's value.
    ValueType {
        /// A string.
        String = "string",
        /// A string that people may have written; where privacy drops it, its length stands for it, as `{"bytes": n}`.
        Text = "text",
        /// A whole number.
        Integer = "integer",
        /// A number.
        Number = "number",
        /// `true` or `false`.
        Boolean = "boolean",
        /// A list.
        List = "list",
        /// An object.
        Object = "object",
        /// Any JSON.
        Open = "open",
    }
}

words! {
    /// The unit of a number, or the format of a time.
    Unit {
        /// Milliseconds.
        Milliseconds = "ms",
        /// Microseconds.
        Microseconds = "µs",
        /// Seconds.
        Seconds = "s",
        /// Bytes.
        Bytes = "bytes",
        /// Characters.
        Characters = "characters",
        /// Lines.
        Lines = "lines",
        /// The number of a line, counted from 1.
        LineNumber = "line",
        /// The number of a column, counted from 1.
        ColumnNumber = "column",
        /// A count of things.
        Items = "count",
        /// Tokens.
        Tokens = "tokens",
        /// US dollars.
        UsDollars = "USD",
        /// Per cent, from 0 to 100.
        Percent = "%",
        /// A time in RFC 3339, UTC.
        Rfc3339 = "RFC 3339",
        /// Milliseconds since 1970, UTC.
        EpochMilliseconds = "ms since 1970",
    }
}

words! {
    /// The level of privacy that the user chose; each keeps all that the one before it keeps.
    CaptureLevel {
        /// Names, paths, states and quantities.
        Metadata = "metadata",
        /// Also prompts, final answers, commands and arguments, masked.
        Actions = "actions",
        /// Also commentary, thoughts, and the head and tail of results, masked.
        Full = "full",
    }
}

/// One key of the metadata, as it is declared.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// The key.
    pub key: &'static str,
    /// The type of its value.
    pub value: ValueType,
    /// The unit of its value.
    pub unit: Option<Unit>,
    /// The words that our readers write; senders of events may write others. `None` if the value is free.
    pub words: Option<&'static [&'static str]>,
    /// The lowest level at which the value is kept.
    pub level: CaptureLevel,
    /// The facts that may carry it.
    pub carriers: Carriers,
    /// Its meaning, one sentence.
    pub meaning: &'static str,
}

/// Attributes of one subject.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The name of the subject.
    pub title: &'static str,
    /// One sentence about it.
    pub about: &'static str,
    /// Its attributes.
    pub attributes: &'static [Attribute],
}

/// Declares attributes: a constant for each key, and a table of all.
macro_rules! declare {
    ($table:ident $($(#[doc = $meaning:literal])+ $name:ident = $key:literal: $value:ident $(($unit:ident))? $(<$words:ident>)?, $level:ident,
        [$($carrier:ident),+];)+) => {
        $($(#[doc = $meaning])+ pub const $name: &str = $key;)+

        /// Holds the attributes of this subject.
        pub(super) const $table: &[super::Attribute] = &[$(super::Attribute {
            key: $key,
            value: super::ValueType::$value,
            unit: declare!(@unit $($unit)?),
            words: declare!(@words $($words)?),
            level: super::CaptureLevel::$level,
            carriers: super::Carriers::union(&[$(super::carriers::$carrier),+]),
            meaning: concat!($($meaning),+),
        }),+];
    };
    (@unit) => { None };
    (@unit $unit:ident) => { Some(super::Unit::$unit) };
    (@words) => { None };
    (@words $words:ident) => { Some($words::WORDS) };
}
use declare;

/// Every attribute, by subject.
pub const GROUPS: &[Group] = &[
    Group {
        title: "Tool calls",
        about: "Every tool call, whatever the tool: its meaning, its input, its result and its times.",
        attributes: TOOL_ATTRIBUTES,
    },
    Group {
        title: "Files and searches",
        about: "Files that are read, changed and searched, and the language server.",
        attributes: FILE_ATTRIBUTES,
    },
    Group {
        title: "Commands",
        about: "Shell commands, monitors and background tasks.",
        attributes: SHELL_ATTRIBUTES,
    },
    Group { title: "Web", about: "Searches of the web and fetched pages.", attributes: WEB_ATTRIBUTES },
    Group {
        title: "Agents, skills and servers",
        about: "Subagents, skills, MCP servers, messages and schedules.",
        attributes: AGENT_ATTRIBUTES,
    },
    Group {
        title: "Permissions and rules",
        about: "Permission requests, denials and decisions of rules.",
        attributes: PERMISSION_ATTRIBUTES,
    },
    Group {
        title: "Questions and notifications",
        about: "Questions to the user, forms of MCP servers and notifications.",
        attributes: QUESTION_ATTRIBUTES,
    },
    Group {
        title: "Todos, plans and worktrees",
        about: "Work items, plans, goals, reviews and worktrees.",
        attributes: TODO_ATTRIBUTES,
    },
    Group {
        title: "Models, tokens and cost",
        about: "Models, requests to providers, tokens and cost.",
        attributes: MODEL_ATTRIBUTES,
    },
    Group {
        title: "Context window and limits",
        about: "The context window, rate limits, compaction and what the context is loaded with.",
        attributes: CONTEXT_ATTRIBUTES,
    },
    Group {
        title: "Prompts and responses",
        about: "Prompts, commands typed as prompts, responses and the ends of turns.",
        attributes: MESSAGE_ATTRIBUTES,
    },
    Group {
        title: "Sessions and tasks",
        about: "Identity, origin and process of a session.",
        attributes: SESSION_ATTRIBUTES,
    },
];

/// A key that is made of a prefix and a name.
#[derive(Clone, Copy, Debug)]
pub struct Prefix {
    /// The prefix.
    pub prefix: &'static str,
    /// The type of the values.
    pub value: ValueType,
    /// The facts that may carry such keys.
    pub carriers: Carriers,
    /// Its meaning, one sentence.
    pub meaning: &'static str,
}

/// The prefix of members of a hook's payload that no reader knows.
pub const OTHER_PREFIX: &str = "other.";
/// The prefix of the sessions that pay for a task.
pub const PAID_BY_PREFIX: &str = "paidBy:";
/// The prefix of the sessions that a task pays for.
pub const PAID_FOR_PREFIX: &str = "paidFor:";

/// Every prefix.
pub const PREFIXES: &[Prefix] = &[
    Prefix {
        prefix: OTHER_PREFIX,
        value: ValueType::Open,
        carriers: Carriers::union(&[EVENTS, TASK, TURN, ACCOUNT]),
        meaning: "Holds a member of the payload that no reader knows, by its name.",
    },
    Prefix {
        prefix: PAID_BY_PREFIX,
        value: ValueType::Boolean,
        carriers: TASK,
        meaning: "Marks a session whose account is charged for this one, by its id.",
    },
    Prefix {
        prefix: PAID_FOR_PREFIX,
        value: ValueType::Boolean,
        carriers: TASK,
        meaning: "Marks a session that this one's account is charged for, by its id.",
    },
];

/// Returns every attribute.
pub fn all() -> impl Iterator<Item = &'static Attribute> {
    // From the groups and not from a list of its own, so that a key that is in no group cannot exist.
    GROUPS.iter().flat_map(|group| group.attributes)
}

/// Returns the attribute of a key.
#[must_use]
pub fn find(key: &str) -> Option<&'static Attribute> {
    // Every member of a posted event is looked up.
    static BY_KEY: LazyLock<HashMap<&str, &Attribute>> =
        LazyLock::new(|| all().map(|attribute| (attribute.key, attribute)).collect());
    BY_KEY.get(key).copied()
}

/// Returns the type of the values of a key that is declared, by itself or by its prefix.
#[must_use]
pub fn value_type(key: &str) -> Option<ValueType> {
    // The whole key first: it is a lookup, and a prefix is a search.
    find(key).map(|attribute| attribute.value).or_else(|| find_prefix(key).map(|prefix| prefix.value))
}

/// Returns the prefix that a key begins with.
#[must_use]
pub fn find_prefix(key: &str) -> Option<&'static Prefix> {
    PREFIXES.iter().find(|prefix| key.starts_with(prefix.prefix))
}

impl ValueType {
    /// Returns whether a value has this type.
    #[must_use]
    pub fn admits(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            // At the level of metadata only the length of a text is kept, under the same key.
            Self::Text => value.is_string() || is_length(value),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::List => value.is_array(),
            Self::Object => value.is_object(),
            Self::Open => true,
        }
    }
}

/// Returns whether a value is the length that stands for a text.
#[must_use]
pub fn is_length(value: &Value) -> bool {
    value.get("bytes").is_some_and(Value::is_u64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn every_key_is_declared_once_and_has_one_sentence() {
        let mut keys = BTreeSet::new();
        for attribute in all() {
            assert!(keys.insert(attribute.key), "{}", attribute.key);
            let meaning = attribute.meaning.trim();
            assert!(meaning.starts_with(char::is_uppercase) && meaning.ends_with('.'), "{meaning}");
            assert!(find_prefix(attribute.key).is_none(), "{}", attribute.key);
        }
    }

    #[test]
    fn values_have_the_type_of_their_attribute() {
        for (value, good, bad) in [
            (ValueType::String, json!("x"), json!(1)),
            (ValueType::Text, json!({"bytes": 3}), json!({"length": 3})),
            (ValueType::Integer, json!(-1), json!(1.5)),
            (ValueType::Number, json!(1.5), json!("1.5")),
            (ValueType::Boolean, json!(false), json!(null)),
            (ValueType::List, json!([]), json!({})),
            (ValueType::Object, json!({}), json!([])),
        ] {
            assert!(value.admits(&good) && !value.admits(&bad), "{value}");
            assert!(ValueType::Open.admits(&bad));
        }
    }
}
