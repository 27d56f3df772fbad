//! A report as a table for people and as one for spreadsheets.

use agent_tracer_event::Millis;
use agent_tracer_ledger::view::{BlockForecast, Limit, UsageView};

use super::{Item, Question, Report};
use crate::arguments::PeriodName;
use crate::figures;
use crate::output::{Output, Paint};
use crate::table::{Cell, Side, Table};

/// Returns the name of the first column.
fn head(period: PeriodName) -> &'static str {
    match period {
        PeriodName::Daily => "DAY",
        PeriodName::Weekly => "WEEK OF",
        PeriodName::Monthly => "MONTH",
        PeriodName::Session => "SESSION",
        PeriodName::Blocks => "FROM",
    }
}

pub(super) fn text(report: &Report, question: &Question<'_>, output: &Output) -> String {
    let period = question.arguments.period;
    let has_residual = report.total.residual.is_some();
    let mut heads = vec![(head(period), Side::Left)];
    for name in ["IN", "OUT", "CACHE READ", "CACHE WRITE", "TOKENS", "RESPONSES"] {
        heads.push((name, Side::Right));
    }
    if has_residual {
        heads.push(("RESIDUAL", Side::Right));
    }
    heads.push(("COST", Side::Right));
    heads.push(("", Side::Left));
    let mut table = Table::new(&heads);
    let row = |name: Cell, usage: &UsageView, note: String, is_sum: bool| {
        let cell = |text: String| if is_sum { Cell::new(text).paint(Paint::Bold) } else { Cell::new(text) };
        let mut cells = vec![
            name,
            cell(figures::some(usage.tokens.input)),
            cell(figures::some(usage.tokens.output)),
            cell(figures::some(usage.tokens.cache_read)),
            cell(figures::some(usage.tokens.cache_write)),
            cell(figures::some(figures::tokens(usage))),
            cell(figures::some(usage.provenance.responses)),
        ];
        if has_residual {
            cells.push(cell(
                usage.residual.as_ref().map_or("-".to_owned(), |left| figures::some(figures::residual(left))),
            ));
        }
        cells.push(cell(figures::cost(usage)));
        cells.push(Cell::new(note).paint(Paint::Dim));
        cells
    };
    for item in &report.items {
        table.row(row(Cell::new(name(item, question)), &item.usage, note(item, question), false));
        for part in &item.parts {
            let key = if part.key.is_empty() { "(none)" } else { &part.key };
            table.row(row(Cell::new(key).indent(2).paint(Paint::Dim), &part.usage, String::new(), false));
        }
    }
    table.row(row(Cell::new("total").paint(Paint::Bold), &report.total, String::new(), true));
    let mut text = table.render(output);
    if let Some(left) = &report.total.residual {
        text.push_str(&format!(
            "\nresidual: {} tokens that only the client's own account knows ({}); they are in the sums\n",
            figures::count(figures::residual(left)),
            left.reason
        ));
    }
    for limit in &report.limits {
        text.push_str(&format!("\n{}\n", limit_line(limit, question)));
    }
    if report.total.provenance.unpriced > 0 {
        text.push_str(&format!(
            "\n{} without a price: their tokens count, their cost does not (`≥`, `no price`)\n",
            plural(report.total.provenance.unpriced, "response")
        ));
    }
    text
}

/// Returns the line for a rate limit.
fn limit_line(limit: &Limit, question: &Question<'_>) -> String {
    let window = if limit.window == "five_hour" { "5 h" } else { "7 d" };
    let mut line = format!("{} {window} limit: {:.0}% used", limit.agent.name(), limit.used_pct);
    if let Some(resets) = limit.resets_at {
        line.push_str(&format!(", begins anew {}", question.zone.minute(resets)));
    }
    if let Some(forecast) = &limit.forecast {
        line.push_str(&format!("; {:+.1}% an hour", forecast.pct_per_hour));
        match forecast.full_at {
            Some(full) => line.push_str(&format!(", full {}", question.zone.minute(full))),
            None => line.push_str(", not full before that"),
        }
        line.push_str(&format!(" ({} certainty)", forecast.certainty));
    }
    line
}

fn plural(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

fn name(item: &Item, question: &Question<'_>) -> String {
    match question.arguments.period {
        PeriodName::Blocks => match Millis::parse(&item.key) {
            Some(at) => question.zone.minute(at),
            None => item.key.clone(),
        },
        // The beginning tells sessions apart; `--json` has the whole.
        PeriodName::Session => item.key.chars().take(13).collect(),
        _ => item.key.clone(),
    }
}

fn note(item: &Item, question: &Question<'_>) -> String {
    let Some(block) = &item.block else { return item.label.clone().unwrap_or_default() };
    match &block.forecast {
        None => String::new(),
        Some(forecast) => {
            format!("open until {}: {}", question.zone.minute(block.ends_at), pace(forecast))
        }
    }
}

/// Returns the forecast of a window. If a response has no price, only tokens are forecast.
fn pace(forecast: &BlockForecast) -> String {
    let dollars = |dollars: Option<f64>, unit: &str| {
        dollars.map(|dollars| format!(", ${dollars:.2}{unit}")).unwrap_or_default()
    };
    format!(
        "{} tokens/min{}; then {} tokens{}",
        figures::count(forecast.tokens_per_minute.round() as u64),
        dollars(forecast.cost_per_hour_usd, "/h"),
        figures::count(forecast.tokens),
        dollars(forecast.cost_usd, "")
    )
}

/// Returns a table for spreadsheets: a line for each part, or for each item that has none.
pub(super) fn csv(report: &Report, period: PeriodName) -> String {
    let mut text = format!(
        "{},part,responses,input_tokens,output_tokens,cache_read_tokens,cache_creation_tokens,residual_tokens,cost_usd,\
         unpriced\r\n",
        head(period).to_lowercase().replace(' ', "_")
    );
    for item in &report.items {
        if item.parts.is_empty() {
            text.push_str(&line(&item.key, "", &item.usage));
        }
        for part in &item.parts {
            text.push_str(&line(&item.key, &part.key, &part.usage));
        }
    }
    text
}

fn line(key: &str, part: &str, usage: &UsageView) -> String {
    format!(
        "{},{},{},{},{},{},{},{},{},{}\r\n",
        field(key),
        field(part),
        usage.provenance.responses,
        usage.tokens.input,
        usage.tokens.output,
        usage.tokens.cache_read,
        usage.tokens.cache_write,
        usage.residual.as_ref().map_or(0, figures::residual),
        figures::known_cost(usage).map_or(String::new(), |cost| format!("{cost:.9}")),
        usage.provenance.unpriced
    )
}

/// Returns a text as a CSV field: quoted, and never a formula.
fn field(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = format!("{}{text}", if is_formula { "'" } else { "" });
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_never_formulas() {
        assert_eq!(field("a,b"), "\"a,b\"");
        assert_eq!(field("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(field("=1+1"), "'=1+1");
        assert_eq!(field("gpt-5.5"), "gpt-5.5");
    }

    #[test]
    fn a_window_without_all_prices_goes_on_in_tokens_alone() {
        let mut forecast = BlockForecast {
            tokens_per_minute: 10.0,
            cost_per_hour_usd: Some(1.5),
            tokens: 3_000,
            cost_usd: Some(7.5),
        };
        assert_eq!(pace(&forecast), "10 tokens/min, $1.50/h; then 3.0k tokens, $7.50");
        (forecast.cost_per_hour_usd, forecast.cost_usd) = (None, None);
        assert_eq!(pace(&forecast), "10 tokens/min; then 3.0k tokens");
    }
}
