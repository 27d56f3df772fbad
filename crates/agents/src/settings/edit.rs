//! Splices: append a child, replace a value, remove a child.
//!
//! Law: `remove` takes out exactly what `append` put in, to the byte, whatever else has changed in the file since.
//! That works because an appended entry goes directly behind the last token of its container and brings its own white
//! space with it: to take it out is to cut from the end of the token before it to its own end, and the one comma that
//! it needed. The single thing that cannot be seen in the text afterwards is what stood in a container that was
//! empty; the caller keeps that (see [`Settings::inner`]).

use std::ops::Range;

use serde_json::Value;

use super::style::{Style, closes_on_its_last_line, indentation_of, line_indentation, quoted};
use super::tree::{Content, TokenKind, Tree};
use super::{Path, Settings};

/// A change of the text: replace these bytes by that.
type Splice = (Range<usize>, String);

impl Settings {
    /// Makes an empty object of a file without content.
    pub(crate) fn make_root(&mut self) {
        if self.is_blank() {
            self.become_text("{}\n".to_owned());
        }
    }

    /// Returns whether the file has no content at all, not even an empty object.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns the white space that the file consists of.
    pub(crate) fn blank_text(&self) -> String {
        self.text.clone()
    }

    /// Makes the file the blank `text` that it was before [`Settings::make_root`].
    pub(crate) fn make_blank(&mut self, text: &str) {
        self.become_text(text.to_owned());
    }

    /// Returns the number of the last member called `name` in the object at `path`.
    pub(crate) fn find(&self, path: &Path, name: &str) -> Option<usize> {
        self.tree.at(path)?.members().iter().rposition(|member| member.name == name)
    }

    /// Returns the names of the members of the object at `path`, in order and with repetitions.
    pub(crate) fn names(&self, path: &Path) -> Vec<&str> {
        let members = self.tree.at(path).map(|node| node.members()).unwrap_or_default();
        members.iter().map(|member| member.name.as_str()).collect()
    }

    /// Returns the number of children of the object or array at `path`.
    pub(crate) fn count(&self, path: &Path) -> usize {
        self.tree.at(path).map_or(0, |node| node.children().len())
    }

    /// Returns the value at `path`.
    pub(crate) fn get(&self, path: &Path) -> Option<Value> {
        self.tree.at(path).map(|node| node.value())
    }

    /// Returns what kind of value stands at `path`, for an error.
    pub(crate) fn kind(&self, path: &Path) -> Option<&'static str> {
        self.tree.at(path).map(|node| node.kind())
    }

    /// Returns the bytes of the value at `path`.
    pub(crate) fn raw(&self, path: &Path) -> Option<String> {
        self.text.get(self.range(path)?).map(str::to_owned)
    }

    /// Returns what stands between the brackets of the container at `path`, if it has no child.
    pub(crate) fn inner(&self, path: &Path) -> Option<String> {
        let node = self.tree.at(path)?;
        let is_container = matches!(node.content, Content::Object(_) | Content::Array(_));
        if !is_container || !node.children().is_empty() {
            return None;
        }
        self.text.get(node.range.start + 1..node.range.end - 1).map(str::to_owned)
    }

    /// Puts `inner` between the brackets of the childless container at `path`, unless that would lose a comment that
    /// has been written since.
    pub(crate) fn set_inner(&mut self, path: &Path, inner: &str) {
        let Some(now) = self.inner(path) else { return };
        let visible =
            |text: &str| text.chars().filter(|character| !character.is_whitespace()).collect::<String>();
        if visible(&now) != visible(inner) && !visible(&now).is_empty() {
            return;
        }
        let Some(range) = self.range(path) else { return };
        self.splice(vec![(range.start + 1..range.end - 1, inner.to_owned())]);
    }

    /// Appends a member (with a name) or an element (without) to the container at `path`, in the style of the file.
    pub(crate) fn append(&mut self, path: &Path, name: Option<&str>, value: &Value) {
        let Some(splices) = self.appending(path, name, value) else { return };
        self.splice(splices);
    }

    fn appending(&self, path: &Path, name: Option<&str>, value: &Value) -> Option<Vec<Splice>> {
        let style = Style::of(&self.text, &self.tree);
        let node = self.tree.at(path)?;
        let close = node.range.end - 1;
        // Behind comments and a trailing comma: they belong to what is there, not to what comes.
        let behind = self.tree.token_before(close)?.range.end;
        let outer = line_indentation(&self.text, node.range.start);

        let Some(last) = node.children().last().cloned() else {
            if style.one_line {
                let entry = style.entry(name, &style.compact(value));
                return Some(vec![(behind..close, entry)]);
            }
            let inner = format!("{outer}{}", style.unit);
            let entry = style.entry(name, &style.pretty(value, &inner));
            let end = style.line_end;
            return Some(vec![(behind..close, format!("{end}{inner}{entry}{end}{outer}"))]);
        };

        let body = self.text.get(node.range.clone()).unwrap_or_default();
        let (before, rendered) = if closes_on_its_last_line(&self.text, node) {
            let rendered = if body.contains('\n') {
                style.pretty(value, line_indentation(&self.text, last.start))
            } else {
                style.compact(value)
            };
            (style.after_colon.clone(), rendered)
        } else {
            let inner = match indentation_of(&self.text, last.start) {
                Some(indentation) => indentation.to_owned(),
                None => format!("{outer}{}", style.unit),
            };
            (format!("{}{inner}", style.line_end), style.pretty(value, &inner))
        };
        let entry = format!("{before}{}", style.entry(name, &rendered));
        Some(match self.tree.comma_after(last.end) {
            Some(_) => vec![(behind..behind, format!("{entry},"))],
            None if behind == last.end => vec![(behind..behind, format!(",{entry}"))],
            None => vec![(last.end..last.end, ",".to_owned()), (behind..behind, entry)],
        })
    }

    /// Replaces the value at `path`.
    pub(crate) fn replace(&mut self, path: &Path, value: &Value) {
        let Some(range) = self.range(path) else { return };
        let style = Style::of(&self.text, &self.tree);
        let old = self.text.get(range.clone()).unwrap_or_default();
        let rendered = if style.one_line || (value.is_object() && !old.contains('\n') && old.starts_with('{'))
        {
            style.compact(value)
        } else {
            style.pretty(value, line_indentation(&self.text, range.start))
        };
        self.splice(vec![(range, rendered)]);
    }

    /// Replaces the value at `path` by the JSON text `raw`.
    pub(crate) fn replace_raw(&mut self, path: &Path, raw: &str) {
        let Some(range) = self.range(path) else { return };
        self.splice(vec![(range, raw.to_owned())]);
    }

    /// Replaces the value at `path` by the string `text`.
    pub(crate) fn replace_string(&mut self, path: &Path, text: &str) {
        self.replace_raw(path, &quoted(text));
    }

    /// Removes the child at `path` with the comma and the white space that it brought.
    pub(crate) fn remove(&mut self, path: &Path) {
        let Some(splices) = self.removing(path) else { return };
        self.splice(splices);
    }

    fn removing(&self, path: &Path) -> Option<Vec<Splice>> {
        let (index, container) = path.split_last()?;
        let children = self.tree.at(container)?.children();
        let child = children.get(*index)?;
        let before = self.tree.token_before(child.start)?.range.end;
        let cut = |range: Range<usize>| (range, String::new());
        if let Some(comma) = self.tree.comma_after(child.end) {
            return Some(vec![cut(before..child.end), cut(comma)]);
        }
        let mut splices = vec![cut(before..child.end)];
        // The last child, without a comma of its own: the one before it goes, or it would become a trailing comma.
        if let Some(previous) = index.checked_sub(1).and_then(|index| children.get(index)) {
            let between = |range: &Range<usize>| range.start >= previous.end && range.end <= child.start;
            let comma = self.tree.tokens.iter().find(|it| it.kind == TokenKind::Comma && between(&it.range));
            splices.splice(0..0, comma.map(|comma| cut(comma.range.clone())));
        }
        Some(splices)
    }

    fn range(&self, path: &Path) -> Option<Range<usize>> {
        self.tree.at(path).map(|node| node.range.clone())
    }

    /// Applies changes that are in order and do not overlap.
    fn splice(&mut self, splices: Vec<Splice>) {
        let mut text = String::with_capacity(self.text.len() + 256);
        let mut done = 0;
        for (range, replacement) in splices {
            text.push_str(self.text.get(done..range.start).unwrap_or_default());
            text.push_str(&replacement);
            done = range.end;
        }
        text.push_str(self.text.get(done..).unwrap_or_default());
        self.become_text(text);
    }

    /// Takes another text, and what it means. One that means nothing would be a fault of ours, and is not taken: the
    /// file stays as it was.
    fn become_text(&mut self, text: String) {
        let parsed = Tree::parse(&text);
        debug_assert!(parsed.is_ok(), "an edit broke the text: {text}");
        if let Ok(tree) = parsed {
            self.tree = tree;
            self.text = text;
        }
    }
}
