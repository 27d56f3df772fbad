//! Codex: whether it will call us, which is a matter of trust.

use std::path::{Path, PathBuf};

use agent_tracer_agents::ClientVersion;
use agent_tracer_agents::codex::events::EVENTS;
use agent_tracer_agents::codex::install::InstallOptions;
use agent_tracer_agents::codex::paths;
use agent_tracer_agents::codex::trust::{Trust, TrustStore, only_managed_hooks};
use agent_tracer_agents::codex::versions::{asks_for_trust, calls};
use agent_tracer_agents::command_line::Invocation;
use agent_tracer_agents::hooks::{OwnHook, own_hooks};
use agent_tracer_agents::settings::Settings;
use serde_json::json;

use crate::agents::Findings;
use crate::arguments::ScopeName;
use crate::clients;
use crate::commands::doctor::check::{Check, Group, State};
use crate::commands::doctor::installed::Installed;
use crate::commands::doctor::{DoctorContext, client};
use crate::failure::Failure;
use crate::files;
use crate::target::{Target, home_of};
use agent_tracer_event::Agent;

/// Requirements of an administrator; they override every other file.
const REQUIREMENTS: &str = "/etc/codex/requirements.toml";

const REVIEW: &str = "start `codex` in a terminal and accept the hooks under \"Hooks need review\"";

fn check(name: &'static str, state: State, text: impl Into<String>) -> Check {
    Check::new(Group::Agent(Agent::CODEX), name, state, text)
}

/// Looks at the hooks files and at their trust: a connected agent calls us only if the user trusts the hooks.
pub(super) fn checks(context: &DoctorContext<'_>) -> Result<Findings, Failure> {
    let home = home_of(Agent::CODEX, context.environment)?;
    let (mut checks, clients) = client::checks(context, Agent::CODEX);
    let version = clients::oldest(&clients);
    // Read and never written: Codex asks for a review so that no program makes itself run.
    let store = match trust_store(&home) {
        Ok(store) => store,
        Err(failed) => {
            checks.push(failed);
            None
        }
    };
    let mut ways: Vec<String> = Vec::new();
    if store.as_ref().is_some_and(|store| !store.plugins.is_empty()) {
        let text = "connected by the plugin; run `/hooks` in Codex to see whether you trust it";
        checks.push(check("plugin", State::Info, text));
        ways.push("the plugin".to_owned());
    }
    for scope in [ScopeName::User, ScopeName::Project] {
        let target = Target::of(Agent::CODEX, scope, context.environment)?;
        // In the agent's own home both scopes are one file.
        if scope == ScopeName::Project && target.path.parent() == Some(&home) {
            continue;
        }
        let settings = match load(&target) {
            Ok(Some(settings)) => settings,
            Ok(None) => continue,
            Err(failed) => {
                checks.push(failed);
                continue;
            }
        };
        let own = own_hooks(&settings);
        if own.is_empty() {
            continue;
        }
        ways.push(format!("`{}`", target.path.display()));
        let all = EVENTS.map(|event| event.name);
        let wanted = |invocation: &Invocation| {
            let (hook, home) = (invocation.program.clone(), invocation.home().map(str::to_owned));
            InstallOptions { hook, home, events: None, tools: None }.hooks()
        };
        let installed = Installed { agent: Agent::CODEX, scope, path: &target.path, own: &own };
        checks.extend(installed.checks(context, &all, wanted));
        checks.extend(version.and_then(|version| called(version, &own)));
        match version.filter(|version| !asks_for_trust(*version)) {
            Some(version) => {
                let text = format!("Codex {version} runs hooks without asking for your trust");
                checks.push(check("trust", State::Ok, text));
            }
            None => {
                // An event that the version does not know is not in its review, so its trust is missing for good.
                let reviewed: Vec<OwnHook> = own
                    .iter()
                    .filter(|own| version.is_none_or(|version| calls(version, &own.event)))
                    .cloned()
                    .collect();
                let source = source(&target.path);
                checks.extend(store.iter().flat_map(|store| trust(store, &reviewed, &source)));
            }
        }
        checks.extend(client::trials(context, Agent::CODEX, &clients, &own));
    }
    if ways.len() > 1 {
        // Unlike Claude Code, Codex runs both, and two equal events may be two calls: afterwards they cannot be
        // distinguished.
        let text =
            format!("connected more than once, so every event counts more than once: {}", ways.join(", "));
        checks.push(check("twice", State::Warn, text).fix("keep one of them, and disconnect the others"));
    }
    let connected = !ways.is_empty();
    if !connected {
        checks.push(check("hooks", State::Info, "not connected").fix("agent-tracer install codex"));
    } else if only_managed_hooks(&std::fs::read_to_string(REQUIREMENTS).unwrap_or_default()) {
        let text = format!("`allow_managed_hooks_only` is set in `{REQUIREMENTS}`: no hook of ours runs");
        checks.push(check("managed", State::Fail, text).fix("ask the administrator of this machine to add the hook there; `agent-tracer install codex --print` is a template"));
    } else if store.is_some_and(|store| store.hooks_disabled) {
        checks.push(check("disabled", State::Fail, "the feature `hooks` is switched off: no hook runs").fix(
            format!(
                "remove `hooks = false` under `[features]` from `{}`",
                paths::configuration(&home).display()
            ),
        ));
    }
    Ok(Findings { checks, is_connected: connected, has_client: !clients.is_empty() })
}

/// Reports the registered events that the version never calls.
fn called(version: ClientVersion, own: &[OwnHook]) -> Option<Check> {
    let silent: Vec<&str> =
        own.iter().map(|own| own.event.as_str()).filter(|event| !calls(version, event)).collect();
    (!silent.is_empty()).then(|| {
        let text = format!(
            "Codex {version} has {} of the registered events; it does not know {}, which does no harm",
            own.len() - silent.len(),
            silent.join(", ")
        );
        check("client_events", State::Info, text)
    })
}

/// Reads what Codex's configuration says about trust. No file means that nothing is trusted.
fn trust_store(home: &Path) -> Result<Option<TrustStore>, Check> {
    let path = paths::configuration(home);
    let shown = path.display();
    let failed = |why: String| {
        check("configuration", State::Fail, format!("cannot read `{shown}`: {why}"))
            .fix(format!("correct `{shown}`; Codex does not start with it"))
    };
    let found = files::find(&path).map_err(|failure| failed(failure.to_string().replace('\n', ", ")))?;
    let text = found.text().map_err(|_| failed("it is not UTF-8".to_owned()))?;
    TrustStore::parse(text).map(Some).map_err(|error| failed(error.to_string()))
}

fn load(target: &Target) -> Result<Option<Settings>, Check> {
    let shown = target.path.display();
    let failed = |text: String| check("hooks_file", State::Fail, text).fix(format!("correct `{shown}`"));
    let found = files::find(&target.path).map_err(|failure| {
        let text = failure.to_string();
        failed(text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned())
    })?;
    if !found.exists() {
        return Ok(None);
    }
    let text = found.text().map_err(|_| failed(format!("Codex cannot load `{shown}`: it is not UTF-8")))?;
    let settings =
        Settings::parse(text).map_err(|error| failed(format!("Codex cannot load `{shown}`: {error}")))?;
    match target.setup.ignored_because(text) {
        Some(why) => Err(failed(format!("Codex ignores all of `{shown}` because of {why}"))),
        None => Ok(Some(settings)),
    }
}

/// Returns the file's name in the trust store: its folder resolved, the file's own link not.
fn source(path: &Path) -> String {
    let folder = path.parent().map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
    // Codex keys its trust by the resolved folder and the name as it stands, so a link in the last part stays.
    let resolved: PathBuf = folder.unwrap_or_default().join(path.file_name().unwrap_or_default());
    resolved.to_string_lossy().into_owned()
}

/// Reports for each hook whether Codex runs it. An event that Codex does not know needs no trust.
fn trust(store: &TrustStore, own: &[OwnHook], source: &str) -> Vec<Check> {
    let verdicts: Vec<(&str, Trust)> =
        own.iter().map(|own| (own.event.as_str(), store.trust_of(own, source))).collect();
    let details: serde_json::Map<String, serde_json::Value> =
        verdicts.iter().map(|(event, trust)| ((*event).to_owned(), json!(trust_word(*trust)))).collect();
    // All of them need no list.
    let events = |wanted: Trust| -> Option<String> {
        let events: Vec<&str> =
            verdicts.iter().filter(|(_, trust)| *trust == wanted).map(|(event, _)| *event).collect();
        match events.len() {
            0 => None,
            count if count == own.len() => Some(format!("all {count}")),
            _ => Some(events.join(", ")),
        }
    };
    let mut checks = Vec::new();
    if let Some(events) = events(Trust::Untrusted) {
        let text = format!("hooks that you have not trusted yet, so Codex does not run them: {events}");
        checks.push(check("trust", State::Fail, text).fix(REVIEW));
    }
    if let Some(events) = events(Trust::Modified) {
        let text = format!("hooks that changed since you trusted them, so Codex does not run them: {events}");
        checks.push(check("trust", State::Fail, text).fix(REVIEW));
    }
    if let Some(events) = events(Trust::Disabled) {
        let text = format!("hooks that are switched off in Codex: {events}");
        checks.push(check("trust", State::Warn, text).fix("switch them on with `/hooks` in Codex"));
    }
    if checks.is_empty() {
        checks.push(check("trust", State::Ok, format!("Codex trusts all {} hooks", own.len())));
    }
    checks.into_iter().map(|check| check.details(json!(details))).collect()
}

fn trust_word(trust: Trust) -> &'static str {
    match trust {
        Trust::Trusted => "trusted",
        Trust::Modified => "modified",
        Trust::Untrusted => "untrusted",
        Trust::Disabled => "disabled",
    }
}
