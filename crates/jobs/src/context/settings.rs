//! The table `[context]` of the user's settings: switches the context for starting agents on, and bounds it.
//!
//! Law: without the table no agent receives anything, and one that is not understood is an error with its place.

use agent_tracer_spool::context::TEXT_MAX;
use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// The usual length of the text, in bytes.
const TEXT_USUAL: usize = 1500;
/// The shortest text that holds anything, in bytes.
const TEXT_LEAST: usize = 200;

/// The settings of the user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct Settings {
    /// True if agents receive context.
    pub enabled: bool,
    /// True if the name of the task goes into the agent's shells.
    pub export_task: bool,
    /// The longest text, in bytes.
    #[serde(deserialize_with = "bytes")]
    pub bytes: usize,
    /// The budget of a day, in dollars.
    #[serde(deserialize_with = "budget")]
    pub budget_usd: Option<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: false, export_task: false, bytes: TEXT_USUAL, budget_usd: None }
    }
}

fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let number = i64::deserialize(deserializer)?;
    let sound = usize::try_from(number).ok().filter(|bytes| (TEXT_LEAST..=TEXT_MAX).contains(bytes));
    sound.ok_or_else(|| D::Error::custom(format!("`{number}` is not between {TEXT_LEAST} and {TEXT_MAX}")))
}

fn budget<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    match f64::deserialize(deserializer)? {
        amount if amount > 0.0 && amount < 1e9 => Ok(Some(amount)),
        amount => Err(D::Error::custom(format!("`{amount}` is not an amount of dollars"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Settings, toml::de::Error> {
        toml::from_str(text)
    }

    #[test]
    fn nothing_is_on_unless_the_user_enables_it() {
        for text in ["", "# enabled = true\n", "export_task = true\nbytes = 400\n", "enabled = false\n"] {
            assert!(!parse(text).unwrap().enabled, "{text}");
        }
        let all = Settings { enabled: true, export_task: true, bytes: 900, budget_usd: Some(12.5) };
        let text = "enabled = true # yes\nexport_task = true\nbytes = 900\nbudget_usd = 12.5\n";
        assert_eq!(parse(text), Ok(all));
    }

    #[test]
    fn invalid_settings_are_refused_with_a_reason() {
        for (text, what) in [
            ("yes = true", "unknown field `yes`"),
            ("enabled = 1", "invalid type"),
            ("bytes = 1", "`1` is not between 200 and 8192"),
            ("bytes = 999999", "is not between"),
            ("bytes = -300", "is not between"),
            ("budget_usd = -3", "`-3` is not an amount of dollars"),
            ("budget_usd = nan", "is not an amount of dollars"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.message().contains(what), "{text}: {error}");
        }
    }
}
