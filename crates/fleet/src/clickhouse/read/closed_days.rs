//! Divides a span of time into the part answered from the sums of closed days and the part answered from the facts.

use agent_tracer_ledger::project::time::Level;
use agent_tracer_ledger::{Answer, Range};
use clickhouse::Row;
use serde::Deserialize;

use super::Reader;
use super::sums::{ALWAYS, Span};
use crate::clickhouse::days::{DAY_MS, OwnersDay};
use crate::clickhouse::fleet::literal;
use crate::clickhouse::write::word;

/// Limit of marked owner days that are distinguished. Beyond it, every day from the first marked one on counts as open.
const MOST_MARKED: usize = 500;

/// Holds the closed days as they were read once: a query reads everything by the same division.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClosedDays {
    /// The condition that something is of an owner who is asked about.
    scope: String,
    /// The end of the last closed day; none if there is none.
    until: Option<i64>,
    /// Earlier days with outdated sums, by owner and day.
    marked: Vec<OwnersDay>,
}

/// A marked day; or, without an owner, the end of closed days.
#[derive(Row, Deserialize)]
struct DayMark {
    owner: String,
    day: i64,
}

/// Facts that are in no closed day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenFacts {
    /// The condition that a fact is one of them.
    pub(crate) facts: String,
    /// The statement that tells their tasks, and some more.
    pub(crate) tasks: String,
}

impl ClosedDays {
    fn from_marks(scope: String, marks: Vec<DayMark>) -> Self {
        let until = marks.iter().filter(|mark| mark.owner.is_empty()).map(|mark| mark.day).max();
        let Some(end) = until else { return Self { scope, ..Self::default() } };
        let marked = marks.into_iter().filter(|mark| !mark.owner.is_empty() && mark.day < end);
        let mut marked: Vec<OwnersDay> = marked.map(|mark| (mark.owner, mark.day)).collect();
        marked.sort_unstable();
        // Every marked day becomes a condition of every statement; thousands of them would cost more to plan than the
        // facts of the days cost to read.
        if marked.len() > MOST_MARKED {
            return Self { scope, until: marked.iter().map(|(_, day)| *day).min(), marked: Vec::new() };
        }
        Self { scope, until, marked }
    }

    /// Returns the facts of a span that are in no closed day; `None` if none can be.
    pub(crate) fn open(&self, (from, to): Span) -> Option<OpenFacts> {
        let (mut facts, mut days) = (Vec::new(), Vec::new());
        let mut add = |owner: Option<&str>, from: i64, to: i64| {
            let (first, last) = (Level::Day.start(from), Level::Day.start(to.saturating_sub(1)));
            let owner = owner.map_or_else(String::new, |owner| format!("owner = {} AND ", literal(owner)));
            facts.push(format!("({owner}occurred >= {from} AND occurred < {to})"));
            days.push(format!("({owner}day >= {first} AND day <= {last})"));
        };
        let begin = self.until.map_or(from, |until| until.max(from));
        if begin < to {
            add(None, begin, to);
        }
        // Neighbouring days of an owner are one condition: a session that lasts for weeks marks all of them.
        for days in self.marked.chunk_by(|one, two| one.0 == two.0 && two.1 - one.1 == DAY_MS) {
            let (Some((owner, first)), Some((_, last))) = (days.first(), days.last()) else { continue };
            let (first, end) = ((*first).max(from), last.saturating_add(DAY_MS).min(to));
            if first < end {
                add(Some(owner), first, end);
            }
        }
        if facts.is_empty() {
            return None;
        }
        let tasks =
            format!("SELECT owner, task FROM task_day WHERE {} AND ({})", self.scope, days.join(" OR "));
        let facts = format!("({})", facts.join(" OR "));
        // Tasks lie by their ids, which say nothing of time. Where everything is asked for, nothing is left out.
        let facts = match begin <= ALWAYS.0 {
            true => facts,
            false => format!("{facts} AND (owner, task) IN ({tasks})"),
        };
        Some(OpenFacts { facts, tasks })
    }

    /// Returns the condition for the rows of sums that count into a span with edges at quarter-hours, or `None` if none
    /// do. Days answer for the span they cover, quarter-hours for the edges, or for everything.
    pub(crate) fn sums_condition(&self, (from, to): Span, finest: Level) -> Option<String> {
        let until = self.until?;
        let to = to.min(until);
        if from >= to {
            return None;
        }
        let (first, last) = (next_day_start(from), Level::Day.start(to));
        let mut ways = Vec::new();
        let mut quarters = |from: i64, to: i64| {
            if from < to {
                let (first, last) = (Level::Day.start(from), Level::Day.start(to.saturating_sub(1)));
                ways.push(format!(
                    "(level = {} AND day >= {first} AND day <= {last} AND at >= {from} AND at < {to})",
                    Level::Quarter.code()
                ));
            }
        };
        if finest == Level::Quarter {
            quarters(from, to);
        } else if first < last {
            quarters(from, first);
            quarters(last, to);
            ways.push(format!("(level = {} AND day >= {first} AND day < {last})", Level::Day.code()));
        } else {
            quarters(from, to);
        }
        let marked: Vec<String> = self
            .marked
            .iter()
            .filter(|(_, day)| *day >= Level::Day.start(from) && *day < to)
            .map(|(owner, day)| format!("({}, {day})", literal(owner)))
            .collect();
        let but = match marked.is_empty() {
            true => String::new(),
            false => format!(" AND (owner, day) NOT IN ({})", marked.join(", ")),
        };
        Some(format!("({}){but}", ways.join(" OR ")))
    }
}

/// Returns the first beginning of a day that is not before a moment.
const fn next_day_start(at: i64) -> i64 {
    if Level::Day.start(at) == at { at } else { Level::Day.end(at) }
}

impl Reader {
    /// Returns the days that are closed now.
    pub(crate) fn closed(&self) -> Answer<ClosedDays> {
        let scope = self.owner_filter();
        // One statement for both: between two the end of closed days could move past a mark that was not read.
        let marks = self.rows::<DayMark>(&format!(
            "SELECT '' AS owner, max(until) AS day FROM closed_day HAVING count() > 0 \
             UNION ALL SELECT owner, day FROM day_mark FINAL WHERE {scope}"
        ))?;
        Ok(ClosedDays::from_marks(scope, marks))
    }
}

/// Builds the condition that a row of sums is of the range's project, agent and type of agent.
pub(crate) fn sums_filter(range: &Range) -> String {
    let mut all = vec!["1".to_owned()];
    all.extend(range.project.as_ref().map(|project| format!("project = {}", literal(project))));
    all.extend(range.agent.map(|agent| format!("agent = {}", literal(&word(agent)))));
    all.extend(range.agent_type.as_ref().map(|name| format!("agent_type = {}", literal(name))));
    all.join(" AND ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const D: i64 = DAY_MS;
    const Q: i64 = 900_000;

    fn closed(marks: &[(&str, i64)]) -> ClosedDays {
        ClosedDays::from_marks(
            "1".to_owned(),
            marks.iter().map(|(owner, day)| DayMark { owner: (*owner).to_owned(), day: *day }).collect(),
        )
    }

    /// Facts of open days as they are asked for: between which moments and in which days.
    fn open_facts(moments: &str, days: &str) -> String {
        format!("({moments}) AND (owner, task) IN (SELECT owner, task FROM task_day WHERE 1 AND ({days}))")
    }

    #[test]
    fn without_closed_days_everything_is_open() {
        let none = closed(&[("ann", 3 * D)]);
        assert_eq!(none.sums_condition((0, 9 * D), Level::Day), None);
        let always = none.open(ALWAYS).unwrap();
        assert_eq!(always.facts, format!("((occurred >= {} AND occurred < {}))", ALWAYS.0, ALWAYS.1));
        assert!(always.tasks.starts_with("SELECT owner, task FROM task_day WHERE 1 AND "));
        assert_eq!(
            none.open((Q, 9 * D)).unwrap().facts,
            open_facts(
                &format!("(occurred >= {Q} AND occurred < {})", 9 * D),
                &format!("(day >= 0 AND day <= {})", 8 * D)
            )
        );
    }

    #[test]
    fn the_newest_end_counts_and_what_lies_behind_it_is_open() {
        let two = closed(&[("", 3 * D), ("", 5 * D)]);
        assert_eq!(
            two.sums_condition((0, 9 * D), Level::Day).unwrap(),
            format!("((level = 1 AND day >= 0 AND day < {}))", 5 * D)
        );
        assert_eq!(
            two.open((0, 9 * D)).unwrap().facts,
            open_facts(
                &format!("(occurred >= {} AND occurred < {})", 5 * D, 9 * D),
                &format!("(day >= {} AND day <= {})", 5 * D, 8 * D)
            )
        );
        assert_eq!(two.open((0, 5 * D)), None);
        assert_eq!(two.sums_condition((5 * D, 9 * D), Level::Day), None);
    }

    #[test]
    fn edges_of_a_span_are_quarters() {
        let until = closed(&[("", 5 * D)]);
        let edges = until.sums_condition((D + Q, 3 * D + 2 * Q), Level::Day).unwrap();
        assert_eq!(
            edges,
            format!(
                "((level = 0 AND day >= {D} AND day <= {D} AND at >= {} AND at < {}) \
                 OR (level = 0 AND day >= {} AND day <= {} AND at >= {} AND at < {}) \
                 OR (level = 1 AND day >= {} AND day < {}))",
                D + Q,
                2 * D,
                3 * D,
                3 * D,
                3 * D,
                3 * D + 2 * Q,
                2 * D,
                3 * D
            )
        );
        let within = until.sums_condition((D + Q, D + 3 * Q), Level::Day).unwrap();
        assert_eq!(
            within,
            format!("((level = 0 AND day >= {D} AND day <= {D} AND at >= {} AND at < {}))", D + Q, D + 3 * Q)
        );
    }

    #[test]
    fn a_marked_day_is_asked_of_the_facts_of_its_owner_alone() {
        let marked = closed(&[("", 9 * D), ("ann", 3 * D), ("ann", 4 * D), ("bob", 20 * D), ("a'b", 7 * D)]);
        let one = |column: &str, owner: &str, from: i64, sign: &str, to: i64| {
            format!("(owner = '{owner}' AND {column} >= {} AND {column} {sign} {})", from * D, to * D)
        };
        assert_eq!(
            marked.open((0, 9 * D)).unwrap().facts,
            open_facts(
                &[one("occurred", "a\\'b", 7, "<", 8), one("occurred", "ann", 3, "<", 5)].join(" OR "),
                &[one("day", "a\\'b", 7, "<=", 7), one("day", "ann", 3, "<=", 4)].join(" OR ")
            )
        );
        assert!(marked.sums_condition((0, 9 * D), Level::Day).unwrap().ends_with(&format!(
            " AND (owner, day) NOT IN (('a\\'b', {}), ('ann', {}), ('ann', {}))",
            7 * D,
            3 * D,
            4 * D
        )));
        assert_eq!(marked.open((0, 3 * D)), None);
    }

    #[test]
    fn too_many_marks_open_everything_from_the_first_on() {
        let many: Vec<(String, i64)> =
            (0..=MOST_MARKED as i64).map(|n| (format!("o{n}"), (4 + n % 3) * D)).collect();
        let mut marks: Vec<(&str, i64)> = many.iter().map(|(owner, day)| (owner.as_str(), *day)).collect();
        marks.push(("", 9 * D));
        assert_eq!(closed(&marks), closed(&[("", 4 * D)]));
    }
}
