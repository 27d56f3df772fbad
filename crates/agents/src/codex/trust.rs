//! Computes the trust of Codex in hooks: a hash per handler in the user's `config.toml`.
//!
//! `[hooks.state."<key>"]` holds `trusted_hash = "sha256:…"` and perhaps `enabled = false`. The key is
//! `<file>:<event>:<group>:<handler>`; the hash is SHA-256 over the compact JSON, with sorted keys, of
//! `{"event_name", "hooks": [{"async", "command", "timeout", "type", …}], "matcher"?}`, where the timeout is the one in
//! effect. Reproduced for every kind of handler that Codex 0.166.0 lists (`tests/it/codex_trust.rs`).
//!
//! Law: we read this and never write it. Trust is the user's to give.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::events::{self, HURRIED_TIMEOUT};
use crate::hooks::OwnHook;

/// The seconds that Codex gives a handler that says nothing.
const DEFAULT_TIMEOUT: u64 = 600;

/// Events whose handlers may add context to the model.
const ADDS_CONTEXT: [&str; 5] =
    ["SessionStart", "UserPromptSubmit", "SubagentStart", "PreToolUse", "PostToolUse"];

/// Describes what Codex will do with a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It runs.
    Trusted,
    /// The user trusted it in another form; it does not run until it is reviewed again.
    Modified,
    /// The user has not been asked, or has not agreed: it does not run, and `codex exec` says nothing about it.
    Untrusted,
    /// The user has switched it off.
    Disabled,
}

/// Describes what the user's configuration says about hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustStore {
    states: BTreeMap<String, State>,
    /// True if the feature `hooks` is switched off.
    pub hooks_disabled: bool,
    /// The names of our plugin, with its marketplace, that are enabled. Its trust covers the whole package, by a fingerprint
    /// that we do not know.
    pub plugins: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct State {
    trusted_hash: Option<String>,
    disabled: bool,
}

/// The configuration is no TOML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not valid TOML: {what}")]
pub struct ConfigurationError {
    what: String,
}

/// Returns whether an administrator's `requirements.toml` keeps every hook but their own from running.
#[must_use]
pub fn only_managed_hooks(requirements: &str) -> bool {
    let table = requirements.parse::<toml::Table>().unwrap_or_default();
    table.get("allow_managed_hooks_only").and_then(toml::Value::as_bool) == Some(true)
}

impl TrustStore {
    /// Reads the store out of the text of `config.toml`. Anything of another shape than expected is passed over: it
    /// is the user's file, and Codex says itself what is wrong with it.
    pub fn parse(text: &str) -> Result<TrustStore, ConfigurationError> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| ConfigurationError {
            what: error.message().lines().collect::<Vec<_>>().join(", "),
        })?;
        let feature =
            |name: &str| table.get("features").and_then(|it| it.get(name)).and_then(toml::Value::as_bool);
        let states = table
            .get("hooks")
            .and_then(|hooks| hooks.get("state"))
            .and_then(toml::Value::as_table)
            .into_iter()
            .flatten()
            .map(|(key, state)| {
                let trusted_hash = state.get("trusted_hash").and_then(toml::Value::as_str).map(str::to_owned);
                let disabled = state.get("enabled").and_then(toml::Value::as_bool) == Some(false);
                (key.clone(), State { trusted_hash, disabled })
            })
            .collect();
        // `codex_hooks` is the feature's older name, which 0.166.0 still obeys.
        let hooks_disabled = feature("hooks") == Some(false) || feature("codex_hooks") == Some(false);
        let plugins = table.get("plugins").and_then(toml::Value::as_table).into_iter().flatten();
        let plugins = plugins.filter(|(name, plugin)| {
            name.starts_with("agent-tracer@")
                && plugin.get("enabled").and_then(toml::Value::as_bool) == Some(true)
        });
        let plugins = plugins.map(|(name, _)| name.clone()).collect();
        Ok(TrustStore { states, hooks_disabled, plugins })
    }

    /// Returns what Codex will do with a handler of ours in the file `source` (Codex's home resolved, the file's own
    /// link not).
    pub fn trust_of(&self, own: &OwnHook, source: &str) -> Trust {
        let Some(state) = key(own, source).and_then(|key| self.states.get(&key)) else {
            return Trust::Untrusted;
        };
        // Before the hash: a handler that is switched off does not run, however it was trusted.
        if state.disabled {
            return Trust::Disabled;
        }
        match &state.trusted_hash {
            // The hash covers the command line and not the program, so an upgrade of ours needs no new review.
            Some(trusted) if Some(trusted) == hash(own).as_ref() => Trust::Trusted,
            Some(_) => Trust::Modified,
            None => Trust::Untrusted,
        }
    }
}

/// Returns the name of a handler in the trust store; `None` for an event that Codex does not know.
pub fn key(own: &OwnHook, source: &str) -> Option<String> {
    let event = events::find(&own.event)?;
    Some(format!("{source}:{}:{}:{}", event.snake, own.group, own.handler))
}

/// Returns the hash that Codex computes for a handler.
pub fn hash(own: &OwnHook) -> Option<String> {
    let event = events::find(&own.event)?;
    let handler = own.value.as_object()?;
    let asked = handler.get("timeout").and_then(Value::as_u64);
    let timeout = if event.hurried {
        asked.unwrap_or(1).clamp(1, HURRIED_TIMEOUT)
    } else {
        asked.unwrap_or(DEFAULT_TIMEOUT).max(1)
    };
    // A sorted map at both levels: the hash is over text, and the order of keys is part of it.
    let mut hashed: BTreeMap<&str, Value> = BTreeMap::new();
    hashed.insert("type", handler.get("type").cloned().unwrap_or_else(|| json!("command")));
    hashed.insert("command", handler.get("command")?.clone());
    hashed.insert("timeout", json!(timeout));
    hashed.insert("async", json!(handler.get("async").and_then(Value::as_bool).unwrap_or(false)));
    if let Some(message) = handler.get("statusMessage").filter(|message| message.is_string()) {
        hashed.insert("statusMessage", message.clone());
    }
    // Left out, with a warning, where the event cannot add context to the model.
    let limit = handler.get("additionalContextLimit").filter(|limit| limit.is_u64());
    if let Some(limit) = limit.filter(|_| ADDS_CONTEXT.contains(&event.name)) {
        hashed.insert("additionalContextLimit", limit.clone());
    }
    let mut identity: BTreeMap<&str, Value> = BTreeMap::new();
    identity.insert("event_name", json!(event.snake));
    identity.insert("hooks", json!([hashed]));
    if let Some(matcher) = own.matcher.as_deref().filter(|_| event.has_matcher) {
        identity.insert("matcher", json!(matcher));
    }
    let text = serde_json::to_string(&identity).ok()?;
    let digest = Sha256::digest(text.as_bytes());
    Some(digest.iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}")))
}
