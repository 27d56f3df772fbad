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

use jsonc_parser::ast::{self, Value as Node};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::errors::ParseError;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Why a settings file cannot be read or changed. Nothing is written when one of these occurs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The text is no JSON, not even with comments and trailing commas.
    #[error("not valid JSON: {what} at line {line}, column {column}")]
    Malformed {
        /// What the parser met.
        what: String,
        /// Line, counted from 1.
        line: usize,
        /// Column in characters, counted from 1.
        column: usize,
    },
    /// A value has another shape than the agent's format says.
    #[error("{place} must be {expected}, but it is {found}")]
    Shape {
        /// Where, for a human: "the file", or a dotted path in backticks.
        place: String,
        /// What the format asks for.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
}

/// Something that our reader accepts and a strict JSON reader does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looseness {
    /// What it is, in words that fit after "because of".
    pub what: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
}

/// A settings file's text that is known to hold one JSON object, or nothing at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Without the byte order mark, so that every position is one of the parser's.
    text: String,
    byte_order_mark: bool,
}

/// Where a value stands: the number of the child at each level, counted from 0 (members of an object as well as
/// elements of an array). Numbers, not names, because a name may occur twice in one object.
pub(crate) type Path = [usize];

/// A parsed text: the tree, and the tokens that the tree leaves out.
struct Parsed<'a> {
    root: Option<Node<'a>>,
    /// Everything but white space, comments included, in order.
    tokens: Vec<TokenAndRange<'a>>,
}

impl Settings {
    /// Reads a settings file. Text without anything but white space is an empty object yet to be written.
    pub fn parse(text: &str) -> Result<Settings, SettingsError> {
        let (byte_order_mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let settings = Settings { text: text.to_owned(), byte_order_mark };
        match settings.parsed()?.root {
            None | Some(Node::Object(_)) => Ok(settings),
            Some(other) => Err(SettingsError::Shape {
                place: "the file".to_owned(),
                expected: "an object",
                found: kind_of(&other),
            }),
        }
    }

    /// Returns the whole text, as it is to be written.
    pub fn text(&self) -> String {
        if self.byte_order_mark { format!("{BYTE_ORDER_MARK}{}", self.text) } else { self.text.clone() }
    }

    /// Returns the content as a value. Where a name occurs twice the last one counts, as in every agent.
    pub fn value(&self) -> Value {
        // The text was parsed when it came in and after each edit, so the error cannot occur.
        match self.parsed() {
            Ok(Parsed { root: Some(root), .. }) => to_value(&root),
            Ok(Parsed { root: None, .. }) | Err(_) => Value::Object(Map::new()),
        }
    }

    /// Returns the first thing that a strict JSON reader would not accept, apart from a byte order mark.
    ///
    /// Claude Code 2.1.325 and Codex 0.166.0 both ignore the whole file then (Codex with a byte order mark, too).
    pub fn looseness(&self) -> Option<Looseness> {
        let strict = ParseOptions { allow_comments: false, allow_trailing_commas: false, ..dialect() };
        if self.text.trim().is_empty() {
            return None;
        }
        let error = parse_to_ast(&self.text, &CollectOptions::default(), &strict).err()?;
        let what = match error.kind() {
            jsonc_parser::errors::ParseErrorKind::CommentsNotAllowed => "a comment".to_owned(),
            jsonc_parser::errors::ParseErrorKind::TrailingCommasNotAllowed => "a trailing comma".to_owned(),
            other => lower_first(&other.to_string()),
        };
        Some(Looseness { what, line: error.line_display(), column: error.column_display() })
    }

    /// Returns whether the file starts with a byte order mark.
    pub fn has_byte_order_mark(&self) -> bool {
        self.byte_order_mark
    }

    /// Returns names that occur more than once in the object at the dotted `place` (the root for an empty one).
    pub fn repeated_names(&self, place: &[&str]) -> Vec<String> {
        let Ok(parsed) = self.parsed() else { return Vec::new() };
        let mut node = match parsed.root.as_ref() {
            Some(root) => root,
            None => return Vec::new(),
        };
        for name in place {
            let Some(next) = member(node, name) else { return Vec::new() };
            node = next;
        }
        let Node::Object(object) = node else { return Vec::new() };
        let mut seen = Vec::new();
        let mut repeated = Vec::new();
        for property in &object.properties {
            let name = property.name.as_str();
            if !seen.contains(&name) {
                seen.push(name);
            } else if !repeated.iter().any(|known| known == name) {
                repeated.push(name.to_owned());
            }
        }
        repeated
    }

    fn parsed(&self) -> Result<Parsed<'_>, SettingsError> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        match parse_to_ast(&self.text, &collect, &dialect()) {
            Ok(result) => Ok(Parsed { root: result.value, tokens: result.tokens.unwrap_or_default() }),
            Err(error) => Err(malformed(&error)),
        }
    }
}

impl<'a> Parsed<'a> {
    /// Returns the value at `path`, if there is one.
    fn at(&self, path: &Path) -> Option<&Node<'a>> {
        let mut node = self.root.as_ref()?;
        for index in path {
            node = child(node, *index)?;
        }
        Some(node)
    }

    /// Returns the last token that ends at or before `position`.
    fn token_before(&self, position: usize) -> Option<&TokenAndRange<'a>> {
        let after = self.tokens.partition_point(|token| token.range.end <= position);
        after.checked_sub(1).and_then(|index| self.tokens.get(index))
    }

    /// Returns the comma that follows `position`, if nothing but comments stands between.
    fn comma_after(&self, position: usize) -> Option<Range> {
        let first = self.tokens.partition_point(|token| token.range.start < position);
        self.tokens
            .get(first..)?
            .iter()
            .find(|token| !matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_)))
            .filter(|token| token.token == Token::Comma)
            .map(|token| token.range)
    }
}

/// The dialect we read: JSON, comments and trailing commas. Nothing of JSON5, which would only hide a broken file.
fn dialect() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
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

/// Returns the value of the last member called `name`: the one that agents use when a name occurs twice.
fn member<'a, 'b>(node: &'b Node<'a>, name: &str) -> Option<&'b Node<'a>> {
    match node {
        Node::Object(object) => {
            object.properties.iter().rev().find(|property| property.name.as_str() == name).map(|p| &p.value)
        }
        _ => None,
    }
}

fn child<'a, 'b>(node: &'b Node<'a>, index: usize) -> Option<&'b Node<'a>> {
    match node {
        Node::Object(object) => object.properties.get(index).map(|property| &property.value),
        Node::Array(array) => array.elements.get(index),
        _ => None,
    }
}

/// Returns where each child stands, in an object with its name.
fn child_ranges(node: &Node<'_>) -> Vec<Range> {
    match node {
        Node::Object(object) => object.properties.iter().map(Ranged::range).collect(),
        Node::Array(array) => array.elements.iter().map(Ranged::range).collect(),
        _ => Vec::new(),
    }
}

/// Says what kind of value a node is, for an error.
pub(crate) fn kind_of(node: &Node<'_>) -> &'static str {
    match node {
        Node::Object(_) => "an object",
        Node::Array(_) => "an array",
        Node::StringLit(_) => "a string",
        Node::NumberLit(_) => "a number",
        Node::BooleanLit(_) => "true or false",
        Node::NullKeyword(_) => "null",
    }
}

fn to_value(node: &Node<'_>) -> Value {
    match node {
        Node::Object(object) => Value::Object(
            object
                .properties
                .iter()
                .map(|property: &ast::ObjectProp<'_>| {
                    (property.name.as_str().to_owned(), to_value(&property.value))
                })
                .collect(),
        ),
        Node::Array(array) => Value::Array(array.elements.iter().map(to_value).collect()),
        Node::StringLit(literal) => Value::String(literal.value.to_string()),
        // A number beyond what serde_json holds (1e999) is kept as its text: it is never one of ours.
        Node::NumberLit(literal) => {
            serde_json::from_str(literal.value).unwrap_or_else(|_| Value::String(literal.value.to_owned()))
        }
        Node::BooleanLit(literal) => Value::Bool(literal.value),
        Node::NullKeyword(_) => Value::Null,
    }
}
