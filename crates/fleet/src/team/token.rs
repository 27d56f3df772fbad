//! Tokens: drawn here, shown once, kept as a hash.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, PoisonError, RwLock};

use crate::clickhouse::{Token, TokenScope};
use agent_tracer_server::{Holder, Scope};
use sha2::{Digest, Sha256};

/// Prefix of every token, so that a token found somewhere can be recognised.
const BEGINNING: &str = "atr";

/// Returns the hash under which a secret is stored.
#[must_use]
pub fn hash(secret: &str) -> String {
    // Without salt and slowness, unlike a password: the secret is drawn, too long to guess, and looked up by its hash
    // at every request.
    Sha256::digest(secret.as_bytes()).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").ok();
        text
    })
}

/// Makes a token for an owner, and the secret that is shown once. `random` must hold at least 48 unpredictable
/// characters.
#[must_use]
pub fn make(owner: &str, scope: TokenScope, random: &str, now: i64, expires: Option<i64>) -> (Token, String) {
    let mut letters = random.chars();
    let id: String = letters.by_ref().take(8).collect();
    let secret = format!("{BEGINNING}_{id}_{}", letters.as_str());
    let token = Token { owner: owner.to_owned(), id, scope, hash: hash(&secret), created: now, expires };
    (token, secret)
}

/// The tokens that a process knows, by their hashes.
#[derive(Debug, Default)]
pub(crate) struct KnownTokens(RwLock<HashMap<String, Token>>);

impl KnownTokens {
    /// Knows these from now on, and no others.
    pub(crate) fn replace(&self, tokens: Vec<Token>) {
        let tokens = tokens.into_iter().map(|token| (token.hash.clone(), token)).collect();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = tokens;
    }

    /// Returns the holder of a secret that is valid now.
    pub(crate) fn holder(&self, secret: &str, now: i64) -> Option<Holder> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let token = known.get(&hash(secret)).filter(|token| token.expires.is_none_or(|at| now < at))?;
        let scope = match token.scope {
            TokenScope::Ingest => Scope::Ingest,
            TokenScope::Read => Scope::Read,
            TokenScope::Admin => Scope::Owner,
        };
        Some(Holder { scope, owner: Arc::from(token.owner.as_str()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANDOM: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    #[test]
    fn a_secret_is_known_until_it_ends_and_nothing_else_is() {
        let (token, secret) = make("ann", TokenScope::Ingest, RANDOM, 5, Some(100));
        assert!(secret.starts_with("atr_01234567_89abcdef") && secret.len() > 50, "{secret}");
        assert!(!token.hash.contains("89abcdef0123") && token.hash.len() == 64);
        let known = KnownTokens::default();
        assert_eq!(known.holder(&secret, 10), None);
        known.replace(vec![token.clone()]);
        let holder = known.holder(&secret, 10).unwrap();
        assert_eq!((holder.scope, holder.owner.as_ref()), (Scope::Ingest, "ann"));
        assert_eq!(known.holder(&secret, 100), None, "it ended");
        assert_eq!(known.holder(&token.hash, 10), None, "the hash opens nothing");
        known.replace(Vec::new());
        assert_eq!(known.holder(&secret, 10), None, "it was revoked");
    }
}
