//! What commands that read the agents' files have in common: where those are, what may be recorded, and the ledger.

use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use agent_tracer_agents::{claude, codex};
use agent_tracer_event::{Agent, Millis};
use agent_tracer_intake::files::Root;
use agent_tracer_intake::{Clock, PrivacyFile};
use agent_tracer_ledger::{Ledger, Options};
use agent_tracer_prices::Prices;
use agent_tracer_spool::Home;

use crate::environment::Environment;
use crate::failure::{Failure, plain};

/// Opens the ledger of a home. Whoever does holds the [`crate::instance::Instance`].
pub(crate) fn ledger(home: &Home) -> Result<Ledger, Failure> {
    let path = home.data().join("ledger.db");
    let options = Options { machine_id: machine(), pricer: Arc::new(prices(home)?) };
    Ledger::open(&path, options).map_err(|error| {
        let told = error.to_string();
        let (text, hint) = told.split_once("\nhint: ").unwrap_or((&told, ""));
        let failure = Failure::new(format!("cannot open `{}`: {text}", path.display()));
        if hint.is_empty() { failure } else { failure.hint(hint) }
    })
}

/// What responses cost: the prices that are built in, and before them those of `prices.toml`.
pub(crate) fn prices(home: &Home) -> Result<Prices, Failure> {
    let path = home.config().join("prices.toml");
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Prices::embedded()),
        Err(error) => {
            return Err(Failure::new(format!("cannot read `{}`: {}", path.display(), plain(&error))));
        }
    };
    Prices::with_overrides(&text).map_err(|error| {
        Failure::new(format!("cannot understand `{}`: {error}", path.display()))
            .hint("mend the line, or move the file away to go by the prices that are built in")
    })
}

/// The name of this machine.
fn machine() -> String {
    nix::unistd::gethostname()
        .ok()
        .and_then(|name| name.into_string().ok())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "local".to_owned())
}

/// What may be recorded of the agents' files.
pub(crate) fn privacy(home: &Home, environment: &Environment) -> Result<PrivacyFile, Failure> {
    let path = home.hash_key();
    let mut key = [0; 16];
    File::open(&path).and_then(|mut file| file.read_exact(&mut key)).map_err(|cause| {
        Failure::new(format!("cannot read the key `{}`: {}", path.display(), plain(&cause)))
            .hint("remove the file, and the next start makes a new one")
    })?;
    let user = environment.user_home()?.into_os_string().into_vec();
    Ok(PrivacyFile::new(home.privacy_conf(), key, Some(user)).without(home.unrecorded()))
}

/// Where an agent keeps its files.
pub(crate) fn roots(agent: Agent, environment: &Environment) -> Result<Vec<Root>, Failure> {
    let user = environment.user_home()?;
    Ok(match agent {
        Agent::ClaudeCode => {
            let named = environment.path_variable(claude::paths::HOME_VARIABLE);
            claude_roots(claude::paths::home(named.as_deref(), &user))
        }
        Agent::Codex => {
            let named = environment.path_variable(codex::paths::HOME_VARIABLE);
            codex_roots(codex::paths::home(named.as_deref(), &user))
        }
    })
}

fn claude_roots(home: PathBuf) -> Vec<Root> {
    vec![Root::of(Agent::ClaudeCode, claude::paths::transcripts(&home))]
}

fn codex_roots(home: PathBuf) -> Vec<Root> {
    let archived = home.join("archived_sessions");
    vec![Root::of(Agent::Codex, codex::paths::rollouts(&home)), Root::of(Agent::Codex, archived)]
}

/// The folders that a person means by naming one: an agent's home means what that agent keeps there.
pub(crate) fn roots_in(folder: PathBuf, agent: Option<Agent>) -> Vec<Root> {
    let mut roots = Vec::new();
    if agent != Some(Agent::Codex) && claude::paths::transcripts(&folder).is_dir() {
        roots.extend(claude_roots(folder.clone()));
    }
    if agent != Some(Agent::ClaudeCode) && codex::paths::rollouts(&folder).is_dir() {
        roots.extend(codex_roots(folder.clone()));
    }
    if roots.is_empty() {
        roots.push(Root { agent, folder });
    }
    roots
}

/// The clock of this machine.
pub(crate) fn clock() -> Clock {
    #[expect(clippy::disallowed_methods, reason = "the binary is where the clock is read")]
    let now = || {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Millis(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
    };
    Arc::new(now)
}
