//! Carries an alert to an address that the user named, and to no other.

use std::time::Duration;

use ureq::tls::{RootCerts, TlsConfig};

use crate::alerts::alert::Alert;
use crate::alerts::settings::{Format, Webhook};

/// The time one request may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A reason why an alert did not arrive.
///
/// Without the cause: its text may hold the address, and that may hold a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// The receiver refused the alert with this status.
    #[error("the receiver answered {0}")]
    Status(u16),
    /// The receiver was too slow.
    #[error("the receiver did not answer in time")]
    Timeout,
    /// The name of the receiver is unknown.
    #[error("unknown host")]
    UnknownHost,
    /// The receiver could not be reached.
    #[error("the receiver could not be reached")]
    Unreachable,
}

/// Sends an alert once. The certificate of the receiver has to lead to one of these authorities.
///
/// # Errors
/// If it did not arrive; the text leaves out the address, which may hold a secret.
pub fn send(webhook: &Webhook, alert: &Alert, roots: RootCerts) -> Result<(), WebhookError> {
    let body = match webhook.format {
        Format::Json => alert.json(),
        Format::Slack => alert.slack(),
    };
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        // As an error of the client a status would come with the address, which may hold a secret.
        .http_status_as_error(false)
        // The target of a redirect could be another party.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .build()
        .into();
    let sent = agent.post(&webhook.url).header("content-type", "application/json").send(body.to_string());
    match sent {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => Err(WebhookError::Status(answer.status().as_u16())),
        Err(ureq::Error::Timeout(_)) => Err(WebhookError::Timeout),
        Err(ureq::Error::HostNotFound) => Err(WebhookError::UnknownHost),
        Err(_) => Err(WebhookError::Unreachable),
    }
}
