//! Texts that people read and keys that are made of texts.
//!
//! Everything here is total and cuts at characters, never at bytes. A title is one line: no control character, no
//! direction mark, at most [`TITLE_CHARS`] characters, cut at a word.

use std::borrow::Cow;

use agent_tracer_event::Agent;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

/// The most characters of a title.
pub const TITLE_CHARS: usize = 120;
const ELLIPSIS: char = '…';

/// Returns the sixteen hexadecimal digits of the XXH3-64 of a text: short, stable, and not for secrets.
#[must_use]
pub fn hash16(text: &str) -> String {
    format!("{:016x}", xxh3_64(text.as_bytes()))
}

/// Returns the part of a key that stands for a text which several channels tell.
///
/// A text counts without the white space around it, because Claude Code's `Stop` carries the trimmed form of what
/// its transcript holds whole.
#[must_use]
pub fn text_key(text: &str) -> String {
    hash16(text.trim())
}

/// Returns the same for a text whose white space differs between channels: each run of it counts as one space.
#[must_use]
pub fn words_key(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut line = String::with_capacity(text.len());
    line.push_str(words.next().unwrap_or_default());
    for word in words {
        line.push(' ');
        line.push_str(word);
    }
    hash16(&line)
}

/// Returns the part of a key that stands for a text of which only the length was kept.
#[must_use]
pub fn length_key(bytes: u64) -> String {
    bytes.to_string()
}

/// Returns whether a character would break a line, hide, or turn the direction of what follows.
fn is_disruptive(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Returns the text on one line: runs of white space and control characters become one space.
///
/// Looks at no more than `most` characters of result, so a megabyte of prompt costs what a title costs.
fn one_line_within(text: &str, most: usize) -> (String, bool) {
    let mut line = String::new();
    let mut letters = 0;
    let mut gap = false;
    for letter in text.chars() {
        if letter.is_whitespace() || is_disruptive(letter) {
            gap = gap || letters > 0;
            continue;
        }
        // The blank counts only when a letter follows: white space at the end must not use up the title.
        let wanted = if gap { 2 } else { 1 };
        if letters + wanted > most {
            return (line, true);
        }
        if gap {
            line.push(' ');
            gap = false;
        }
        line.push(letter);
        letters += wanted;
    }
    (line, false)
}

/// Returns the text on one line of at most `most` characters, cut at a word where one ends in the second half.
#[must_use]
pub fn line(text: &str, most: usize) -> String {
    let (whole, cut) = one_line_within(text, most);
    if !cut {
        return whole;
    }
    let (mut short, _) = one_line_within(text, most.saturating_sub(1));
    let letters = short.chars().count();
    // The longer of the two cuts shows whether the shorter one ended with a word.
    let next_is_gap = whole.chars().nth(letters).is_none_or(|letter| letter == ' ');
    if !next_is_gap && let Some(space) = short.rfind(' ') {
        let kept = short.get(..space).unwrap_or_default();
        if kept.chars().count() * 2 >= letters {
            short.truncate(space);
        }
    }
    let end = short.trim_end_matches([' ', ',', ';', ':', '-', '–', '—']).len();
    short.truncate(end);
    short.push(ELLIPSIS);
    short
}

/// Returns a text as a title: one line, at most [`TITLE_CHARS`] characters, without the full stop of a sentence.
#[must_use]
pub fn title(text: &str) -> String {
    let mut title = line(text, TITLE_CHARS);
    // Only behind a word: the dots of `..` or of an ellipsis stay.
    if let Some(rest) = title.strip_suffix('.')
        && rest.ends_with(char::is_alphanumeric)
    {
        title.pop();
    }
    title
}

/// Returns the first `most` characters of a text, with an ellipsis in the place of the last if any were cut.
#[must_use]
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    // A text never has more characters than bytes: most are short enough, and need not be counted.
    if text.len() <= most || text.char_indices().nth(most).is_none() {
        return Cow::Borrowed(text);
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push(ELLIPSIS);
    Cow::Owned(short)
}

/// Returns the text, or its first part of at most `most` bytes with an ellipsis behind it. Cuts at a character.
#[must_use]
pub fn cut_bytes(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let room = most.saturating_sub(ELLIPSIS.len_utf8());
    let mut short = text.get(..text.floor_char_boundary(room)).unwrap_or_default().to_owned();
    short.push(ELLIPSIS);
    Cow::Owned(short)
}

/// Returns what follows the last slash, or the whole text if nothing does.
#[must_use]
pub fn base_name(path: &str) -> &str {
    let trimmed = path.trim_end_matches(['/', '\\']);
    match trimmed.rsplit(['/', '\\']).next() {
        Some(name) if !name.is_empty() => name,
        _ => path,
    }
}

/// Returns whether a path starts at a root: `/…`, `~…`, `C:\…` or `\\server`.
#[must_use]
pub fn is_absolute(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':')
        && path.starts_with(|letter: char| letter.is_ascii_alphabetic());
    path.starts_with(['/', '~', '\\']) || drive
}

/// Returns a path as seen from the innermost of the given directories that holds it; else the path as it is.
#[must_use]
pub fn relative<'p>(path: &'p str, from: &[Option<&str>]) -> &'p str {
    let mut best = path;
    for base in from.iter().flatten() {
        let base = base.trim_end_matches('/');
        if base.is_empty() {
            continue;
        }
        let Some(rest) = path.strip_prefix(base) else { continue };
        let inside = match rest.strip_prefix('/') {
            Some(inside) => inside.trim_start_matches('/'),
            None if rest.is_empty() => rest,
            None => continue,
        };
        let inside = if inside.is_empty() { "." } else { inside };
        if inside.len() < best.len() {
            best = inside;
        }
    }
    best.strip_prefix("./").filter(|rest| !rest.is_empty()).unwrap_or(best)
}

/// Returns a path joined to the working directory, with `.` and `..` resolved by their letters alone.
///
/// Links are not followed, because nothing here may look at a disk. A path that starts at a root, or without a
/// working directory, comes back as it is.
#[must_use]
pub fn absolute(path: &str, cwd: Option<&str>) -> String {
    let Some(cwd) = cwd.filter(|cwd| cwd.starts_with('/')) else { return path.to_owned() };
    if is_absolute(path) || path.is_empty() {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = cwd.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Writes a value as JSON with its keys in order, so that equal values have equal texts.
#[must_use]
pub fn canonical(value: &Value) -> String {
    fn write(value: &Value, out: &mut String) {
        match value {
            Value::Object(map) => {
                let mut members: Vec<_> = map.iter().collect();
                members.sort_by_key(|(key, _)| key.as_str());
                out.push('{');
                for (index, (key, member)) in members.into_iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    out.push_str(&Value::from(key.as_str()).to_string());
                    out.push(':');
                    write(member, out);
                }
                out.push('}');
            }
            Value::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write(item, out);
                }
                out.push(']');
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                out.push_str(&value.to_string())
            }
        }
    }
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// Returns what joins a request for permission, which has no id, to the attempt that it is about.
#[must_use]
pub fn call_signature(agent: Agent, tool: &str, input: &Value) -> String {
    let said = crate::adapter::of(agent).call_text(tool, input);
    hash16(&format!("{tool}\n{said}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_hash_never_changes() {
        assert_eq!(hash16(""), "2d06800538d394c2");
        assert_eq!(hash16("hello"), hash16("hello"));
        assert_eq!(text_key(" hello\n"), hash16("hello"));
        assert_eq!(length_key(12), "12");
    }

    #[test]
    fn titles_are_one_line_cut_at_a_word() {
        for (text, expected) in [
            ("Fix it.", "Fix it"),
            ("Wait...", "Wait..."),
            ("git add .", "git add ."),
            ("  a\n\n b\t c ", "a b c"),
            ("red\u{1b}[31m \u{202e}evil", "red [31m evil"),
            ("", ""),
            ("\n\t", ""),
        ] {
            assert_eq!(title(text), expected, "{text:?}");
        }
        let long = "word ".repeat(60);
        let cut = title(&long);
        assert!(cut.ends_with("word…") && cut.chars().count() <= TITLE_CHARS, "{cut}");
        let one = "x".repeat(300);
        assert_eq!(title(&one).chars().count(), TITLE_CHARS);
    }

    #[test]
    fn lines_keep_what_fits_and_cut_what_does_not() {
        assert_eq!(line("one two three", 13), "one two three");
        assert_eq!(line("one two three", 12), "one two…");
        assert_eq!(line("one two, three", 12), "one two…");
        assert_eq!(line("abcdefghij", 5), "abcd…");
        assert_eq!(line("ab", 0), "…");
    }

    #[test]
    fn paths_are_shown_from_the_innermost_directory_that_holds_them() {
        let from = [Some("/home/dev/project/src"), Some("/home/dev/project/")];
        for (path, shown) in [
            ("/home/dev/project/src/lib.rs", "lib.rs"),
            ("/home/dev/project/Cargo.toml", "Cargo.toml"),
            ("/home/dev/project", "."),
            ("/home/dev/project2/x", "/home/dev/project2/x"),
            ("/etc/hosts", "/etc/hosts"),
            ("./a/b", "a/b"),
            ("a/b", "a/b"),
            ("", ""),
        ] {
            assert_eq!(relative(path, &from), shown, "{path}");
        }
        assert_eq!(relative("/a", &[None, Some(""), Some("/")]), "/a");
    }

    #[test]
    fn paths_are_kept_from_the_root() {
        for (path, cwd, kept) in [
            ("a/b", Some("/p"), "/p/a/b"),
            ("../x/./y", Some("/p/q"), "/p/x/y"),
            ("../../..", Some("/p"), "/"),
            ("/abs", Some("/p"), "/abs"),
            ("~/x", Some("/p"), "~/x"),
            ("C:\\x", Some("/p"), "C:\\x"),
            ("a", None, "a"),
            ("a", Some("relative"), "a"),
        ] {
            assert_eq!(absolute(path, cwd), kept, "{path}");
        }
    }

    #[test]
    fn equal_values_have_equal_texts() {
        let one = json!({"b": [1, {"y": 2, "x": null}], "a": "q\"uote"});
        assert_eq!(canonical(&one), r#"{"a":"q\"uote","b":[1,{"x":null,"y":2}]}"#);
    }

    #[test]
    fn names_are_what_follows_the_last_slash() {
        for (path, name) in [("/a/b.rs", "b.rs"), ("a/", "a"), ("/", "/"), ("", ""), ("C:\\x\\y", "y")] {
            assert_eq!(base_name(path), name);
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_a_title(text in "\\PC*|.{0,400}") {
            let title = title(&text);
            prop_assert!(title.chars().count() <= TITLE_CHARS);
            prop_assert!(!title.contains(char::is_control));
            prop_assert_eq!(title.trim(), &title);
        }

        #[test]
        fn a_line_is_never_longer_than_asked(text in ".{0,80}", most in 1_usize..60) {
            prop_assert!(line(&text, most).chars().count() <= most);
            prop_assert!(cut(&text, most).chars().count() <= most);
        }

        #[test]
        fn a_short_line_is_only_folded(text in "[a-z ]{0,40}") {
            let words: Vec<&str> = text.split_whitespace().collect();
            prop_assert_eq!(line(&text, 100), words.join(" "));
        }

        #[test]
        fn paths_come_back_from_where_they_are_shown(part in "[a-z]{1,8}(/[a-z]{1,8}){0,3}") {
            let absolute_path = absolute(&part, Some("/home/dev"));
            prop_assert_eq!(relative(&absolute_path, &[Some("/home/dev")]), part);
        }
    }
}
