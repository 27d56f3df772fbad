//! Measures over time: which rows of the rollup answer a range, and who is in them.
//!
//! A range is split into months, days and quarter-hours, and each of these stretches is one seek: rows of one project,
//! or the rows that stand for all projects. Measures can be taken away, so an edge costs at most half a day of
//! quarter-hours and half a month of days, and a year some hundred seeks with as many rows as it has keys.

use std::collections::{BTreeSet, HashMap};

use agent_tracer_event::Agent;
use rusqlite::{Connection, OptionalExtension, params};

use super::text::{self, Texts};
use crate::project::measures::{self, Measures};
use crate::project::tally::{ALL_PROJECTS, Dim};
use crate::project::time::{Level, Piece, signed_pieces};
use crate::store::{Answer, QueryError, Range};

/// The project, agent and agent type of a range, by number.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    /// The project's word.
    pub(crate) project: Option<i64>,
    /// The agent.
    pub(crate) agent: Option<Agent>,
    /// The type of the agent.
    pub(crate) agent_type: Option<String>,
}

impl Scope {
    /// Returns the scope of a range; none if nothing can be in it.
    pub(crate) fn of_range(conn: &Connection, range: &Range) -> Answer<Option<Self>> {
        if let (Some(since), Some(until)) = (range.since, range.until)
            && since > until
        {
            return Err(QueryError::Bad("`since` is after `until`".to_owned()));
        }
        let project = match &range.project {
            Some(project) => match text::number(conn, project)? {
                Some(word) => Some(word),
                None => return Ok(None),
            },
            None => None,
        };
        Ok(Some(Self { project, agent: range.agent, agent_type: range.agent_type.clone() }))
    }

    /// Returns whether everybody is in it.
    pub(crate) fn is_anybody(&self) -> bool {
        self.agent.is_none() && self.agent_type.is_none()
    }

    /// Returns whether an actor is in it, by the name `<agent>/<type of agent>`.
    fn has(&self, actor: &str) -> bool {
        let (agent, agent_type) = split_actor(actor);
        self.agent.is_none_or(|wanted| wanted.as_str() == agent)
            && self.agent_type.as_ref().is_none_or(|wanted| wanted == agent_type)
    }

    /// Returns the words of everybody who ever acted and is in it.
    pub(crate) fn actors(&self, conn: &Connection) -> rusqlite::Result<Vec<i64>> {
        // Months have a handful of rows each in which everybody stands.
        let mut known = BTreeSet::new();
        visit_months(conn, ProjectChoice::One(ALL_PROJECTS), |rolled| {
            known.insert(rolled.actor);
        })?;
        let mut texts = Texts::new(conn);
        let mut actors = Vec::new();
        for actor in known {
            if self.has(&texts.word(actor)?) {
                actors.push(actor);
            }
        }
        Ok(actors)
    }
}

/// Returns the agent and the type of agent in the name of an actor.
pub(crate) fn split_actor(actor: &str) -> (&str, &str) {
    actor.split_once('/').unwrap_or(("", actor))
}

/// One row of the rollup.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RollupRow {
    pub(crate) at: i64,
    pub(crate) project: i64,
    pub(crate) actor: i64,
    pub(crate) key: i64,
    pub(crate) sums: Measures,
}

/// Returns the condition that a row of the rollup is the sum of everything in a stretch of this length.
fn every(level: Level) -> String {
    format!("dim = {} AND level = {}", Dim::Activity.code(), level.code())
}

/// Returns the first and the last moment of which the store knows anything, as whole days: from, to.
pub(crate) fn extent(conn: &Connection) -> rusqlite::Result<Option<(i64, i64)>> {
    let edge = |order: &str| {
        conn.prepare_cached(&format!(
            "SELECT at FROM rollup WHERE {} ORDER BY at {order} LIMIT 1",
            every(Level::Day)
        ))?
        .query_row([], |row| row.get::<_, i64>(0))
        .optional()
    };
    Ok(match (edge("ASC")?, edge("DESC")?) {
        (Some(first), Some(last)) => Some((first, Level::Day.end(last))),
        _ => None,
    })
}

/// Returns the end of the newest quarter-hour that has anything.
pub(crate) fn newest(conn: &Connection) -> rusqlite::Result<Option<i64>> {
    let mut find = conn.prepare_cached(&format!(
        "SELECT at FROM rollup WHERE {} ORDER BY at DESC LIMIT 1",
        every(Level::Quarter)
    ))?;
    Ok(find.query_row([], |row| row.get::<_, i64>(0)).optional()?.map(|at| Level::Quarter.end(at)))
}

/// Returns a range, cut to what the store knows: from, to.
pub(crate) fn clipped(conn: &Connection, range: &Range) -> rusqlite::Result<Option<(i64, i64)>> {
    let Some((first, last)) = extent(conn)? else { return Ok(None) };
    let from = range.since.map_or(first, |since| since.0.max(first));
    let to = range.until.map_or(last, |until| until.0.min(last));
    Ok((from < to).then_some((from, to)))
}

/// Returns every project that ever had anything, by its word.
pub(crate) fn projects(conn: &Connection) -> rusqlite::Result<BTreeSet<i64>> {
    let mut projects = BTreeSet::new();
    visit_months(conn, ProjectChoice::Each, |rolled| {
        projects.insert(rolled.project);
    })?;
    Ok(projects)
}

/// Visits what happened in every month that had anything.
pub(crate) fn visit_months(
    conn: &Connection,
    of: ProjectChoice,
    mut seen: impl FnMut(&RollupRow),
) -> rusqlite::Result<()> {
    let Some(first) = next_stretch(conn, Level::Month, i64::MIN)? else { return Ok(()) };
    let piece = Piece { level: Level::Month, from: first, to: i64::MAX };
    visit_piece(conn, Dim::Activity, &piece, of, &mut |rolled| {
        seen(rolled);
        Ok(())
    })
}

/// Visits the stretches of a piece in order. Where there is nothing in one, it goes on with the next that has anything:
/// a clock that is wrong by centuries must not make a question look into every month of them.
pub(crate) fn visit_stretches(
    piece: &Piece,
    mut visit: impl FnMut(i64) -> rusqlite::Result<bool>,
    mut next: impl FnMut(i64) -> rusqlite::Result<Option<i64>>,
) -> rusqlite::Result<()> {
    let mut at = piece.from;
    while at < piece.to {
        // A stretch after an empty one is looked up, not tried: centuries lie between a wrong clock's event and the
        // next.
        let is_empty = !visit(at)?;
        at = piece.level.end(at);
        if is_empty && at < piece.to {
            let Some(there) = next(at)? else { return Ok(()) };
            at = there;
        }
    }
    Ok(())
}

/// Returns the first stretch from a moment on in which there is anything at all.
pub(crate) fn next_stretch(conn: &Connection, level: Level, at: i64) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached("SELECT at FROM rollup WHERE level = ?1 AND at >= ?2 ORDER BY at LIMIT 1")?
        .query_row(params![level.code(), at], |row| row.get(0))
        .optional()
}

fn read(row: &rusqlite::Row<'_>, dim: Dim) -> rusqlite::Result<RollupRow> {
    let mut sums = Measures::default();
    for (place, column) in (4..).zip(measures::of_rollups()) {
        column.set(&mut sums, dim, row.get(place)?);
    }
    Ok(RollupRow { at: row.get(0)?, project: row.get(1)?, actor: row.get(2)?, key: row.get(3)?, sums })
}

/// The projects whose rows are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProjectChoice {
    /// Of one, or those that stand for all.
    One(i64),
    /// Of each by itself.
    Each,
}

impl ProjectChoice {
    /// Returns the condition on the fourth parameter, and the parameter.
    fn condition(self) -> (&'static str, i64) {
        match self {
            Self::One(project) => ("project = ?4", project),
            Self::Each => ("project > ?4", ALL_PROJECTS),
        }
    }

    /// Selects the rows of the scope, summed.
    pub(crate) fn scope(scope: &Scope) -> Self {
        Self::One(scope.project.unwrap_or(ALL_PROJECTS))
    }
}

/// Visits the rows of a dimension between two moments, which are rounded outwards to the finest stretch. Some of the
/// rows are to be taken away, and come negative: what is left of a key may be nothing.
pub(crate) fn visit(
    conn: &Connection,
    dim: Dim,
    (from, to): (i64, i64),
    of: ProjectChoice,
    mut seen: impl FnMut(&RollupRow) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    for (piece, sign) in signed_pieces(from, to, dim.finest()) {
        visit_piece(conn, dim, &piece, of, &mut |rolled| {
            seen(&RollupRow { sums: rolled.sums.times(sign), ..*rolled })
        })?;
    }
    Ok(())
}

/// Visits the rows of a dimension in one piece.
pub(crate) fn visit_piece(
    conn: &Connection,
    dim: Dim,
    piece: &Piece,
    of: ProjectChoice,
    seen: &mut impl FnMut(&RollupRow) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let (project, word) = of.condition();
    let columns = measures::list(measures::of_rollups(), |column| column.name.to_owned());
    let mut find = conn.prepare_cached(&format!(
        "SELECT at, project, actor, key, {columns} FROM rollup WHERE dim = ?1 AND level = ?2 AND at = ?3 AND {project}"
    ))?;
    visit_stretches(
        piece,
        |at| {
            let mut rows = find.query(params![dim.code(), piece.level.code(), at, word])?;
            let mut any = false;
            while let Some(row) = rows.next()? {
                any = true;
                seen(&read(row, dim)?)?;
            }
            Ok(any)
        },
        |at| next_stretch(conn, piece.level, at),
    )
}

/// Remembers who is in a scope.
pub(crate) struct Members<'conn> {
    scope: Scope,
    texts: Texts<'conn>,
    known: HashMap<i64, bool>,
}

impl<'conn> Members<'conn> {
    pub(crate) fn new(conn: &'conn Connection, scope: &Scope) -> Self {
        Self { scope: scope.clone(), texts: Texts::new(conn), known: HashMap::new() }
    }

    /// Returns whether the actor of a row is in the scope.
    pub(crate) fn has(&mut self, actor: i64) -> rusqlite::Result<bool> {
        if self.scope.is_anybody() {
            return Ok(true);
        }
        if let Some(has) = self.known.get(&actor) {
            return Ok(*has);
        }
        let has = self.scope.has(&self.texts.word(actor)?);
        self.known.insert(actor, has);
        Ok(has)
    }
}

/// Returns the sums of a dimension by key, of those in the scope.
pub(crate) fn by_key(
    conn: &Connection,
    dim: Dim,
    span: (i64, i64),
    scope: &Scope,
) -> rusqlite::Result<HashMap<i64, Measures>> {
    by_key_and(conn, dim, span, scope, |_| ())
}

/// Sums like [`by_key`], and shows every row, of any owner.
pub(crate) fn by_key_and(
    conn: &Connection,
    dim: Dim,
    span: (i64, i64),
    scope: &Scope,
    mut seen: impl FnMut(&RollupRow),
) -> rusqlite::Result<HashMap<i64, Measures>> {
    let mut members = Members::new(conn, scope);
    let mut sums: HashMap<i64, Measures> = HashMap::new();
    visit(conn, dim, span, ProjectChoice::scope(scope), |rolled| {
        seen(rolled);
        if members.has(rolled.actor)? {
            *sums.entry(rolled.key).or_default() += rolled.sums;
        }
        Ok(())
    })?;
    // What came and was taken away is nothing.
    sums.retain(|_, sums| !sums.is_zero());
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_centuries_are_jumped_over() {
        let millis = |text: &str| agent_tracer_event::Millis::parse(text).unwrap().0;
        let (from, to) = (millis("0001-01-01T00:00:00Z"), millis("9999-12-01T00:00:00Z"));
        let there = [from, millis("2026-11-01T00:00:00Z"), millis("2026-12-01T00:00:00Z"), to - 86_400_000];
        let there = there.map(|at| Level::Month.start(at));
        let (mut looked, mut seen) = (0, Vec::new());
        visit_stretches(
            &Piece { level: Level::Month, from, to },
            |at| {
                looked += 1;
                seen.extend(there.contains(&at).then_some(at));
                Ok(there.contains(&at))
            },
            |at| Ok(there.iter().copied().find(|next| *next >= at)),
        )
        .unwrap();
        assert_eq!((seen.as_slice(), looked), (there.as_slice(), 6));
    }
}
