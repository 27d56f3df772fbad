//! Metrics for Prometheus, in its text format. Their names are in `docs/metrics.md`.
//!
//! Labels come from what agents do, so there may be any number of them: of every metric the fifty largest label sets
//! are given (two hundred where types of agents and tools are crossed), the rest together as `other`. The numbers are
//! made at most every five seconds. Units are those that Prometheus asks for: seconds, bytes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use agent_tracer_event::{Agent, Millis};
use agent_tracer_jobs::alerts::Counts;
use agent_tracer_ledger::view::{Page, ToolDurations, ToolStat, UsageView};
use agent_tracer_ledger::{Answer, MAX_LIMIT, Paging, Range, Store, UsageBy, Utc};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::problem::Problem;

/// The upper ends of the buckets of durations: what a person feels, what a build takes, what hangs.
const BOUNDS_MS: [u64; 16] = [
    5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 1_200_000, 3_600_000,
];

/// The time for which numbers are cached.
// Several scrapers, or a page that is reloaded, cost the store one reading.
const FRESH_MS: i64 = 5_000;

/// The most label sets of one metric; what is beyond them is `other`.
const SETS: usize = 50;

/// The most label sets of a metric that tells types of agents and tools apart.
const CROSSED_SETS: usize = 200;

/// The most types of agents that are listed apart by tool: each is a question to the store.
const TYPES: usize = 20;

/// The label of the sets beyond them.
const OTHER: &str = "other";

/// The most parts of a list that are asked for: beyond that the list is not for a chart.
const PARTS: usize = 4;

/// The numbers as they were last made.
#[derive(Default)]
pub(crate) struct Cache(Option<(Millis, Arc<str>)>);

/// Answers with the metrics.
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
    let now = (app.deps.clock)();
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
    let mut out = MetricsText(String::new());
    own(app, &mut out)?;
    let store = &*app.deps.store;
    let range = |agent: Agent| Range { agent: Some(agent), ..Range::default() };
    let (mut calls, mut failed, mut classes) = (Metric::new(), Metric::new(), Metric::new());
    let (mut tokens, mut costs, mut unpriced) = (Metric::new(), Metric::new(), Metric::new());
    let (mut type_calls, mut type_failed) = (Metric::new(), Metric::new());
    let (mut type_tokens, mut type_costs) = (Metric::new(), Metric::new());
    let (mut type_tool_time, mut runs, mut run_time) = (Metric::new(), Metric::new(), Metric::new());
    let mut crossed = AgentToolSums::default();
    for agent in Agent::ALL.iter().copied() {
        let name = agent.as_str();
        let tools = collect_pages(&range(agent), |range| store.tools(range))?;
        for tool in &tools {
            let labels = labels(&[("agent", name), ("tool", &tool.tool)]);
            calls.add(labels.clone(), tool.count as f64);
            failed.add(labels, tool.failures as f64);
        }
        for failure in collect_pages(&range(agent), |range| store.failures(range))? {
            let class = ("class", failure.error_class.as_str());
            classes.add(labels(&[("agent", name), ("tool", &failure.tool), class]), failure.count as f64);
        }
        for bucket in collect_pages(&range(agent), |range| store.usage(range, UsageBy::Model, &Utc))? {
            let set = [("agent", name), ("model", bucket.key.as_str())];
            spent(&set, &bucket.usage, &mut tokens, &mut costs);
            unpriced.add(labels(&set), bucket.usage.provenance.unpriced as f64);
        }
        let mut kinds = collect_pages(&range(agent), |range| store.agents(range))?;
        for kind in &kinds {
            let set = [("agent", name), ("agent_type", kind.agent_type.as_str())];
            type_calls.add(labels(&set), kind.tool_calls as f64);
            type_failed.add(labels(&set), kind.failures as f64);
            spent(&set, &kind.usage, &mut type_tokens, &mut type_costs);
            type_tool_time.add(labels(&set), kind.tool_ms as f64 / 1_000.0);
            runs.add(labels(&set), kind.tasks as f64);
            run_time.add(labels(&set), kind.run_ms as f64 / 1_000.0);
        }
        kinds.sort_by(|one, two| {
            two.tool_calls.cmp(&one.tool_calls).then_with(|| one.agent_type.cmp(&two.agent_type))
        });
        // The busiest first: which types are listed must not change with the order of an answer.
        kinds.truncate(TYPES);
        let types = kinds.into_iter().map(|kind| kind.agent_type);
        crossed.add(store, agent, &tools, types)?;
    }
    out.metric("agent_tracer_tool_calls_total", "counter", "Tool calls.", calls);
    out.metric(
        "agent_tracer_tool_failures_total",
        "counter",
        "Tool calls that failed or were denied.",
        failed,
    );
    out.metric("agent_tracer_tool_errors_total", "counter", "Failed tool calls by class.", classes);
    durations(&mut out, store.durations(&Range::default(), &BOUNDS_MS)?);
    out.metric("agent_tracer_tokens_total", "counter", "Tokens by model and type.", tokens);
    out.metric(
        "agent_tracer_cost_dollars_total",
        "counter",
        "Cost by the price table, in US dollars.",
        costs,
    );
    let words = "Responses of models without a price; no cost includes them.";
    out.metric("agent_tracer_unpriced_responses_total", "counter", words, unpriced);
    let words = "Tool calls by type of agent.";
    out.metric("agent_tracer_agent_tool_calls_total", "counter", words, type_calls);
    let words = "Failed tool calls by type of agent.";
    out.metric("agent_tracer_agent_tool_failures_total", "counter", words, type_failed);
    out.metric("agent_tracer_agent_tokens_total", "counter", "Tokens by type of agent.", type_tokens);
    out.metric("agent_tracer_agent_cost_dollars_total", "counter", "Cost by type of agent.", type_costs);
    let words = "Time in tool calls by type of agent.";
    out.metric("agent_tracer_agent_tool_seconds_total", "counter", words, type_tool_time);
    out.metric("agent_tracer_agent_runs_total", "counter", "Sessions and subagents by type of agent.", runs);
    let words = "Duration of sessions and subagents by type of agent, from first to last event.";
    out.metric("agent_tracer_agent_run_seconds_total", "counter", words, run_time);
    crossed.write(&mut out);
    Ok(out.0)
}

/// Writes the calls of each type of agent by tool.
#[derive(Default)]
struct AgentToolSums {
    calls: Metric,
    failures: Metric,
    seconds: Metric,
    durations: Vec<(Labels, ToolDurations)>,
}

impl AgentToolSums {
    /// Adds the tools of an agent, listed apart by these types; what is left of each tool is of other types.
    fn add(
        &mut self,
        store: &dyn Store,
        agent: Agent,
        tools: &[ToolStat],
        types: impl Iterator<Item = String>,
    ) -> Result<(), Problem> {
        let mut left: BTreeMap<&str, (u64, u64, u64)> = tools
            .iter()
            .map(|tool| (tool.tool.as_str(), (tool.count, tool.failures, tool.total_ms)))
            .collect();
        let of_agent = Range { agent: Some(agent), ..Range::default() };
        let mut durations_left = store.durations(&of_agent, &BOUNDS_MS)?;
        for agent_type in types {
            let range = Range { agent_type: Some(agent_type.clone()), ..of_agent.clone() };
            for tool in collect_pages(&range, |range| store.tools(range))? {
                if let Some(left) = left.get_mut(tool.tool.as_str()) {
                    left.0 = left.0.saturating_sub(tool.count);
                    left.1 = left.1.saturating_sub(tool.failures);
                    left.2 = left.2.saturating_sub(tool.total_ms);
                }
                self.put(agent, &agent_type, &tool.tool, (tool.count, tool.failures, tool.total_ms));
            }
            for tool in store.durations(&range, &BOUNDS_MS)? {
                if let Some(left) = durations_left.iter_mut().find(|left| left.tool == tool.tool) {
                    left.count = left.count.saturating_sub(tool.count);
                    left.total_ms = left.total_ms.saturating_sub(tool.total_ms);
                    for (left, taken) in left.at_most.iter_mut().zip(&tool.at_most) {
                        *left = left.saturating_sub(*taken);
                    }
                }
                self.durations.push((crossed_labels(agent, &agent_type, &tool.tool), tool));
            }
        }
        for (tool, left) in left.into_iter().filter(|(_, left)| left.0 > 0) {
            self.put(agent, OTHER, tool, left);
        }
        for left in durations_left.into_iter().filter(|left| left.count > 0) {
            self.durations.push((crossed_labels(agent, OTHER, &left.tool), left));
        }
        Ok(())
    }

    fn put(&mut self, agent: Agent, agent_type: &str, tool: &str, (calls, failures, ms): (u64, u64, u64)) {
        let labels = crossed_labels(agent, agent_type, tool);
        self.calls.add(labels.clone(), calls as f64);
        self.failures.add(labels.clone(), failures as f64);
        self.seconds.add(labels, ms as f64 / 1_000.0);
    }

    fn write(self, out: &mut MetricsText) {
        let words = "Tool calls by type of agent and tool.";
        out.sets("agent_tracer_agent_type_tool_calls_total", words, self.calls, CROSSED_SETS);
        let words = "Failed tool calls by type of agent and tool.";
        out.sets("agent_tracer_agent_type_tool_failures_total", words, self.failures, CROSSED_SETS);
        let words = "Time in tool calls by type of agent and tool.";
        out.sets("agent_tracer_agent_type_tool_seconds_total", words, self.seconds, CROSSED_SETS);
        let name = "agent_tracer_agent_type_tool_duration_seconds";
        let words = "Duration of tool calls by type of agent and tool.";
        histogram(out, name, words, self.durations, CROSSED_SETS);
    }
}

fn crossed_labels(agent: Agent, agent_type: &str, tool: &str) -> Labels {
    labels(&[("agent", agent.as_str()), ("agent_type", agent_type), ("tool", tool)])
}

/// Writes the health of the tracer.
fn own(app: &App, out: &mut MetricsText) -> Result<(), Problem> {
    let store = &*app.deps.store;
    let health = store.health()?;
    let outcomes = store.outcomes()?;
    let spool = (app.deps.spool)();
    out.one("agent_tracer_entries_total", "counter", "Entries in the ledger.", health.entries);
    out.one("agent_tracer_events", "gauge", "Rows of timelines.", health.events);
    out.one("agent_tracer_tasks", "gauge", "Tasks.", health.tasks);
    out.one("agent_tracer_store_bytes", "gauge", "Size of the store on disk.", health.bytes);
    out.one(
        "agent_tracer_search_lag_events",
        "gauge",
        "Rows that search does not index yet.",
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
    out.metric("agent_tracer_outcomes_total", "counter", "Ingestion outcomes.", metric);
    let name = "agent_tracer_spool_lag_seconds";
    out.head(name, "gauge", "Age of the oldest pending envelope.");
    out.line(name, &Labels::new(), spool.lag_ms as f64 / 1_000.0);
    out.one(
        "agent_tracer_posted_waiting_bytes",
        "gauge",
        "Bytes of posted events that are on disk and not folded yet.",
        spool.posted_bytes,
    );
    out.one("agent_tracer_spool_waiting", "gauge", "Pending envelopes.", spool.health.waiting);
    let words = "Envelopes that could not be read or kept.";
    out.one("agent_tracer_spool_quarantined", "gauge", words, spool.health.quarantined);
    let mut metric = Metric::new();
    for (reason, count) in &spool.health.lost {
        metric.add(labels(&[("reason", reason)]), *count as f64);
    }
    out.metric(
        "agent_tracer_lost_total",
        "counter",
        "Observations lost by the hook or the journal of posts, by reason.",
        metric,
    );
    if let Some(faults) = &spool.faults {
        let recording = "1 while the store accepts writes, otherwise 0.";
        out.one("agent_tracer_store_recording", "gauge", recording, u64::from(faults.recording));
        let mut metric = Metric::new();
        for (reason, count) in &faults.write_failures {
            metric.add(labels(&[("reason", reason)]), *count as f64);
        }
        let words = "Failed writes to the store, by reason.";
        out.metric("agent_tracer_store_write_failures_total", "counter", words, metric);
        for (name, kind, words, count) in [
            (
                "agent_tracer_store_read_failures_total",
                "counter",
                "Queries that failed because the store is damaged.",
                faults.read_failures,
            ),
            (
                "agent_tracer_journal_damaged_total",
                "counter",
                "Damaged places in the journal of posts.",
                faults.damaged_posts,
            ),
            (
                "agent_tracer_log_damaged_commits_total",
                "counter",
                "Damaged commits in the write-ahead log of the store.",
                faults.damaged_commits,
            ),
            (
                "agent_tracer_store_damaged_pages",
                "gauge",
                "Pages of the store that differ from what was written.",
                faults.damaged_pages,
            ),
            (
                "agent_tracer_store_changed_pages_total",
                "counter",
                "Pages of the store that another program changed while no server used it.",
                faults.changed_pages,
            ),
            (
                "agent_tracer_store_sums_remade_total",
                "counter",
                "Rebuilds of the page checksums because they were missing or unusable.",
                faults.check.sums_remade,
            ),
            (
                "agent_tracer_store_check_rounds_total",
                "counter",
                "Completed rounds of comparing every page of the store with its checksum.",
                faults.check.rounds,
            ),
            (
                "agent_tracer_posts_set_aside",
                "gauge",
                "Posted events that could not be written and were set aside.",
                faults.set_aside,
            ),
            (
                "agent_tracer_files_parked",
                "gauge",
                "Agents' files that could not be recorded and are retried later.",
                faults.parked_files,
            ),
            (
                "agent_tracer_lock_removed_total",
                "counter",
                "Removals of `ledger.lock` while the server ran.",
                spool.lock_removals,
            ),
        ] {
            out.one(name, kind, words, count);
        }
    }
    let mut metric = Metric::new();
    for (kind, outcome, count) in spool.alerts.iter().flat_map(Counts::all) {
        metric.add(labels(&[("kind", kind.as_str()), ("outcome", outcome.as_str())]), count as f64);
    }
    let words = "Alerts since the server started, by kind and outcome.";
    out.metric("agent_tracer_alerts_total", "counter", words, metric);
    let words = "Shipped records with a time outside 1970 to 2100, since the server started.";
    let clamped = app.clamped.load(Ordering::Relaxed);
    out.one("agent_tracer_shipped_times_clamped_total", "counter", words, clamped);
    Ok(())
}

/// Writes how long calls took: the label sets with most calls each, the others together.
fn histogram(
    out: &mut MetricsText,
    name: &str,
    words: &str,
    mut sets: Vec<(Labels, ToolDurations)>,
    most: usize,
) {
    out.head(name, "histogram", words);
    // Stable: among equals as the store lists them.
    sets.sort_by_key(|(_, durations)| std::cmp::Reverse(durations.count));
    let mut shown: BTreeMap<Labels, ToolDurations> = BTreeMap::new();
    for (mut set, more) in sets {
        if shown.len() >= most && !shown.contains_key(&set) {
            for (_, value) in &mut set {
                OTHER.clone_into(value);
            }
        }
        match shown.entry(set) {
            Entry::Vacant(place) => drop(place.insert(more)),
            Entry::Occupied(mut sum) => {
                let sum = sum.get_mut();
                sum.count += more.count;
                sum.total_ms += more.total_ms;
                for (sum, more) in sum.at_most.iter_mut().zip(more.at_most) {
                    *sum += more;
                }
            }
        }
    }
    for (set, durations) in shown {
        let bucket = format!("{name}_bucket");
        let at = |bound: String| set.iter().cloned().chain([("le", bound)]).collect::<Labels>();
        for (bound, count) in BOUNDS_MS.iter().zip(&durations.at_most) {
            out.line(&bucket, &at((*bound as f64 / 1_000.0).to_string()), *count as f64);
        }
        out.line(&bucket, &at("+Inf".to_owned()), durations.count as f64);
        out.line(&format!("{name}_sum"), &set, durations.total_ms as f64 / 1_000.0);
        out.line(&format!("{name}_count"), &set, durations.count as f64);
    }
}

/// Writes the durations of calls of each tool, of every type of agent.
fn durations(out: &mut MetricsText, tools: Vec<ToolDurations>) {
    let sets = tools.into_iter().map(|tool| (labels(&[("tool", &tool.tool)]), tool)).collect();
    histogram(out, "agent_tracer_tool_duration_seconds", "Duration of tool calls.", sets, SETS);
}

fn spent(set: &[(&'static str, &str)], usage: &UsageView, tokens: &mut Metric, costs: &mut Metric) {
    for (kind, count) in [
        ("input", usage.tokens.input),
        ("output", usage.tokens.output),
        ("cache_read", usage.tokens.cache_read),
        ("cache_creation", usage.tokens.cache_write),
    ] {
        let mut set = set.to_vec();
        set.push(("type", kind));
        tokens.add(labels(&set), count as f64);
    }
    costs.add(labels(set), usage.cost_usd);
}

/// Reads the parts of a list, as far as it is for a chart.
fn collect_pages<T>(range: &Range, ask: impl Fn(&Range) -> Answer<Page<T>>) -> Result<Vec<T>, Problem> {
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
#[derive(Default)]
struct Metric(BTreeMap<Labels, f64>);

impl Metric {
    fn new() -> Self {
        Self(BTreeMap::new())
    }

    fn add(&mut self, labels: Labels, value: f64) {
        *self.0.entry(labels).or_default() += value;
    }
}

struct MetricsText(String);

impl MetricsText {
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
        self.lines(name, metric, SETS);
    }

    /// Writes a counter with so many label sets at most.
    fn sets(&mut self, name: &str, words: &str, metric: Metric, most: usize) {
        self.head(name, "counter", words);
        self.lines(name, metric, most);
    }

    fn lines(&mut self, name: &str, metric: Metric, most: usize) {
        let mut sets: Vec<(Labels, f64)> = metric.0.into_iter().collect();
        if sets.len() > most {
            sets.sort_by(|one, two| two.1.total_cmp(&one.1).then_with(|| one.0.cmp(&two.0)));
            let rest: f64 = sets.split_off(most).into_iter().map(|(_, value)| value).sum();
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
        let mut out = MetricsText(String::new());
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
        let mut out = MetricsText(String::new());
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
    fn no_label_set_is_written_twice_for_any_tools() {
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
        let mut out = MetricsText(String::new());
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
