//! Search: rows that hold all words of a question, newest first.
//!
//! Newest is by when something happened, as in the embedded store. A cursor of one engine is none of the other.

use std::collections::HashMap;

use agent_tracer_event::{CallState, Kind};
use agent_tracer_ledger::engine::cursor::{self, List as Listing};
use agent_tracer_ledger::engine::texts;
use agent_tracer_ledger::project::List;
use agent_tracer_ledger::search::{mark, snippet};
use agent_tracer_ledger::view::{Hit, Page};
use agent_tracer_ledger::{Answer, QueryError, Search, SearchFilter};
use clickhouse::Row;
use serde::Deserialize;

use super::fact::{StoredFact, Version};
use super::family::{Member, TaskColumns};
use super::task::{PLACE, parse_question, terms_filter};
use super::{Reader, TaskKey, keys_in};
use crate::clickhouse::days::DAY_MS;
use crate::clickhouse::fleet::literal;
use crate::clickhouse::write::word;

fn bad_state(state: &str) -> QueryError {
    let known: Vec<&str> = CallState::ALL.iter().map(|state| state.as_str()).collect();
    QueryError::Bad(format!("`state` cannot be `{state}`\nhint: it is one of `{}`", known.join("`, `")))
}

/// A fact by its place in the list.
#[derive(Row, Deserialize)]
struct HitPosition {
    owner: String,
    task: String,
    fact: i64,
    version: u64,
    occurred: i64,
    ord: i64,
    place: i64,
}

/// Returns the place of a fact in the list.
fn place_of(stored: &StoredFact) -> [i64; 4] {
    [stored.row.occurred, stored.row.order, stored.row.fact, stored.place]
}

/// Builds the condition that a fact stands behind a place.
fn position_filter([occurred, order, fact, task]: [i64; 4]) -> String {
    format!("(occurred, ord, fact, {PLACE}) < ({occurred}, {order}, {fact}, {task})")
}

/// Search windows in days, each behind the one before; the last search has no limit.
// Growing by sixteen: a common word is answered from the first, and a rare one costs four windows at most.
const DAYS_BACK: [i64; 3] = [1, 16, 256];

/// A part of the history that is searched at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SearchWindow {
    from: Option<i64>,
    to: Option<i64>,
}

impl SearchWindow {
    /// Builds the conditions that a fact is in it.
    fn conditions(self) -> impl Iterator<Item = String> {
        let from = self.from.map(|from| format!("occurred >= {from}"));
        let to = self.to.map(|to| format!("occurred < {to}"));
        from.into_iter().chain(to)
    }

    /// Returns the windows before an end, newest first. The first has no end of its own, the last no beginning.
    fn before(newest: i64) -> Vec<Self> {
        let edges = DAYS_BACK.map(|days| Some(newest.saturating_sub(days * DAY_MS)));
        let to = std::iter::once(None).chain(edges);
        let from = edges.into_iter().chain([None]);
        from.zip(to).map(|(from, to)| Self { from, to }).collect()
    }
}

impl Reader {
    /// Returns the parts of the history that are searched one after the other, newest first: who looks for a word that
    /// is everywhere is answered from the last days alone.
    fn windows(&self, filter: &SearchFilter, begin: i64, end: Option<i64>) -> Answer<Vec<SearchWindow>> {
        // The rows of a task are neighbours.
        if filter.task.is_some() {
            return Ok(vec![SearchWindow { from: None, to: None }]);
        }
        let before = end.map_or_else(String::new, |end| format!(" AND day < {end}"));
        let newest: Vec<i64> = self.rows(&format!(
            "SELECT day FROM task_day WHERE {}{before} ORDER BY day DESC LIMIT 1",
            self.owner_filter()
        ))?;
        let Some(newest) = newest.first() else { return Ok(Vec::new()) };
        let mut windows = SearchWindow::before(newest.saturating_add(DAY_MS));
        // Nothing older than the range is in it.
        windows.retain(|window| window.to.is_none_or(|to| to > begin));
        Ok(windows)
    }

    /// Returns the conditions that a search has beside its words, or `None` without a filter.
    fn narrow_search(&self, filter: &SearchFilter) -> Answer<Option<Vec<String>>> {
        let ask = parse_question(&filter.q);
        let mut all = Vec::new();
        if !ask.is_empty() {
            all.push(terms_filter(&ask));
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
        all.push(self.fact_filter());
        // What the embedded store does not index cannot be found here either.
        all.push(format!(
            "kind NOT IN ('', {}) AND list <> {}",
            literal(&word(Kind::ContextSnapshot)),
            List::Response.code()
        ));
        all.extend(filter.longer_than_ms.map(|ms| format!("duration >= {ms}")));
        // The type of agent is that of the row, if it says one, else that of its task.
        let of = agent_tracer_ledger::Range { agent_type: None, ..filter.range.clone() };
        all.extend(self.range_filter(&of));
        if let Some(wanted) = &filter.range.agent_type {
            let wanted = literal(wanted);
            all.push(format!(
                "if(ifNull(agent_type, '') <> '', ifNull(agent_type, '') = {wanted}, \
                 (owner, task) IN (SELECT owner, task FROM task FINAL WHERE {} AND agent_type = {wanted}))",
                self.task_filter()
            ));
        }
        Ok(Some(all))
    }

    /// Builds the newest facts that meet conditions, so many at most.
    ///
    /// To deduplicate everything that is looked at would cost most of all. So any version that meets them is found first,
    /// and those that are not the newest of their facts are dropped: the newest one is met at its own place in the list, if
    /// it meets them. Of those that stand at one place it comes first: a part may end between them, and the next one
    /// begins behind that place.
    fn newest_that_hold(&self, all: &[String], limit: usize) -> Answer<Vec<StoredFact>> {
        let (mut found, mut before) = (Vec::new(), None);
        loop {
            let mut all = all.to_vec();
            all.extend(before.map(position_filter));
            let any = self.rows::<HitPosition>(&format!(
                "SELECT owner, task, fact, version, occurred, ord, {PLACE} AS place FROM fact WHERE {} \
                 ORDER BY occurred DESC, ord DESC, fact DESC, place DESC, version DESC LIMIT {limit}",
                all.join(" AND ")
            ))?;
            let Some(last) = any.last() else { return Ok(found) };
            before = Some([last.occurred, last.ord, last.fact, last.place]);
            let is_last = any.len() < limit;
            let versions = any.into_iter().map(|row| Version {
                key: TaskKey { owner: row.owner, task: row.task },
                fact: row.fact,
                version: row.version,
            });
            let mut newest = self.newest_of(versions.collect())?;
            newest.sort_by_key(|stored| std::cmp::Reverse(place_of(stored)));
            found.extend(newest);
            if is_last || found.len() >= limit {
                found.truncate(limit);
                return Ok(found);
            }
        }
    }
}

impl Search for Reader {
    /// Returns a page of rows that hold the words.
    fn search(&self, filter: &SearchFilter) -> Answer<Page<Hit>> {
        let place = cursor::page_start::<4>(Listing::Search, &filter.range.paging)?;
        let limit = cursor::limit(&filter.range.paging);
        let Some(mut all) = self.narrow_search(filter)? else { return Ok(Page::whole(Vec::new())) };
        all.extend(place.map(position_filter));
        let end = [place.map(|[occurred, ..]| occurred.saturating_add(1)), filter.range.until.map(|at| at.0)];
        let begin = filter.range.since.map_or(i64::MIN, |since| since.0);
        let mut found = Vec::new();
        for window in self.windows(filter, begin, end.into_iter().flatten().min())? {
            let mut all = all.clone();
            all.extend(window.conditions());
            found.extend(self.newest_that_hold(&all, limit + 1 - found.len())?);
            if found.len() > limit {
                break;
            }
        }
        let page = cursor::cut(Listing::Search, limit, found, place_of);
        let ask = parse_question(&filter.q);
        let lines = self.members_of(&page.items)?;
        let abouts = self.abouts(&lines)?;
        let titles: HashMap<TaskKey, &str> =
            lines.iter().map(|line| (line.key(), line.title.as_str())).collect();
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
        let found = SearchWindow::before(300 * DAY_MS);
        let days = |at: Option<i64>| at.map(|at| at / DAY_MS);
        let edges: Vec<_> = found.iter().map(|window| (days(window.from), days(window.to))).collect();
        assert_eq!(
            edges,
            [(Some(299), None), (Some(284), Some(299)), (Some(44), Some(284)), (None, Some(44))]
        );
        assert_eq!(
            found[1].conditions().collect::<Vec<_>>(),
            [format!("occurred >= {}", 284 * DAY_MS), format!("occurred < {}", 299 * DAY_MS)]
        );
        assert_eq!(SearchWindow { from: None, to: None }.conditions().count(), 0);
    }
}
