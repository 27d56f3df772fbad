//! Prices by the name of a model.

use std::fmt;
use std::sync::LazyLock;

use crate::money::PicoDollars;
use crate::name;
use crate::overrides::{self, EntryError, OverrideError, Overrides};
use crate::rates::{self, Rates};
use crate::table::{Model, Origin, Table};
use crate::usage::BilledUsage;

/// Read when a caller first asks; it is some fifty kilobytes of text.
static EMBEDDED: LazyLock<Table> = LazyLock::new(|| {
    Table::parse(include_str!("table.csv")).expect("the embedded table is the one that the tests read")
});

/// The context window that `[1m]` behind a name means.
const MILLION_WINDOW: u64 = 1_000_000;

/// Holds what models cost: the embedded table, and the user's own prices before it.
#[derive(Clone, Debug)]
pub struct Prices {
    table: &'static Table,
    overrides: Table,
}

/// Holds what one model costs. Finding it once is worth it for a caller that prices many responses.
#[derive(Clone, Copy, Debug)]
pub struct Price<'p> {
    table: &'p Table,
    model: &'p Model,
    exact: bool,
    million_window: bool,
}

/// The place where a price comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About<'p> {
    /// The name of the row that was found.
    pub model: &'p str,
    /// Is true if that is the name that was asked for, or one that is taken to mean the same model.
    pub exact: bool,
    /// The source.
    pub source: Source,
    /// The price of a web search, where that is known. Searches without a price are not in the cost.
    pub web_search: Option<PicoDollars>,
}

/// The source of a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A release of the PyPI package `litellm`.
    Litellm {
        /// The release.
        version: &'static str,
        /// The day it was published, as `2026-11-09`.
        date: &'static str,
    },
    /// The table `[prices]` of the user's settings.
    User,
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Litellm { version, date } => write!(out, "litellm {version} of {date}"),
            Self::User => out.write_str("own prices"),
        }
    }
}

impl Prices {
    /// Returns the prices that are built in.
    #[must_use]
    pub fn embedded() -> Self {
        Self { table: &EMBEDDED, overrides: Table::default() }
    }

    /// Reads the user's own prices from a text of their own and puts them before those that are built in.
    ///
    /// # Errors
    /// The first mistake, with its place.
    pub fn with_overrides(prices_toml: &str) -> Result<Self, OverrideError> {
        Ok(Self { table: &EMBEDDED, overrides: overrides::read(prices_toml, &EMBEDDED)? })
    }

    /// Returns the prices that are built in, and before them those of the user.
    ///
    /// # Errors
    /// The first entry that makes no price, with its place.
    pub fn of_user(overrides: &Overrides) -> Result<Self, EntryError> {
        Ok(Self { table: &EMBEDDED, overrides: overrides::resolve(overrides, &EMBEDDED)? })
    }

    /// Returns a text that differs where the user's own prices differ; it is empty if there are none.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        if self.overridden() == 0 { String::new() } else { format!("{:?}", self.overrides) }
    }

    /// Returns the price of a model; nothing if the model is unknown.
    #[must_use]
    pub fn find(&self, model: &str) -> Option<Price<'_>> {
        let name = name::folded(model)?;
        // All spellings with the user first: their price for a plain name beats the table's for the dated one.
        let of_user =
            if self.overrides.models().is_empty() { None } else { name::find(&self.overrides, &name) };
        let (table, model) = match of_user {
            Some(model) => (&self.overrides, model),
            None => (self.table, name::find(self.table, &name)?),
        };
        let million_window = name::has_million_window(&name);
        Some(Price { table, model, exact: model.name == name, million_window })
    }

    /// Returns the exact cost of a usage; nothing if the model is unknown.
    #[must_use]
    pub fn cost(&self, model: &str, usage: &BilledUsage) -> Option<PicoDollars> {
        self.find(model).map(|price| price.cost(usage))
    }

    /// Returns the largest prompt that the model takes, in tokens. What a client says about its own window is better.
    #[must_use]
    pub fn window(&self, model: &str) -> Option<u64> {
        self.find(model)?.window()
    }

    /// Returns the price of one token of each kind in a response; nothing if the model is unknown.
    #[must_use]
    pub fn rates(&self, model: &str, usage: &BilledUsage) -> Option<Rates> {
        self.find(model).map(|price| price.rates(usage))
    }

    /// Returns where the price of a model comes from.
    #[must_use]
    pub fn about(&self, model: &str) -> Option<About<'_>> {
        self.find(model).map(|price| price.about())
    }

    /// Returns how many models have a price of the user's own.
    #[must_use]
    pub fn overridden(&self) -> usize {
        self.overrides.models().len()
    }

    /// Returns the names of all rows, the user's first.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        self.overrides.models().iter().chain(self.table.models()).map(|model| &*model.name)
    }
}

impl<'p> Price<'p> {
    /// Returns the price of one token of each kind in a response.
    #[must_use]
    pub fn rates(&self, usage: &BilledUsage) -> Rates {
        Rates::choose(self.model, self.table.sets(self.model), usage)
    }

    /// Returns the exact cost of a usage.
    #[must_use]
    pub fn cost(&self, usage: &BilledUsage) -> PicoDollars {
        rates::cost(self.model, self.table.sets(self.model), usage)
    }

    /// Returns the largest prompt that the model takes, in tokens.
    #[must_use]
    pub fn window(&self) -> Option<u64> {
        match (self.model.window, self.million_window) {
            (window, false) => window,
            // The suffix asks for the larger window of a model that has two, and the table lists only one of them.
            (window, true) => Some(window.unwrap_or(0).max(MILLION_WINDOW)),
        }
    }

    /// Returns where the price comes from.
    #[must_use]
    pub fn about(&self) -> About<'p> {
        let source = match self.model.origin {
            Origin::Release { version, date } => Source::Litellm { version, date },
            Origin::User => Source::User,
        };
        let web_search = self.model.web_search.map(|price| PicoDollars(u128::from(price)));
        About { model: &self.model.name, exact: self.exact, source, web_search }
    }
}
