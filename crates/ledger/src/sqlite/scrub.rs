//! Leaves no byte behind of what was deleted.
//!
//! Overwriting what is deleted is not enough: pages that were freed before, and cells that the engine moved to another
//! page, keep their bytes where no row leads to them. So the store is written anew, row by row, from what is left.

use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::AppendError;
use super::append::FoldTransaction;
use super::open::create_private;
use super::page_keeper::LogMove;
use super::upgrade::with_end;
use super::writer::Writer;
use crate::fault_cause::FaultCause;

/// Pages of the search index that are merged in one transaction.
const STEP_PAGES: i64 = 500;

/// The key that marks a store whose file may still have bytes of deleted rows.
const PENDING: &str = "purging";

impl Writer {
    /// Does something that deletes. What it deletes is overwritten where it stood: of a purge that cannot be finished,
    /// because there is no room to write the store anew, that much is gone already.
    pub(super) fn overwriting<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, AppendError>,
    ) -> Result<T, AppendError> {
        self.conn.pragma_update(None, "secure_delete", "ON")?;
        let done = work(self);
        self.memory.tasks.forget();
        self.memory.words.forget();
        self.conn.pragma_update(None, "secure_delete", "OFF")?;
        done
    }

    /// Merges a part of the search index. Returns `true` when it is merged, and nothing of deleted rows is left in it.
    pub(super) fn merge_search(&mut self) -> Result<bool, AppendError> {
        self.overwriting(|writer| {
            let before = writer.conn.total_changes();
            // A negative number begins to merge all into one; asked again, it goes on with that.
            writer.conn.execute("INSERT INTO search (search, rank) VALUES ('merge', ?1)", [-STEP_PAGES])?;
            Ok(writer.conn.total_changes() - before < 2)
        })
    }

    pub(super) fn is_purge_pending(&self) -> rusqlite::Result<bool> {
        self.conn.prepare_cached("SELECT 1 FROM meta WHERE key = ?1")?.exists([PENDING])
    }

    /// Writes every row anew into pages that held nothing before, in one transaction of the store.
    ///
    /// By a file beside it and not by `VACUUM` alone: that would keep a whole copy in memory, or in a folder for
    /// temporary files that may be on another disk.
    pub(super) fn write_anew(&mut self) -> Result<(), AppendError> {
        let path = self.conn.path().map(|path| with_end(Path::new(path), ".anew"));
        let path = path.ok_or_else(|| AppendError::Store("the store has no file".into()))?;
        let remove = || match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(AppendError::from(error)),
            _ => Ok(()),
        };
        // A process that was ended may have left one.
        remove()?;
        create_private(&path).map_err(|error| AppendError::Store(FaultCause::new(error)))?;
        let written = self.write_through(&path);
        self.memory.tasks.forget();
        self.memory.words.forget();
        remove()?;
        written?;
        self.empty_log()?;
        // Rows of damaged pages were copied as they are, so their damage lasts as long as there are rows.
        let is_empty = self
            .conn
            .query_row("SELECT NOT EXISTS (SELECT 1 FROM entry)", [], |row| row.get::<_, bool>(0))?;
        if is_empty { self.checkpointer.forgive_all() } else { Ok(()) }
    }

    fn write_through(&mut self, path: &Path) -> Result<(), AppendError> {
        let Some(name) = path.to_str() else {
            return Err(AppendError::Store(format!("`{}` is not UTF-8", path.display()).into()));
        };
        self.conn.execute("VACUUM main INTO ?1", [name])?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let from = Connection::open_with_flags(path, flags)?;
        let backup = Backup::new(&from, &mut self.conn)?;
        match backup.step(-1)? {
            StepResult::Done => Ok(()),
            _ => Err(AppendError::Store("another program has the store locked".into())),
        }
    }

    /// Moves the log into the file and leaves nothing in it.
    pub(super) fn empty_log(&self) -> Result<(), AppendError> {
        self.checkpointer.checkpoint(LogMove::Truncate)?;
        if std::fs::metadata(&self.log).is_ok_and(|log| log.len() > 0) {
            return Err(AppendError::Store(
                "another program reads the store, so its log cannot be emptied".into(),
            ));
        }
        Ok(())
    }
}

impl FoldTransaction<'_> {
    pub(super) fn note_pending(&self) -> rusqlite::Result<()> {
        self.conn.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, 1)", [PENDING])?;
        Ok(())
    }

    pub(super) fn forget_pending(&self) -> rusqlite::Result<()> {
        self.conn.execute("DELETE FROM meta WHERE key = ?1", [PENDING])?;
        Ok(())
    }

    /// Forgets texts that nothing names any more.
    pub(super) fn sweep_words(&self) -> rusqlite::Result<()> {
        self.conn.execute(
            "DELETE FROM word WHERE id NOT IN (
               SELECT machine FROM entry UNION SELECT agent_type FROM task UNION SELECT project FROM task
               UNION SELECT machine FROM task UNION SELECT model FROM task WHERE model IS NOT NULL
               UNION SELECT tool FROM fact WHERE tool IS NOT NULL UNION SELECT path FROM file_touch
               UNION SELECT path FROM file_use UNION SELECT model FROM task_model
               UNION SELECT skill FROM task_skill UNION SELECT skill FROM activation
               UNION SELECT project FROM rollup UNION SELECT actor FROM rollup
               UNION SELECT key FROM rollup UNION SELECT tool FROM latency UNION SELECT project FROM latency
               UNION SELECT actor FROM latency UNION SELECT actor FROM sealed_latency
               UNION SELECT project FROM sealed_rollup UNION SELECT actor FROM sealed_rollup
               UNION SELECT key FROM sealed_rollup UNION SELECT tool FROM sealed_latency
               UNION SELECT project FROM sealed_latency UNION SELECT model FROM sealed_model
               UNION SELECT skill FROM sealed_skill)",
            [],
        )?;
        Ok(())
    }

    /// Forgets names that no reader knows and that may be personal: of tools that no row names any more, and of values
    /// and lines, which no row names at all. Those of events, fields and rows are the client's.
    pub(super) fn sweep_unrecognised(&self) -> rusqlite::Result<()> {
        self.conn.execute(
            "DELETE FROM unrecognised WHERE what IN ('value', 'line') \
             OR what = 'tool' AND name NOT IN (SELECT text FROM word)",
            [],
        )?;
        Ok(())
    }

    /// Forgets search terms that no row has any more. A merged index holds all terms that there are.
    pub(super) fn sweep_terms(&self) -> rusqlite::Result<()> {
        self.conn.execute_batch(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab(main, search, row);
             DELETE FROM vocabulary WHERE term NOT IN (SELECT term FROM temp.terms);
             DROP TABLE temp.terms;",
        )
    }
}
