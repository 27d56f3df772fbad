//! The lists of one task: its timeline, and the pages that show a part of it in their own words.

use agent_tracer_event::{FactId, Kind, Lane, Millis, TaskId};
use agent_tracer_ledger::engine::cursor::{self, List as Listing};
use agent_tracer_ledger::project::presenters::{self, About};
use agent_tracer_ledger::project::{FactRow, List};
use agent_tracer_ledger::view::{
    CommandRun, EventDetail, Exploration, LaneBins, Page, Permission, Question, Row, ToolCall, WebLookup,
};
use agent_tracer_ledger::{Answer, RowFilter, Timeline};

use super::fact::StoredFact;
use super::family::{Member, TaskColumns};
use super::task::PLACE;
use super::{Reader, TaskKey, keys_in, texts_in};

fn listing(filter: &RowFilter) -> Listing {
    if filter.newest_first { Listing::RowsNewestFirst } else { Listing::Rows }
}

/// Returns the numbers of lists behind `IN`.
fn numbers(lists: &[List]) -> String {
    let numbers: Vec<String> = lists.iter().map(|list| list.code().to_string()).collect();
    format!("({})", numbers.join(", "))
}

impl Reader {
    /// Returns a page of rows out of some lists (none: the whole timeline), in the order that people see.
    fn page_of(
        &self,
        id: &TaskId,
        lists: &[List],
        filter: &RowFilter,
    ) -> Answer<(Vec<Member>, Page<StoredFact>)> {
        let family: Vec<Member> = self.family(id, filter.tree)?;
        let after = cursor::page_start::<4>(listing(filter), &filter.paging)?;
        let limit = cursor::limit(&filter.paging);
        let keys: Vec<TaskKey> = family.iter().map(TaskColumns::key).collect();
        let mut all = vec![format!("(owner, task) IN {}", keys_in(&keys))];
        all.push(match lists {
            [] => "kind <> ''".to_owned(),
            lists => format!("list IN {}", numbers(lists)),
        });
        all.extend(filter.since.map(|since| format!("occurred >= {}", since.0)));
        all.extend(filter.until.map(|until| format!("occurred < {}", until.0)));
        if !filter.lanes.is_empty() {
            let lanes: Vec<&str> = filter.lanes.iter().map(|lane: &Lane| lane.as_str()).collect();
            all.push(format!("lane IN {}", texts_in(&lanes)));
        }
        if !filter.kinds.is_empty() {
            let kinds: Vec<&str> = filter.kinds.iter().map(|kind: &Kind| kind.as_str()).collect();
            all.push(format!("kind IN {}", texts_in(&kinds)));
        }
        // All four members in one direction, as a tuple: a cursor that compares them one by one would skip rows of
        // equal times.
        let (sign, way) = if filter.newest_first { ("<", "DESC") } else { (">", "ASC") };
        if let Some([occurred, order, fact, task]) = after {
            all.push(format!("(occurred, ord, fact, {PLACE}) {sign} ({occurred}, {order}, {fact}, {task})"));
        }
        let found = self.facts(&format!(
            "WHERE {} ORDER BY occurred {way}, ord {way}, fact {way}, {PLACE} {way} LIMIT {}",
            all.join(" AND "),
            limit + 1
        ))?;
        let page = cursor::cut(listing(filter), limit, found, |stored| {
            [stored.row.occurred, stored.row.order, stored.row.fact, stored.place]
        });
        Ok((family, page))
    }

    /// Returns a page, each row made into what the page shows. What the lists hold beside that is left out.
    fn page<T>(
        &self,
        id: &TaskId,
        lists: &[List],
        filter: &RowFilter,
        mut show: impl FnMut(&About, &FactRow) -> Option<T>,
    ) -> Answer<Page<T>> {
        let (family, page) = self.page_of(id, lists, filter)?;
        let abouts = self.abouts(&family)?;
        let items = page
            .items
            .iter()
            .filter_map(|stored| abouts.get(&stored.key).and_then(|about| show(about, &stored.row)))
            .collect();
        Ok(Page { items, next_cursor: page.next_cursor })
    }
}

impl Timeline for Reader {
    /// Returns the timeline.
    fn timeline(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Row>> {
        let (family, page) = self.page_of(id, &[], filter)?;
        let abouts = self.abouts(&family)?;
        let row = |stored: &StoredFact| Some(abouts.get(&stored.key)?.row(&stored.row, stored.version));
        Ok(Page { items: page.items.iter().filter_map(row).collect(), next_cursor: page.next_cursor })
    }

    /// Lists tool calls.
    fn tool_calls(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<ToolCall>> {
        self.page(id, &presenters::CALLS, filter, presenters::tool_call)
    }

    /// Lists shell commands.
    fn task_commands(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<CommandRun>> {
        self.page(id, &[List::Command], filter, |about, row| Some(presenters::command_run(about, row)))
    }

    /// Reads, searches and look-ups, those in the web included.
    fn exploration(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Exploration>> {
        self.page(id, &[List::Exploration, List::Web], filter, |about, row| {
            Some(presenters::exploration(about, row))
        })
    }

    /// Lists look-ups in the web.
    fn web(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<WebLookup>> {
        self.page(id, &[List::Web], filter, |about, row| Some(presenters::web_lookup(about, row)))
    }

    /// Permissions that were asked for.
    fn permissions(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Permission>> {
        self.page(id, &[List::Permission], filter, |about, row| Some(presenters::permission(about, row)))
    }

    /// Questions to people.
    fn questions(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Question>> {
        self.page(id, &[List::Question], filter, presenters::question)
    }

    fn lanes(&self, id: &TaskId, from: Option<Millis>, to: Option<Millis>, width: u32) -> Answer<LaneBins> {
        Self::lanes(self, id, from, to, width)
    }

    fn event(&self, id: &FactId) -> Answer<EventDetail> {
        Self::event(self, id)
    }
}
