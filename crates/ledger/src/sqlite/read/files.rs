//! Files: what a task did with them, and which were used most in a stretch of time.

use std::collections::{HashMap, HashSet};

use agent_tracer_event::{Millis, TaskId};
use rusqlite::{Connection, params};

use super::rollup::{self, Scope};
use super::row::RowBuilder;
use super::text::Texts;
use super::usage_sum::count;
use super::{cursor, task};
use crate::project::measures::{FILE_CHANGES, FILE_READS};
use crate::project::ranking;
use crate::project::tally::{ALL_PROJECTS, Dim};
use crate::project::time::{Level, signed_pieces};
use crate::store::{Answer, Paging, Range};
use crate::view::{FileStat, FileUse, FileUser, Page};

/// The uses of one file by tasks.
#[derive(Clone, Debug, Default)]
struct FileUses {
    path: i64,
    reads: i64,
    changes: i64,
    failures: i64,
    /// The tasks, with how often each.
    by: Vec<(i64, i64)>,
}

/// Returns the files of a task, and of its subagents if they are wanted: those used most first.
pub(crate) fn of_task(conn: &Connection, id: &TaskId, tree: bool, paging: &Paging) -> Answer<Page<FileUse>> {
    let root = task::number(conn, id)?;
    let family = if tree { task::family(conn, root)? } else { vec![(root, 0)] };
    let mut files: HashMap<i64, FileUses> = HashMap::new();
    let mut find =
        conn.prepare_cached("SELECT path, reads, changes, failures FROM file_use WHERE task = ?1")?;
    for (task, _) in family {
        let mut rows = find.query([task])?;
        while let Some(row) = rows.next()? {
            let path = row.get(0)?;
            let (reads, changes): (i64, i64) = (row.get(1)?, row.get(2)?);
            let used = files.entry(path).or_insert_with(|| FileUses { path, ..FileUses::default() });
            used.reads += reads;
            used.changes += changes;
            used.failures += row.get::<_, i64>(3)?;
            used.by.push((task, reads + changes));
        }
    }
    let page = cursor::page(cursor::List::TaskFiles, paging, files.into_values().collect(), |used| {
        [-(used.reads + used.changes), used.path]
    })?;
    let mut texts = Texts::new(conn);
    let mut builder = RowBuilder::new(conn);
    let mut items = Vec::with_capacity(page.items.len());
    for used in page.items {
        items.push(show(conn, &mut texts, &mut builder, &used)?);
    }
    Ok(Page { items, next_cursor: page.next_cursor })
}

fn show(
    conn: &Connection,
    texts: &mut Texts<'_>,
    builder: &mut RowBuilder<'_>,
    used: &FileUses,
) -> rusqlite::Result<FileUse> {
    // The smallest and the greatest of an index: two seeks, however often the file was touched.
    let mut first =
        conn.prepare_cached("SELECT min(occurred) FROM file_touch WHERE task = ?1 AND path = ?2")?;
    let mut last =
        conn.prepare_cached("SELECT max(occurred) FROM file_touch WHERE task = ?1 AND path = ?2")?;
    let mut first_at: Option<i64> = None;
    let mut last_at: Option<i64> = None;
    let mut by = Vec::with_capacity(used.by.len());
    for (task, times) in &used.by {
        let begun: Option<i64> = first.query_row([*task, used.path], |row| row.get(0))?;
        let ended: Option<i64> = last.query_row([*task, used.path], |row| row.get(0))?;
        first_at = [first_at, begun].into_iter().flatten().min();
        last_at = last_at.max(ended);
        let about = builder.about(*task)?;
        by.push(FileUser {
            task_id: about.uid.to_string(),
            agent_type: about.agent_type.clone(),
            count: count(*times),
        });
    }
    by.sort_by(|one, two| two.count.cmp(&one.count).then_with(|| one.task_id.cmp(&two.task_id)));
    Ok(FileUse {
        path: texts.word(used.path)?,
        reads: count(used.reads),
        changes: count(used.changes),
        failures: count(used.failures),
        first_at: Millis(first_at.unwrap_or_default()),
        last_at: Millis(last_at.or(first_at).unwrap_or_default()),
        by,
    })
}

/// Returns how many different files some tasks read, and how many they changed.
pub(crate) fn distinct(conn: &Connection, tasks: &[i64]) -> rusqlite::Result<(u64, u64)> {
    let mut find = conn.prepare_cached("SELECT path, reads, changes FROM file_use WHERE task = ?1")?;
    let (mut read, mut changed) = (HashSet::new(), HashSet::new());
    for task in tasks {
        let mut rows = find.query([task])?;
        while let Some(row) = rows.next()? {
            let path: i64 = row.get(0)?;
            if row.get::<_, i64>(1)? > 0 {
                read.insert(path);
            }
            if row.get::<_, i64>(2)? > 0 {
                changed.insert(path);
            }
        }
    }
    Ok((read.len() as u64, changed.len() as u64))
}

/// A file that is ranked.
#[derive(Clone, Debug)]
struct RankedFile {
    path: i64,
    name: String,
    reads: i64,
    changes: i64,
    /// The stretch in which it was used most.
    stretch: (i64, i64),
}

impl RankedFile {
    fn add(&mut self, reads: i64, changes: i64) {
        self.reads += reads;
        self.changes += changes;
    }
}

/// Returns the files used most in a range, rounded to UTC days, by the rule of [`ranking`].
pub(crate) fn of_range(conn: &Connection, range: &Range) -> Answer<Page<FileStat>> {
    // A cursor that is none is refused, even where there is nothing to list.
    cursor::page_start::<2>(cursor::List::Ranked, &range.paging)?;
    let Some(scope) = Scope::of_range(conn, range)? else { return Ok(Page::whole(Vec::new())) };
    let Some((from, to)) = rollup::clipped(conn, range)? else { return Ok(Page::whole(Vec::new())) };
    let actors = scope.actors(conn)?;
    let project = scope.project.unwrap_or(ALL_PROJECTS);
    let mut best = Vec::new();
    for (piece, sign) in signed_pieces(from, to, Level::Day) {
        let level = piece.level.code();
        rollup::visit_stretches(
            &piece,
            |at| {
                let found = StretchFiles::read(conn, (level, at), sign, project)?;
                let any = !found.is_all || !found.used.is_empty();
                best.extend(any.then_some(found));
                Ok(any)
            },
            |at| rollup::next_stretch(conn, piece.level, at),
        )?;
    }
    let mut homes = FileProjects::new(conn, range.project.clone())?;
    let mut ranked = ranked(&best, &actors, &mut homes.texts)?;
    for stretch in &best {
        stretch.add_to(conn, project, &actors, &mut ranked)?;
    }
    ranked.retain(|file| file.reads + file.changes > 0);
    let page = cursor::page(cursor::List::Ranked, &range.paging, ranked, |file| {
        [-(file.reads + file.changes), cursor::stable(&file.name)]
    })?;
    let mut items = Vec::with_capacity(page.items.len());
    for file in page.items {
        let project = homes.project(conn, &file)?;
        items.push(FileStat {
            path: file.name,
            project,
            reads: count(file.reads),
            changes: count(file.changes),
        });
    }
    Ok(Page { items, next_cursor: page.next_cursor })
}

/// Returns the files used most in one stretch, as the index has them.
fn most_used_statement() -> String {
    format!(
        "SELECT key, actor, {FILE_READS}, {FILE_READS} + {FILE_CHANGES} FROM rollup INDEXED BY rollup_top \
         WHERE {} ORDER BY {FILE_READS} + {FILE_CHANGES} DESC LIMIT ?4",
        in_stretch()
    )
}

/// Returns the condition that a row of the rollup is of files in a stretch of a project. The dimension is a part of the
/// text, because the index is of this one alone.
fn in_stretch() -> String {
    format!("dim = {} AND level = ?1 AND at = ?2 AND project = ?3", Dim::File.code())
}

/// A path and who used it; reads and changes.
type Entry = ((i64, i64), (i64, i64));

/// The files used most in one stretch.
struct StretchFiles {
    /// Level and beginning.
    stretch: (i64, i64),
    /// 1, or -1 if it is taken away.
    sign: i64,
    /// Reads and changes by path and who used it.
    used: HashMap<(i64, i64), (i64, i64)>,
    /// These are all that were used.
    is_all: bool,
}

impl StretchFiles {
    fn read(conn: &Connection, stretch: (i64, i64), sign: i64, project: i64) -> rusqlite::Result<Self> {
        let uses = |found: &[Entry]| -> Vec<i64> {
            found.iter().map(|(_, (reads, changes))| reads + changes).collect()
        };
        let mut found = Self::most_used(conn, stretch, project, ranking::BEST + 1)?;
        let mut is_all = found.len() <= ranking::BEST;
        if ranking::needs_more(&uses(&found)) {
            found = Self::most_used(conn, stretch, project, ranking::MOST + 1)?;
            is_all = found.len() <= ranking::MOST;
        }
        let best = ranking::best(&uses(&found));
        is_all &= best == found.len();
        found.truncate(best);
        Ok(Self { stretch, sign, is_all, used: found.into_iter().collect() })
    }

    /// Returns so many entries of a stretch with the most uses.
    fn most_used(
        conn: &Connection,
        (level, at): (i64, i64),
        project: i64,
        most: usize,
    ) -> rusqlite::Result<Vec<Entry>> {
        let mut find = conn.prepare_cached(&most_used_statement())?;
        let limit = i64::try_from(most).unwrap_or(i64::MAX);
        let mut rows = find.query(params![level, at, project, limit])?;
        let mut found = Vec::with_capacity(most);
        while let Some(row) = rows.next()? {
            let reads: i64 = row.get(2)?;
            found.push(((row.get(0)?, row.get(1)?), (reads, row.get::<_, i64>(3)? - reads)));
        }
        Ok(found)
    }

    /// Adds what was done with files in this stretch by some, or takes it away.
    fn add_to(
        &self,
        conn: &Connection,
        project: i64,
        actors: &[i64],
        files: &mut [RankedFile],
    ) -> rusqlite::Result<()> {
        for actor in actors {
            let mut unknown = Vec::new();
            for file in &mut *files {
                match self.used.get(&(file.path, *actor)) {
                    Some((reads, changes)) => file.add(self.sign * reads, self.sign * changes),
                    None if self.is_all => {}
                    None => unknown.push(file.path),
                }
            }
            if !unknown.is_empty() {
                self.look_up(conn, project, *actor, &unknown, files)?;
            }
        }
        Ok(())
    }

    /// Adds what one did with files that are not among those used most.
    ///
    /// All in one question: thousands of them would cost more to ask than to answer. By who it was: files that are used
    /// much are known of most, and what others did stands together.
    fn look_up(
        &self,
        conn: &Connection,
        project: i64,
        actor: i64,
        unknown: &[i64],
        files: &mut [RankedFile],
    ) -> rusqlite::Result<()> {
        let mut find = conn.prepare_cached(&format!(
            "SELECT key, {FILE_READS}, {FILE_CHANGES} FROM rollup WHERE {} AND actor = ?4 \
             AND key IN (SELECT value FROM json_each(?5))",
            in_stretch()
        ))?;
        let list = serde_json::to_string(unknown).unwrap_or_default();
        let (level, at) = self.stretch;
        let mut rows = find.query(params![level, at, project, actor, list])?;
        while let Some(row) = rows.next()? {
            let path: i64 = row.get(0)?;
            if let Ok(place) = files.binary_search_by_key(&path, |file| file.path)
                && let Some(file) = files.get_mut(place)
            {
                file.add(self.sign * row.get::<_, i64>(1)?, self.sign * row.get::<_, i64>(2)?);
            }
        }
        Ok(())
    }
}

/// Returns the files that are ranked, by the numbers of their paths, nothing added up yet.
fn ranked(best: &[StretchFiles], actors: &[i64], texts: &mut Texts<'_>) -> rusqlite::Result<Vec<RankedFile>> {
    let lists: Vec<ranking::TopList<i64>> = best
        .iter()
        .map(|stretch| {
            let asked = stretch.used.iter().filter(|((_, actor), _)| actors.contains(actor));
            let used = asked.map(|((path, _), (reads, changes))| (*path, reads + changes)).collect();
            ranking::TopList { sign: stretch.sign, is_all: stretch.is_all, used }
        })
        .collect();
    let mut ranked = Vec::with_capacity(ranking::RANKED);
    for file in ranking::candidates(&lists, |path| texts.word(path))? {
        let Some(home) = best.get(file.stretch) else { continue };
        let name = texts.word(file.path)?;
        ranked.push(RankedFile { path: file.path, name, reads: 0, changes: 0, stretch: home.stretch });
    }
    // In the order in which they are looked up again.
    ranked.sort_unstable_by_key(|file| file.path);
    Ok(ranked)
}

/// Finds the projects of files.
struct FileProjects<'conn> {
    texts: Texts<'conn>,
    /// The project that was asked for.
    only: Option<String>,
    projects: Vec<(i64, String)>,
    actors: Vec<i64>,
}

impl<'conn> FileProjects<'conn> {
    fn new(conn: &'conn Connection, only: Option<String>) -> Answer<Self> {
        let mut texts = Texts::new(conn);
        let mut projects = Vec::new();
        let mut actors = Vec::new();
        if only.is_none() {
            for project in rollup::projects(conn)? {
                projects.push((project, texts.word(project)?));
            }
            projects.sort_unstable_by(|(_, one), (_, two)| one.cmp(two));
            actors = Scope { project: None, agent: None, agent_type: None }.actors(conn)?;
        }
        Ok(Self { texts, only, projects, actors })
    }

    /// Returns the project whose folder holds the file, else the first by name of those that used it when it was used
    /// most.
    fn project(&self, conn: &Connection, file: &RankedFile) -> rusqlite::Result<String> {
        if let Some(only) = &self.only {
            return Ok(only.clone());
        }
        let holds = |folder: &str| {
            file.name.strip_prefix(folder).is_some_and(|rest| !folder.is_empty() && rest.starts_with('/'))
        };
        let holders = self.projects.iter().map(|(_, folder)| folder).filter(|folder| holds(folder));
        if let Some(folder) = holders.max_by_key(|folder| folder.len()) {
            return Ok(folder.clone());
        }
        let mut is_there = conn.prepare_cached(&format!(
            "SELECT 1 FROM rollup WHERE {} AND actor = ?4 AND key = ?5",
            in_stretch()
        ))?;
        let (level, at) = file.stretch;
        for (project, folder) in &self.projects {
            for actor in &self.actors {
                if is_there.exists(params![level, at, project, actor, file.path])? {
                    return Ok(folder.clone());
                }
            }
        }
        Ok(String::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_used_most_are_read_from_the_index_alone() {
        let folder = tempfile::tempdir().unwrap();
        let conn = crate::sqlite::open::open(&folder.path().join("ledger.db")).unwrap();
        // The plan says so of an index that has the sum alone; the instructions do not.
        let mut explain = conn.prepare(&format!("EXPLAIN {}", most_used_statement())).unwrap();
        let instructions: Vec<String> =
            explain.query_map([1, 2, 3, 4], |row| row.get(1)).unwrap().map(Result::unwrap).collect();
        let opened = instructions.iter().filter(|name| *name == "OpenRead").count();
        assert_eq!(opened, 1, "{instructions:?}");
    }
}
