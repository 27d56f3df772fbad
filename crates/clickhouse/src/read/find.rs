//! Search: rows that hold all words of a question, newest first.
//!
//! Newest is by when something happened; the embedded store goes by when it first heard of it. A cursor of one engine is
//! none of the other.

use std::collections::HashMap;

use agent_tracer_event::{CallState, Kind};
use agent_tracer_ledger::engine::cursor::{self, List as Listing};
use agent_tracer_ledger::engine::texts;
use agent_tracer_ledger::project::List;
use agent_tracer_ledger::project::time::Level;
use agent_tracer_ledger::search::{mark, snippet};
use agent_tracer_ledger::view::{Hit, Page};
use agent_tracer_ledger::{Answer, QueryError, SearchFilter};

use super::family::{Kin, Member};
use super::task::{PLACE, ask, holds};
use super::{Key, Reader, keys_in};
use crate::days::DAY_MS;
use crate::fleet::literal;
use crate::write::word;

fn bad_state(state: &str) -> QueryError {
    let known: Vec<&str> = CallState::ALL.iter().map(|state| state.as_str()).collect();
    QueryError::Bad(format!("`state` cannot be `{state}`\nhint: it is one of `{}`", known.join("`, `")))
}

/// How far it is looked back at first, then behind that, and so on; at last as far as there is anything.
const DAYS_BACK: [i64; 3] = [1, 16, 256];

/// A part of the history that is searched at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    from: Option<i64>,
    to: Option<i64>,
}

impl Stretch {
    /// The condition that a fact is in it; none if all are.
    fn condition(self, mine: &str) -> Option<String> {
        let parts = |column: &str, from: Option<i64>, to: Option<i64>| {
            let from = from.map(|from| format!("{column} >= {from}"));
            let to = to.map(|to| format!("{column} < {to}"));
            from.into_iter().chain(to).collect::<Vec<_>>().join(" AND ")
        };
        if self.from.is_none() && self.to.is_none() {
            return None;
        }
        let facts = parts("occurred", self.from, self.to);
        let days = parts("day", self.from.map(|at| Level::Day.start(at)), self.to);
        Some(format!(
            "{facts} AND (owner, task) IN (SELECT owner, task FROM task_day WHERE {mine} AND {days})"
        ))
    }

    /// The stretches before an end, newest first. The first has no end of its own, the last no beginning.
    fn before(newest: i64) -> Vec<Self> {
        let edges = DAYS_BACK.map(|days| Some(newest.saturating_sub(days * DAY_MS)));
        let to = std::iter::once(None).chain(edges);
        let from = edges.into_iter().chain([None]);
        from.zip(to).map(|(from, to)| Self { from, to }).collect()
    }
}

impl Reader {
    /// The parts of the history that are searched one after the other, newest first: who looks for a word that is
    /// everywhere is answered from the last days alone.
    fn stretches(&self, filter: &SearchFilter, begin: i64, end: Option<i64>) -> Answer<Vec<Stretch>> {
        // The rows of a task are neighbours.
        if filter.task.is_some() {
            return Ok(vec![Stretch { from: None, to: None }]);
        }
        let before = end.map_or_else(String::new, |end| format!(" AND day < {end}"));
        let newest: Vec<i64> = self.rows(&format!(
            "SELECT day FROM task_day WHERE {}{before} ORDER BY day DESC LIMIT 1",
            self.mine()
        ))?;
        let Some(newest) = newest.first() else { return Ok(Vec::new()) };
        let mut stretches = Stretch::before(newest.saturating_add(DAY_MS));
        // Nothing older than the range is in it.
        stretches.retain(|stretch| stretch.to.is_none_or(|to| to > begin));
        Ok(stretches)
    }

    /// What the rows are narrowed by beside the words; none if nothing is asked for.
    fn narrow_search(&self, filter: &SearchFilter) -> Answer<Option<Vec<String>>> {
        let ask = ask(&filter.q);
        let mut all = Vec::new();
        if !ask.is_empty() {
            all.push(holds(&ask));
        }
        all.extend(filter.tool.as_ref().map(|tool| format!("has(terms, {})", literal(&mark('t', tool)))));
        if let Some(state) = &filter.state {
            let state = CallState::parse(state).ok_or_else(|| bad_state(state))?;
            all.push(format!("state = {}", literal(&word(state))));
        }
        all.extend(filter.kind.map(|kind| format!("kind = {}", literal(&word(kind)))));
        if let Some(id) = &filter.task {
            all.push(format!("(owner, task) IN {}", keys_in([&self.one::<Member>(id)?.key()])));
        }
        all.extend(filter.range.since.map(|since| format!("occurred >= {}", since.0)));
        all.extend(filter.range.until.map(|until| format!("occurred < {}", until.0)));
        if all.is_empty() {
            return Ok(None);
        }
        all.push(self.mine());
        // What the embedded store does not index cannot be found here either.
        all.push(format!(
            "kind NOT IN ('', {}) AND list <> {}",
            literal(&word(Kind::ContextSnapshot)),
            List::Response.code()
        ));
        all.extend(filter.longer_than_ms.map(|ms| format!("duration >= {ms}")));
        // The type of agent is that of the row, if it says one, else that of its task.
        let of = agent_tracer_ledger::Range { agent_type: None, ..filter.range.clone() };
        all.extend(self.of_range(&of));
        if let Some(wanted) = &filter.range.agent_type {
            let wanted = literal(wanted);
            all.push(format!(
                "if(ifNull(agent_type, '') <> '', ifNull(agent_type, '') = {wanted}, \
                 (owner, task) IN (SELECT owner, task FROM task FINAL WHERE {} AND agent_type = {wanted}))",
                self.mine()
            ));
        }
        Ok(Some(all))
    }

    /// A page of rows that hold the words.
    ///
    /// # Errors
    /// If the cursor or the state is none, there is no such task, or the database cannot answer.
    pub fn search(&self, filter: &SearchFilter) -> Answer<Page<Hit>> {
        let place = cursor::place::<4>(Listing::Search, &filter.range.paging)?;
        let limit = cursor::limit(&filter.range.paging);
        let Some(mut all) = self.narrow_search(filter)? else { return Ok(Page::whole(Vec::new())) };
        all.extend(place.map(|[occurred, order, fact, task]| {
            format!("(occurred, ord, fact, {PLACE}) < ({occurred}, {order}, {fact}, {task})")
        }));
        let end = [place.map(|[occurred, ..]| occurred.saturating_add(1)), filter.range.until.map(|at| at.0)];
        let begin = filter.range.since.map_or(i64::MIN, |since| since.0);
        let mut found = Vec::new();
        for stretch in self.stretches(filter, begin, end.into_iter().flatten().min())? {
            let mut all = all.clone();
            all.extend(stretch.condition(&self.mine()));
            found.extend(self.facts(&format!(
                "WHERE {} ORDER BY occurred DESC, ord DESC, fact DESC, {PLACE} DESC LIMIT {}",
                all.join(" AND "),
                limit + 1 - found.len()
            ))?);
            if found.len() > limit {
                break;
            }
        }
        let page = cursor::cut(Listing::Search, limit, found, |stored| {
            [stored.row.occurred, stored.row.order, stored.row.fact, stored.place]
        });
        let ask = ask(&filter.q);
        let lines = self.members_of(&page.items)?;
        let abouts = self.abouts(&lines)?;
        let titles: HashMap<Key, &str> = lines.iter().map(|line| (line.key(), line.title.as_str())).collect();
        let hits = page.items.iter().filter_map(|stored| {
            Some(Hit {
                row: abouts.get(&stored.key)?.row(&stored.row, stored.version),
                task_title: titles.get(&stored.key).map(|title| (*title).to_owned()).unwrap_or_default(),
                snippet: snippet(&ask, texts(&stored.row)),
            })
        });
        Ok(Page { items: hits.collect(), next_cursor: page.next_cursor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_go_back_from_the_newest_without_a_gap() {
        let found = Stretch::before(300 * DAY_MS);
        let days = |at: Option<i64>| at.map(|at| at / DAY_MS);
        let edges: Vec<_> = found.iter().map(|stretch| (days(stretch.from), days(stretch.to))).collect();
        assert_eq!(
            edges,
            [(Some(299), None), (Some(284), Some(299)), (Some(44), Some(284)), (None, Some(44))]
        );
        assert_eq!(
            found[1].condition("1").unwrap(),
            format!(
                "occurred >= {0} AND occurred < {1} AND (owner, task) IN \
                 (SELECT owner, task FROM task_day WHERE 1 AND day >= {0} AND day < {1})",
                284 * DAY_MS,
                299 * DAY_MS
            )
        );
        assert_eq!(Stretch { from: None, to: None }.condition("1"), None);
    }
}
