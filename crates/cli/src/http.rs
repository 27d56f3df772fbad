//! HTTP from this program: calls to the server of the home, and the authorities that certificates elsewhere must lead to.

use std::sync::OnceLock;
use std::time::Duration;

use tracing::warn;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts};

use crate::environment::Environment;

/// Variables that name authorities instead of those of the system.
const NAMED: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// Returns a client for the server of this home, which gives up after `patience` and after so long a `silence`.
///
/// Without a proxy: the address is on this machine. Without redirects: they would lead elsewhere.
pub(crate) fn local_client(patience: Duration, silence: Duration) -> Agent {
    Agent::config_builder()
        .timeout_connect(Some(patience))
        .timeout_send_request(Some(patience))
        .timeout_per_read(Some(silence))
        .http_status_as_error(false)
        .max_redirects(0)
        // The redirect itself is the answer: an error would hide which program listens there.
        .max_redirects_will_error(false)
        .proxy(None)
        .build()
        .into()
}

/// The authorities that are trusted: those of the system, or the bundled ones where it has none.
///
/// They are read when they are first needed: a system has some hundred and fifty, and most runs call no other machine.
pub(crate) struct TrustStore {
    is_named: bool,
    roots: OnceLock<RootCerts>,
}

impl TrustStore {
    /// Returns the authorities of a machine.
    pub(crate) fn of(environment: &Environment) -> TrustStore {
        let is_named = NAMED.iter().any(|name| environment.variable(name).is_some());
        TrustStore { is_named, roots: OnceLock::new() }
    }

    /// Returns them for a client.
    pub(crate) fn roots(&self) -> RootCerts {
        self.roots.get_or_init(|| self.read()).clone()
    }

    fn read(&self) -> RootCerts {
        // Reads both variables itself.
        let found = rustls_native_certs::load_native_certs();
        if found.certs.is_empty() {
            for error in &found.errors {
                warn!(error = %error, "cannot read certificates: {error}");
            }
            // Where a person names authorities, no others are trusted: the bundled ones would undo a restriction.
            if !self.is_named {
                return RootCerts::WebPki;
            }
            let names = NAMED.map(|name| format!("`{name}`")).join(" and ");
            warn!(variables = %names, "no certificate is trusted: {names} name none");
        }
        RootCerts::from(
            found.certs.iter().map(|der| Certificate::from_der(der).to_owned()).collect::<Vec<_>>(),
        )
    }
}
