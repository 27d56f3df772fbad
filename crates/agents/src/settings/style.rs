//! Detects the user's style of JSON: the line end, the indentation and the spacing that an inserted value has to fit.
//!
//! Law: a guess from the text that is there, never a preference of ours; only an empty file gets our habit (two
//! spaces, as both agents write it themselves).

use serde_json::Value;

use super::tree::{Node, Tree};

/// The spacing of one settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Style {
    /// `\n` or `\r\n`.
    pub(super) line_end: &'static str,
    /// One level of indentation.
    pub(super) unit: String,
    /// Holds what stands between a colon and its value.
    pub(super) after_colon: String,
    /// True if the whole object stands on one line, so that we write no line ends either.
    pub(super) one_line: bool,
}

impl Style {
    /// Guesses the style from `text`.
    pub(super) fn of(text: &str, tree: &Tree) -> Style {
        // The first line end speaks for all: a file that mixes them has no style to keep.
        let line_end = match text.find('\n') {
            Some(at) if at > 0 && text.as_bytes().get(at - 1) == Some(&b'\r') => "\r\n",
            _ => "\n",
        };
        let mut style =
            Style { line_end, unit: "  ".to_owned(), after_colon: " ".to_owned(), one_line: false };
        let Some(root) = tree.root.as_ref() else { return style };
        let Some(first) = root.members().first() else { return style };

        if let Some(after) = text
            .get(first.name_end..first.value.range.start)
            .and_then(|between| between.split_once(':'))
            .map(|(_, after)| after)
            // A line end or a comment behind the colon is that one place's and no habit.
            .filter(|after| after.chars().all(|character| character == ' '))
        {
            after.clone_into(&mut style.after_colon);
        }
        match indentation_of(text, first.range.start) {
            Some(indentation) => {
                let outer = line_indentation(text, root.range.start);
                if let Some(unit) = indentation.strip_prefix(outer).filter(|unit| !unit.is_empty()) {
                    unit.clone_into(&mut style.unit);
                }
            }
            None => style.one_line = !text.get(root.range.clone()).unwrap_or_default().contains('\n'),
        }
        style
    }

    /// Renders `value` on one line.
    pub(super) fn compact(&self, value: &Value) -> String {
        let mut out = String::new();
        self.write(value, None, &mut out);
        out
    }

    /// Renders `value` over several lines, for a place whose line begins with `indentation`.
    pub(super) fn pretty(&self, value: &Value, indentation: &str) -> String {
        let mut out = String::new();
        self.write(value, Some(indentation), &mut out);
        out
    }

    /// Renders a member's or an element's own text: the name, if it has one, and the value already rendered.
    pub(super) fn entry(&self, name: Option<&str>, rendered: &str) -> String {
        match name {
            Some(name) => format!("{}:{}{rendered}", quoted(name), self.after_colon),
            None => rendered.to_owned(),
        }
    }

    fn write(&self, value: &Value, indentation: Option<&str>, out: &mut String) {
        let (open, close, children): (char, char, Vec<(Option<&str>, &Value)>) = match value {
            Value::Object(members) => {
                ('{', '}', members.iter().map(|(name, child)| (Some(name.as_str()), child)).collect())
            }
            Value::Array(elements) => ('[', ']', elements.iter().map(|child| (None, child)).collect()),
            scalar => return out.push_str(&scalar.to_string()),
        };
        // A list of plain values stays on one line: `"args": ["claude"]` is how people write it.
        let flat =
            value.is_array() && children.iter().all(|(_, child)| !child.is_object() && !child.is_array());
        let inner = indentation.filter(|_| !flat).map(|outer| format!("{outer}{}", self.unit));
        out.push(open);
        for (number, (name, child)) in children.iter().enumerate() {
            if number > 0 {
                out.push(',');
            }
            match &inner {
                Some(inner) => {
                    out.push_str(self.line_end);
                    out.push_str(inner);
                }
                None if number > 0 => out.push_str(&self.after_colon),
                None => {}
            }
            if let Some(name) = name {
                out.push_str(&quoted(name));
                out.push(':');
                out.push_str(&self.after_colon);
            }
            self.write(child, inner.as_deref(), out);
        }
        if let (Some(_), Some(outer), false) = (&inner, indentation, children.is_empty()) {
            out.push_str(self.line_end);
            out.push_str(outer);
        }
        out.push(close);
    }
}

/// Returns `text` as a JSON string literal.
pub(super) fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// Returns the white space before `position`, if nothing else stands before it on its line.
pub(super) fn indentation_of(text: &str, position: usize) -> Option<&str> {
    let before = text.get(..position)?;
    let line = before.rfind('\n').and_then(|at| before.get(at + 1..))?;
    line.chars().all(|character| matches!(character, ' ' | '\t')).then_some(line)
}

/// Returns the white space that the line of `position` begins with.
pub(super) fn line_indentation(text: &str, position: usize) -> &str {
    let before = text.get(..position).unwrap_or_default();
    let line = before.rfind('\n').and_then(|at| before.get(at + 1..)).unwrap_or(before);
    let end = line.find(|character| !matches!(character, ' ' | '\t')).unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

/// Returns whether the children of `node` share a line with its last one's end and the closing bracket.
pub(super) fn closes_on_its_last_line(text: &str, node: &Node) -> bool {
    let Some(last) = node.children().last().cloned() else { return false };
    let starts_line = indentation_of(text, last.start).is_some();
    let tail = text.get(last.end..node.range.end).unwrap_or_default();
    !starts_line && !tail.contains('\n')
}
