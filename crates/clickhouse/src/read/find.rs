//! Search: rows that hold all words of a question, newest first.
//!
//! Newest is by when something happened; the embedded store goes by when it first heard of it. A cursor of one engine is
//! none of the other.

use std::collections::HashMap;

use agent_tracer_event::{CallState, Kind};
use agent_tracer_ledger::engine::cursor::{self, List as Listing};
use agent_tracer_ledger::engine::texts;
use agent_tracer_ledger::project::List;
use agent_tracer_ledger::search::{mark, snippet};
use agent_tracer_ledger::view::{Hit, Page};
use agent_tracer_ledger::{Answer, QueryError, SearchFilter};

use super::family::{Kin, Member};
use super::task::{PLACE, ask, holds};
use super::{Key, Reader, keys_in};
use crate::fleet::literal;
use crate::write::word;

fn bad_state(state: &str) -> QueryError {
    let known: Vec<&str> = CallState::ALL.iter().map(|state| state.as_str()).collect();
    QueryError::Bad(format!("`state` cannot be `{state}`\nhint: it is one of `{}`", known.join("`, `")))
}

impl Reader {
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
        let found = self.facts(&format!(
            "WHERE {} ORDER BY occurred DESC, ord DESC, fact DESC, {PLACE} DESC LIMIT {}",
            all.join(" AND "),
            limit + 1
        ))?;
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
