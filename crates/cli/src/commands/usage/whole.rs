//! The answer of the agents' own files where tokens alone do not tell: which skill a response was given for follows from
//! the rows around it. They are read whole into a ledger in a temporary folder, and nothing is left of it.

use std::path::Path;
use std::sync::Arc;

use agent_tracer_intake::files::Files;
use agent_tracer_intake::import::{OnFailure, Plan, run as read_plan};
use agent_tracer_intake::{PrivacyFile, Projects, Sink, Stop};
use agent_tracer_ledger::{Ledger, Options as LedgerOptions};
use agent_tracer_spool::Home;

use super::{Item, Question, files, stored};
use crate::arguments::Options;
use crate::commands::import::refused;
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::output::Output;
use crate::reading::Reading;
use crate::sources;

pub(super) fn items(
    question: &Question<'_>,
    folder: Option<&Path>,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<Vec<Item>, Failure> {
    let roots = files::roots(question, folder, options, environment)?;
    let pricer = Arc::new(files::prices(options, environment)?);
    let place = tempfile::Builder::new()
        .prefix("agent-tracer-usage-")
        .tempdir()
        .map_err(|cause| Failure::new(format!("cannot make a temporary folder: {}", plain(&cause))))?;
    let options = LedgerOptions { machine_id: "local".to_owned(), pricer, ..LedgerOptions::default() };
    let ledger = Ledger::open(&place.path().join("ledger.db"), options)
        .map_err(|error| Failure::new(format!("cannot count in `{}`: {error}", place.path().display())))?;
    let ledger = Arc::new(ledger);
    // Nothing of it stays, so it matters neither what may be kept nor by which key.
    let privacy = Arc::new(PrivacyFile::new(place.path().join("privacy.conf"), [0; 16], None));
    let sink: Arc<dyn Sink> = Arc::<Ledger>::clone(&ledger);
    let reader = Files::new(sink, privacy, Arc::new(Projects::new()), sources::clock());
    let plan = Plan::make(&reader, &roots, None);
    for (folder, cause) in &plan.unreadable {
        output.say(&format!("warning: cannot read the folder `{}`: {}", folder.display(), plain(cause)))?;
    }
    let done = read_plan(&reader, &plan, OnFailure::Fail, &Stop::new(), &mut |_| {});
    for failure in done.map_err(|error| refused(&error))?.failures {
        output.say(&failure.to_string())?;
    }
    let home = Home::in_folder(place.path());
    let items = stored::items(question, &Reading::over(ledger.store(), home, question.now), environment);
    ledger.close();
    items
}
