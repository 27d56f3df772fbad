//! Our entries in one settings file, compared with what `install` would write today.

use std::path::Path;

use agent_tracer_agents::ClientVersion;
use agent_tracer_agents::command_line::{HOOK_PROGRAM, Invocation};
use agent_tracer_agents::hooks::{OwnHook, WantedHook};

use super::DoctorContext;
use super::check::{Check, Group, State};
use crate::arguments::ScopeName;
use crate::record::{Installation, Record};
use agent_tracer_event::Agent;

/// A settings file with entries of ours.
pub(crate) struct Installed<'a> {
    pub(crate) agent: Agent,
    pub(crate) scope: ScopeName,
    pub(crate) path: &'a Path,
    pub(crate) own: &'a [OwnHook],
}

impl Installed<'_> {
    fn check(&self, name: &'static str, state: State, text: String) -> Check {
        Check::new(Group::Agent(self.agent), name, state, text)
    }

    /// Returns the command that brings it up to date.
    pub(crate) fn command(&self) -> String {
        match self.scope {
            ScopeName::User => format!("agent-tracer install {}", self.agent.spec().word),
            other => format!("agent-tracer install {} --scope {}", self.agent.spec().word, other.word()),
        }
    }

    /// Looks at completeness, at the binary that is registered, at its home and at the form of the entries.
    pub(crate) fn checks(
        &self,
        context: &DoctorContext<'_>,
        all_events: &[&str],
        wanted: impl Fn(&Invocation) -> Vec<WantedHook>,
    ) -> Vec<Check> {
        let mut checks = vec![self.completeness(context, all_events)];
        checks.extend(self.binary(context));
        checks.extend(self.home(context));
        let outdated: Vec<&str> = self
            .own
            .iter()
            .filter(|own| {
                let mut expected = wanted(&own.invocation);
                expected.retain(|wanted| wanted.event == own.event);
                // A matcher of the user's own choice (`--tools`) is fine; one that the event needs is not theirs to miss.
                let is_one = expected.iter().any(|expected| {
                    expected.handler == own.value
                        && (expected.matcher.is_none() || expected.matcher == own.matcher)
                });
                !expected.is_empty() && !is_one
            })
            .map(|own| own.event.as_str())
            .collect();
        if !outdated.is_empty() {
            let text = format!("registered in an older form: {}", outdated.join(", "));
            checks.push(self.check("form", State::Warn, text).fix(self.command()));
        }
        checks
    }

    fn completeness(&self, context: &DoctorContext<'_>, all: &[&str]) -> Check {
        let shown = self.path.display();
        let has = |event: &str| self.own.iter().any(|own| own.event == event);
        let missing: Vec<&str> = all.iter().copied().filter(|event| !has(event)).collect();
        let present = all.len() - missing.len();
        if missing.is_empty() {
            return self.check(
                "hooks",
                State::Ok,
                format!("all {present} events are registered in `{shown}`"),
            );
        }
        let text = format!("{present} of {} events are registered in `{shown}`", all.len());
        let chosen = self.known(context).and_then(|known| known.events);
        // Of the chosen ones, those count that the version has.
        if let Some(chosen) = chosen
            && chosen.iter().filter(|event| all.contains(&event.as_str())).all(|event| has(event))
        {
            return self.check("hooks", State::Info, format!("{text}, as chosen with `--events`"));
        }
        self.check("hooks", State::Warn, format!("{text}; missing: {}", missing.join(", ")))
            .fix(self.command())
    }

    fn known(&self, context: &DoctorContext<'_>) -> Option<Installation> {
        let file = self.path.canonicalize().unwrap_or_else(|_| self.path.to_owned());
        Record::load(&context.home).0.of(&file).cloned()
    }

    /// Returns the version of the agent that `install` chose the entries for, if it knew one.
    pub(crate) fn chosen_for(&self, context: &DoctorContext<'_>) -> Option<ClientVersion> {
        self.known(context)?.client.as_deref().and_then(ClientVersion::parse)
    }

    fn binary(&self, context: &DoctorContext<'_>) -> Option<Check> {
        let ours = context.environment.hook();
        let mut programs: Vec<&str> = self.own.iter().map(|own| own.invocation.program.as_str()).collect();
        programs.sort_unstable();
        programs.dedup();
        for program in programs {
            let path = if program == HOOK_PROGRAM {
                match context.environment.on_path(program) {
                    Some(path) => path,
                    None => {
                        let text = format!("`{program}` is registered by name, but it is not on the `PATH`");
                        return Some(self.check("hook_path", State::Fail, text).fix(self.command()));
                    }
                }
            } else {
                Path::new(program).to_owned()
            };
            if !path.is_file() {
                let text = format!("the registered hook `{program}` does not exist");
                return Some(self.check("hook_path", State::Fail, text).fix(self.command()));
            }
            let same = path.canonicalize().ok() == ours.canonicalize().ok();
            if !same {
                let text =
                    format!("the registered hook is `{}`, not the one beside this program", path.display());
                return Some(self.check("hook_path", State::Warn, text).fix(self.command()));
            }
        }
        None
    }

    fn home(&self, context: &DoctorContext<'_>) -> Option<Check> {
        let registered = self.own.iter().find_map(|own| own.invocation.home());
        let expected = (!context.default_home).then(|| context.home.data());
        // Without a word about it the hook obeys the variable, which is this home if it is set here.
        let named_by_variable = context.environment.variable("AGENT_TRACER_HOME").is_some();
        if registered.map(Path::new) == expected || (registered.is_none() && named_by_variable) {
            return None;
        }
        let (text, fix) = match registered {
            Some(home) => (
                format!("events go to `{home}`, not to the home of this report"),
                format!("agent-tracer doctor --home '{home}'"),
            ),
            None => (
                "events go to the default home, not to the one of this report".to_owned(),
                "agent-tracer doctor".to_owned(),
            ),
        };
        Some(self.check("hook_home", State::Warn, text).fix(format!("{fix}\n{}", self.command())))
    }
}
