//! What other processes took, as it arrives: the store is asked again and again, each time from a little before the last
//! answer, and what was told already is dropped.
//!
//! Two processes write at once, and what arrived earlier may be seen later. Whoever looked only behind the newest place
//! would miss it. While nobody follows nothing is read, and of what a machine brings after weeks nobody is told row by
//! row: following must cost what people look at, not what arrives.

use std::collections::HashMap;

use crate::clickhouse::Reader;
use agent_tracer_ledger::view::Row;
use agent_tracer_ledger::{Answer, Changes};

/// How far back it is looked again, in milliseconds: longer than any insert takes to be seen.
const OVERLAP_MS: u64 = 15_000;

/// Rows that are asked for at once.
const PART: u32 = 1_000;

/// Of so many rows, with those that are looked at again, people are told one by one; of more, that there are more.
const MOST: u64 = 20_000;

/// Where rows arrive.
pub(crate) trait Arrivals {
    /// What time it is there.
    fn now(&self) -> Answer<u64>;
    /// How many arrived after a moment, and when the newest of them did.
    fn since(&self, after: u64) -> Answer<(u64, u64)>;
    /// The next of them, and none only at the end.
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

/// What there is to tell.
#[derive(Debug, PartialEq)]
pub(crate) enum News {
    /// Rows that were not told yet, in the order in which they arrived.
    Rows(Vec<Row>),
    /// Too many between these moments.
    Missed(u64, u64),
}

/// Where a process is in what arrives.
#[derive(Debug, Default)]
pub(crate) struct Follow {
    /// The newest moment that was seen.
    newest: u64,
    /// The end of the last flood.
    flood: u64,
    /// What was told, by whose it is and its id, with the moment at which that state of it arrived.
    told: HashMap<(Option<String>, String), u64>,
}

impl Follow {
    /// Begins with what arrives from now on.
    pub(crate) fn from(newest: u64) -> Self {
        Self { newest, ..Self::default() }
    }

    /// Passes what arrived while nobody followed. Whoever comes in this moment may be told of a little that they know:
    /// that changes nothing, and to miss it would.
    pub(crate) fn rest(&mut self, store: &dyn Arrivals) -> Answer<()> {
        self.newest = store.now()?.saturating_sub(OVERLAP_MS);
        self.told.clear();
        Ok(())
    }

    /// What arrived and was not told yet.
    pub(crate) fn next(&mut self, store: &dyn Arrivals) -> Answer<News> {
        let from = self.newest.saturating_sub(OVERLAP_MS);
        let (count, newest) = store.since(from)?;
        if count > MOST {
            if newest == self.flood {
                return Ok(News::Rows(Vec::new()));
            }
            self.flood = newest;
            // What arrived a little before the end of it may be seen after it, and is told then.
            let before = std::mem::replace(&mut self.newest, newest.saturating_sub(OVERLAP_MS));
            self.told.clear();
            return Ok(News::Missed(before, newest));
        }
        self.read(store, from).map(News::Rows)
    }

    fn read(&mut self, store: &dyn Arrivals, from: u64) -> Answer<Vec<Row>> {
        let mut fresh = Vec::new();
        let is_first = self.told.is_empty();
        let before = self.newest;
        let mut after = from;
        loop {
            let rows = store.next(after)?;
            let Some(last) = rows.last() else { break };
            after = last.seq;
            self.newest = self.newest.max(after);
            for row in rows {
                let known = self.told.insert((row.owner.clone(), row.id.clone()), row.seq);
                // What was there before it began is nothing new.
                let is_old = is_first && row.seq <= before;
                if known != Some(row.seq) && !is_old {
                    fresh.push(row);
                }
            }
        }
        let edge = self.newest.saturating_sub(2 * OVERLAP_MS);
        self.told.retain(|_, at| *at > edge);
        Ok(fresh)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use serde_json::json;

    use super::*;

    /// Rows by their names, which may begin with whose they are, and moments; and what time it is.
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

    fn told(news: News) -> Vec<String> {
        match news {
            News::Rows(rows) => rows.into_iter().map(|row| row.id).collect(),
            missed @ News::Missed(..) => panic!("{missed:?}"),
        }
    }

    const START: u64 = 1_000_000;

    #[test]
    fn each_row_is_told_once_and_one_that_is_seen_late_is_told_too() {
        let table = Table::default();
        let mut follow = Follow::from(START);
        table.arrive("before", START - 5);
        table.arrive("a", START + 10);
        assert_eq!(told(follow.next(&table).unwrap()), ["a"]);
        table.arrive("late", START + 3);
        table.arrive("b", START + 20);
        assert_eq!(told(follow.next(&table).unwrap()), ["late", "b"]);
        assert_eq!(told(follow.next(&table).unwrap()), [""; 0]);
        for number in 0..50 {
            table.arrive(&format!("many {number}"), START + 100 + number);
        }
        assert_eq!(told(follow.next(&table).unwrap()).len(), 50, "in several parts");
    }

    #[test]
    fn rows_of_a_session_that_two_people_have_are_told_once_each() {
        let table = Table::default();
        let mut follow = Follow::from(START);
        table.arrive("ann's a", START + 10);
        table.arrive("bob's a", START + 20);
        assert_eq!(told(follow.next(&table).unwrap()), ["a", "a"]);
        assert_eq!(told(follow.next(&table).unwrap()), [""; 0]);
        table.arrive("ann's b", START + 30);
        assert_eq!(told(follow.next(&table).unwrap()), ["b"]);
    }

    #[test]
    fn while_nobody_follows_nothing_is_read_and_who_comes_misses_nothing() {
        let table = Table::default();
        let mut follow = Follow::from(START);
        table.arrive("long ago", START + 10);
        table.arrive("just now", START + 10 + 10 * OVERLAP_MS);
        follow.rest(&table).unwrap();
        assert_eq!(*table.reads.borrow(), 0);
        table.arrive("then", START + 11 + 10 * OVERLAP_MS);
        assert_eq!(told(follow.next(&table).unwrap()), ["just now", "then"]);
    }

    #[test]
    fn of_a_flood_it_is_said_that_it_is_one_and_what_follows_it_is_told() {
        let table = Table::default();
        let mut follow = Follow::from(START);
        for number in 0..=MOST {
            table.rows.borrow_mut().push((number.to_string(), START + 1 + number % 100));
        }
        table.rows.borrow_mut().sort_by_key(|(_, at)| *at);
        assert_eq!(follow.next(&table).unwrap(), News::Missed(START, START + 100));
        assert_eq!(told(follow.next(&table).unwrap()), [""; 0], "once");
        assert_eq!(*table.reads.borrow(), 0);
        table.arrive("after", START + 100 + 3 * OVERLAP_MS);
        // The flood is still near the edge that is looked at again.
        assert!(
            matches!(follow.next(&table).unwrap(), News::Missed(_, to) if to == START + 100 + 3 * OVERLAP_MS)
        );
        table.arrive("quiet again", START + 101 + 3 * OVERLAP_MS);
        assert_eq!(told(follow.next(&table).unwrap()), ["after", "quiet again"]);
    }
}
