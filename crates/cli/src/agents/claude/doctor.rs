//! Claude Code: whether it will call us, and how long it keeps its transcripts.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use agent_tracer_agents::ClientVersion;
use agent_tracer_agents::claude::events::{EVENTS, Registration};
use agent_tracer_agents::claude::install::{InstallOptions, StatusLine, status_line};
use agent_tracer_agents::claude::paths;
use agent_tracer_agents::claude::versions::{UnknownEvent, accepts, fit, range_of};
use agent_tracer_agents::command_line::Invocation;
use agent_tracer_agents::hooks::{OwnHook, own_hooks, own_verifiers};
use agent_tracer_agents::settings::Settings;
use serde_json::Value;

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

/// Days after which Claude Code removes transcripts unless its settings say otherwise.
const CLEANUP_DAYS_DEFAULT: u64 = 30;
/// With fewer days than this left the user is warned.
const DAYS_LEFT_LOW: u64 = 7;
/// The most transcripts that are looked at.
const TRANSCRIPTS_MAX: usize = 100_000;
const DAY_MS: i64 = 86_400_000;
/// Settings of an administrator; they override every other file.
#[cfg(target_os = "macos")]
const MANAGED: &str = "/Library/Application Support/ClaudeCode/managed-settings.json";
#[cfg(not(target_os = "macos"))]
const MANAGED: &str = "/etc/claude-code/managed-settings.json";

fn check(name: &'static str, state: State, text: impl Into<String>) -> Check {
    Check::new(Group::Agent(Agent::CLAUDE_CODE), name, state, text)
}

/// A settings file that could be read.
struct File {
    scope: ScopeName,
    path: PathBuf,
    settings: Settings,
}

/// Looks at the settings of every scope, at the status line and at the transcripts.
pub(super) fn checks(context: &DoctorContext<'_>) -> Result<Findings, Failure> {
    let (mut checks, clients) = client::checks(context, Agent::CLAUDE_CODE);
    let mut read: Vec<File> = Vec::new();
    for scope in [ScopeName::User, ScopeName::Project, ScopeName::Local] {
        let target = Target::of(Agent::CLAUDE_CODE, scope, context.environment)?;
        // In the user's own home the project's file is the user's file.
        if read.iter().any(|file| file.path == target.path) {
            continue;
        }
        match load(&target) {
            Ok(Some(settings)) => read.push(File { scope, path: target.path, settings }),
            Ok(None) => {}
            Err(failure) => checks.push(failure),
        }
    }
    let version = clients::oldest(&clients);
    let registered: Vec<Check> = read.iter().flat_map(|file| registered(context, file, version)).collect();
    let plugin = read.iter().any(|file| has_plugin(&file.settings));
    let connected = plugin || !registered.is_empty();
    if plugin {
        let text = if registered.is_empty() {
            "connected by the plugin"
        } else {
            "connected by the plugin, too; events that arrive twice count once"
        };
        checks.push(check("plugin", State::Info, text));
    }
    if !connected {
        checks.push(check("hooks", State::Info, "not connected").fix("agent-tracer install claude"));
    }
    checks.extend(registered);
    for file in &read {
        checks.extend(client::trials(context, Agent::CLAUDE_CODE, &clients, &own_hooks(&file.settings)));
    }
    for file in &read {
        checks.extend(in_the_way(file));
    }
    checks.extend(read.iter().find_map(|file| line(context, file)));
    checks.extend(managed(&fs::read_to_string(MANAGED).unwrap_or_default()).filter(|_| connected));
    checks.push(transcripts(context, &read)?);
    Ok(Findings { checks, is_connected: connected, has_client: !clients.is_empty() })
}

fn load(target: &Target) -> Result<Option<Settings>, Check> {
    let shown = target.path.display();
    let unreadable = |failure: &Failure| {
        let text = failure.to_string();
        let text = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        check("settings", State::Fail, text).fix(format!("correct `{shown}`"))
    };
    let found = files::find(&target.path).map_err(|failure| unreadable(&failure))?;
    if !found.exists() {
        return Ok(None);
    }
    let text = found.text().map_err(|failure| unreadable(&failure))?;
    let settings = Settings::parse(text).map_err(|error| {
        check("settings", State::Fail, format!("Claude Code cannot load `{shown}`: {error}"))
            .fix(format!("correct `{shown}`"))
    })?;
    // Parsed by us and dropped by the client: our reader allows comments, theirs does not.
    if let Some(why) = target.setup.ignored_because(text) {
        return Err(check(
            "settings",
            State::Fail,
            format!("Claude Code ignores all of `{shown}` because of {why}"),
        )
        .fix("it reads plain JSON only: remove comments and trailing commas"));
    }
    Ok(Some(settings))
}

fn registered(context: &DoctorContext<'_>, file: &File, version: Option<ClientVersion>) -> Vec<Check> {
    let own = own_hooks(&file.settings);
    if own.is_empty() {
        return Vec::new();
    }
    let installed = Installed { agent: Agent::CLAUDE_CODE, scope: file.scope, path: &file.path, own: &own };
    // What is shared suits every version; else the version that is there counts, or the one of the installation.
    let expected = match file.scope {
        ScopeName::Project => None,
        ScopeName::User | ScopeName::Local => version.or_else(|| installed.chosen_for(context)),
    };
    let all: Vec<&str> = EVENTS
        .iter()
        .filter(|event| event.registration == Registration::Default && accepts(expected, event.name))
        .map(|event| event.name)
        .collect();
    let wanted = |invocation: &Invocation| {
        // Every form of every event: an entry that an older or newer `install` wrote is as good if the version takes it.
        let names = EVENTS.iter().map(|event| event.name.to_owned()).collect();
        let (hook, home) = (invocation.program.clone(), invocation.home().map(str::to_owned));
        let (client, events, tools) = (None, Some(names), None);
        InstallOptions { hook, home, client, events, tools, status_line: StatusLine::Leave }.in_every_form()
    };
    let mut checks = installed.checks(context, &all, wanted);
    let verifiers = own_verifiers(&file.settings);
    checks.extend(version.map(|version| suits(&installed, &verifiers, version)).into_iter().flatten());
    for own in &own {
        match EVENTS.iter().find(|event| event.name == own.event).map(|event| event.registration) {
            // A registered hook replaces git's own creation of a worktree, and a silent one makes each of them fail.
            Some(Registration::Never) => checks.push(
                check(
                    "forbidden_event",
                    State::Fail,
                    format!("`{}` is registered, which breaks worktrees", own.event),
                )
                .fix("agent-tracer install claude"),
            ),
            // It delays the turn, so it is registered only where the user names it.
            Some(Registration::OptIn) => checks.push(check(
                "opt_in_event",
                State::Info,
                format!("`{}` is registered, which holds up the turn a little", own.event),
            )),
            Some(Registration::Default) => {}
            None => checks.push(check(
                "unknown_event",
                State::Info,
                format!("`{}` is registered, which this version does not know", own.event),
            )),
        }
    }
    checks
}

/// Compares what is registered with what the version accepts that is there now.
fn suits(installed: &Installed<'_>, verifiers: &[OwnHook], version: ClientVersion) -> Vec<Check> {
    let (shown, command) = (installed.path.display(), installed.command());
    let fit = fit(installed.own, verifiers, version);
    let mut checks = Vec::new();
    if !fit.refused.is_empty() {
        let events = fit.refused.join(", ");
        let (state, text) = match range_of(Some(version)).unknown_event {
            // Older versions drop the whole file, with the user's own settings in it, for one name that they do not know.
            UnknownEvent::DropsFile => (
                State::Fail,
                format!("Claude Code {version} ignores all of `{shown}` because it does not know {events}"),
            ),
            UnknownEvent::ShowsDialog => (
                State::Warn,
                format!(
                    "Claude Code {version} shows a warning at each start because it does not know {events}"
                ),
            ),
        };
        checks.push(check("client_events", state, text).fix(command.clone()));
    }
    // The same loss for another reason: a handler of an unknown type.
    if fit.verifiers > 0 {
        let text = format!(
            "Claude Code {version} may ignore all of `{shown}`, because it may not know the hooks that verify rules"
        );
        checks.push(check("client_verifiers", State::Fail, text).fix("agent-tracer policy apply"));
    }
    if !fit.without_arguments.is_empty() {
        let text = format!(
            "Claude Code {version} does not pass `args` to a hook, so nothing is recorded of {}",
            fit.without_arguments.join(", ")
        );
        checks.push(check("client_form", State::Fail, text).fix(command.clone()));
    }
    // Shared settings keep the shell, because some version that reads them may need it.
    if !fit.in_a_shell.is_empty() && installed.scope != ScopeName::Project {
        let text = format!("each event starts a shell, which Claude Code {version} does not need");
        checks.push(check("client_form", State::Info, text).fix(command));
    }
    checks
}

fn has_plugin(settings: &Settings) -> bool {
    let value = settings.value();
    let plugins = value.get("enabledPlugins").and_then(Value::as_object);
    plugins
        .into_iter()
        .flatten()
        .any(|(name, enabled)| name.starts_with("agent-tracer@") && enabled == &Value::Bool(true))
}

/// Returns the setting that keeps all hooks from running, if there is one.
fn in_the_way(file: &File) -> Option<Check> {
    let off = file.settings.value().get("disableAllHooks") == Some(&Value::Bool(true));
    off.then(|| {
        check(
            "disabled",
            State::Fail,
            format!("`disableAllHooks` is set in `{}`: no hook runs", file.path.display()),
        )
        .fix(format!("remove `disableAllHooks` from `{}`", file.path.display()))
    })
}

/// Returns the finding for an administrator's setting that blocks foreign hooks.
fn managed(text: &str) -> Option<Check> {
    let settings = Settings::parse(text).ok()?.value();
    let key = ["allowManagedHooksOnly", "disableAllHooks"]
        .into_iter()
        .find(|key| settings.get(key) == Some(&Value::Bool(true)))?;
    Some(
        check("managed", State::Fail, format!("`{key}` is set in `{MANAGED}`: no hook of ours runs"))
            .fix("ask the administrator of this machine to add the hook there; `agent-tracer install claude --print` is a template"),
    )
}

/// Checks the status line of the file: ours, or a foreign one although ours is connected.
fn line(context: &DoctorContext<'_>, file: &File) -> Option<Check> {
    let (command, ours) = status_line(&file.settings)?;
    if !ours {
        // A status line of the user's is no finding where nothing of ours is installed.
        let connected = !own_hooks(&file.settings).is_empty();
        let text = format!(
            "the status line is your own; cost and context of running sessions are not recorded (`{command}`)"
        );
        return connected.then(|| check("status_line", State::Info, text).fix("agent-tracer install claude"));
    }
    let invocation = Invocation::of_shell(&command)?;
    if invocation.program.contains('/') && !Path::new(&invocation.program).is_file() {
        let text = format!("the status line runs `{}`, which does not exist", invocation.program);
        return Some(check("status_line", State::Fail, text).fix("agent-tracer install claude"));
    }
    let chain = fs::read_to_string(context.home.statusline_conf())
        .ok()
        .and_then(|text| crate::statusline_conf::chain(&text));
    let text = match chain {
        Some(chain) => format!("the status line is ours and runs yours (`{chain}`)"),
        None => "the status line is ours".to_owned(),
    };
    Some(check("status_line", State::Ok, text))
}

/// Checks how long the transcripts stay, which hold details that hooks lack.
fn transcripts(context: &DoctorContext<'_>, read: &[File]) -> Result<Check, Failure> {
    // The last file that says something wins: local over project over user.
    let days = read
        .iter()
        .rev()
        .find_map(|file| file.settings.value().get("cleanupPeriodDays").and_then(Value::as_u64));
    let days = days.unwrap_or(CLEANUP_DAYS_DEFAULT);
    let folder = paths::transcripts(&home_of(Agent::CLAUDE_CODE, context.environment)?);
    let Some(oldest_ms) = oldest_transcript(&folder) else {
        let text = format!("Claude Code deletes transcripts after {days} days; there are none yet");
        return Ok(check("transcripts", State::Info, text));
    };
    let age = context.environment.now().0.saturating_sub(oldest_ms) / DAY_MS;
    let left = days.saturating_sub(u64::try_from(age).unwrap_or(0));
    let text = format!("Claude Code deletes transcripts after {days} days; the oldest has {left} left");
    Ok(if left < DAYS_LEFT_LOW {
        check("transcripts", State::Warn, text).fix(
            "set a higher `cleanupPeriodDays` in the settings of Claude Code; what the server has read stays",
        )
    } else {
        check("transcripts", State::Info, text)
    })
}

/// Returns when the oldest transcript was last written, in milliseconds since the epoch.
fn oldest_transcript(folder: &Path) -> Option<i64> {
    // A project's folder holds the sessions; the folder of a session holds those of its subagents.
    let below = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().collect::<Vec<_>>();
    let sessions = below(folder).into_iter().flat_map(|project| below(&project.path()));
    sessions
        .take(TRANSCRIPTS_MAX)
        .flat_map(|entry| {
            let subagents = below(&entry.path().join("subagents"));
            std::iter::once(entry).chain(subagents)
        })
        .filter(|file| file.path().extension().is_some_and(|ending| ending == "jsonl"))
        .filter_map(|file| file.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok())
        .filter_map(|since| i64::try_from(since.as_millis()).ok())
        .min()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_administrator_who_allows_only_their_own_hooks_is_reported() {
        for text in [r#"{"allowManagedHooksOnly": true}"#, r#"{"disableAllHooks": true, "env": {}}"#] {
            assert_eq!(managed(text).map(|check| check.state), Some(State::Fail), "{text}");
        }
        for text in ["", "no JSON", "{}", r#"{"allowManagedHooksOnly": false}"#] {
            assert!(managed(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_oldest_transcript_may_be_a_subagents() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, days: u64| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            let file = fs::File::create(path).expect("a file");
            file.set_modified(UNIX_EPOCH + Duration::from_secs(days * 86_400)).expect("a time");
        };
        assert_eq!(oldest_transcript(folder.path()), None);
        write("-shop/5a13.jsonl", 20);
        write("-shop/notes.txt", 1);
        assert_eq!(oldest_transcript(folder.path()), Some(20 * DAY_MS));
        write("-shop/5a13/subagents/agent-b.jsonl", 10);
        assert_eq!(oldest_transcript(folder.path()), Some(10 * DAY_MS));
    }
}
