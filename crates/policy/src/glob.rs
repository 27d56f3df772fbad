//! Patterns for names, texts and paths. Matching carries the set of reachable places, so no pattern is slow.
//!
//! In a name or text `*` stands for anything and `?` for one character. In a path `*` and `?` stay inside one name and
//! `**` crosses names; a path pattern that begins with `/` or `~/` is anchored there, one without any `/` matches in
//! every folder, any other is seen from the root of the project. A pattern that matches a folder covers everything
//! below it.

use crate::overlap;
use crate::path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Character(char),
    /// One character; in a path not a slash.
    One,
    /// Any part of a name.
    Within,
    /// Anything.
    Across,
}

/// A pattern for a name or a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    text: String,
    tokens: Vec<Token>,
    folds_case: bool,
}

impl Glob {
    /// A pattern that minds the difference between `a` and `A`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut tokens = Vec::new();
        for character in text.chars() {
            match character {
                '*' if tokens.last() == Some(&Token::Across) => {}
                '*' => tokens.push(Token::Across),
                '?' => tokens.push(Token::One),
                other => tokens.push(Token::Character(other)),
            }
        }
        Self { text: text.to_owned(), tokens, folds_case: false }
    }

    /// A pattern for which `a` and `A` are the same.
    #[must_use]
    pub fn any_case(text: &str) -> Self {
        Self { folds_case: true, ..Self::new(&text.to_lowercase()) }
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The name itself, if the pattern stands for exactly one.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        self.tokens.iter().all(|token| matches!(token, Token::Character(_))).then_some(self.text.as_str())
    }

    /// Returns whether the pattern matches this text.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        if self.folds_case {
            run(&self.tokens, text.to_lowercase().chars(), Slashes::Ordinary)
        } else {
            run(&self.tokens, text.chars(), Slashes::Ordinary)
        }
    }
}

/// The start of a path pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Anchor {
    Root,
    Home,
    Project,
    Anywhere,
}

/// A pattern for a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathGlob {
    text: String,
    anchor: Anchor,
    /// The names behind the anchor.
    tokens: Vec<Token>,
    /// The names at the beginning in which nothing is left open, joined by slashes.
    fixed: String,
}

/// The folders that relative paths start from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Roots<'r> {
    /// The root of the project.
    pub project: Option<&'r str>,
    /// The user's home.
    pub home: Option<&'r str>,
}

impl PathGlob {
    /// Reads a pattern. Every text is one.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let (anchor, rest) = match text {
            "~" => (Anchor::Home, ""),
            _ if text.starts_with("~/") => (Anchor::Home, text.get(2..).unwrap_or_default()),
            _ if text.starts_with('/') => (Anchor::Root, text.trim_start_matches('/')),
            _ if text.trim_end_matches('/').contains('/') => (Anchor::Project, text),
            _ => (Anchor::Anywhere, text),
        };
        // `dir/` and `dir/**` cover what `dir` covers.
        let mut rest = rest.strip_prefix("./").unwrap_or(rest).trim_end_matches('/');
        while let Some(shorter) = rest.strip_suffix("/**") {
            rest = shorter.trim_end_matches('/');
        }
        let everything = rest == "**";
        let is_open = |name: &&str| name.contains(['*', '?']);
        let fixed: Vec<&str> = rest.split('/').take_while(|name| !is_open(name)).collect();
        let mut tokens = Vec::new();
        if anchor == Anchor::Anywhere && !everything {
            tokens.extend([Token::Across, Token::Character('/')]);
        }
        for character in rest.chars() {
            match (character, tokens.last()) {
                ('*', Some(Token::Within | Token::Across)) => {
                    tokens.pop();
                    tokens.push(Token::Across);
                }
                ('*', _) => tokens.push(Token::Within),
                ('?', _) => tokens.push(Token::One),
                // `a/**/b` is also `a/b`.
                ('/', Some(Token::Across)) if tokens.len() == 1 => tokens.push(Token::Character('/')),
                (other, _) => tokens.push(Token::Character(other)),
            }
        }
        Self { text: text.to_owned(), anchor, tokens, fixed: fixed.join("/") }
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether an absolute, tidy path is the one that the pattern names, or lies below it.
    #[must_use]
    pub fn covers(&self, path: &str, roots: Roots<'_>) -> bool {
        let Some(inside) = self.seen_from(path, roots) else { return false };
        // Everything below what matches matches: try the path itself and each folder above it.
        let mut end = inside.len();
        loop {
            let part = inside.get(..end).unwrap_or_default();
            if self.is(part) {
                return true;
            }
            match part.rfind('/') {
                Some(slash) => end = slash,
                None => return end > 0 && self.is(""),
            }
        }
    }

    /// Returns whether removing everything below an absolute, tidy path may remove something that the pattern names.
    #[must_use]
    pub fn may_lie_below(&self, path: &str, roots: Roots<'_>) -> bool {
        if self.anchor == Anchor::Anywhere {
            // Any folder may hold such a name; only what takes the whole project is sure to be near it.
            return roots.project.is_some_and(|project| path::below(project, path).is_some());
        }
        let root = match self.anchor {
            Anchor::Root | Anchor::Anywhere => Some(""),
            Anchor::Home => roots.home,
            Anchor::Project => roots.project,
        };
        let Some(root) = root else { return false };
        let named = path::tidy(&format!("{root}/{}", self.fixed));
        path::below(&named, path).is_some()
    }

    /// Returns whether some path that a shell pattern expands to is covered, or, if `below` everything below it goes too, lies
    /// below it.
    #[must_use]
    pub(crate) fn may_cover(&self, pattern: &str, below: bool, roots: Roots<'_>) -> bool {
        let root = match self.anchor {
            Anchor::Anywhere => Some(""),
            Anchor::Root => Some("/"),
            Anchor::Home => roots.home,
            Anchor::Project => roots.project,
        };
        let Some(root) = root else { return false };
        let mut tokens: Vec<Token> = root.chars().map(Token::Character).collect();
        if !root.is_empty() && !root.ends_with('/') && !self.tokens.is_empty() {
            tokens.push(Token::Character('/'));
        }
        tokens.extend(self.tokens.iter().cloned());
        // Any folder may hold a name that is not anchored; only what takes the whole project is sure to be near it.
        let below = below && self.anchor != Anchor::Anywhere;
        overlap::meet(pattern, below, &tokens)
    }

    /// Returns whether the last name of the pattern is a hidden one.
    #[must_use]
    pub(crate) fn is_hidden(&self) -> bool {
        self.text
            .trim_end_matches("/**")
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .is_some_and(|name| name.starts_with('.'))
    }

    fn seen_from<'p>(&self, path: &'p str, roots: Roots<'_>) -> Option<&'p str> {
        match self.anchor {
            Anchor::Root => path.strip_prefix('/'),
            Anchor::Home => path::below(path, roots.home?),
            Anchor::Project => match roots.project {
                Some(project) => path::below(path, project),
                // Without a project the path is seen from where the call was made.
                None => (!path.starts_with('/')).then_some(path),
            },
            Anchor::Anywhere => Some(path),
        }
    }

    fn is(&self, part: &str) -> bool {
        let separated = part.chars();
        if self.anchor == Anchor::Anywhere {
            // A slash before the first name, so that `**/name` finds it there too.
            let leading = if part.starts_with('/') { None } else { Some('/') };
            return run(&self.tokens, leading.into_iter().chain(separated), Slashes::Separate);
        }
        run(&self.tokens, separated, Slashes::Separate)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slashes {
    Separate,
    Ordinary,
}

fn run(tokens: &[Token], text: impl Iterator<Item = char>, slashes: Slashes) -> bool {
    let end = tokens.len();
    let mut reached = vec![false; end + 1];
    let mut next = vec![false; end + 1];
    enter(tokens, &mut reached, 0);
    for character in text {
        next.fill(false);
        let stays = slashes == Slashes::Ordinary || character != '/';
        for (place, token) in tokens.iter().enumerate() {
            if !reached.get(place).copied().unwrap_or(false) {
                continue;
            }
            match token {
                Token::Character(expected) if *expected == character => enter(tokens, &mut next, place + 1),
                Token::One if stays => enter(tokens, &mut next, place + 1),
                Token::Within if stays => enter(tokens, &mut next, place),
                // Once it stands for something, the slash behind it has to be there.
                Token::Across => {
                    if let Some(here) = next.get_mut(place) {
                        *here = true;
                    }
                    enter(tokens, &mut next, place + 1);
                }
                Token::Character(_) | Token::One | Token::Within => {}
            }
        }
        std::mem::swap(&mut reached, &mut next);
    }
    reached.get(end).copied().unwrap_or(false)
}

/// Marks a place, and those that are reached from it without reading anything.
fn enter(tokens: &[Token], places: &mut [bool], mut place: usize) {
    loop {
        match places.get_mut(place) {
            Some(here) => *here = true,
            None => return,
        }
        match tokens.get(place) {
            Some(Token::Within) => place += 1,
            Some(Token::Across) => {
                // `**/` may stand for nothing at all.
                if tokens.get(place + 1) == Some(&Token::Character('/'))
                    && (place == 0 || tokens.get(place - 1) == Some(&Token::Character('/')))
                    && let Some(behind) = places.get_mut(place + 2)
                    && !*behind
                {
                    *behind = true;
                    enter(tokens, places, place + 2);
                }
                place += 1;
            }
            Some(Token::Character(_) | Token::One) | None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOTS: Roots<'_> = Roots { project: Some("/code/app"), home: Some("/home/dev") };

    #[test]
    fn names_match_whole() {
        for (pattern, name, expected) in [
            ("Bash", "Bash", true),
            ("Bash", "BashOutput", false),
            ("Ba*", "Bash", true),
            ("mcp__*__delete_*", "mcp__files__delete_all", true),
            ("mcp__*", "mcp", false),
            ("*", "", true),
            ("**", "x", true),
            ("?", "é", true),
            ("?", "", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
        ] {
            assert_eq!(Glob::new(pattern).matches(name), expected, "{pattern} {name}");
        }
        assert!(Glob::any_case("*.EXAMPLE.com").matches("a.Example.COM"));
        assert_eq!(Glob::new("Write").literal(), Some("Write"));
        assert_eq!(Glob::new("Wr*").literal(), None);
    }

    #[test]
    fn paths_are_covered_from_their_anchor() {
        for (pattern, path, expected) in [
            ("src/**", "/code/app/src/main.rs", true),
            ("src/**", "/code/app/src", true),
            ("src/**", "/code/app/srcs/main.rs", false),
            ("src/**", "/code/other/src/main.rs", false),
            ("src/*.rs", "/code/app/src/main.rs", true),
            ("src/*.rs", "/code/app/src/deep/main.rs", false),
            ("src/**/*.rs", "/code/app/src/deep/er/main.rs", true),
            ("src/**/*.rs", "/code/app/src/main.rs", true),
            ("./src/x", "/code/app/src/x", true),
            ("*.log", "/code/app/a/b.log", true),
            ("*.log", "/elsewhere/b.log", true),
            ("*.log", "/elsewhere/b.logs", false),
            (".env", "/code/app/.env", true),
            (".env", "/code/app/.environment", false),
            (".env", "/code/app/.env/inside", true),
            (".env", "/code/app/prod.env", false),
            ("**/.env", "/code/app/x.env", false),
            ("src/**/a.rs", "/code/app/src/xa.rs", false),
            ("**/.env", "/code/app/.env", true),
            ("**/.env", "/code/app/x/.env", true),
            ("secrets/", "/code/app/deep/secrets/key", true),
            ("/etc/**", "/etc/passwd", true),
            ("/etc", "/etc/ssh/x", true),
            ("/etc", "/etcetera", false),
            ("~/.ssh", "/home/dev/.ssh/id", true),
            ("~/.ssh", "/root/.ssh/id", false),
            ("/**", "/anything", true),
            ("**", "/anything", true),
            ("~", "/home/dev/x", true),
            ("a/b/c", "/code/app/a/b/c", true),
            ("a?c/d", "/code/app/a/c/d", false),
        ] {
            assert_eq!(PathGlob::new(pattern).covers(path, ROOTS), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn what_lies_below_a_folder_goes_with_it() {
        for (pattern, path, expected) in [
            ("src/secret/*.key", "/code/app/src", true),
            ("src/secret/*.key", "/code", true),
            ("src/secret/*.key", "/code/app/docs", false),
            ("/etc/ssh", "/", true),
            ("/etc/ssh", "/etc/ssh/x", false),
            ("~/.ssh", "/home/dev", true),
            (".env", "/code/app", true),
            (".env", "/code/app/build", false),
        ] {
            assert_eq!(PathGlob::new(pattern).may_lie_below(path, ROOTS), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn long_patterns_and_paths_are_quick() {
        let pattern = "*a".repeat(200);
        assert!(!Glob::new(&pattern).matches(&"ab".repeat(2000)));
        let deep = "x/".repeat(300);
        assert!(!PathGlob::new(&"**/a/".repeat(50)).covers(&format!("/code/app/{deep}"), ROOTS));
    }
}
