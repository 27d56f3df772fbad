//! Patterns of folders: `*` and `?` inside one name, `**` across names, `~/` for the user's home.
//!
//! A pattern that starts with `/` or `~/` is anchored there; any other matches below every folder, as
//! `secret` or `client-*/src` would in an ignore file. A match of a folder covers everything below it, so
//! `~/clients/secret`, `~/clients/secret/` and `~/clients/secret/**` mean the same.

use crate::pattern::Pattern;

/// One pattern, ready to match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    /// The pattern as the user wrote it.
    text: Vec<u8>,
    /// True if it starts at the user's home.
    home: bool,
    /// The part behind the anchor.
    pattern: Pattern<u8>,
}

impl Glob {
    /// Parses a pattern. Every sequence of bytes is valid.
    pub fn new(text: &[u8]) -> Self {
        let (home, rest) = match text {
            b"~" => (true, &b""[..]),
            [b'~', b'/', ..] => (true, text.get(1..).unwrap_or_default()),
            _ => (false, text),
        };
        let pattern = Pattern::of_path(rest.iter().copied());
        let is_anchored = home || rest.starts_with(b"/");
        let pattern = if is_anchored { pattern } else { pattern.anywhere() };
        Self { text: text.to_vec(), home, pattern }
    }

    /// Returns the pattern as the user wrote it.
    pub fn pattern(&self) -> &[u8] {
        &self.text
    }

    /// Returns `true` if `path` is a folder that the pattern matches, or lies below one.
    pub fn covers(&self, path: &[u8], home_dir: Option<&[u8]>) -> bool {
        if !self.home {
            return self.pattern.covers(path.iter().copied());
        }
        match home_dir.map(trim_slashes) {
            Some(home) if !home.is_empty() => match path.strip_prefix(home) {
                Some(rest) if rest.is_empty() || rest.starts_with(b"/") => {
                    self.pattern.covers(rest.iter().copied())
                }
                _ => false,
            },
            // Any folder may be the home: excluding too much is the lesser fault.
            _ => self.pattern.covers_an_end(path.iter().copied()),
        }
    }

    /// Returns the same pattern with links resolved in the folders before its first wildcard; `None` if nothing
    /// changes.
    pub(crate) fn without_links(
        &self,
        home_dir: Option<&[u8]>,
        resolve: impl Fn(&[u8]) -> Option<Vec<u8>>,
    ) -> Option<Self> {
        let path = match self.text.strip_prefix(b"~") {
            Some(rest) if self.home => [trim_slashes(home_dir?), rest].concat(),
            _ => self.text.clone(),
        };
        if !path.starts_with(b"/") {
            return None;
        }
        let wild = path.iter().position(|byte| matches!(byte, b'*' | b'?')).unwrap_or(path.len());
        let (named, _) = path.split_at(wild);
        // The name in which the first wildcard stands is no folder yet.
        let end = if wild == path.len() { wild } else { named.iter().rposition(|byte| *byte == b'/')? };
        let (folder, rest) = path.split_at(end);
        let folder = trim_slashes(folder);
        let real = resolve(folder).filter(|real| real != folder)?;
        Some(Self::new(&[&real, rest].concat()))
    }
}

/// Returns the path without `.`, `..` and doubled slashes, without a look at the disk.
pub(crate) fn resolved(path: &[u8]) -> Vec<u8> {
    let mut names: Vec<&[u8]> = Vec::new();
    for name in path.split(|byte| *byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    let mut whole = if path.starts_with(b"/") { b"/".to_vec() } else { Vec::new() };
    whole.extend(names.join(&b'/'));
    whole
}

fn trim_slashes(path: &[u8]) -> &[u8] {
    let mut path = path;
    while let [rest @ .., b'/'] = path {
        path = rest;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(pattern: &str, path: &str) -> bool {
        Glob::new(pattern.as_bytes()).covers(path.as_bytes(), Some(b"/home/dev/"))
    }

    #[test]
    fn patterns_cover_the_folders_that_people_mean() {
        for (pattern, path, expected) in [
            ("/a/b", "/a/b", true),
            ("/a/b", "/a/b/c", true),
            ("/a/b", "/a/bc", false),
            ("/a/b", "/a", false),
            ("/a/b/", "/a/b", true),
            ("/a/b/**", "/a/b", true),
            ("/a/b/**", "/a/b/c/d", true),
            ("/a/*", "/a/x/y", true),
            ("/a/*", "/a", false),
            ("/a/*/c", "/a/b/c", true),
            ("/a/*/c", "/a/b/x/c", false),
            ("/a/**/c", "/a/b/x/c", true),
            ("/a/**/c", "/a/c", true),
            ("/a/**/c", "/ac", false),
            ("/a/**/c", "/a/bc", false),
            ("/a/x?z", "/a/xyz", true),
            ("/a/x?z", "/a/xéz", true),
            ("/a/x?z", "/a/x/z", false),
            ("/a/x?z", "/a/xz", false),
            ("/a/x*z", "/a/xz", true),
            ("/a/x*z", "/a/xyyyz", true),
            ("/a//b", "/a/b", true),
            ("/a/b", "/a//b/", true),
            ("~", "/home/dev", true),
            ("~", "/home/dev/x", true),
            ("~/x", "/home/dev/x/y", true),
            ("~/x", "/home/developer/x", false),
            ("~/x", "/x", false),
            ("~/*/secret", "/home/dev/a/secret", true),
            ("secret", "/any/where/secret/x", true),
            ("secret", "/any/where/secrets", false),
            ("a/b", "/x/a/b", true),
            ("a/b", "/x/a/c/b", false),
            ("**/b", "/x/b", true),
            ("*.git", "/x/y.git/hooks", true),
            ("/", "/anything", true),
            ("/**", "/anything", true),
            ("**", "/anything", true),
            ("/A", "/a", false),
        ] {
            assert_eq!(covers(pattern, path), expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn without_a_home_a_home_pattern_covers_more_and_not_less() {
        let glob = Glob::new(b"~/clients/secret");
        assert!(glob.covers(b"/home/dev/clients/secret/x", None));
        assert!(glob.covers(b"/root/clients/secret", Some(b"")));
        assert!(!glob.covers(b"/home/dev/clients/other", None));
    }

    #[test]
    fn bytes_that_are_no_text_match_themselves() {
        assert!(Glob::new(b"/a/\xff").covers(b"/a/\xff/b", None));
        assert!(!Glob::new(b"/a/\xff").covers(b"/a/\xfe", None));
    }

    #[test]
    fn many_stars_are_no_slower_than_few() {
        let pattern = "/".to_owned() + &"*a".repeat(200);
        assert!(!covers(&pattern, &format!("/{}b", "a".repeat(4000))));
        assert!(!covers(&"/**/a".repeat(200), &"/b".repeat(2000)));
    }
}
