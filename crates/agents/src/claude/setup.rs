//! Claude Code's settings, behind the door that all agents have.

use std::path::PathBuf;

use serde_json::Value;

use super::events::{self, EVENTS, Registration, TOOLS};
use super::install::{self, InstallOptions};
use super::paths;
use super::session;
use super::versions::{self, Fit, UnknownEvent, VERIFIERS_FROM, fit, range_of};
use crate::client_version::ClientVersion;
use crate::hooks::{OwnHook, Undo, WantedHook, own_hooks, own_table, own_verifiers};
use crate::settings::{Settings, SettingsError};
use crate::setup::{
    Drift, Installed, Places, Plan, RefusedEvent, Request, Scope, SessionRequest, SessionStart, Setup,
    StatusLine, Template, Trial, TrialError, TrialValue, Verifiers,
};

/// The door to the settings.
pub(super) struct ClaudeSetup;

fn options(request: &Request) -> InstallOptions {
    let Request { hook, home, client, events, tools, status_line } = request.clone();
    InstallOptions { hook, home, client, events, tools, status_line }
}

impl Setup for ClaudeSetup {
    fn settings(&self, scope: Scope, places: &Places<'_>) -> Option<PathBuf> {
        Some(paths::settings(places.home, places.directory, scope))
    }

    fn events(&self) -> Vec<&'static str> {
        let possible = EVENTS.iter().filter(|event| event.registration != Registration::Never);
        possible.map(|event| event.name).collect()
    }

    fn refused_event(&self, event: &str) -> Option<RefusedEvent> {
        let is_refused = events::find(event).is_some_and(|it| it.registration == Registration::Never);
        is_refused.then_some(RefusedEvent {
            reason: "a hook that only looks on would break worktrees",
            hint: "remove it; only transcripts report the same",
        })
    }

    fn tools(&self) -> &'static [&'static str] {
        &TOOLS
    }

    fn hooks(&self, request: &Request) -> Vec<WantedHook> {
        options(request).hooks()
    }

    fn earlier_hooks(&self, request: &Request) -> Vec<WantedHook> {
        let names = EVENTS.iter().map(|event| event.name.to_owned()).collect();
        let every = InstallOptions { client: None, events: Some(names), ..options(request) };
        InstallOptions { tools: None, status_line: StatusLine::Leave, ..every }.in_every_form()
    }

    fn left_out(&self, request: &Request) -> Vec<&'static str> {
        options(request).left_out()
    }

    fn plan(&self, text: &str, request: &Request, undo: Undo) -> Result<Plan, SettingsError> {
        install::plan(text, &options(request), undo)
    }

    fn withdraw(&self, text: &str, undo: &Undo, chained: Option<&str>) -> Result<Plan, SettingsError> {
        install::withdraw(text, undo, chained)
    }

    fn status_line(&self, text: &str) -> Option<(String, bool)> {
        install::status_line(&Settings::parse(text).ok()?)
    }

    fn template(&self, request: &Request) -> Template {
        let Request { client, events, tools, .. } = request.clone();
        let text = format!("{:#}\n", install::template(client, events, tools));
        Template { text, file: ".claude/settings.json", also: "" }
    }

    fn oldest_driven(&self) -> Option<ClientVersion> {
        Some(versions::OLDEST_DRIVEN)
    }

    fn ignores_unknown_events(&self) -> bool {
        false
    }

    fn calls(&self, client: ClientVersion, event: &str) -> bool {
        versions::accepts(Some(client), event)
    }

    fn program_places(&self) -> &'static [&'static str] {
        &[".local/bin/claude", ".claude/local/claude"]
    }

    fn advice(&self, installed: &Installed<'_>) -> Vec<String> {
        let mut lines = Vec::new();
        let Ok(settings) = Settings::parse(installed.text) else { return lines };
        if settings.value().get("disableAllHooks") == Some(&Value::Bool(true)) {
            let path = installed.path.display();
            lines.push(format!("warning: `disableAllHooks` is set in `{path}`, so no hook runs"));
            lines.push("hint: remove it, or nothing is recorded".to_owned());
        }
        if own_hooks(&settings).iter().any(|own| own.event == "MessageDisplay") {
            lines.push("note: `MessageDisplay` holds up the turn for as long as the hook runs".to_owned());
        }
        let when = if installed.is_ignored { "once it is corrected, new" } else { "new" };
        lines.push(format!("{when} sessions are recorded; run `agent-tracer doctor` to check the setup"));
        lines
    }

    fn drift(&self, drift: &Drift<'_>) -> Option<String> {
        let settings = Settings::parse(drift.text).ok()?;
        let fit = fit(&own_hooks(&settings), &own_verifiers(&settings), drift.seen);
        // An event that `install` left out although this version was in use is no fault: it chose for an older one
        // beside it.
        let was_here = drift.installed_at.is_some_and(|installed| installed > drift.since);
        problem(&fit, drift, drift.may_lack_events || was_here)
    }

    fn trial(&self, own: &[OwnHook], base: &str, _version: ClientVersion) -> Result<Trial, TrialError> {
        let text = |text: &str| TrialValue::Text(text.to_owned());
        Ok(Trial {
            files: vec![("settings.json", own_table(own).to_string())],
            arguments: ["-p", "Say hello."].map(str::to_owned).to_vec(),
            variables: vec![
                ("CLAUDE_CODE_TMPDIR", TrialValue::WorkFolder),
                ("ANTHROPIC_BASE_URL", text(base)),
                ("ANTHROPIC_API_KEY", text("not-a-key")),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", text("1")),
                ("DISABLE_AUTOUPDATER", text("1")),
                ("DISABLE_TELEMETRY", text("1")),
                ("DISABLE_ERROR_REPORTING", text("1")),
            ],
        })
    }

    fn session(&self, session: &SessionRequest<'_>) -> Option<SessionStart> {
        Some(session::start(&options(session.request).hooks(), session))
    }

    fn verifiers(&self) -> Option<&'static dyn Verifiers> {
        Some(&ClaudeVerifiers)
    }
}

struct ClaudeVerifiers;

impl Verifiers for ClaudeVerifiers {
    fn verifier(&self, kind: &str, text: &str) -> WantedHook {
        install::verifier(kind, text)
    }

    fn own(&self, settings: &Settings) -> Vec<OwnHook> {
        own_verifiers(settings)
    }

    fn plan(&self, text: &str, wanted: &[WantedHook], undo: Undo) -> Result<Plan, SettingsError> {
        install::verify(text, wanted, undo)
    }

    fn first_version(&self) -> ClientVersion {
        VERIFIERS_FROM
    }
}

/// Returns the worst that a version does to these settings.
fn problem(fit: &Fit, drift: &Drift<'_>, may_miss: bool) -> Option<String> {
    let (file, seen) = (drift.path.display(), drift.seen);
    let harm = if !fit.refused.is_empty() {
        let events = fit.refused.join(", ");
        match range_of(Some(seen)).unknown_event {
            UnknownEvent::DropsFile => format!("ignores all of `{file}` because it does not know {events}"),
            UnknownEvent::ShowsDialog => {
                format!("shows a warning at each start because it does not know {events}")
            }
        }
    } else if fit.verifiers > 0 {
        return Some(format!(
            "Claude Code is {seen} now and may ignore all of `{file}`, because it may not know the hooks that verify rules\n\
             hint: update Claude Code, or run `agent-tracer policy apply`, which takes them away"
        ));
    } else if !fit.without_arguments.is_empty() {
        "does not pass `args` to a hook, so nothing is recorded by hooks".to_owned()
    } else if !fit.missing.is_empty() && !may_miss {
        return Some(format!(
            "Claude Code is {seen} now and has events that are not registered: {}\n\
             hint: run `agent-tracer install claude` again; if an older one is here too, which then decides, \
             `--client-version {seen}` chooses for this one",
            fit.missing.join(", ")
        ));
    } else {
        return None;
    };
    Some(format!("Claude Code is {seen} now and {harm}\nhint: run `agent-tracer install claude` again"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use agent_tracer_event::Millis;

    use super::*;

    #[test]
    fn the_worst_is_said_first_and_with_the_way_out() {
        let fit = Fit {
            refused: vec!["PreModelSwitch"],
            without_arguments: vec!["Stop"],
            missing: vec!["Setup"],
            in_a_shell: Vec::new(),
            verifiers: 0,
        };
        let said = |fit: &Fit, seen, may_miss| {
            let drift = Drift {
                seen: ClientVersion::parse(seen).expect("a version"),
                since: Millis(0),
                path: Path::new("/home/dev/.claude/settings.json"),
                text: "",
                chosen_for: None,
                installed_at: None,
                may_lack_events: may_miss,
            };
            problem(fit, &drift, may_miss)
        };
        assert_eq!(
            said(&fit, "2.1.100", false).as_deref(),
            Some(
                "Claude Code is 2.1.100 now and ignores all of `/home/dev/.claude/settings.json` because it does not \
                 know PreModelSwitch\nhint: run `agent-tracer install claude` again"
            )
        );
        assert!(
            said(&fit, "2.1.250", false).is_some_and(|text| text.contains("shows a warning at each start"))
        );
        let without_arguments = Fit { refused: Vec::new(), ..fit.clone() };
        assert!(
            said(&without_arguments, "2.1.138", false)
                .is_some_and(|text| text.contains("nothing is recorded"))
        );
        let missing = Fit { without_arguments: Vec::new(), ..without_arguments };
        assert!(said(&missing, "2.1.326", false).is_some_and(|text| text.contains("not registered: Setup")));
        assert!(
            said(&missing, "2.1.326", false).is_some_and(|text| text.contains("--client-version 2.1.326"))
        );
        assert_eq!(said(&missing, "2.1.326", true), None, "what was left out on purpose is no fault");
        assert_eq!(said(&Fit::default(), "2.1.326", false), None);
        let verifies = Fit { verifiers: 1, ..Fit::default() };
        assert!(said(&verifies, "2.1.100", true).is_some_and(|text| text.contains("policy apply")));
    }
}
