//! Overlays pending observations on the stored rows: the rows that the writer will make of an observation, before
//! it has.
//!
//! Law: an answer with an overlay is the answer that the store gives once it has the observation, whether the writer
//! takes it before, between or after the queries. An observation for which this cannot hold gets no overlay, and the
//! caller waits for the writer.

use std::collections::{BTreeMap, BTreeSet};

use agent_tracer_event::{CallState, Channel, Entry, Kind, Subject, TaskId};
use rusqlite::{Connection, OptionalExtension};

use crate::fold::{SourcedEntry, fold_unnamed};
use crate::project::FactRow;
use crate::project::past_action::interrupts_calls;
use crate::project::row::number;
use crate::sqlite::append::FoldTransaction;
use crate::sqlite::facts;

/// The entries of an observation that the writer has not stored yet.
#[derive(Clone, Debug, Default)]
pub struct PendingOverlay {
    reported: Vec<SourcedEntry>,
}

/// A row that the writer will make.
pub(super) struct PendingRow {
    pub(super) row: FactRow,
    /// The numbers of its names.
    pub(super) names: BTreeSet<i64>,
    /// The rows of the fact that are stored by now, under each of its names.
    pub(super) stored: Vec<FactRow>,
}

impl PendingOverlay {
    /// Returns the overlay for the entries of an observation, or `None` if they affect more than their own rows: usage,
    /// work items, the end of a process.
    #[must_use]
    pub fn new(entries: Vec<Entry>, channel: Channel) -> Option<Self> {
        let is_plain = |entry: &Entry| match entry.subject {
            Subject::Event(Kind::TodoLogged) => entry.tool_name.is_some(),
            Subject::Event(
                Kind::TokenUsage | Kind::ModelRequest | Kind::SessionEnded | Kind::TurnInterrupted,
            ) => false,
            Subject::Event(_) | Subject::Task | Subject::Turn => true,
            Subject::Account => false,
        };
        if !entries.iter().all(is_plain) {
            return None;
        }
        let of_events = entries.into_iter().filter(|entry| matches!(entry.subject, Subject::Event(_)));
        Some(Self { reported: of_events.map(|entry| SourcedEntry { entry, channel }).collect() })
    }

    /// Returns the rows of a task that will be made, or made anew.
    pub(super) fn rows(
        &self,
        conn: &Connection,
        task: i64,
        id: &TaskId,
    ) -> rusqlite::Result<Vec<PendingRow>> {
        let mut by_fact: BTreeMap<i64, (BTreeSet<i64>, Vec<SourcedEntry>)> = BTreeMap::new();
        for reported in self.reported.iter().filter(|reported| reported.entry.task.task_id() == *id) {
            let (fact, names) = resolve(conn, task, &reported.entry)?;
            let (known, entries) = by_fact.entry(fact).or_default();
            known.extend(names);
            entries.push(reported.clone());
        }
        let mut rows = Vec::new();
        for (fact, (names, mut entries)) in by_fact {
            let mut stored = Vec::new();
            for name in &names {
                entries.extend(FoldTransaction::entries(conn, task, *name)?);
                stored.extend(facts::load(conn, task, *name)?.map(|stored| stored.row));
            }
            let Some(mut row) = fold_unnamed(entries).map(|folded| FactRow::new(fact, folded)) else {
                continue;
            };
            // As the writer does it.
            if let Some(old) = stored.iter().find(|old| old.fact == fact) {
                row.derived.clone_from(&old.derived);
                if row.open && old.open {
                    row.state = old.state;
                    row.ended = old.ended;
                }
                crate::sqlite::permissions::carry_refusal(&mut row, old);
            }
            rows.push(PendingRow { row, names, stored });
        }
        Ok(rows)
    }
}

/// Returns the fact that an entry will belong to, and every name under which there may be entries of it.
fn resolve(conn: &Connection, task: i64, entry: &Entry) -> rusqlite::Result<(i64, BTreeSet<i64>)> {
    let own = number(&entry.key);
    let mut names = BTreeSet::from([own]);
    for member in std::iter::once(own).chain(entry.aliases.iter().map(|alias| number(alias))) {
        let class: Option<i64> = conn
            .prepare_cached("SELECT fact FROM alias WHERE task = ?1 AND key = ?2")?
            .query_row([task, member], |row| row.get(0))
            .optional()?;
        names.insert(class.unwrap_or(member));
    }
    let mut has_entries = conn.prepare_cached("SELECT 1 FROM entry WHERE task = ?1 AND fact = ?2 LIMIT 1")?;
    let mut fact = own;
    for name in &names {
        if *name < fact && has_entries.exists([task, *name])? {
            fact = *name;
        }
    }
    Ok((fact, names))
}

/// Puts pending rows into a list, in place of their stored versions. The list stays ordered, newest first.
pub(super) fn overlay(list: &mut Vec<FactRow>, coming: &[PendingRow], fits: impl Fn(&FactRow) -> bool) {
    if coming.is_empty() {
        return;
    }
    list.retain(|row| !coming.iter().any(|new| new.names.contains(&row.fact)));
    list.extend(coming.iter().map(|new| &new.row).filter(|row| fits(row)).cloned());
    list.sort_by_key(|row| std::cmp::Reverse((row.occurred, row.order, row.fact)));
}

/// Ends the calls that a prompt or an end which is about to be kept will end.
pub(super) fn end_calls(list: &mut [FactRow], coming: &[PendingRow]) {
    let boundaries = coming.iter().map(|new| &new.row);
    for boundary in boundaries {
        for call in list.iter_mut() {
            let is_their_turn = boundary.turn.is_some() && boundary.turn == call.turn;
            let is_running = call.open && call.state == Some(CallState::Running);
            if is_running && call.occurred < boundary.occurred && interrupts_calls(boundary, is_their_turn) {
                call.state = Some(CallState::Interrupted);
                call.ended = Some(boundary.occurred);
            }
        }
    }
}
