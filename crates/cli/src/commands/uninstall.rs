//! `agent-tracer uninstall`: undoes `install`.
//!
//! Law: if the file is still what `install` wrote, what was there before comes back byte for byte. Otherwise only our
//! entries go, and everything that was changed since stays.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agent_tracer_agents::command_line::Invocation;
use agent_tracer_agents::hooks::Undo;
use agent_tracer_agents::setup::{Plan, StatusLineChange, own_entries};
use agent_tracer_spool::Home;

use super::install::report;
use crate::arguments::{Options, Uninstall};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::files::{self, SettingsFile};
use crate::home;
use crate::output::Output;
use crate::record::{Installation, Record};
use crate::statusline_conf;
use crate::target::Target;

/// Lists the results for the settings file.
#[derive(Debug, PartialEq, Eq)]
enum UninstallResult {
    /// There is nothing of ours in it.
    Nothing,
    /// It gets this text.
    Text(String),
    /// It goes: it was made by `install`, and nothing else is in it.
    Gone,
}

pub(super) fn run(
    arguments: &Uninstall,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let target = Target::of(arguments.agent, arguments.scope, environment)?;
    let found = files::find(&target.path)?;
    let (home, named) = environment.home(options.home.as_deref())?;
    // The notes and the chain are in the home that the entries name, also if the user does not name it again.
    let home = match own_entries(target.setup, found.text()?).iter().find_map(Invocation::home) {
        Some(registered) if named.is_none() => {
            Home::in_folder(registered).with_user(nix::unistd::geteuid().as_raw())
        }
        _ => home,
    };
    let (mut record, lost_record) = Record::load(&home);
    if let Some(lost) = lost_record {
        output.say(&format!("warning: {lost}"))?;
        output.say("hint: our entries are removed all the same; white space may differ from the original")?;
    }
    let known = record.of(&found.target).cloned();
    let conf = files::find(&home.statusline_conf())?;
    let chained = match &known {
        Some(known) => known.chained.clone(),
        None => statusline_conf::chain(conf.text()?),
    };
    let text = found.text()?;
    let change = withdraw(&target, text, known.as_ref(), chained.as_deref())?;
    let outcome = outcome(&found, text, known.as_ref(), &change);

    let after = match &outcome {
        UninstallResult::Nothing => text,
        UninstallResult::Text(text) => text,
        UninstallResult::Gone => "",
    };
    if arguments.dry_run {
        report::difference(&target.path, text, after, output)?;
        let words = match outcome {
            UninstallResult::Nothing => "nothing of ours is in",
            UninstallResult::Text(_) => "nothing was written; our entries would be removed from",
            UninstallResult::Gone => "nothing was written; what `install` made would be removed:",
        };
        output.say(&format!("{words} `{}`", target.path.display()))?;
        return Ok(ExitCode::SUCCESS);
    }

    // A copy of what is removed too: entries of the user's own may stand among ours.
    if outcome != UninstallResult::Nothing {
        home::back_up(&home, environment.now(), &format!("{}-found", target.label()), text.as_bytes())?;
    }
    match &outcome {
        UninstallResult::Nothing => {}
        UninstallResult::Text(text) => {
            files::replace(&found, text.as_bytes())?;
        }
        UninstallResult::Gone => {
            files::remove(&found)?;
            remove_made_folder(&found.target, known.as_ref().and_then(|known| known.made_folder.as_deref()));
        }
    }
    unchain(&conf, known.as_ref(), &change)?;
    if known.is_some() {
        record.forget(&found.target);
        record.save(&home)?;
    }
    if outcome == UninstallResult::Nothing {
        output.say(&format!("not installed in `{}`", target.path.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    output.say(&format!("{} is disconnected: `{}`", target.agent.name(), target.path.display()))?;
    if change.status_line == StatusLineChange::Restored && chained.is_some() {
        output.say("your own status line is restored")?;
    }
    report::shifted(&target, &change, output)?;
    output.say(&format!("recorded data stays in `{}`", home.data().display()))?;
    output.say(&format!(
        "so do copies of your settings, in `{}`: remove them when all is well",
        home.backups().display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn withdraw(
    target: &Target,
    text: &str,
    known: Option<&Installation>,
    chained: Option<&str>,
) -> Result<Plan, Failure> {
    let nothing_known = Undo::default();
    let undo = known.map_or(&nothing_known, |known| &known.undo);
    target.withdraw(text, undo, chained)
}

fn outcome(found: &SettingsFile, text: &str, known: Option<&Installation>, change: &Plan) -> UninstallResult {
    if !found.exists() {
        return UninstallResult::Nothing;
    }
    if let Some(known) = known.filter(|known| known.wrote(text.as_bytes())) {
        // The file is what `install` wrote, byte for byte, so what was there before comes back byte for byte.
        match &known.base {
            None => return UninstallResult::Gone,
            Some(base) => {
                if let Ok(base) = files::find(base).and_then(|base| base.text().map(str::to_owned)) {
                    return UninstallResult::Text(base);
                }
            }
        }
    }
    // Changed since by the user: only our entries go, and the file goes with them only if nothing is left.
    let made_by_us = known.is_some_and(|known| known.base.is_none());
    if made_by_us && change.text.trim().is_empty() {
        return UninstallResult::Gone;
    }
    if change.text == text { UninstallResult::Nothing } else { UninstallResult::Text(change.text.clone()) }
}

/// Takes the user's command out of our chain, once their own status line is back.
fn unchain(conf: &SettingsFile, known: Option<&Installation>, change: &Plan) -> Result<(), Failure> {
    let was_chained = known.is_some_and(|known| known.chained.is_some())
        || (known.is_none() && change.status_line == StatusLineChange::Restored);
    if !was_chained || !conf.exists() {
        return Ok(());
    }
    let text = statusline_conf::with_chain(conf.text()?, None);
    if text.is_empty() { files::remove(conf) } else { files::write_private(&conf.target, text.as_bytes()) }
}

/// Removes the folders that `install` made for the file, as far as they are empty again.
pub(super) fn remove_made_folder(file: &Path, topmost: Option<&Path>) {
    let Some(topmost) = topmost else { return };
    let folders: Vec<PathBuf> = file
        .ancestors()
        .skip(1)
        .take_while(|folder| folder.starts_with(topmost))
        .map(Path::to_owned)
        .collect();
    for folder in folders {
        // A folder with foreign files is not empty, and stays.
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
}
