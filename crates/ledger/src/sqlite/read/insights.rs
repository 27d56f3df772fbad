//! The sums of the embedded store, as the insight questions read them.

use std::collections::{BTreeSet, HashMap};

use rusqlite::{Connection, OptionalExtension, params};

use super::counts;
use super::rollup::{self, Members, ProjectChoice, RollupRow, Scope, split_actor};
use super::rules;
use super::text::Texts;
use super::usage;
use crate::insights::{self, GroupBy, KeySums, MostFrequent, Rollups, TaskCount, ToolSums};
use crate::project::latency;
use crate::project::measures::Measures;
use crate::project::tally::{ALL_PROJECTS, Dim, UNKNOWN_ACTOR};
use crate::project::time::{Level, Piece, signed_pieces};
use crate::sqlite::words;
use crate::store::{Answer, Range, UsageBy, Zone};
use crate::view::{Page, UsageBucket};

/// A window of the embedded store.
pub(crate) type Window = insights::Window<Scope>;

/// Reads sums that the writer keeps by stretch of time.
pub(crate) struct StoredSums<'conn>(pub(crate) &'conn Connection);

/// Returns the window of a range, or `None` if nothing can be in it.
pub(crate) fn window(conn: &Connection, range: &Range) -> Answer<Option<Window>> {
    let Some(scope) = Scope::of_range(conn, range)? else { return Ok(None) };
    Ok(rollup::clipped(conn, range)?.map(|span| Window { span, scope }))
}

impl Rollups for StoredSums<'_> {
    type Scope = Scope;

    fn window(&self, range: &Range) -> Answer<Option<Window>> {
        window(self.0, range)
    }

    fn sums(&self, window: &Window, span: (i64, i64), dim: Dim, by: GroupBy) -> Answer<Vec<KeySums>> {
        let (conn, scope) = (self.0, &window.scope);
        Ok(match by {
            GroupBy::Key => by_key(conn, dim, span, scope)?,
            // Rows of each project are read only where no project is asked for.
            GroupBy::Project if scope.project.is_none() => {
                by_word(conn, dim, span, scope, ProjectChoice::Each, |rolled| rolled.project, str::to_owned)?
            }
            GroupBy::Project => by_word(
                conn,
                dim,
                span,
                scope,
                ProjectChoice::scope(scope),
                |rolled| rolled.project,
                str::to_owned,
            )?,
            GroupBy::Agent => {
                let agent = |actor: &str| split_actor(actor).0.to_owned();
                by_word(conn, dim, span, scope, ProjectChoice::scope(scope), |rolled| rolled.actor, agent)?
            }
            GroupBy::AgentType => {
                let agent_type = |actor: &str| split_actor(actor).1.to_owned();
                by_word(
                    conn,
                    dim,
                    span,
                    scope,
                    ProjectChoice::scope(scope),
                    |rolled| rolled.actor,
                    agent_type,
                )?
            }
            GroupBy::Owner | GroupBy::Machine => return Err(usage::of_one_machine()),
            GroupBy::Time(level) => by_time(conn, dim, span, scope, level)?,
        })
    }

    fn frequent_sums(&self, window: &Window, dim: Dim, most: MostFrequent) -> Answer<Vec<KeySums>> {
        let sums = rollup::by_key(self.0, dim, window.span, &window.scope)?;
        let mut sums: Vec<(i64, Measures)> = sums.into_iter().collect();
        most.retain(&mut sums, |(_, sums)| sums.n);
        Ok(with_key_texts(self.0, sums)?)
    }

    fn tool_sums(&self, window: &Window) -> Answer<Vec<ToolSums>> {
        let conn = self.0;
        let mut calls_of_all: HashMap<i64, i64> = HashMap::new();
        let sums = rollup::by_key_and(conn, Dim::Tool, window.span, &window.scope, |rolled| {
            *calls_of_all.entry(rolled.key).or_default() += rolled.sums.n;
        })?;
        let mut durations = durations(conn, window.span, &window.scope)?;
        let mut texts = Texts::new(conn);
        let mut tools = Vec::with_capacity(sums.len());
        for (key, sums) in sums {
            let all_actors = calls_of_all.get(&key) == Some(&sums.n);
            let durations = durations.remove(&key).and_then(|durations| durations.in_scope(all_actors));
            tools.push(ToolSums { tool: texts.word(key)?, sums, durations });
        }
        Ok(tools)
    }

    fn task_counts(&self, window: &Window, range: &Range) -> Answer<Vec<TaskCount>> {
        let mut texts = Texts::new(self.0);
        let mut counts = Vec::new();
        for (agent_type, (tasks, run_ms)) in counts::tasks(self.0, range, &window.scope)? {
            let name = texts.word(agent_type)?;
            let agent_type = if name.is_empty() { super::row::MAIN.to_owned() } else { name };
            if range.agent_type.as_ref().is_none_or(|asked| *asked == agent_type) {
                counts.push(TaskCount { agent_type, tasks, run_ms });
            }
        }
        Ok(counts)
    }

    fn newest(&self, _: &Window) -> Answer<Option<i64>> {
        Ok(rollup::newest(self.0)?)
    }

    fn last_decisions(&self, _: &Window, names: &BTreeSet<String>) -> Answer<HashMap<(String, String), i64>> {
        let mut last = HashMap::new();
        for rule in names {
            let of_projects = rules::last_of(self.0, rule)?.into_iter();
            last.extend(of_projects.map(|(project, at)| ((rule.clone(), project), at)));
        }
        Ok(last)
    }

    fn usage_by_time(&self, range: &Range, by: UsageBy, zone: &dyn Zone) -> Answer<Page<UsageBucket>> {
        usage::by_time(self.0, range, by, zone)
    }

    fn usage_by_task(&self, range: &Range) -> Answer<Page<UsageBucket>> {
        usage::by_task(self.0, range)
    }
}

/// Returns the sums of a dimension by key.
fn by_key(conn: &Connection, dim: Dim, span: (i64, i64), scope: &Scope) -> rusqlite::Result<Vec<KeySums>> {
    with_key_texts(conn, rollup::by_key(conn, dim, span, scope)?)
}

/// Returns sums with the texts of their keys.
fn with_key_texts(
    conn: &Connection,
    sums: impl IntoIterator<Item = (i64, Measures)>,
) -> rusqlite::Result<Vec<KeySums>> {
    let named = |(key, sums)| {
        let key = words::text(conn, key)?.unwrap_or_default();
        Ok(KeySums { key, sums, ..KeySums::default() })
    };
    sums.into_iter().map(named).collect()
}

/// Returns the sums of a dimension by key and by a word of each row, of which the group is a part.
fn by_word(
    conn: &Connection,
    dim: Dim,
    span: (i64, i64),
    scope: &Scope,
    of: ProjectChoice,
    word: impl Fn(&RollupRow) -> i64,
    group: impl Fn(&str) -> String,
) -> rusqlite::Result<Vec<KeySums>> {
    let mut members = Members::new(conn, scope);
    // Thousands of rows come to a few numbers: their names are read once they are added up.
    let mut sums: HashMap<(i64, i64), Measures> = HashMap::new();
    rollup::visit(conn, dim, span, of, |rolled| {
        if members.has(rolled.actor)? {
            *sums.entry((word(rolled), rolled.key)).or_default() += rolled.sums;
        }
        Ok(())
    })?;
    let mut texts = Texts::new(conn);
    sums.into_iter()
        .map(|((word, key), sums)| {
            Ok(KeySums { key: texts.word(key)?, group: group(&texts.word(word)?), at: 0, sums })
        })
        .collect()
}

/// Returns the sums of a dimension by key and stretch of time.
fn by_time(
    conn: &Connection,
    dim: Dim,
    (from, to): (i64, i64),
    scope: &Scope,
    level: Level,
) -> rusqlite::Result<Vec<KeySums>> {
    let mut members = Members::new(conn, scope);
    let mut texts = Texts::new(conn);
    let mut sums: HashMap<(i64, i64), Measures> = HashMap::new();
    let mut add = |rolled: &RollupRow| {
        if members.has(rolled.actor)? {
            *sums.entry((rolled.at, rolled.key)).or_default() += rolled.sums;
        }
        Ok(())
    };
    for (from, to) in days_with_rows(conn, dim, (from, to), scope, level)? {
        let piece = Piece { level, from: level.start(from), to };
        rollup::visit_piece(conn, dim, &piece, ProjectChoice::scope(scope), &mut add)?;
    }
    sums.into_iter()
        .map(|((at, key), sums)| Ok(KeySums { key: texts.word(key)?, at, sums, ..KeySums::default() }))
        .collect()
}

/// Splits a span into the days that have rows, if its quarter-hours are asked for: a day without any is one seek then, not
/// one for each of its quarter-hours.
fn days_with_rows(
    conn: &Connection,
    dim: Dim,
    (from, to): (i64, i64),
    scope: &Scope,
    level: Level,
) -> rusqlite::Result<Vec<(i64, i64)>> {
    if level != Level::Quarter {
        return Ok(vec![(from, to)]);
    }
    let mut days: Vec<i64> = Vec::new();
    let piece = Piece { level: Level::Day, from: Level::Day.start(from), to: Level::Day.end(to) };
    rollup::visit_piece(conn, dim, &piece, ProjectChoice::scope(scope), &mut |rolled| {
        if days.last() != Some(&rolled.at) {
            days.push(rolled.at);
        }
        Ok(())
    })?;
    Ok(days.into_iter().map(|day| (day.max(from), Level::Day.end(day).min(to))).collect())
}

/// The number of durations in each bucket, by its place. A vector, not a tree: the year of a project adds up a hundred
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

    fn buckets(self) -> Option<insights::Durations> {
        let left = |(bucket, n): (i64, i64)| u64::try_from(n).ok().filter(|n| *n > 0).map(|n| (bucket, n));
        let buckets: insights::Durations = (0..).zip(self.0).filter_map(left).collect();
        (!buckets.is_empty()).then_some(buckets)
    }
}

/// Durations of one tool.
#[derive(Debug, Default)]
struct Durations {
    /// Those of actors in the scope.
    own: Counts,
    /// Those that were kept without their actor.
    unknown: Counts,
}

impl Durations {
    /// Returns the durations of a scope. Where some were kept without their actor, they are known only if every actor
    /// that used the tool is in the scope.
    fn in_scope(mut self, all_actors: bool) -> Option<insights::Durations> {
        if self.unknown.is_empty() {
            return self.own.buckets();
        }
        if !all_actors {
            return None;
        }
        self.own.0.resize(self.own.0.len().max(self.unknown.0.len()), 0);
        for (sum, more) in self.own.0.iter_mut().zip(self.unknown.0) {
            *sum = sum.saturating_add(more);
        }
        self.own.buckets()
    }
}

/// Returns durations by tool in a span, rounded outwards to days.
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
