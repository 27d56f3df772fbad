//! `agent-tracer tools`: how often, how well and how long.

use std::process::ExitCode;

use agent_tracer_ledger::Range;
use agent_tracer_ledger::view::ToolStat;

use crate::arguments::{Options, Tools};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::figures;
use crate::local_time::LocalTime;
use crate::output::{Output, Paint};
use crate::reading::{Reading, agent_of, json};
use crate::table::{Cell, Side, Table};

/// Percentiles are kept by UTC day.
const DAY_MS: i64 = 86_400_000;

pub(super) fn run(
    arguments: &Tools,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let reading = Reading::open(options, environment)?;
    let zone = LocalTime::of(environment);
    let (since, until) = zone.range(arguments.since.as_deref(), arguments.until.as_deref(), reading.now)?;
    let range = Range {
        since,
        until,
        project: reading.project(arguments.project.as_deref(), environment)?,
        agent: arguments.agent.map(agent_of),
        ..Range::default()
    };
    let page = reading.list(None, None, |store, paging| store.tools(&Range { paging, ..range.clone() }))?;
    let is_empty = page.items.is_empty();
    if arguments.json {
        output.data(&json(&page)?)?;
    } else if !is_empty {
        output.data(&table(&page.items).render(output))?;
        // Only where the range cuts a day: else the percentiles cover what the other numbers cover.
        if [since, until].into_iter().flatten().any(|at| at.0.rem_euclid(DAY_MS) != 0) {
            output.say("P50, P95 and P99 cover whole UTC days, all other numbers the range")?;
        }
    }
    if is_empty {
        reading.say_empty(output, environment, range != Range::default())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn table(tools: &[ToolStat]) -> Table {
    let mut table = Table::new(&[
        ("TOOL", Side::Left),
        ("CALLS", Side::Right),
        ("FAILED", Side::Right),
        ("%", Side::Right),
        ("P50", Side::Right),
        ("P95", Side::Right),
        ("P99", Side::Right),
        ("TOTAL", Side::Right),
    ]);
    let time = |ms: Option<f64>| ms.map_or_else(|| "-".to_owned(), |ms| figures::duration(ms.round() as u64));
    for tool in tools {
        let failed = Cell::new(figures::some(tool.failures));
        let share = if tool.failures > 0 && tool.count > 0 {
            // A failure among thousands is not `0`.
            format!("{:.0}", (tool.failures as f64 / tool.count as f64 * 100.0).max(1.0))
        } else {
            "-".to_owned()
        };
        table.row(vec![
            Cell::new(&tool.tool),
            Cell::new(figures::count(tool.count)),
            if tool.failures > 0 { failed.paint(Paint::Red) } else { failed },
            Cell::new(share),
            Cell::new(time(tool.p50_ms)),
            Cell::new(time(tool.p95_ms)),
            Cell::new(time(tool.p99_ms)),
            Cell::new(if tool.total_ms == 0 { "-".to_owned() } else { figures::duration(tool.total_ms) }),
        ]);
    }
    table
}
