//! Folds what the journal holds: what was acknowledged before there was time to fold it.

use rusqlite::{Connection, OptionalExtension, params};

use super::AppendError;
use super::append::FoldTransaction;
use super::prepared::Prepared;
use super::writer::Writer;
use crate::aside_folder::AsideKind;
use crate::error_text;
use crate::journal::{JournalPosition, RecordRun};

/// The observations that are folded in one transaction. A batch that arrives meanwhile waits for them.
const PART: usize = 2_048;

/// The key under which the ledger stores the number of the journal's use.
const NUMBER: &str = "journal";
const OFFSET: &str = "journal_at";

/// Counts the records that it folded as they were handed over, and those that it read from the file.
const BY_HAND: &str = "posted_by_hand";
const BY_FILE: &str = "posted_by_file";

/// Returns how far the journal was folded.
pub(super) fn folded(conn: &Connection) -> rusqlite::Result<JournalPosition> {
    let value = |key: &str| -> rusqlite::Result<u64> {
        let value: Option<i64> =
            conn.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).optional()?;
        Ok(value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0))
    };
    Ok(JournalPosition { number: value(NUMBER)?, offset: value(OFFSET)? })
}

impl FoldTransaction<'_> {
    /// Notes how far the journal is folded, together with what was folded from it.
    fn note_journal(&self, place: JournalPosition) -> rusqlite::Result<()> {
        for (key, value) in [(NUMBER, place.number), (OFFSET, place.offset)] {
            self.conn
                .prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?
                .execute(params![key, i64::try_from(value).unwrap_or(i64::MAX)])?;
        }
        Ok(())
    }
}

impl Writer {
    /// Folds a part of the journal. Returns `false` on failure: the journal keeps records that cannot be written.
    pub(super) fn fold_posted(&mut self) -> bool {
        self.waiting.begin();
        let part = match self.waiting.read(PART) {
            Ok(part) => part,
            Err(error) => {
                self.faults.write_failed(&AppendError::from(error));
                return false;
            }
        };
        let RecordRun { mut prepared, ends, unknown, damaged, end, is_handed } = part;
        let way = if is_handed { BY_HAND } else { BY_FILE };
        if !self.keep_unreadable(&unknown, &damaged) {
            return false;
        }
        let names: Vec<String> =
            prepared.batch.observed.iter().map(|observed| observed.name.clone()).collect();
        let place = self.waiting.position(end);
        let count = i64::try_from(names.len()).unwrap_or(i64::MAX);
        let written = self.change_from_journal(|apply| {
            apply.batch(&mut prepared)?;
            apply.count_meta(way, count)?;
            apply.note_journal(place)
        });
        match written {
            Ok(()) => {
                self.waiting.folded(end, names.iter().map(String::as_str));
                self.move_log();
                self.cut_log();
                true
            }
            Err(AppendError::Item(_)) => self.probe().is_ok() && self.fold_each(prepared, &ends, end, way),
            Err(_) => false,
        }
    }

    /// Folds each by itself, so that one cannot hold up the others. One that cannot be folded is set aside and counted.
    fn fold_each(&mut self, prepared: Prepared, ends: &[u64], end: u64, way: &str) -> bool {
        for ((observed, ready), end) in prepared.into_each().zip(ends) {
            let place = self.waiting.position(*end);
            let name = observed.name.clone();
            let mut prepared = Prepared::default();
            prepared.push(observed, ready);
            let written = self.attempt(|writer| {
                writer.change_from_journal(|apply| {
                    apply.batch(&mut prepared)?;
                    apply.count_meta(way, 1)?;
                    apply.note_journal(place)
                })
            });
            let folded = match written {
                Err(AppendError::Item(why)) => self.refuse(prepared, &error_text(&why), place),
                other => other,
            };
            if folded.is_err() {
                return false;
            }
            self.waiting.folded(*end, std::iter::once(name.as_str()));
        }
        // What this version does not understand may stand behind the last that it does.
        let place = self.waiting.position(end);
        let noted = self.change_from_journal(|apply| apply.note_journal(place));
        if noted.is_ok() {
            self.waiting.folded(end, std::iter::empty());
        }
        noted.is_ok()
    }

    fn refuse(&mut self, prepared: Prepared, why: &str, place: JournalPosition) -> Result<(), AppendError> {
        self.keep_posts(&prepared, why)?;
        let observed = prepared.into_batch().observed;
        self.change_from_journal(|apply| {
            Self::count_set_aside(apply, &observed);
            apply.note_journal(place)
        })
    }

    /// Sets records that this version cannot read aside, where a person can inspect them.
    fn keep_unreadable(&self, unknown: &[Vec<u8>], damaged: &[Vec<u8>]) -> bool {
        let kept = unknown
            .iter()
            .map(|bytes| (bytes, "a record that this version does not understand"))
            .chain(damaged.iter().map(|bytes| (bytes, "its checksum is wrong")))
            .try_for_each(|(bytes, reason)| self.aside.keep(AsideKind::Journal, reason, bytes));
        match kept {
            Ok(()) => {
                self.faults.posts_damaged(u64::try_from(damaged.len()).unwrap_or(u64::MAX));
                true
            }
            Err(error) => {
                self.faults.write_failed(&AppendError::from(error));
                false
            }
        }
    }
}
