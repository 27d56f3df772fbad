//! `alerts.toml`: the alerts that a person wants, and their receivers.
//!
//! Law: without the file there are no alerts; a file that is not understood is an error with its line, never half of it.

use serde::Deserialize;

/// The most addresses.
const WEBHOOKS_MAX: usize = 10;

/// The settings of the user.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// True if alerts are shown on the desktop.
    pub desktop: bool,
    /// Minutes before the same alert is sent again; ten unless given.
    pub cooldown_minutes: Option<u32>,
    /// The addresses.
    pub webhook: Vec<Webhook>,
    /// The thresholds.
    pub on: Thresholds,
}

/// An address.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// `https://…`, or `http://…`.
    pub url: String,
    /// The shape of what is sent.
    #[serde(default)]
    pub format: Format,
}

/// The shape of what is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Ours.
    #[default]
    Json,
    /// The format of Slack.
    Slack,
}

/// Thresholds of alerts. An absent one is off.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    /// An agent waits for a permission or an answer for so many minutes.
    pub waiting_minutes: Option<u32>,
    /// A task works and says nothing for so many minutes.
    pub stuck_minutes: Option<u32>,
    /// The same call so often in one task.
    pub looping: Option<u64>,
    /// The day has cost so much.
    pub budget_usd: Option<f64>,
    /// So much of a rate limit is used, in percent.
    pub rate_limit_pct: Option<f64>,
    /// So many failures of one task within ten minutes.
    pub failures: Option<u64>,
    /// A rule denied something.
    pub denials: bool,
}

/// A reason why `alerts.toml` is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The text is not valid TOML, or a key is unknown or of another type.
    #[error("{}{reason}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Syntax {
        /// The line, counted from one.
        line: Option<usize>,
        /// The message of the parser. Not its error: that quotes the file, and an address may hold a secret.
        reason: String,
    },
    /// The list of receivers is too long.
    #[error("there are more than {WEBHOOKS_MAX} webhooks")]
    TooManyWebhooks,
    /// An address is not an HTTP URL.
    #[error("a webhook's `url` must begin with `https://` or `http://` and name a host")]
    WebhookUrl,
    /// The share of a rate limit is out of its bounds.
    #[error("`rate_limit_pct` is not between 1 and 100")]
    RateLimit,
    /// The budget is out of its bounds.
    #[error("`budget_usd` is not an amount of dollars")]
    Budget,
}

impl Settings {
    /// Reads the file.
    ///
    /// # Errors
    /// If the file is not valid; the text is one line.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let settings: Self = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map(|before| before.matches('\n').count() + 1);
            SettingsError::Syntax { line, reason: error.message().to_owned() }
        })?;
        if settings.webhook.len() > WEBHOOKS_MAX {
            return Err(SettingsError::TooManyWebhooks);
        }
        for webhook in &settings.webhook {
            let rest = webhook.url.strip_prefix("https://").or_else(|| webhook.url.strip_prefix("http://"));
            let has_host = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
            if !has_host || webhook.url.contains(char::is_whitespace) {
                return Err(SettingsError::WebhookUrl);
            }
        }
        let pct = settings.on.rate_limit_pct;
        if pct.is_some_and(|pct| !(1.0..=100.0).contains(&pct)) {
            return Err(SettingsError::RateLimit);
        }
        if settings.on.budget_usd.is_some_and(|budget| !(budget > 0.0 && budget < 1e9)) {
            return Err(SettingsError::Budget);
        }
        Ok(settings)
    }

    /// Returns whether any alert would reach a receiver.
    #[must_use]
    pub fn has_receiver(&self) -> bool {
        self.desktop || !self.webhook.is_empty()
    }

    /// Returns the milliseconds before the same alert is sent again.
    #[must_use]
    pub fn cooldown_ms(&self) -> i64 {
        i64::from(self.cooldown_minutes.unwrap_or(10)) * 60_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_file_is_understood() {
        let settings = Settings::parse(
            "desktop = true\ncooldown_minutes = 3\n[[webhook]]\nurl = \"https://hooks.example/x\"\nformat = \"slack\"\n\
             [on]\nwaiting_minutes = 5\nbudget_usd = 12.5\ndenials = true\n",
        )
        .unwrap();
        assert!(settings.has_receiver() && settings.on.denials);
        assert_eq!((settings.cooldown_ms(), settings.webhook[0].format), (180_000, Format::Slack));
        assert_eq!((settings.on.waiting_minutes, settings.on.budget_usd), (Some(5), Some(12.5)));
        assert!(!Settings::parse("").unwrap().has_receiver());
    }

    #[test]
    fn invalid_settings_are_refused_with_a_reason() {
        for (text, what) in [
            ("desktop = true\nloud = true\n", "line 2"),
            ("[[webhook]]\nurl = \"file:///etc/passwd\"\n", "https://"),
            ("[[webhook]]\nurl = \"https://\"\n", "https://"),
            ("[[webhook]]\nformat = \"json\"\n", "url"),
            ("[on]\nrate_limit_pct = 0\n", "rate_limit_pct"),
            ("[on]\nbudget_usd = -1.0\n", "budget_usd"),
            ("[on]\nwaiting_minutes = -1\n", "line 2"),
            ("not toml", "line 1"),
        ] {
            let error = Settings::parse(text).unwrap_err();
            assert!(error.to_string().contains(what), "{text}: {error}");
        }
    }
}
