//! Follows the rows that other processes store: polls the store, each time from a little before the last answer, and
//! drops the rows that were already delivered.
//!
//! Two processes write at once, and an earlier arrival may become visible later. A reader that looked only behind the
//! newest place would miss it. Without followers nothing is read, and the backlog of a machine that was away for weeks
//! is not delivered row by row: the cost must follow the readers, not the arrivals.

use std::collections::HashMap;

use crate::clickhouse::Reader;
use agent_tracer_ledger::view::Row;
use agent_tracer_ledger::{Answer, Changes};

/// Overlap of two polls in milliseconds: longer than any insert takes to become visible.
const OVERLAP_MS: u64 = 15_000;

/// Rows that are asked for at once.
const PART: u32 = 1_000;

/// Limit of rows, overlap included, that are delivered one by one; above it, followers learn only that there are more.
const MOST: u64 = 20_000;

/// Reads the rows that arrive in a store.
pub(crate) trait Arrivals {
    /// Returns the time of the store.
    fn now(&self) -> Answer<u64>;
    /// Returns how many rows arrived after a time, and the time of the newest.
    fn since(&self, after: u64) -> Answer<(u64, u64)>;
    /// Returns the next of them, and none only at the end.
    fn next(&self, after: u64) -> Answer<Vec<Row>>;
}

impl Arrivals for Reader {
    fn now(&self) -> Answer<u64> {
        Self::now(self)
    }

    fn since(&self, after: u64) -> Answer<(u64, u64)> {
        self.arrivals(after)
    }

    fn next(&self, after: u64) -> Answer<Vec<Row>> {
        self.changes(after, PART)
    }
}

/// Lists the updates for followers.
#[derive(Debug, PartialEq)]
pub(crate) enum ArrivalUpdate {
    /// Rows that were not delivered yet, in the order of arrival.
    Rows(Vec<Row>),
    /// Too many between these moments.
    Missed(u64, u64),
}

/// Holds the position of a process in the stream of arrivals.
#[derive(Debug, Default)]
pub(crate) struct ArrivalCursor {
    /// The newest moment that was seen.
    newest: u64,
    /// The end of the last flood.
    flood: u64,
    /// Delivered rows, by owner and id, with the time at which that state of the row arrived.
    delivered: HashMap<(Option<String>, String), u64>,
}

impl ArrivalCursor {
    /// Begins with what arrives from now on.
    pub(crate) fn from(newest: u64) -> Self {
        Self { newest, ..Self::default() }
    }

    /// Skips the rows that arrived without followers. A follower that starts at this moment may receive a few rows that
    /// it knows: that is harmless, and missing them would not be.
    pub(crate) fn skip_unread(&mut self, store: &dyn Arrivals) -> Answer<()> {
        self.newest = store.now()?.saturating_sub(OVERLAP_MS);
        self.delivered.clear();
        Ok(())
    }

    /// Returns the rows that arrived and were not delivered yet.
    pub(crate) fn next(&mut self, store: &dyn Arrivals) -> Answer<ArrivalUpdate> {
        let from = self.newest.saturating_sub(OVERLAP_MS);
        let (count, newest) = store.since(from)?;
        // Counted before any row is read: the number and the newest moment come from one column.
        if count > MOST {
            if newest == self.flood {
                return Ok(ArrivalUpdate::Rows(Vec::new()));
            }
            self.flood = newest;
            // A row that arrived a little before the end of it may become visible after it, and is delivered then.
            let before = std::mem::replace(&mut self.newest, newest.saturating_sub(OVERLAP_MS));
            self.delivered.clear();
            return Ok(ArrivalUpdate::Missed(before, newest));
        }
        self.read(store, from).map(ArrivalUpdate::Rows)
    }

    fn read(&mut self, store: &dyn Arrivals, from: u64) -> Answer<Vec<Row>> {
        let mut fresh = Vec::new();
        let is_first = self.delivered.is_empty();
        let before = self.newest;
        let mut after = from;
        loop {
            let rows = store.next(after)?;
            let Some(last) = rows.last() else { break };
            after = last.seq;
            self.newest = self.newest.max(after);
            for row in rows {
                let known = self.delivered.insert((row.owner.clone(), row.id.clone()), row.seq);
                // What was there before it began is nothing new.
                let is_old = is_first && row.seq <= before;
                if known != Some(row.seq) && !is_old {
                    fresh.push(row);
                }
            }
        }
        let edge = self.newest.saturating_sub(2 * OVERLAP_MS);
        self.delivered.retain(|_, at| *at > edge);
        Ok(fresh)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use serde_json::json;

    use super::*;

    /// Holds rows by their names, which may begin with an owner, and times; and the current time.
    #[derive(Default)]
    struct Table {
        rows: RefCell<Vec<(String, u64)>>,
        time: RefCell<u64>,
        reads: RefCell<u64>,
    }

    fn row((id, seq): &(String, u64)) -> Row {
        let (owner, id) = id.split_once("'s ").map_or((None, id.as_str()), |(owner, id)| (Some(owner), id));
        serde_json::from_value(json!({
            "id": id, "seq": seq, "taskId": "t", "owner": owner, "sessionId": "s", "kind": "user.message", "lane": "user", "title": "",
            "occurredAt": "2026-01-01T00:00:00.000Z", "agentType": "main", "isSubagent": false,
            "runtimeSessionId": "s", "filePaths": [], "metadata": {}, "channels": [], "certainty": "measured",
        }))
        .unwrap()
    }

    impl Table {
        fn arrive(&self, id: &str, at: u64) {
            self.rows.borrow_mut().push((id.to_owned(), at));
            self.rows.borrow_mut().sort_by_key(|(_, at)| *at);
            self.time.replace_with(|time| at.max(*time));
        }
    }

    impl Arrivals for Table {
        fn now(&self) -> Answer<u64> {
            Ok(*self.time.borrow())
        }

        fn since(&self, after: u64) -> Answer<(u64, u64)> {
            let rows = self.rows.borrow();
            let found = rows.iter().map(|(_, at)| *at).filter(|at| *at > after);
            Ok((found.clone().count() as u64, found.max().unwrap_or(0)))
        }

        fn next(&self, after: u64) -> Answer<Vec<Row>> {
            *self.reads.borrow_mut() += 1;
            Ok(self.rows.borrow().iter().filter(|(_, at)| *at > after).take(7).map(row).collect())
        }
    }

    fn delivered(update: ArrivalUpdate) -> Vec<String> {
        match update {
            ArrivalUpdate::Rows(rows) => rows.into_iter().map(|row| row.id).collect(),
            missed @ ArrivalUpdate::Missed(..) => panic!("{missed:?}"),
        }
    }

    const START: u64 = 1_000_000;

    #[test]
    fn each_row_is_delivered_once_and_a_late_one_too() {
        let table = Table::default();
        let mut follow = ArrivalCursor::from(START);
        table.arrive("before", START - 5);
        table.arrive("a", START + 10);
        assert_eq!(delivered(follow.next(&table).unwrap()), ["a"]);
        table.arrive("late", START + 3);
        table.arrive("b", START + 20);
        assert_eq!(delivered(follow.next(&table).unwrap()), ["late", "b"]);
        assert_eq!(delivered(follow.next(&table).unwrap()), [""; 0]);
        for number in 0..50 {
            table.arrive(&format!("many {number}"), START + 100 + number);
        }
        assert_eq!(delivered(follow.next(&table).unwrap()).len(), 50, "in several parts");
    }

    #[test]
    fn rows_of_a_session_that_two_people_have_are_delivered_once_each() {
        let table = Table::default();
        let mut follow = ArrivalCursor::from(START);
        table.arrive("ann's a", START + 10);
        table.arrive("bob's a", START + 20);
        assert_eq!(delivered(follow.next(&table).unwrap()), ["a", "a"]);
        assert_eq!(delivered(follow.next(&table).unwrap()), [""; 0]);
        table.arrive("ann's b", START + 30);
        assert_eq!(delivered(follow.next(&table).unwrap()), ["b"]);
    }

    #[test]
    fn without_followers_nothing_is_read_and_a_new_one_misses_nothing() {
        let table = Table::default();
        let mut follow = ArrivalCursor::from(START);
        table.arrive("long ago", START + 10);
        table.arrive("just now", START + 10 + 10 * OVERLAP_MS);
        follow.skip_unread(&table).unwrap();
        assert_eq!(*table.reads.borrow(), 0);
        table.arrive("then", START + 11 + 10 * OVERLAP_MS);
        assert_eq!(delivered(follow.next(&table).unwrap()), ["just now", "then"]);
    }

    #[test]
    fn a_flood_is_announced_and_later_rows_are_delivered() {
        let table = Table::default();
        let mut follow = ArrivalCursor::from(START);
        for number in 0..=MOST {
            table.rows.borrow_mut().push((number.to_string(), START + 1 + number % 100));
        }
        table.rows.borrow_mut().sort_by_key(|(_, at)| *at);
        assert_eq!(follow.next(&table).unwrap(), ArrivalUpdate::Missed(START, START + 100));
        assert_eq!(delivered(follow.next(&table).unwrap()), [""; 0], "once");
        assert_eq!(*table.reads.borrow(), 0);
        table.arrive("after", START + 100 + 3 * OVERLAP_MS);
        // The flood is still near the edge that is looked at again.
        assert!(
            matches!(follow.next(&table).unwrap(), ArrivalUpdate::Missed(_, to) if to == START + 100 + 3 * OVERLAP_MS)
        );
        table.arrive("quiet again", START + 101 + 3 * OVERLAP_MS);
        assert_eq!(delivered(follow.next(&table).unwrap()), ["after", "quiet again"]);
    }
}
