//! Deletes the traces of tasks outside the ledger: envelopes in the spool and its quarantine, posts set aside, copies
//! of the store, copies of compactions, and context pages.
//!
//! Law: they go before the tasks do. After an interruption the tasks are still there and the purge can be repeated.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use agent_tracer_event::Millis;
use agent_tracer_intake::{cursor_without_content, purge_spool};
use agent_tracer_jobs::compaction::backup;
use agent_tracer_ledger::{Ledger, TaskNames, purge_aside, upgrade_copies};
use agent_tracer_spool::{Home, Spool, context};
use serde_json::{Value, json};

use crate::backup_job;
use crate::commands::maintenance;
use crate::failure::{Failure, plain};
use crate::output::Output;

/// Counts the removed traces and those that could not be judged.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    /// Envelopes of the spool.
    envelopes: u64,
    /// Posts, parts of the journal and logs beside the store.
    set_aside: u64,
    /// Copies of what went into compactions.
    compaction_copies: u64,
    /// Copies of the store, by their names.
    store_copies: Vec<String>,
    /// Files that cannot be read, so that it is not known what they tell: in the spool, and beside the store.
    unreadable: u64,
    /// Tasks of which the events were dropped by a version that did not write down what they added to the totals.
    inseparable: u64,
}

/// Removes what these tasks left; everything if none are given.
pub(super) fn remove(
    home: &Home,
    ledger: &Ledger,
    names: Option<&TaskNames>,
    now: Millis,
) -> Result<Leftovers, Failure> {
    // The cursors too: the state of a reader may hold contents of a transcript.
    let gone = remove_files(home, names, now)?;
    let meant = names.cloned();
    ledger
        .change_cursors(move |cursor| cursor_without_content(cursor, meant.as_ref()))
        .map_err(|error| maintenance::refused(&error))?;
    Ok(gone)
}

/// Removes what the tasks left outside of the ledger.
pub(super) fn remove_files(
    home: &Home,
    names: Option<&TaskNames>,
    now: Millis,
) -> Result<Leftovers, Failure> {
    let mut gone = Leftovers { store_copies: remove_store_copies(home)?, ..Leftovers::default() };
    let spool = purge_spool(&Spool::at(&home.spool()), names, now)
        .map_err(|error| Failure::new(format!("cannot delete from the spool: {error}")))?;
    let aside = purge_aside(&store(home), names)
        .map_err(|cause| Failure::new(format!("cannot delete the posts set aside: {}", plain(&cause))))?;
    (gone.envelopes, gone.set_aside) = (spool.removed, aside.removed);
    gone.unreadable = spool.unknown + aside.unknown;
    gone.compaction_copies =
        backup::remove(&backup_job::folder(home), |copy| names.is_none_or(|names| names.has_id(&copy.task)))
            .map_err(|cause| {
                Failure::new(format!("cannot remove a copy of a compaction: {}", plain(&cause)))
            })?;
    remove_pages(home)
        .map_err(|cause| Failure::new(format!("cannot remove the context pages: {}", plain(&cause))))?;
    Ok(gone)
}

fn store(home: &Home) -> PathBuf {
    home.data().join("ledger.db")
}

/// Returns the copies of the store in a home. Each of them holds all that the store held when it was made.
fn store_copies(home: &Home) -> Vec<PathBuf> {
    upgrade_copies(&store(home))
}

/// Removes the copies of the store. They are of other schemas, or closed: no task can be taken out of them.
fn remove_store_copies(home: &Home) -> Result<Vec<String>, Failure> {
    let mut gone = Vec::new();
    for path in store_copies(home) {
        fs::remove_file(&path).map_err(|cause| Failure::file("remove", &path, &cause))?;
        gone.push(name_of(&path));
    }
    Ok(gone)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Removes the context pages: a server writes them again from the rest.
fn remove_pages(home: &Home) -> io::Result<()> {
    let entries = match fs::read_dir(home.context()) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let path = entry?.path();
        // The mark says that hooks name their task; it holds nothing of a session.
        if path != context::task_mark(home) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

impl Leftovers {
    /// Records tasks with totals that cannot be separated.
    pub(super) fn note_inseparable(&mut self, tasks: u64) {
        self.inseparable = tasks;
    }

    /// Prints what was removed with the tasks, and what could not be.
    pub(super) fn say(&self, home: &Home, output: &mut Output) -> Result<(), Failure> {
        for name in &self.store_copies {
            output.say(&format!(
                "removed `{name}`: a copy of the store from before its upgrade holds everything"
            ))?;
        }
        if self.envelopes + self.set_aside > 0 {
            output.say(&format!(
                "removed {} events that were not in the ledger yet or could not be read into it",
                self.envelopes + self.set_aside
            ))?;
        }
        if self.unreadable > 0 {
            output.say(&format!(
                "warning: {} files in `{}` and `{}` cannot be read, so it is not known what they tell; they stay\n\
                 hint: look at them and delete them yourself, or run `agent-tracer purge --all`, which removes them",
                self.unreadable,
                home.spool().join("quarantine").display(),
                home.data().join("ledger.db.aside").display()
            ))?;
        }
        if self.inseparable > 0 {
            output.say(&format!(
                "warning: the events of {} of these tasks were dropped by an earlier version, which did not write down \
                 what they added to the totals over time; that part of the totals stays\n\
                 hint: `agent-tracer purge --all` removes all totals",
                self.inseparable
            ))?;
        }
        Ok(())
    }

    /// Returns the same for programs.
    pub(super) fn json(&self) -> Value {
        json!({
            "envelopes": self.envelopes,
            "setAside": self.set_aside,
            "compactionCopies": self.compaction_copies,
            "storeCopies": self.store_copies,
            "unreadable": self.unreadable,
            "inseparableTotals": self.inseparable,
        })
    }
}
