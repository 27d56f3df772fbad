//! `agent-tracer backup restore`: puts a backup in the place of the store, or brings a copy of a compaction back.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use agent_tracer_event::Millis;
use agent_tracer_jobs::compaction::backup;
use agent_tracer_ledger::{
    Contents, abandon_swap, contents, error_text, finish_swap, prepare_swap, remains, succeed, swap_store,
    verify_copy,
};
use agent_tracer_spool::Home;
use serde_json::json;

use super::unknown;
use crate::arguments::BackupRestore;
use crate::commands::agreement;
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::instance::Instance;
use crate::output::Output;
use crate::reading::json as json_of;
use crate::store_backups::{self, Kind, StoreBackup, size};
use crate::{backup_job, sources};

pub(super) fn run(
    wanted: &BackupRestore,
    home: &Home,
    environment: &Environment,
    output: &mut Output,
) -> Result<(), Failure> {
    let found = store_backups::list(home)?.into_iter().find(|it| it.name == wanted.name);
    match (found, &wanted.to) {
        (Some(found), _) if found.kind == Kind::Unfinished => Err(Failure::usage(format!(
            "`{}` was not finished: nothing can be brought back from it",
            found.name
        ))
        .hint(format!("`agent-tracer backup remove '{}'` removes it", found.name))),
        (Some(found), Some(to)) => copy_out(&found, &environment.absolute(to)),
        (Some(found), None) => restore(&found, wanted, home, environment.now(), output),
        (None, _) => bring_back(wanted, home, environment),
    }
}

/// Prints a copy of a compaction, or writes it to a file.
fn bring_back(wanted: &BackupRestore, home: &Home, environment: &Environment) -> Result<(), Failure> {
    let mut source =
        backup::restore(&backup_job::folder(home), &wanted.name).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => unknown(&wanted.name),
            _ => Failure::new(format!("cannot read the copy: {}", plain(&cause))),
        })?;
    let written = match &wanted.to {
        None => io::copy(&mut source, &mut io::stdout().lock()).map_err(|cause| Failure::output(&cause)),
        Some(path) => {
            let path = environment.absolute(path);
            let mut file = new_file(&path)?;
            io::copy(&mut source, &mut file).map_err(|cause| Failure::file("write", &path, &cause))
        }
    };
    written.map(drop)
}

fn new_file(path: &Path) -> Result<File, Failure> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(|cause| Failure::file("write", path, &cause).hint("name a new file"))
}

/// Copies a backup of the store to another place.
fn copy_out(found: &StoreBackup, to: &Path) -> Result<(), Failure> {
    if found.kind == Kind::Undo {
        return Err(Failure::usage(format!("`{}` is a folder with the files of a store", found.name))
            .hint(format!("copy them together: `cp -a '{}' FOLDER`", found.path.display())));
    }
    let mut file = new_file(to)?;
    let copied = File::open(&found.path).and_then(|mut from| io::copy(&mut from, &mut file));
    copied.map(drop).map_err(|cause| Failure::file("write", to, &cause))
}

fn restore(
    found: &StoreBackup,
    wanted: &BackupRestore,
    home: &Home,
    now: Millis,
    output: &mut Output,
) -> Result<(), Failure> {
    let _instance = Instance::take(home)?;
    let (store, file) = (store_backups::store(home), found.file());
    finish_swap(&store).map_err(|cause| Failure::file("finish installing", &store, &cause))?;
    // Checked whole before the question: a damaged backup must not be offered.
    let holds = verify_copy(&file).map_err(|error| {
        let failure = Failure::from_text(&format!("cannot use `{}`: {}", found.name, error_text(&error)));
        failure.hint(format!(
            "`agent-tracer recover --from '{}'` salvages what can be read of it",
            file.display()
        ))
    })?;
    let succession = remains(&store);
    let present = contents(&store).ok();
    output.say(&format!("in the backup: {}", words(&holds)))?;
    match &present {
        Some(present) => output.say(&format!("in the store:  {}", words(present)))?,
        None => output.say("in the store:  missing or unreadable")?,
    }
    let undo = store_backups::undo_folder(home, "before", now);
    if wanted.dry_run {
        return report(wanted, &holds, None, &undo, output);
    }
    if !wanted.yes {
        agreement::ask(&format!("put `{}` in the place of the store", found.name))?;
    }
    // Twice: the backup is copied in, and the store that it replaces is kept.
    store_backups::check_room(home.data(), found.bytes.saturating_mul(2))?;
    let failed = |cause: io::Error| {
        Failure::new(format!("cannot install the backup: {}", plain(&cause))).hint(
            "nothing is lost: run the command again, or start the server, which finishes what was begun",
        )
    };
    let new = prepare_swap(&store).map_err(failed)?;
    // Purged tasks are deleted from the copy before it takes its place, so that no reader ever sees them again.
    let ready = copy_in(found, &new).map_err(failed).and_then(|()| {
        succeed(&new, &succession, sources::options(home)?)
            .map_err(|error| store_backups::not_copied(&file, &error))
    });
    let deleted = match ready {
        Ok(deleted) => deleted,
        Err(failure) => {
            drop(abandon_swap(&store));
            return Err(failure);
        }
    };
    swap_store(&store, &undo).map_err(failed)?;
    report(wanted, &holds, Some(deleted), &undo, output)
}

/// Copies the files of a backup to where the new store is made.
fn copy_in(found: &StoreBackup, new: &Path) -> io::Result<()> {
    // A backup is one whole file; the kept files of a store need their log, which may hold the newest commits.
    let ends: &[&str] = if found.kind == Kind::Undo { &["", "-wal", "-journal-of-posts"] } else { &[""] };
    for end in ends {
        let with = |path: &Path| {
            let mut path = path.as_os_str().to_owned();
            path.push(end);
            PathBuf::from(path)
        };
        let (from, to) = (with(&found.file()), with(new));
        match File::open(&from) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound && !end.is_empty() => {}
            Err(cause) => return Err(cause),
            Ok(mut from) => {
                let mut to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&to)?;
                io::copy(&mut from, &mut to)?;
                to.sync_all()?;
            }
        }
    }
    // The store itself must be there; only what stands beside it may be missing.
    fs::metadata(new).map(drop)
}

pub(in crate::commands) fn words(contents: &Contents) -> String {
    let newest = contents.newest.map_or_else(String::new, |at| format!(", the newest of {at}"));
    format!("{} tasks with {} events{newest}, {}", contents.tasks, contents.events, size(contents.bytes))
}

fn report(
    wanted: &BackupRestore,
    holds: &Contents,
    deleted: Option<u64>,
    undo: &Path,
    output: &mut Output,
) -> Result<(), Failure> {
    let name = undo.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if wanted.json {
        return output.data(&json_of(&json!({
            "dryRun": wanted.dry_run,
            "name": wanted.name,
            "tasks": holds.tasks,
            "events": holds.events,
            "newest": holds.newest,
            "deletedAgain": deleted,
            "undo": name,
        }))?);
    }
    let Some(deleted) = deleted else {
        return output.data(&format!("would put `{}` in the place of the store\n", wanted.name));
    };
    output
        .data(&format!("restored `{}`: {} tasks with {} events\n", wanted.name, holds.tasks, holds.events))?;
    if deleted > 0 {
        output.say(&format!("{deleted} tasks in it were purged since, and were deleted again"))?;
    }
    output.say(&format!(
        "what was there is kept: `agent-tracer backup restore {name}` undoes this, `backup remove {name}` removes it"
    ))?;
    let since = holds.newest.map_or_else(String::new, |at| format!(" since {at}"));
    output.say(&format!(
        "next: `agent-tracer import` reads from the agents' own files what happened{since}; what only hooks and posts said \
         since then is in the kept store alone"
    ))
}
