//! People whom a proxy in front of the server has let in: it names them in a header.
//!
//! Law: a name counts only with proof that the proxy wrote it, the secret that both know, and only from an address that
//! the proxy has. Any other sender of the header is refused, not ignored, so that a proxy that forgets the secret is
//! noticed. A token beats a name.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};

use super::secret::Secret;
use super::{Credentials, Peer};
use crate::config::{Proxy, Scope};
use crate::problem::Problem;

/// The header with the secret that the proxy and the server share.
pub(crate) const SECRET_HEADER: &str = "x-agent-tracer-proxy-secret";

/// A name is no longer than this.
const LONGEST_NAME: usize = 256;

pub(super) struct TrustedProxy {
    header: String,
    secret: Secret,
    from: Vec<IpAddr>,
    admins: Vec<String>,
}

impl TrustedProxy {
    pub(super) fn new(proxy: &Proxy) -> Self {
        Self {
            header: proxy.header.to_ascii_lowercase(),
            secret: Secret::new(&proxy.secret),
            from: proxy.from.clone(),
            admins: proxy.admins.clone(),
        }
    }

    /// Returns the person whom the proxy names; none if the header is absent.
    pub(super) fn credentials(
        &self,
        headers: &HeaderMap,
        peer: Peer,
    ) -> Result<Option<Credentials>, Problem> {
        let mut names = headers.get_all(&self.header).iter();
        let Some(name) = names.next() else { return Ok(None) };
        let refused = |why: &str| Err(Problem::new(StatusCode::UNAUTHORIZED, why.to_owned()));
        let shown = headers.get(SECRET_HEADER).and_then(|secret| secret.to_str().ok()).unwrap_or_default();
        if !self.secret.is(shown) {
            return refused("the secret of the proxy is missing or wrong");
        }
        // A socket for both protocols reports an IPv4 address as a mapped one.
        let address = peer.address.ip().to_canonical();
        if !self.from.is_empty() && !self.from.contains(&address) {
            return refused("this is not an address of the proxy");
        }
        // Two names could mean that a client sent one and the proxy added the other.
        if names.next().is_some() {
            return refused("the proxy names more than one person");
        }
        let name = name.to_str().map(str::trim).unwrap_or_default();
        if name.is_empty() || name.len() > LONGEST_NAME {
            return refused("the proxy sent no name");
        }
        let is_admin = self.admins.iter().any(|admin| admin == name);
        let scope = if is_admin { Scope::Owner } else { Scope::Read };
        Ok(Some(Credentials { scope, owner: Some(Arc::from(name)) }))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn trusted(from: &[&str]) -> TrustedProxy {
        TrustedProxy::new(&Proxy {
            header: "X-Forwarded-User".to_owned(),
            secret: "s".repeat(40),
            from: from.iter().map(|address| address.parse().unwrap()).collect(),
            admins: vec!["root".to_owned()],
        })
    }

    fn named_by(
        trusted: &TrustedProxy,
        headers: &[(&str, &str)],
        from: &str,
    ) -> Result<Option<Credentials>, StatusCode> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        let peer = Peer { address: from.parse().unwrap() };
        trusted.credentials(&map, peer).map_err(|problem| problem.code())
    }

    #[test]
    fn a_name_counts_with_the_secret_and_from_the_address_of_the_proxy() {
        let secret = "s".repeat(40);
        let good = [("x-forwarded-user", "ann"), (SECRET_HEADER, secret.as_str())];
        let trusted = trusted(&["10.0.0.5"]);
        let ann = named_by(&trusted, &good, "10.0.0.5:900").unwrap().unwrap();
        assert_eq!((ann.scope, ann.owner.as_deref()), (Scope::Read, Some("ann")));
        assert!(named_by(&trusted, &good, "[::ffff:10.0.0.5]:900").unwrap().is_some());
        let root = [("x-forwarded-user", "root"), (SECRET_HEADER, secret.as_str())];
        assert_eq!(named_by(&trusted, &root, "10.0.0.5:900").unwrap().unwrap().scope, Scope::Owner);
        assert_eq!(named_by(&trusted, &[], "10.0.0.9:1"), Ok(None), "no person is named");
        for (headers, from) in [
            (&good[..], "10.0.0.6:900"),
            (&good[..1], "10.0.0.5:900"),
            (&[("x-forwarded-user", "ann"), (SECRET_HEADER, "guess")][..], "10.0.0.5:900"),
            (&[("x-forwarded-user", " "), (SECRET_HEADER, secret.as_str())][..], "10.0.0.5:900"),
            (
                &[
                    ("x-forwarded-user", "ann"),
                    ("x-forwarded-user", "root"),
                    (SECRET_HEADER, secret.as_str()),
                ][..],
                "10.0.0.5:900",
            ),
        ] {
            assert_eq!(
                named_by(&trusted, headers, from),
                Err(StatusCode::UNAUTHORIZED),
                "{headers:?} {from}"
            );
        }
    }
}
