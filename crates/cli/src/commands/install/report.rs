//! Writes the report of `install`: the change as a diff, the steps done, and the steps left to the user.

use std::path::Path;

use agent_tracer_agents::ClientVersion;
use agent_tracer_agents::command_line::Invocation;
use agent_tracer_agents::setup::{Installed, Plan, StatusLineChange, Template};
use similar::TextDiff;

use crate::clients::InstalledClient;
use crate::failure::Failure;
use crate::output::Output;
use crate::proof::Proof;
use crate::target::Target;
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

/// Prints what a real run would do.
pub(super) fn planned(target: &Target, change: &Plan, output: &mut Output) -> Result<(), Failure> {
    let changes = &change.changes;
    let nothing = changes.is_empty()
        && matches!(change.status_line, StatusLineChange::Untouched | StatusLineChange::LeftAlone);
    if nothing {
        return output.say(&format!("already installed in `{}`", target.path.display()));
    }
    output.say(&format!("would change `{}`: {}; nothing was written", target.path.display(), summary(change)))
}

/// Prints what was done.
pub(super) fn installed(
    target: &Target,
    change: &Plan,
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
    shifted(target, change, output)
}

/// Prints a note when the events go to another home than before.
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

/// Warns about foreign hooks whose place in the file has changed, where that matters to the agent.
pub(in crate::commands) fn shifted(
    target: &Target,
    change: &Plan,
    output: &mut Output,
) -> Result<(), Failure> {
    target.setup.shifted_note(&change.changes).map_or(Ok(()), |note| output.say(&note))
}

/// Prints whether the agent called the hook in a trial.
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
            let said = said.as_ref().map(|line| format!("; it printed `{line}`")).unwrap_or_default();
            output.say(&format!("warning: {title}{version} was started and did not call the hook{said}"))?;
            output.say("hint: run `agent-tracer doctor` to find the cause")
        }
        Proof::NotTried(failure) => {
            output.say(&format!("note: {title}{version} could not be tried: {}", failure.message()))
        }
    }
}

/// Prints what is left to do, or in the way.
pub(super) fn advice(
    target: &Target,
    client: Option<ClientVersion>,
    text: &str,
    output: &mut Output,
) -> Result<(), Failure> {
    let (name, path) = (target.agent.name(), target.path.as_path());
    let ignored = target.setup.ignored_because(text);
    if let Some(why) = &ignored {
        output.say(&format!("warning: {name} ignores all of `{}` because of {why}", path.display()))?;
        output
            .say(&format!("hint: {name} reads plain JSON only; correct the file, no other step is needed"))?;
    }
    let installed = Installed { path, text, client, is_ignored: ignored.is_some() };
    target.setup.advice(&installed).iter().try_for_each(|line| output.say(line))
}

/// Prints what a template is for, to standard error: standard output is the template.
pub(super) fn template(template: &Template, output: &mut Output) -> Result<(), Failure> {
    output.say(&format!("hint: put this into the project's `{}`", template.file))?;
    output.say(&format!("hint: every team member needs `agent-tracer-hook` on the `PATH`{}", template.also))
}

fn summary(change: &Plan) -> String {
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
