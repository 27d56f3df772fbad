//! The user's own prices: the table `[prices]` of the settings. Its form is shown at [`Overrides`].
//!
//! Law: nothing is guessed. A word that we do not know, a price that is none and a model without a price are errors
//! that name their line, because a price that is silently not used costs its user trust in all the others.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use toml::Spanned;

use crate::name;
use crate::table::{ListedRates, Model, Origin, RateSet, Table, per_thousand};
use crate::usage::Tier;

/// Holds what is wrong with the user's prices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct OverrideError {
    /// The line, counted from one.
    pub line: usize,
    /// The character in it, counted from one.
    pub column: usize,
    /// Holds what is wrong there, with a hint where there is one.
    pub what: String,
}

/// An entry that was read and makes no price, with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct EntryError {
    /// The offset in the text that was read, in bytes.
    pub offset: usize,
    /// Holds what is wrong there, with a hint where there is one.
    pub what: String,
}

/// The user's prices as they are written.
///
/// ```toml
/// [models."my-deployment"]       # any name that a client says
/// same_as = "gpt-5.5"            # begin with this model's prices
/// input = 4                      # US dollars per million tokens
/// output = 24
/// cache_read = 0.4
/// cache_write_5m = 5
/// cache_write_1h = 8
/// web_search = 10                # US dollars per thousand
/// window = 400_000               # tokens
/// us_only = 1.1                  # factor
/// priority.input = 8             # also batch, fast, flex, ultrafast
/// long = { above = 272_000, input = 8, output = 36 }
/// ```
///
/// What a model of the table does not get a new price for keeps its old one. A model that is not in the table needs
/// `input` and `output`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct Overrides {
    models: BTreeMap<Spanned<String>, Entry>,
}

/// Declares a table of the settings that has the five rates of [`ListedRates`] among its keys.
///
/// `$required` is the type of the two rates that a table may have to give.
// A macro, not a struct with `#[serde(flatten)]`: serde buffers a flattened table, and an unknown key or a bad number in it
// loses the line that every error here has to name.
macro_rules! rates_table {
    ($name:ident, $required:ty, { $($key:ident: $type:ty,)* }) => {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields, expecting = "a table")]
        struct $name {
            $($key: $type,)*
            input: $required,
            output: $required,
            cache_read: Option<Amount>,
            cache_write_5m: Option<Amount>,
            cache_write_1h: Option<Amount>,
        }

        impl $name {
            /// Returns the rates that the table gives.
            fn rates(&self) -> ListedRates {
                let price = |amount: Option<Amount>| amount.map(|amount| amount.0);
                ListedRates {
                    input: price(self.input.into()),
                    output: price(self.output.into()),
                    cache_read: price(self.cache_read),
                    cache_write_5m: price(self.cache_write_5m),
                    cache_write_1h: price(self.cache_write_1h),
                }
            }
        }
    };
}

rates_table!(Entry, Option<Amount>, {
    same_as: Option<Spanned<String>>,
    web_search: Option<Amount>,
    us_only: Option<Amount>,
    window: Option<u64>,
    batch: Option<TierRates>,
    fast: Option<TierRates>,
    flex: Option<TierRates>,
    priority: Option<TierRates>,
    ultrafast: Option<TierRates>,
    long: Option<LongRates>,
});

rates_table!(TierRates, Option<Amount>, {});

// A threshold without both rates would leave half of a long prompt at the price of a short one.
rates_table!(LongRates, Amount, {
    above: u64,
});

/// A number with at most six decimals, in millionths.
#[derive(Clone, Copy, Debug)]
struct Amount(u64);

/// A million: a dollar per token, or a dollar per thousandth of a search.
const MOST: f64 = 1_000_000.0;

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AmountVisitor)
    }
}

struct AmountVisitor;

impl Visitor<'_> for AmountVisitor {
    type Value = Amount;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a number")
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Amount, E> {
        u64::try_from(number)
            .ok()
            .and_then(|number| number.checked_mul(1_000_000))
            .filter(|millionths| *millionths <= 1_000_000 * 1_000_000)
            .map(Amount)
            .ok_or_else(|| E::custom(format!("`{number}` is not between 0 and {MOST}")))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number is between 0 and 10¹² here"
    )]
    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Amount, E> {
        if !(0.0..=MOST).contains(&number) {
            return Err(E::custom(format!("`{number}` is not between 0 and {MOST}")));
        }
        let millionths = number * 1_000_000.0;
        // A float of that size is off by a ten-thousandth at most; more is a seventh decimal.
        if (millionths - millionths.round()).abs() > 0.001 {
            return Err(E::custom(format!("`{number}` has more than six decimals")));
        }
        Ok(Amount(millionths.round() as u64))
    }
}

/// Reads the user's prices from a text of their own. What they do not give comes from `base`.
pub(crate) fn read(text: &str, base: &Table) -> Result<Table, OverrideError> {
    let at = |offset: usize, what: String| {
        let (line, column) = position_of(text, offset);
        OverrideError { line, column, what }
    };
    let overrides: Overrides = toml::from_str(text).map_err(|error| {
        let mut error = at(error.span().map_or(0, |span| span.start), error.message().trim_end().to_owned());
        let line = text.lines().nth(error.line - 1).unwrap_or_default();
        if error.what.starts_with("unknown field") && line.trim_start().starts_with("[models.") {
            error.what.push_str("\nhint: a name with dots needs quotes: `[models.\"gpt-5.5\"]`");
        }
        error
    })?;
    resolve(&overrides, base).map_err(|error| at(error.offset, error.what))
}

/// Returns the table that the user's prices make. What they do not give comes from `base`.
pub(crate) fn resolve(overrides: &Overrides, base: &Table) -> Result<Table, EntryError> {
    let at = |offset: usize, what: String| EntryError { offset, what };
    let mut table = Table::default();
    for (written, entry) in &overrides.models {
        let start = written.span().start;
        let written = written.get_ref();
        let name =
            name::folded(written).ok_or_else(|| at(start, format!("invalid model name `{written}`")))?;
        if table.exact(&name).is_some() {
            return Err(at(start, format!("model `{name}` is given twice")));
        }
        let begin = match &entry.same_as {
            None => name::find(base, &name),
            Some(other) => {
                let row = name::folded(other.get_ref()).and_then(|name| name::find(base, &name));
                let unknown = || {
                    let what = format!("`same_as` names an unknown model: `{}`", other.get_ref());
                    at(other.span().start, format!("{what}\nhint: it has to be one that is built in"))
                };
                Some(row.ok_or_else(unknown)?)
            }
        };
        let (model, sets) = merged(name.into_owned(), begin.map(|model| (model, base.sets(model))), entry);
        let standard = sets.first().map(|set| set.rates).unwrap_or_default();
        for (word, price) in [("input", standard.input), ("output", standard.output)] {
            if price.is_none() {
                let what = format!("`{}` is not built in and has no price for `{word}`", model.name);
                return Err(at(start, format!("{what}\nhint: give `input` and `output`, or `same_as`")));
            }
        }
        table.insert(model, &sets);
    }
    Ok(table)
}

/// Applies an entry to the row that it begins with. The standard prices come first.
fn merged(name: String, begin: Option<(&Model, &[RateSet])>, entry: &Entry) -> (Model, Vec<RateSet>) {
    let mut model = Model::new(Cow::Owned(name), Origin::User);
    let mut sets = Vec::new();
    if let Some((known, prices)) = begin {
        (model.window, model.web_search, model.us_only) = (known.window, known.web_search, known.us_only);
        // The user's threshold takes the place of all others, for every tier.
        sets.extend(prices.iter().filter(|set| set.above.is_none() || entry.long.is_none()));
    }
    model.window = entry.window.or(model.window);
    model.web_search = entry.web_search.map(|price| per_thousand(price.0)).or(model.web_search);
    model.us_only = entry.us_only.map(|factor| factor.0).or(model.us_only);
    set_rates(&mut sets, Tier::Standard, None, entry.rates());
    for (tier, prices) in [
        (Tier::Batch, &entry.batch),
        (Tier::Fast, &entry.fast),
        (Tier::Flex, &entry.flex),
        (Tier::Priority, &entry.priority),
        (Tier::Ultrafast, &entry.ultrafast),
    ] {
        if let Some(prices) = prices {
            set_rates(&mut sets, tier, None, prices.rates());
        }
    }
    if let Some(long) = &entry.long {
        set_rates(&mut sets, Tier::Standard, Some(long.above), long.rates());
    }
    (model, sets)
}

/// Replaces the rates that are given, in the set of a tier and threshold; adds the set if there is none.
fn set_rates(sets: &mut Vec<RateSet>, tier: Tier, above: Option<u64>, given: ListedRates) {
    let index = sets.iter().position(|set| set.tier == tier && set.above == above).unwrap_or_else(|| {
        sets.push(RateSet { tier, above, rates: ListedRates::default() });
        sets.len() - 1
    });
    let Some(RateSet { rates, .. }) = sets.get_mut(index) else { return };
    *rates = ListedRates {
        input: given.input.or(rates.input),
        output: given.output.or(rates.output),
        cache_read: given.cache_read.or(rates.cache_read),
        cache_write_5m: given.cache_write_5m.or(rates.cache_write_5m),
        cache_write_1h: given.cache_write_1h.or(rates.cache_write_1h),
    };
}

/// Returns the line of an offset and the character in it, both counted from one.
fn position_of(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (1 + before.matches('\n').count(), 1 + line.chars().count())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{BilledUsage, PicoDollars, Prices, Prompt, Source};

    fn million() -> BilledUsage {
        BilledUsage { input: 1_000_000, output: 1_000_000, prompt: Prompt::Short, ..BilledUsage::default() }
    }

    fn dollars(prices: &Prices, model: &str, spent: BilledUsage) -> f64 {
        prices.cost(model, &spent).unwrap().dollars()
    }

    #[test]
    fn a_price_of_the_user_beats_the_table_under_every_spelling() {
        let prices = Prices::with_overrides("[models.'Claude-Opus-4-5']\ninput = 1\noutput = 2.5\n").unwrap();
        for name in
            ["claude-opus-4-5", "claude-opus-4-5-20251101", "us.anthropic.claude-opus-4-5-20251101-v1:0"]
        {
            assert_eq!(dollars(&prices, name, million()), 3.5, "{name}");
            assert_eq!(prices.about(name).unwrap().source, Source::User);
        }
        let built_in = Prices::embedded();
        assert_eq!(dollars(&built_in, "claude-opus-4-5", million()), 30.0);
        assert_eq!(prices.cost("gpt-5.5", &million()), built_in.cost("gpt-5.5", &million()));
    }

    #[test]
    fn a_price_that_is_not_given_keeps_its_value() {
        let prices = Prices::with_overrides("[models.claude-opus-5-5]\ncache_read = 7\n").unwrap();
        let read = BilledUsage { cache_read: 1_000_000, ..million() };
        assert_eq!(dollars(&prices, "claude-opus-5-5", read), 31.0);
        assert_eq!(dollars(&prices, "claude-opus-5-5", BilledUsage { tier: Tier::Batch, ..million() }), 12.0);
        assert_eq!(prices.window("claude-opus-5-5"), Some(1_000_000));
        let about = prices.about("claude-opus-5-5").unwrap();
        assert_eq!(about.web_search, Some(PicoDollars(10_000_000_000)));
    }

    #[test]
    fn a_deployment_costs_what_its_model_costs() {
        let prices =
            Prices::with_overrides("[models.ours]\nsame_as = 'openai/gpt-5.5'\nwindow = 5\n").unwrap();
        for tier in Tier::ALL {
            let spent = BilledUsage { tier, prompt: Prompt::Counted, ..million() };
            assert_eq!(prices.cost("ours", &spent), prices.cost("gpt-5.5", &spent));
        }
        assert_eq!(prices.window("ours"), Some(5));
    }

    #[test]
    fn tiers_thresholds_searches_and_regions_have_prices_too() {
        let prices = Prices::with_overrides(
            "[models.'gpt-5.5']\ninput = 1\noutput = 1\nweb_search = 2\nus_only = 1.5\nflex.input = 0.5\nlong = { above = 10, input = 3, output = 4 }\n",
        )
        .unwrap();
        let cost = |spent| dollars(&prices, "gpt-5.5", spent);
        assert_eq!(cost(million()), 2.0);
        assert_eq!(cost(BilledUsage { prompt: Prompt::Counted, ..million() }), 7.0);
        // The thresholds that were built in are gone, for every tier.
        let flex = BilledUsage { tier: Tier::Flex, ..million() };
        assert_eq!(cost(flex), 0.5 + 15.0);
        assert_eq!(cost(BilledUsage { prompt: Prompt::AtLeast(400_000), ..flex }), 3.0 + 15.0);
        assert_eq!(cost(BilledUsage { web_searches: 1000, ..BilledUsage::default() }), 2.0);
        assert_eq!(cost(BilledUsage { region: crate::Region::UsOnly, ..million() }), 3.0);
    }

    #[test]
    fn an_error_names_its_line() {
        for (text, line, what) in [
            ("models = 3", 1, "invalid type"),
            ("\n[model.x]\ninput = 1", 2, "unknown field `model`"),
            ("[models.x]\ninput = 1\noutput = 2\ninputs = 3", 4, "unknown field `inputs`"),
            ("[models.x]\ninput = 1\noutput = 'two'", 3, "expected a number"),
            ("[models.x]\ninput = 1\noutput = -2", 3, "`-2` is not between 0 and 1000000"),
            ("[models.x]\ninput = 1\noutput = -0.5", 3, "`-0.5` is not between 0 and 1000000"),
            ("[models.x]\ninput = 1\noutput = nan", 3, "`NaN` is not between 0 and 1000000"),
            ("[models.x]\ninput = 1\noutput = inf", 3, "`inf` is not between 0 and 1000000"),
            ("[models.x]\ninput = 1\noutput = 1_000_001", 3, "`1000001` is not between 0 and 1000000"),
            ("[models.x]\ninput = 1\noutput = 0.0000001", 3, "`0.0000001` has more than six decimals"),
            ("\n\n[models.x]\ninput = 1", 3, "`x` is not built in and has no price for `output`\nhint: "),
            ("[models.x]\n\nsame_as = 'y'", 3, "`same_as` names an unknown model: `y`\nhint: "),
            ("[models.x]\nsame_as = 'o3'\n[models.X]\nsame_as = 'o3'", 1, "model `x` is given twice"),
            ("[models.'']\nsame_as = 'o3'", 1, "invalid model name ``"),
            ("[models.o3]\nlong = { input = 1 }", 2, "missing field"),
            ("[models.o3]\nflex.above = 1", 2, "unknown field `above`"),
            ("[models.o3]\nwindow = -1", 2, "-1"),
            ("[models.gpt-5.5]\ninput = 1", 1, "unknown field `5`"),
            ("[models.gpt-5.5]\ninput = 1", 1, "\nhint: a name with dots needs quotes"),
            ("[models.o3\ninput = 1", 1, ""),
            ("[models.o3]\ninput = 1\n[models.o3]\n", 3, "duplicate key"),
        ] {
            let error = Prices::with_overrides(text).unwrap_err();
            assert_eq!(error.line, line, "{text}\n{error}");
            assert!(
                error.to_string().starts_with(&format!("line {line}, column ")) && error.what.contains(what),
                "{error}"
            );
        }
    }

    #[test]
    fn the_column_is_counted_in_characters() {
        let error = Prices::with_overrides("[models.x]\ninput = 1\n'ö' = 2\n").unwrap_err();
        assert_eq!((error.line, error.column), (3, 1));
        let error = Prices::with_overrides("[models.\"ö\"]\nsame_as = 'ä'\n").unwrap_err();
        assert_eq!(
            error.to_string().lines().next(),
            Some("line 2, column 11: `same_as` names an unknown model: `ä`")
        );
    }

    #[test]
    fn an_empty_file_changes_no_price() {
        for text in ["", "# mine\n", "[models]\n"] {
            let prices = Prices::with_overrides(text).unwrap();
            assert!(prices.models().eq(Prices::embedded().models()));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,60}|(\\[models\\.[a-z\"']{0,6}\\]\n[a-z_]{0,6} ?= ?[0-9.e-]{0,8}\n){0,3}") {
            if let Err(error) = Prices::with_overrides(&text) {
                prop_assert!(error.line >= 1 && error.line <= text.lines().count().max(1) + 1);
            }
        }

        #[test]
        fn six_decimals_arrive_exactly(millionths in 0..=1_000_000_000_000_u64) {
            let text = format!("[models.x]\ninput = {}.{:06}\noutput = 0\n", millionths / 1_000_000, millionths % 1_000_000);
            let prices = Prices::with_overrides(&text).unwrap();
            let one = BilledUsage { input: 1, ..BilledUsage::default() };
            prop_assert_eq!(prices.cost("x", &one), Some(PicoDollars(u128::from(millionths))));
        }
    }
}
