//! Numbers for Prometheus, in its text format. Their names are in `docs/metrics.md`.
//!
//! Labels come from what agents do, so there may be any number of them: of every metric the fifty largest label sets
//! are told, the rest together as `other`. The numbers are made at most every five seconds. Units are those that
//! Prometheus asks for: seconds, bytes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write;
use std::sync::{Arc, PoisonError};

use agent_tracer_event::{Agent, Millis};
use agent_tracer_ledger::view::{Page, ToolDurations, UsageView};
use agent_tracer_ledger::{Answer, MAX_LIMIT, Paging, Range, UsageBy, Utc};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::problem::Problem;

/// The upper ends of the buckets of durations: what a person feels, what a build takes, what hangs.
const BOUNDS_MS: [u64; 16] = [
    5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 1_200_000, 3_600_000,
];

/// How long numbers are given again.
const FRESH_MS: i64 = 5_000;

/// The most label sets of one metric; what is beyond them is `other`.
const SETS: usize = 50;

/// What the label sets beyond them are called.
const OTHER: &str = "other";

/// The most parts of a list that are asked for: beyond that the list is not for a chart.
const PARTS: usize = 4;

/// The numbers as they were last made.
#[derive(Default)]
pub(crate) struct Cache(Option<(Millis, Arc<str>)>);

/// Gives the numbers.
pub(crate) async fn get(State(app): State<Arc<App>>) -> Response {
    let worker = Arc::clone(&app);
    match app.blocking(move || fresh(&worker)).await {
        Ok(Ok(text)) => {
            let headers = [
                (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8")),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
            ];
            (headers, text.to_string()).into_response()
        }
        Ok(Err(problem)) | Err(problem) => problem.into_response(),
    }
}

fn fresh(app: &App) -> Result<Arc<str>, Problem> {
    let now = (app.doors.clock)();
    // Held while the numbers are made: two who ask at once make them once.
    let mut cache = app.metrics.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((at, text)) = &cache.0
        && (now.0 - at.0).abs() < FRESH_MS
    {
        return Ok(Arc::clone(text));
    }
    let text: Arc<str> = text(app)?.into();
    cache.0 = Some((now, Arc::clone(&text)));
    Ok(text)
}

fn text(app: &App) -> Result<String, Problem> {
    let mut out = Out(String::new());
    own(app, &mut out)?;
    let store = &*app.doors.store;
    let range = |agent: Agent| Range { agent: Some(agent), ..Range::default() };
    let (mut calls, mut failed, mut classes) = (Metric::new(), Metric::new(), Metric::new());
    let (mut tokens, mut costs) = (Metric::new(), Metric::new());
    let (mut type_calls, mut type_failed) = (Metric::new(), Metric::new());
    let (mut type_tokens, mut type_costs) = (Metric::new(), Metric::new());
    let (mut type_tool_time, mut runs, mut run_time) = (Metric::new(), Metric::new(), Metric::new());
    for agent in Agent::ALL.iter().copied() {
        let name = agent.as_str();
        for tool in all(&range(agent), |range| store.tools(range))? {
            let labels = labels(&[("agent", name), ("tool", &tool.tool)]);
            calls.add(labels.clone(), tool.count as f64);
            failed.add(labels, tool.failures as f64);
        }
        for failure in all(&range(agent), |range| store.failures(range))? {
            let class = ("class", failure.error_class.as_str());
            classes.add(labels(&[("agent", name), ("tool", &failure.tool), class]), failure.count as f64);
        }
        for bucket in all(&range(agent), |range| store.usage(range, UsageBy::Model, &Utc))? {
            spent(&[("agent", name), ("model", &bucket.key)], &bucket.usage, &mut tokens, &mut costs);
        }
        for kind in all(&range(agent), |range| store.agents(range))? {
            let set = [("agent", name), ("agent_type", kind.agent_type.as_str())];
            type_calls.add(labels(&set), kind.tool_calls as f64);
            type_failed.add(labels(&set), kind.failures as f64);
            spent(&set, &kind.usage, &mut type_tokens, &mut type_costs);
            type_tool_time.add(labels(&set), kind.tool_ms as f64 / 1_000.0);
            runs.add(labels(&set), kind.tasks as f64);
            run_time.add(labels(&set), kind.run_ms as f64 / 1_000.0);
        }
    }
    out.metric("agent_tracer_tool_calls_total", "counter", "Tool calls.", calls);
    out.metric(
        "agent_tracer_tool_failures_total",
        "counter",
        "Tool calls that failed or were denied.",
        failed,
    );
    out.metric("agent_tracer_tool_errors_total", "counter", "Failed tool calls by class.", classes);
    durations(&mut out, store.durations(&BOUNDS_MS)?);
    out.metric("agent_tracer_tokens_total", "counter", "Tokens by model and type.", tokens);
    out.metric("agent_tracer_cost_dollars_total", "counter", "What they cost by our price table.", costs);
    let words = "Tool calls by type of agent.";
    out.metric("agent_tracer_agent_tool_calls_total", "counter", words, type_calls);
    let words = "Failed tool calls by type of agent.";
    out.metric("agent_tracer_agent_tool_failures_total", "counter", words, type_failed);
    out.metric("agent_tracer_agent_tokens_total", "counter", "Tokens by type of agent.", type_tokens);
    out.metric("agent_tracer_agent_cost_dollars_total", "counter", "Cost by type of agent.", type_costs);
    let words = "Time in tool calls by type of agent.";
    out.metric("agent_tracer_agent_tool_seconds_total", "counter", words, type_tool_time);
    out.metric("agent_tracer_agent_runs_total", "counter", "Sessions and subagents by type of agent.", runs);
    let words = "How long they ran, from their first event to their last.";
    out.metric("agent_tracer_agent_run_seconds_total", "counter", words, run_time);
    Ok(out.0)
}

/// How the tracer itself is.
fn own(app: &App, out: &mut Out) -> Result<(), Problem> {
    let store = &*app.doors.store;
    let health = store.health()?;
    let outcomes = store.outcomes()?;
    let spool = (app.doors.spool)();
    out.one("agent_tracer_entries_total", "counter", "Entries in the ledger.", health.entries);
    out.one("agent_tracer_events", "gauge", "Rows of timelines.", health.events);
    out.one("agent_tracer_tasks", "gauge", "Tasks.", health.tasks);
    out.one("agent_tracer_store_bytes", "gauge", "Size of the store on disk.", health.bytes);
    out.one(
        "agent_tracer_search_lag_events",
        "gauge",
        "Rows that search does not know yet.",
        health.search_lag,
    );
    let mut metric = Metric::new();
    for (outcome, count) in [
        ("recorded", outcomes.recorded),
        ("duplicate", outcomes.duplicate),
        ("unrecognised", outcomes.unrecognised),
        ("malformed", outcomes.malformed),
        ("refused", outcomes.refused),
    ] {
        metric.add(labels(&[("outcome", outcome)]), count as f64);
    }
    out.metric("agent_tracer_outcomes_total", "counter", "What became of everything that arrived.", metric);
    let name = "agent_tracer_spool_lag_seconds";
    out.head(name, "gauge", "Age of the oldest envelope that waits.");
    out.line(name, &Labels::new(), spool.lag_ms as f64 / 1_000.0);
    out.one(
        "agent_tracer_posted_waiting_bytes",
        "gauge",
        "Bytes that were posted, are on disk and wait to be folded.",
        spool.posted_bytes,
    );
    out.one("agent_tracer_spool_waiting", "gauge", "Envelopes that wait.", spool.health.waiting);
    let words = "Envelopes that could not be read.";
    out.one("agent_tracer_spool_quarantined", "gauge", words, spool.health.quarantined);
    let mut metric = Metric::new();
    for (reason, count) in &spool.health.lost {
        metric.add(labels(&[("reason", reason)]), *count as f64);
    }
    out.metric("agent_tracer_lost_total", "counter", "What the hook could not keep.", metric);
    let mut metric = Metric::new();
    for alert in &spool.alerts {
        metric.add(labels(&[("kind", alert.kind), ("outcome", alert.outcome)]), alert.count as f64);
    }
    let words = "What became of alerts since the server began.";
    out.metric("agent_tracer_alerts_total", "counter", words, metric);
    Ok(())
}

/// How long calls took: the tools that are called most each, the others together. The ledger does not keep durations by
/// who acted, so there is no agent.
fn durations(out: &mut Out, tools: Vec<ToolDurations>) {
    let name = "agent_tracer_tool_duration_seconds";
    out.head(name, "histogram", "How long tool calls took.");
    let mut told: BTreeMap<String, ToolDurations> = BTreeMap::new();
    for mut tool in tools {
        tool.tool = clipped(&tool.tool);
        if told.len() >= SETS && !told.contains_key(&tool.tool) {
            OTHER.clone_into(&mut tool.tool);
        }
        match told.entry(tool.tool.clone()) {
            Entry::Vacant(place) => drop(place.insert(tool)),
            Entry::Occupied(mut sum) => {
                let sum = sum.get_mut();
                sum.count += tool.count;
                sum.total_ms += tool.total_ms;
                for (sum, more) in sum.at_most.iter_mut().zip(tool.at_most) {
                    *sum += more;
                }
            }
        }
    }
    for tool in told.into_values() {
        let set = ("tool", tool.tool.as_str());
        for (bound, count) in BOUNDS_MS.iter().zip(&tool.at_most) {
            let bound = (*bound as f64 / 1_000.0).to_string();
            out.line(&format!("{name}_bucket"), &labels(&[set, ("le", &bound)]), *count as f64);
        }
        out.line(&format!("{name}_bucket"), &labels(&[set, ("le", "+Inf")]), tool.count as f64);
        out.line(&format!("{name}_sum"), &labels(&[set]), tool.total_ms as f64 / 1_000.0);
        out.line(&format!("{name}_count"), &labels(&[set]), tool.count as f64);
    }
}

fn spent(set: &[(&'static str, &str)], usage: &UsageView, tokens: &mut Metric, costs: &mut Metric) {
    for (kind, count) in [
        ("input", usage.input_tokens),
        ("output", usage.output_tokens),
        ("cache_read", usage.cache_read_tokens),
        ("cache_creation", usage.cache_creation_tokens),
    ] {
        let mut set = set.to_vec();
        set.push(("type", kind));
        tokens.add(labels(&set), count as f64);
    }
    costs.add(labels(set), usage.cost_usd);
}

/// All parts of a list, as far as it is for a chart.
fn all<T>(range: &Range, ask: impl Fn(&Range) -> Answer<Page<T>>) -> Result<Vec<T>, Problem> {
    let mut items = Vec::new();
    let mut range = Range { paging: Paging { cursor: None, limit: MAX_LIMIT }, ..range.clone() };
    for _ in 0..PARTS {
        let page = ask(&range)?;
        items.extend(page.items);
        match page.next_cursor {
            Some(cursor) => range.paging.cursor = Some(cursor),
            None => break,
        }
    }
    Ok(items)
}

/// Names and values of labels.
type Labels = Vec<(&'static str, String)>;

/// One metric with its label sets.
struct Metric(BTreeMap<Labels, f64>);

impl Metric {
    fn new() -> Self {
        Self(BTreeMap::new())
    }

    fn add(&mut self, labels: Labels, value: f64) {
        *self.0.entry(labels).or_default() += value;
    }
}

struct Out(String);

impl Out {
    fn head(&mut self, name: &str, kind: &str, words: &str) {
        // Writing to a text cannot fail.
        writeln!(self.0, "# HELP {name} {words}\n# TYPE {name} {kind}").ok();
    }

    fn line(&mut self, name: &str, labels: &Labels, value: f64) {
        // Writing to a text cannot fail.
        writeln!(self.0, "{name}{} {value}", written(labels)).ok();
    }

    fn one(&mut self, name: &str, kind: &str, words: &str, value: u64) {
        self.head(name, kind, words);
        self.line(name, &Labels::new(), value as f64);
    }

    fn metric(&mut self, name: &str, kind: &str, words: &str, metric: Metric) {
        self.head(name, kind, words);
        let mut sets: Vec<(Labels, f64)> = metric.0.into_iter().collect();
        if sets.len() > SETS {
            sets.sort_by(|one, two| two.1.total_cmp(&one.1).then_with(|| one.0.cmp(&two.0)));
            let rest: f64 = sets.split_off(SETS).into_iter().map(|(_, value)| value).sum();
            let names = sets.first().map(|(labels, _)| labels.iter().map(|(name, _)| *name));
            let others: Labels = names.into_iter().flatten().map(|name| (name, OTHER.to_owned())).collect();
            // A tool may be called `other`; the same label set twice would be refused.
            match sets.iter_mut().find(|(labels, _)| *labels == others) {
                Some((_, value)) => *value += rest,
                None => sets.push((others, rest)),
            }
        }
        for (labels, value) in sets {
            self.line(name, &labels, value);
        }
    }
}

/// The most characters of a label's value.
const LABEL_CHARS: usize = 120;

fn labels(set: &[(&'static str, &str)]) -> Labels {
    set.iter().map(|(name, value)| (*name, clipped(value))).collect()
}

fn clipped(value: &str) -> String {
    value.chars().take(LABEL_CHARS).collect()
}

fn written(labels: &Labels) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let escape = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let pairs: Vec<String> =
        labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
    format!("{{{}}}", pairs.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_largest_fifty_is_other() {
        let mut metric = Metric::new();
        for number in 0..80_u32 {
            let tool = format!("tool \"{number}\", ok");
            metric.add(labels(&[("agent", "codex"), ("tool", &tool)]), f64::from(number));
        }
        let mut out = Out(String::new());
        out.metric("calls", "counter", "Calls.", metric);
        let lines: Vec<&str> = out.0.lines().skip(2).collect();
        assert_eq!(lines.len(), SETS + 1);
        assert_eq!(lines[0], "calls{agent=\"codex\",tool=\"tool \\\"79\\\", ok\"} 79");
        let rest: u32 = (0..30).sum();
        assert_eq!(lines[SETS], format!("calls{{agent=\"other\",tool=\"other\"}} {rest}"));
    }

    #[test]
    fn durations_of_the_tools_beyond_fifty_are_added_to_one_histogram() {
        let tools = (0..53_u64).map(|number| ToolDurations {
            tool: format!("tool {number:02}"),
            count: 100 - number,
            total_ms: 1_500,
            at_most: vec![1; BOUNDS_MS.len()],
        });
        let mut out = Out(String::new());
        durations(&mut out, tools.collect());
        let name = "agent_tracer_tool_duration_seconds";
        assert_eq!(out.0.lines().count(), 2 + (SETS + 1) * (BOUNDS_MS.len() + 3));
        let rest: Vec<&str> = out.0.lines().filter(|line| line.contains("other")).collect();
        assert_eq!(rest[0], format!("{name}_bucket{{tool=\"other\",le=\"0.005\"}} 3"));
        let end = [
            format!("{name}_bucket{{tool=\"other\",le=\"3600\"}} 3"),
            format!("{name}_bucket{{tool=\"other\",le=\"+Inf\"}} 147"),
            format!("{name}_sum{{tool=\"other\"}} 4.5"),
            format!("{name}_count{{tool=\"other\"}} 147"),
        ];
        assert_eq!(rest[BOUNDS_MS.len() - 1..], end);
    }

    #[test]
    fn no_label_set_is_told_twice_whatever_tools_are_called() {
        let long = "x".repeat(LABEL_CHARS);
        let mut names: Vec<String> = (0..60).map(|number| format!("tool {number:02}")).collect();
        names.extend([OTHER.to_owned(), format!("{long}1"), format!("{long}2")]);
        let mut metric = Metric::new();
        for (place, name) in names.iter().rev().enumerate() {
            metric.add(labels(&[("tool", name)]), 1_000.0 - place as f64);
        }
        let tools = names.into_iter().rev().map(|tool| ToolDurations {
            tool,
            count: 1,
            total_ms: 1,
            at_most: vec![1; BOUNDS_MS.len()],
        });
        let mut out = Out(String::new());
        durations(&mut out, tools.collect());
        out.metric("calls", "counter", "Calls.", metric);
        let sets: Vec<&str> = out.0.lines().filter_map(|line| Some(line.rsplit_once(' ')?.0)).collect();
        let mut once = sets.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), sets.len());
        assert_eq!(out.0.lines().filter(|line| line.starts_with("calls{")).count(), SETS);
        let count = |name: &str| format!("agent_tracer_tool_duration_seconds_count{{tool=\"{name}\"}}");
        assert!(out.0.contains(&format!("{} 2", count(&long))), "{}", out.0);
        assert!(out.0.contains(&format!("{} 13", count(OTHER))), "{}", out.0);
    }

    #[test]
    fn hostile_names_stay_inside_their_quotes() {
        assert_eq!(written(&labels(&[("tool", "a\"} 1\nb\\")])), "{tool=\"a\\\"} 1\\nb\\\\\"}");
    }
}
