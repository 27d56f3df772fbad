//! `agent-tracer backup`: backups of the store, and copies of what goes into compactions.

mod restore;

use std::io;
use std::process::ExitCode;

use agent_tracer_jobs::compaction::backup;
use agent_tracer_ledger::Pace;
use agent_tracer_spool::Home;
use serde_json::{Value, json};

use crate::arguments::{Backup, BackupCommand, BackupCreate, BackupList, BackupRemove, Options};
use crate::backup_job::{self, BackupSettings};
use crate::commands::import::progress::Display;
use crate::config::{self, Edit};
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::instance::Instance;
use crate::output::Output;
use crate::reading::json as json_of;
use crate::store_backups::{self, size, span};
use crate::table::{Cell, Side, Table};

pub(super) fn run(
    arguments: &Backup,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (home, _) = environment.home(options.home.as_deref())?;
    match &arguments.command {
        BackupCommand::Create(wanted) => create(wanted, &home, environment, output)?,
        BackupCommand::On(wanted) => {
            let edits = [
                set(&["compactions", "enabled"], "true")?,
                set(&["compactions", "days"], &wanted.days.to_string())?,
                set(&["compactions", "megabytes"], &wanted.megabytes.to_string())?,
            ];
            change(&home, &edits, output)?;
            output.say("backup is on: a running server copies the input of automatic compactions")?;
            output.say("the copies hold the agent's own file unchanged, and are readable by you alone")?;
        }
        BackupCommand::Off => {
            change(&home, &[set(&["compactions", "enabled"], "false")?], output)?;
            output
                .say("backup is off\nhint: `agent-tracer backup remove --all` removes the existing copies")?;
        }
        BackupCommand::List(wanted) => list(&home, wanted, output)?,
        BackupCommand::Restore(wanted) => restore::run(wanted, &home, environment, output)?,
        BackupCommand::Remove(wanted) => remove(wanted, &home, output)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn set(key: &[&str], value: &str) -> Result<Edit, Failure> {
    config::set(&config::key_of::<BackupSettings>(key), value)
}

fn change(home: &Home, edits: &[Edit], output: &mut Output) -> Result<(), Failure> {
    let applied = config::switch::<BackupSettings>(home, edits)?;
    applied.notes().iter().try_for_each(|note| output.say(note))
}

fn unreadable(cause: &io::Error) -> Failure {
    Failure::new(format!("cannot read the copies: {}", plain(cause)))
}

fn unknown(name: &str) -> Failure {
    Failure::new(format!("no copy is named `{name}`")).hint("run `agent-tracer backup list` to see the names")
}

fn create(
    wanted: &BackupCreate,
    home: &Home,
    environment: &Environment,
    output: &mut Output,
) -> Result<(), Failure> {
    if let Some(every) = wanted.every {
        let edits = match every.0 {
            Some(minutes) => [
                set(&["store", "every_minutes"], &minutes.to_string())?,
                set(&["store", "keep"], &wanted.keep.to_string())?,
            ],
            None => ["every_minutes", "keep"]
                .map(|name| Edit::Unset(config::key_of::<BackupSettings>(&["store", name]))),
        };
        // A schedule is no reason to write settings anew that are not understood.
        backup_job::read(home)?;
        change(home, &edits, output)?;
        match every.0 {
            Some(minutes) => output.say(&format!(
                "the server backs up the store every {} from now on and keeps {}",
                span(minutes),
                wanted.keep
            ))?,
            None => {
                return output.say("scheduled backups are off; existing backups stay");
            }
        }
    }
    if matches!(store_backups::store(home).try_exists(), Ok(false)) {
        return output.say(&format!("nothing is recorded in `{}` yet", home.data().display()));
    }
    let is_held = Instance::is_held(home);
    // A server knows whether its store is intact. Without one the sums say it, because a damaged copy would
    // count as the newest and push out a good one.
    if !is_held {
        store_backups::check_sums(home)?;
    }
    let mut display = Display::of_process();
    let made = store_backups::make(home, environment.now(), |done, total| {
        display.say(&format!("{} of {}", size(done), size(total)));
        Pace::GoOn
    });
    display.clear();
    let (backup, contents) = made?;
    // A server knows whether the store is intact, and removes the oldest when it makes the next.
    if wanted.every.is_some() && !is_held {
        store_backups::retain(home, wanted.keep, environment.now())?;
    }
    if wanted.json {
        return output.data(&json_of(&json!({
            "name": backup.name,
            "path": backup.path.to_string_lossy(),
            "bytes": contents.bytes,
            "tasks": contents.tasks,
            "events": contents.events,
            "newest": contents.newest,
        }))?);
    }
    output.data(&format!(
        "backed up {} tasks with {} events, {}: {}\n",
        contents.tasks,
        contents.events,
        size(contents.bytes),
        backup.name
    ))
}

/// One line of the list.
struct Line {
    name: String,
    kind: &'static str,
    stamp: String,
    time: String,
    bytes: u64,
    task: Option<String>,
    /// Damage, if a check was requested and found some.
    damage: Option<String>,
}

fn lines(home: &Home, is_verified: bool) -> Result<Vec<Line>, Failure> {
    let copies = backup::list(&backup_job::folder(home)).map_err(|cause| unreadable(&cause))?;
    let mut lines: Vec<Line> = copies
        .into_iter()
        .map(|it| Line {
            name: it.name,
            kind: "compaction",
            time: store_backups::moment(&it.stamp).map_or_else(|| it.stamp.clone(), |at| at.to_string()),
            stamp: it.stamp,
            bytes: it.bytes,
            task: Some(it.task),
            damage: None,
        })
        .collect();
    lines.extend(store_backups::list(home)?.into_iter().map(|it| Line {
        damage: if is_verified { it.damage() } else { None },
        kind: it.kind.as_str(),
        stamp: store_backups::stamp(it.at),
        time: it.at.to_string(),
        bytes: it.bytes,
        task: None,
        name: it.name,
    }));
    lines.sort_by(|one, two| (&one.time, &one.name).cmp(&(&two.time, &two.name)));
    Ok(lines)
}

fn list(home: &Home, wanted: &BackupList, output: &mut Output) -> Result<(), Failure> {
    let lines = lines(home, wanted.verify)?;
    // Shown in any case; that one is damaged is in the exit code.
    show(&lines, wanted, output)?;
    let damaged: Vec<&str> =
        lines.iter().filter(|it| it.damage.is_some()).map(|it| it.name.as_str()).collect();
    if damaged.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("damaged: {}", damaged.join(", "))).hint(
        "`agent-tracer backup create` makes another; `agent-tracer recover --from FILE` salvages what can be read of one",
    ))
}

fn show(lines: &[Line], wanted: &BackupList, output: &mut Output) -> Result<(), Failure> {
    if wanted.json {
        let line = |it: &Line| {
            let mut line =
                json!({"name": it.name, "kind": it.kind, "at": it.stamp, "time": it.time, "bytes": it.bytes});
            if let Some(line) = line.as_object_mut() {
                line.extend(it.task.as_ref().map(|task| ("taskId".to_owned(), json!(task))));
                line.extend(it.damage.as_ref().map(|damage| ("damage".to_owned(), json!(damage))));
            }
            line
        };
        let all: Vec<Value> = lines.iter().map(line).collect();
        return output.data(&json_of(&json!({ "backups": all }))?);
    }
    if lines.is_empty() {
        return output.say("no copies\nhint: run `agent-tracer backup create` to back up the store");
    }
    let heads = [("KIND", Side::Left), ("TIME", Side::Left), ("SIZE", Side::Right), ("NAME", Side::Left)];
    let mut table = Table::new(&heads);
    for it in lines {
        let cells = [it.kind, it.time.as_str(), &size(it.bytes), it.name.as_str()];
        table.row(cells.iter().map(Cell::new).collect());
    }
    output.data(&table.render(output))
}

fn remove(wanted: &BackupRemove, home: &Home, output: &mut Output) -> Result<(), Failure> {
    let folder = backup_job::folder(home);
    let copies = backup::list(&folder).map_err(|cause| unreadable(&cause))?;
    let stores = store_backups::list(home)?;
    let is_there =
        |name: &String| copies.iter().any(|it| it.name == *name) || stores.iter().any(|it| it.name == *name);
    // All names first: a misspelt one must not leave the others removed.
    if let Some(name) = wanted.names.iter().find(|name| !is_there(name)) {
        return Err(unknown(name));
    }
    // A backup of the store has to be named; `--all` means copies of compactions.
    let mut removed = backup::remove(&folder, |it| wanted.all || wanted.names.contains(&it.name))
        .map_err(|cause| Failure::new(format!("cannot remove a copy: {}", plain(&cause))))?;
    for backup in stores.iter().filter(|it| wanted.names.contains(&it.name)) {
        backup.remove()?;
        removed += 1;
    }
    output.data(&format!("removed {removed}\n"))
}
