//! By which name a request calls this server, and which page sent it.
//!
//! A page elsewhere may point a name of its own at this machine (DNS rebinding) or post to it blindly (CSRF). The first
//! shows in `Host`, the second in `Origin` and `Sec-Fetch-Site`, and none of them can be set by a page.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, Method, StatusCode, Uri, header};

use super::forbidden;
use crate::problem::Problem;

/// The name by which the request calls this server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostKind {
    /// `localhost` or a loopback address.
    Loopback,
    /// A name that was configured, or the address it listens on.
    Named,
}

/// The names of this server.
pub(super) struct HostNames {
    configured: Vec<String>,
    address: SocketAddr,
}

impl HostNames {
    pub(super) fn new(configured: &[String], address: SocketAddr) -> Self {
        Self { configured: configured.iter().map(|name| name.to_ascii_lowercase()).collect(), address }
    }

    /// Returns the kind of name by which the request calls this server.
    pub(super) fn host_kind(&self, uri: &Uri, headers: &HeaderMap) -> Result<HostKind, Problem> {
        let mut hosts = headers.get_all(header::HOST).iter();
        // Of two names a proxy in front could have checked the other one.
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Problem::bad("exactly one `Host` header is required"));
        };
        let called = host.to_str().ok().and_then(|host| self.kind_of(host));
        // A request line may name a host too; a proxy would believe it.
        let also = uri.authority().is_none_or(|authority| self.kind_of(authority.as_str()) == called);
        match called {
            Some(called) if also => Ok(called),
            _ => Err(Problem::new(
                StatusCode::MISDIRECTED_REQUEST,
                "unknown host name\nhint: use `localhost`, or name the host when the server starts",
            )),
        }
    }

    fn kind_of(&self, host: &str) -> Option<HostKind> {
        let host = host.to_ascii_lowercase();
        let (name, port) = split(&host)?;
        if self.configured.iter().any(|known| *known == host || known == name) {
            return Some(HostKind::Named);
        }
        // Another port is another server, whose pages are another origin for the browser.
        if port.is_some_and(|port| port != self.address.port()) {
            return None;
        }
        let address: Option<IpAddr> = name.trim_start_matches('[').trim_end_matches(']').parse().ok();
        match address {
            None => (name == "localhost").then_some(HostKind::Loopback),
            Some(address) if address.is_loopback() => Some(HostKind::Loopback),
            // An address is not a name, so it cannot be pointed elsewhere. Only one that we listen on is ours.
            Some(address) => {
                let here = self.address.ip();
                (here == address || here.is_unspecified()).then_some(HostKind::Named)
            }
        }
    }
}

/// Splits a host into name and port; `None` if it is not a host.
fn split(host: &str) -> Option<(&str, Option<u16>)> {
    let digits = |port: &str| -> Option<u16> {
        (!port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())).then(|| port.parse().ok())?
    };
    if host.starts_with('[') {
        let (name, port) = host.split_at(host.find(']')? + 1);
        return match port {
            "" => Some((name, None)),
            port => Some((name, Some(digits(port.strip_prefix(':')?)?))),
        };
    }
    match host.split_once(':') {
        None => (!host.is_empty()).then_some((host, None)),
        Some((name, port)) => Some((name, Some(digits(port)?))),
    }
}

/// Refuses what a page of another site sent.
pub(super) fn check_origin(
    method: &Method,
    path: &str,
    headers: &HeaderMap,
    called: HostKind,
) -> Result<(), Problem> {
    let foreign = || Err(forbidden("a page of another site sent this"));
    if headers.contains_key(header::ORIGIN) && !is_own_origin(headers, called) {
        return foreign();
    }
    let fetched = |name: &str| headers.get(name).map(axum::http::HeaderValue::as_bytes);
    match fetched("sec-fetch-site") {
        None | Some(b"same-origin" | b"none") => Ok(()),
        // A user followed a link to the dashboard. The page with the link sees nothing of it.
        Some(_)
            if *method == Method::GET
                && fetched("sec-fetch-mode") == Some(b"navigate")
                && fetched("sec-fetch-dest") == Some(b"document")
                && !path.starts_with("/api") =>
        {
            Ok(())
        }
        Some(_) => foreign(),
    }
}

fn is_own_origin(headers: &HeaderMap, called: HostKind) -> bool {
    let text = |name| headers.get(name).and_then(|value: &axum::http::HeaderValue| value.to_str().ok());
    let (Some(origin), Some(host)) = (text(header::ORIGIN), text(header::HOST)) else { return false };
    let authority = match origin.split_once("://") {
        Some(("http", authority)) => authority,
        // Something in front of us may speak TLS, but only where we were given a name for it.
        Some(("https", authority)) if called == HostKind::Named => authority,
        _ => return false,
    };
    authority.eq_ignore_ascii_case(host)
}

/// Returns whether a page of this server sent the request. Only called after [`check_origin`] has passed.
pub(super) fn is_from_own_page(headers: &HeaderMap) -> bool {
    headers.contains_key(header::ORIGIN)
        || headers.get("sec-fetch-site").is_some_and(|site| site.as_bytes() == b"same-origin")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn kind_of(listen: &str, configured: &[&str], host: &str) -> Option<HostKind> {
        let configured: Vec<String> = configured.iter().map(|name| (*name).to_owned()).collect();
        HostNames::new(&configured, listen.parse().unwrap()).kind_of(host)
    }

    #[test]
    fn only_its_own_names_reach_it() {
        for host in ["localhost:4747", "127.0.0.1:4747", "[::1]:4747", "LocalHost", "127.0.0.1", "[::1]"] {
            assert_eq!(kind_of("127.0.0.1:4747", &[], host), Some(HostKind::Loopback), "{host}");
        }
        for host in [
            "evil.example:4747",
            "localhost:80",
            "localhost.evil.example",
            "127.0.0.1.nip.io:4747",
            "",
            ":4747",
            "localhost:",
            "localhost:+4747",
            "localhost:99999",
            "[::1",
            "[::1]x",
            "10.0.0.1:4747",
            "tracer.lan",
        ] {
            assert_eq!(kind_of("127.0.0.1:4747", &[], host), None, "{host}");
        }
        assert_eq!(kind_of("127.0.0.1:4747", &["tracer.lan"], "Tracer.lan:443"), Some(HostKind::Named));
        assert_eq!(kind_of("10.0.0.1:4747", &[], "10.0.0.1:4747"), Some(HostKind::Named));
        assert_eq!(kind_of("0.0.0.0:4747", &[], "10.0.0.9:4747"), Some(HostKind::Named));
        assert_eq!(kind_of("10.0.0.1:4747", &[], "10.0.0.2:4747"), None);
    }

    fn allowed(method: &Method, path: &str, pairs: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("localhost:4747"));
        for (name, value) in pairs {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        check_origin(method, path, &headers, HostKind::Loopback).is_ok()
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        assert!(allowed(&Method::POST, "/ingest/v1/events", &[]));
        assert!(allowed(&Method::POST, "/x", &[("origin", "http://localhost:4747")]));
        for origin in [
            "http://localhost:9999",
            "http://evil.example",
            "null",
            "https://localhost:4747",
            "http://localhost:4747.evil.example",
            "http://127.0.0.1:4747",
        ] {
            assert!(!allowed(&Method::POST, "/x", &[("origin", origin)]), "{origin}");
            assert!(!allowed(&Method::GET, "/api/v1/tasks", &[("origin", origin)]), "{origin}");
        }
        for site in ["cross-site", "same-site", "new-word"] {
            assert!(!allowed(&Method::GET, "/api/v1/tasks", &[("sec-fetch-site", site)]), "{site}");
        }
    }

    #[test]
    fn a_link_to_the_dashboard_may_be_followed_and_one_to_the_data_not() {
        let link = [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        assert!(allowed(&Method::GET, "/tasks/t1", &link));
        assert!(!allowed(&Method::GET, "/api/v1/tasks", &link));
        assert!(!allowed(&Method::POST, "/tasks/t1", &link));
        let frame = [link[0], link[1], ("sec-fetch-dest", "iframe")];
        assert!(!allowed(&Method::GET, "/tasks/t1", &frame));
    }
}
