//! Sums of tokens and cost, and how they are shown.

use std::ops::AddAssign;

use rusqlite::Row;

use crate::project::residual as stored;
use crate::project::tally::DOLLAR;
use crate::view::{Residual, ResidualModel, UsageProvenance, UsageView};

/// Counts tokens and cost of something as the tables do. Cost is in pico-dollars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    /// Input tokens.
    pub input: i64,
    /// Output tokens.
    pub output: i64,
    /// Tokens read from caches.
    pub cache_read: i64,
    /// Tokens written to caches.
    pub cache_write: i64,
    /// Reasoning tokens.
    pub reasoning: i64,
    /// Pico-dollars.
    pub cost: i64,
    /// Responses.
    pub responses: i64,
    /// Responses without a price.
    pub unpriced: i64,
    /// Responses that count elsewhere.
    pub copies: i64,
    /// The cost that the client reported.
    pub client_cost: Option<i64>,
    /// The usage that appears only in the client's own account.
    pub residual: Option<Residual>,
}

/// Pico-dollars as dollars.
pub fn dollars(pico: i64) -> f64 {
    pico as f64 / DOLLAR as f64
}

/// Dollars as pico-dollars.
fn pico(dollars: f64) -> i64 {
    (dollars * DOLLAR as f64).round() as i64
}

/// A stored count; a negative one would be a slip of the writer and shows as nothing.
pub fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

impl Spent {
    /// The columns that [`Spent::read`] reads of a table of sums.
    pub(crate) const COLUMNS: &str =
        "input, output, cache_read, cache_write, reasoning, cost, responses, unpriced";

    /// Reads [`Spent::COLUMNS`], the first of which is at this place.
    pub(crate) fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            input: row.get(first)?,
            output: row.get(first + 1)?,
            cache_read: row.get(first + 2)?,
            cache_write: row.get(first + 3)?,
            reasoning: row.get(first + 4)?,
            cost: row.get(first + 5)?,
            responses: row.get(first + 6)?,
            unpriced: row.get(first + 7)?,
            ..Self::default()
        })
    }

    /// The columns that [`Spent::read_of_task`] reads.
    pub(crate) const TASK_COLUMNS: &str = "t.input, t.output, t.cache_read, t.cache_write, t.reasoning, t.cost, \
        t.responses, t.unpriced, t.copies, t.client_cost, t.residual";

    /// Reads [`Spent::TASK_COLUMNS`], the first of which is at this place.
    pub(crate) fn read_of_task(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let residual: Option<String> = row.get(first + 10)?;
        Ok(Self {
            copies: row.get(first + 8)?,
            client_cost: row.get(first + 9)?,
            residual: residual
                .and_then(|text| stored::Residual::parse(&text))
                .map(|residual| shown(&residual)),
            ..Self::read(row, first)?
        })
    }

    /// As it is shown. What only the client's account knows is in the sums.
    pub fn view(&self) -> UsageView {
        let residual = self.residual.clone().unwrap_or_default();
        UsageView {
            input_tokens: count(self.input).saturating_add(residual.input_tokens),
            output_tokens: count(self.output).saturating_add(residual.output_tokens),
            cache_read_tokens: count(self.cache_read).saturating_add(residual.cache_read_tokens),
            cache_creation_tokens: count(self.cache_write).saturating_add(residual.cache_creation_tokens),
            reasoning_tokens: (self.reasoning > 0).then(|| count(self.reasoning)),
            // Added as whole pico-dollars: two fractions would leave dust behind the last digit.
            cost_usd: dollars(self.cost.saturating_add(pico(residual.cost_usd))),
            client_cost_usd: self.client_cost.map(dollars),
            residual: self.residual.clone(),
            provenance: UsageProvenance {
                responses: count(self.responses),
                unpriced: count(self.unpriced),
                copies: count(self.copies),
            },
        }
    }
}

/// A stored residual as it is shown.
#[must_use]
pub fn shown(residual: &stored::Residual) -> Residual {
    let mut whole = stored::ModelSums::default();
    for line in &residual.lines {
        whole.add(&line.sums, 1);
    }
    let client: Option<Vec<i64>> = residual.lines.iter().map(|line| line.client_cost).collect();
    Residual {
        input_tokens: count(whole.input),
        output_tokens: count(whole.output),
        cache_read_tokens: count(whole.cache_read),
        cache_creation_tokens: count(whole.cache_write),
        cost_usd: dollars(whole.cost),
        client_cost_usd: client.map(|parts| dollars(parts.iter().sum())),
        reason: stored::join_reasons(residual.lines.iter().map(|line| line.reason.as_str())),
        models: residual.lines.iter().map(shown_model).collect(),
    }
}

fn shown_model(line: &stored::Line) -> ResidualModel {
    ResidualModel {
        model: line.model.clone(),
        input_tokens: count(line.sums.input),
        output_tokens: count(line.sums.output),
        cache_read_tokens: count(line.sums.cache_read),
        cache_creation_tokens: count(line.sums.cache_write),
        cost_usd: (line.sums.unpriced == 0).then(|| dollars(line.sums.cost)),
        reason: line.reason.clone(),
    }
}

impl AddAssign<&Spent> for Spent {
    /// Adds what another task spent. The client's own cost is not added: its account of a session holds that of the
    /// session's subagents.
    fn add_assign(&mut self, other: &Self) {
        for (sum, part) in [
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
            (&mut self.reasoning, other.reasoning),
            (&mut self.cost, other.cost),
            (&mut self.responses, other.responses),
            (&mut self.unpriced, other.unpriced),
            (&mut self.copies, other.copies),
        ] {
            *sum = sum.saturating_add(part);
        }
        if let Some(other) = &other.residual {
            let sum = self.residual.get_or_insert_default();
            sum.input_tokens = sum.input_tokens.saturating_add(other.input_tokens);
            sum.output_tokens = sum.output_tokens.saturating_add(other.output_tokens);
            sum.cache_read_tokens = sum.cache_read_tokens.saturating_add(other.cache_read_tokens);
            sum.cache_creation_tokens = sum.cache_creation_tokens.saturating_add(other.cache_creation_tokens);
            sum.cost_usd += other.cost_usd;
            sum.client_cost_usd = match (sum.client_cost_usd, other.client_cost_usd) {
                (Some(one), Some(two)) => Some(one + two),
                (one, two) => one.or(two),
            };
            sum.reason = stored::join_reasons([sum.reason.as_str(), other.reason.as_str()]);
            sum.models.extend(other.models.iter().cloned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_account_knows_is_in_the_sums_and_costs_are_not_added_twice() {
        let residual =
            Residual { input_tokens: 5, cost_usd: 0.5, reason: "account".to_owned(), ..Residual::default() };
        let child = Spent {
            input: 10,
            cost: 2 * DOLLAR,
            client_cost: Some(7),
            residual: Some(residual),
            ..Spent::default()
        };
        let mut sum = Spent { input: 1, client_cost: Some(3 * DOLLAR), ..Spent::default() };
        sum += &child;
        let view = sum.view();
        assert_eq!((view.input_tokens, view.cost_usd, view.client_cost_usd), (16, 2.5, Some(3.0)));
        assert_eq!(view.reasoning_tokens, None);
        assert_eq!(view.residual.unwrap().reason, "account");
    }
}
