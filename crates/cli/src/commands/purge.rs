//! `agent-tracer purge`: deletes tasks on purpose.
//!
//! Law: nothing goes before it was shown and the user agreed; then it goes everywhere, or the command says what stays. The
//! agents' own files are never touched.

mod leftovers;

use std::collections::BTreeSet;
use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use agent_tracer_event::{Agent, Millis, TaskId};
use agent_tracer_ledger::view::{Page, Task, TreeNode};
use agent_tracer_ledger::{AppendError, TaskFilter, Upkeep, remove_copy};
use agent_tracer_spool::Home;
use serde_json::json;

use crate::arguments::{FormatName, Options, Purge};
use crate::commands::{export, maintenance, tasks};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::instance::Instance;
use crate::local_time::LocalTime;
use crate::output::Output;
use crate::reading::{Reading, json as json_of, refused};
use crate::sources;
use crate::store_backups::{self, StoreBackup};
use leftovers::Leftovers;

/// Tasks that are shown before they go.
const SHOWN: usize = 10;

pub(super) fn run(
    arguments: &Purge,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let Some(open) = maintenance::open(options, environment, output)? else {
        return purge_without_store(arguments, options, environment, output);
    };
    // Posts in the journal become rows first: what is not in the tables yet could not be found and would come back.
    open.ledger.finish_posts().map_err(|error| maintenance::refused(&error))?;
    let now = environment.now();
    if !arguments.dry_run && open.ledger.is_purge_pending().map_err(|error| maintenance::refused(&error))? {
        open.ledger.purge(Vec::new(), now).map_err(|error| maintenance::refused(&error))?;
        output.say("finished an interrupted purge")?;
        // It ended before the backups, and its choice for them is not recorded.
        let deleted = open.ledger.deleted_tasks().map_err(|error| maintenance::refused(&error))?;
        store_backups::forget(&open.home, |backup| backup.may_hold(&deleted), true, output)?;
    }
    let reading = Reading::over(open.ledger.store(), open.home.clone(), now);
    let mut chosen = choose(arguments, &reading, environment, now)?;
    if arguments.all {
        let known: BTreeSet<&str> = chosen.nodes.iter().map(|node| node.task.id.as_str()).collect();
        let mut every = open.ledger.every_task().map_err(|error| maintenance::refused(&error))?;
        // Tasks without an event are in no list, but `--all` means them too.
        every.retain(|task| !known.contains(task.as_str()));
        chosen.bare = every;
    }
    if chosen.nodes.is_empty() && chosen.bare.is_empty() && !arguments.all {
        output.say("nothing to delete: no task matches")?;
        return report(arguments, &chosen, 0, &Leftovers::default(), output);
    }
    if arguments.dry_run {
        if arguments.json {
            return report(arguments, &chosen, 0, &Leftovers::default(), output);
        }
        let text = preview(&chosen, now, output);
        output.data(&format!("{text}would delete {}\n", chosen.words()))?;
        let mut ids: Vec<TaskId> =
            chosen.nodes.iter().filter_map(|node| TaskId::parse(&node.task.id)).collect();
        ids.extend(chosen.bare.iter().cloned());
        let is_meant =
            |backup: &StoreBackup| !arguments.keep_backups && (arguments.all || backup.may_hold(&ids));
        preview_copies(&open.home, is_meant, output)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !arguments.yes {
        output.say(preview(&chosen, now, &Output::plain()).trim_end())?;
        ask(&chosen)?;
    }
    let mut ids: Vec<TaskId> = chosen.nodes.iter().filter_map(|node| TaskId::parse(&node.task.id)).collect();
    if let Some(path) = &arguments.export {
        let path = environment.absolute(path);
        let form = export::Form { format: FormatName::Jsonl, tasks_only: false };
        // Before the deletion, and its failure ends the command: the export may be the last copy.
        let written = export::to_file(&reading, &ids, form, &path)?;
        output.say(&format!(
            "wrote {} tasks with {} events to `{}`",
            written.tasks,
            written.events,
            path.display()
        ))?;
    }
    ids.extend(chosen.bare.iter().cloned());
    // Backups are asked for these tasks after the deletion, when the store no longer knows them.
    let forgotten = ids.clone();
    let is_meant = |backup: &StoreBackup| arguments.all || backup.may_hold(&forgotten);
    let (done, leftovers) = delete(arguments.all, ids, &open, now, output)?;
    open.ledger.close();
    store_backups::forget(&open.home, is_meant, arguments.keep_backups, output)?;
    leftovers.say(&open.home, output)?;
    say_what_stays(&open.home, environment, output)?;
    report(arguments, &chosen, done.tasks, &leftovers, output)
}

/// Deletes what is left where the store itself is gone: with `--all` every copy of it, and what waits to come into one.
fn purge_without_store(
    arguments: &Purge,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (home, _) = environment.home(options.home.as_deref())?;
    let (chosen, mut leftovers) = (Selection::default(), Leftovers::default());
    if arguments.all && home.data().is_dir() {
        if arguments.dry_run {
            preview_copies(&home, |_| true, output)?;
        } else {
            let (_instance, store) = (Instance::take(&home)?, store_backups::store(&home));
            if !arguments.yes {
                preview_copies(&home, |_| true, output)?;
                ask(&chosen)?;
            }
            leftovers = leftovers::remove_files(&home, None, environment.now())?;
            // Its log and its journal hold what it does not.
            remove_copy(&store).map_err(|cause| Failure::file("remove", &store, &cause))?;
            store_backups::forget(&home, |_| true, arguments.keep_backups, output)?;
            leftovers.say(&home, output)?;
        }
    }
    report(arguments, &chosen, 0, &leftovers, output)
}

/// Names the copies of the store that would go.
fn preview_copies(
    home: &Home,
    is_meant: impl Fn(&StoreBackup) -> bool,
    output: &mut Output,
) -> Result<(), Failure> {
    // A copy that an upgrade kept goes whatever it holds.
    let is_gone = |backup: &&StoreBackup| backup.kind == store_backups::Kind::Upgrade || is_meant(backup);
    for backup in store_backups::list(home)?.iter().filter(is_gone) {
        let path = backup.path.display();
        output.say(&format!("would remove `{path}`, a copy of the whole store"))?;
    }
    Ok(())
}

/// Deletes what was chosen, in the ledger and elsewhere.
fn delete(
    is_all: bool,
    ids: Vec<TaskId>,
    open: &maintenance::OpenLedger,
    now: Millis,
    output: &mut Output,
) -> Result<(Upkeep, Leftovers), Failure> {
    let failed = |error: AppendError| maintenance::refused(&error);
    let ledger = &open.ledger;
    let names = if is_all { None } else { Some(ledger.names_of(ids.clone()).map_err(failed)?) };
    // Files first: a purge that is interrupted in the store is finished later, while a forgotten file would stay.
    let mut leftovers = leftovers::remove(&open.home, ledger, names.as_ref(), now)?;
    let mut pace = maintenance::Pace::default();
    let mut tell = |done: &Upkeep| pace.tell("deleted", done, output);
    let done = if is_all {
        ledger.purge_all_with(now, &mut tell)
    } else {
        leftovers.note_inseparable(ledger.inseparable(ids.clone()).map_err(failed)?);
        ledger.purge_with(ids, now, &mut tell)
    };
    Ok((done.map_err(failed)?, leftovers))
}

/// Holds the selection to delete.
#[derive(Debug, Default)]
struct Selection {
    nodes: Vec<TreeNode>,
    events: u64,
    /// Tasks without a known event: invisible, but still data.
    bare: Vec<TaskId>,
}

impl Selection {
    fn words(&self) -> String {
        let plural = |count: usize, thing: &str| {
            if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
        };
        let events = usize::try_from(self.events).unwrap_or(usize::MAX);
        let shown = format!("{} with {}", plural(self.nodes.len(), "task"), plural(events, "event"));
        match self.bare.len() {
            0 => shown,
            bare => format!("{shown}, and {} without any", plural(bare, "task")),
        }
    }
}

fn choose(
    arguments: &Purge,
    reading: &Reading,
    environment: &Environment,
    now: Millis,
) -> Result<Selection, Failure> {
    let mut roots: Vec<Task> = Vec::new();
    for text in &arguments.ids {
        roots.push(reading.task(text)?);
    }
    if arguments.ids.is_empty() {
        let zone = LocalTime::of(environment);
        let before = arguments.before.as_deref().map(|text| zone.parse(text, now)).transpose()?;
        let project = reading.project(arguments.project.as_deref(), environment)?;
        let filter = TaskFilter { project, until: before, ..TaskFilter::default() };
        let all: Page<Task> = reading
            .list(None, None, |store, paging| store.tasks(now, &TaskFilter { paging, ..filter.clone() }))?;
        // Judged by the last event: a task that began before the date may still run.
        let is_meant = |task: &Task| before.is_none_or(|before| task.last_event_at < before);
        roots.extend(all.items.into_iter().filter(is_meant));
    }
    // What a task started goes with it, whether or not it was named.
    let mut known = BTreeSet::new();
    let mut chosen = Selection::default();
    for task in roots {
        let nodes = match (reading.store(), TaskId::parse(&task.id)) {
            (Some(store), Some(id)) if task.child_count > 0 => store.tree(now, &id).map_err(refused)?.items,
            _ => vec![TreeNode { depth: 0, task }],
        };
        for node in nodes {
            if known.insert(node.task.id.clone()) {
                chosen.events += node.task.event_count;
                chosen.nodes.push(node);
            }
        }
    }
    Ok(chosen)
}

fn preview(chosen: &Selection, now: Millis, output: &Output) -> String {
    let shown = chosen.nodes.get(..SHOWN).unwrap_or(&chosen.nodes);
    let mut text = tasks::table(shown, now, tasks::Scope::Own).render(output);
    let rest = chosen.nodes.len() - shown.len();
    if rest > 0 {
        text.push_str(&format!("… and {rest} more\n"));
    }
    text
}

fn ask(chosen: &Selection) -> Result<(), Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::usage(format!(
            "refusing to delete {} without confirmation: not a terminal",
            chosen.words()
        ))
        .hint("add `--yes` to skip the confirmation, or `--dry-run` to preview"));
    }
    let fail = |cause: io::Error| Failure::output(&cause);
    let mut talk = io::stderr().lock();
    write!(talk, "delete {} for good? [y/N] ", chosen.words()).and_then(|()| talk.flush()).map_err(fail)?;
    drop(talk);
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(fail)?;
    if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(Failure::new("not confirmed: nothing was deleted"))
}

/// Prints that the agents' own files stay: the user may look for them.
fn say_what_stays(home: &Home, environment: &Environment, output: &mut Output) -> Result<(), Failure> {
    let mut folders = Vec::new();
    for agent in Agent::ALL {
        folders.extend(sources::roots(*agent, home, environment)?.into_iter().map(|root| root.folder));
    }
    let there: Vec<String> = folders
        .iter()
        .filter(|folder| folder.is_dir())
        .map(|folder| format!("`{}`", folder.display()))
        .collect();
    if there.is_empty() {
        return Ok(());
    }
    output.say(&format!(
        "the agents' own transcripts stay where they are: {}; what was deleted is not read from them again",
        there.join(", ")
    ))
}

fn report(
    arguments: &Purge,
    chosen: &Selection,
    deleted: u64,
    leftovers: &Leftovers,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let text = if arguments.json {
        let bare = chosen.bare.iter().map(TaskId::as_str);
        let ids: Vec<&str> = chosen.nodes.iter().map(|node| node.task.id.as_str()).chain(bare).collect();
        json_of(&json!({
            "dryRun": arguments.dry_run,
            "tasks": ids,
            "events": chosen.events,
            "deleted": deleted,
            "leftovers": leftovers.json(),
        }))?
    } else if deleted > 0 {
        format!("deleted {}\n", chosen.words())
    } else {
        String::new()
    };
    output.data(&text)?;
    Ok(ExitCode::SUCCESS)
}
