//! Headers of every answer, whatever it is.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The content policy of our pages: their own files and this server. Nothing inline, nothing from elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
                      connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'";

const ALL: &[(&str, &str)] = &[
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
];

/// Adds them.
pub(crate) fn add(headers: &mut HeaderMap) {
    for (name, value) in ALL {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}
