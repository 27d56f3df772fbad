//! Holds the parts shared by commands that read the agents' files: their paths, the privacy settings, and the ledger.

use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use agent_tracer_agents::sessions::{self, SessionFiles};
use agent_tracer_event::{Agent, Millis};
use agent_tracer_intake::files::Root;
use agent_tracer_intake::{Clock, PrivacyFile};
use agent_tracer_ledger::{CheckPace, Ledger, OpenError, Options, error_text};
use agent_tracer_prices::{Overrides, Prices};
use agent_tracer_spool::{Home, settings_file};

use crate::config::{self, Form, OldFile, Section};
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::{agent_homes, store_backups, upgrade_progress};

impl Section for Overrides {
    const NAME: &'static str = "prices";
    const OLD_FILE: OldFile = OldFile { name: "prices.toml", form: Form::Toml };
    const HINT: &'static str = "correct the line, or remove the table to use the built-in prices";

    fn verify(&self) -> Result<(), (usize, String)> {
        Prices::of_user(self).map(drop).map_err(|error| (error.offset, error.what))
    }
}

/// Opens the ledger of a home. The caller must hold the [`crate::instance::Instance`].
///
/// Costs are counted with the user's own prices. If those are not the ones they were counted with before, they are
/// counted anew; that takes as long as `rebuild`.
pub(crate) fn ledger(home: &Home) -> Result<Ledger, Failure> {
    ledger_checked(home, CheckPace::default())
}

/// Opens the ledger as [`ledger`] does, and checks it for damage at this pace.
pub(crate) fn ledger_checked(home: &Home, check: CheckPace) -> Result<Ledger, Failure> {
    let path = home.data().join("ledger.db");
    let prices = prices(home)?;
    // Compared by meaning and not by text, so that a comment in the settings counts nothing anew.
    let own_prices = prices.fingerprint();
    let options = Options { check, ..options_with(prices) };
    let ledger = Ledger::open_watched(&path, options, upgrade_progress::report())
        .map_err(|error| unopened(&path, &error))?;
    ledger.reprice(&own_prices).map_err(|error| {
        Failure::new(format!("cannot apply your own prices: {error}"))
            .hint("nothing was changed; the next start tries again")
    })?;
    Ok(ledger)
}

/// Returns the options for the ledger of a home.
pub(crate) fn options(home: &Home) -> Result<Options, Failure> {
    prices(home).map(options_with)
}

fn options_with(prices: Prices) -> Options {
    Options { machine_id: machine(), pricer: Arc::new(prices), ..Options::default() }
}

/// Returns the failure of opening a ledger, which names the file.
pub(crate) fn unopened(path: &Path, error: &OpenError) -> Failure {
    match error {
        // It names its own file.
        OpenError::Journal(_) => Failure::from_text(&error_text(error)),
        OpenError::Corrupt(_) | OpenError::ForeignLog(_) => {
            let failure =
                Failure::from_text(&format!("cannot open `{}`: {}", path.display(), error_text(error)));
            store_backups::hint(path).into_iter().fold(failure, Failure::hint)
        }
        _ => Failure::from_text(&format!("cannot open `{}`: {}", path.display(), error_text(error))),
    }
}

/// Returns the prices of responses: those of the table `[prices]` before the built-in ones.
pub(crate) fn prices(home: &Home) -> Result<Prices, Failure> {
    match config::read::<Overrides>(home)? {
        Some(own) => Prices::of_user(&own).map_err(|error| Failure::from_text(&error.to_string())),
        None => Ok(Prices::embedded()),
    }
}

/// Returns the name of this machine.
fn machine() -> String {
    nix::unistd::gethostname()
        .ok()
        .and_then(|name| name.into_string().ok())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "local".to_owned())
}

/// Returns the privacy settings for the agents' files.
pub(crate) fn privacy(home: &Home, environment: &Environment) -> Result<PrivacyFile, Failure> {
    let path = home.hash_key();
    let mut key = [0; 16];
    let file = settings_file::open(&path, home.user()).map_err(|refusal| {
        Failure::new(format!("cannot read the key `{}`: {refusal}", path.display())).hint(refusal.hint(&path))
    })?;
    let file = file.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound));
    file.and_then(|mut file| file.read_exact(&mut key)).map_err(|cause| {
        Failure::new(format!("cannot read the key `{}`: {}", path.display(), plain(&cause)))
            .hint("remove the file, and the next start makes a new one")
    })?;
    let user = environment.user_home()?.into_os_string().into_vec();
    let file = PrivacyFile::new(home.privacy_conf(), key, Some(user)).of_user(home.user());
    Ok(file.without(home.unrecorded()))
}

/// Refuses to go on where it is not known what may be recorded.
pub(crate) fn known(privacy: &PrivacyFile) -> Result<(), Failure> {
    match privacy.problem() {
        Some(error) => Err(Failure::new(error.to_string()).hint(error.hint)),
        None => Ok(()),
    }
}

/// Returns the folders of an agent's files, in each of its homes. `tracer` is our own home.
pub(crate) fn roots(agent: Agent, tracer: &Home, environment: &Environment) -> Result<Vec<Root>, Failure> {
    let Some(door) = sessions::of(agent) else { return Ok(Vec::new()) };
    let homes = agent_homes::of(agent, tracer, environment)?;
    Ok(homes.iter().flat_map(|home| roots_of(agent, door, home)).collect())
}

/// Returns the folders of an agent's files in one of its homes.
pub(crate) fn roots_at(agent: Agent, home: &Path) -> Vec<Root> {
    sessions::of(agent).map(|door| roots_of(agent, door, home)).unwrap_or_default()
}

fn roots_of(agent: Agent, door: &dyn SessionFiles, home: &Path) -> Vec<Root> {
    door.folders(home).into_iter().map(|folder| Root::new(agent, folder)).collect()
}

/// Returns the folders that a person means by naming one: an agent's home means what that agent keeps there.
pub(crate) fn roots_in(folder: PathBuf, agent: Option<Agent>) -> Vec<Root> {
    let mut roots = Vec::new();
    for own in Agent::rows().filter(|own| agent.is_none_or(|agent| agent == *own)) {
        let Some(door) = sessions::of(own) else { continue };
        let own = roots_of(own, door, &folder);
        // The first folder decides what a home is: the others come with use.
        if own.first().is_some_and(|root| root.folder.is_dir()) {
            roots.extend(own);
        }
    }
    // Not a home: a folder of transcripts that were copied, whose files tell their agent by name.
    if roots.is_empty() {
        roots.push(Root { agent, folder });
    }
    roots
}

/// Returns the clock of this machine.
pub(crate) fn clock() -> Clock {
    #[expect(clippy::disallowed_methods, reason = "the binary is where the clock is read")]
    let now = || {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Millis(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
    };
    Arc::new(now)
}
