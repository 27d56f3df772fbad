//! Hooks by which an agent asks a model about criteria of rules, as the user's own rule file requires them.
//!
//! Law: only the user's own rules are written into the user's settings, only where we are installed, and only handlers
//! that bear our mark are ever changed or removed. Rules that cannot be read take nothing away.

use agent_tracer_agents::ClientVersion;
use agent_tracer_agents::hooks::{OwnHook, WantedHook, verified_rule};
use agent_tracer_agents::settings::Settings;
use agent_tracer_agents::setup::{self, Verifiers};
use agent_tracer_policy::daemon::Rules;
use agent_tracer_spool::Home;
use serde_json::Value;

use crate::arguments::ScopeName;
use crate::clients;
use crate::commands::install;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::files;
use crate::output::Output;
use crate::record::Record;
use crate::target::Target;
use agent_tracer_event::Agent;

/// An agent that asks a model, with the rules that it has to ask about.
struct Asker {
    agent: Agent,
    verifiers: &'static dyn Verifiers,
    wanted: Vec<WantedHook>,
}

/// The user's settings of such an agent.
struct AskerSettings {
    target: Target,
    /// Is `true` if we are installed there.
    is_installed: bool,
    /// The verifiers of ours that stand there.
    there: Vec<OwnHook>,
}

/// Returns the agents that ask a model, each with the hooks that the user's own rules need. Rules that cannot be read
/// need nothing, and take nothing away.
fn askers(home: &Home) -> Result<Vec<Asker>, Failure> {
    let rules = Rules::find(&home.policy_file())?;
    let asked: Vec<_> = match rules.as_ref().map(|rules| &rules.content) {
        Some(Ok(file)) => file.rules.iter().filter_map(agent_tracer_policy::Rule::verifier).collect(),
        Some(Err(_)) => return Ok(Vec::new()),
        None => Vec::new(),
    };
    let askers = Agent::rows().filter_map(|agent| {
        let verifiers = setup::of(agent)?.verifiers()?;
        let wanted = asked.iter().map(|(kind, text)| verifiers.verifier(kind.as_str(), text)).collect();
        Some(Asker { agent, verifiers, wanted })
    });
    Ok(askers.collect())
}

impl Asker {
    fn settings(&self, environment: &Environment) -> Result<AskerSettings, Failure> {
        let target = Target::of(self.agent, ScopeName::User, environment)?;
        let file = files::find(&target.path)?;
        let text = file.text()?;
        let settings = Settings::parse(text).map_err(|error| target.refused(&error))?;
        let is_installed = target.has_own_entries(text);
        Ok(AskerSettings { target, is_installed, there: self.verifiers.own(&settings) })
    }

    /// Returns a line for each hook in the settings that differs from what the rules need.
    fn differences(&self, found: &AskerSettings) -> Vec<String> {
        let place = found.target.path.display();
        let mut lines = Vec::new();
        for hook in &self.wanted {
            if !found.there.iter().any(|own| own.value == hook.handler && own.event == hook.event) {
                let rule = rule_of(&hook.handler);
                lines.push(format!("the hook that verifies rule `{rule}` is not in `{place}`"));
            }
        }
        for own in &found.there {
            if !self.wanted.iter().any(|hook| own.value == hook.handler && own.event == hook.event) {
                let rule = rule_of(&own.value);
                lines.push(format!("the hook in `{place}` verifies an older form of rule `{rule}`"));
            }
        }
        if !lines.is_empty() {
            let word = self.agent.spec().word;
            lines.push(if found.is_installed {
                "hint: run `agent-tracer policy apply`".to_owned()
            } else {
                format!("hint: run `agent-tracer install {word}`, then `agent-tracer policy apply`")
            });
        }
        lines
    }

    fn refused(&self, client: Option<ClientVersion>) -> Failure {
        let rules: Vec<String> =
            self.wanted.iter().map(|hook| format!("`{}`", rule_of(&hook.handler))).collect();
        let (rules, first) = (rules.join(", "), self.verifiers.first_version());
        let (name, word) = (self.agent.name(), self.agent.spec().word);
        match client {
            Some(client) => Failure::new(format!(
                "{name} {client} may ignore all of its settings for the hooks that verify {rules}"
            ))
            .hint(format!("update {name} to {first} or later, then run `agent-tracer policy apply` again")),
            None => Failure::new(format!(
                "cannot write the hooks that verify {rules}: the version of {name} is not known"
            ))
            .hint(format!(
                "run `agent-tracer install {word} --client-version VERSION` ({first} or later), then `agent-tracer policy apply`"
            )),
        }
    }

    fn apply(&self, home: &Home, environment: &Environment, output: &mut Output) -> Result<(), Failure> {
        let found = match self.settings(environment) {
            Ok(found) => found,
            // An unreadable file needs no hooks.
            Err(_) if self.wanted.is_empty() => return Ok(()),
            Err(failure) => return Err(failure),
        };
        if self.wanted.is_empty() && found.there.is_empty() {
            return Ok(());
        }
        if !found.is_installed {
            return self.differences(&found).iter().try_for_each(|line| output.say(line));
        }
        let client = client(&found.target, home, environment);
        let write =
            |wanted: &[WantedHook]| install::verify(&found.target, self.verifiers, wanted, home, environment);
        if !self.wanted.is_empty() && !self.verifiers.accepts(client) {
            // What an older client was given before goes too: it may cost the user the whole file.
            write(&[])?;
            return Err(self.refused(client));
        }
        if !write(&self.wanted)?.is_empty() {
            output.say(&format!(
                "{} verifies {} now (`{}`)",
                self.agent.name(),
                super::check::counted(self.wanted.len(), "rule"),
                found.target.path.display()
            ))?;
        }
        Ok(())
    }
}

fn rule_of(handler: &Value) -> &str {
    handler.get("prompt").and_then(Value::as_str).and_then(verified_rule).unwrap_or("?")
}

/// Returns a line for each hook in the settings that differs from what the rules need.
pub(super) fn differences(home: &Home, environment: &Environment) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    for asker in askers(home)? {
        // Settings that cannot be read are the matter of `doctor`.
        if let Ok(found) = asker.settings(environment) {
            lines.extend(asker.differences(&found));
        }
    }
    Ok(lines)
}

/// Returns the version that has to accept the hooks: the oldest client here, else the one the settings were chosen for.
fn client(target: &Target, home: &Home, environment: &Environment) -> Option<ClientVersion> {
    let chosen = || {
        let file = files::find(&target.path).ok()?.target;
        Record::load(home).0.of(&file)?.client.as_deref().and_then(ClientVersion::parse)
    };
    clients::oldest(&clients::ask(target.agent, environment)).or_else(chosen)
}

/// Writes the hooks that the rules want, and takes away those that they do not.
pub(super) fn apply(home: &Home, environment: &Environment, output: &mut Output) -> Result<(), Failure> {
    askers(home)?.iter().try_for_each(|asker| asker.apply(home, environment, output))
}
