//! Isolation of observations that the store cannot take, so that others do not wait behind them.
//!
//! An item is at fault if it fails [`TRIES`] times and a write of another item succeeds after each failure. If that
//! write fails too, or if the fault is one of writing ([`AppendError::is_lasting`]), the store is at fault: all items
//! are then kept waiting, and none is set aside.

use agent_tracer_event::Outcome;

use super::prepared::Prepared;
use super::writer::Writer;
use super::{AppendError, RefusalHandling};
use crate::aside_folder::AsideKind;
use crate::journal;
use crate::observation::{Observed, Receipt};

/// Attempts of an item before it is at fault: a disk that fails now and then should not set aside what it takes later.
const TRIES: usize = 3;

/// Why a post is refused, where outcomes are counted.
const SET_ASIDE: &str = "it could not be folded and was set aside";

impl Writer {
    /// Writes something small that has nothing to do with any item.
    pub(super) fn probe(&mut self) -> Result<(), AppendError> {
        let probed = self.change(|apply| apply.count_meta("probes", 1));
        // Where even this cannot be written, it is the fault of the store alone.
        probed.map_err(|error| match error {
            AppendError::Item(what) => self.hold(AppendError::Store(what)),
            lasting => lasting,
        })
    }

    fn hold(&self, error: AppendError) -> AppendError {
        self.faults.note_failing(error.clone());
        error
    }

    /// Tries something until it is known whose fault it is that it fails.
    pub(super) fn attempt<T>(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<T, AppendError>,
    ) -> Result<T, AppendError> {
        let mut failed = work(self);
        for _ in 0..TRIES {
            match failed {
                Err(AppendError::Item(_)) => self.probe()?,
                other => return other,
            }
            failed = work(self);
        }
        failed
    }

    /// Writes a batch by itself; what of it cannot be written is left out, or set aside.
    pub(super) fn write_alone(
        &mut self,
        batch: Prepared,
        unwritten: RefusalHandling,
    ) -> Result<Receipt, AppendError> {
        if !batch.stands_alone() {
            let mut batch = batch;
            return self.attempt(|writer| writer.write_one(&mut batch));
        }
        let mut receipt = Receipt::default();
        // The parts that are left, the first of them last.
        let mut parts = vec![batch];
        while let Some(mut part) = parts.pop() {
            let count = part.batch.observed.len();
            let written = if count > 1 {
                self.write_one(&mut part)
            } else {
                self.attempt(|writer| writer.write_one(&mut part))
            };
            match written {
                Ok(done) => {
                    receipt.outcomes.extend(done.outcomes);
                    receipt.created.extend(done.created);
                    receipt.seq = done.seq;
                }
                Err(AppendError::Item(_)) if count > 1 => {
                    self.probe()?;
                    let rest = part.split_off(count / 2);
                    parts.extend([rest, part]);
                }
                Err(AppendError::Item(why)) => {
                    if unwritten == RefusalHandling::SetAside {
                        self.set_post_aside(part, &why.to_string())?;
                    } else {
                        receipt.unwritten.push((receipt.outcomes.len(), why.to_string()));
                    }
                    receipt.outcomes.push(Outcome::Refused);
                }
                Err(lasting) => return Err(lasting),
            }
        }
        Ok(receipt)
    }

    fn write_one(&mut self, batch: &mut Prepared) -> Result<Receipt, AppendError> {
        self.write(vec![batch]).map(|mut receipts| receipts.pop().unwrap_or_default())
    }

    /// Keeps a post that cannot be written where the next start finds it, and counts it.
    pub(super) fn set_post_aside(&mut self, part: Prepared, why: &str) -> Result<(), AppendError> {
        self.keep_posts(&part, why)?;
        let observed = part.into_batch().observed;
        self.change(|apply| {
            Self::count_set_aside(apply, &observed);
            Ok(())
        })
    }

    /// Keeps posts as records of the journal.
    pub(super) fn keep_posts(&mut self, part: &Prepared, why: &str) -> Result<(), AppendError> {
        for (observed, ready) in part.observations() {
            let record =
                journal::encode(observed, ready).unwrap_or_else(|| format!("{observed:?}").into_bytes());
            let kept = self.aside.keep(AsideKind::Post, why, &record);
            kept.map_err(|error| self.hold(AppendError::from(error)))?;
        }
        Ok(())
    }

    /// Counts posts that were set aside.
    pub(super) fn count_set_aside(apply: &mut super::append::FoldTransaction<'_>, observed: &[Observed]) {
        for observed in observed {
            apply.count(Outcome::Refused, observed, SET_ASIDE);
        }
    }

    /// Tries again to write the posts that were set aside before: the cause may be gone.
    pub(super) fn try_set_aside_again(&mut self) {
        for path in self.aside.list(AsideKind::Post) {
            let Some(mut part) = std::fs::read(&path).ok().and_then(|bytes| journal::decode(&bytes)) else {
                continue;
            };
            let written = self.attempt(|writer| {
                writer.change(|apply| {
                    apply.batch(&mut part)?;
                    for observed in &part.batch.observed {
                        apply.uncount(Outcome::Refused, observed, SET_ASIDE);
                    }
                    Ok(())
                })
            });
            match written {
                // Written twice, it would be known by its name.
                Ok(()) => drop(self.aside.remove(&path)),
                Err(AppendError::Item(_)) => {}
                Err(_) => return,
            }
        }
    }
}
