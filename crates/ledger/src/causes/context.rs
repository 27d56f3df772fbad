//! The division of every prompt among the things that it consists of, and of the cost of a task with it.
//!
//! Sizes are recorded in bytes, prompts are reported in tokens. Each addition is estimated from its size when it enters
//! and then calibrated: what the prompt grew by is divided among what entered, and stays so until the context is cut.
//! A size cannot explain any growth: beyond a plausible number of tokens for its bytes the rest is
//! [`Source::Unexplained`].
//!
//! The parts stand in a prompt in the order in which they entered, and a cache holds a prefix. So the tokens that a
//! response read from the cache are those of the oldest parts, and what was written or paid in full is the end. This
//! gives every part its price in every response.
//!
//! Law: parts add up. The tokens of all parts are the reported prompt, and the costs of all parts, of what the model
//! wrote and of requests beside the conversation are the cost of the task, to the last pico-dollar.

use std::collections::{BTreeMap, HashMap};

use super::history::{Addition, History, MarkKind, PricedResponse, Source, SourceGroup};
use super::money::{Amount, divide, fit_rates};

/// Holds what one part of the context cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartCost {
    /// The number of the fact that tells of it; `None` for parts that no fact tells of.
    pub fact: Option<i64>,
    /// The number of the response in which it was first.
    pub entered: i64,
    /// The number of the turn's fact in which it entered.
    pub turn: Option<i64>,
    /// The source.
    pub source: Source,
    /// Its recorded size.
    pub bytes: u64,
    /// Its tokens when it entered.
    pub tokens: u64,
    /// Counts the responses whose prompt it was in.
    pub responses: u64,
    /// Sums its tokens over those responses.
    pub read_tokens: u64,
    /// The price of its entry.
    pub entry: Amount,
    /// The price of all later responses: what it cost to keep it.
    pub carried: Amount,
}

impl PartCost {
    /// Returns the whole price.
    #[must_use]
    pub fn cost(&self) -> Amount {
        self.entry + self.carried
    }
}

/// Holds the division of the cost of one response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseCost {
    /// The number of its fact.
    pub response: i64,
    /// The number of its turn's fact.
    pub turn: Option<i64>,
    /// The price of the prompt; of a request beside the conversation nothing is divided.
    pub prompt: Amount,
    /// The price of everything else: what the model wrote, searches, and requests beside the conversation.
    pub rest: Amount,
    /// The request belongs to the conversation.
    pub in_conversation: bool,
}

impl ResponseCost {
    /// Returns the whole price.
    #[must_use]
    pub fn cost(&self) -> Amount {
        self.prompt + self.rest
    }
}

/// Holds the composition of one prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextSlice {
    /// The number of the response.
    pub response: i64,
    /// The moment.
    pub at: i64,
    /// The reported size of the prompt.
    pub tokens: u64,
    /// The tokens by group. They add up to `tokens`.
    pub groups: BTreeMap<SourceGroup, u64>,
    /// The distance between the reported size and the estimate from sizes alone.
    pub error_tokens: u64,
}

/// Holds the division of one conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextCost {
    /// Every part that was ever in the context, in the order of entry.
    pub parts: Vec<PartCost>,
    /// Every response, by time.
    pub responses: Vec<ResponseCost>,
    /// The composition of every prompt of the conversation, by time.
    pub slices: Vec<ContextSlice>,
}

impl ContextCost {
    /// Divides a conversation.
    #[must_use]
    pub fn divide(history: &History) -> Self {
        let mut builder = Builder::new(history);
        for response in &history.responses {
            builder.respond(response);
        }
        builder.finish()
    }

    /// Returns the cost of all responses.
    #[must_use]
    pub fn total(&self) -> Amount {
        self.responses.iter().map(ResponseCost::cost).sum()
    }

    /// Sums parts by a key; parts without one are left out.
    pub fn by<K: Ord>(&self, key: impl Fn(&PartCost) -> Option<K>) -> BTreeMap<K, PartSums> {
        let mut sums: BTreeMap<K, PartSums> = BTreeMap::new();
        for part in &self.parts {
            if let Some(key) = key(part) {
                sums.entry(key).or_default().add(part);
            }
        }
        sums
    }

    /// Returns what was offered to the model and never used, with its price: MCP servers and skills that no call
    /// names. The names that were used are given by the caller.
    #[must_use]
    pub fn unused(&self, servers: &[&str], skills: &[&str]) -> BTreeMap<Source, PartSums> {
        self.by(|part| match &part.source {
            Source::Tools { server: Some(server) } if !servers.contains(&server.as_str()) => {
                Some(part.source.clone())
            }
            Source::Skill { name: Some(name) } if !skills.contains(&name.as_str()) => {
                Some(part.source.clone())
            }
            _ => None,
        })
    }
}

/// Sums parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartSums {
    /// Counts the parts.
    pub parts: u64,
    /// Their recorded sizes.
    pub bytes: u64,
    /// Their tokens when they entered.
    pub tokens: u64,
    /// Their tokens over all responses.
    pub read_tokens: u64,
    /// The price of their entry.
    pub entry: Amount,
    /// The price of keeping them.
    pub carried: Amount,
}

impl PartSums {
    /// Adds a part.
    pub fn add(&mut self, part: &PartCost) {
        self.parts += 1;
        self.bytes = self.bytes.saturating_add(part.bytes);
        self.tokens = self.tokens.saturating_add(part.tokens);
        self.read_tokens = self.read_tokens.saturating_add(part.read_tokens);
        self.entry += part.entry;
        self.carried += part.carried;
    }
}

/// Bytes of a token of text and code, as a first estimate.
const BYTES_PER_TOKEN: u64 = 4;
/// The tokens that stand around every part: roles, ids, tags.
const FRAME_TOKENS: u64 = 12;

/// A part that is in the context now.
#[derive(Clone, Copy, Debug)]
struct PresentPart {
    /// The index of its cost.
    part: usize,
    /// The tokens that it has now.
    tokens: u64,
    /// The estimate from its size.
    estimate: u64,
}

/// The price of the tokens at one position of a prompt, summed over responses.
#[derive(Clone, Copy, Debug, Default)]
struct Density {
    priced: i128,
    unpriced: i64,
    responses: i64,
}

struct Builder<'h> {
    history: &'h History,
    done: ContextCost,
    places: Vec<PresentPart>,
    /// Tokens of all places.
    held: u64,
    /// Estimates of all places.
    estimated: u64,
    groups: BTreeMap<SourceGroup, u64>,
    /// Changes of the density since the places last moved, by position.
    edges: Vec<(u64, Density)>,
    next_addition: usize,
    next_mark: usize,
    order: HashMap<i64, usize>,
    waiting: Vec<&'h Addition>,
    before: Option<&'h PricedResponse>,
    index: usize,
    /// A new system prompt enters with this response, and everything behind it moves.
    moves: bool,
}

impl<'h> Builder<'h> {
    fn new(history: &'h History) -> Self {
        let order =
            history.responses.iter().enumerate().map(|(index, response)| (response.id, index)).collect();
        Self {
            history,
            done: ContextCost::default(),
            places: Vec::new(),
            held: 0,
            estimated: 0,
            groups: BTreeMap::new(),
            edges: Vec::new(),
            next_addition: 0,
            next_mark: 0,
            order,
            waiting: Vec::new(),
            before: None,
            index: 0,
            moves: false,
        }
    }

    fn respond(&mut self, response: &'h PricedResponse) {
        let index = self.index;
        self.index += 1;
        if !response.in_conversation {
            let rest = whole(response);
            self.done.responses.push(ResponseCost {
                response: response.id,
                turn: response.turn,
                prompt: Amount::default(),
                rest,
                in_conversation: false,
            });
            return;
        }
        let compacted = self.compacted(response.at);
        let mut fresh: Vec<Entry> = Vec::new();
        if let Some((mark, summary_bytes)) = compacted {
            self.settle();
            self.drop_conversation();
            fresh.push(Entry::new(Some(mark), response, Source::Summary, summary_bytes));
        } else if let Some(before) = self.before {
            let thinking = before.reasoning_tokens.min(before.usage.output);
            for (source, tokens) in
                [(Source::Thinking, thinking), (Source::Reply, before.usage.output - thinking)]
            {
                if tokens > 0 {
                    fresh.push(Entry::written(before, source, tokens));
                }
            }
        }
        self.take_additions(index, response.at, compacted.is_some(), &mut fresh);
        self.replace_system(&mut fresh);
        let switched = self.before.is_some_and(|before| before.model != response.model);
        let first = self.before.is_none() || compacted.is_some();
        self.calibrate(response, fresh, first, switched);
        self.price(response);
        self.slice(response);
        self.before = Some(response);
    }

    /// Returns the last compaction before a moment that was not taken into account yet, and the size of its summary.
    fn compacted(&mut self, at: i64) -> Option<(i64, u64)> {
        let mut found = None;
        while let Some(mark) = self.history.marks.get(self.next_mark).filter(|mark| mark.at <= at) {
            self.next_mark += 1;
            if let MarkKind::Compaction { summary_bytes } = mark.kind {
                found = Some((mark.id, summary_bytes));
            }
        }
        // Before the first response there is nothing to compact.
        found.filter(|_| self.before.is_some())
    }

    /// Takes what entered before a response. After a compaction, results and replies from before it are gone.
    fn take_additions(&mut self, index: usize, at: i64, compacted: bool, fresh: &mut Vec<Entry>) {
        let mut entered = std::mem::take(&mut self.waiting);
        while let Some(addition) =
            self.history.additions.get(self.next_addition).filter(|addition| addition.at <= at)
        {
            self.next_addition += 1;
            entered.push(addition);
        }
        let before = self.before.map_or(i64::MIN, |before| before.at);
        for addition in entered {
            let asked_by = addition.asked_by.and_then(|id| self.order.get(&id));
            if asked_by.is_some_and(|asked_by| *asked_by >= index) {
                self.waiting.push(addition);
            } else if !compacted || addition.source.outlives_compaction() || addition.at > before {
                fresh.push(Entry::added(addition));
            }
        }
    }

    /// Takes an old system prompt and old tools out, if new ones enter: they stand before everything else.
    fn replace_system(&mut self, fresh: &mut [Entry]) {
        let is_system = |source: &Source| source.group() == SourceGroup::System;
        fresh.sort_by_key(|entry| !is_system(&entry.source));
        self.moves = fresh.first().is_some_and(|entry| is_system(&entry.source)) && !self.places.is_empty();
        if self.moves {
            self.settle();
            let parts = &self.done.parts;
            self.places.retain(|place| parts.get(place.part).is_some_and(|part| !is_system(&part.source)));
            self.count_again();
        }
    }

    /// Divides the growth of the prompt among what entered.
    fn calibrate(&mut self, response: &PricedResponse, fresh: Vec<Entry>, first: bool, switched: bool) {
        let prompt = response.usage.prompt_tokens();
        if prompt < self.held || switched {
            // Another model counts the same text differently, and a shorter prompt has lost something.
            self.settle();
        }
        if switched && self.held > 0 && !first {
            let entering: u64 = fresh.iter().map(|entry| entry.estimate).sum();
            self.scale(prompt.saturating_sub(entering));
        } else if prompt < self.held {
            self.shrink(self.held - prompt);
        }
        let growth = prompt - self.held.min(prompt);
        let estimates: Vec<u64> = fresh.iter().map(|entry| entry.estimate).collect();
        let expected: u64 = estimates.iter().copied().fold(0, u64::saturating_add);
        let most: Vec<u64> = fresh.iter().map(Entry::most).collect();
        let most_of_all = most.iter().copied().fold(0, u64::saturating_add);
        let (mut shares, unexplained) = if growth <= expected {
            (reduce(growth, expected, &fresh), 0)
        } else {
            // Up to the limit of each part the surplus goes to the parts, in proportion to their room.
            let room: Vec<u64> =
                most.iter().zip(&estimates).map(|(most, estimate)| most - estimate).collect();
            let surplus = (growth - expected).min(most_of_all - expected);
            let more = divide(surplus, &room);
            let shares = estimates.iter().zip(more).map(|(estimate, more)| estimate + more).collect();
            (shares, growth - expected - surplus)
        };
        if fresh.is_empty() {
            shares.clear();
        }
        let mut rest = if fresh.is_empty() { growth } else { unexplained };
        // What stands before the first prompt and has no recorded size is the system prompt with its tools.
        if rest > 0
            && let Some(source) = self.beginning(first, &fresh)
        {
            self.place(response, Entry::unsized_part(response, source), rest);
            rest = 0;
        }
        for (entry, tokens) in fresh.into_iter().zip(shares) {
            self.place(response, entry, tokens);
        }
        if rest > 0 {
            self.place(response, Entry::unsized_part(response, Source::Unexplained), rest);
        }
    }

    /// Returns the source of what stands before everything with a recorded size, if it is known.
    fn beginning(&self, first: bool, fresh: &[Entry]) -> Option<Source> {
        if self.before.is_none() && self.history.begins_with_copy {
            return Some(Source::Copy);
        }
        let is_system = |source: &Source| source.group() == SourceGroup::System;
        let held = self.places.iter().filter_map(|place| self.done.parts.get(place.part));
        let has_system =
            held.map(|part| &part.source).chain(fresh.iter().map(|entry| &entry.source)).any(is_system);
        (first && !has_system).then_some(Source::System)
    }

    /// Puts a part at the end of the context; a new system prompt replaces the old one at its beginning.
    fn place(&mut self, response: &PricedResponse, entry: Entry, tokens: u64) {
        let group = entry.source.group();
        let place = PresentPart { part: self.done.parts.len(), tokens, estimate: entry.estimate };
        if self.moves && group == SourceGroup::System {
            let leading = self.places.iter().take_while(|place| {
                self.done.parts.get(place.part).is_some_and(|part| part.source.group() == SourceGroup::System)
            });
            let index = leading.count();
            self.places.insert(index, place);
        } else {
            self.places.push(place);
        }
        self.held += tokens;
        self.estimated = self.estimated.saturating_add(entry.estimate);
        *self.groups.entry(group).or_default() += tokens;
        self.done.parts.push(PartCost {
            fact: entry.fact,
            entered: response.id,
            turn: entry.turn,
            source: entry.source,
            bytes: entry.bytes,
            tokens,
            responses: 0,
            read_tokens: 0,
            entry: Amount::default(),
            carried: Amount::default(),
        });
    }

    /// Prices a prompt: the changes of density at its zones, and the entry of what is in it for the first time.
    fn price(&mut self, response: &PricedResponse) {
        let usage = &response.usage;
        let rates = response.cost.map(|cost| fit_rates(response.rates, usage, cost));
        let mut zones = Vec::with_capacity(4);
        let mut at = 0;
        for (count, rate) in [
            (usage.cache_read, rates.map(|rates| rates.cache_read)),
            (usage.cache_write_1h, rates.map(|rates| rates.cache_write_1h)),
            (usage.cache_write_5m, rates.map(|rates| rates.cache_write_5m)),
            (usage.input, rates.map(|rates| rates.input)),
        ] {
            if count > 0 {
                zones.push((at, at + count, rate));
                at += count;
            }
        }
        for (from, to, rate) in &zones {
            let priced = i128::from(rate.unwrap_or(0));
            let unpriced = i64::from(rate.is_none());
            self.edges.push((*from, Density { priced, unpriced, responses: 1 }));
            self.edges.push((*to, Density { priced: -priced, unpriced: -unpriced, responses: -1 }));
        }
        let mut end = self.held;
        for place in self.places.iter().rev() {
            let begin = end - place.tokens;
            let Some(part) = self.done.parts.get_mut(place.part) else { break };
            if part.entered != response.id {
                if self.moves {
                    end = begin;
                    continue;
                }
                // What entered stands at the end.
                break;
            }
            for (from, to, rate) in &zones {
                let shared = end.min(*to).saturating_sub(begin.max(*from));
                part.entry += match rate {
                    Some(rate) => Amount::of(shared.saturating_mul(*rate)),
                    None => Amount::unpriced(shared),
                };
            }
            end = begin;
        }
        let prompt = match rates {
            Some(rates) => Amount::of(u64::try_from(rates.prompt(usage).0).unwrap_or(u64::MAX)),
            None => Amount::unpriced(usage.prompt_tokens()),
        };
        self.done.responses.push(ResponseCost {
            response: response.id,
            turn: response.turn,
            prompt,
            rest: whole(response).without(prompt),
            in_conversation: true,
        });
    }

    fn slice(&mut self, response: &PricedResponse) {
        let tokens = response.usage.prompt_tokens();
        self.done.slices.push(ContextSlice {
            response: response.id,
            at: response.at,
            tokens,
            groups: self
                .groups
                .iter()
                .filter(|(_, tokens)| **tokens > 0)
                .map(|(group, tokens)| (*group, *tokens))
                .collect(),
            error_tokens: tokens.abs_diff(self.estimated),
        });
    }

    /// Gives every part its share of the prices since the parts last moved.
    fn settle(&mut self) {
        let mut edges = std::mem::take(&mut self.edges);
        edges.sort_unstable_by_key(|(at, _)| *at);
        let mut edges = edges.into_iter().peekable();
        let mut density = Density::default();
        let mut at = 0_u64;
        for place in &self.places {
            let end = at + place.tokens;
            let Some(part) = self.done.parts.get_mut(place.part) else { continue };
            let mut responses = 0;
            while at <= end {
                while let Some((_, change)) = edges.next_if(|(edge, _)| *edge <= at) {
                    density.priced += change.priced;
                    density.unpriced += change.unpriced;
                    density.responses += change.responses;
                }
                let until = edges.peek().map_or(end, |(edge, _)| end.min(*edge));
                let length = until - at;
                let times = |count: i64| length.saturating_mul(count.unsigned_abs());
                responses = responses.max(density.responses);
                if length == 0 {
                    break;
                }
                let priced = u128::from(length).saturating_mul(density.priced.unsigned_abs());
                part.carried += Amount {
                    priced: u64::try_from(priced).unwrap_or(u64::MAX),
                    unpriced_tokens: times(density.unpriced),
                };
                part.read_tokens = part.read_tokens.saturating_add(times(density.responses));
                at = until;
            }
            at = end;
            if place.tokens > 0 {
                part.responses = part.responses.saturating_add(responses.unsigned_abs());
            }
        }
    }

    /// Removes what a compaction replaces.
    fn drop_conversation(&mut self) {
        let parts = &self.done.parts;
        self.places
            .retain(|place| parts.get(place.part).is_some_and(|part| part.source.outlives_compaction()));
        self.count_again();
    }

    /// Gives all parts together so many tokens.
    fn scale(&mut self, tokens: u64) {
        let weights: Vec<u64> = self.places.iter().map(|place| place.tokens).collect();
        for (place, share) in self.places.iter_mut().zip(divide(tokens, &weights)) {
            place.tokens = share;
        }
        self.count_again();
    }

    /// Takes tokens away: reasoning first, as clients leave that of earlier turns out, then results from the oldest on,
    /// then the rest from the newest on.
    fn shrink(&mut self, tokens: u64) {
        let mut left = tokens;
        for group in [SourceGroup::Thinking, SourceGroup::Results] {
            for place in &mut self.places {
                let is_of_group =
                    self.done.parts.get(place.part).is_some_and(|part| part.source.group() == group);
                if is_of_group && left > 0 {
                    place.take(&mut left);
                }
            }
        }
        for place in self.places.iter_mut().rev() {
            if left == 0 {
                break;
            }
            place.take(&mut left);
        }
        self.places.retain(|place| place.tokens > 0);
        self.count_again();
    }

    fn count_again(&mut self) {
        self.held = 0;
        self.estimated = 0;
        self.groups.clear();
        for place in &self.places {
            self.held += place.tokens;
            self.estimated = self.estimated.saturating_add(place.estimate);
            if let Some(part) = self.done.parts.get(place.part) {
                *self.groups.entry(part.source.group()).or_default() += place.tokens;
            }
        }
    }

    fn finish(mut self) -> ContextCost {
        self.settle();
        for part in &mut self.done.parts {
            part.carried = part.carried.without(part.entry);
        }
        self.done
    }
}

impl PresentPart {
    /// Gives up to so many tokens away, and the estimate in proportion.
    fn take(&mut self, left: &mut u64) {
        let taken = self.tokens.min(*left);
        *left -= taken;
        let kept = self.tokens - taken;
        let share = u128::from(self.estimate) * u128::from(kept) / u128::from(self.tokens.max(1));
        self.estimate = u64::try_from(share).unwrap_or(u64::MAX);
        self.tokens = kept;
    }
}

/// Divides a growth that is smaller than the estimates: clients may leave reasoning out, so that gives way first.
fn reduce(growth: u64, expected: u64, fresh: &[Entry]) -> Vec<u64> {
    let of = |is_wanted: fn(&Source) -> bool| -> Vec<u64> {
        fresh.iter().map(|entry| if is_wanted(&entry.source) { entry.estimate } else { 0 }).collect()
    };
    let thinking = of(|source| *source == Source::Thinking);
    let others = of(|source| *source != Source::Thinking);
    let for_thinking = thinking.iter().sum::<u64>().saturating_sub(expected - growth);
    let shares = divide(for_thinking, &thinking).into_iter().zip(divide(growth - for_thinking, &others));
    shares.map(|(thinking, other)| thinking + other).collect()
}

/// Something that enters the context with the next response.
struct Entry {
    fact: Option<i64>,
    turn: Option<i64>,
    source: Source,
    bytes: u64,
    estimate: u64,
    /// The size in tokens is reported, not estimated.
    is_counted: bool,
}

impl Entry {
    fn new(fact: Option<i64>, response: &PricedResponse, source: Source, bytes: u64) -> Self {
        Self { fact, turn: response.turn, source, bytes, estimate: estimate(bytes), is_counted: false }
    }

    fn added(addition: &Addition) -> Self {
        Self {
            fact: Some(addition.id),
            turn: addition.turn,
            source: addition.source.clone(),
            bytes: addition.bytes,
            estimate: estimate(addition.bytes),
            is_counted: false,
        }
    }

    fn written(response: &PricedResponse, source: Source, tokens: u64) -> Self {
        Self {
            fact: Some(response.id),
            turn: response.turn,
            source,
            bytes: 0,
            estimate: tokens,
            is_counted: true,
        }
    }

    fn unsized_part(response: &PricedResponse, source: Source) -> Self {
        Self { fact: None, turn: response.turn, source, bytes: 0, estimate: 0, is_counted: false }
    }

    /// Returns the most tokens that the part can plausibly have: one for every byte and a half, and a frame.
    fn most(&self) -> u64 {
        if self.is_counted {
            return self.estimate.saturating_add(self.estimate / 10).saturating_add(FRAME_TOKENS);
        }
        (self.bytes.saturating_mul(2) / 3).saturating_add(4 * FRAME_TOKENS).max(self.estimate)
    }
}

fn estimate(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN).saturating_add(FRAME_TOKENS)
}

/// Returns the cost of a response as it was recorded.
fn whole(response: &PricedResponse) -> Amount {
    match response.cost {
        Some(cost) => Amount::of(cost),
        None => Amount::unpriced(response.usage.prompt_tokens().saturating_add(response.usage.output)),
    }
}

#[cfg(test)]
mod tests;
