//! Numbers over many tasks, each made of a sum: what one tool, class of failures, command, … came to.

use std::collections::BTreeMap;

use agent_tracer_event::Millis;

use crate::engine::cursor::{self, List};
use crate::engine::usage_sum::{UsageSum, count, dollars};
use crate::project::blocks::{BLOCK_MS, blocks, pace};
use crate::project::bucket::Bucket;
use crate::project::latency;
use crate::project::measures::Measures;
use crate::project::tally::SEPARATOR;
use crate::store::{Answer, Paging};
use crate::view::{
    ActivityBucket, AgentStat, BlockForecast, CommandStat, McpStat, Page, SkillStat, ToolDurations, ToolStat,
    UsageBlock, UsageBucket,
};

const QUARTER_MS: i64 = 900_000;

/// Windows are looked for in so many days at most: the newest.
const MOST_DAYS: i64 = 400;

/// Returns the two parts of a key.
#[must_use]
pub fn split(key: &str) -> (String, String) {
    let (one, two) = key.split_once(SEPARATOR).unwrap_or((key, ""));
    (one.to_owned(), two.to_owned())
}

/// Returns a tool: how often, how well, how long. Without durations the time is unknown.
#[must_use]
pub fn tool_stat(tool: String, sums: &Measures, durations: Option<&BTreeMap<i64, u64>>) -> ToolStat {
    let buckets: Vec<(i64, u64)> = durations.into_iter().flatten().map(|(bucket, n)| (*bucket, *n)).collect();
    ToolStat {
        tool,
        count: count(sums.n),
        failures: count(sums.failures),
        p50_ms: latency::quantile(&buckets, 0.50),
        p95_ms: latency::quantile(&buckets, 0.95),
        p99_ms: latency::quantile(&buckets, 0.99),
        total_ms: count(sums.ms),
    }
}

/// Returns how long the calls of tools took, counted at these bounds: most calls first.
pub fn tool_durations(
    tools: impl IntoIterator<Item = (String, BTreeMap<i64, u64>, i64)>,
    bounds_ms: &[u64],
) -> Vec<ToolDurations> {
    let mut tools: Vec<ToolDurations> = tools
        .into_iter()
        .map(|(tool, buckets, total_ms)| ToolDurations {
            tool,
            count: buckets.values().sum(),
            total_ms: count(total_ms),
            at_most: bounds_ms.iter().map(|bound| latency::at_most(&buckets, *bound)).collect(),
        })
        .collect();
    tools.sort_by(|one, two| two.count.cmp(&one.count).then_with(|| one.tool.cmp(&two.tool)));
    tools
}

/// Returns a shell command.
#[must_use]
pub fn command_stat(command: String, sums: &Measures) -> CommandStat {
    CommandStat {
        command,
        count: count(sums.n),
        failures: count(sums.failures),
        total_ms: count(sums.ms),
        mean_ms: (sums.n > 0).then(|| sums.ms as f64 / sums.n as f64),
    }
}

/// Returns a tool of an MCP server.
#[must_use]
pub fn mcp_stat(key: &str, sums: &Measures) -> McpStat {
    let (server, tool) = split(key);
    let (n, failures) = (count(sums.n), count(sums.failures));
    McpStat { server, tool, count: n, failures, total_ms: count(sums.ms) }
}

/// Returns a skill, given what everything cost.
#[must_use]
pub fn skill_stat(skill: String, sums: &Measures, whole: i64) -> SkillStat {
    SkillStat {
        skill,
        count: count(sums.n),
        failures: count(sums.failures),
        usage: UsageSum::from(sums.spend).view(),
        cost_share: (whole > 0).then(|| sums.spend.cost as f64 / whole as f64),
    }
}

/// Returns a type of agents: how many tasks and how long they ran, what they called, what they spent.
#[must_use]
pub fn agent_stat(
    agent_type: String,
    (tasks, run_ms): (i64, i64),
    calls: &Measures,
    spent: &Bucket,
) -> AgentStat {
    AgentStat {
        agent_type,
        tasks: count(tasks),
        tool_calls: count(calls.n),
        failures: count(calls.failures),
        tool_ms: count(calls.ms),
        run_ms: count(run_ms),
        usage: spent.usage().view(),
    }
}

/// Returns a stretch of time: what happened in it.
#[must_use]
pub fn activity_bucket(at: i64, sums: &Measures) -> ActivityBucket {
    let spend = sums.spend;
    ActivityBucket {
        at: Millis(at),
        events: count(sums.n),
        tool_calls: count(sums.calls),
        failures: count(sums.failures),
        tool_ms: count(sums.ms),
        waiting_ms: count(sums.wait_ms),
        input_tokens: count(spend.input)
            .saturating_add(count(spend.cache_read))
            .saturating_add(count(spend.cache_write)),
        output_tokens: count(spend.output),
        cost_usd: dollars(spend.cost),
    }
}

/// Returns the usage of a group for the wire.
#[must_use]
pub fn usage_bucket(key: String, bucket: &Bucket) -> UsageBucket {
    UsageBucket { key, label: None, owner: None, usage: bucket.usage().view() }
}

/// Returns a page of what was spent: most expensive first, then most tokens, then by name.
///
/// # Errors
/// If the cursor is none of this list.
pub fn usage_page(
    paging: &Paging,
    buckets: impl IntoIterator<Item = (String, Bucket)>,
) -> Answer<Page<UsageBucket>> {
    let mut items: Vec<(String, Bucket)> =
        buckets.into_iter().filter(|(_, bucket)| !bucket.is_empty()).collect();
    items.sort_by(|(one, _), (two, _)| one.cmp(two));
    let items: Vec<(i64, (String, Bucket))> = (0..).zip(items).collect();
    let page = cursor::page(List::Usage, paging, items, |(place, (_, bucket))| {
        [-bucket.spend.cost, -bucket.spend.token_sum(), *place]
    })?;
    Ok(page.map(|(_, (key, bucket))| usage_bucket(key, &bucket)))
}

/// Returns the span in which windows of a range are looked for: one may have opened before the range begins.
#[must_use]
pub fn block_span((from, to): (i64, i64)) -> (i64, i64) {
    (from.saturating_sub(BLOCK_MS).max(to.saturating_sub(MOST_DAYS * 86_400_000)), to)
}

/// Windows of five hours out of what was spent in each quarter-hour, newest first, those that closed before `since`
/// left out.
///
/// # Errors
/// If the cursor is none of this list.
pub fn block_page(
    paging: &Paging,
    now: Millis,
    since: Option<Millis>,
    mut quarters: BTreeMap<i64, Bucket>,
) -> Answer<Page<UsageBlock>> {
    quarters.retain(|_, bucket| !bucket.is_empty());
    let since = since.map_or(i64::MIN, |since| since.0);
    let items: Vec<UsageBlock> = blocks(quarters)
        .into_iter()
        .filter(|block| block.to > since)
        .map(|block| {
            let mut sum = Bucket::default();
            for piece in &block.pieces {
                sum.add_all(piece, 1);
            }
            usage_block(&sum, (block.from, block.to), block.first, block.last + QUARTER_MS, now.0)
        })
        .collect();
    cursor::page(List::Usage, paging, items, |block| [-block.started_at.0])
}

fn usage_block(sum: &Bucket, (from, to): (i64, i64), first: i64, last: i64, now: i64) -> UsageBlock {
    let tokens = pace(first, to, now, sum.spend.token_sum() as f64);
    let forecast = tokens.zip(pace(first, to, now, dollars(sum.spend.cost)));
    let usage = sum.usage().view();
    UsageBlock {
        started_at: Millis(from),
        ends_at: Millis(to),
        last_at: Millis(last.min(to)),
        is_active: forecast.is_some(),
        forecast: forecast.map(|(tokens, cost)| BlockForecast::new(tokens, cost, usage.provenance.unpriced)),
        usage,
    }
}
