//! Patterns of folders: `*` and `?` inside one name, `**` across names, `~/` for the user's home.
//!
//! A pattern that starts with `/` or `~/` is anchored there; any other matches below every folder, as
//! `secret` or `client-*/src` would in an ignore file. A match of a folder covers everything below it, so
//! `~/work/secret`, `~/work/secret/` and `~/work/secret/**` mean the same. Matching walks the path once and
//! carries the set of reachable places in the pattern, so no pattern is slow.

/// One pattern, ready to match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    /// As the user wrote it.
    pattern: Vec<u8>,
    /// Whether it starts at the user's home.
    home: bool,
    /// What follows the anchor, without slashes at its end.
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
    /// Reads a pattern. Every sequence of bytes is one.
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

    /// The pattern as the user wrote it.
    pub fn pattern(&self) -> &[u8] {
        &self.pattern
    }

    /// Whether `path` is the named folder or lies below it.
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

    /// Follows `path` through the pattern with the set of places that are reachable so far.
    fn walk(&self, path: &[u8], start: Start) -> bool {
        let end = self.tokens.len();
        let mut reached = vec![false; end + 1];
        let mut next = vec![false; end + 1];
        self.reach(&mut reached, 0);
        let mut previous = 0;
        for byte in path.iter().chain(b"/") {
            if *byte == b'/' {
                if previous == b'/' {
                    continue;
                }
                // A name ends here: whatever the pattern has matched so far is a folder on the way.
                if reached.get(end).is_some_and(|done| *done) {
                    return true;
                }
                if start == Start::Anywhere {
                    self.reach(&mut reached, 0);
                }
            }
            previous = *byte;
            next.fill(false);
            for (at, token) in self.tokens.iter().enumerate() {
                if !reached.get(at).is_some_and(|here| *here) {
                    continue;
                }
                match token {
                    Token::Byte(expected) if expected == byte => self.reach(&mut next, at + 1),
                    Token::Byte(_) => {}
                    // The bytes that continue a character belong to it.
                    Token::One if *byte != b'/' => self.reach(&mut next, at + 1),
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

    /// Marks `at`, and what follows without a byte: stars match nothing too, and `/**/` also matches `/`.
    fn reach(&self, set: &mut [bool], at: usize) {
        let mut at = at;
        loop {
            if let Some(place) = set.get_mut(at) {
                *place = true;
            }
            match self.tokens.get(at) {
                Some(Token::Deep) => {
                    let opens = at.checked_sub(1).is_none_or(|before| self.slash(before));
                    if opens
                        && self.slash(at + 1)
                        && let Some(place) = set.get_mut(at + 2)
                    {
                        *place = true;
                        if matches!(self.tokens.get(at + 2), Some(Token::Some | Token::Deep)) {
                            self.reach(set, at + 2);
                        }
                    }
                    at += 1;
                }
                Some(Token::Some) => at += 1,
                Some(Token::Byte(_) | Token::One) | None => return,
            }
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

fn trim_slashes(path: &[u8]) -> &[u8] {
    let mut path = path;
    while let [rest @ .., b'/'] = path {
        path = rest;
    }
    path
}
