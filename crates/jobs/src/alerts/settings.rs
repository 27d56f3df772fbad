//! The table `[alerts]` of the user's settings: the alerts that a person wants, and their receivers.
//!
//! Law: without the table there are no alerts, and one that is not understood is an error with its place, never half of
//! it. No error quotes an address: it may hold a secret.

use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// The most addresses.
const WEBHOOKS_MAX: usize = 10;

/// The settings of the user.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct Settings {
    /// True if alerts are shown on the desktop.
    pub desktop: bool,
    /// Minutes before the same alert is sent again; ten unless given.
    pub cooldown_minutes: Option<u32>,
    /// The addresses.
    #[serde(deserialize_with = "webhooks")]
    pub webhook: Vec<Webhook>,
    /// The thresholds.
    pub on: Thresholds,
}

/// An address.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Webhook {
    /// `https://…`, or `http://…`.
    #[serde(deserialize_with = "url")]
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
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct Thresholds {
    /// An agent waits for a permission or an answer for so many minutes.
    pub waiting_minutes: Option<u32>,
    /// A task works and says nothing for so many minutes.
    pub stuck_minutes: Option<u32>,
    /// The same call so often in one task.
    pub looping: Option<u64>,
    /// The day has cost so much.
    #[serde(deserialize_with = "budget")]
    pub budget_usd: Option<f64>,
    /// So much of a rate limit is used, in percent.
    #[serde(deserialize_with = "share")]
    pub rate_limit_pct: Option<f64>,
    /// So many failures of one task within ten minutes.
    pub failures: Option<u64>,
    /// A rule denied something.
    pub denials: bool,
}

fn webhooks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Webhook>, D::Error> {
    let webhooks = Vec::deserialize(deserializer)?;
    match webhooks.len() > WEBHOOKS_MAX {
        true => Err(D::Error::custom(format!("there are more than {WEBHOOKS_MAX} webhooks"))),
        false => Ok(webhooks),
    }
}

fn url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let url = String::deserialize(deserializer)?;
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let has_host = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
    if !has_host || url.contains(char::is_whitespace) {
        let text = "a webhook's `url` must begin with `https://` or `http://` and name a host";
        return Err(D::Error::custom(text));
    }
    Ok(url)
}

fn budget<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    match f64::deserialize(deserializer)? {
        budget if budget > 0.0 && budget < 1e9 => Ok(Some(budget)),
        _ => Err(D::Error::custom("`budget_usd` is not an amount of dollars")),
    }
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    match f64::deserialize(deserializer)? {
        share if (1.0..=100.0).contains(&share) => Ok(Some(share)),
        _ => Err(D::Error::custom("`rate_limit_pct` is not between 1 and 100")),
    }
}

impl Settings {
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

    fn parse(text: &str) -> Result<Settings, toml::de::Error> {
        toml::from_str(text)
    }

    #[test]
    fn a_whole_file_is_understood() {
        let settings = parse(
            "desktop = true\ncooldown_minutes = 3\n[[webhook]]\nurl = \"https://hooks.example/x\"\nformat = \"slack\"\n\
             [on]\nwaiting_minutes = 5\nbudget_usd = 12.5\ndenials = true\n",
        )
        .unwrap();
        assert!(settings.has_receiver() && settings.on.denials);
        assert_eq!((settings.cooldown_ms(), settings.webhook[0].format), (180_000, Format::Slack));
        assert_eq!((settings.on.waiting_minutes, settings.on.budget_usd), (Some(5), Some(12.5)));
        assert!(!parse("").unwrap().has_receiver());
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
            let error = parse(text).unwrap_err();
            let before = error.span().and_then(|span| text.get(..span.start)).expect("a place");
            let line = before.matches('\n').count() + 1;
            let error = format!("line {line}: {}", error.message());
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}
