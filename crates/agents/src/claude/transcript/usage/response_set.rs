//! Responses, each once.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use agent_tracer_event::{Millis, Tokens};
use xxhash_rust::xxh3::xxh3_128;

use super::super::text::Text;
use crate::usage::{BilledTokens, ScannedAccount, ScannedResponse};

/// Names a response, in whatever file it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ResponseId(u128);

impl ResponseId {
    /// Hashes the best name there is: the provider's for the message, else for the request, else the client's for the
    /// row. A row without any of them is only ever itself.
    pub(super) fn from_names(message: Text<'_>, request: Text<'_>, row: Text<'_>, line: &[u8]) -> Self {
        for (letter, name) in [(1, message), (2, request), (3, row)] {
            // Blocks of a message, copies in a fork and echoes of a subagent all repeat the message's id.
            if !name.is_empty() {
                // Raw bytes: the client spells an id one way, so unescaping it would only cost time. The letter keeps
                // equal texts of different kinds apart.
                return Self(xxh3_128(name.raw()).wrapping_add(letter));
            }
        }
        Self(xxh3_128(line))
    }
}

/// A row that reports a response.
#[derive(Clone, Debug)]
pub(super) struct Response<'a> {
    pub(super) id: ResponseId,
    pub(super) model: Cow<'a, str>,
    pub(super) session: Cow<'a, str>,
    pub(super) agent: Option<Cow<'a, str>>,
    pub(super) at: Option<Millis>,
    /// Holds the time at which the file began that tells it.
    pub(super) began: Option<Millis>,
    pub(super) billed: BilledTokens,
    pub(super) cost_usd: Option<f64>,
}

/// A response with its names as numbers.
#[derive(Clone, Copy, Debug)]
struct CountedResponse {
    billed: BilledTokens,
    cost_usd: Option<f64>,
    at: Option<Millis>,
    model: u32,
    source: u32,
}

/// A response as the set holds it.
// There are a hundred thousand of them in a gigabyte of transcripts: a missing number is a value and not an option, and a
// number that is never large has 32 bits.
#[derive(Clone, Copy, Debug)]
struct PackedResponse {
    /// Input, output, cache read, cache creation.
    counts: [u64; 4],
    /// NaN if there is none.
    cost_usd: f64,
    /// The least number if there is none.
    at: i64,
    /// Cache creation of five minutes and of an hour, reasoning, web searches, web fetches.
    parts: [u32; 5],
    model: u32,
    source: u32,
}

/// Marks a part that is not known.
const UNKNOWN: u32 = u32::MAX;

impl PackedResponse {
    fn new(line: &CountedResponse) -> Self {
        let Tokens { input, output, cache_read, cache_write, reasoning } = line.billed.tokens;
        let small = |count: u64| u32::try_from(count).unwrap_or(UNKNOWN - 1).min(UNKNOWN - 1);
        let part = |count: Option<u64>| count.map_or(UNKNOWN, small);
        Self {
            counts: [input, output, cache_read, cache_write],
            cost_usd: line.cost_usd.unwrap_or(f64::NAN),
            at: line.at.map_or(i64::MIN, |at| at.0),
            parts: [
                part(line.billed.cache_write_5m),
                part(line.billed.cache_write_1h),
                part(reasoning),
                small(line.billed.web_searches),
                small(line.billed.web_fetches),
            ],
            model: line.model,
            source: line.source,
        }
    }

    fn unpack(&self) -> CountedResponse {
        let [input, output, cache_read, cache_write] = self.counts;
        let [five, hour, reasoning, searches, fetches] = self.parts;
        let part = |count: u32| (count != UNKNOWN).then_some(u64::from(count));
        CountedResponse {
            billed: BilledTokens {
                tokens: Tokens { input, output, cache_read, cache_write, reasoning: part(reasoning) },
                cache_write_5m: part(five),
                cache_write_1h: part(hour),
                web_searches: u64::from(searches),
                web_fetches: u64::from(fetches),
            },
            cost_usd: Some(self.cost_usd).filter(|cost| !cost.is_nan()),
            at: (self.at != i64::MIN).then_some(Millis(self.at)),
            model: self.model,
            source: self.source,
        }
    }
}

/// Describes whose response it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Source {
    session: u32,
    agent: Option<String>,
}

/// All responses of any number of files, each once. The order in which files are read changes no sum.
#[derive(Clone, Debug, Default)]
pub struct ResponseSet {
    lines: HashMap<ResponseId, PackedResponse, BuildHasherDefault<IdHasher>>,
    models: Names<String>,
    sessions: Names<String>,
    /// Holds the time at which each session's own file began.
    began: Vec<Option<Millis>>,
    sources: Names<Source>,
    /// The accounts of each session; those of one session in the order of its file.
    accounts: BTreeMap<String, Vec<ScannedAccount>>,
}

impl ResponseSet {
    /// Returns how many responses there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns what all of them cost.
    #[must_use]
    pub fn total(&self) -> BilledTokens {
        self.lines.values().fold(BilledTokens::default(), |sum, packed| sum.plus(&packed.unpack().billed))
    }

    /// Returns the responses, in no order.
    pub fn responses(&self) -> impl Iterator<Item = ScannedResponse<'_>> {
        self.lines.values().map(|packed| {
            let line = packed.unpack();
            let source = self.sources.get(line.source);
            ScannedResponse {
                model: self.models.get(line.model).map_or("", String::as_str),
                session: source
                    .and_then(|source| self.sessions.get(source.session))
                    .map_or("", String::as_str),
                subagent: source.and_then(|source| source.agent.as_deref()),
                project: None,
                at: line.at,
                billed: line.billed,
                cost_usd: line.cost_usd,
                service_tier: None,
            }
        })
    }

    /// Returns the accounts of every session that has some, in the order of its file.
    pub fn accounts(&self) -> impl Iterator<Item = (&str, &[ScannedAccount])> {
        self.accounts.iter().map(|(session, accounts)| (session.as_str(), accounts.as_slice()))
    }

    /// Returns when a session's own file began.
    #[must_use]
    pub fn began(&self, session: &str) -> Option<Millis> {
        let number = self.sessions.numbers.get(session)?;
        self.began.get(*number as usize).copied().flatten()
    }

    pub(super) fn add_account(&mut self, session: &str, account: ScannedAccount) {
        self.accounts.entry(session.to_owned()).or_default().push(account);
    }

    pub(super) fn add(&mut self, response: &Response<'_>) {
        let source = self.source(&response.session, response.agent.as_deref(), response.began);
        let model = self.models.number(&*response.model, str::to_owned);
        let Response { billed, cost_usd, at, .. } = *response;
        self.fold(response.id, CountedResponse { billed, cost_usd, at, model, source });
    }

    /// Takes over everything that another set holds.
    pub fn merge(&mut self, other: &Self) {
        for (session, accounts) in &other.accounts {
            self.accounts.entry(session.clone()).or_default().extend(accounts.iter().cloned());
        }
        // Names are few and responses are many: every name is looked up once.
        let models: Vec<u32> =
            other.models.all.iter().map(|name| self.models.number(name.as_str(), str::to_owned)).collect();
        let sessions: Vec<u32> = (other.sessions.all.iter().zip(&other.began))
            .map(|(name, began)| self.session(name, *began))
            .collect();
        let number = |names: &[u32], index: u32| names.get(index as usize).copied().unwrap_or(u32::MAX);
        let sources: Vec<u32> = (other.sources.all.iter())
            .map(|source| {
                let session = number(&sessions, source.session);
                self.sources.number(&Source { session, agent: source.agent.clone() }, Source::clone)
            })
            .collect();
        self.lines.reserve(other.lines.len().saturating_sub(self.lines.len()));
        for (id, packed) in &other.lines {
            let line = packed.unpack();
            let (model, source) = (number(&models, line.model), number(&sources, line.source));
            self.fold(*id, CountedResponse { model, source, ..line });
        }
    }

    fn fold(&mut self, id: ResponseId, line: CountedResponse) {
        let Some(known) = self.lines.get(&id).map(PackedResponse::unpack) else {
            self.lines.insert(id, PackedResponse::new(&line));
            return;
        };
        let owner = if known.source == line.source { known } else { self.owner(known, line) };
        // The largest of each number and not the last row's: files are read in any order, and a row that was written
        // early has fewer.
        let billed = known.billed.fold(&line.billed);
        let at = earlier(known.at, line.at);
        let cost_usd = match (known.cost_usd, line.cost_usd) {
            (Some(one), Some(two)) => Some(one.max(two)),
            (one, two) => one.or(two),
        };
        let line = CountedResponse { billed, cost_usd, at, model: owner.model, source: owner.source };
        self.lines.insert(id, PackedResponse::new(&line));
    }

    /// Returns the report of two that comes from the one who asked: the session that began first, and in it the subagent rather
    /// than the session, whose file may echo the prompts of its subagents.
    fn owner(&self, one: CountedResponse, two: CountedResponse) -> CountedResponse {
        let rank = |line: &CountedResponse| {
            let source = self.sources.get(line.source)?;
            let began = self.began.get(source.session as usize).copied().flatten();
            let began = began.map_or(i64::MAX, |began| began.0);
            Some((began, self.sessions.get(source.session)?, source.agent.is_none(), &source.agent))
        };
        match (rank(&one), rank(&two)) {
            (Some(first), Some(second)) if second < first => two,
            (None, Some(_)) => two,
            _ => one,
        }
    }

    fn session(&mut self, name: &str, began: Option<Millis>) -> u32 {
        let number = self.sessions.number(name, str::to_owned);
        if self.began.len() <= number as usize {
            self.began.resize(number as usize + 1, None);
        }
        if let Some(known) = self.began.get_mut(number as usize) {
            *known = earlier(*known, began);
        }
        number
    }

    fn source(&mut self, session: &str, agent: Option<&str>, began: Option<Millis>) -> u32 {
        let session = self.session(session, began);
        let known = self.sources.last(|source| source.session == session && source.agent.as_deref() == agent);
        known.unwrap_or_else(|| {
            let source = Source { session, agent: agent.map(str::to_owned) };
            self.sources.number(&source, Source::clone)
        })
    }
}

fn earlier(one: Option<Millis>, two: Option<Millis>) -> Option<Millis> {
    match (one, two) {
        (Some(one), Some(two)) => Some(one.min(two)),
        (one, two) => one.or(two),
    }
}

/// Values that occur often, by number.
#[derive(Clone, Debug)]
struct Names<T> {
    all: Vec<T>,
    numbers: HashMap<T, u32>,
    last: u32,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self { all: Vec::new(), numbers: HashMap::new(), last: u32::MAX }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Names<T> {
    fn get(&self, number: u32) -> Option<&T> {
        self.all.get(number as usize)
    }

    /// Returns the number that was asked for last, if it fits: the rows of one file name the same things.
    fn last(&self, fits: impl Fn(&T) -> bool) -> Option<u32> {
        self.get(self.last).filter(|name| fits(name)).map(|_| self.last)
    }

    fn number<Q>(&mut self, name: &Q, own: impl Fn(&Q) -> T) -> u32
    where
        T: std::borrow::Borrow<Q>,
        Q: Eq + std::hash::Hash + ?Sized,
    {
        if let Some(number) = self.last(|known| known.borrow() == name) {
            return number;
        }
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                // More names than that do not fit into memory anyway.
                let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
                self.all.push(own(name));
                self.numbers.insert(own(name), number);
                number
            }
        };
        self.last = number;
        number
    }
}

/// Returns the id as its hash, because ids are hashes already.
#[derive(Clone, Copy, Debug, Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, hash: u128) {
        self.0 = hash as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_response_unpacks_unchanged() {
        let known = CountedResponse {
            billed: BilledTokens {
                tokens: Tokens {
                    input: u64::MAX,
                    output: 2,
                    cache_read: 3,
                    cache_write: 9,
                    reasoning: Some(0),
                },
                cache_write_5m: Some(4),
                cache_write_1h: Some(5),
                web_searches: 6,
                web_fetches: 7,
            },
            cost_usd: Some(0.25),
            at: Some(Millis(-1)),
            model: 8,
            source: 9,
        };
        let empty = CountedResponse { billed: BilledTokens::default(), cost_usd: None, at: None, ..known };
        for line in [known, empty] {
            let out = PackedResponse::new(&line).unpack();
            assert_eq!((out.billed, out.cost_usd, out.at), (line.billed, line.cost_usd, line.at));
            assert_eq!((out.model, out.source), (8, 9));
        }
        assert!(size_of::<PackedResponse>() <= 80);
    }
}
