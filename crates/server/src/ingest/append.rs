//! Brings a batch to the ledger and waits until it is on disk.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agent_tracer_event::{Entry, Millis, attributes};
use agent_tracer_ledger::{AppendError, Batch, Receipt, Verdict, error_text};
use axum::http::StatusCode;
use tokio::sync::oneshot;

use crate::app::App;
use crate::deps::WriteCallback;
use crate::problem::Problem;

/// Brings a batch. The answer comes after the commit, and everything in it can be asked for then.
pub(crate) async fn bring(app: &App, batch: Batch) -> Result<Receipt, Problem> {
    bring_by(app, batch, |batch, done| app.deps.append.submit(batch, done)).await
}

/// Brings observations that each stand for themselves. The answer comes when they are on disk.
pub(crate) async fn bring_posted(app: &App, batch: Batch) -> Result<Receipt, Problem> {
    bring_by(app, batch, |batch, done| app.deps.append.post(batch, done)).await
}

async fn bring_by(
    app: &App,
    mut batch: Batch,
    by: impl FnOnce(Batch, WriteCallback) -> Result<(), Box<Batch>>,
) -> Result<Receipt, Problem> {
    // An export of telemetry may be empty: it is valid, and needs no commit.
    if batch.observed.is_empty() && batch.cursors.is_empty() && batch.skipped == 0 {
        return Ok(Receipt::default());
    }
    keep_out(app, &mut batch);
    let (done, written) = oneshot::channel();
    // The receiver is gone if the request was given up; the batch is written all the same.
    let submitted = by(batch, Box::new(move |receipt| drop(done.send(receipt))));
    if submitted.is_err() {
        return Err(Problem::too_many("too many writes are waiting", 1));
    }
    match written.await {
        Ok(Ok(receipt)) => Ok(receipt),
        Ok(Err(error)) => Err(refused(&error)),
        Err(_) => Err(refused(&AppendError::Closed)),
    }
}

/// The time a query waits for acknowledged data to be folded.
// Short: behind a long import a page had better be a moment old than late.
const PATIENCE: Duration = Duration::from_millis(100);

/// Waits a moment for what was acknowledged and is not folded yet.
pub(crate) async fn settle(app: &App) {
    let Some(is_folded) = app.deps.append.soon() else { return };
    let folded = async {
        while !is_folded() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, folded).await.ok();
}

/// Refuses observations of sessions that ran while recording was off: hooks, telemetry and programs may post without
/// knowing.
fn keep_out(app: &App, batch: &mut Batch) {
    for observed in &mut batch.observed {
        let Verdict::Read(reading) = &observed.verdict else { continue };
        if reading.entries.iter().flat_map(sessions).any(|session| (app.deps.unrecorded)(session)) {
            observed.verdict = Verdict::Refused("recording was switched off for this session".to_owned());
            observed.payload = None;
            observed.kept = None;
        }
    }
}

/// Returns the sessions that an entry belongs to: its own, and those above it.
fn sessions(entry: &Entry) -> impl Iterator<Item = &str> {
    let above = [attributes::ROOT_SESSION, attributes::PARENT_SESSION]
        .into_iter()
        .filter_map(|key| entry.metadata.get(key)?.as_str());
    std::iter::once(entry.task.runtime_session.as_str()).chain(above)
}

fn refused(error: &AppendError) -> Problem {
    let status = match error {
        AppendError::DiskFull => StatusCode::INSUFFICIENT_STORAGE,
        AppendError::ReadOnly
        | AppendError::Closed
        | AppendError::Gone(_)
        | AppendError::Store(_)
        | AppendError::Item(_) => StatusCode::SERVICE_UNAVAILABLE,
    };
    let mut problem = Problem::new(status, error_text(error));
    // Exporters of OpenTelemetry send again by themselves where an answer says when.
    problem.retry_after = Some(5);
    problem
}

/// Returns a name for an observation that has none: never given twice, also not by the next server.
pub(crate) fn observation_name(app: &App, what: &str, now: Millis) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("http:{what}:{}:{:016x}:{number}", now.0, app.instance)
}
