//! `agent-tracer run`: starts an agent so that this one session is recorded, and writes what it did.
//!
//! Law: no settings file is changed. The agent's door says how it is started ([`Setup::session`]); what it needs beside that
//! is in a private folder, which ends with the run. The agent's end is ours, whatever becomes of the receipt.
//!
//! [`Setup::session`]: agent_tracer_agents::setup::Setup::session

mod receipt;
mod receipt_file;
mod run_records;

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use agent_tracer_agents::setup::{Places, Request, SessionRequest, StatusLine};
use agent_tracer_event::{Agent, Millis};
use agent_tracer_spool::{Home, run};

use crate::agent_process::{self, ProcessEnd};
use crate::arguments::{Options, Run, RunAgent};
use crate::clients::{self, InstalledClient};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::{files, home, target};
use receipt_file::ReceiptFile;

/// The age from which on the folder of a run that was killed is removed.
const ABANDONED_MS: i64 = 30 * 24 * 3_600_000;

/// Holds what is known of a run without any recording.
struct RunFacts {
    agent: Agent,
    client: InstalledClient,
    /// The id of the run.
    id: String,
    started: Millis,
    ended: Millis,
    end: ProcessEnd,
}

pub(super) fn run(
    arguments: &Run,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let RunAgent::Words(words) = &arguments.agent;
    let (agent, words) = agent_and_arguments(words)?;
    let setup = target::setup_of(agent)?;
    // Opened before the agent starts: a path that cannot be written must not cost a finished session its receipt.
    let receipt = arguments.receipt.as_deref().map(|path| ReceiptFile::at(path, environment)).transpose()?;
    let mut client = program_of(agent, environment)?;
    let hook = target::hook(environment)?;
    let (tracer, named) = environment.home(options.home.as_deref())?;
    if let Some(mended) = home::prepare(&tracer, named.is_none())? {
        output.say(&format!("warning: {mended}"))?;
    }
    client.ask(environment);
    let folder = RunFolder::make(&tracer, environment.now())?;
    let request = Request {
        hook: target::as_text("the path of the hook binary", &hook)?.to_owned(),
        home: named.as_deref().map(|home| target::as_text("the home", home)).transpose()?.map(str::to_owned),
        client: client.version,
        events: None,
        tools: None,
        status_line: StatusLine::Leave,
    };
    // Agents know their files by the real path of the folder.
    let real = |folder: PathBuf| folder.canonicalize().unwrap_or(folder);
    let agent_home = real(target::home_of(agent, environment)?);
    let repository = real(target::repository(&environment.directory));
    let places = Places { home: &agent_home, directory: &environment.directory, repository: &repository };
    let read =
        |path: &std::path::Path| files::find(path).and_then(|found| found.text().map(str::to_owned)).ok();
    let session = SessionRequest {
        request: &request,
        places: &places,
        folder: &folder.path,
        arguments: words,
        read: &read,
    };
    let start = setup.session(&session).ok_or_else(|| {
        Failure::usage(format!("{} takes hooks from its settings files alone", agent.name()))
            .hint(format!("run `agent-tracer install {}`, which connects it", agent.spec().word))
    })?;
    for (name, text) in &start.files {
        files::write_private(&folder.path.join(name), text.as_bytes())?;
    }
    let mut command = Command::new(&client.program);
    command.args(&start.arguments).envs(start.variables).env(run::VARIABLE, &folder.id);
    if let Some(named) = &named {
        command.env("AGENT_TRACER_HOME", named);
    }
    let started = environment.now();
    let end = agent_process::run(&mut command)?;
    let ended = environment.now();
    if let Some(file) = receipt {
        let facts = RunFacts { agent, client, id: folder.id.clone(), started, ended, end };
        let receipt = receipt::of(&facts, &tracer, options, environment);
        // The agent has done its work, so its code counts and not the fate of a file.
        if let Err(failure) = file.write(&receipt, output) {
            output.failure(&failure);
        }
    }
    Ok(ExitCode::from(end.code()))
}

/// Returns the agent and its arguments, without one `--` at their beginning.
fn agent_and_arguments(words: &[OsString]) -> Result<(Agent, &[OsString]), Failure> {
    let (word, rest) = words.split_first().map_or((None, words), |(word, rest)| (Some(word), rest));
    let text = word.map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let agent =
        Agent::from_any_spelling(&text).filter(|agent| Agent::ALL.contains(agent)).ok_or_else(|| {
            let known: Vec<String> =
                Agent::ALL.iter().map(|agent| format!("`{}`", agent.spec().word)).collect();
            Failure::usage(format!("unknown agent `{text}`"))
                .hint(format!("name one of {}", known.join(", ")))
        })?;
    // One `--` is ours; a second one belongs to the agent.
    Ok((agent, rest.strip_prefix(&[OsString::from("--")]).unwrap_or(rest)))
}

/// Returns the program that a shell would start, or the one that the agent's installer put beside the path.
fn program_of(agent: Agent, environment: &Environment) -> Result<InstalledClient, Failure> {
    clients::find(agent, environment).into_iter().next().ok_or_else(|| {
        let (name, word) = (agent.name(), agent.spec().word);
        Failure::new(format!("cannot find {name}: no program `{word}` on the `PATH`"))
            .hint(format!("install {name}, or add the folder of `{word}` to the `PATH`"))
    })
}

/// The private folder of a run, which ends with it.
struct RunFolder {
    id: String,
    path: PathBuf,
}

impl RunFolder {
    fn make(home: &Home, now: Millis) -> Result<RunFolder, Failure> {
        // The time first, so that an abandoned folder tells its age by its name.
        let id = format!("{:016x}{:08x}", now.0, std::process::id());
        // Of hexadecimal digits, so it is an id.
        let path = run::folder(home, id.as_bytes()).unwrap_or_else(|| home.runs().join(&id));
        remove_abandoned(home, now);
        files::make_folder(&path, 0o700)?;
        Ok(RunFolder { id, path })
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // What is left is removed by a later run.
        drop(fs::remove_dir_all(&self.path));
    }
}

/// Removes the folders of runs that were killed long ago.
fn remove_abandoned(home: &Home, now: Millis) {
    for entry in fs::read_dir(home.runs()).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let began = name.get(..16).and_then(|digits| i64::from_str_radix(digits, 16).ok());
        if run::folder(home, name.as_bytes()).is_some()
            && began.is_some_and(|began| now.0.saturating_sub(began) > ABANDONED_MS)
        {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn the_arguments_are_the_agents_but_for_one_leading_separator() {
        let agent = Agent::CODEX.spec().word;
        for (given, passed) in [
            (&[agent][..], &[][..]),
            (&[agent, "exec", "--help", "--", "x"], &["exec", "--help", "--", "x"]),
            (&[agent, "--", "--home", "x"], &["--home", "x"]),
            (&[agent, "--", "--", "x"], &["--", "x"]),
        ] {
            let given = words(given);
            let (found, rest) = agent_and_arguments(&given).expect("an agent");
            assert_eq!((found, rest), (Agent::CODEX, words(passed).as_slice()));
        }
        for given in [&[][..], &["bash"], &["example"], &["--"]] {
            assert!(agent_and_arguments(&words(given)).is_err(), "{given:?}");
        }
    }

    #[test]
    fn folders_of_runs_that_were_killed_long_ago_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        let now = Millis(1_795_000_000_000);
        let old = RunFolder::make(&home, Millis(now.0 - ABANDONED_MS - 1)).expect("made");
        let young = RunFolder::make(&home, Millis(now.0 - 1)).expect("made");
        let foreign = home.runs().join("notes-of-the-user-in-here");
        fs::create_dir(&foreign).expect("made");
        let own = RunFolder::make(&home, now).expect("made");
        assert!(!old.path.exists() && young.path.exists() && foreign.exists());
        let path = own.path.clone();
        drop(own);
        assert!(!path.exists());
    }
}
