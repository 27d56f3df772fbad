//! `agent-tracer recover`: makes a new store of what can be read of a damaged one.
//!
//! Law: the damaged files are only read, and kept. Nothing takes their place that was not checked.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agent_tracer_event::Millis;
use agent_tracer_ledger::{
    Ledger, Salvage, SalvageError, abandon_swap, check_pages, check_store, damaged_commits, error_text,
    finish_swap, foreign_log, prepare_swap, remains, salvage, succeed, swap_store,
};
use agent_tracer_spool::Home;
use serde_json::{Value, json};

use crate::arguments::{Options, Recover};
use crate::commands::agreement;
use crate::commands::import::progress::Display;
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::instance::Instance;
use crate::output::Output;
use crate::reading::json as json_of;
use crate::{figures, sources, store_backups};

/// Tasks that are named, and stretches of time.
const NAMED: usize = 10;

pub(super) fn run(
    arguments: &Recover,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (home, _) = environment.home(options.home.as_deref())?;
    let store = store_backups::store(&home);
    let from = arguments.from.as_deref().map_or_else(|| store.clone(), |from| environment.absolute(from));
    let is_own = from == store;
    // Whatever is read or put in place must not change meanwhile.
    let _instance = if is_own || arguments.to.is_none() { Some(Instance::take(&home)?) } else { None };
    if is_own {
        finish_swap(&store).map_err(|cause| Failure::file("finish installing", &store, &cause))?;
    }
    if arguments.accept_changes {
        return accept_changes(arguments, &store, &home, output);
    }
    // A whole store is left alone: a copy of it would cost room and gain nothing.
    if is_own && arguments.to.is_none() && is_whole(&store) {
        if arguments.json {
            output.data(&json_of(&json!({"whole": true}))?)?;
        }
        output.say("the store is intact: nothing to recover\nhint: run `agent-tracer rebuild` to derive all tables again")?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(to) = &arguments.to {
        let to = environment.absolute(to);
        let done = make(&from, &to, &home)?;
        report(arguments, &done, &NewStore::Written(to), output)?;
        return Ok(ExitCode::SUCCESS);
    }
    // Twice, because the new store stands beside the old one, which is kept.
    store_backups::check_room(home.data(), store_backups::store_bytes(&from).saturating_mul(2))?;
    let failed = |cause: io::Error| {
        Failure::new(format!("cannot install the new store: {}", plain(&cause))).hint(
            "nothing is lost: run the command again, or start the server, which finishes what was begun",
        )
    };
    let new = prepare_swap(&store).map_err(failed)?;
    let outcome = prepare(arguments, &from, &new, &home, is_own).and_then(|done| {
        if arguments.dry_run {
            abandon_swap(&store).map_err(failed)?;
            return Ok((done, NewStore::Nowhere));
        }
        if !arguments.yes {
            for line in lines(&done) {
                output.say(&line)?;
            }
            agreement::ask("put the new store in the place of the damaged one, which is kept")?;
        }
        let kept =
            store_backups::undo_folder(&home, if is_own { "damaged" } else { "before" }, environment.now());
        swap_store(&store, &kept).map_err(failed)?;
        Ok((done, NewStore::Swapped(kept)))
    });
    match outcome {
        Ok((done, place)) => report(arguments, &done, &place, output)?,
        Err(failure) => {
            drop(abandon_swap(&store));
            return Err(failure);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes pages that another program changed for right. What is damaged stays so.
fn accept_changes(
    arguments: &Recover,
    store: &Path,
    home: &Home,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    if !store.exists() {
        return Err(Failure::new("no store exists yet"));
    }
    let ledger =
        Ledger::open(store, sources::options(home)?).map_err(|error| sources::unopened(store, &error))?;
    let accepted = ledger.accept_changes();
    ledger.close();
    let pages =
        accepted.map_err(|error| Failure::new(format!("cannot accept the pages: {}", error_text(&error))))?;
    if arguments.json {
        output.data(&json_of(&json!({"acceptedPages": pages}))?)?;
    } else {
        output.data(&format!("accepted {pages} pages that were changed\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes the new store where it waits to be put in place.
fn prepare(
    arguments: &Recover,
    from: &Path,
    new: &Path,
    home: &Home,
    is_own: bool,
) -> Result<Salvage, Failure> {
    let done = match make(from, new, home) {
        // What was written before the failure is thrown away: an empty store must not begin with half of another.
        Err(_) if arguments.start_empty => {
            drop(abandon_swap(&store_backups::store(home)));
            let failed = |cause: io::Error| Failure::file("write", new, &cause);
            let new = prepare_swap(&store_backups::store(home)).map_err(failed)?;
            let ledger = Ledger::open(&new, sources::options(home)?)
                .map_err(|error| sources::unopened(&new, &error))?;
            ledger.close();
            Salvage::default()
        }
        made => made?,
    };
    if !is_own {
        let succession = remains(&store_backups::store(home));
        succeed(new, &succession, sources::options(home)?)
            .map_err(|error| store_backups::not_copied(new, &error))?;
    }
    Ok(done)
}

fn is_whole(store: &Path) -> bool {
    let has_its_sums =
        || check_pages(store, || true).is_ok_and(|report| report.damaged.is_empty() && report.changed == 0);
    matches!(check_store(store, || true), Ok(true))
        && has_its_sums()
        && foreign_log(store).is_none()
        && damaged_commits(store).is_ok_and(|commits| commits == 0)
}

fn make(from: &Path, to: &Path, home: &Home) -> Result<Salvage, Failure> {
    let mut display = Display::of_process();
    let made = salvage(from, to, sources::options(home)?, |stage| display.say(stage));
    display.clear();
    made.map_err(|error| {
        let failure = Failure::from_text(&format!("cannot recover `{}`: {}", from.display(), error_text(&error)));
        match error {
            SalvageError::Nothing(_) => {
                let failure = store_backups::hint(&store_backups::store(home)).into_iter().fold(failure, Failure::hint);
                failure.hint(
                    "`agent-tracer recover --start-empty` keeps the files and begins anew; `agent-tracer import` then reads \
                     the agents' own files",
                )
            }
            SalvageError::Exists => failure.hint("name a new file"),
            SalvageError::Read(_) => failure.hint("check the owner and mode of the files, and the disk"),
            SalvageError::Newer { .. } | SalvageError::NotOurs | SalvageError::Open(_) | SalvageError::Write(_) => failure,
        }
    })
}

/// Selects the path of the new store.
enum NewStore {
    /// It was only looked.
    Nowhere,
    Written(PathBuf),
    /// In the place of the damaged one, which is kept there.
    Swapped(PathBuf),
}

fn report(arguments: &Recover, done: &Salvage, place: &NewStore, output: &mut Output) -> Result<(), Failure> {
    let kept = match place {
        NewStore::Swapped(kept) if kept.exists() => {
            kept.file_name().map(|name| name.to_string_lossy().into_owned())
        }
        _ => None,
    };
    if arguments.json {
        return output.data(&json_of(&as_json(arguments, done, kept.as_deref()))?);
    }
    let verb = if matches!(place, NewStore::Nowhere) { "could salvage" } else { "salvaged" };
    output.data(&format!("{verb} {} tasks with {} events\n", done.tasks, done.events))?;
    for line in lines(done).into_iter().skip(1) {
        output.say(&line)?;
    }
    if let NewStore::Written(path) = place {
        output.say(&format!("the new store is `{}`", path.display()))?;
    }
    if let Some(kept) = kept {
        output.say(&format!(
            "the files that were there are kept in `{kept}`: `agent-tracer backup remove {kept}` removes them"
        ))?;
    }
    if matches!(place, NewStore::Swapped(_)) && !done.is_whole() {
        output.say("next: `agent-tracer import` reads the agents' own files again, and `agent-tracer reread` the kept hooks")?;
    }
    Ok(())
}

/// Returns the report of salvaged and lost data; the first line is the sum.
fn lines(done: &Salvage) -> Vec<String> {
    let mut lines = vec![format!("salvaged: {} tasks with {} events", done.tasks, done.events)];
    if done.is_whole() {
        lines.push("nothing that was recorded is missing".to_owned());
    }
    if done.posts > 0 {
        lines.push(format!("{} of the posts were still in the journal", done.posts));
    }
    if done.damaged_pages + done.damaged_rows > 0 {
        lines.push(format!(
            "damaged: {} pages and {} rows, of {}",
            done.damaged_pages,
            done.damaged_rows,
            done.damaged_tables.join(", ")
        ));
    }
    if done.mended_pages > 0 {
        lines.push(format!(
            "repaired: {} pages with one wrong bit, with all of their contents",
            done.mended_pages
        ));
    }
    if done.suspect_pages > 0 {
        let tasks: Vec<&str> =
            done.suspect_tasks.iter().take(NAMED).map(|id| figures::short_id(id)).collect();
        let more = done.suspect_tasks.len().saturating_sub(NAMED);
        lines.push(format!(
            "may be wrong: what was taken from {} pages that are not as they were written, of {}{}{}{}",
            done.suspect_pages,
            if done.suspect_tables.is_empty() {
                "no table".to_owned()
            } else {
                done.suspect_tables.join(", ")
            },
            if tasks.is_empty() { "" } else { "; tasks: " },
            tasks.join(", "),
            if more > 0 { format!(" and {more} more") } else { String::new() }
        ));
    }
    if done.damaged_log_pages > 0 {
        lines.push(format!("damaged: {} pages of the log", done.damaged_log_pages));
    }
    if done.damaged_posts > 0 {
        lines.push(format!("damaged: {} places of the journal of posts", done.damaged_posts));
    }
    if let Some(why) = &done.foreign_log {
        lines.push(format!("left out: {why}"));
    }
    if let Some(entries @ 1..) = done.lost_entries {
        lines.push(format!(
            "gone: {entries} entries, of {} tasks that are otherwise there",
            done.incomplete_tasks.len()
        ));
    }
    if !done.lost_tasks.is_empty() {
        let shown: Vec<&str> = done.lost_tasks.iter().take(NAMED).map(|id| figures::short_id(id)).collect();
        let more = done.lost_tasks.len().saturating_sub(NAMED);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        lines.push(format!("gone: {} tasks: {}{rest}", done.lost_tasks.len(), shown.join(", ")));
    }
    for stretch in done.lost_stretches.iter().take(NAMED) {
        let end = |at: Option<Millis>, unknown: &str| at.map_or(unknown.to_owned(), |at| at.to_string());
        lines.push(format!(
            "something may be missing between {} and {}",
            end(stretch.from, "the beginning"),
            end(stretch.to, "the end")
        ));
    }
    if done.has_lost_deletions() {
        lines.push(
            "the list of purged tasks is damaged: purge again what `import` must not bring back".to_owned(),
        );
    }
    lines
}

fn as_json(arguments: &Recover, done: &Salvage, kept: Option<&str>) -> Value {
    let stretches: Vec<Value> =
        done.lost_stretches.iter().map(|it| json!({"from": it.from, "to": it.to})).collect();
    json!({
        "dryRun": arguments.dry_run,
        "whole": done.is_whole(),
        "tasks": done.tasks,
        "events": done.events,
        "newest": done.newest,
        "rows": done.rows,
        "posts": done.posts,
        "damagedPages": done.damaged_pages,
        "damagedRows": done.damaged_rows,
        "damagedTables": done.damaged_tables,
        "mendedPages": done.mended_pages,
        "suspectPages": done.suspect_pages,
        "suspectTables": done.suspect_tables,
        "suspectTasks": done.suspect_tasks,
        "damagedPosts": done.damaged_posts,
        "logPages": done.log_pages,
        "damagedLogPages": done.damaged_log_pages,
        "foreignLog": done.foreign_log,
        "lostTasks": done.lost_tasks,
        "incompleteTasks": done.incomplete_tasks,
        "lostEntries": done.lost_entries,
        "lostStretches": stretches,
        "kept": kept,
    })
}
