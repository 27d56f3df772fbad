//! Shows how far the history is read: a line on a terminal, which a sentence replaces at the end.

use std::sync::Arc;
use std::time::Duration;

use agent_tracer_intake::import::Progress;
use agent_tracer_intake::{History, Stop};

use crate::commands::import::progress::Display;
use crate::failure::{Failure, plain};
use crate::figures;

/// The interval between two looks.
const EVERY: Duration = Duration::from_millis(200);

/// Returns the progress; `None` once the server stops.
pub(super) type Look = Arc<dyn Fn() -> Option<History> + Send + Sync>;

/// Starts the thread that shows it, until all is read or the stop. Without a terminal the log of the server has the same.
pub(super) fn start(look: Look, stop: &Stop) -> Result<(), Failure> {
    let mut display = Display::of_process();
    if !display.is_shown() {
        return Ok(());
    }
    let stop = stop.clone();
    let show = move || {
        while let Some(History::Reading(progress)) = look() {
            if progress.files_total > 0 {
                display.show(&progress);
            }
            if stop.wait(EVERY) {
                break;
            }
        }
        display.clear();
        if let Some(History::Done(progress)) = look().filter(|_| !stop.is_requested())
            && let Some(line) = done(&progress)
        {
            display.say(&line);
            display.keep();
        }
    };
    let started = std::thread::Builder::new().name("progress".to_owned()).spawn(show);
    started.map(drop).map_err(|cause| Failure::new(format!("cannot start a thread: {}", plain(&cause))))
}

/// Returns the last line; none if there was nothing new to read.
fn done(progress: &Progress) -> Option<String> {
    let (files, rows) = (progress.files_total, figures::count(progress.rows));
    let noun = if files == 1 { "file" } else { "files" };
    (files > 0).then(|| format!("  history    {files} session {noun} read, {rows} rows"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_says_what_was_read_and_nothing_is_not_worth_one() {
        let progress = Progress { files: 12, files_total: 12, rows: 34_567, ..Progress::default() };
        assert_eq!(done(&progress).as_deref(), Some("  history    12 session files read, 34.6k rows"));
        assert_eq!(done(&Progress::default()), None);
    }
}
