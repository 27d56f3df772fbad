//! Hooks of Claude Code that verify criteria of rules, as the user's own rule file requires them.
//!
//! Law: only the user's own rules are written into the user's settings, only where we are installed, and only handlers
//! that bear our mark are ever changed or removed. Rules that cannot be read take nothing away.

use agent_tracer_agents::ClientVersion;
use agent_tracer_agents::claude::install::verifier;
use agent_tracer_agents::claude::versions::{VERIFIERS_FROM, accepts_verifiers};
use agent_tracer_agents::hooks::{OwnHook, WantedHook, own_verifiers, verified_rule};
use agent_tracer_agents::settings::Settings;
use agent_tracer_policy::daemon::Rules;
use agent_tracer_spool::Home;
use serde_json::Value;

use crate::arguments::ScopeName;
use crate::clients;
use crate::commands::install;
use crate::commands::target::{self, Target};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::files;
use crate::output::Output;
use crate::record::Record;
use agent_tracer_event::Agent;

/// Returns the hooks that the user's own rules need, or `None` if the rules cannot be read.
fn required_hooks(home: &Home) -> Result<Option<Vec<WantedHook>>, Failure> {
    let Some(rules) = Rules::find(&home.policy_file())? else { return Ok(Some(Vec::new())) };
    let Ok(file) = &rules.content else { return Ok(None) };
    let asked = file.rules.iter().filter_map(agent_tracer_policy::Rule::verifier);
    Ok(Some(asked.map(|(kind, text)| verifier(kind.as_str(), &text)).collect()))
}

/// The user's settings of Claude Code: whether we are installed there, and which verifiers of ours they hold.
fn found(environment: &Environment) -> Result<(Target, bool, Vec<OwnHook>), Failure> {
    let target = Target::of(Agent::CLAUDE_CODE, ScopeName::User, environment)?;
    let file = files::find(&target.path)?;
    let text = file.text()?;
    let settings = Settings::parse(text).map_err(|error| target.refused(&error))?;
    let is_installed = !target::own_entries(text).is_empty();
    Ok((target, is_installed, own_verifiers(&settings)))
}

fn rule_of(handler: &Value) -> &str {
    handler.get("prompt").and_then(Value::as_str).and_then(verified_rule).unwrap_or("?")
}

/// Says where the hooks in the settings are not those that the rules want.
pub(super) fn differences(home: &Home, environment: &Environment) -> Result<Vec<String>, Failure> {
    let Some(wanted) = required_hooks(home)? else { return Ok(Vec::new()) };
    // Settings that cannot be read are the matter of `doctor`.
    let Ok((target, is_installed, there)) = found(environment) else { return Ok(Vec::new()) };
    let place = target.path.display();
    let mut lines = Vec::new();
    for hook in &wanted {
        if !there.iter().any(|own| own.value == hook.handler && own.event == hook.event) {
            let rule = rule_of(&hook.handler);
            lines.push(format!("the hook that verifies rule `{rule}` is not in `{place}`"));
        }
    }
    for own in &there {
        if !wanted.iter().any(|hook| own.value == hook.handler && own.event == hook.event) {
            let rule = rule_of(&own.value);
            lines.push(format!("a hook in `{place}` verifies rule `{rule}` as it is no longer"));
        }
    }
    if !lines.is_empty() {
        let hint = if is_installed {
            "hint: run `agent-tracer policy apply`"
        } else {
            "hint: run `agent-tracer install claude`, then `agent-tracer policy apply`"
        };
        lines.push(hint.to_owned());
    }
    Ok(lines)
}

/// The version that has to accept the hooks: the oldest client here, else the one that the settings were chosen for.
fn client(target: &Target, home: &Home, environment: &Environment) -> Option<ClientVersion> {
    let chosen = || {
        let file = files::find(&target.path).ok()?.target;
        Record::load(home).0.of(&file)?.client.as_deref().and_then(ClientVersion::parse)
    };
    clients::oldest(&clients::ask(target.agent, environment)).or_else(chosen)
}

fn refused(client: Option<ClientVersion>, wanted: &[WantedHook]) -> Failure {
    let rules: Vec<String> = wanted.iter().map(|hook| format!("`{}`", rule_of(&hook.handler))).collect();
    let (rules, first) = (rules.join(", "), VERIFIERS_FROM);
    match client {
        Some(client) => Failure::new(format!(
            "Claude Code {client} may ignore all of its settings for the hooks that verify {rules}"
        ))
        .hint(format!("update Claude Code to {first} or later, then run `agent-tracer policy apply` again")),
        None => Failure::new(format!(
            "cannot write the hooks that verify {rules}: the version of Claude Code is not known"
        ))
        .hint(format!(
            "run `agent-tracer install claude --client-version VERSION` ({first} or later), then `agent-tracer policy apply`"
        )),
    }
}

/// Writes the hooks that the rules want, and takes away those that they do not.
pub(super) fn apply(home: &Home, environment: &Environment, output: &mut Output) -> Result<(), Failure> {
    let Some(wanted) = required_hooks(home)? else { return Ok(()) };
    let (target, is_installed, there) = match found(environment) {
        Ok(found) => found,
        // An unreadable file needs no hooks.
        Err(_) if wanted.is_empty() => return Ok(()),
        Err(failure) => return Err(failure),
    };
    if wanted.is_empty() && there.is_empty() {
        return Ok(());
    }
    if !is_installed {
        for line in differences(home, environment)? {
            output.say(&line)?;
        }
        return Ok(());
    }
    let client = client(&target, home, environment);
    if !wanted.is_empty() && !accepts_verifiers(client) {
        // What an older client was given before goes too: it may cost the user the whole file.
        install::verify(&target, &[], home, environment)?;
        return Err(refused(client, &wanted));
    }
    let changes = install::verify(&target, &wanted, home, environment)?;
    if !changes.is_empty() {
        output.say(&format!(
            "Claude Code verifies {} now (`{}`)",
            super::check::counted(wanted.len(), "rule"),
            target.path.display()
        ))?;
    }
    Ok(())
}
