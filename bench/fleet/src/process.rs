//! Cost of a process.

use std::fs;
use std::io::Write;

/// Ticks in a second, as `/proc` counts on every Linux.
const TICKS: f64 = 100.0;

/// Processor time of a process with all of its threads.
pub(crate) fn cpu_seconds(pid: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Its name may hold anything, so the fields are counted behind it: the 12th and 13th are time in user and kernel.
    let behind = text.rsplit_once(')').map_or("", |(_, behind)| behind);
    let ticks = behind.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS
}

/// Forgets the highest memory of this process, so that what comes has its own.
pub(crate) fn forget_peak() {
    let opened = fs::OpenOptions::new().write(true).open("/proc/self/clear_refs");
    // Without it the peak is of everything so far, and larger.
    drop(opened.and_then(|mut file| file.write_all(b"5")));
}
