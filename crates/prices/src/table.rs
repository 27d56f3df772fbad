//! The rows that prices are looked up in, and how the embedded text becomes such rows.
//!
//! The text is `table.csv`, whose header explains its columns. Law: a row is sorted into its place when it is read, so
//! finding one takes a binary search and no memory; every price is a whole number of trillionths of a dollar.

use std::borrow::Cow;

use crate::usage::Tier;

/// Holds what one unit of anything costs, in trillionths of a dollar.
pub(crate) type PicoPrice = u64;

/// A price may not be higher than a dollar per token: 2⁶⁴ of them still fit into an amount.
const MOST_MILLIONTHS: u64 = 1_000_000_000_000;

/// The prices of one tier, per token. What is missing is not said, which is not the same as free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListedRates {
    pub(crate) input: Option<PicoPrice>,
    pub(crate) output: Option<PicoPrice>,
    pub(crate) cache_read: Option<PicoPrice>,
    pub(crate) cache_write_5m: Option<PicoPrice>,
    pub(crate) cache_write_1h: Option<PicoPrice>,
}

/// The moment when the rates hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RateSet {
    pub(crate) tier: Tier,
    /// They hold only for prompts with more tokens than this.
    pub(crate) above: Option<u64>,
    pub(crate) rates: ListedRates,
}

/// The place where a row comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Release { version: &'static str, date: &'static str },
    User,
}

/// A model with everything that is known about its prices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Model {
    /// In lower case.
    pub(crate) name: Cow<'static, str>,
    /// The largest prompt, in tokens.
    pub(crate) window: Option<u64>,
    pub(crate) web_search: Option<PicoPrice>,
    /// The factor for [`crate::Region::UsOnly`], in millionths.
    pub(crate) us_only: Option<u64>,
    pub(crate) origin: Origin,
    first_set: usize,
    end_of_sets: usize,
}

/// Models sorted by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    models: Vec<Model>,
    sets: Vec<RateSet>,
}

/// Holds what is wrong with a line of the embedded text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadLine {
    pub(crate) line: usize,
    pub(crate) what: &'static str,
}

impl Table {
    pub(crate) fn models(&self) -> &[Model] {
        &self.models
    }

    pub(crate) fn sets(&self, model: &Model) -> &[RateSet] {
        self.sets.get(model.first_set..model.end_of_sets).unwrap_or_default()
    }

    /// Returns the model of exactly that name.
    pub(crate) fn exact(&self, name: &str) -> Option<&Model> {
        let place = self.models.binary_search_by(|model| (*model.name).cmp(name)).ok()?;
        self.models.get(place)
    }

    /// Returns the models whose names begin like this, in order.
    pub(crate) fn beginning<'t>(&'t self, name: &str) -> impl Iterator<Item = &'t Model> {
        let place = self.models.partition_point(|model| *model.name < *name);
        self.models.iter().skip(place).take_while(move |model| model.name.starts_with(name))
    }

    /// Adds a model, in any order; a second one of a name replaces the first.
    pub(crate) fn insert(&mut self, mut model: Model, sets: &[RateSet]) {
        model.first_set = self.sets.len();
        self.sets.extend_from_slice(sets);
        model.end_of_sets = self.sets.len();
        match self.models.binary_search_by(|known| known.name.cmp(&model.name)) {
            Ok(place) => {
                if let Some(known) = self.models.get_mut(place) {
                    *known = model;
                }
            }
            Err(place) => self.models.insert(place, model),
        }
    }

    /// Reads the embedded text.
    pub(crate) fn parse(text: &'static str) -> Result<Self, BadLine> {
        let lines = text.bytes().filter(|byte| *byte == b'\n').count();
        let mut table = Self { models: Vec::with_capacity(lines), sets: Vec::with_capacity(lines) };
        let mut releases = Vec::new();
        for (number, line) in text.lines().enumerate() {
            table.read_line(line, &mut releases).map_err(|what| BadLine { line: number + 1, what })?;
        }
        Ok(table)
    }

    /// Adds the row of one line.
    fn read_line(
        &mut self,
        line: &'static str,
        releases: &mut Vec<(&'static str, &'static str)>,
    ) -> Result<(), &'static str> {
        if line.starts_with('#') || line.starts_with("model,") {
            return Ok(());
        }
        if let Some(release) = line.strip_prefix("release,") {
            releases.push(release.split_once(',').ok_or("a release has no date")?);
            return Ok(());
        }
        let columns = || {
            let (name, rest) = line.split_once(',')?;
            let (label, rest) = rest.split_once(',')?;
            let (numbers, release) = rest.rsplit_once(',')?;
            Some((name, label, numbers, release))
        };
        let (name, label, numbers, release) = columns().ok_or("a column is missing")?;
        // Bytes, because most of the table is numbers: reading it takes a third less time that way.
        let mut cells = numbers.as_bytes().split(|byte| *byte == b',');
        let mut next = || cells.next().ok_or("a column is missing");
        let rates = ListedRates {
            input: millionths_or_empty(next()?)?,
            output: millionths_or_empty(next()?)?,
            cache_read: millionths_or_empty(next()?)?,
            cache_write_5m: millionths_or_empty(next()?)?,
            cache_write_1h: millionths_or_empty(next()?)?,
        };
        let (window, web_search) = (next()?, millionths_or_empty(next()?)?);
        let us_only = millionths_or_empty(next()?)?;
        if cells.next().is_some() {
            return Err("too many columns");
        }
        let (tier, above) = match label.split_once('>') {
            Some((tier, above)) => {
                (tier, Some(above.parse().map_err(|_| "invalid threshold: a whole number is expected")?))
            }
            None => (label, None),
        };
        let tier = Tier::from_name(tier).ok_or("unknown tier")?;
        let goes_on = self.models.last().is_some_and(|last| last.name == name);
        match (goes_on, label == Tier::Standard.name()) {
            (true, true) => return Err("duplicate model"),
            (false, false) => return Err("a model does not begin with its standard prices"),
            (true, false) => {}
            (false, true) => {
                // The search needs this order, and sorting here would be paid by every process.
                if self.models.last().is_some_and(|last| *last.name > *name) {
                    return Err("the models are not sorted");
                }
                if rates.input.is_none() || rates.output.is_none() {
                    return Err("the price of input or output is missing");
                }
                let known = releases.iter().find(|(version, _)| *version == release);
                let (version, date) = *known.ok_or("unknown release")?;
                let window = match window {
                    [] => None,
                    window => Some(whole_number(window).ok_or("invalid window: a whole number is expected")?),
                };
                self.models.push(Model {
                    window,
                    web_search: web_search.map(per_thousand),
                    us_only,
                    first_set: self.sets.len(),
                    ..Model::new(Cow::Borrowed(name), Origin::Release { version, date })
                });
            }
        }
        self.sets.push(RateSet { tier, above, rates });
        if let Some(last) = self.models.last_mut() {
            last.end_of_sets = self.sets.len();
        }
        Ok(())
    }
}

impl Model {
    pub(crate) fn new(name: Cow<'static, str>, origin: Origin) -> Self {
        Self { name, window: None, web_search: None, us_only: None, origin, first_set: 0, end_of_sets: 0 }
    }
}

/// Converts millionths of dollars per thousand to trillionths of a dollar for one.
pub(crate) fn per_thousand(millionths: u64) -> PicoPrice {
    millionths.saturating_mul(1000)
}

fn millionths_or_empty(cell: &[u8]) -> Result<Option<u64>, &'static str> {
    match cell {
        [] => Ok(None),
        cell => {
            millionths(cell).map(Some).ok_or("invalid price: a number with at most six decimals is expected")
        }
    }
}

/// Reads `12.5` as 12,500,000. Dollars per million tokens become trillionths of a dollar per token that way.
fn millionths(text: &[u8]) -> Option<u64> {
    let point = text.iter().position(|byte| *byte == b'.');
    let (before, after) = text.split_at(point.unwrap_or(text.len()));
    let after = after.get(1..).unwrap_or_default();
    let shift = u32::try_from(6_usize.checked_sub(after.len())?).ok()?;
    let part = if after.is_empty() { 0 } else { whole_number(after)?.checked_mul(10_u64.pow(shift))? };
    let number = whole_number(before)?.checked_mul(1_000_000)?.checked_add(part)?;
    (number <= MOST_MILLIONTHS).then_some(number)
}

fn whole_number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().try_fold(0_u64, |number, byte| match byte {
        b'0'..=b'9' => number.checked_mul(10)?.checked_add(u64::from(byte - b'0')),
        _ => None,
    });
    digits.filter(|_| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "release,1.0,2026-01-02\nmodel,prices,…\n";

    fn parse(lines: &str) -> Result<Table, BadLine> {
        Table::parse(Box::leak(format!("{HEAD}{lines}").into_boxed_str()))
    }

    #[test]
    fn decimals_become_whole_numbers() {
        for (text, number) in [
            ("0", Some(0)),
            ("4", Some(4_000_000)),
            ("12.5", Some(12_500_000)),
            ("0.0055", Some(5500)),
            ("0.000001", Some(1)),
            ("1000000", Some(MOST_MILLIONTHS)),
            ("1000000.000001", None),
            ("0.0000001", None),
            ("", None),
            (".5", None),
            ("-1", None),
            ("+1", None),
            ("1e3", None),
            ("1.2.3", None),
            ("999999999999999999999999", None),
        ] {
            assert_eq!(millionths(text.as_bytes()), number, "{text}");
        }
    }

    #[test]
    fn sets_belong_to_the_model_above_them() {
        let table = parse(
            "a,standard,1,2,,,,1000,10,1.1,1.0\na,priority>200000,3,,,,,,,,\nb,standard,5,6,7,8,9,,,,1.0\n",
        )
        .unwrap();
        let a = table.exact("a").unwrap();
        assert_eq!((a.window, a.web_search, a.us_only), (Some(1000), Some(10_000_000_000), Some(1_100_000)));
        assert_eq!(a.origin, Origin::Release { version: "1.0", date: "2026-01-02" });
        let standard =
            ListedRates { input: Some(1_000_000), output: Some(2_000_000), ..ListedRates::default() };
        let long = ListedRates { input: Some(3_000_000), ..ListedRates::default() };
        assert_eq!(
            table.sets(a),
            [
                RateSet { tier: Tier::Standard, above: None, rates: standard },
                RateSet { tier: Tier::Priority, above: Some(200_000), rates: long },
            ]
        );
        assert_eq!(table.sets(table.exact("b").unwrap()).len(), 1);
        assert_eq!(table.exact("c"), None);
    }

    #[test]
    fn a_bad_line_is_named() {
        for (lines, line, what) in [
            ("a,standard,1", 3, "a column is missing"),
            ("a,standard,1,2,,,,,,,,1.0", 3, "too many columns"),
            ("a,standard,x,2,,,,,,,1.0", 3, "invalid price: a number with at most six decimals is expected"),
            ("a,standard,1,,,,,,,,1.0", 3, "the price of input or output is missing"),
            ("a,standard,1,2,,,,,,,2.0", 3, "unknown release"),
            ("a,standard,1,2,,,,x,,,1.0", 3, "invalid window: a whole number is expected"),
            ("a,express,1,2,,,,,,,", 3, "unknown tier"),
            ("a,batch,1,2,,,,,,,", 3, "a model does not begin with its standard prices"),
            ("a,standard>5,1,2,,,,,,,1.0", 3, "a model does not begin with its standard prices"),
            (
                "a,standard,1,2,,,,,,,1.0\na,standard>x,1,2,,,,,,,",
                4,
                "invalid threshold: a whole number is expected",
            ),
            ("a,standard,1,2,,,,,,,1.0\na,standard,1,2,,,,,,,1.0", 4, "duplicate model"),
            ("b,standard,1,2,,,,,,,1.0\na,standard,1,2,,,,,,,1.0", 4, "the models are not sorted"),
            ("release,3", 3, "a release has no date"),
        ] {
            assert_eq!(parse(lines).unwrap_err(), BadLine { line, what }, "{lines}");
        }
    }

    #[test]
    fn a_model_reported_twice_is_the_later_one() {
        let mut table = Table::default();
        let rates = |input| ListedRates { input: Some(input), output: Some(1), ..ListedRates::default() };
        let set = |input| [RateSet { tier: Tier::Standard, above: None, rates: rates(input) }];
        for (name, input) in [("b", 1), ("a", 2), ("b", 3)] {
            table.insert(Model::new(Cow::Borrowed(name), Origin::User), &set(input));
        }
        assert_eq!(table.models().iter().map(|model| &*model.name).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(table.sets(table.exact("b").unwrap()), set(3));
        assert_eq!(table.sets(table.exact("a").unwrap()), set(2));
    }
}
