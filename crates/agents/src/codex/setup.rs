//! Codex's hooks file, behind the door that all agents have.

use std::path::{Path, PathBuf};

use super::events::{EVENTS, TOOLS};
use super::install::{self, InstallOptions};
use super::trust::TrustStore;
use super::{paths, session, versions};
use crate::client_version::ClientVersion;
use crate::hooks::{Changes, OwnHook, Undo, WantedHook, own_table};
use crate::settings::{Settings, SettingsError};
use crate::setup::{
    Drift, Installed, Places, Plan, Request, Scope, SessionRequest, SessionStart, Setup, Template, Trial,
    TrialError, TrialValue, looseness,
};

/// The first version of those that ask for trust in which a trial was seen to reach the hook without it. Earlier ones
/// have the switch too, but did not call the hook.
const FIRST_TRIED_WITHOUT_TRUST: ClientVersion = ClientVersion::release(0, 141, 0);

/// The door to the hooks file.
pub(super) struct CodexSetup;

fn options(request: &Request) -> InstallOptions {
    let Request { hook, home, events, tools, .. } = request.clone();
    InstallOptions { hook, home, events, tools }
}

impl Setup for CodexSetup {
    fn settings(&self, scope: Scope, places: &Places<'_>) -> Option<PathBuf> {
        paths::hooks(places.home, places.repository, scope)
    }

    fn events(&self) -> Vec<&'static str> {
        EVENTS.iter().map(|event| event.name).collect()
    }

    fn tools(&self) -> &'static [&'static str] {
        &TOOLS
    }

    fn hooks(&self, request: &Request) -> Vec<WantedHook> {
        options(request).hooks()
    }

    fn earlier_hooks(&self, request: &Request) -> Vec<WantedHook> {
        InstallOptions { events: None, tools: None, ..options(request) }.hooks()
    }

    fn plan(&self, text: &str, request: &Request, undo: Undo) -> Result<Plan, SettingsError> {
        install::plan(text, &options(request), undo)
    }

    fn withdraw(&self, text: &str, undo: &Undo, _chained: Option<&str>) -> Result<Plan, SettingsError> {
        install::withdraw(text, undo)
    }

    fn ignored_because(&self, text: &str) -> Option<String> {
        let settings = Settings::parse(text).ok()?;
        if let Some(loose) = looseness(&settings) {
            return Some(loose);
        }
        if settings.has_byte_order_mark() {
            return Some("a byte order mark at its start".to_owned());
        }
        for place in [&[][..], &["hooks"][..]] {
            if let Some(name) = settings.repeated_names(place).first() {
                return Some(format!("the name `{name}`, which occurs twice"));
            }
        }
        let value = settings.value();
        let known = ["description", "hooks"];
        let unknown = value.as_object()?.keys().find(|key| !known.contains(&key.as_str()))?;
        Some(format!("the unknown key `{unknown}`"))
    }

    fn template(&self, request: &Request) -> Template {
        let Request { events, tools, .. } = request.clone();
        let text = format!("{:#}\n", install::template(events, tools));
        Template { text, file: ".codex/hooks.json", also: ", and reviews the hooks in Codex" }
    }

    fn oldest_driven(&self) -> Option<ClientVersion> {
        Some(versions::OLDEST_DRIVEN)
    }

    fn calls(&self, client: ClientVersion, event: &str) -> bool {
        versions::calls(client, event)
    }

    fn other_ways(&self, home: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Vec<String> {
        let store = read(&paths::configuration(home)).and_then(|text| TrustStore::parse(&text).ok());
        let has_plugin = store.is_some_and(|store| !store.plugins.is_empty());
        has_plugin.then(|| "the plugin".to_owned()).into_iter().collect()
    }

    // Trust is kept by a group's number.
    fn shifted_note(&self, changes: &Changes) -> Option<String> {
        (!changes.shifted.is_empty()).then(|| {
            format!(
                "warning: other hooks stood behind ours and have a new number now, so Codex asks you to review them \
                 again: {}",
                changes.shifted.join(", ")
            )
        })
    }

    fn advice(&self, installed: &Installed<'_>) -> Vec<String> {
        let lines: &[&str] = match installed.client {
            Some(client) if !versions::asks_for_trust(client) => {
                &["new sessions are recorded; run `agent-tracer doctor` to check the setup"]
            }
            _ => &[
                "next step: start `codex` in a terminal and accept the hooks under \"Hooks need review\"",
                "until then Codex does not run them, and `codex exec` prints no warning",
                "run `agent-tracer doctor` to see which are trusted",
            ],
        };
        lines.iter().map(|&line| line.to_owned()).collect()
    }

    fn drift(&self, drift: &Drift<'_>) -> Option<String> {
        let (seen, known) = (drift.seen, drift.chosen_for?);
        let is_new = versions::asks_for_trust(seen) && !versions::asks_for_trust(known);
        is_new.then(|| {
            format!(
                "Codex is {seen} now, which runs hooks only after you have reviewed them\n\
                 hint: start `codex` in a terminal and accept them under \"Hooks need review\""
            )
        })
    }

    // Trust is the user's to give, so it is passed over here: a trial is about the file and the command line.
    fn trial(&self, own: &[OwnHook], base: &str, version: ClientVersion) -> Result<Trial, TrialError> {
        if versions::asks_for_trust(version) && version < FIRST_TRIED_WITHOUT_TRUST {
            return Err(TrialError::UnreviewedHooks);
        }
        let configuration = format!(
            "model = \"gpt-5.5\"\nmodel_provider = \"trial\"\ncheck_for_update_on_startup = false\n\n\
             [model_providers.trial]\nname = \"Trial\"\nbase_url = \"{base}/v1\"\nwire_api = \"responses\"\n\
             env_key = \"NOT_A_KEY\"\nrequest_max_retries = 0\nstream_max_retries = 0\n\n\
             [analytics]\nenabled = false\n"
        );
        let mut arguments = vec!["exec", "--skip-git-repo-check"];
        if version >= versions::FIRST_WITH_BYPASS {
            arguments.push("--dangerously-bypass-hook-trust");
        }
        arguments.push("Say hello.");
        Ok(Trial {
            files: vec![("hooks.json", own_table(own).to_string()), ("config.toml", configuration)],
            arguments: arguments.into_iter().map(str::to_owned).collect(),
            variables: vec![("NOT_A_KEY", TrialValue::Text("not-a-key".to_owned()))],
        })
    }

    fn session(&self, session: &SessionRequest<'_>) -> Option<SessionStart> {
        Some(session::start(&options(session.request).hooks(), session))
    }
}
