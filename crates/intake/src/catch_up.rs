//! Reads what waits, once and without a server: the envelopes of the spool, and the files that they name.

use std::sync::Arc;

use agent_tracer_ledger::AppendError;
use agent_tracer_spool::{Home, Spool};

use crate::Clock;
use crate::files::{Files, FoundFile, ReadError, Root, find, find_named};
use crate::privacy::PrivacyFile;
use crate::project::Projects;
use crate::sink::Sink;
use crate::spool::{SpoolIntake, StepError};
use crate::stop::Stop;
use crate::tail::NamedFiles;

/// The reason why not everything was read.
#[derive(Debug, thiserror::Error)]
pub enum CatchUpError {
    /// The spool belongs to another process, or cannot be read.
    #[error("cannot lock the spool")]
    Spool(#[source] agent_tracer_spool::drain::DrainError),
    /// An envelope could not be brought.
    #[error("cannot read the spool")]
    Step(#[source] StepError),
    /// The sink does not return how far files were read.
    #[error("cannot load the positions of files")]
    Sink(#[source] AppendError),
}

/// Reads what waits. Returns the files that could not be read.
///
/// `roots` are folders of agents whose changed files are read too, as far as `is_meant` selects them.
///
/// # Errors
///
/// If the spool cannot be drained; then no file is read either.
pub fn catch_up(
    home: &Home,
    roots: &[Root],
    is_meant: &dyn Fn(&FoundFile) -> bool,
    sink: &Arc<dyn Sink>,
    privacy: Arc<PrivacyFile>,
    clock: Clock,
) -> Result<Vec<ReadError>, CatchUpError> {
    let projects = Arc::new(Projects::new());
    let named = NamedFiles::of_user(&[], home.user());
    let spool = SpoolIntake::open(&Spool::at(&home.spool()), Arc::clone(sink), Arc::clone(&projects));
    let mut spool = spool.map_err(CatchUpError::Spool)?.naming(named.clone());
    while !spool.step().map_err(CatchUpError::Step)?.is_empty {}
    let files = Files::new(Arc::clone(sink), privacy, projects, clock);
    files.load().map_err(CatchUpError::Sink)?;
    let mut found: Vec<FoundFile> = Vec::new();
    let (named_files, named_roots) = named.list_all();
    found.extend(named_files.iter().filter_map(|(agent, path)| find_named(*agent, path)));
    for root in &named_roots {
        drop(find(root, &mut |file| found.push(file)));
    }
    found.retain(|found| named.admits(&found.path, &found.file));
    for root in roots {
        drop(find(root, &mut |file| {
            if is_meant(&file) {
                found.push(file);
            }
        }));
    }
    // Descriptions come last: they may be recorded only if the transcript beside them may.
    found.sort_by_key(|found| found.file.form == agent_tracer_agents::sessions::Form::Description);
    let stop = Stop::new();
    let read = found.iter().filter(|found| files.is_news(found));
    Ok(read.filter_map(|found| files.read(&found.path, &found.file, &stop).err()).collect())
}
