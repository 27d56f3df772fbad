//! The right to follow: params for again while a stream is open, because a token may be revoked or end.

use axum::extract::Request;
use axum::http::{HeaderMap, Method, Uri};

use crate::app::App;
use crate::security::Peer;

/// The credentials of a follower at its start.
pub(super) struct FollowerAccess {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    peer: Option<Peer>,
}

impl FollowerAccess {
    pub(super) fn from_request(request: &Request) -> Self {
        Self {
            method: request.method().clone(),
            uri: request.uri().clone(),
            headers: request.headers().clone(),
            peer: request.extensions().get::<Peer>().copied(),
        }
    }

    /// Waits until the same request would be refused.
    pub(super) async fn ended(&self, app: &App) {
        while self.peer.is_some_and(|peer| {
            app.access.check(&self.method, &self.uri, &self.headers, peer, (app.deps.clock)()).is_ok()
        }) {
            // Asked again and again: the end of a cookie, a revoked token and a changed proxy have no signal in common.
            tokio::time::sleep(app.config.limits.recheck).await;
        }
    }
}
