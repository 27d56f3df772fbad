//! Surveys what is here: agents, their histories and connections, the server. Everything is read, nothing is started or changed.
//!
//! Law: it takes a moment, however much there is. Folders are walked up to a limit, and beyond it a number says "over".

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use agent_tracer_agents::sessions::Form;
use agent_tracer_event::{Agent, Channel, Millis};
use agent_tracer_intake::files::find_up_to;
use agent_tracer_spool::{Home, Spool};

use crate::arguments::Options;
use crate::connection::Connection;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::instance::Instance;
use crate::reading::Reading;
use crate::{agent_homes, clients, sources};

/// Entries of an agent's folders that are looked at. With twice as many the answer is no longer there at once.
// A bound on the time of the first screen, whatever the history holds; a cut count is shown as `over`.
const ENTRIES_MAX: usize = 30_000;

/// The findings.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) agents: Vec<FoundAgent>,
    pub(super) server: ServerState,
    /// Envelopes in the spool.
    pub(super) waiting: u64,
    /// The last call of a hook that was recorded, of any agent.
    pub(super) called_at: Option<Millis>,
    pub(super) now: Millis,
}

/// The server of this home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerState {
    /// It answers here.
    Running(SocketAddr),
    /// Another process writes to the ledger, or a server is starting.
    Busy,
    /// There is none.
    Off,
}

/// An agent of which there is a trace, or which is listed anyway.
#[derive(Debug)]
pub(super) struct FoundAgent {
    pub(super) agent: Agent,
    /// Its program is on this machine.
    pub(super) has_program: bool,
    /// Its homes, the one that this environment names first; at least one.
    pub(super) homes: Vec<FoundHome>,
}

/// A home of an agent: each account has its own history, and a connection of its own.
#[derive(Debug)]
pub(super) struct FoundHome {
    /// The folder as a person writes it; none if there is no such folder.
    pub(super) shown: Option<String>,
    /// The value of the agent's variable by which a command means this home; none if it means this one without.
    pub(super) variable: Option<PathBuf>,
    pub(super) history: History,
    pub(super) connection: Connection,
}

/// The session files in a home.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct History {
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// The last change of any of them.
    pub(super) newest: Option<Millis>,
    /// There are more than were counted.
    pub(super) is_cut: bool,
}

impl Survey {
    /// Looks at this machine.
    pub(super) fn make(options: &Options, environment: &Environment) -> Result<Survey, Failure> {
        let (home, _) = environment.home(options.home.as_deref())?;
        let user_home = environment.user_home().ok();
        let mut agents = Vec::new();
        for agent in Agent::rows() {
            let found = FoundAgent {
                agent,
                has_program: !clients::find(agent, environment).is_empty(),
                homes: homes(agent, &home, user_home.as_deref(), environment),
            };
            let is_here = found.has_program || found.homes.iter().any(|home| home.shown.is_some());
            // Agents that few people use are listed only where they are found.
            if agent.spec().listed_when_absent || is_here {
                agents.push(found);
            }
        }
        let server = match Instance::address(&home) {
            Some(address) => ServerState::Running(address),
            None if Instance::is_held(&home) => ServerState::Busy,
            None => ServerState::Off,
        };
        // A spool or a ledger that cannot be read is for `doctor` to judge.
        let waiting = Spool::at(&home.spool()).stats().map_or(0, |stats| stats.waiting);
        let called_at = Reading::open(options, environment).ok().and_then(|reading| {
            let sources = reading.store()?.sources().ok()?;
            let hook = Channel::Hook.to_string();
            sources.into_iter().find(|source| source.name == hook)?.last_at
        });
        Ok(Survey { agents, server, waiting, called_at, now: environment.now() })
    }

    /// Returns the agents, with the homes, that a person can connect: here, with hooks, and none of ours among them.
    pub(super) fn unconnected(&self) -> Vec<(&FoundAgent, &FoundHome)> {
        let may = |(found, home): &(&FoundAgent, &FoundHome)| match home.connection {
            Connection::Absent => home.shown.is_some() || found.has_program,
            Connection::Broken { .. } => true,
            Connection::NoHooks | Connection::Hooks(_) | Connection::Other(_) => false,
        };
        let homes = self.agents.iter().flat_map(|found| found.homes.iter().map(move |home| (found, home)));
        homes.filter(may).collect()
    }

    /// Returns whether there is any history to see.
    pub(super) fn has_history(&self) -> bool {
        self.called_at.is_some()
            || self.waiting > 0
            || self.agents.iter().flat_map(|found| &found.homes).any(|home| home.history.files > 0)
    }
}

fn homes(agent: Agent, tracer: &Home, user_home: Option<&Path>, environment: &Environment) -> Vec<FoundHome> {
    let mut all = agent_homes::of(agent, tracer, environment).unwrap_or_default().into_iter();
    let Some(own) = all.next() else {
        let connection = Connection::of(agent, environment);
        return vec![FoundHome { shown: None, variable: None, history: History::default(), connection }];
    };
    let found = |home: &Path, variable: Option<PathBuf>| FoundHome {
        shown: home.is_dir().then(|| shorten(home, user_home)),
        variable,
        history: history(agent, home),
        connection: Connection::at(agent, home, environment),
    };
    let own = found(&own, None);
    let others = all.filter_map(|home| Some(found(&home, Some(naming(agent, &home)?))));
    let mut homes: Vec<FoundHome> = std::iter::once(own).chain(others).collect();
    // Where another account is used, the absence of the usual home is no news.
    if homes.len() > 1 {
        homes.retain(|home| home.shown.is_some());
    }
    homes
}

/// Returns the value of an agent's variable that names a home; `None` if no value does.
fn naming(agent: Agent, home: &Path) -> Option<PathBuf> {
    let spec = agent.spec();
    let below = Path::new(spec.home_below_variable).components().count();
    let value = home.ancestors().nth(below)?;
    (spec.home(Some(value), Path::new("")) == home).then(|| value.to_owned())
}

fn history(agent: Agent, home: &Path) -> History {
    let mut history = History::default();
    for root in sources::roots_at(agent, home) {
        let is_whole = find_up_to(&root, ENTRIES_MAX, &mut |found| {
            if found.file.form != Form::Description {
                history.files += 1;
                history.bytes += found.facts.length;
                history.newest =
                    history.newest.max(Some(Millis(found.facts.changed_ns.div_euclid(1_000_000))));
            }
        });
        history.is_cut |= !is_whole;
    }
    history
}

/// Returns a path with `~` for the user's home.
fn shorten(path: &Path, user_home: Option<&Path>) -> String {
    match user_home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
