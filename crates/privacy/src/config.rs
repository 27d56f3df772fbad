//! `privacy.conf`: the level of detail, and the folders that are not recorded at all.
//!
//! Line-based, because a person edits it and the hook reads it before every event:
//!
//! ```text
//! # how much is kept: metadata, actions (the default) or full
//! level actions
//! # nothing at all is recorded below these folders
//! exclude ~/clients/secret/**
//! ```
//!
//! Words are separated by blanks, `#` starts a comment at the start of a line, letter case does not matter
//! in `level` and `exclude`. A line that is not understood is a [`ConfigFault`], never skipped in silence.
//! Any fault makes the level `metadata`: a mistyped request for privacy must not reduce it. A fault that may hide an
//! exclusion ([`ConfigFault::may_hide_exclusion`]) makes the whole file useless: nothing is recorded by it. A slip whose
//! meaning is clear (quotes around a path, a comment behind it, `$HOME/`, `exclude:`) is no fault.

use std::fmt;

use crate::glob::{self, Glob};

/// The part of a payload that may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// Names, paths, programs and quantities; texts only as lengths.
    Metadata,
    /// Actions and prompts, masked; results only as quantities.
    #[default]
    Actions,
    /// Also the head and tail of results, masked.
    Full,
}

impl Level {
    /// Returns the word in `privacy.conf` and in the envelope's header.
    pub fn name(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::Actions => "actions",
            Self::Full => "full",
        }
    }

    fn parse(word: &[u8]) -> Option<Self> {
        [Self::Metadata, Self::Actions, Self::Full]
            .into_iter()
            .find(|level| word.eq_ignore_ascii_case(level.name().as_bytes()))
    }
}

/// The settings in `privacy.conf`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// The part of a payload that may be kept.
    pub level: Level,
    /// Folders below which nothing is recorded.
    pub excludes: Vec<Glob>,
    /// The resolver of links, if the caller may read the disk; see [`Config::follow_links`].
    pub links: Links,
}

/// Returns the path without links; `None` if it cannot be resolved.
pub type ResolveLinks = fn(&[u8]) -> Option<Vec<u8>>;

/// An optional resolver of links. It does not count when configurations are compared: only their settings do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Links(Option<ResolveLinks>);

impl PartialEq for Links {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Links {}

/// A line of `privacy.conf` that is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFault {
    /// The line, counted from 1; 0 for the file as a whole.
    pub line: usize,
    /// The fault in the line.
    pub problem: ConfigProblem,
}

/// A fault in a line of `privacy.conf`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigProblem {
    /// `level` with a word that is no level, or none.
    UnknownLevel(String),
    /// A second `level` that differs from the first.
    SecondLevel,
    /// `exclude` without a pattern.
    EmptyExclude,
    /// `exclude ~name/…`: only one's own home can be named.
    ForeignHome(String),
    /// `exclude` with a pattern whose meaning here may differ from the author's intention.
    UnclearExclude(String),
    /// A first word that is no setting.
    UnknownSetting(String),
    /// A line that is not UTF-8, or holds control characters.
    NotText,
    /// The file is longer than [`Config::MAX_BYTES`]; the rest was not read.
    TooLong,
}

impl ConfigFault {
    /// Returns `true` if the line may have been meant to exclude a folder. Only a line about the level cannot be.
    #[must_use]
    pub fn may_hide_exclusion(&self) -> bool {
        match self.problem {
            ConfigProblem::UnknownLevel(_) | ConfigProblem::SecondLevel => false,
            ConfigProblem::EmptyExclude
            | ConfigProblem::ForeignHome(_)
            | ConfigProblem::UnclearExclude(_)
            | ConfigProblem::UnknownSetting(_)
            | ConfigProblem::NotText
            | ConfigProblem::TooLong => true,
        }
    }
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        match &self.problem {
            // Each message says what holds now: a mistake means the most privacy, never the last level.
            ConfigProblem::UnknownLevel(word) if word.is_empty() => {
                write!(f, "`level` has no value; everything is treated as `metadata`")?;
                write!(f, "\nhint: write `level metadata`, `level actions` or `level full`")
            }
            ConfigProblem::UnknownLevel(word) => {
                write!(f, "unknown level `{word}`; everything is treated as `metadata`")?;
                write!(f, "\nhint: write `level metadata`, `level actions` or `level full`")
            }
            ConfigProblem::SecondLevel => {
                write!(
                    f,
                    "`level` is given twice with different values; everything is treated as `metadata`"
                )?;
                write!(f, "\nhint: keep one `level` line")
            }
            ConfigProblem::EmptyExclude => {
                write!(f, "`exclude` has no pattern\nhint: write `exclude ~/clients/secret/**`")
            }
            ConfigProblem::ForeignHome(pattern) => {
                write!(
                    f,
                    "cannot resolve `{pattern}`: only `~/` is understood\nhint: write the absolute path"
                )
            }
            ConfigProblem::UnclearExclude(pattern) => {
                write!(f, "invalid pattern `{pattern}`; everything is treated as `metadata`")?;
                write!(f, "\nhint: one path per `exclude` line, with `*`, `**`, `?` and `~/` only")
            }
            ConfigProblem::UnknownSetting(word) => {
                write!(f, "unknown setting `{word}`\nhint: the settings are `level` and `exclude`")
            }
            ConfigProblem::NotText => write!(f, "the line is not plain text"),
            ConfigProblem::TooLong => {
                write!(f, "the file is over {} bytes; the rest was not read", Config::MAX_BYTES)
            }
        }
    }
}

/// Words of the user that end up in a fault are cut to this many characters.
const SHOWN_CHARS: usize = 80;

fn abbreviate(word: &[u8]) -> String {
    String::from_utf8_lossy(word).chars().take(SHOWN_CHARS).collect()
}

/// Returns `true` for `exclude` and its common misspellings.
fn is_exclude(word: &[u8]) -> bool {
    let word = word.strip_suffix(b":").or(word.strip_suffix(b"=")).unwrap_or(word);
    word.eq_ignore_ascii_case(b"exclude") || word.eq_ignore_ascii_case(b"excludes")
}

/// Returns the pattern without a comment after it, without quotes around it, and with `~` for `$HOME`.
fn plain_pattern(value: &[u8]) -> Vec<u8> {
    let comment = value.windows(2).position(|pair| matches!(pair, [b' ' | b'\t', b'#']));
    let value = value.get(..comment.unwrap_or(value.len())).unwrap_or_default().trim_ascii();
    let value = match value {
        [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => inner,
        value => value,
    };
    for home in [&b"$HOME/"[..], b"${HOME}/"] {
        if let Some(rest) = value.strip_prefix(home) {
            return [b"~/", rest].concat();
        }
    }
    value.to_vec()
}

/// Returns `true` if a pattern contains syntax of other programs: variables, choices, quotes, a second path.
fn is_unclear(pattern: &[u8]) -> bool {
    pattern.iter().any(|byte| matches!(byte, b'$' | b'{' | b'}' | b'[' | b']' | b'"' | b'\''))
        || pattern.windows(2).any(|pair| matches!(pair, [b' ' | b'\t' | b',', b'/' | b'~']))
}

impl Config {
    /// Longest `privacy.conf` that is read.
    pub const MAX_BYTES: usize = 64 * 1024;

    /// Reads `privacy.conf`. Always gives a usable configuration; the faults are for `doctor`.
    pub fn parse(text: &[u8]) -> (Self, Vec<ConfigFault>) {
        let mut config = Self::default();
        let mut faults = Vec::new();
        let mut level: Option<Level> = None;
        let mut level_faulty = false;
        let (read, rest) = text.split_at(text.len().min(Self::MAX_BYTES));
        let read = read.strip_prefix(b"\xef\xbb\xbf").unwrap_or(read);
        if !rest.is_empty() {
            // The missing part may contain the line that sets the level lower.
            level_faulty = true;
            faults.push(ConfigFault { line: 0, problem: ConfigProblem::TooLong });
        }
        for (number, line) in (1..).zip(read.split(|byte| *byte == b'\n')) {
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let mut fault = |problem| faults.push(ConfigFault { line: number, problem });
            if std::str::from_utf8(line).is_err() || line.iter().any(|byte| *byte < b' ' && *byte != b'\t') {
                level_faulty = true;
                fault(ConfigProblem::NotText);
                continue;
            }
            let split = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
            let (word, value) = line.split_at(split);
            let value = value.trim_ascii();
            if word.eq_ignore_ascii_case(b"level") {
                match Level::parse(value) {
                    Some(given) if level.is_none_or(|earlier| earlier == given) => level = Some(given),
                    Some(_) => {
                        level_faulty = true;
                        fault(ConfigProblem::SecondLevel);
                    }
                    None => {
                        level_faulty = true;
                        fault(ConfigProblem::UnknownLevel(abbreviate(value)));
                    }
                }
            } else if is_exclude(word) {
                let value = plain_pattern(value);
                match &*value {
                    b"" => fault(ConfigProblem::EmptyExclude),
                    [b'~', other, ..] if *other != b'/' => {
                        fault(ConfigProblem::ForeignHome(abbreviate(&value)))
                    }
                    pattern if is_unclear(pattern) => {
                        fault(ConfigProblem::UnclearExclude(abbreviate(pattern)))
                    }
                    pattern => config.excludes.push(Glob::new(pattern)),
                }
            } else {
                // `lvel metadata`, `level=metadata`: a misspelled setting of the level.
                let mut words = line.split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'=' | b':'));
                if words.any(|word| Level::parse(word).is_some() || word.eq_ignore_ascii_case(b"level")) {
                    level_faulty = true;
                }
                fault(ConfigProblem::UnknownSetting(abbreviate(word)));
            }
        }
        // A fault may hide the exclusion of a folder, so as little as possible is kept.
        let level_faulty = level_faulty || !faults.is_empty();
        config.level = if level_faulty { Level::Metadata } else { level.unwrap_or_default() };
        (config, faults)
    }

    /// Returns `true` if events in `path` (a working or project directory) must not be recorded.
    ///
    /// A pattern that matches a directory excludes everything below it. Without `home_dir` a `~/` pattern
    /// matches below any directory, because recording too little is the smaller mistake.
    pub fn excludes(&self, path: &[u8], home_dir: Option<&[u8]>) -> bool {
        if self.excludes.is_empty() {
            return false;
        }
        let covers = |path: &[u8]| self.excludes.iter().any(|glob| glob.covers(path, home_dir));
        // A match of any form is enough: the path itself, without `.` and `..`, and without links.
        covers(path)
            || covers(&glob::resolved(path))
            || self.links.0.and_then(|resolve| resolve(path)).is_some_and(|real| covers(&real))
    }

    /// Makes exclusions follow links: a folder is excluded by each of its names. The names in patterns are resolved once,
    /// here; paths are resolved when they are checked.
    pub fn follow_links(&mut self, home_dir: Option<&[u8]>, resolve: ResolveLinks) {
        let real: Vec<Glob> =
            self.excludes.iter().filter_map(|glob| glob.without_links(home_dir, resolve)).collect();
        self.excludes.extend(real);
        self.links = Links(Some(resolve));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &[u8]) -> Vec<(usize, ConfigProblem)> {
        Config::parse(text).1.into_iter().map(|fault| (fault.line, fault.problem)).collect()
    }

    #[test]
    fn an_empty_file_means_the_default() {
        for text in [&b""[..], b"\n\n", b"# only a comment\n   # and another", b"\xef\xbb\xbf", b"\r\n\r\n"] {
            let (config, faults) = Config::parse(text);
            assert_eq!((config, faults), (Config::default(), Vec::new()));
        }
        assert_eq!(Config::default().level, Level::Actions);
    }

    #[test]
    fn levels_and_excludes_are_read() {
        let text =
            b"\xef\xbb\xbf# mine\r\nlevel full\r\n\texclude   ~/clients/secret/**  \r\nEXCLUDE /srv/a b\n";
        let (config, faults) = Config::parse(text);
        assert_eq!(faults, Vec::new());
        assert_eq!(config.level, Level::Full);
        let patterns: Vec<&[u8]> = config.excludes.iter().map(Glob::pattern).collect();
        assert_eq!(patterns, [&b"~/clients/secret/**"[..], b"/srv/a b"]);
        for level in [Level::Metadata, Level::Actions, Level::Full] {
            let text = format!("Level {}", level.name().to_uppercase());
            assert_eq!(Config::parse(text.as_bytes()).0.level, level);
        }
    }

    #[test]
    fn a_misspelled_level_gives_the_most_privacy() {
        for text in [
            &b"level"[..],
            b"level everything",
            b"level full extra",
            b"level full\nlevel metadata",
            b"level metadata\nlevel full",
            b"level=full",
            b"level: full",
            b"lvel full",
            b"full",
            b"capture actions",
            b"level full\nlevel",
            b"level \xff",
            b"level full\n\xff\xfe",
            b"level fu\0ll",
        ] {
            let (config, faults) = Config::parse(text);
            assert_eq!(config.level, Level::Metadata, "{}", String::from_utf8_lossy(text));
            assert!(!faults.is_empty(), "{}", String::from_utf8_lossy(text));
        }
        assert_eq!(Config::parse(b"level full\nlevel full").0.level, Level::Full);
    }

    #[test]
    fn a_slip_whose_meaning_is_clear_is_understood() {
        for line in [
            "exclude \"/srv/secret\"",
            "exclude '/srv/secret'",
            "exclude /srv/secret # mine",
            "exclude: /srv/secret",
            "excludes /srv/secret",
        ] {
            let (config, faults) = Config::parse(line.as_bytes());
            assert!(faults.is_empty() && config.excludes(b"/srv/secret/a", None), "{line}: {faults:?}");
        }
        let (config, _) = Config::parse(b"exclude $HOME/x\nexclude ${HOME}/y");
        assert!(config.excludes(b"/h/x", Some(b"/h")) && config.excludes(b"/h/y", Some(b"/h")));
        for line in [
            "exclude /a /b",
            "exclude /srv/{a,b}",
            "exclude /srv/[s]",
            "exclude $WORK/x",
            "exclude /a,/b",
            "exclude \"/a",
        ] {
            let (config, faults) = Config::parse(format!("level full\n{line}").as_bytes());
            assert_eq!((config.level, faults.len()), (Level::Metadata, 1), "{line}");
        }
    }

    #[test]
    fn every_fault_is_reported_and_gives_the_most_privacy() {
        let text = b"level full\nexclude\nexclude ~ada/x\ncolour blue\nexclude ~\n";
        let (config, _) = Config::parse(text);
        assert_eq!(config.level, Level::Metadata);
        assert_eq!(config.excludes.len(), 1);
        assert_eq!(
            problems(text),
            [
                (2, ConfigProblem::EmptyExclude),
                (3, ConfigProblem::ForeignHome("~ada/x".to_owned())),
                (4, ConfigProblem::UnknownSetting("colour".to_owned())),
            ]
        );
    }

    #[test]
    fn a_file_that_is_too_long_gives_the_most_privacy() {
        let mut text = b"level full\n".to_vec();
        text.resize(Config::MAX_BYTES + 1, b'\n');
        let (config, faults) = Config::parse(&text);
        assert_eq!(config.level, Level::Metadata);
        assert_eq!(faults, [ConfigFault { line: 0, problem: ConfigProblem::TooLong }]);
    }

    #[test]
    fn a_fault_names_its_line_its_problem_and_a_hint() {
        let (_, faults) = Config::parse(b"\nlevel loud\n");
        let text = faults.first().expect("a fault").to_string();
        assert!(text.starts_with("line 2: unknown level `loud`"), "{text}");
        assert!(text.contains("\nhint: write `level metadata`"), "{text}");
        let (_, faults) = Config::parse(format!("x{}", "y".repeat(10_000)).as_bytes());
        assert!(faults.first().expect("a fault").to_string().len() < 250);
    }

    #[test]
    fn an_excluded_folder_is_excluded_with_all_below_it() {
        let (config, _) = Config::parse(b"exclude ~/clients/secret/**\nexclude client-*\n");
        let home = Some(&b"/home/dev"[..]);
        assert!(config.excludes(b"/home/dev/clients/secret", home));
        assert!(config.excludes(b"/home/dev/clients/secret/a/b", home));
        assert!(config.excludes(b"/srv/client-a/src", home));
        assert!(!config.excludes(b"/home/dev/clients/secrets", home));
        assert!(!config.excludes(b"/home/ada/clients/secret", home));
        assert!(!config.excludes(b"/home/dev/work", home));
        assert!(config.excludes(b"/home/dev/clients/other/../secret/./x", home));
        assert!(config.excludes(b"/home/dev//clients/./secret", home));
        assert!(config.excludes(b"/home/dev/clients/secret/../open", home), "the way through may be a link");
        assert!(!Config::default().excludes(b"/", home));
    }
}
