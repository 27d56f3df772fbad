//! The files used most in a stretch of time, by the one rule of [`ranking`] that every store follows.
//!
//! Three statements at most: the best of every day and month that the range is made up of, what the files that are
//! ranked were used for in all, and of those that lie in no project's folder, who used them.

use std::collections::HashMap;
use std::convert::Infallible;

use agent_tracer_ledger::engine::cursor::{self, List as Listing};
use agent_tracer_ledger::engine::usage_sum::count;
use agent_tracer_ledger::project::measures::{FILE_CHANGES, FILE_READS};
use agent_tracer_ledger::project::ranking::{self, TopList};
use agent_tracer_ledger::project::tally::Dim;
use agent_tracer_ledger::project::time::{Level, signed_pieces};
use agent_tracer_ledger::view::{FileStat, Page};
use agent_tracer_ledger::{Answer, Range};
use clickhouse::Row;
use serde::Deserialize;

use super::closed_days::{ClosedDays, sums_filter};
use super::sums::{QuerySpan, Span, join_tasks};
use super::{Reader, texts_in};
use crate::clickhouse::days::day_of;
use crate::clickhouse::write::word;

/// Sums the use of a file by one type of agent in one day or month.
#[derive(Row, Deserialize)]
struct FilePeriod {
    at: i64,
    path: String,
    product: String,
    type_of_agent: String,
    uses: i64,
}

/// A file and how it was used.
#[derive(Row, Deserialize)]
struct FileSums {
    path: String,
    reads: i64,
    changes: i64,
}

/// A file and a project that used it.
#[derive(Row, Deserialize)]
struct FileHome {
    path: String,
    home: String,
}

/// A file that is ranked, and when it was used most.
struct FileRank {
    path: String,
    stretch: Span,
}

impl Reader {
    /// Returns the files used most in a range, rounded to UTC days: see [`ranking`].
    ///
    /// # Errors
    /// If the range or its cursor is wrong, or the database cannot answer.
    pub fn files(&self, range: &Range) -> Answer<Page<FileStat>> {
        cursor::page_start::<2>(Listing::Ranked, &range.paging)?;
        let Some(QuerySpan { span, closed }) = self.query_span(range)? else {
            return Ok(Page::whole(Vec::new()));
        };
        let ranked = self.ranked_files(&closed, span, range)?;
        if ranked.is_empty() {
            return Ok(Page::whole(Vec::new()));
        }
        let paths: Vec<&str> = ranked.iter().map(|file| file.path.as_str()).collect();
        let files = self.rows::<FileSums>(&format!(
            "SELECT path, sum(read) AS reads, sum(changed) AS changes FROM ({}) \
             GROUP BY path HAVING reads + changes > 0",
            self.uses(&closed, Level::Day.around(span), range, Some(&texts_in(&paths)))
        ))?;
        let page = cursor::page(Listing::Ranked, &range.paging, files, |file| {
            [-(file.reads + file.changes), cursor::stable(&file.path)]
        })?;
        let mut homes = match range.project {
            Some(_) => HashMap::new(),
            None => self.homes(&closed, &page.items, &ranked)?,
        };
        Ok(page.map(|file| FileStat {
            project: range.project.clone().unwrap_or_else(|| homes.remove(&file.path).unwrap_or_default()),
            path: file.path,
            reads: count(file.reads),
            changes: count(file.changes),
        }))
    }

    /// Selects the uses of files in the days of a span by tasks of the range's project, agent and type of agent: of all
    /// files or of some.
    fn uses(&self, closed: &ClosedDays, span: Span, range: &Range, paths: Option<&str>) -> String {
        let (scope, facts, dim) = (self.task_filter(), self.fact_filter(), Dim::File.code());
        let of = sums_filter(range);
        let among = |path: &str| paths.map_or_else(String::new, |paths| format!(" AND {path} IN {paths}"));
        let made = closed.sums_condition(span, Level::Day).map(|made| {
            format!(
                "SELECT day, key AS path, {FILE_READS} AS read, {FILE_CHANGES} AS changed, project, agent, agent_type FROM day_sum FINAL \
                 WHERE {scope} AND dim = {dim} AND {made} AND {of}{}",
                among("key")
            )
        });
        let open = closed.open(span).map(|open| {
            format!(
                "SELECT {} AS day, path, read, changed, project, agent, agent_type FROM ( \
                   SELECT owner, task, occurred, path, read, changed FROM fact FINAL \
                   ARRAY JOIN sums.dim AS own_dim, sums.key AS path, sums.{FILE_READS} AS read, sums.{FILE_CHANGES} AS changed \
                   WHERE {facts} AND {} AND own_dim = {dim}{}) AS counted {} WHERE {of}",
                day_of("occurred"),
                open.facts,
                among("path"),
                join_tasks(&scope, &open.tasks)
            )
        });
        let parts: Vec<String> = made.into_iter().chain(open).collect();
        parts.join(" UNION ALL ")
    }

    /// Returns the files that are ranked.
    fn ranked_files(&self, closed: &ClosedDays, span: Span, range: &Range) -> Answer<Vec<FileRank>> {
        let is_asked = |entry: &FilePeriod| {
            range.agent.is_none_or(|agent| word(agent) == entry.product)
                && range.agent_type.as_ref().is_none_or(|name| *name == entry.type_of_agent)
        };
        let mut paths = Paths::default();
        let (mut lists, mut stretches) = (Vec::new(), Vec::new());
        for (piece, sign) in signed_pieces(span.0, span.1, Level::Day) {
            let entries = self.most_used(closed, (piece.from, piece.to), piece.level, range)?;
            for entries in entries.chunk_by(|one, two| one.at == two.at) {
                let Some(at) = entries.first().map(|entry| entry.at) else { continue };
                let uses: Vec<i64> = entries.iter().map(|entry| entry.uses).collect();
                let best = ranking::best(&uses);
                let asked = entries.iter().take(best).filter(|entry| is_asked(entry));
                let used = asked.map(|entry| (paths.number(&entry.path), entry.uses)).collect();
                lists.push(TopList { sign, is_all: best == entries.len(), used });
                stretches.push((at, piece.level.end(at)));
            }
        }
        let Ok(found) = ranking::candidates(&lists, |path| Ok::<_, Infallible>(paths.name(path)));
        let ranked = found.into_iter().filter_map(|file| {
            Some(FileRank { path: paths.name(file.path), stretch: *stretches.get(file.stretch)? })
        });
        Ok(ranked.collect())
    }

    /// Returns the most used of every day or month of a span, oldest first, of the range's project: enough to tell the
    /// best.
    fn most_used(
        &self,
        closed: &ClosedDays,
        span: Span,
        level: Level,
        range: &Range,
    ) -> Answer<Vec<FilePeriod>> {
        let of = Range { project: range.project.clone(), ..Range::default() };
        let used = self.uses(closed, span, &of, None);
        let at = match level {
            Level::Month => format!("roundDown(day, {})", self.months(closed, span)?),
            _ => "day".to_owned(),
        };
        self.rows::<FilePeriod>(&format!(
            "SELECT toInt64({at}) AS at, path, toString(agent) AS product, toString(agent_type) AS type_of_agent, \
               sum(read + changed) AS uses FROM ({used}) \
             GROUP BY at, path, product, type_of_agent HAVING uses > 0 ORDER BY at, uses DESC LIMIT {} BY at",
            ranking::MOST + 1
        ))
    }

    /// Returns the beginnings of the months that had anything. They are counted here: the engine's own dates end in
    /// 2299, and a clock may be wrong by more.
    fn months(&self, closed: &ClosedDays, span: Span) -> Answer<String> {
        let (scope, facts) = (self.task_filter(), self.fact_filter());
        let made = closed.sums_condition(span, Level::Day).map(|made| {
            let dim = Dim::Activity.code();
            format!("SELECT DISTINCT day FROM day_sum FINAL WHERE {scope} AND dim = {dim} AND {made}")
        });
        let open = closed.open(span).map(|open| {
            let (day, open) = (day_of("occurred"), open.facts);
            format!("SELECT DISTINCT {day} AS day FROM fact FINAL WHERE {facts} AND {open}")
        });
        let parts: Vec<String> = made.into_iter().chain(open).collect();
        let days: Vec<i64> =
            self.rows(&format!("SELECT DISTINCT day FROM ({}) ORDER BY day", parts.join(" UNION ALL ")))?;
        let mut months: Vec<String> =
            days.into_iter().map(|day| Level::Month.start(day).to_string()).collect();
        months.dedup();
        if months.is_empty() {
            months.push(span.0.to_string());
        }
        Ok(format!("[{}]", months.join(", ")))
    }

    /// Returns the project of each file: the one that contains the file, else the first by name of those that used it
    /// when it was used most.
    fn homes(
        &self,
        closed: &ClosedDays,
        files: &[FileSums],
        ranked: &[FileRank],
    ) -> Answer<HashMap<String, String>> {
        let projects: Vec<String> = self.rows(&format!(
            "SELECT DISTINCT toString(project) FROM task FINAL WHERE {} AND events > 0",
            self.task_filter()
        ))?;
        let stretches: HashMap<&str, Span> =
            ranked.iter().map(|file| (file.path.as_str(), file.stretch)).collect();
        let mut homes = HashMap::new();
        let mut outside: HashMap<Span, Vec<&str>> = HashMap::new();
        for file in files {
            let holds = |folder: &&String| {
                let rest = file.path.strip_prefix(folder.as_str());
                rest.is_some_and(|rest| !folder.is_empty() && rest.starts_with('/'))
            };
            if let Some(folder) = projects.iter().filter(holds).max_by_key(|folder| folder.len()) {
                homes.insert(file.path.clone(), folder.clone());
            } else if let Some(stretch) = stretches.get(file.path.as_str()) {
                outside.entry(*stretch).or_default().push(&file.path);
            }
        }
        for (stretch, paths) in outside {
            let found = self.rows::<FileHome>(&format!(
                "SELECT path, min(toString(project)) AS home FROM ({}) GROUP BY path",
                self.uses(closed, stretch, &Range::default(), Some(&texts_in(&paths)))
            ))?;
            homes.extend(found.into_iter().map(|home| (home.path, home.home)));
        }
        Ok(homes)
    }
}

/// Paths by number.
#[derive(Default)]
struct Paths {
    numbers: HashMap<String, usize>,
    names: Vec<String>,
}

impl Paths {
    fn number(&mut self, path: &str) -> usize {
        if let Some(number) = self.numbers.get(path) {
            return *number;
        }
        let number = self.names.len();
        self.names.push(path.to_owned());
        self.numbers.insert(path.to_owned(), number);
        number
    }

    fn name(&self, number: usize) -> String {
        self.names.get(number).cloned().unwrap_or_default()
    }
}
