//! `context.conf`: switches the context for starting agents on, and bounds it.
//!
//! Lines of a word and its value; `#` begins a comment. `on` switches it on, `export-task` names the session in the
//! agent's shells, `bytes N` bounds the text, `budget-usd N` is what a day may cost. Law: what is not understood switches
//! nothing on.

use std::fmt;

use agent_tracer_spool::context::TEXT_MAX;

/// The usual length of the text, in bytes.
const TEXT_USUAL: usize = 1500;
/// The shortest that says anything.
const TEXT_LEAST: usize = 200;

/// The settings of the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// True if agents receive context.
    pub is_on: bool,
    /// True if the name of the task goes into the agent's shells.
    pub exports_task: bool,
    /// The longest text, in bytes.
    pub bytes: usize,
    /// The budget of a day, in dollars.
    pub budget_usd: Option<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { is_on: false, exports_task: false, bytes: TEXT_USUAL, budget_usd: None }
    }
}

/// A line that is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// The line, counted from one.
    pub line: usize,
    /// The reason.
    pub what: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for SettingsError {}

impl Settings {
    /// Reads the file.
    ///
    /// # Errors
    /// The first line that is not understood.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let wrong = |what: String| Err(SettingsError { line: number + 1, what });
            match line.split_whitespace().collect::<Vec<_>>().as_slice() {
                [] => {}
                ["on"] => settings.is_on = true,
                ["off"] => settings.is_on = false,
                ["export-task"] => settings.exports_task = true,
                ["bytes", count] => match count.parse() {
                    Ok(count @ TEXT_LEAST..=TEXT_MAX) => settings.bytes = count,
                    _ => return wrong(format!("`{count}` is not between {TEXT_LEAST} and {TEXT_MAX}")),
                },
                ["budget-usd", amount] => match amount.parse::<f64>() {
                    Ok(amount) if amount > 0.0 && amount < 1e9 => settings.budget_usd = Some(amount),
                    _ => return wrong(format!("`{amount}` is not an amount of dollars")),
                },
                [word, ..] => return wrong(format!("`{word}` is no setting")),
            }
        }
        Ok(settings)
    }

    /// The file that says this.
    #[must_use]
    pub fn write(&self) -> String {
        let mut text = "# Context that agents receive when they start. See docs/context.md.\n".to_owned();
        text.push_str(if self.is_on { "on\n" } else { "off\n" });
        if self.exports_task {
            text.push_str("export-task\n");
        }
        if self.bytes != TEXT_USUAL {
            text.push_str(&format!("bytes {}\n", self.bytes));
        }
        if let Some(budget) = self.budget_usd {
            text.push_str(&format!("budget-usd {budget}\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_on_unless_the_user_says_so() {
        for text in ["", "# on\n", "export-task\nbytes 400\n", "on\noff\n"] {
            assert!(!Settings::parse(text).unwrap().is_on, "{text}");
        }
        assert!(Settings::parse("  on  # yes\n").unwrap().is_on);
    }

    #[test]
    fn what_is_written_reads_back() {
        let all = Settings { is_on: true, exports_task: true, bytes: 900, budget_usd: Some(12.5) };
        for settings in [all, Settings::default()] {
            assert_eq!(Settings::parse(&settings.write()), Ok(settings));
        }
    }

    #[test]
    fn an_invalid_line_is_reported_with_its_number() {
        for text in
            ["\nyes", "\nbytes 1", "\nbytes 999999", "\nbudget-usd -3", "\nbudget-usd NaN", "\non now"]
        {
            assert_eq!(Settings::parse(text).unwrap_err().line, 2, "{text}");
        }
    }
}
