//! Writes the report of `install`: the change as a diff, the steps done, and the steps left to the user.

use std::path::Path;

use agent_tracer_agents::claude::install::StatusLineChange;
use agent_tracer_agents::command_line::Invocation;
use agent_tracer_agents::hooks::own_hooks;
use agent_tracer_agents::settings::Settings;
use agent_tracer_agents::{ClientVersion, codex};
use similar::TextDiff;

use crate::clients::InstalledClient;
use crate::commands::target::{Change, Target};
use crate::failure::Failure;
use crate::output::Output;
use crate::proof::Proof;
use agent_tracer_event::Agent;

/// Prints the change of a file as a unified diff; nothing if there is none.
pub(in crate::commands) fn difference(
    path: &Path,
    before: &str,
    after: &str,
    output: &mut Output,
) -> Result<(), Failure> {
    let name = path.display().to_string();
    let difference = TextDiff::from_lines(before, after);
    output.data(&difference.unified_diff().context_radius(3).header(&name, &name).to_string())
}

/// Says what a real run would do.
pub(super) fn planned(target: &Target, change: &Change, output: &mut Output) -> Result<(), Failure> {
    let changes = &change.changes;
    let nothing = changes.is_empty()
        && matches!(change.status_line, StatusLineChange::Untouched | StatusLineChange::LeftAlone);
    if nothing {
        return output.say(&format!("already installed in `{}`", target.path.display()));
    }
    output.say(&format!("would change `{}`: {}; nothing was written", target.path.display(), summary(change)))
}

/// Says what was done.
pub(super) fn installed(
    target: &Target,
    change: &Change,
    unchanged: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    let path = target.path.display();
    if unchanged {
        return output.say(&format!("already installed in `{path}`"));
    }
    output.say(&format!("{} is connected: {} in `{path}`", target.agent.name(), summary(change)))?;
    match &change.status_line {
        StatusLineChange::Chained(command) => {
            output.say(&format!("your status line stays: ours runs `{command}` and prints below it"))?;
        }
        StatusLineChange::LeftAlone => output.say("your status line is unchanged: it cannot be chained")?,
        StatusLineChange::Untouched
        | StatusLineChange::Added
        | StatusLineChange::Updated
        | StatusLineChange::Restored => {}
    }
    shifted(target.agent, change, output)
}

/// Says when the events go to another home than before.
pub(super) fn moved_home(
    before: &[Invocation],
    now: Option<&Path>,
    output: &mut Output,
) -> Result<(), Failure> {
    let Some(first) = before.first() else { return Ok(()) };
    if first.home().map(Path::new) == now {
        return Ok(());
    }
    let name = |home: Option<&Path>| match home {
        Some(home) => format!("`{}`", home.display()),
        None => "the default home".to_owned(),
    };
    output.say(&format!(
        "note: until now events went to {}, from now on to {}",
        name(first.home().map(Path::new)),
        name(now)
    ))
}

/// Warns about events that will arrive twice.
pub(super) fn other_ways(target: &Target, ways: &[String], output: &mut Output) -> Result<(), Failure> {
    if ways.is_empty() {
        return Ok(());
    }
    output.say(&format!(
        "warning: {} is connected by {} already, so every event will count twice",
        target.agent.name(),
        ways.join(" and ")
    ))?;
    output.say("hint: keep one of them, and disconnect the others")
}

/// Warns about foreign hooks of Codex with a new number, which voids their trust.
pub(in crate::commands) fn shifted(
    agent: Agent,
    change: &Change,
    output: &mut Output,
) -> Result<(), Failure> {
    if agent != Agent::CODEX || change.changes.shifted.is_empty() {
        return Ok(());
    }
    output.say(&format!(
        "warning: other hooks stood behind ours and have a new number now, so Codex asks you to review them again: {}",
        change.changes.shifted.join(", ")
    ))
}

/// Says whether the agent called the hook when it was tried.
pub(super) fn proof(
    agent: Agent,
    client: &InstalledClient,
    proof: &Proof,
    output: &mut Output,
) -> Result<(), Failure> {
    let title = agent.name();
    let version = client.version.map(|version| format!(" {version}")).unwrap_or_default();
    match proof {
        Proof::Called(events) => {
            output.say(&format!("verified: {title}{version} called the hook ({})", events.join(", ")))
        }
        Proof::NotCalled(said) => {
            let said = said.as_ref().map(|line| format!("; it said `{line}`")).unwrap_or_default();
            output.say(&format!("warning: {title}{version} was started and did not call the hook{said}"))?;
            output.say("hint: run `agent-tracer doctor` to find the cause")
        }
        Proof::NotTried(why) => output.say(&format!("note: {title}{version} could not be started: {why}")),
    }
}

/// Says what is left to do, or in the way.
pub(super) fn advice(
    target: &Target,
    client: Option<ClientVersion>,
    settings: &Settings,
    output: &mut Output,
) -> Result<(), Failure> {
    let ignored = target.unreadable_for_agent(settings);
    if let Some(why) = &ignored {
        output.say(&format!(
            "warning: {} ignores all of `{}` because of {why}",
            target.agent.name(),
            target.path.display()
        ))?;
        output.say("hint: Claude Code reads plain JSON only; correct the file, no other step is needed")?;
    }
    match target.agent {
        Agent::CLAUDE_CODE => {
            if settings.value().get("disableAllHooks") == Some(&serde_json::Value::Bool(true)) {
                output.say(&format!(
                    "warning: `disableAllHooks` is set in `{}`, so no hook runs",
                    target.path.display()
                ))?;
                output.say("hint: remove it, or nothing is recorded")?;
            }
            let displayed = own_hooks(settings).iter().any(|own| own.event == "MessageDisplay");
            if displayed {
                output.say("note: `MessageDisplay` holds up the turn for as long as the hook runs")?;
            }
            let when = if ignored.is_some() { "once it is corrected, new" } else { "new" };
            output.say(&format!("{when} sessions are recorded; run `agent-tracer doctor` to check the setup"))
        }
        Agent::CODEX if client.is_some_and(|client| !codex::versions::asks_for_trust(client)) => {
            output.say("new sessions are recorded; run `agent-tracer doctor` to check the setup")
        }
        _ => {
            output.say(
                "next step: start `codex` in a terminal and accept the hooks under \"Hooks need review\"",
            )?;
            output.say("until then Codex does not run them, and `codex exec` prints no warning")?;
            output.say("run `agent-tracer doctor` to see which are trusted")
        }
    }
}

/// Says what a template is for. To standard error: standard output is the template.
pub(super) fn template(agent: Agent, output: &mut Output) -> Result<(), Failure> {
    let (file, also) = match agent {
        Agent::CLAUDE_CODE => (".claude/settings.json", ""),
        _ => (".codex/hooks.json", ", and reviews the hooks in Codex"),
    };
    output.say(&format!("hint: put this into the project's `{file}`"))?;
    output.say(&format!("hint: every team member needs `agent-tracer-hook` on the `PATH`{also}"))
}

fn summary(change: &Change) -> String {
    let events = |count: usize| if count == 1 { "1 event".to_owned() } else { format!("{count} events") };
    let changes = &change.changes;
    let mut parts = Vec::new();
    for (list, verb) in [
        (&changes.added, "registered"),
        (&changes.updated, "brought up to date"),
        (&changes.removed, "removed"),
    ] {
        if !list.is_empty() {
            parts.push(format!("{} {verb}", events(list.len())));
        }
    }
    match change.status_line {
        StatusLineChange::Added | StatusLineChange::Chained(_) => parts.push("status line added".to_owned()),
        StatusLineChange::Updated => parts.push("status line brought up to date".to_owned()),
        StatusLineChange::Untouched | StatusLineChange::LeftAlone | StatusLineChange::Restored => {}
    }
    if parts.is_empty() { "nothing to change".to_owned() } else { parts.join(", ") }
}
