//! The way to the server: HTTP, encrypted unless it does not leave this machine.

use std::fmt;
use std::time::Duration;

use agent_tracer_ledger::FaultCause;
use ureq::tls::{RootCerts, TlsConfig};

use crate::ship::shipper::{Carrier, ShipError};

/// Path on the server that takes shipments.
const PATH: &str = "/ingest/v1/shipments";

/// Timeout for one part.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The most that is read of an answer.
const ANSWER_BYTES: u64 = 64 << 10;

/// A server, and the token that it gave us.
#[derive(Clone)]
pub struct Target {
    url: String,
    token: String,
}

// A secret that is printed is in a log.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Why something is no target.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It is no address.
    #[error("invalid server address `{0}`\nhint: use an address that begins with `https://`")]
    NoAddress(String),
    /// It would be sent in the clear.
    #[error(
        "`{0}` would carry everything unencrypted\nhint: use `https://`; `http://` is only for this machine"
    )]
    Plain(String),
    /// There is no token.
    #[error(
        "there is no token for this server\nhint: ask its administrator for an ingest token, and put it into \
         `ship.token` beside `privacy.conf` or into `$AGENT_TRACER_SHIP_TOKEN`"
    )]
    NoToken,
}

impl Target {
    /// Checks the address and the token of a server.
    ///
    /// # Errors
    /// If it is no address, would be called unencrypted over a network, or there is no token.
    pub fn new(url: &str, token: &str) -> Result<Self, TargetError> {
        let url = url.trim_end_matches('/');
        let no_address = || TargetError::NoAddress(url.to_owned());
        let (scheme, rest) = url.split_once("://").ok_or_else(no_address)?;
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if host.is_empty() || host.contains('@') {
            return Err(no_address());
        }
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        // By name and not by looking it up: what a name resolves to may be another machine when it is called.
        let is_here = matches!(name, "localhost" | "127.0.0.1" | "[::1]");
        match scheme {
            "https" => {}
            "http" if is_here => {}
            "http" => return Err(TargetError::Plain(url.to_owned())),
            _ => return Err(no_address()),
        }
        let token = token.trim();
        // A line end in the token would end the header, and let a file of tokens write headers of its own.
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TargetError::NoToken);
        }
        Ok(Self { url: url.to_owned(), token: token.to_owned() })
    }

    /// Returns the address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// Carries parts over HTTP.
#[derive(Debug)]
pub struct Http {
    target: Target,
    agent: ureq::Agent,
}

impl Http {
    /// Returns the way to a server whose certificate has to lead to one of these authorities. Nothing is sent yet.
    #[must_use]
    pub fn new(target: Target, roots: RootCerts) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .http_status_as_error(false)
            // A redirect may lead to a foreign server: the token goes to the named server alone.
            .max_redirects(0)
            .build();
        Self { target, agent: config.into() }
    }
}

impl Carrier for Http {
    fn carry(&self, packed: &[u8]) -> Result<(), ShipError> {
        let sent = self
            .agent
            .post(format!("{}{PATH}", self.target.url))
            .header("authorization", format!("Bearer {}", self.target.token))
            .header("content-type", "application/json")
            .header("content-encoding", "gzip")
            .send(packed);
        let mut response = sent.map_err(|error| ShipError::Unreachable(FaultCause::new(error)))?;
        let status = response.status().as_u16();
        if (200..300).contains(&status) {
            return Ok(());
        }
        let answer = response.body_mut().with_config().limit(ANSWER_BYTES).read_to_string();
        let detail = answer
            .ok()
            .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
            .and_then(|answer| Some(answer.get("detail")?.as_str()?.to_owned()))
            .unwrap_or_default();
        // A proxy that restarts, a server that is full or slow: the same may succeed later.
        if status == 408 || status == 429 || status >= 500 {
            return Err(ShipError::Unreachable(format!("it answered {status} {detail}").into()));
        }
        Err(ShipError::Refused { status, detail })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_goes_unencrypted_over_a_network_and_nothing_without_a_token() {
        for url in [
            "https://tracer.example",
            "https://tracer.example:8443/x/",
            "http://127.0.0.1:4747",
            "http://localhost",
        ] {
            assert!(Target::new(url, "secret").is_ok(), "{url}");
        }
        assert!(matches!(Target::new("http://tracer.example", "t"), Err(TargetError::Plain(_))));
        assert!(matches!(Target::new("http://127.0.0.1.example", "t"), Err(TargetError::Plain(_))));
        for url in ["", "tracer.example", "https://", "ftp://a", "https://me@tracer.example"] {
            assert!(matches!(Target::new(url, "t"), Err(TargetError::NoAddress(_))), "{url}");
        }
        for token in ["", "  ", "a\r\nx: y"] {
            assert_eq!(Target::new("https://a", token).unwrap_err(), TargetError::NoToken);
        }
        assert!(!format!("{:?}", Target::new("https://a", "s3cret").unwrap()).contains("s3cret"));
    }
}
