//! The usage in session files: what each response cost, and nothing else.
//!
//! A question that is asked once (`usage --files`) needs no store. An implementation stands in the agent's folder and skips
//! every line that cannot hold tokens. The caller opens the files, merges the collections of its threads, and prices what they
//! hold.
//!
//! Law: a response counts once, however many files and lines repeat it, and the order of the files changes no sum.

use std::any::Any;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

use agent_tracer_event::{Agent, Millis, Tokens};

use crate::adapter;
use crate::sessions::SessionFile;

/// The counts of one response, or of a sum of them: tokens, and the counts that are billed beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BilledTokens {
    /// The tokens.
    pub tokens: Tokens,
    /// Those of the written tokens that a cache keeps for five minutes, where the split is given.
    pub cache_write_5m: Option<u64>,
    /// Those of the written tokens that a cache keeps for an hour, where the split is given.
    pub cache_write_1h: Option<u64>,
    /// Searches that the provider made.
    pub web_searches: u64,
    /// Pages that the provider fetched.
    pub web_fetches: u64,
}

impl BilledTokens {
    /// Returns the counts of a response that two rows report: the larger of each number.
    ///
    /// Older clients wrote a row per block while the answer was still arriving, with the tokens so far; later ones
    /// repeat the final numbers. Either way the largest is the true one, in whatever order the rows are read.
    #[must_use]
    pub fn fold(&self, other: &Self) -> Self {
        self.combine(other, u64::max)
    }

    /// Returns the sum of two responses.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.combine(other, u64::saturating_add)
    }

    fn combine(&self, other: &Self, count: impl Fn(u64, u64) -> u64) -> Self {
        let known = |one: Option<u64>, two: Option<u64>| match (one, two) {
            (None, None) => None,
            (one, two) => Some(count(one.unwrap_or(0), two.unwrap_or(0))),
        };
        Self {
            tokens: self.tokens.combine(&other.tokens, &count),
            cache_write_5m: known(self.cache_write_5m, other.cache_write_5m),
            cache_write_1h: known(self.cache_write_1h, other.cache_write_1h),
            web_searches: count(self.web_searches, other.web_searches),
            web_fetches: count(self.web_fetches, other.web_fetches),
        }
    }
}

/// A response that was counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScannedResponse<'a> {
    /// The session that asked: the root of its tree. Of the several whose files hold a response, the one that began first, because
    /// a fork begins after the session that it copies.
    pub session: &'a str,
    /// The subagent that asked, if one did.
    pub subagent: Option<&'a str>,
    /// The model that answered.
    pub model: &'a str,
    /// The working directory; `None` if only the place of the file names the project.
    pub project: Option<&'a str>,
    /// The time at which it was first written down.
    pub at: Option<Millis>,
    /// The billed counts.
    pub billed: BilledTokens,
    /// The cost in dollars, if the client reports one.
    pub cost_usd: Option<f64>,
    /// The service that was paid for, unless it is the ordinary one.
    pub service_tier: Option<&'a str>,
}

/// A client's own account of a session: cumulative, and of more responses than it writes down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScannedAccount {
    /// The time of the last response before it.
    pub at: Option<Millis>,
    /// The time since which it counts. A fork that begins with its parent's numbers has its parent's.
    pub started: Option<Millis>,
    /// The billed counts and the cost in dollars, as the client reports it, by model.
    pub models: BTreeMap<String, (BilledTokens, Option<f64>)>,
}

/// Reasons for which an account holds more than the responses of its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccountCauses {
    /// The conversation was compacted, by a response that is not written down.
    pub compacted: bool,
    /// A tool searched the web by a model of its own.
    pub searched: bool,
    /// A response was cut short, and the client counts it.
    pub cut_short: bool,
}

/// The usage of any number of files of one agent.
// `Any`, so that a merge finds its own type behind the box.
pub trait UsageCollection: Any + Send {
    /// Reads one file to its end, in parts as large as `buffer`.
    ///
    /// # Errors
    ///
    /// The error of `bytes`. What was read before it stays counted.
    fn read(
        &mut self,
        path: &Path,
        file: &SessionFile,
        bytes: &mut dyn Read,
        buffer: &mut [u8],
    ) -> io::Result<()>;

    /// Takes over everything that another collection of the same agent holds.
    fn merge(&mut self, other: Box<dyn UsageCollection>);

    /// Returns the responses, each once and in no order.
    fn responses(&self) -> Box<dyn Iterator<Item = ScannedResponse<'_>> + '_>;

    /// Returns how many lines with usage could not be read. Any number but zero means that the sums may be too low.
    fn unreadable(&self) -> u64 {
        0
    }

    /// Returns the accounts of every session that has some, in the order of its file.
    fn accounts(&self) -> Box<dyn Iterator<Item = (&str, &[ScannedAccount])> + '_> {
        Box::new(std::iter::empty())
    }

    /// Returns when a session's own file began.
    fn began(&self, _session: &str) -> Option<Millis> {
        None
    }

    /// Searches the content of a session's file for the reasons why its account holds more.
    fn account_causes(&self, _content: &[u8]) -> AccountCauses {
        AccountCauses::default()
    }
}

/// Returns an empty collection for an agent; `None` if its session files report no usage.
#[must_use]
pub fn collection(agent: Agent) -> Option<Box<dyn UsageCollection>> {
    adapter::of(agent).usage_collection()
}

/// Calls back for every part of a file.
pub(crate) fn read_parts(
    bytes: &mut dyn Read,
    buffer: &mut [u8],
    mut each: impl FnMut(&[u8]),
) -> io::Result<()> {
    loop {
        // A short read is no end: decompression returns what it has.
        let length = bytes.read(buffer)?;
        match buffer.get(..length).filter(|part| !part.is_empty()) {
            Some(part) => each(part),
            None => return Ok(()),
        }
    }
}
