//! One session with our hooks, by `-c`: a layer of configuration above the user's files, whose hooks run too.
//!
//! Law: the layer trusts our own handlers, by the hash that the client computes, and nothing else; hooks that the user has
//! not reviewed stay unreviewed. What an installation or our plugin would report in the same session is switched off in the
//! layer, so that each event arrives once, whatever is trusted.

use std::ffi::OsString;

use serde_json::{Map, Value, json};

use super::paths;
use super::trust::{self, TrustStore};
use crate::command_line::Invocation;
use crate::hooks::{OwnHook, WantedHook, own_hooks};
use crate::settings::Settings;
use crate::setup::{Scope, SessionRequest, SessionStart};

/// The name of the layer in the trust store.
const LAYER: &str = "/<session-flags>/config.toml";

/// Returns how the client is started so that it calls these hooks.
pub(super) fn start(hooks: &[WantedHook], session: &SessionRequest<'_>) -> SessionStart {
    let mut table = Map::new();
    let mut state = switched_off(session);
    for hook in hooks {
        let Some(invocation) = Invocation::of(&hook.handler) else { continue };
        let (event, value) = (hook.event.to_owned(), hook.handler.clone());
        let own = OwnHook { event, group: 0, handler: 0, matcher: hook.matcher.clone(), value, invocation };
        if let (Some(key), Some(hash)) = (trust::key(&own, LAYER), trust::hash(&own)) {
            state.insert(key, json!({"trusted_hash": hash}));
        }
        table.insert(hook.event.to_owned(), json!([hook.group()]));
    }
    table.insert("state".to_owned(), Value::Object(state));
    let mut arguments = vec![OsString::from("-c"), format!("hooks={}", inline(&Value::Object(table))).into()];
    let store = (session.read)(&paths::configuration(session.places.home));
    let plugins = store.and_then(|text| TrustStore::parse(&text).ok()).map(|store| store.plugins);
    let plugins: Map<String, Value> =
        plugins.into_iter().flatten().map(|name| (name, json!({"enabled": false}))).collect();
    if !plugins.is_empty() {
        arguments.extend(["-c".into(), format!("plugins={}", inline(&Value::Object(plugins))).into()]);
    }
    arguments.extend(session.arguments.iter().cloned());
    SessionStart { arguments, ..SessionStart::default() }
}

/// Returns the state of our installed hooks: off.
fn switched_off(session: &SessionRequest<'_>) -> Map<String, Value> {
    let places = session.places;
    let files =
        Scope::ALL.into_iter().filter_map(|scope| paths::hooks(places.home, places.repository, scope));
    let mut state = Map::new();
    for path in files {
        let Some(settings) = (session.read)(&path).and_then(|text| Settings::parse(&text).ok()) else {
            continue;
        };
        let source = path.to_string_lossy();
        let own = own_hooks(&settings).into_iter().filter(|own| session.is_served_by(own));
        let keys = own.filter_map(|own| trust::key(&own, &source));
        state.extend(keys.map(|key| (key, json!({"enabled": false}))));
    }
    state
}

/// Writes a value in one line of TOML.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, value)| format!("{}={}", Value::from(name.as_str()), inline(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(",")),
        // The escapes of JSON are escapes of TOML too. A null has no spelling there, and none is in a hook.
        Value::String(_) | Value::Bool(_) | Value::Number(_) | Value::Null => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::setup::{Places, Request, Setup, StatusLine};

    const OWN: &str = r#"{"hooks": {"Stop": [
        {"hooks": [{"type": "command", "command": "mine"}]},
        {"hooks": [{"type": "command", "command": "'/b/agent-tracer-hook' codex"}]}]}}"#;

    /// Returns the layer's tables, and the arguments after it.
    fn start(files: &[(&str, &str)], words: &[&str]) -> (toml::Table, Vec<String>) {
        let request = Request {
            hook: "/b/it's/agent-tracer-hook".to_owned(),
            home: None,
            client: None,
            events: None,
            tools: None,
            status_line: StatusLine::Leave,
        };
        let (home, project) = (Path::new("/h/.codex"), Path::new("/p"));
        let places = Places { home, directory: project, repository: project };
        let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
        let read = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        let session = SessionRequest {
            request: &request,
            places: &places,
            folder: Path::new("/run"),
            arguments: &arguments,
            read: &read,
        };
        let start = super::super::setup::CodexSetup.session(&session).expect("a start");
        assert!(start.files.is_empty() && start.variables.is_empty());
        let words: Vec<String> =
            start.arguments.iter().map(|word| word.to_str().expect("text").to_owned()).collect();
        let mut layer = toml::Table::new();
        let mut left = words.as_slice();
        while let [option, table, rest @ ..] = left
            && option == "-c"
        {
            layer.extend(table.parse::<toml::Table>().expect("TOML"));
            left = rest;
        }
        (layer, left.to_vec())
    }

    #[test]
    fn every_event_is_registered_and_trusted_in_the_layer_alone() {
        let (layer, words) = start(&[], &["exec", "--json", "hi"]);
        assert_eq!(words, ["exec", "--json", "hi"]);
        let hooks = layer["hooks"].as_table().expect("a table");
        let state = hooks["state"].as_table().expect("a table");
        assert_eq!(hooks.len() - 1, super::super::events::EVENTS.len());
        assert_eq!(state.len(), hooks.len() - 1);
        let handler = &hooks["Stop"][0]["hooks"][0];
        assert_eq!(handler["command"].as_str(), Some(r"'/b/it'\''s/agent-tracer-hook' codex"));
        assert!(
            state["/<session-flags>/config.toml:stop:0:0"]["trusted_hash"]
                .as_str()
                .expect("text")
                .starts_with("sha256:")
        );
        assert_eq!(layer.get("plugins"), None);
    }

    #[test]
    fn what_is_installed_is_switched_off_and_the_users_own_is_not() {
        let plugins =
            "[plugins.\"agent-tracer@here\"]\nenabled = true\n[plugins.\"other@here\"]\nenabled = true\n";
        let files = [
            ("/h/.codex/hooks.json", OWN),
            ("/p/.codex/hooks.json", OWN),
            ("/h/.codex/config.toml", plugins),
        ];
        let (layer, _) = start(&files, &[]);
        let state = layer["hooks"]["state"].as_table().expect("a table");
        let off: Vec<&str> = state
            .iter()
            .filter(|(_, state)| state.get("enabled").is_some())
            .map(|(key, _)| key.as_str())
            .collect();
        assert_eq!(off, ["/h/.codex/hooks.json:stop:1:0", "/p/.codex/hooks.json:stop:1:0"]);
        let plugins = layer["plugins"].as_table().expect("a table");
        assert_eq!(plugins.keys().collect::<Vec<_>>(), ["agent-tracer@here"]);
        assert_eq!(plugins["agent-tracer@here"]["enabled"].as_bool(), Some(false));
    }

    #[test]
    fn a_hook_for_another_home_records_beside_ours() {
        let other = OWN.replace("hook' codex", "hook' codex --home '/other'");
        let (layer, _) = start(&[("/h/.codex/hooks.json", &other)], &[]);
        assert!(
            !layer["hooks"]["state"]
                .as_table()
                .expect("a table")
                .contains_key("/h/.codex/hooks.json:stop:1:0")
        );
    }
}
