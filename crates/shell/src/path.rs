//! Paths as text: joined and tidied without looking at any disk.

use std::rc::Rc;

/// Longest directory that is followed, in bytes.
const MAX_PLACE: usize = 1024;

/// The working directory of the shell, as far as the command line determines it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// The directory in which the command was started.
    #[default]
    Start,
    /// A directory, relative to the start or absolute.
    At(Rc<str>),
    /// A directory that only running the command would reveal.
    Unknown,
}

impl Place {
    /// Returns the working directory after `cd path`.
    pub(crate) fn enter(&self, path: &str) -> Self {
        if is_anchored(path) {
            return Self::from_text(&tidy(path));
        }
        match self {
            Self::Start => Self::from_text(&tidy(path)),
            Self::At(here) => Self::from_text(&tidy(&format!("{here}/{path}"))),
            Self::Unknown => Self::Unknown,
        }
    }

    fn from_text(text: &str) -> Self {
        match text {
            "." => Self::Start,
            // A path that only grows is no place worth following.
            _ if text.len() > MAX_PLACE => Self::Unknown,
            _ => Self::At(text.into()),
        }
    }

    /// Returns a path as seen from where the command was started. Without a `cd` before it, it stays as written.
    pub(crate) fn locate(&self, path: &str) -> String {
        match self {
            Self::At(here) if !is_anchored(path) => {
                let trailing = if path.ends_with('/') && path.len() > 1 { "/" } else { "" };
                format!("{}{trailing}", tidy(&format!("{here}/{path}")))
            }
            Self::At(_) | Self::Start | Self::Unknown => path.to_owned(),
        }
    }
}

/// Returns `true` if the path does not depend on the current directory.
pub(crate) fn is_anchored(path: &str) -> bool {
    // A variable may hold an absolute path. Joining it to the folder would make a path that does not exist.
    path.starts_with('/') || path.starts_with('~') || path.starts_with('$') || has_drive(path)
}

fn has_drive(path: &str) -> bool {
    let mut bytes = path.bytes();
    bytes.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && bytes.next() == Some(b':')
        && matches!(bytes.next(), Some(b'\\' | b'/'))
}

/// Removes `.`, doubled slashes and `x/..`, keeping what cannot be resolved.
pub(crate) fn tidy(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            // Going up from a name is that name's parent; from `..`, `~` or a variable it is not known.
            ".." => match kept.last() {
                Some(&last) if last != ".." && !last.starts_with('~') && !last.starts_with('$') => {
                    kept.pop();
                }
                // Above the root is the root.
                None if absolute => {}
                _ => kept.push(".."),
            },
            _ => kept.push(part),
        }
    }
    let joined = kept.join("/");
    match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// Returns the last part of a path: the program's name, the file's name.
pub(crate) fn base(path: &str) -> &str {
    path.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tidying_resolves_what_can_be_resolved_and_keeps_the_rest() {
        for (given, tidied) in [
            ("./a//b/../c", "a/c"),
            ("a/..", "."),
            ("../x", "../x"),
            ("a/../../x", "../x"),
            ("/a/../../x", "/x"),
            ("~/../x", "~/../x"),
            ("$D/../x", "$D/../x"),
            ("", "."),
            ("/", "/"),
        ] {
            assert_eq!(tidy(given), tidied, "{given}");
        }
    }

    #[test]
    fn a_path_is_seen_from_where_the_command_started() {
        let inside = Place::Start.enter("crates").enter("x");
        assert_eq!(inside.locate("src/a.rs"), "crates/x/src/a.rs");
        assert_eq!(inside.locate("../y/"), "crates/y/");
        assert_eq!(inside.locate("/etc/hosts"), "/etc/hosts");
        assert_eq!(inside.enter("..").enter(".."), Place::Start);
        assert_eq!(Place::Start.locate("./a"), "./a");
        assert_eq!(Place::Unknown.enter("x"), Place::Unknown);
        assert_eq!(Place::Unknown.enter("/x"), Place::At("/x".into()));
    }

    #[test]
    fn the_name_of_a_program_has_no_folder() {
        assert_eq!(base("/usr/bin/git"), "git");
        assert_eq!(base("C:\\Tools\\git.exe"), "git.exe");
        assert_eq!(base("target/"), "target");
    }
}
