//! Usage as it is shown: a spend, with what the client's own account adds to it.

use std::ops::AddAssign;

use agent_tracer_event::Tokens;
use rusqlite::Row;

use crate::project::residual as stored;
use crate::project::spend::{DOLLAR, ModelSums, Spend};
use crate::shipment::TaskSpend;
use crate::view::{Residual, ResidualModel, UsageProvenance, UsageView};

/// The usage of something: its spend, and what only tasks have beside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageSum {
    /// Tokens and cost of responses.
    pub spend: Spend,
    /// Responses that count elsewhere.
    pub copies: i64,
    /// The cost that the client reported, in pico-dollars.
    pub client_cost: Option<i64>,
    /// The usage that appears only in the client's own account.
    pub residual: Option<Residual>,
}

/// Converts pico-dollars to dollars.
pub fn dollars(pico: i64) -> f64 {
    pico as f64 / DOLLAR as f64
}

/// Dollars as pico-dollars.
fn pico(dollars: f64) -> i64 {
    (dollars * DOLLAR as f64).round() as i64
}

/// Returns a stored count; a negative one would be a slip of the writer and shows as nothing.
pub fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Reads the columns of a [`Spend`], the first of which is at this place.
pub(crate) fn read_spend(row: &Row<'_>, first: usize) -> rusqlite::Result<Spend> {
    let mut numbers = [0; Spend::COLUMNS.len()];
    for (place, number) in (first..).zip(&mut numbers) {
        *number = row.get(place)?;
    }
    Ok(Spend::of_numbers(numbers))
}

/// Returns the columns of a [`Spend`], of the table with this name in the statement.
pub(crate) fn spend_columns(table: &str) -> String {
    Spend::COLUMNS.map(|column| format!("{table}.{column}")).join(", ")
}

impl From<Spend> for UsageSum {
    fn from(spend: Spend) -> Self {
        Self { spend, ..Self::default() }
    }
}

impl TaskSpend {
    /// Returns the columns that [`TaskSpend::read`] reads, of `task t`.
    pub(crate) fn columns() -> String {
        format!("{}, t.copies, t.client_cost, t.residual", spend_columns("t"))
    }

    /// Reads [`TaskSpend::columns`], the first of which is at this place.
    pub(crate) fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let next = first + Spend::COLUMNS.len();
        let residual: Option<String> = row.get(next + 2)?;
        Ok(Self {
            spend: read_spend(row, first)?,
            copies: row.get(next)?,
            client_cost: row.get(next + 1)?,
            residual: residual.and_then(|text| stored::Residual::parse(&text)),
        })
    }

    /// Returns the usage of the task alone.
    #[must_use]
    pub fn usage(&self) -> UsageSum {
        UsageSum {
            spend: self.spend,
            copies: self.copies,
            client_cost: self.client_cost,
            residual: self.residual.as_ref().map(stored::Residual::present),
        }
    }
}

impl UsageSum {
    /// Returns the sum as it is shown. What only the client's account knows is in the sums.
    pub fn view(&self) -> UsageView {
        let (spend, residual) = (&self.spend, self.residual.clone().unwrap_or_default());
        UsageView {
            tokens: spend.tokens().plus(&residual.tokens),
            // Added as whole pico-dollars: two fractions would leave dust behind the last digit.
            cost_usd: dollars(spend.cost.saturating_add(pico(residual.cost_usd))),
            client_cost_usd: self.client_cost.map(dollars),
            residual: self.residual.clone(),
            provenance: UsageProvenance {
                responses: count(spend.responses),
                unpriced: count(spend.unpriced),
                copies: count(self.copies),
            },
        }
    }
}

impl Residual {
    /// Returns the residual with this spend, without a reason.
    #[must_use]
    pub fn of(spend: &Spend) -> Self {
        Self {
            tokens: Tokens { reasoning: None, ..spend.tokens() },
            cost_usd: dollars(spend.cost),
            ..Self::default()
        }
    }
}

impl stored::Residual {
    /// Returns the view of a stored residual.
    #[must_use]
    pub fn present(&self) -> Residual {
        let mut whole = ModelSums::default();
        for line in &self.lines {
            whole += line.sums;
        }
        let client: Option<Vec<i64>> = self.lines.iter().map(|line| line.client_cost).collect();
        Residual {
            client_cost_usd: client.map(|parts| dollars(parts.iter().sum())),
            reason: stored::join_reasons(self.lines.iter().map(|line| line.reason.as_str())),
            models: self.lines.iter().map(present_model).collect(),
            ..Residual::of(&whole.spend)
        }
    }
}

fn present_model(line: &stored::ModelResidual) -> ResidualModel {
    let spend = &line.sums.spend;
    ResidualModel {
        model: line.model.clone(),
        tokens: Tokens { reasoning: None, ..spend.tokens() },
        cost_usd: (spend.unpriced == 0).then(|| dollars(spend.cost)),
        reason: line.reason.clone(),
    }
}

impl AddAssign<&UsageSum> for UsageSum {
    /// Adds what another task spent. The client's own cost is not added: its account of a session holds that of the
    /// session's subagents.
    fn add_assign(&mut self, other: &Self) {
        self.spend += other.spend;
        self.copies = self.copies.saturating_add(other.copies);
        if let Some(other) = &other.residual {
            let sum = self.residual.get_or_insert_default();
            sum.tokens = sum.tokens.plus(&other.tokens);
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
        let residual = Residual {
            tokens: Tokens { input: 5, ..Tokens::default() },
            cost_usd: 0.5,
            reason: "account".to_owned(),
            ..Residual::default()
        };
        let child = UsageSum {
            spend: Spend { input: 10, cost: 2 * DOLLAR, ..Spend::default() },
            client_cost: Some(7),
            residual: Some(residual),
            ..UsageSum::default()
        };
        let mut sum = UsageSum {
            spend: Spend { input: 1, ..Spend::default() },
            client_cost: Some(3 * DOLLAR),
            ..UsageSum::default()
        };
        sum += &child;
        let view = sum.view();
        assert_eq!((view.tokens.input, view.cost_usd, view.client_cost_usd), (16, 2.5, Some(3.0)));
        assert_eq!(view.tokens.reasoning, None);
        assert_eq!(view.residual.unwrap().reason, "account");
    }
}
