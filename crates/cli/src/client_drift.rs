//! Whether the agents are still of the version that the settings were chosen for: their sessions say which they are.
//!
//! An upgrade brings events that are not registered yet, and a downgrade may drop the user's settings for ours. The
//! server looks at the newest sessions and at the settings themselves, and says so where its health is asked.
//!
//! Law: nothing is written, and no client is started.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use agent_tracer_agents::claude::versions::{Fit, UnknownEvent, fit, range_of};
use agent_tracer_agents::hooks::own_hooks;
use agent_tracer_agents::settings::Settings;
use agent_tracer_agents::{ClientVersion, codex};
use agent_tracer_event::{Agent, Millis};
use agent_tracer_intake::{Clock, Notes, Stop};
use agent_tracer_ledger::{Paging, Store, TaskFilter};
use agent_tracer_spool::Home;

use crate::failure::Failure;
use crate::files;
use crate::record::{Installation, Record};
use crate::rounds::Rounds;

/// How often the server looks.
const EVERY: Duration = Duration::from_secs(60);
/// Sessions that are older than this say nothing about what is installed now.
const RECENT_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// How many of the newest sessions are looked at. The first ones may not have said their version yet.
const SESSIONS_MAX: u32 = 20;

/// What was found at the last look, for those who ask how the server is.
pub(crate) type Problems = Arc<Mutex<Vec<String>>>;

/// Starts the thread that looks.
pub(crate) fn start(
    home: &Home,
    store: Arc<dyn Store>,
    clock: &Clock,
    notes: &Notes,
    stop: &Stop,
) -> Result<(Problems, JoinHandle<()>), Failure> {
    let problems = Problems::default();
    let (found, home, clock) = (Arc::clone(&problems), home.clone(), Arc::clone(clock));
    let rounds = Rounds { name: "client versions", every: EVERY, notes, stop };
    let thread = rounds.behind(move || {
        let now = look(&home, store.as_ref(), clock());
        *found.lock().unwrap_or_else(PoisonError::into_inner) = now.clone();
        now.into_iter().next().map_or(Ok(()), Err)
    })?;
    Ok((problems, thread))
}

fn look(home: &Home, store: &dyn Store, now: Millis) -> Vec<String> {
    let record = Record::load(home).0;
    record.installations().iter().filter_map(|installation| judge(installation, store, now)).collect()
}

fn judge(installation: &Installation, store: &dyn Store, now: Millis) -> Option<String> {
    let agent = match installation.agent.as_str() {
        "claude" => Agent::ClaudeCode,
        "codex" => Agent::Codex,
        _ => return None,
    };
    let seen = newest(store, agent, now)?;
    let settings = files::find(&installation.file).ok()?;
    let settings = Settings::parse(settings.text().ok()?).ok()?;
    let own = own_hooks(&settings);
    if own.is_empty() {
        return None;
    }
    match agent {
        Agent::ClaudeCode => {
            let fit = fit(&own, seen);
            // Shared settings are for every version, and chosen events are a choice: what they leave out is no fault.
            let may_miss = installation.shared || installation.events.is_some();
            claude_problem(&fit, seen, installation, may_miss)
        }
        Agent::Codex => {
            let known = installation.client.as_deref().and_then(ClientVersion::parse)?;
            let is_new = codex::versions::asks_for_trust(seen) && !codex::versions::asks_for_trust(known);
            is_new.then(|| {
                format!(
                    "Codex is {seen} now, which runs hooks only after you have reviewed them\n\
                     hint: start `codex` in a terminal and accept them under \"Hooks need review\""
                )
            })
        }
    }
}

fn claude_problem(
    fit: &Fit,
    seen: ClientVersion,
    installation: &Installation,
    may_miss: bool,
) -> Option<String> {
    let file = installation.file.display();
    let what = if !fit.refused.is_empty() {
        let events = fit.refused.join(", ");
        match range_of(Some(seen)).unknown_event {
            UnknownEvent::DropsFile => format!("ignores all of `{file}` because it does not know {events}"),
            UnknownEvent::ShowsDialog => {
                format!("shows a warning at each start because it does not know {events}")
            }
        }
    } else if !fit.unheard.is_empty() {
        "does not pass `args` to a hook, so nothing is recorded by hooks".to_owned()
    } else if !fit.missing.is_empty() && !may_miss {
        format!("has events that are not registered: {}", fit.missing.join(", "))
    } else {
        return None;
    };
    Some(format!("Claude Code is {seen} now and {what}\nhint: run `agent-tracer install claude` again"))
}

/// Returns the version of the newest session that says one.
fn newest(store: &dyn Store, agent: Agent, now: Millis) -> Option<ClientVersion> {
    let paging = Paging { cursor: None, limit: SESSIONS_MAX };
    let since = Some(Millis(now.0.saturating_sub(RECENT_MS)));
    let filter = TaskFilter { agent: Some(agent), since, paging, ..TaskFilter::default() };
    let page = store.tasks(now, &filter).ok()?;
    page.items.iter().find_map(|task| ClientVersion::parse(task.client_version.as_deref()?))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn installation() -> Installation {
        Installation {
            agent: "claude".to_owned(),
            file: PathBuf::from("/home/dev/.claude/settings.json"),
            base: None,
            written: String::new(),
            made_folder: None,
            chained: None,
            events: None,
            client: None,
            shared: false,
            hook: PathBuf::from("/opt/agent-tracer-hook"),
            installed_at: String::new(),
            undo: agent_tracer_agents::hooks::Undo::default(),
        }
    }

    #[test]
    fn the_worst_is_said_first_and_with_the_way_out() {
        let version = |text| ClientVersion::parse(text).expect("a version");
        let fit = Fit {
            refused: vec!["PreModelSwitch"],
            unheard: vec!["Stop"],
            missing: vec!["Setup"],
            in_a_shell: Vec::new(),
        };
        let said = |fit: &Fit, seen, may_miss| claude_problem(fit, version(seen), &installation(), may_miss);
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
        let unheard = Fit { refused: Vec::new(), ..fit.clone() };
        assert!(said(&unheard, "2.1.138", false).is_some_and(|text| text.contains("nothing is recorded")));
        let missing = Fit { unheard: Vec::new(), ..unheard };
        assert!(said(&missing, "2.1.326", false).is_some_and(|text| text.contains("not registered: Setup")));
        assert_eq!(said(&missing, "2.1.326", true), None, "what was left out on purpose is no fault");
        assert_eq!(said(&Fit::default(), "2.1.326", false), None);
    }
}
