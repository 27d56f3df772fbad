//! `agent-tracer upgrade`: the way to a newer version, and that way gone where the programs are the user's own.
//!
//! Law: what a package manager owns is left to it. Everything else is done by `install.sh`, which is part of this program, so
//! that there is one order of steps: the sum, a trial of the new programs, both replaced or neither. Nothing is fetched from
//! an address that the user did not give.

mod release;

use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use agent_tracer_event::Agent;

use crate::arguments::{Options, Upgrade};
use crate::connection::Connection;
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::instance::Instance;
use crate::origin::Origin;
use crate::output::Output;
use release::{Source, Version};

/// The script that installs a release.
const SCRIPT: &str = include_str!("../../../../install.sh");

pub(super) fn run(
    arguments: &Upgrade,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let program = environment.main_program();
    let folder = program.parent().unwrap_or(Path::new("/"));
    let origin = Origin::of(&program, Path::new("/"));
    let ours = Version::own();
    let source = Source::of(arguments, environment)?;
    let Some(source) = source else {
        let from = format!("agent-tracer {}, by {}, in {}", ours.text(), origin.name(), folder.display());
        output.data(&format!("{from}\n{}", way(&origin)))?;
        return Ok(ExitCode::SUCCESS);
    };
    let theirs = Version::of_archive(&script(&source, folder, &["--check"])?)?;
    let compared = theirs.cmp(&ours);
    if arguments.check || compared.is_eq() {
        let text = match compared {
            std::cmp::Ordering::Greater => format!("{} is newer than this {}", theirs.text(), ours.text()),
            std::cmp::Ordering::Equal => format!("{} is the version of both", ours.text()),
            std::cmp::Ordering::Less => format!("{} is older than this {}", theirs.text(), ours.text()),
        };
        output.data(&format!("{text}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(command) = origin.command() {
        let text =
            format!("`{}` belongs to {}, which replaces it by itself", program.display(), origin.name());
        return Err(Failure::new(text).hint(format!("run `{command}`")));
    }
    // An older program may not open the store that this one has brought up to date.
    if compared.is_lt() {
        let text = format!("{} is older than this {}: nothing was changed", theirs.text(), ours.text());
        return Err(Failure::new(text)
            .hint("an older version may not open a store that this one has written")
            .hint("to go back all the same, run `install.sh` of that release"));
    }
    let said = script(&source, folder, &[])?;
    output.data(&said)?;
    for line in next_steps(&origin, options, environment)? {
        output.say(&line)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the way to a newer version, as lines.
fn way(origin: &Origin) -> String {
    if let Some(command) = origin.command() {
        return format!("upgrade: {command}\n");
    }
    "upgrade: put the tarball for this system and SHA256SUMS of a newer release into a folder, then run\n  \
     agent-tracer upgrade --from FOLDER\n\
     or name the address of the releases\n  \
     agent-tracer upgrade --url ADDRESS\n\
     No address is built in, and nothing was asked.\n"
        .to_owned()
}

/// Runs `install.sh` for a folder of programs; returns what it printed.
fn script(source: &Source, folder: &Path, words: &[&str]) -> Result<String, Failure> {
    // By the installer itself, which is part of this program: one order of steps, tested once.
    let mut command = Command::new("sh");
    command.args(["-s", "--", "--bin"]).arg(folder).args(words).args(source.words());
    match source.address() {
        Some(address) => command.env("AGENT_TRACER_RELEASES", address).env_remove("AGENT_TRACER_DIST"),
        None => command.env_remove("AGENT_TRACER_RELEASES"),
    };
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(|cause| Failure::new(format!("cannot start `sh`: {}", plain(&cause))))?;
    // A shell that ends before it has read everything says why itself.
    drop(child.stdin.take().map(|mut stdin| stdin.write_all(SCRIPT.as_bytes())));
    let ended = child.wait_with_output();
    let ended = ended.map_err(|cause| Failure::new(format!("cannot wait for `sh`: {}", plain(&cause))))?;
    if ended.status.success() {
        return Ok(String::from_utf8_lossy(&ended.stdout).into_owned());
    }
    Err(Failure::new("the programs are as they were").hint("the reason is above"))
}

/// Returns what is left to do after the programs were replaced.
fn next_steps(origin: &Origin, options: &Options, environment: &Environment) -> Result<Vec<String>, Failure> {
    let (home, _) = environment.home(options.home.as_deref())?;
    let program = environment.program();
    let mut lines = Vec::new();
    if let Some(address) = Instance::address(&home) {
        let how = "stop it and start it again; nothing is lost meanwhile";
        lines.push(format!("hint: the server at http://{address}/ still runs the old version: {how}"));
    }
    for agent in Agent::rows() {
        if let Connection::Hooks(_) = Connection::of(agent, environment) {
            let word = agent.spec().word;
            lines.push(format!("hint: run `{program} install {word}` to bring its hooks up to date"));
        }
    }
    if *origin == Origin::Tarball {
        lines.push("hint: manual and completions beside the programs are still the old ones".to_owned());
    }
    Ok(lines)
}
