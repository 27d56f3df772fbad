//! Contestants and their answers.

use std::path::Path;

use agent_tracer_event::Tokens;
use serde::{Deserialize, Serialize};

use crate::{floors, ours};

/// A contestant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Floor: list and stat every file.
    Walk,
    /// Ours: see whether any file changed since it was read.
    Unchanged,
    /// Floor: find every line.
    Newline,
    /// Floor: find lines with a usage, parse those with `serde_json`.
    UsagePre,
    /// Ours: what responses cost.
    Usage,
    /// Floor: the ids, times, models, usages and tools of every row with `sonic-rs`, lazily.
    RowsLazy,
    /// Ours: the same, as the reader takes a row apart before it says anything.
    Rows,
    /// Ours: everything that rows say, after privacy, as entries.
    Entries,
}

impl Mode {
    pub(crate) const ALL: &[Self] = &[
        Self::Walk,
        Self::Unchanged,
        Self::Newline,
        Self::UsagePre,
        Self::Usage,
        Self::RowsLazy,
        Self::Rows,
        Self::Entries,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Walk => "walk",
            Self::Unchanged => "unchanged",
            Self::Newline => "newline",
            Self::UsagePre => "usage-pre",
            Self::Usage => "usage",
            Self::RowsLazy => "rows-lazy",
            Self::Rows => "rows",
            Self::Entries => "entries",
        }
    }

    /// Remark beside the name.
    pub(crate) const fn says(self) -> &'static str {
        match self {
            Self::Walk => "floor: readdir and stat",
            Self::Unchanged => "ours: walk and compare the head of every file",
            Self::Newline => "floor: memchr",
            Self::UsagePre => "floor: memmem, serde_json on hits",
            Self::Usage => "ours: usage of every response, once",
            Self::RowsLazy => "floor: sonic-rs, lazily, every row",
            Self::Rows => "ours: every row taken apart",
            Self::Entries => "ours: every row read, after privacy",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|mode| mode.name() == text)
    }
}

/// Holds the result of a contestant. All that count tokens must agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) bytes: u64,
    pub(crate) rows: u64,
    pub(crate) responses: u64,
    /// Input, output, cache read, cache creation.
    pub(crate) tokens: [u64; 4],
    /// Tool calls.
    pub(crate) calls: u64,
    /// Entries that were made.
    pub(crate) entries: u64,
    /// Peak of the resident set in kilobytes.
    pub(crate) peak_kb: u64,
}

impl Answer {
    /// The sum of two.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            rows: self.rows + other.rows,
            responses: self.responses + other.responses,
            tokens: std::array::from_fn(|index| {
                self.tokens.get(index).unwrap_or(&0) + other.tokens.get(index).unwrap_or(&0)
            }),
            calls: self.calls + other.calls,
            entries: self.entries + other.entries,
            peak_kb: self.peak_kb.max(other.peak_kb),
        }
    }
}

pub(crate) fn four(tokens: &Tokens) -> [u64; 4] {
    [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write]
}

/// Runs one contestant once, in this process.
pub(crate) fn run(mode: Mode, home: &Path, threads: usize) -> Result<Answer, String> {
    let mut answer = match mode {
        Mode::Walk => floors::walk(home)?,
        Mode::Newline => floors::newline(home, threads)?,
        Mode::UsagePre => floors::usage_pre(home, threads)?,
        Mode::RowsLazy => floors::rows_lazy(home, threads)?,
        Mode::Unchanged => ours::unchanged(home)?,
        Mode::Usage => ours::usage(home, threads)?,
        Mode::Rows => ours::rows(home, threads)?,
        Mode::Entries => ours::entries(home, threads)?,
    };
    answer.peak_kb = peak_kb();
    Ok(answer)
}

/// The peak of this process's resident set, as the kernel counts it.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
