//! The status line: `[monitor] ctx 42% · 5h 17% · $1.234`, the parts that exist.
//!
//! Only one status line can be registered, so ours brings the user's own along: its command is kept in
//! `statusline.conf`, gets the same input, and its output comes first.

use std::fmt::Write as _;

use agent_tracer_spool::{Home, settings_file};

use crate::lookup::number;

/// The longest file that is read.
const BYTES_MAX: usize = 64 << 10;

/// The settings of `statusline.conf`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The text before our numbers.
    pub(crate) prefix: String,
    /// The user's own status line command.
    pub(crate) chain: Option<String>,
}

impl Settings {
    /// Reads the file. One that is missing or unreadable, or that another user can write, means the defaults: it names a
    /// command that is run.
    pub(crate) fn load(home: Option<&Home>) -> Self {
        let read = |home: &Home| settings_file::read(&home.statusline_conf(), home.user(), BYTES_MAX).ok()?;
        let text = home.and_then(read).and_then(|bytes| String::from_utf8(bytes).ok());
        Self::parse(&text.unwrap_or_default())
    }

    /// Parses lines of `key value`. In a value `\n` stands for a line break and `\\` for a backslash.
    fn parse(text: &str) -> Self {
        let mut settings = Self { prefix: "[monitor]".to_owned(), chain: None };
        for line in text.lines() {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            match key {
                "prefix" => settings.prefix = unescaped(value),
                "chain" if !value.is_empty() => settings.chain = Some(unescaped(value)),
                _ => {}
            }
        }
        settings
    }
}

fn unescaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => out.push('\n'),
                Some(other) => out.push(other),
                None => out.push('\\'),
            },
            other => out.push(other),
        }
    }
    out
}

/// Renders our own line for a status line payload.
pub(crate) fn render(prefix: &str, payload: &[u8]) -> String {
    let mut line = prefix.to_owned();
    let mut part = |text: std::fmt::Arguments<'_>| {
        if line.len() > prefix.len() {
            line.push_str(" ·");
        }
        if !line.is_empty() {
            line.push(' ');
        }
        // Writing to a string cannot fail.
        line.write_fmt(text).ok();
    };
    // An implausible number would only fill the line.
    let number = |path: &[&str]| number(payload, path).filter(|value| (0.0..1e7).contains(value));
    if let Some(used) = number(&["context_window", "used_percentage"]) {
        part(format_args!("ctx {used:.0}%"));
    }
    if let Some(used) = number(&["rate_limits", "five_hour", "used_percentage"]) {
        part(format_args!("5h {used:.0}%"));
    }
    if let Some(cost) = number(&["cost", "total_cost_usd"]) {
        part(format_args!("${cost:.3}"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_that_exist_are_shown() {
        let full =
            br#"{"cost":{"total_cost_usd":0.27406400000000003},"context_window":{"used_percentage":42},
            "rate_limits":{"five_hour":{"used_percentage":17.4,"resets_at":1}}}"#;
        assert_eq!(render("[monitor]", full), "[monitor] ctx 42% · 5h 17% · $0.274");
        let first = br#"{"cost":{"total_cost_usd":0},"context_window":{"used_percentage":null}}"#;
        assert_eq!(render("[monitor]", first), "[monitor] $0.000");
        assert_eq!(render("[monitor]", b"not json"), "[monitor]");
        assert_eq!(render("[monitor]", br#"{"cost":{"total_cost_usd":1e300},"x":1}"#), "[monitor]");
    }

    #[test]
    fn an_empty_prefix_leaves_no_gap() {
        assert_eq!(render("", br#"{"context_window":{"used_percentage":1}}"#), "ctx 1%");
    }

    #[test]
    fn settings_keep_line_breaks_and_backslashes_of_a_command() {
        let text = "prefix at\nchain printf 'a\\\\nb'\\nsecond\n# comment\nnonsense\n";
        assert_eq!(
            Settings::parse(text),
            Settings { prefix: "at".to_owned(), chain: Some("printf 'a\\nb'\nsecond".to_owned()) }
        );
        assert_eq!(Settings::parse(""), Settings { prefix: "[monitor]".to_owned(), chain: None });
    }
}
