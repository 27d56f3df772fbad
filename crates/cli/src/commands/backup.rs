//! `agent-tracer backup`: copies of what goes into compactions.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::process::ExitCode;

use agent_tracer_compaction::backup;
use serde_json::{Value, json};

use crate::arguments::{Backup, BackupCommand, BackupRestore, Options};
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::files;
use crate::keeping::{self, Wanted};
use crate::output::Output;
use crate::reading::json as json_of;
use crate::table::{Cell, Side, Table};

pub(super) fn run(
    arguments: &Backup,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (home, _) = environment.home(options.home.as_deref())?;
    let folder = keeping::folder(&home);
    let unreadable = |cause: io::Error| Failure::new(format!("cannot read the copies: {}", plain(&cause)));
    let switch = |wanted: Wanted| -> Result<(), Failure> {
        files::make_folder(home.config(), 0o700)?;
        files::write_private(&keeping::path(&home), keeping::write(wanted).as_bytes())
    };
    match &arguments.command {
        BackupCommand::On(wanted) => {
            switch(Wanted { is_on: true, days: wanted.days, megabytes: wanted.megabytes })?;
            output.say("what goes into automatic compactions is copied while a server runs")?;
            output.say("the copies hold the agent's own file as it is, and are readable by you alone")?;
        }
        BackupCommand::Off => {
            switch(Wanted { is_on: false, ..keeping::read(&home).unwrap_or_default() })?;
            output.say(
                "nothing is copied any more\nhint: `agent-tracer backup remove --all` removes what there is",
            )?;
        }
        BackupCommand::List(wanted) => {
            let all = backup::list(&folder).map_err(unreadable)?;
            if wanted.json {
                let told = |it: &backup::Backup| json!({"name": it.name, "taskId": it.task, "at": it.stamp, "bytes": it.bytes});
                let all: Vec<Value> = all.iter().map(told).collect();
                output.data(&json_of(&json!({ "backups": all }))?)?;
            } else if all.is_empty() {
                output.say("there are no copies")?;
            } else {
                let mut table =
                    Table::new(&[("NAME", Side::Left), ("TASK", Side::Left), ("BYTES", Side::Right)]);
                for it in &all {
                    table.row(vec![
                        Cell::new(&it.name),
                        Cell::new(&it.task),
                        Cell::new(it.bytes.to_string()),
                    ]);
                }
                output.data(&table.render(output))?;
            }
        }
        BackupCommand::Restore(wanted) => restore(wanted, &folder, environment)?,
        BackupCommand::Remove(wanted) => {
            let there = backup::list(&folder).map_err(unreadable)?;
            if let Some(name) = wanted.names.iter().find(|name| !there.iter().any(|it| it.name == **name)) {
                return Err(unknown(name));
            }
            let removed = backup::remove(&folder, |it| wanted.all || wanted.names.contains(&it.name));
            let removed =
                removed.map_err(|cause| Failure::new(format!("cannot remove a copy: {}", plain(&cause))))?;
            output.data(&format!("removed {removed}\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn unknown(name: &str) -> Failure {
    Failure::new(format!("there is no copy `{name}`"))
        .hint("`agent-tracer backup list` shows those that are there")
}

fn restore(
    wanted: &BackupRestore,
    folder: &std::path::Path,
    environment: &Environment,
) -> Result<(), Failure> {
    let mut source = backup::restore(folder, &wanted.name).map_err(|cause| match cause.kind() {
        io::ErrorKind::NotFound => unknown(&wanted.name),
        _ => Failure::new(format!("cannot read the copy: {}", plain(&cause))),
    })?;
    let written = match &wanted.to {
        None => io::copy(&mut source, &mut io::stdout().lock()).map_err(|cause| Failure::output(&cause)),
        Some(path) => {
            let path = environment.absolute(path);
            let mut file =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).map_err(|cause| {
                    Failure::file("write", &path, &cause).hint("name a file that is not there yet")
                })?;
            io::copy(&mut source, &mut file).map_err(|cause| Failure::file("write", &path, &cause))
        }
    };
    written.map(drop)
}
