//! Measures what a decision makes an agent wait.
//!
//! The real hook is started in turn on homes that differ in one thing: no rules at all; rules that are about other
//! events; rules that need a decision, answered by the real server on a history of any length; and the same
//! rules without a server. What a decision costs is what the hook takes longer than without rules, in the same run.
//! Last, the same rules are tried on the whole history (`policy backtest`). Prints a table and, with `--json FILE`, the same as JSON.

mod backtest;
mod hooks;
mod report;
mod rules;
mod server;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use server::Server;

/// Holds the options of the command line.
struct Options {
    hook: PathBuf,
    /// A hook to compare with, such as one of an earlier version.
    before: Option<PathBuf>,
    program: PathBuf,
    /// A home with a history; an empty one if absent. Rules and decisions are written into it.
    home: Option<PathBuf>,
    rules: usize,
    repetitions: usize,
    json: Option<PathBuf>,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        hook: PathBuf::from("dist/agent-tracer-hook"),
        before: None,
        program: PathBuf::from("dist/agent-tracer"),
        home: None,
        rules: 200,
        repetitions: 500,
        json: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
        let number = |text: String| text.parse::<usize>().map_err(|_| format!("`{argument}` needs a number"));
        match argument.as_str() {
            "--hook" => options.hook = value()?.into(),
            "--before" => options.before = Some(value()?.into()),
            "--server" => options.program = value()?.into(),
            "--home" => options.home = Some(value()?.into()),
            "--rules" => options.rules = number(value()?)?,
            "--repetitions" => options.repetitions = number(value()?)?.max(10),
            "--json" => options.json = Some(value()?.into()),
            other => {
                let known = "--hook FILE, --before FILE, --server FILE, --home DIR, --rules N, --repetitions N, --json FILE";
                return Err(format!("unknown argument `{other}`\nhint: {known}"));
            }
        }
    }
    Ok(options)
}

fn absolute(path: &Path) -> Result<PathBuf, String> {
    path.canonicalize()
        .map_err(|error| format!("cannot find `{}`: {error}\nhint: run `make bench-guard`", path.display()))
}

fn measure(options: &Options) -> Result<bool, String> {
    let (hook, program) = (absolute(&options.hook)?, absolute(&options.program)?);
    let before = options.before.as_deref().map(absolute).transpose()?;
    let temporary = tempfile::tempdir().map_err(|error| format!("cannot make a folder: {error}"))?;
    let folder = |name: &str| -> Result<PathBuf, String> {
        let path = temporary.path().join(name);
        std::fs::create_dir_all(&path)
            .map_err(|error| format!("cannot make `{}`: {error}", path.display()))?;
        Ok(path)
    };
    let home = match &options.home {
        Some(home) => absolute(home)?,
        None => folder("history")?,
    };
    rules::write(&home, options.rules)?;
    let alone = folder("alone")?;
    rules::write(&alone, options.rules)?;
    server::apply(&program, &alone)?;
    let server = Server::start(&program, &home)?;
    let session = server.busiest()?;
    let bare = folder("bare")?;
    let mut contestants = vec![hooks::Contestant::new("no rules", &hook, &bare, &session, "PreToolUse")];
    if let Some(before) = &before {
        contestants.push(hooks::Contestant::new("no rules, before", before, &bare, &session, "PreToolUse"));
    }
    contestants.extend([
        hooks::Contestant::new("no decision", &hook, &home, &session, "PostToolBatch"),
        hooks::Contestant::new("server", &hook, &home, &session, "PreToolUse"),
        hooks::Contestant::new("no server", &hook, &alone, &session, "PreToolUse"),
    ]);
    let rows = hooks::round_robin(&contestants, options.repetitions, &server)?;
    let decided = server.decided(&session, options.repetitions)?;
    let history = server.events()?;
    // The ledger is read without a server, too: no hook is answered meanwhile.
    drop(server);
    let tried = backtest::run(&program, &home)?;
    report::print(
        &report::Run { rows, decided, tried, rules: options.rules, history },
        options.json.as_deref(),
    )
}

fn main() -> ExitCode {
    match options().and_then(|options| measure(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            report::complain(&message);
            ExitCode::from(2)
        }
    }
}
