//! Patterns for names, texts and paths of rules, over the patterns of `privacy`.
//!
//! In a name or text `*` stands for anything and `?` for one character. In a path `*` and `?` stay inside one name and
//! `**` crosses names; a path pattern that begins with `/` or `~/` is anchored there, one without any `/` matches in
//! every folder, any other is seen from the root of the project. A pattern that matches a folder covers everything
//! below it.

use agent_tracer_privacy::pattern::{Pattern, Token};

use crate::overlap;
use crate::path;

/// A pattern for a name or a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    text: String,
    pattern: Pattern<char>,
    folds_case: bool,
}

impl Glob {
    /// Parses a pattern that minds the difference between `a` and `A`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), pattern: Pattern::of_text(text.chars()), folds_case: false }
    }

    /// Parses a pattern for which `a` and `A` are the same.
    #[must_use]
    pub fn any_case(text: &str) -> Self {
        Self { folds_case: true, ..Self::new(&text.to_lowercase()) }
    }

    /// Returns the pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the name itself, if the pattern stands for exactly one.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        let is_literal = self.pattern.tokens().iter().all(|token| matches!(token, Token::Symbol(_)));
        is_literal.then_some(self.text.as_str())
    }

    /// Returns whether the pattern matches this text.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        if self.folds_case {
            self.pattern.matches(text.to_lowercase().chars())
        } else {
            self.pattern.matches(text.chars())
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
    pattern: Pattern<char>,
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
        let rest = rest.strip_prefix("./").unwrap_or(rest);
        let is_open = |name: &&str| name.contains(['*', '?']);
        let fixed: Vec<&str> = rest.split('/').take_while(|name| !is_open(name)).collect();
        let pattern = Pattern::of_path(rest.chars());
        // Only a pattern without any slash is looked for in every folder; `src/x` means one place, that of the
        // project.
        let pattern = if anchor == Anchor::Anywhere { pattern.anywhere() } else { pattern };
        Self { text: text.to_owned(), anchor, pattern, fixed: fixed.join("/") }
    }

    /// Returns the pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether an absolute, tidy path is the one that the pattern names, or lies below it.
    #[must_use]
    pub fn covers(&self, path: &str, roots: Roots<'_>) -> bool {
        let Some(inside) = self.seen_from(path, roots) else { return false };
        // A slash before the first name, so that `**/name` finds it there, too.
        let is_bare = self.anchor == Anchor::Anywhere && !inside.starts_with('/');
        self.pattern.covers(is_bare.then_some('/').into_iter().chain(inside.chars()))
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
        let mut tokens: Vec<Token<char>> = root.chars().map(Token::Symbol).collect();
        if !root.is_empty() && !root.ends_with('/') && !self.pattern.tokens().is_empty() {
            tokens.push(Token::Symbol('/'));
        }
        tokens.extend(self.pattern.tokens());
        // Any folder may hold a name that is not anchored; only what takes the whole project is sure to be near it.
        let below = below && self.anchor != Anchor::Anywhere;
        overlap::overlaps(pattern, below, &tokens)
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
