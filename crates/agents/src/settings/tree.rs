//! Holds a parsed document by value: each node with its bytes, and the tokens between the nodes.
//!
//! Made once per change of the text. The parser's own tree borrows the text and would have to be made again for every
//! question; a settings file of a megabyte would take seconds.

use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseError;
use jsonc_parser::tokens::Token as ParserToken;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::Path;

/// A value, and where it stands in the text.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) range: Range<usize>,
    pub(super) content: Content,
}

/// Describes what a value is.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar(Value),
}

/// A member of an object.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) name: String,
    /// Holds where the name ends.
    pub(super) name_end: usize,
    /// The name, the value, and what is between.
    pub(super) range: Range<usize>,
    pub(super) value: Node,
}

/// A piece of the text that is not white space.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) range: Range<usize>,
    pub(super) kind: TokenKind,
}

/// Describes what matters about a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Comma,
    Comment,
    Other,
}

/// A parsed text.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    /// The one value, unless the text has none.
    pub(super) root: Option<Node>,
    /// Everything but white space, comments included, in order.
    pub(super) tokens: Vec<Token>,
}

impl Tree {
    /// Parses JSON with comments and trailing commas.
    pub(super) fn parse(text: &str) -> Result<Tree, ParseError> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let result = parse_to_ast(text, &collect, &dialect())?;
        let tokens = result.tokens.unwrap_or_default().into_iter().map(|token| Token {
            range: token.range.start..token.range.end,
            kind: match token.token {
                ParserToken::Comma => TokenKind::Comma,
                ParserToken::CommentLine(_) | ParserToken::CommentBlock(_) => TokenKind::Comment,
                _ => TokenKind::Other,
            },
        });
        Ok(Tree { root: result.value.map(node_of), tokens: tokens.collect() })
    }

    /// Returns the value at `path`, if there is one.
    pub(super) fn at(&self, path: &Path) -> Option<&Node> {
        path.iter().try_fold(self.root.as_ref()?, |node, index| node.child(*index))
    }

    /// Returns the last token that ends at or before `position`.
    pub(super) fn token_before(&self, position: usize) -> Option<&Token> {
        let after = self.tokens.partition_point(|token| token.range.end <= position);
        after.checked_sub(1).and_then(|index| self.tokens.get(index))
    }

    /// Returns the comma that follows `position`, if nothing but comments stands between.
    pub(super) fn comma_after(&self, position: usize) -> Option<Range<usize>> {
        let first = self.tokens.partition_point(|token| token.range.start < position);
        self.tokens
            .get(first..)?
            .iter()
            .find(|token| token.kind != TokenKind::Comment)
            .filter(|token| token.kind == TokenKind::Comma)
            .map(|token| token.range.clone())
    }
}

impl Node {
    fn child(&self, index: usize) -> Option<&Node> {
        match &self.content {
            Content::Object(members) => members.get(index).map(|member| &member.value),
            Content::Array(elements) => elements.get(index),
            Content::Scalar(_) => None,
        }
    }

    /// Returns where each child stands, in an object with its name.
    pub(super) fn children(&self) -> Vec<Range<usize>> {
        match &self.content {
            Content::Object(members) => members.iter().map(|member| member.range.clone()).collect(),
            Content::Array(elements) => elements.iter().map(|element| element.range.clone()).collect(),
            Content::Scalar(_) => Vec::new(),
        }
    }

    /// Returns the members of an object; none of anything else.
    pub(super) fn members(&self) -> &[Member] {
        match &self.content {
            Content::Object(members) => members,
            Content::Array(_) | Content::Scalar(_) => &[],
        }
    }

    /// Says what kind of value this is, for an error.
    pub(super) fn kind(&self) -> &'static str {
        match &self.content {
            Content::Object(_) => "an object",
            Content::Array(_) => "an array",
            Content::Scalar(Value::String(_)) => "a string",
            Content::Scalar(Value::Bool(_)) => "true or false",
            Content::Scalar(Value::Null) => "null",
            Content::Scalar(_) => "a number",
        }
    }

    /// Returns the value itself. Where a name occurs twice the last one counts.
    pub(super) fn value(&self) -> Value {
        match &self.content {
            Content::Object(members) => {
                members.iter().map(|member| (member.name.clone(), member.value.value())).collect()
            }
            Content::Array(elements) => elements.iter().map(Node::value).collect(),
            Content::Scalar(value) => value.clone(),
        }
    }
}

/// Returns the dialect we read: JSON, comments and trailing commas. Nothing of JSON5, which would only hide a broken
/// file.
pub(super) fn dialect() -> ParseOptions {
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

fn node_of(value: ast::Value<'_>) -> Node {
    let range = value.range();
    let content = match value {
        ast::Value::Object(object) => Content::Object(object.properties.into_iter().map(member_of).collect()),
        ast::Value::Array(array) => Content::Array(array.elements.into_iter().map(node_of).collect()),
        ast::Value::StringLit(literal) => Content::Scalar(Value::String(literal.value.into_owned())),
        // A number beyond what serde_json holds (1e999) is never one of ours; any other number will do.
        ast::Value::NumberLit(literal) => {
            Content::Scalar(serde_json::from_str(literal.value).unwrap_or_else(|_| Value::from(f64::MAX)))
        }
        ast::Value::BooleanLit(literal) => Content::Scalar(Value::Bool(literal.value)),
        ast::Value::NullKeyword(_) => Content::Scalar(Value::Null),
    };
    Node { range: range.start..range.end, content }
}

fn member_of(property: ast::ObjectProp<'_>) -> Member {
    let range = property.range.start..property.range.end;
    let (name, name_end) = match property.name {
        ast::ObjectPropName::String(literal) => (literal.value.into_owned(), literal.range.end),
        ast::ObjectPropName::Word(literal) => (literal.value.to_owned(), literal.range.end),
    };
    Member { name, name_end, range, value: node_of(property.value) }
}
