//! Numbers over many tasks: tools, failures, commands, servers, skills, types of agents.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, OptionalExtension, params};

use super::bucket::{Bucket, Models};
use super::counts;
use super::cursor::{self, List};
use super::rollup::{self, Members, Of, Rolled, Scope, Sums, split_actor};
use super::spent::count;
use super::text::Texts;
use crate::project::latency;
use crate::project::shown::numbers;
use crate::project::tally::{ALL_PROJECTS, Dim, UNKNOWN_ACTOR};
use crate::project::time::{Level, Piece, signed_pieces};
use crate::store::{Answer, Range};
use crate::view::{AgentStat, CommandStat, FailureStat, McpStat, Page, SkillStat, ToolDurations, ToolStat};

/// A key and its sums.
struct Named {
    key: i64,
    name: String,
    sums: Sums,
}

/// The sums of a range by key, most frequent first, and the scope they were summed in.
struct Ranked {
    scope: Scope,
    span: (i64, i64),
    page: Page<Named>,
}

/// The scope and the span of a range; none if nothing can be in it.
pub(crate) fn asked(conn: &Connection, range: &Range) -> Answer<Option<(Scope, (i64, i64))>> {
    let Some(scope) = Scope::of(conn, range)? else { return Ok(None) };
    Ok(rollup::clipped(conn, range)?.map(|span| (scope, span)))
}

/// A page of keys by how often.
fn ranked(conn: &Connection, range: &Range, dim: Dim) -> Answer<Option<Ranked>> {
    ranked_and(conn, range, dim, |_| ())
}

/// The same, and shows every row, whoever it is of.
fn ranked_and(
    conn: &Connection,
    range: &Range,
    dim: Dim,
    seen: impl FnMut(&Rolled),
) -> Answer<Option<Ranked>> {
    // A cursor that is none is refused, even where there is nothing to list.
    cursor::place::<2>(List::Ranked, &range.paging)?;
    let Some((scope, span)) = asked(conn, range)? else { return Ok(None) };
    let sums = rollup::by_key_and(conn, dim, span, &scope, seen)?;
    let mut texts = Texts::new(conn);
    let mut items = Vec::with_capacity(sums.len());
    for (key, sums) in sums {
        items.push(Named { key, name: texts.word(key)?, sums });
    }
    // Among equals by their names, not by when they were first heard of: every store gives the same order.
    let page = cursor::page(List::Ranked, &range.paging, items, |named| {
        [-named.sums.n, cursor::stable(&named.name)]
    })?;
    Ok(Some(Ranked { scope, span, page }))
}

/// The sums of a page as they are shown.
fn shown<T>(
    conn: &Connection,
    range: &Range,
    dim: Dim,
    mut show: impl FnMut(String, &Sums) -> T,
) -> Answer<Page<T>> {
    let Some(Ranked { page, .. }) = ranked(conn, range, dim)? else { return Ok(Page::whole(Vec::new())) };
    Ok(page.map(|named| show(named.name, &named.sums)))
}

/// Tools: how often, how well, how long.
pub(crate) fn tools(conn: &Connection, range: &Range) -> Answer<Page<ToolStat>> {
    let mut everybody: HashMap<i64, i64> = HashMap::new();
    let found = ranked_and(conn, range, Dim::Tool, |rolled| {
        *everybody.entry(rolled.key).or_default() += rolled.sums.n;
    })?;
    let Some(Ranked { scope, span, page }) = found else { return Ok(Page::whole(Vec::new())) };
    let mut durations = durations(conn, span, &scope)?;
    Ok(page.map(|Named { key, name, sums }| {
        let is_everybody = everybody.get(&key) == Some(&sums.n);
        let buckets = durations.remove(&key).and_then(|durations| durations.of(is_everybody));
        numbers::tool_stat(name, &sums, buckets.as_ref())
    }))
}

/// How long the calls of every tool in a range took, counted at these bounds.
pub(crate) fn all_durations(
    conn: &Connection,
    range: &Range,
    bounds_ms: &[u64],
) -> Answer<Vec<ToolDurations>> {
    let Some((scope, span)) = asked(conn, range)? else { return Ok(Vec::new()) };
    let mut everybody: HashMap<i64, i64> = HashMap::new();
    let sums = rollup::by_key_and(conn, Dim::Tool, span, &scope, |rolled| {
        *everybody.entry(rolled.key).or_default() += rolled.sums.n;
    })?;
    let mut texts = Texts::new(conn);
    let mut tools = Vec::new();
    for (key, durations) in durations(conn, span, &scope)? {
        let Some(sums) = sums.get(&key) else { continue };
        if let Some(buckets) = durations.of(everybody.get(&key) == Some(&sums.n)) {
            tools.push((texts.word(key)?, buckets, sums.ms));
        }
    }
    Ok(numbers::tool_durations(tools, bounds_ms))
}

type Buckets = BTreeMap<i64, u64>;

/// How many durations are in each bucket, by its place. In a row, not in a tree: the year of a project adds up a hundred
/// thousand of them.
#[derive(Debug, Default)]
struct Counts(Vec<i64>);

impl Counts {
    fn add(&mut self, packed: &[u8], sign: i64) {
        for (bucket, n) in latency::unpack(packed) {
            let Ok(place @ 0..=latency::LAST) = usize::try_from(bucket) else { continue };
            if self.0.len() <= place {
                self.0.resize(place + 1, 0);
            }
            if let Some(sum) = self.0.get_mut(place) {
                *sum = sum.saturating_add(sign.saturating_mul(i64::try_from(n).unwrap_or(i64::MAX)));
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|n| *n <= 0)
    }

    fn buckets(self) -> Option<Buckets> {
        let left = |(bucket, n): (i64, i64)| u64::try_from(n).ok().filter(|n| *n > 0).map(|n| (bucket, n));
        let buckets: Buckets = (0..).zip(self.0).filter_map(left).collect();
        (!buckets.is_empty()).then_some(buckets)
    }
}

/// Durations of one tool.
#[derive(Debug, Default)]
struct Durations {
    /// Of those in the scope.
    own: Counts,
    /// Of actors that are not known.
    unknown: Counts,
}

impl Durations {
    /// The durations of a scope. Where some are of actors that are not known, they can be given only if everybody who used
    /// the tool is meant.
    fn of(mut self, is_everybody: bool) -> Option<Buckets> {
        if self.unknown.is_empty() {
            return self.own.buckets();
        }
        if !is_everybody {
            return None;
        }
        self.own.0.resize(self.own.0.len().max(self.unknown.0.len()), 0);
        for (sum, more) in self.own.0.iter_mut().zip(self.unknown.0) {
            *sum = sum.saturating_add(more);
        }
        self.own.buckets()
    }
}

/// Durations by tool in a range, rounded outwards to days.
fn durations(
    conn: &Connection,
    (from, to): (i64, i64),
    scope: &Scope,
) -> rusqlite::Result<HashMap<i64, Durations>> {
    let mut find = conn.prepare_cached(
        "SELECT tool, actor, buckets FROM latency WHERE level = ?1 AND at = ?2 AND project = ?3",
    )?;
    let mut next =
        conn.prepare_cached("SELECT at FROM latency WHERE level = ?1 AND at >= ?2 ORDER BY at LIMIT 1")?;
    // Months are kept for all projects together.
    let pieces = match scope.project {
        None => signed_pieces(from, to, Level::Day),
        Some(_) => vec![(Piece { level: Level::Day, from: Level::Day.start(from), to }, 1)],
    };
    let mut members = Members::new(conn, scope);
    let mut tools: HashMap<i64, Durations> = HashMap::new();
    for (piece, sign) in pieces {
        let level = piece.level.code();
        rollup::visit_stretches(
            &piece,
            |at| {
                let mut rows = find.query(params![level, at, scope.project.unwrap_or(ALL_PROJECTS)])?;
                let mut any = false;
                while let Some(row) = rows.next()? {
                    any = true;
                    let (tool, actor): (i64, i64) = (row.get(0)?, row.get(1)?);
                    if actor == UNKNOWN_ACTOR {
                        tools.entry(tool).or_default().unknown.add(row.get_ref(2)?.as_blob()?, sign);
                    } else if members.has(actor)? {
                        tools.entry(tool).or_default().own.add(row.get_ref(2)?.as_blob()?, sign);
                    }
                }
                Ok(any)
            },
            |at| next.query_row(params![level, at], |row| row.get(0)).optional(),
        )?;
    }
    Ok(tools)
}

/// Failures by class and tool.
pub(crate) fn failures(conn: &Connection, range: &Range) -> Answer<Page<FailureStat>> {
    let Some(Ranked { scope, span, page }) = ranked(conn, range, Dim::Error)? else {
        return Ok(Page::whole(Vec::new()));
    };
    let mut texts = Texts::new(conn);
    let mut calls: HashMap<String, i64> = HashMap::new();
    for (key, sums) in rollup::by_key(conn, Dim::Tool, span, &scope)? {
        calls.insert(texts.word(key)?, sums.n);
    }
    Ok(page.map(|Named { name, sums, .. }| {
        let (error_class, tool) = numbers::split(&name);
        FailureStat {
            error_class,
            count: count(sums.n),
            calls: count(calls.get(&tool).copied().unwrap_or(sums.n)),
            tool,
        }
    }))
}

/// Shell commands by program and subcommand.
pub(crate) fn commands(conn: &Connection, range: &Range) -> Answer<Page<CommandStat>> {
    shown(conn, range, Dim::Command, numbers::command_stat)
}

/// MCP calls by server and tool.
pub(crate) fn mcp(conn: &Connection, range: &Range) -> Answer<Page<McpStat>> {
    shown(conn, range, Dim::Mcp, |key, sums| numbers::mcp_stat(&key, sums))
}

/// Skills by how often they were activated.
pub(crate) fn skills(conn: &Connection, range: &Range) -> Answer<Page<SkillStat>> {
    let mut whole = 0_i64;
    if let Some((scope, span)) = asked(conn, range)? {
        for sums in rollup::by_key(conn, Dim::Model, span, &scope)?.values() {
            whole = whole.saturating_add(sums.cost);
        }
    }
    shown(conn, range, Dim::Skill, |skill, sums| numbers::skill_stat(skill, sums, whole))
}

/// What one type of agent did.
#[derive(Clone, Debug, Default)]
struct Did {
    tasks: i64,
    run_ms: i64,
    calls: Sums,
    spent: Bucket,
}

/// Types of agents, by how many tasks.
pub(crate) fn agents(conn: &Connection, range: &Range) -> Answer<Page<AgentStat>> {
    cursor::place::<2>(List::Ranked, &range.paging)?;
    let Some((scope, span)) = asked(conn, range)? else { return Ok(Page::whole(Vec::new())) };
    let mut texts = Texts::new(conn);
    let mut members = Members::new(conn, &scope);
    let mut types: BTreeMap<String, Did> = BTreeMap::new();
    let mut models = Models::new(conn);
    let mut rows: Vec<(Dim, Rolled)> = Vec::new();
    for dim in [Dim::Tool, Dim::Model] {
        rollup::visit(conn, dim, span, Of::scope(&scope), |rolled| {
            if members.has(rolled.actor)? {
                rows.push((dim, *rolled));
            }
            Ok(())
        })?;
    }
    for (dim, rolled) in rows {
        let actor = texts.word(rolled.actor)?;
        let did = types.entry(split_actor(&actor).1.to_owned()).or_default();
        match dim {
            Dim::Tool => did.calls.add(&rolled.sums, 1),
            _ => did.spent.add(&rolled.sums, models.of(rolled.key)?.1, 1),
        }
    }
    for (agent_type, (tasks, run_ms)) in counts::tasks(conn, range, &scope)? {
        let name = texts.word(agent_type)?;
        let name = if name.is_empty() { super::row::MAIN.to_owned() } else { name };
        if range.agent_type.as_ref().is_none_or(|wanted| *wanted == name) {
            let did = types.entry(name).or_default();
            did.tasks += tasks;
            did.run_ms = did.run_ms.saturating_add(run_ms);
        }
    }
    // Somebody who did nothing in the range may have been counted and taken away again.
    types.retain(|_, did| did.tasks > 0 || did.calls != Sums::default() || !did.spent.is_empty());
    let items: Vec<(i64, String, Did)> =
        types.into_iter().enumerate().map(|(place, (name, did))| (place as i64, name, did)).collect();
    let page = cursor::page(List::Ranked, &range.paging, items, |(place, _, did)| [-did.tasks, *place])?;
    Ok(page.map(|(_, agent_type, did)| {
        numbers::agent_stat(agent_type, (did.tasks, did.run_ms), &did.calls, &did.spent)
    }))
}
