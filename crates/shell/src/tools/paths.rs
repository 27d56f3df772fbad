//! From fields to typed targets.

use crate::draft::{Access, Draft};
use crate::exposure::Breadth;
use crate::model::TargetType;
use crate::path::Place;
use crate::words::Field;

/// Returns the kind and name of the target in a field, relative to the directory in which the command started.
/// `expected` is the kind of a field that does not show its own.
pub(crate) fn typed(field: &Field<'_>, place: &Place, expected: TargetType) -> (TargetType, String) {
    let text = &*field.text;
    if is_stream(text) {
        return (TargetType::Stream, text.to_owned());
    }
    if is_url(text) {
        return (TargetType::Url, text.to_owned());
    }
    // A home or working directory in front leaves the rest of the path as good as known.
    let anchored =
        ["~/", "$HOME/", "${HOME}/", "$PWD/", "${PWD}/"].into_iter().find(|start| text.starts_with(start));
    let rest = anchored.and_then(|start| text.get(start.len()..)).unwrap_or(text);
    let known = !field.dynamic || anchored.is_some() && !rest.contains(['$', '`']);
    let text = if known {
        text.strip_prefix("$PWD/").or(text.strip_prefix("${PWD}/")).unwrap_or(text)
    } else {
        text
    };
    if !known || *place == Place::Unknown && !crate::path::is_anchored(text) {
        return (TargetType::Unknown, place.locate(text));
    }
    (kind_of(text, field.glob, expected), place.locate(text))
}

fn kind_of(text: &str, glob: bool, expected: TargetType) -> TargetType {
    if glob {
        TargetType::Path
    } else if matches!(text, "." | ".." | "~" | "/") || text.ends_with('/') || text.ends_with("/..") {
        TargetType::Directory
    } else {
        expected
    }
}

/// Adds a field as a target; one that a loop fills adds what the loop puts in.
pub(crate) fn aim(draft: &mut Draft, place: &Place, field: &Field<'_>, expected: TargetType, access: Access) {
    if field.text.is_empty() {
        return;
    }
    if field.alternatives.is_empty() {
        let (kind, value) = typed(field, place, expected);
        draft.aim_broadly(kind, value, access, breadth(field.glob));
        return;
    }
    for alternative in &field.alternatives {
        let glob = alternative.contains(['*', '?']);
        let known = Field { glob, ..Field::literal(alternative.as_str()) };
        let (kind, value) = typed(&known, place, expected);
        draft.aim_broadly(kind, value, access, breadth(glob));
    }
}

const fn breadth(glob: bool) -> Breadth {
    if glob { Breadth::Pattern } else { Breadth::One }
}

pub(crate) fn is_url(text: &str) -> bool {
    ["http://", "https://", "ftp://", "ssh://", "git://", "s3://", "gs://", "file://"]
        .into_iter()
        .any(|scheme| text.starts_with(scheme))
        || text.starts_with("git@") && text.contains(':')
}

fn is_stream(text: &str) -> bool {
    matches!(
        text,
        "-" | "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/zero"
    ) || text.starts_with("/dev/fd/")
        || matches!(text, "/dev/random" | "/dev/urandom")
        || text.eq_ignore_ascii_case("$null")
        || text.eq_ignore_ascii_case("nul")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed_as(text: &'static str, dynamic: bool, glob: bool) -> (TargetType, String) {
        typed(&Field { dynamic, glob, ..Field::literal(text) }, &Place::Start, TargetType::File)
    }

    #[test]
    fn what_a_word_names_is_read_from_its_shape() {
        assert_eq!(typed_as("a.rs", false, false), (TargetType::File, "a.rs".to_owned()));
        assert_eq!(typed_as("src/", false, false).0, TargetType::Directory);
        assert_eq!(typed_as(".", false, false).0, TargetType::Directory);
        assert_eq!(typed_as("*.rs", false, true).0, TargetType::Path);
        assert_eq!(typed_as("-", false, false).0, TargetType::Stream);
        assert_eq!(typed_as("/dev/null", false, false).0, TargetType::Stream);
        assert_eq!(typed_as("https://a.example/x", false, false).0, TargetType::Url);
        assert_eq!(typed_as("git@host:a/b.git", false, false).0, TargetType::Url);
        assert_eq!(typed_as("$x", true, false).0, TargetType::Unknown);
        assert_eq!(typed_as("$HOME/.zshrc", true, false).0, TargetType::File);
        assert_eq!(typed_as("$PWD/a", true, false), (TargetType::File, "a".to_owned()));
        assert_eq!(typed_as("$HOME/$x", true, false).0, TargetType::Unknown);
    }

    #[test]
    fn after_a_directory_that_is_not_known_no_relative_path_is() {
        let field = Field::literal("a");
        assert_eq!(typed(&field, &Place::Unknown, TargetType::File).0, TargetType::Unknown);
        let field = Field::literal("/a");
        assert_eq!(typed(&field, &Place::Unknown, TargetType::File).0, TargetType::File);
    }
}
