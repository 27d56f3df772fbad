//! Patterns of folders: `*` and `?` inside one name, `**` across names, `~/` for the user's home.
//!
//! A pattern that starts with `/` or `~/` is anchored there; any other matches below every folder, as
//! `secret` or `client-*/src` would in an ignore file. A match of a folder covers everything below it, so
//! `~/clients/secret`, `~/clients/secret/` and `~/clients/secret/**` mean the same. Matching walks the path once and
//! carries the set of reachable places in the pattern, so no pattern is slow.

/// One pattern, ready to match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    /// The pattern as the user wrote it.
    pattern: Vec<u8>,
    /// True if it starts at the user's home.
    home: bool,
    /// The tokens after the anchor, without slashes at the end.
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Byte(u8),
    /// `?`: one character of a name.
    One,
    /// `*`: any part of a name.
    Some,
    /// `**`: any part of a path.
    Deep,
}

impl Glob {
    /// Parses a pattern. Every sequence of bytes is valid.
    pub fn new(pattern: &[u8]) -> Self {
        let (home, rest) = match pattern {
            b"~" => (true, &b""[..]),
            [b'~', b'/', ..] => (true, pattern.get(1..).unwrap_or_default()),
            _ => (false, pattern),
        };
        let mut tokens = Vec::with_capacity(rest.len() + 2);
        if !home && !rest.starts_with(b"/") {
            tokens.extend([Token::Deep, Token::Byte(b'/')]);
        }
        for byte in rest {
            let token = match (byte, tokens.last()) {
                (b'*', Some(Token::Some | Token::Deep)) => {
                    tokens.pop();
                    Token::Deep
                }
                (b'*', _) => Token::Some,
                (b'?', _) => Token::One,
                (b'/', Some(Token::Byte(b'/'))) => continue,
                (byte, _) => Token::Byte(*byte),
            };
            tokens.push(token);
        }
        // `dir/**` and `dir/` cover what `dir` covers; `/**` alone covers everything.
        loop {
            match tokens.as_slice() {
                [.., Token::Byte(b'/')] => tokens.truncate(tokens.len() - 1),
                [.., Token::Byte(b'/'), Token::Deep] => tokens.truncate(tokens.len() - 2),
                _ => break,
            }
        }
        Self { pattern: pattern.to_vec(), home, tokens }
    }

    /// Returns the pattern as the user wrote it.
    pub fn pattern(&self) -> &[u8] {
        &self.pattern
    }

    /// Returns `true` if `path` is a folder that the pattern matches, or lies below one.
    pub fn covers(&self, path: &[u8], home_dir: Option<&[u8]>) -> bool {
        if !self.home {
            return self.walk(path, Start::Here);
        }
        match home_dir.map(trim_slashes) {
            Some(home) if !home.is_empty() => match path.strip_prefix(home) {
                Some(rest) if rest.is_empty() || rest.starts_with(b"/") => self.walk(rest, Start::Here),
                _ => false,
            },
            _ => self.walk(path, Start::Anywhere),
        }
    }

    /// Returns the same pattern with links resolved in the folders before its first wildcard; `None` if nothing
    /// changes.
    pub(crate) fn without_links(
        &self,
        home_dir: Option<&[u8]>,
        resolve: impl Fn(&[u8]) -> Option<Vec<u8>>,
    ) -> Option<Self> {
        let path = match self.pattern.strip_prefix(b"~") {
            Some(rest) if self.home => [trim_slashes(home_dir?), rest].concat(),
            _ => self.pattern.clone(),
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

    /// Follows `path` through the pattern with the set of places that are reachable so far.
    fn walk(&self, path: &[u8], start: Start) -> bool {
        let end = self.tokens.len();
        let mut reached = vec![false; end + 1];
        let mut next = vec![false; end + 1];
        self.enter(&mut reached, 0);
        let mut previous = 0;
        for byte in path.iter().chain(b"/") {
            if *byte == b'/' {
                if previous == b'/' {
                    continue;
                }
                // A name ends here: the match up to this place is a folder on the way.
                if reached.get(end).is_some_and(|done| *done) {
                    return true;
                }
                if start == Start::Anywhere {
                    self.enter(&mut reached, 0);
                }
            }
            previous = *byte;
            next.fill(false);
            for (at, token) in self.tokens.iter().enumerate() {
                if !reached.get(at).is_some_and(|here| *here) {
                    continue;
                }
                match token {
                    Token::Byte(expected) if expected == byte => self.enter(&mut next, at + 1),
                    Token::Byte(_) => {}
                    // The bytes that continue a character belong to it.
                    Token::One if *byte != b'/' => self.enter(&mut next, at + 1),
                    Token::Some if *byte != b'/' => self.reach(&mut next, at),
                    Token::One | Token::Some => {}
                    Token::Deep => self.reach(&mut next, at),
                }
            }
            if (0x80..0xc0).contains(byte) {
                for at in 1..=end {
                    let one = self.tokens.get(at - 1) == Some(&Token::One);
                    if one && reached.get(at).is_some_and(|here| *here) {
                        self.reach(&mut next, at);
                    }
                }
            }
            std::mem::swap(&mut reached, &mut next);
        }
        false
    }

    /// Marks `at`, and what follows without a byte: stars match nothing too.
    fn reach(&self, set: &mut [bool], at: usize) {
        let mut at = at;
        loop {
            if let Some(place) = set.get_mut(at) {
                *place = true;
            }
            match self.tokens.get(at) {
                Some(Token::Some | Token::Deep) => at += 1,
                Some(Token::Byte(_) | Token::One) | None => return,
            }
        }
    }

    /// Marks `at`, which is entered from the token before it: there `**/` as a whole matches nothing too.
    fn enter(&self, set: &mut [bool], at: usize) {
        self.reach(set, at);
        let mut at = at;
        while self.tokens.get(at) == Some(&Token::Deep) && self.slash(at + 1) {
            if at > 0 && !self.slash(at - 1) {
                return;
            }
            at += 2;
            self.reach(set, at);
        }
    }

    fn slash(&self, at: usize) -> bool {
        self.tokens.get(at) == Some(&Token::Byte(b'/'))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Here,
    Anywhere,
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
