//! The text of an agent's settings file: read as JSON, changed in place.
//!
//! Law: bytes that a change does not concern stay as they are. The file belongs to the user and to the agent; order,
//! indentation, line ends, comments and a byte order mark are theirs. So nothing is ever parsed and printed again:
//! the parser only says *where* things stand, and an edit is a splice of the text.
//!
//! Comments and trailing commas are read and kept, although no agent we know loads a file that has them; see
//! [`Settings::looseness`].

mod edit;
mod style;
mod tree;

use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

use tree::{Content, Node, Tree, dialect};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Why a settings file cannot be read or changed. Nothing is written when one of these occurs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The text is no JSON, not even with comments and trailing commas.
    #[error("not valid JSON: {what} at line {line}, column {column}")]
    Malformed {
        /// Holds what the parser met.
        what: String,
        /// Line, counted from 1.
        line: usize,
        /// Column in characters, counted from 1.
        column: usize,
    },
    /// A value has another shape than the agent's format says.
    #[error("{place} must be {expected}, but it is {found}")]
    Shape {
        /// Holds where, for a human: "the file", or a dotted path in backticks.
        place: String,
        /// Holds what the format asks for.
        expected: &'static str,
        /// Holds what is there.
        found: &'static str,
    },
}

/// Something that our reader accepts and a strict JSON reader does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looseness {
    /// Holds what it is, in words that fit after "because of".
    pub what: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
}

/// A settings file's text that is known to hold one JSON object, or nothing at all.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Without the byte order mark, so that every position is one of the parser's.
    text: String,
    byte_order_mark: bool,
    /// Holds what `text` means.
    tree: Tree,
}

/// Describes where a value stands: the number of the child at each level, counted from 0 (members of an object as well as
/// elements of an array). Numbers, not names, because a name may occur twice in one object.
pub(crate) type Path = [usize];

impl Settings {
    /// Reads a settings file. Text without anything but white space is an empty object yet to be written.
    pub fn parse(text: &str) -> Result<Settings, SettingsError> {
        let (byte_order_mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let tree = Tree::parse(text).map_err(|error| malformed(&error))?;
        match &tree.root {
            // Refused and not replaced: whatever it is, the user wrote it.
            Some(root) if !matches!(root.content, Content::Object(_)) => Err(SettingsError::Shape {
                place: "the file".to_owned(),
                expected: "an object",
                found: root.kind(),
            }),
            _ => Ok(Settings { text: text.to_owned(), byte_order_mark, tree }),
        }
    }

    /// Returns the whole text, as it is to be written.
    pub fn text(&self) -> String {
        if self.byte_order_mark { format!("{BYTE_ORDER_MARK}{}", self.text) } else { self.text.clone() }
    }

    /// Returns the content as a value. Where a name occurs twice the last one counts, as in every agent.
    pub fn value(&self) -> Value {
        self.tree.root.as_ref().map_or_else(|| Value::Object(Map::new()), Node::value)
    }

    /// Returns the value of one member of the root object.
    pub fn member(&self, name: &str) -> Option<Value> {
        let members = self.tree.root.as_ref()?.members();
        members.iter().rev().find(|member| member.name == name).map(|member| member.value.value())
    }

    /// Returns the first thing that a strict JSON reader would not accept, apart from a byte order mark.
    ///
    /// Claude Code 2.1.325 and Codex 0.166.0 both ignore the whole file then (Codex with a byte order mark, too).
    pub fn looseness(&self) -> Option<Looseness> {
        // No JSON either, but there is nothing in it that an agent could ignore.
        if self.is_blank() {
            return None;
        }
        let strict = ParseOptions { allow_comments: false, allow_trailing_commas: false, ..dialect() };
        let error = parse_to_ast(&self.text, &CollectOptions::default(), &strict).err()?;
        let what = match error.kind() {
            ParseErrorKind::CommentsNotAllowed => "a comment".to_owned(),
            ParseErrorKind::TrailingCommasNotAllowed => "a trailing comma".to_owned(),
            other => lower_first(&other.to_string()),
        };
        Some(Looseness { what, line: error.line_display(), column: error.column_display() })
    }

    /// Returns whether the file starts with a byte order mark.
    pub fn has_byte_order_mark(&self) -> bool {
        self.byte_order_mark
    }

    /// Returns names that occur more than once in the object that these names lead to (the root for none).
    pub fn repeated_names(&self, place: &[&str]) -> Vec<String> {
        let last = |node: &'_ Node, name: &str| -> Option<usize> {
            node.members().iter().rposition(|member| member.name == name)
        };
        let Some(mut node) = self.tree.root.as_ref() else { return Vec::new() };
        for name in place {
            match last(node, name).and_then(|index| node.members().get(index)) {
                Some(member) => node = &member.value,
                None => return Vec::new(),
            }
        }
        let mut seen = Vec::new();
        let mut repeated = Vec::new();
        for member in node.members() {
            if !seen.contains(&&member.name) {
                seen.push(&member.name);
            } else if !repeated.contains(&member.name) {
                repeated.push(member.name.clone());
            }
        }
        repeated
    }
}

fn malformed(error: &ParseError) -> SettingsError {
    SettingsError::Malformed {
        what: lower_first(&error.kind().to_string()),
        line: error.line_display(),
        column: error.column_display(),
    }
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => String::new(),
    }
}
