//! The residual of a session: usage that appears in the client's own account and in no row.
//!
//! The account is cumulative and names no request. The residual is the account minus the usage in rows. Law: it is
//! never negative and never invented. Usage that the account does not cover, and usage in rows under another name of
//! the model, makes the residual smaller and never larger.

use std::collections::{BTreeMap, BTreeSet};

use agent_tracer_event::attributes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::measures::Measures;
use super::spend::{DOLLAR, ModelSumField, ModelSums, Spend};
use super::tally::Pricer;

/// Sums by model.
pub type ByModel = BTreeMap<String, ModelSums>;

/// The reasons for which usage may appear in the account alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reasons {
    /// The session was compacted: the request for the summary stands in no row.
    pub compacted: bool,
    /// It searched the web: the request behind a search stands in no row.
    pub searched: bool,
    /// An answer was cut short: its row has the numbers of its beginning, and the account what arrived.
    pub cut_short: bool,
}

impl Reasons {
    /// Returns the reasons in words. The shares of several reasons cannot be separated.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match (self.compacted, self.searched, self.cut_short) {
            (true, false, false) => "compaction",
            (false, true, false) => "side request",
            (false, false, true) => "cut short",
            (true, true, false) => "compaction, side request",
            (true, false, true) => "compaction, cut short",
            (false, true, true) => "cut short, side request",
            (true, true, true) => "compaction, cut short, side request",
            (false, false, false) => "unknown",
        }
    }
}

/// The residual of one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelResidual {
    /// The model.
    pub model: String,
    /// The reason.
    pub reason: String,
    /// Tokens and searches. Its cost is by our price table.
    #[serde(flatten)]
    pub sums: ModelSums,
    /// The cost that the client reported, in pico-dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cost: Option<i64>,
}

/// The residual of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Residual {
    /// The moment when the account was written.
    pub at: i64,
    /// By model.
    pub lines: Vec<ModelResidual>,
}

impl Residual {
    /// Parses the stored form. Returns `None` if it is empty or unreadable.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Returns the stored form, or nothing if the residual is empty.
    #[must_use]
    pub fn stored(&self) -> Option<String> {
        if self.lines.is_empty() { None } else { serde_json::to_string(self).ok() }
    }
}

/// An account of the client, by model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// The moment from which it counts. A resumed session keeps it, and a fork that begins with its parent's numbers.
    pub started: Option<i64>,
    /// The content. Costs are the client's.
    pub models: ByModel,
}

impl Account {
    /// Reads the account in an entry.
    #[must_use]
    pub fn read(value: &Value) -> Self {
        let started = value.get(attributes::STARTED_AT).and_then(Value::as_str);
        let models = value.get("models").and_then(Value::as_object);
        Self {
            started: started.and_then(agent_tracer_event::Millis::parse).map(|at| at.0),
            models: models
                .into_iter()
                .flatten()
                .map(|(name, model)| (name.clone(), model_sums(model)))
                .collect(),
        }
    }
}

fn model_sums(model: &Value) -> ModelSums {
    let count = |key: &str| {
        model.get(key).and_then(Value::as_u64).map_or(0, |count| i64::try_from(count).unwrap_or(i64::MAX))
    };
    let cost = model
        .get(attributes::CLIENT_COST_USD)
        .and_then(Value::as_f64)
        .filter(|cost| (0.0..1e6).contains(cost));
    ModelSums {
        spend: Spend {
            input: count("inputTokens"),
            output: count("outputTokens"),
            cache_read: count("cacheReadTokens"),
            cache_write: count("cacheCreationTokens"),
            cost: cost.map_or(0, |cost| (cost * DOLLAR as f64).round() as i64),
            unpriced: i64::from(cost.is_none()),
            ..Spend::default()
        },
        cache_write_1h: count(attributes::CACHE_CREATION_1H_TOKENS),
        searches: count(attributes::WEB_SEARCH_REQUESTS),
    }
}

/// Returns the name of a model without the suffixes that clients add.
fn plain(model: &str) -> &str {
    model.strip_suffix("[1m]").unwrap_or(model)
}

/// Returns the part of the account beyond the usage in rows (`reported`) and its initial content (`base`, with the
/// client's costs).
#[must_use]
pub fn residual(
    account: &Account,
    base: &ByModel,
    reported: &ByModel,
    reasons: Reasons,
    at: i64,
    pricer: &dyn Pricer,
) -> Residual {
    let mut left: BTreeMap<&str, ModelSums> = BTreeMap::new();
    for (model, sums) in &account.models {
        *left.entry(plain(model)).or_default() += *sums;
    }
    for (model, sums) in base.iter().chain(reported) {
        *left.entry(plain(model)).or_default() += sums.times(-1);
    }
    for part in ModelSums::PARTS {
        settle_part(&mut left, part);
    }
    let lines = left.into_iter().filter(|(_, sums)| sums.spend.token_sum() > 0).map(|(model, mut sums)| {
        let client = (sums.spend.unpriced == 0).then(|| sums.spend.cost.max(0));
        sums.cache_write_1h = sums.cache_write_1h.min(sums.spend.cache_write);
        let cost = pricer.cost_of_sum(model, &sums);
        sums.spend.cost = cost.unwrap_or(0);
        sums.spend.unpriced = i64::from(cost.is_none());
        sums.spend.responses = 0;
        ModelResidual {
            model: model.to_owned(),
            reason: reasons.text().to_owned(),
            sums,
            client_cost: client,
        }
    });
    Residual { at, lines: lines.collect() }
}

/// Makes one number non-negative in all models: a deficit under one name is taken from the others.
fn settle_part(left: &mut BTreeMap<&str, ModelSums>, part: ModelSumField) {
    let mut missing = 0_i64;
    for sums in left.values_mut() {
        let number = part(sums);
        if *number < 0 {
            missing = missing.saturating_sub(*number);
            *number = 0;
        }
    }
    for sums in left.values_mut() {
        let number = part(sums);
        let taken = missing.min(*number);
        *number -= taken;
        missing -= taken;
    }
}

impl ModelResidual {
    /// Returns its counts for the sums over time. It does not count as a response.
    #[must_use]
    pub fn measures(&self) -> Measures {
        let spend = Spend { responses: 0, reasoning: 0, ..self.sums.spend };
        Measures { spend, ..Measures::default() }
    }
}

/// Returns the reasons of several residuals, each once.
#[must_use]
pub fn join_reasons<'a>(reasons: impl IntoIterator<Item = &'a str>) -> String {
    let all: BTreeSet<&str> =
        reasons.into_iter().flat_map(|reason| reason.split(", ")).filter(|word| !word.is_empty()).collect();
    all.into_iter().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::project::tally::NoPrices;

    fn sums(input: i64, output: i64) -> ModelSums {
        let spend = Spend { input, output, responses: 1, ..Spend::default() };
        ModelSums { spend, ..ModelSums::default() }
    }

    fn by_model(models: &[(&str, ModelSums)]) -> ByModel {
        models.iter().map(|(name, sums)| ((*name).to_owned(), *sums)).collect()
    }

    fn left(
        account: &[(&str, ModelSums)],
        base: &[(&str, ModelSums)],
        reported: &[(&str, ModelSums)],
    ) -> Residual {
        let account = Account { started: None, models: by_model(account) };
        let reasons = Reasons { compacted: true, ..Reasons::default() };
        residual(&account, &by_model(base), &by_model(reported), reasons, 7, &NoPrices)
    }

    #[test]
    fn what_no_row_tells_of_is_left_with_its_reason() {
        let residual =
            left(&[("a", sums(100, 30)), ("b", sums(5, 5))], &[], &[("a", sums(90, 20)), ("b", sums(5, 5))]);
        assert_eq!(residual.lines.len(), 1, "{residual:?}");
        let line = &residual.lines[0];
        assert_eq!((line.model.as_str(), line.reason.as_str()), ("a", "compaction"));
        assert_eq!((line.sums.spend.input, line.sums.spend.output, line.sums.spend.responses), (10, 10, 0));
        assert_eq!(line.sums.spend.unpriced, 1, "a model without a price is marked");
    }

    #[test]
    fn what_the_account_began_with_is_not_of_this_session() {
        let residual = left(&[("a", sums(100, 30))], &[("a", sums(60, 20))], &[("a", sums(40, 4))]);
        assert_eq!((residual.lines[0].sums.spend.input, residual.lines[0].sums.spend.output), (0, 6));
    }

    #[test]
    fn another_name_of_the_same_model_leaves_nothing() {
        assert_eq!(left(&[("a[1m]", sums(9, 9))], &[], &[("a", sums(9, 9))]).lines, []);
        assert_eq!(left(&[("alias", sums(9, 9))], &[], &[("real-name", sums(9, 9))]).lines, []);
    }

    #[test]
    fn an_account_is_read_with_its_costs_and_its_beginning() {
        let account = Account::read(&json!({
            "startedAt": "2026-11-15T21:32:24.583Z",
            "models": {"m": {"inputTokens": 1, "outputTokens": 2, "cacheReadTokens": 3, "cacheCreationTokens": 4,
                "cacheCreation1hTokens": 1, "webSearchRequests": 2, "clientCostUsd": 0.5}, "odd": 3},
        }));
        assert_eq!(account.started, Some(1_794_778_344_583));
        let spend = Spend {
            input: 1,
            output: 2,
            cache_read: 3,
            cache_write: 4,
            cost: DOLLAR / 2,
            ..Spend::default()
        };
        let expected = ModelSums { spend, cache_write_1h: 1, searches: 2 };
        assert_eq!(account.models["m"], expected);
        assert_eq!(Account::read(&json!(null)), Account::default());
    }

    #[test]
    fn reasons_are_said_once() {
        assert_eq!(
            join_reasons(["side request", "compaction, side request", ""]),
            "compaction, side request"
        );
    }

    fn any_models() -> impl Strategy<Value = ByModel> {
        let model = proptest::sample::select(vec!["a", "b", "a[1m]", "c"]).prop_map(str::to_owned);
        let sums = (0..50_i64, 0..50_i64).prop_map(|(input, output)| sums(input, output));
        proptest::collection::btree_map(model, sums, 0..4)
    }

    proptest! {
        #[test]
        fn it_is_never_negative_and_never_more_than_the_account_has_left(
            account in any_models(), base in any_models(), reported in any_models(),
        ) {
            let total = |models: &ByModel, part: fn(&ModelSums) -> i64| models.values().map(part).sum::<i64>();
            let account = Account { started: None, models: account };
            let residual = residual(&account, &base, &reported, Reasons::default(), 0, &NoPrices);
            for part in [|sums: &ModelSums| sums.spend.input, |sums: &ModelSums| sums.spend.output] {
                let left: i64 = residual.lines.iter().map(|line| part(&line.sums)).sum();
                let most = total(&account.models, part) - total(&base, part) - total(&reported, part);
                prop_assert!(residual.lines.iter().all(|line| part(&line.sums) >= 0));
                prop_assert_eq!(left, most.max(0));
            }
        }
    }
}
