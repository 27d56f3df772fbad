//! Reports the progress of an import: one line while it runs on a terminal, and one when it is done.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use agent_tracer_intake::import::{Plan, Progress, Summary};

use crate::table;

/// A line on the terminal that is written over.
pub(in crate::commands) struct Display {
    is_shown: bool,
    begun: Instant,
    is_dirty: bool,
}

impl Display {
    /// Shows something only if standard error is a terminal.
    pub(in crate::commands) fn of_process() -> Display {
        let capable = std::env::var_os("TERM").is_some_and(|term| term != "dumb");
        Display { is_shown: io::stderr().is_terminal() && capable, begun: Instant::now(), is_dirty: false }
    }

    /// Returns whether anything is shown.
    pub(in crate::commands) fn is_shown(&self) -> bool {
        self.is_shown
    }

    pub(in crate::commands) fn show(&mut self, progress: &Progress) {
        let elapsed = self.begun.elapsed();
        self.say(&line(progress, elapsed));
    }

    pub(in crate::commands) fn say(&mut self, line: &str) {
        if self.is_shown {
            self.is_dirty = true;
            // A line that is longer than the terminal is wide cannot be written over.
            let room =
                terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| usize::from(width.0));
            let line = table::cut(line, room.saturating_sub(1));
            // A terminal that is gone is no reason to stop.
            drop(write!(io::stderr().lock(), "\r\x1b[K{line}"));
        }
    }

    /// Ends the line, so that it stays.
    pub(in crate::commands) fn keep(&mut self) {
        if std::mem::take(&mut self.is_dirty) {
            drop(writeln!(io::stderr().lock()));
        }
    }

    pub(in crate::commands) fn clear(&mut self) {
        if std::mem::take(&mut self.is_dirty) {
            drop(write!(io::stderr().lock(), "\r\x1b[K"));
        }
    }
}

fn line(progress: &Progress, elapsed: Duration) -> String {
    let Progress { files, files_total, bytes, bytes_total, rows } = *progress;
    let seconds = elapsed.as_secs_f64().max(0.001);
    let speed = bytes as f64 / seconds;
    let left = bytes_total.saturating_sub(bytes);
    let eta = if speed > 0.0 && left > 0 {
        format!(", {} left", time(Duration::from_secs_f64((left as f64 / speed).min(1e6))))
    } else {
        String::new()
    };
    format!(
        "{files} of {files_total} files, {} of {}, {rows} rows, {} MB/s{eta}",
        size(bytes),
        size(bytes_total),
        (speed / 1e6).round()
    )
}

/// Returns the text for a planned import.
pub(super) fn planned(plan: &Plan) -> String {
    let old = if plan.too_old > 0 { format!(", {} too old", plan.too_old) } else { String::new() };
    format!(
        "would read {} of {} files ({}); {} unchanged{old}\n",
        plan.files.len(),
        plan.found,
        size(plan.bytes),
        plan.unchanged
    )
}

/// Returns the text for a finished import.
pub(super) fn done(plan: &Plan, summary: &Summary, elapsed: Duration) -> String {
    let mut text = format!(
        "read {} of {} files: {} rows, {} in {}; {} unchanged",
        summary.read,
        plan.found,
        summary.counts.rows,
        size(summary.counts.bytes),
        time(elapsed),
        plan.unchanged
    );
    for (count, what) in
        [(summary.failed, "could not be read"), (summary.later, "left for later"), (plan.too_old, "too old")]
    {
        if count > 0 {
            text.push_str(&format!(", {count} {what}"));
        }
    }
    if summary.is_stopped {
        text.push_str("; stopped, the next run goes on");
    }
    text.push('\n');
    text
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        1_000_000..10_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{} GB", bytes / 1_000_000_000),
    }
}

fn time(elapsed: Duration) -> String {
    match elapsed.as_secs() {
        0 => format!("{} ms", elapsed.as_millis()),
        1..=9 => format!("{:.1} s", elapsed.as_secs_f64()),
        10..=119 => format!("{} s", elapsed.as_secs()),
        seconds => format!("{} min", seconds / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_how_far_it_is_how_fast_and_how_long_still() {
        let progress =
            Progress { files: 3, files_total: 10, bytes: 40_000_000, bytes_total: 200_000_000, rows: 7000 };
        let text = line(&progress, Duration::from_secs(2));
        assert_eq!(text, "3 of 10 files, 40 MB of 200 MB, 7000 rows, 20 MB/s, 8.0 s left");
        let begun = line(&Progress::default(), Duration::ZERO);
        assert_eq!(begun, "0 of 0 files, 0 B of 0 B, 0 rows, 0 MB/s");
    }

    #[test]
    fn the_end_tells_what_was_not_read_and_why() {
        let plan = Plan { found: 9, unchanged: 4, too_old: 1, ..Plan::default() };
        let summary = Summary { read: 3, failed: 1, is_stopped: true, ..Summary::default() };
        assert_eq!(
            done(&plan, &summary, Duration::from_millis(5)),
            "read 3 of 9 files: 0 rows, 0 B in 5 ms; 4 unchanged, 1 could not be read, 1 too old; \
             stopped, the next run goes on\n"
        );
    }
}
