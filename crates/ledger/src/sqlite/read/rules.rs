//! The decisions of the user's rules, newest first, and the last of each rule.
//!
//! Decisions have an index of their own, of all and of each rule, in which what they came to can be seen. A question
//! about a rare ending walks that index and stops after so many entries, with a cursor to go on from.

use std::collections::BTreeMap;

use agent_tracer_event::attributes;
use rusqlite::{Connection, params};

use super::cursor::{self, List as Listing};
use super::row::RowBuilder;
use super::{stream, task};
use crate::project::List;
use crate::project::presenters;
use crate::project::ruling::{ending_masks, rule_number};
use crate::sqlite::facts;
use crate::store::{Answer, DecisionFilter};
use crate::view::{Page, RuleDecision};

/// So many entries of the index are looked at for one page.
const LOOKED_AT: usize = 50_000;

/// So many decisions of rules with one name are looked at for the last of each.
const LAST_OF: i64 = 500;

/// A place among decisions: when, order, fact, task.
type DecisionPosition = [i64; 4];

/// The result of a walk: rows by number, and the position at which it stopped if there are more.
struct DecisionWalk {
    found: Vec<i64>,
    next: Option<DecisionPosition>,
}

/// Returns a page of decisions.
pub(crate) fn decisions(conn: &Connection, filter: &DecisionFilter) -> Answer<Page<RuleDecision>> {
    let after = cursor::page_start::<4>(Listing::Decisions, &filter.paging)?;
    let task = filter.task.as_ref().map(|id| task::number(conn, id)).transpose()?;
    let walked = walk(conn, filter, task, after)?;
    let mut builder = RowBuilder::new(conn);
    let mut items = Vec::with_capacity(walked.found.len());
    for id in walked.found {
        if let Some(stored) = stream::by_id(conn, id)? {
            items.push(presenters::decision(builder.about(stored.task)?.as_ref(), &stored.row));
        }
    }
    let next_cursor = walked.next.map(|place| cursor::write(Listing::Decisions, &place));
    Ok(Page { items, next_cursor })
}

fn walk(
    conn: &Connection,
    filter: &DecisionFilter,
    task: Option<i64>,
    after: Option<DecisionPosition>,
) -> rusqlite::Result<DecisionWalk> {
    // The decisions of a task, else of a rule, else all of them: each has an index that keeps them in order.
    let (index, condition, value) = match (task, &filter.rule) {
        (Some(task), _) => ("fact_list", "task = ?7", task),
        (None, Some(rule)) => ("fact_rule", "signature >> 8 = ?7", rule_number(rule)),
        (None, None) => ("fact_ruled", "?7 = 0", 0),
    };
    let mut find = conn.prepare_cached(&format!(
        "SELECT occurred, ord, fact, task, id, signature FROM fact INDEXED BY {index} \
         WHERE {} AND {condition} AND (occurred, ord, fact, task) < (?1, ?2, ?3, ?4) AND occurred >= ?5 \
         ORDER BY occurred DESC, ord DESC, fact DESC, task DESC LIMIT ?6",
        facts::in_list(List::Rule)
    ))?;
    let until = filter.until.map_or(i64::MAX, |until| until.0);
    let edge = [until, i64::MIN, i64::MIN, i64::MIN];
    let [occurred, order, fact, from] = after.map_or(edge, |after| after.min(edge));
    let since = filter.since.map_or(i64::MIN, |since| since.0);
    let most = i64::try_from(LOOKED_AT).unwrap_or(i64::MAX);
    let (statuses, outcomes) = ending_masks(&filter.statuses, &filter.outcomes);
    let rule = filter.rule.as_deref().map(rule_number);
    let limit = cursor::limit(&filter.paging);
    let mut rows = find.query(params![occurred, order, fact, from, since, most, value])?;
    let mut walked = DecisionWalk { found: Vec::new(), next: None };
    let (mut last, mut seen): (Option<DecisionPosition>, usize) = (None, 0);
    while let Some(row) = rows.next()? {
        seen += 1;
        let place = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
        let signature: i64 = row.get::<_, Option<i64>>(5)?.unwrap_or(0);
        let is_wanted = (statuses >> ((signature >> 4) & 15)) & 1 == 1
            && (outcomes >> (signature & 15)) & 1 == 1
            && rule.is_none_or(|rule| signature >> 8 == rule);
        if is_wanted {
            if walked.found.len() == limit {
                // There is one more: the page ends before it.
                walked.next = last;
                return Ok(walked);
            }
            walked.found.push(row.get(4)?);
        }
        last = Some(place);
    }
    if seen == LOOKED_AT {
        walked.next = last;
    }
    Ok(walked)
}

/// Returns when rules of this name last spoke, by the project that they are of.
pub(crate) fn last_of(conn: &Connection, rule: &str) -> rusqlite::Result<BTreeMap<String, i64>> {
    let newest = facts::select(
        conn,
        &format!(
            "INDEXED BY fact_rule WHERE f.{} AND f.signature >> 8 = ?1 \
             ORDER BY f.occurred DESC, f.ord DESC, f.fact DESC, f.task DESC LIMIT ?2",
            facts::in_list(List::Rule)
        ),
        [rule_number(rule), LAST_OF],
    )?;
    let mut last = BTreeMap::new();
    for stored in newest {
        let project = stored.row.text(attributes::RULE_PROJECT).unwrap_or_default().to_owned();
        last.entry(project).or_insert(stored.row.occurred);
    }
    Ok(last)
}
