//! Reports the upgrade of an older store: the step, the progress, and the remaining time.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use agent_tracer_ledger::{Stage, Upgrade};
use tracing::info;

use crate::figures::duration;

/// A line is written no more often than this: a server's standard error is a log.
const BETWEEN: Duration = Duration::from_secs(2);

/// Holds the progress as far as the next line depends on it.
#[derive(Default)]
struct Progress {
    /// Start of the copy, and of the change.
    copying: Option<Instant>,
    changing: Option<Instant>,
    said: Option<Instant>,
}

/// Writes lines about it to the log if this process has one, else on standard error.
pub(crate) fn report() -> impl Fn(Upgrade) + Send + Sync + 'static {
    let progress = Mutex::new(Progress::default());
    move |upgrade| {
        let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = progress.next(&upgrade, Instant::now()) {
            // Commands without a log, such as `import`, bring a store up to date too.
            if tracing::dispatcher::has_been_set() {
                let Upgrade { from, to, stage } = upgrade;
                let stage = match stage {
                    Stage::Copying { .. } => "copying",
                    Stage::Changing { .. } => "changing",
                    Stage::Done => "done",
                };
                info!(schema.from = from, schema.to = to, stage, "{line}");
            } else {
                // Standard error without a reader must not end it.
                drop(writeln!(io::stderr().lock(), "{line}"));
            }
        }
    }
}

impl Progress {
    /// Returns the next line to print, if it is time for one.
    fn next(&mut self, upgrade: &Upgrade, now: Instant) -> Option<String> {
        let copying = *self.copying.get_or_insert(now);
        if !matches!(upgrade.stage, Stage::Copying { .. }) {
            self.changing.get_or_insert(now);
        }
        let is_due = self.said.is_none_or(|said| now.duration_since(said) >= BETWEEN);
        // Where nothing took long nothing is said of its end.
        let is_end = upgrade.stage == Stage::Done && now.duration_since(copying) >= BETWEEN;
        if !(is_due && upgrade.stage != Stage::Done || is_end) {
            return None;
        }
        self.said = Some(now);
        let changing = self.changing.unwrap_or(now);
        Some(line(upgrade, changing.duration_since(copying), now.duration_since(changing)))
    }
}

/// Returns the line for a stage; `copied` and `changed` are the time that copying and changing took so far.
fn line(upgrade: &Upgrade, copied: Duration, changed: Duration) -> String {
    let Upgrade { from, to, stage } = upgrade;
    let about = |took: Duration| duration(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    match stage {
        Stage::Copying { done, total } => {
            let left = if *done == 0 || copied.is_zero() {
                String::new()
            } else {
                let share = total.saturating_sub(*done) as f64 / *done as f64;
                format!(", about {} more", about(copied.mul_f64(share.min(1e6))))
            };
            format!(
                "store: from schema {from} to {to}: {} of {} copied first, to be safe{left}",
                size(*done),
                size(*total)
            )
        }
        Stage::Changing { step, of } => format!(
            "store: from schema {from} to {to}: step {step} of {of}, {} so far; a step takes about as long as the copy, {}",
            about(changed),
            about(copied)
        ),
        Stage::Done => format!(
            "store: now of schema {to}, after {}; the copy of schema {from} stays beside it until you remove it",
            about(copied + changed)
        ),
    }
}

fn size(bytes: u64) -> String {
    if bytes < 1_000_000_000 {
        format!("{} MB", bytes / 1_000_000)
    } else {
        format!("{:.1} GB", bytes as f64 / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(stage: Stage) -> Upgrade {
        Upgrade { from: 5, to: 6, stage }
    }

    #[test]
    fn lines_tell_what_is_done_how_far_it_is_and_about_how_long_still() {
        let half = at(Stage::Copying { done: 4_000_000_000, total: 16_000_000_000 });
        assert_eq!(
            line(&half, Duration::from_secs(10), Duration::ZERO),
            "store: from schema 5 to 6: 4.0 GB of 16.0 GB copied first, to be safe, about 30s more"
        );
        let step = at(Stage::Changing { step: 1, of: 2 });
        assert_eq!(
            line(&step, Duration::from_secs(40), Duration::from_secs(12)),
            "store: from schema 5 to 6: step 1 of 2, 12s so far; a step takes about as long as the copy, 40s"
        );
        assert!(line(&at(Stage::Done), Duration::from_secs(40), Duration::from_secs(47)).contains("1m27s"));
        let begun = at(Stage::Copying { done: 0, total: 81_000_000 });
        assert!(
            line(&begun, Duration::ZERO, Duration::ZERO).ends_with("0 MB of 81 MB copied first, to be safe")
        );
    }

    #[test]
    fn a_long_one_is_reported_now_and_then_and_a_short_one_once() {
        let begun = Instant::now();
        let mut progress = Progress::default();
        let copying = at(Stage::Copying { done: 1, total: 2 });
        assert!(progress.next(&copying, begun).is_some());
        assert!(progress.next(&copying, begun + BETWEEN / 2).is_none());
        let mut short = Progress { copying: progress.copying, changing: None, said: progress.said };
        assert!(short.next(&at(Stage::Done), begun + BETWEEN / 2).is_none());
        assert!(progress.next(&copying, begun + BETWEEN).is_some());
        assert!(
            progress.next(&at(Stage::Done), begun + BETWEEN).is_some(),
            "the end of a long one is reported at once"
        );
    }
}
