//! Access control: reading, and changing anything.
//!
//! | caller | reads | changes |
//! |---|---|---|
//! | this user, over loopback, by a loopback name | yes | with the owner's token, or in a browser that opened the one-time link |
//! | another user of this machine | no | no |
//! | anybody else, where the server listens for them | with a token of scope `read` | with a token of scope `ingest` |
//! | whom a trusted proxy names | yes | if they are named as an admin |
//!
//! Connections of other users of this machine are refused before they are served (`serve`). Every request must name
//! this server (`Host`) and, if a page sent it, come from a page of this server (`Origin`, `Sec-Fetch-Site`): a page
//! elsewhere can neither reach it by a name of its own nor post to it.

mod cookie;
#[cfg(target_os = "linux")]
mod diag;
mod headers;
mod host;
mod login;
mod peer;
mod proxy;
mod secret;
mod token;

use std::net::SocketAddr;
use std::sync::Arc;

use agent_tracer_event::Millis;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};

pub(crate) use headers::add as add_headers;
pub use login::LINK_MINUTES;
pub(crate) use login::LoginCode;
pub(crate) use peer::is_held;
pub use peer::peer_owner;
pub(crate) use secret::random;
pub use token::{TokenError, owner_token};

use crate::config::{Config, Scope};
use crate::deps::Team;
use crate::problem::Problem;
use cookie::Cookies;
use host::{HostKind, HostNames};
use login::Codes;
use proxy::TrustedProxy;
use secret::Secret;

/// The far end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    /// Its address.
    pub(crate) address: SocketAddr,
}

/// The permission that a path needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequiredScope {
    /// None: it shows nothing.
    Nothing,
    /// The right to read.
    Read,
    /// The right to bring observations.
    Ingest,
    /// The owner.
    Owner,
}

impl RequiredScope {
    /// Returns the permission that a request needs.
    pub(crate) fn for_request(method: &Method, path: &str) -> Self {
        let below =
            |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let ingest = ["/ingest", "/hooks", "/v1"].into_iter().any(below)
            || matches!(path, "/api/runtime-session-ensure" | "/api/runtime-session-end");
        if ingest {
            return Self::Ingest;
        }
        if path == "/api/v1/audit" {
            // It shows the interests of people.
            return Self::Owner;
        }
        let reads = matches!(*method, Method::GET | Method::HEAD);
        match (reads, below("/api") || below("/metrics")) {
            (true, true) => Self::Read,
            (true, false) => Self::Nothing,
            (false, _) => Self::Owner,
        }
    }
}

/// The permissions of a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    /// True if it may change things.
    pub(crate) may_write: bool,
    /// The owner of the team token that it sent.
    pub(crate) owner: Option<Arc<str>>,
}

/// The credentials of a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Credentials {
    scope: Scope,
    owner: Option<Arc<str>>,
}

impl From<Scope> for Credentials {
    fn from(scope: Scope) -> Self {
        Self { scope, owner: None }
    }
}

/// The rules, made once.
pub(crate) struct Access {
    names: HostNames,
    owner: Secret,
    tokens: Vec<(Secret, Scope)>,
    cookies: Cookies,
    pub(crate) codes: Codes,
    /// True if only this machine can reach us, and the data is its user's own.
    local: bool,
    team: Option<Team>,
    proxy: Option<TrustedProxy>,
}

impl Access {
    pub(crate) fn new(config: &Config, address: SocketAddr, team: Option<Team>) -> Self {
        Self {
            names: HostNames::new(&config.names, address),
            owner: Secret::new(&config.owner_token),
            tokens: config.tokens.iter().map(|token| (Secret::new(&token.secret), token.scope)).collect(),
            cookies: Cookies::new(&config.owner_token, address.port()),
            codes: Codes::default(),
            // Of a team's server even the machine it runs on needs a token: what is there is other people's.
            local: address.ip().is_loopback() && team.is_none(),
            team,
            proxy: config.proxy.as_ref().map(TrustedProxy::new),
        }
    }

    /// Admits a request or returns the reason of the refusal.
    pub(crate) fn check(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        peer: Peer,
        now: Millis,
    ) -> Result<Grant, Problem> {
        let called = self.names.host_kind(uri, headers)?;
        host::check_origin(method, uri.path(), headers, called)?;
        let needs = RequiredScope::for_request(method, uri.path());
        let shown = self.credentials(method, headers, peer, now)?;
        let scope = shown.as_ref().map(|shown| shown.scope);
        let may_write = scope == Some(Scope::Owner);
        // A foreign name may point at this machine (DNS rebinding): only loopback names read without a token.
        let free_read = self.local && peer.address.ip().is_loopback() && called == HostKind::Loopback;
        let granted = match needs {
            RequiredScope::Nothing => true,
            RequiredScope::Read => free_read || matches!(scope, Some(Scope::Read | Scope::Owner)),
            RequiredScope::Ingest => matches!(scope, Some(Scope::Ingest | Scope::Owner)),
            RequiredScope::Owner => may_write,
        };
        match (granted, scope) {
            (true, _) => Ok(Grant { may_write, owner: shown.and_then(|shown| shown.owner) }),
            (false, Some(_)) => Err(forbidden("the scope of the token does not allow this request")),
            (false, None) => Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "token required: send it as `Authorization: Bearer …`\nhint: it is in the file `token` of Agent Tracer's home",
            )),
        }
    }

    /// Returns the credentials of the caller. An unknown token is an error even where none is needed.
    fn credentials(
        &self,
        method: &Method,
        headers: &HeaderMap,
        peer: Peer,
        now: Millis,
    ) -> Result<Option<Credentials>, Problem> {
        if let Some(given) = headers.get(header::AUTHORIZATION) {
            let given = given.to_str().ok().and_then(|given| given.split_once(' '));
            let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
            let known = given.and_then(|(_, secret)| self.token(secret.trim()));
            let unknown = || Problem::new(StatusCode::UNAUTHORIZED, "unknown token");
            return known.map(Some).ok_or_else(unknown);
        }
        if let Some(proxy) = &self.proxy
            && let Some(named) = proxy.credentials(headers, peer)?
        {
            return Ok(Some(named));
        }
        // A cookie carries no name, and on a team's server every access is recorded under one.
        if self.is_team() || !self.cookies.is_session(headers, now) {
            return Ok(None);
        }
        // A cookie goes wherever the browser goes; only a page of ours may use it to change anything.
        let reads = matches!(*method, Method::GET | Method::HEAD);
        if reads || host::is_from_own_page(headers) {
            return Ok(Some(Scope::Owner.into()));
        }
        Err(forbidden("a browser may change things only from a page of this server"))
    }

    /// Compares with every token, whichever matches.
    fn token(&self, secret: &str) -> Option<Credentials> {
        // No early return: the time would tell how far down the list the match stands.
        let mut found = self.owner.is(secret).then_some(Scope::Owner);
        for (known, scope) in &self.tokens {
            if known.is(secret) {
                found = found.or(Some(*scope));
            }
        }
        found.map(Credentials::from).or_else(|| {
            let holder = (self.team.as_ref()?.holder)(secret)?;
            Some(Credentials { scope: holder.scope, owner: Some(holder.owner) })
        })
    }

    /// Returns whether this is a team's server. There everybody has a name, which a token or a proxy gives and may take
    /// away again at any time; a cookie of the server's owner would have neither name nor end.
    pub(crate) const fn is_team(&self) -> bool {
        self.team.is_some()
    }

    /// Makes a cookie for a browser that showed this code, if it is good. A code is good once.
    pub(crate) fn log_in(&self, code: &str, now: Millis) -> Option<String> {
        (!self.is_team() && self.codes.spend(code, now)).then(|| self.cookies.make(now))
    }
}

fn forbidden(detail: &str) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_needs_what_it_should() {
        let table = [
            (Method::GET, "/", RequiredScope::Nothing),
            (Method::GET, "/assets/app.js", RequiredScope::Nothing),
            (Method::GET, "/login", RequiredScope::Nothing),
            (Method::GET, "/health", RequiredScope::Nothing),
            (Method::GET, "/api/v1/tasks", RequiredScope::Read),
            (Method::HEAD, "/api/v1/tasks", RequiredScope::Read),
            (Method::GET, "/api/v1/stream", RequiredScope::Read),
            (Method::GET, "/metrics", RequiredScope::Read),
            (Method::GET, "/api/v1/audit", RequiredScope::Owner),
            (Method::POST, "/api/v1/login-codes", RequiredScope::Owner),
            (Method::PUT, "/api/v1/settings", RequiredScope::Owner),
            (Method::DELETE, "/anything", RequiredScope::Owner),
            (Method::POST, "/ingest/v1/events", RequiredScope::Ingest),
            (Method::POST, "/api/runtime-session-end", RequiredScope::Ingest),
            (Method::POST, "/hooks/claude", RequiredScope::Ingest),
            (Method::POST, "/v1/logs", RequiredScope::Ingest),
        ];
        for (method, path, needs) in table {
            assert_eq!(RequiredScope::for_request(&method, path), needs, "{method} {path}");
        }
    }
}
