//! A sum of responses, and in it the part that only the client's account knows.
//!
//! In the sums over time that part has keys of its own, so that it can be told apart and is still counted once.

use std::collections::{BTreeMap, HashMap};

use rusqlite::Connection;

use super::insights::spent;
use super::rollup::Sums;
use super::spent::{Spent, count, dollars};
use super::text::Texts;
use crate::project::residual::join_reasons;
use crate::project::tally::SEPARATOR;
use crate::view::Residual;

/// Reads keys of models, each once.
pub(crate) struct Models<'conn> {
    texts: Texts<'conn>,
    known: HashMap<i64, (String, Option<String>)>,
}

impl<'conn> Models<'conn> {
    pub(crate) fn new(conn: &'conn Connection) -> Self {
        Self { texts: Texts::new(conn), known: HashMap::new() }
    }

    /// The model of a key, and the reason if it is what an account knows alone.
    pub(crate) fn of(&mut self, key: i64) -> rusqlite::Result<(&str, Option<&str>)> {
        if !self.known.contains_key(&key) {
            let text = self.texts.word(key)?;
            let parts = match text.split_once(SEPARATOR) {
                Some((model, reason)) => (model.to_owned(), Some(reason.to_owned())),
                None => (text, None),
            };
            self.known.insert(key, parts);
        }
        let known = self.known.get(&key);
        Ok(known.map_or(("", None), |(model, reason)| (model.as_str(), reason.as_deref())))
    }
}

/// What was spent by, in or on something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bucket {
    /// Everything.
    pub(crate) sums: Sums,
    /// That part of it which only accounts know, by reason.
    left: BTreeMap<String, Sums>,
}

impl Bucket {
    /// Adds sums of a key, or takes them away.
    pub(crate) fn add(&mut self, sums: &Sums, reason: Option<&str>, sign: i64) {
        self.sums.add(sums, sign);
        if let Some(reason) = reason {
            match self.left.get_mut(reason) {
                Some(left) => left.add(sums, sign),
                None => self.left.entry(reason.to_owned()).or_default().add(sums, sign),
            }
        }
    }

    /// Adds another.
    pub(crate) fn add_all(&mut self, other: &Self, sign: i64) {
        self.sums.add(&other.sums, sign);
        for (reason, sums) in &other.left {
            self.left.entry(reason.clone()).or_default().add(sums, sign);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sums == Sums::default()
    }

    /// As sums that can be shown.
    pub(crate) fn spent(&self, responses: i64) -> Spent {
        let left: Vec<(&String, &Sums)> =
            self.left.iter().filter(|(_, sums)| **sums != Sums::default()).collect();
        let mut told = self.sums;
        let mut part = Sums::default();
        for (_, sums) in &left {
            told.add(sums, -1);
            part.add(sums, 1);
        }
        // Whether a price is missing is said of the whole.
        told.unpriced = self.sums.unpriced;
        let residual = (!left.is_empty()).then(|| Residual {
            input_tokens: count(part.input),
            output_tokens: count(part.output),
            cache_read_tokens: count(part.cache_read),
            cache_creation_tokens: count(part.cache_write),
            cost_usd: dollars(part.cost),
            client_cost_usd: None,
            reason: join_reasons(left.iter().map(|(reason, _)| reason.as_str())),
            models: Vec::new(),
        });
        Spent { residual, ..spent(&told, responses) }
    }
}
