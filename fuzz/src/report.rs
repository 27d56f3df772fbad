//! The output of the harness, and the file it leaves for the analysis of a failure.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use agent_tracer_spool::checksum::xxh64;

use crate::harness::{Ending, Failure};

/// Bytes shown in hexadecimal; the file has them all.
const SHOWN_BYTES: usize = 512;

/// Returns the text for one ending.
pub fn text(target: &str, seed: u64, ending: &Ending) -> String {
    match ending {
        Ending::Passed { runs, elapsed } => {
            let seconds = elapsed.as_secs_f64();
            let rate = *runs as f64 / seconds.max(1e-9);
            format!("{target}: passed, {runs} runs in {seconds:.1} s, {rate:.0} runs/s, seed {seed}")
        }
        Ending::Panicked(failure) => failed(target, seed, "panicked", failure),
        Ending::StoodStill(failure) => failed(target, seed, "stood still", failure),
    }
}

fn failed(target: &str, seed: u64, how: &str, failure: &Failure) -> String {
    let Failure { run, input, message } = failure;
    let shown = input.get(..SHOWN_BYTES).unwrap_or(input);
    let rest = match input.len() - shown.len() {
        0 => String::new(),
        bytes => format!(" and {bytes} bytes more"),
    };
    let hex: String = shown.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "{target}: {how} in run {run} with seed {seed}: {message}\ninput of {} bytes: {hex}{rest}",
        input.len()
    )
}

/// Writes the failing input to a file named after target and content.
pub fn save(folder: &Path, target: &str, failure: &Failure) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let path = folder.join(format!("{target}-{:016x}.bin", xxh64(&failure.input)));
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(mut file) => file.write_all(&failure.input)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    Ok(path)
}
