//! `agent-tracer usage`: what was spent.
//!
//! Law: the same question has one answer. The ledger answers from kept sums and needs no server; `--files` reads what the
//! agents themselves wrote and needs no ledger; both count every response once, wherever it was copied to.

mod files;
mod page;
mod stored;
mod sum;
mod whole;

use std::process::ExitCode;

use agent_tracer_event::Millis;
use agent_tracer_ledger::Zone;
use agent_tracer_ledger::view::{BlockForecast, Limit, UsageView};
use serde::Serialize;

use crate::arguments::{Options, PeriodName, Usage};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::local_time::LocalTime;
use crate::output::Output;
use crate::reading::{Reading, json, refused};

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    /// The day, week, month or window by its beginning, or the session by its id.
    key: String,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    usage: UsageView,
    /// Parts of the group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<UsagePart>,
    /// Of a session: its subagents, each by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agents: Vec<UsagePart>,
    /// Of a window: when it closes, and what it comes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<Window>,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct UsagePart {
    key: String,
    usage: UsageView,
}

/// Holds the figures of a window.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Window {
    ends_at: Millis,
    is_active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    forecast: Option<BlockForecast>,
}

/// The whole answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    items: Vec<Item>,
    total: UsageView,
    /// Of windows: what the agents said of their rate limits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits: Vec<Limit>,
}

/// Holds the parsed query.
struct Question<'a> {
    arguments: &'a Usage,
    since: Option<Millis>,
    until: Option<Millis>,
    zone: &'a LocalTime,
    now: Millis,
}

pub(super) fn run(
    arguments: &Usage,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let zone = match &arguments.tz {
        Some(name) => LocalTime::zone(name)?,
        None => LocalTime::of(environment),
    };
    let now = environment.now();
    let (since, until) = zone.range(arguments.since.as_deref(), arguments.until.as_deref(), now)?;
    let question = Question { arguments, since, until, zone: &zone, now };
    let (items, reading) = match &arguments.files {
        Some(folder) => (files::items(&question, folder.as_deref(), options, environment, output)?, None),
        None => {
            let reading = Reading::open(options, environment)?;
            (stored::items(&question, &reading, environment)?, Some(reading))
        }
    };
    let mut total = UsageView::default();
    for item in &items {
        sum::add(&mut total, &item.usage);
    }
    let is_empty = items.is_empty();
    let limits = match reading.as_ref().and_then(|reading| reading.store()) {
        Some(store) if arguments.period == PeriodName::Blocks => store.limits(now).map_err(refused)?.items,
        _ => Vec::new(),
    };
    let report = Report { items, total, limits };
    if arguments.json {
        output.data(&json(&report)?)?;
    } else if arguments.csv {
        output.data(&page::csv(&report, arguments.period))?;
    } else if !is_empty {
        output.data(&page::text(&report, &question, output))?;
    }
    if is_empty {
        match reading {
            Some(reading) => {
                let is_narrowed = since.is_some() || until.is_some() || arguments.agent.is_some();
                reading.say_empty(output, environment, is_narrowed)?;
            }
            None => output.say("no responses in these files")?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl Question<'_> {
    /// Returns the beginning of the day, week or month that holds a moment, as a date of the asker.
    fn stretch(&self, at: Millis) -> String {
        const DAY_MS: i64 = 86_400_000;
        let local = at.0 + i64::from(self.zone.offset_seconds(at)) * 1000;
        let day = local.div_euclid(DAY_MS);
        let date = |day: i64| Millis(day * DAY_MS).to_string();
        match self.arguments.period {
            // 1970 began on a Thursday: three days after a Monday.
            PeriodName::Weekly => date(day - (day + 3).rem_euclid(7)).chars().take(10).collect(),
            PeriodName::Monthly => date(day).chars().take(7).collect(),
            _ => date(day).chars().take(10).collect(),
        }
    }

    /// Returns whether a time is in the range.
    fn holds(&self, at: Millis) -> bool {
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at < until)
    }
}
