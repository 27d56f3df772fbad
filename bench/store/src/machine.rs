//! Readings of the machine and of a process: load, memory, processor time.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::time::{ClockId, clock_gettime};

/// The load average of the last minute, to be read beside every number: others may be at work too.
pub(crate) fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(f64::NAN)
}

/// The resident set of a process in megabytes: now, and at its highest.
pub(crate) fn memory_mb(pid: u32) -> (f64, f64) {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(f64::NAN) / 1024.0
    };
    (field("VmRSS:"), field("VmHWM:"))
}

/// The part of the resident set that belongs to the process alone: without what maps files.
pub(crate) fn anonymous_mb(pid: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(f64::NAN) / 1024.0
}

/// Processor time of each living thread of a process whose name begins like this, in milliseconds.
pub(crate) struct Busy(BTreeMap<OsString, f64>);

impl Busy {
    pub(crate) fn of(pid: u32, name: &str) -> Self {
        let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Self(BTreeMap::new()) };
        let on_cpu = threads.flatten().filter_map(|thread| {
            let own = fs::read_to_string(thread.path().join("comm")).ok()?;
            if !own.starts_with(name) {
                return None;
            }
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            Some((thread.file_name(), text.split(' ').next()?.parse::<f64>().ok()? / 1e6))
        });
        Self(on_cpu.collect())
    }

    /// Returns the time spent since then. Threads come and go: one that has ended in between is left out, or the sum would
    /// lose all that it ever spent.
    pub(crate) fn since(&self, before: &Self) -> f64 {
        self.0.iter().map(|(thread, spent)| spent - before.0.get(thread).copied().unwrap_or(0.0)).sum()
    }
}

/// The bytes of a file.
pub(crate) fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |facts| facts.len())
}

/// The bytes of a database with its log.
pub(crate) fn database_size(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    size(path) + size(Path::new(&log))
}

/// Returns the time.
#[expect(clippy::disallowed_methods, reason = "a bench is a binary; its envelopes carry the time")]
pub(crate) fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Processor time of this thread so far. On a busy machine it is what a question really costs.
pub(crate) fn thread_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
