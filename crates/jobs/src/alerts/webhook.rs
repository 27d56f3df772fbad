//! Carries an alert to an address that the user named, and to no other.

use std::time::Duration;

use crate::alerts::alert::Alert;
use crate::alerts::settings::{Format, Webhook};

/// How long one may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sends an alert once.
///
/// # Errors
/// Why it did not arrive, without the address: it may hold a secret.
pub fn send(webhook: &Webhook, alert: &Alert) -> Result<(), String> {
    let body = match webhook.format {
        Format::Json => alert.json(),
        Format::Slack => alert.slack(),
    };
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .http_status_as_error(false)
        // Who redirects could be somebody else.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .build()
        .into();
    let sent = agent.post(&webhook.url).header("content-type", "application/json").send(body.to_string());
    match sent {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => Err(format!("the receiver answered {}", answer.status().as_u16())),
        Err(ureq::Error::Timeout(_)) => Err("the receiver did not answer in time".to_owned()),
        Err(ureq::Error::HostNotFound) => Err("there is no such host".to_owned()),
        Err(_) => Err("the receiver could not be reached".to_owned()),
    }
}
