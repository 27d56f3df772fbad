//! Detects agents with another version than the one that the settings were chosen for: their sessions report it.
//!
//! An upgrade brings events that are not registered yet, and a downgrade may drop the user's settings for ours. The
//! server looks at the newest sessions and at the settings themselves, and says so where its health is asked.
//!
//! Law: nothing is written, and no client is started.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use agent_tracer_agents::ClientVersion;
use agent_tracer_agents::setup::{self, Drift};
use agent_tracer_event::{Agent, Millis};
use agent_tracer_intake::{Clock, Stop};
use agent_tracer_ledger::{Paging, Store, TaskFilter};
use agent_tracer_spool::Home;

use crate::failure::Failure;
use crate::files;
use crate::periodic::PeriodicJob;
use crate::record::{Installation, Record};

/// Pause between two checks: each costs a query of twenty rows and two small files.
const EVERY: Duration = Duration::from_secs(15);
/// Sessions that are older than this say nothing about what is installed now.
const RECENT_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// Limit of newest sessions that are read. The first ones may not have reported their version yet.
const SESSIONS_MAX: u32 = 20;

/// Holds the findings of the last check for the health page.
pub(crate) type Problems = Arc<Mutex<Vec<String>>>;

/// Starts the thread that looks.
pub(crate) fn start(
    home: &Home,
    store: Arc<dyn Store>,
    clock: &Clock,
    stop: &Stop,
) -> Result<(Problems, JoinHandle<()>), Failure> {
    let problems = Problems::default();
    let (found, home, clock) = (Arc::clone(&problems), home.clone(), Arc::clone(clock));
    let job = PeriodicJob { name: "client versions", every: EVERY, stop };
    let thread = job.repeat(move || {
        let now = look(&home, store.as_ref(), clock());
        *found.lock().unwrap_or_else(PoisonError::into_inner) = now.clone();
        now.first().map_or(Ok(()), |problem| Err(Failure::from_text(problem)))
    })?;
    Ok((problems, thread))
}

fn look(home: &Home, store: &dyn Store, now: Millis) -> Vec<String> {
    let record = Record::load(home).0;
    record.installations().iter().filter_map(|installation| judge(installation, store, now)).collect()
}

fn judge(installation: &Installation, store: &dyn Store, now: Millis) -> Option<String> {
    let agent = Agent::from_any_spelling(&installation.agent)?;
    let setup = setup::of(agent)?;
    let SeenVersion { version: seen, since } = newest(store, agent, now)?;
    let settings = files::find(&installation.file).ok()?;
    let text = settings.text().ok()?;
    if setup.own(text).is_empty() {
        return None;
    }
    setup.drift(&Drift {
        seen,
        since,
        path: &installation.file,
        text,
        chosen_for: installation.client.as_deref().and_then(ClientVersion::parse),
        installed_at: Millis::parse(&installation.installed_at),
        // Shared settings are for every version, and chosen events are a choice: what they leave out is no fault.
        may_lack_events: installation.shared || installation.events.is_some(),
    })
}

/// A version that sessions say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SeenVersion {
    version: ClientVersion,
    /// Start of the first of the newest sessions with it.
    since: Millis,
}

/// Returns the version of the newest session that says one.
fn newest(store: &dyn Store, agent: Agent, now: Millis) -> Option<SeenVersion> {
    let paging = Paging { cursor: None, limit: SESSIONS_MAX };
    let since = Some(Millis(now.0.saturating_sub(RECENT_MS)));
    let filter = TaskFilter { agent: Some(agent), since, paging, ..TaskFilter::default() };
    let page = store.tasks(now, &filter).ok()?;
    let mut said = page
        .items
        .iter()
        .filter_map(|task| Some((ClientVersion::parse(task.client_version.as_deref()?)?, task.started_at)));
    // The newest session decides: an older client beside it may still be in use, but is not what was upgraded.
    let (version, began) = said.next()?;
    let since = said.filter(|(other, _)| *other == version).map(|(_, began)| began).fold(began, Millis::min);
    Some(SeenVersion { version, since })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use agent_tracer_agents::claude::install::{InstallOptions, StatusLine, plan};
    use agent_tracer_agents::hooks::Undo;
    use agent_tracer_ledger::{Batch, Ledger, Options};
    use agent_tracer_testkit::{Level, transcript_of};
    use serde_json::json;

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
            undo: Undo::default(),
        }
    }

    const NOW: Millis = Millis(1_800_000_000_000);
    const HOUR: i64 = 3_600_000;

    /// Returns a ledger with one session of each of these versions, each so many hours ago.
    fn ledger(folder: &std::path::Path, sessions: &[(&str, i64)]) -> Ledger {
        let ledger = Ledger::open(&folder.join("ledger.db"), Options::default()).unwrap();
        for (number, (version, hours)) in sessions.iter().enumerate() {
            let at = Millis(NOW.0 - hours * HOUR);
            let message = json!({"role": "user", "content": "Go on"});
            let row = json!({"type": "user", "uuid": "u", "sessionId": format!("s{number}"), "cwd": "/w",
                "version": version, "promptId": "p", "timestamp": at.to_string(), "message": message});
            let path = format!("projects/w/s{number}.jsonl");
            let observed = transcript_of(Level::Actions, &path, format!("{row}\n").as_bytes());
            ledger.append(Batch { observed, ..Batch::default() }).unwrap();
        }
        ledger
    }

    /// Returns a home in which settings were settings for a version, so many hours ago.
    fn installed_for(folder: &std::path::Path, client: &str, hours: i64) -> Home {
        let home = Home::in_folder(folder.join("home"));
        let wanted = InstallOptions {
            hook: "/opt/agent-tracer-hook".to_owned(),
            home: None,
            client: ClientVersion::parse(client),
            events: None,
            tools: None,
            status_line: StatusLine::Leave,
        };
        let file = folder.join("settings.json");
        let text = plan("", &wanted, Undo::default()).unwrap().text;
        files::write_private(&file, text.as_bytes()).unwrap();
        let mut record = Record::load(&home).0;
        let installed_at = Millis(NOW.0 - hours * HOUR).to_string();
        let client = Some(client.to_owned());
        record.put(Installation { file, client, installed_at, ..installation() });
        record.save(&home).unwrap();
        home
    }

    fn problems(client: &str, hours: i64, sessions: &[(&str, i64)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(folder.path(), sessions);
        look(&installed_for(folder.path(), client, hours), ledger.store().as_ref(), NOW)
    }

    #[test]
    fn an_upgrade_and_a_downgrade_are_noticed_by_the_newest_session() {
        let upgraded = problems("2.1.250", 10, &[("2.1.250", 8), ("2.1.326", 2)]);
        assert!(upgraded[0].contains("2.1.326 now and has events that are not registered"), "{upgraded:?}");
        let downgraded = problems("2.1.326", 10, &[("2.1.326", 8), ("2.1.100", 2)]);
        assert!(downgraded[0].contains("2.1.100 now and ignores all of"), "{downgraded:?}");
        for sessions in [&[("2.1.250", 2)][..], &[("", 2)], &[("no version", 2)], &[], &[("2.1.326", 24 * 8)]]
        {
            assert_eq!(problems("2.1.250", 10, sessions), Vec::<String>::new(), "{sessions:?}");
        }
    }

    #[test]
    fn what_was_left_out_for_an_older_client_beside_it_is_no_fault_after_installing_again() {
        let both = [("2.1.197", 8), ("2.1.326", 7), ("2.1.197", 4), ("2.1.326", 2)];
        assert_eq!(problems("2.1.197", 10, &both).len(), 1);
        assert_eq!(problems("2.1.197", 5, &both), Vec::<String>::new());
        let harmed = problems("2.1.326", 5, &[("2.1.100", 8), ("2.1.326", 7), ("2.1.100", 2)]);
        assert_eq!(harmed.len(), 1, "harm is one whenever it was chosen");
    }
}
