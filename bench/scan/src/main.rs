//! Measures how fast transcripts are read.
//!
//! A corpus is written from a seed, with the shape of a year of work: thousands of rows per session, every response
//! repeated on each of its blocks, results that weigh more than everything else. Then every contestant reads all of it,
//! in turn, in a process of its own, and every bar is a ratio to a floor in the same run. The floors are written here, as
//! references, with the parsers that they are named after. Prints a table on standard output and, with `--json FILE`,
//! the same as JSON.

mod ccusage;
mod contestants;
mod corpus;
mod files;
mod floors;
mod ours;
mod report;
mod run;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::ExitCode;

use contestants::Mode;

/// Holds the options of the command line.
#[derive(Debug)]
struct Options {
    size_mb: u64,
    seed: u64,
    rounds: usize,
    threads: usize,
    json: Option<PathBuf>,
    /// Folder of the corpus, which is used again if it exists.
    corpus: Option<PathBuf>,
    /// Folder of the peer's installation.
    cache: PathBuf,
    peer: bool,
    /// Write the corpus and measure nothing: another bench reads it.
    only_corpus: bool,
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        size_mb: 300,
        seed: 1,
        rounds: 5,
        threads: 2,
        json: None,
        corpus: None,
        cache: PathBuf::from("target/bench-scan"),
        peer: true,
        only_corpus: false,
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
        let number = |text: &String| text.parse::<u64>().map_err(|_| format!("`{argument}` needs a number"));
        match argument.as_str() {
            "--size" => options.size_mb = number(value()?)?.max(1),
            "--seed" => options.seed = number(value()?)?,
            "--rounds" => options.rounds = number(value()?)?.max(1) as usize,
            "--threads" => options.threads = number(value()?)?.max(1) as usize,
            "--json" => options.json = Some(value()?.into()),
            "--corpus" => options.corpus = Some(value()?.into()),
            "--cache" => options.cache = value()?.into(),
            "--no-ccusage" => options.peer = false,
            "--only-corpus" => options.only_corpus = true,
            other => {
                let known = "--size MB, --seed N, --rounds N, --threads N, --json FILE, --corpus DIR, --cache DIR, --no-ccusage, --only-corpus";
                return Err(format!("unknown argument `{other}`\nhint: {known}"));
            }
        }
    }
    Ok(options)
}

fn measure(arguments: &[String]) -> Result<bool, String> {
    let options = options(arguments)?;
    let temporary = tempfile::tempdir().map_err(|error| format!("cannot make a directory: {error}"))?;
    let home = options.corpus.clone().unwrap_or_else(|| temporary.path().to_owned());
    let facts = corpus::ensure(&home, options.size_mb, options.seed)?;
    if options.only_corpus {
        return Ok(true);
    }
    let peer = match options.peer.then(|| ccusage::install(&options.cache)) {
        Some(Ok(peer)) => Some(peer),
        Some(Err(reason)) => {
            report::complain(&format!("ccusage is left out: {reason}"));
            None
        }
        None => None,
    };
    let rows = run::round_robin(&home, options.rounds, options.threads, peer.as_deref())?;
    report::print(&facts, &rows, options.json.as_deref())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // A child of ours: one contestant, once.
    if let [flag, mode, home, threads] = arguments.as_slice()
        && flag == "--child"
    {
        let outcome = Mode::parse(mode)
            .ok_or_else(|| format!("unknown contestant `{mode}`"))
            .and_then(|mode| contestants::run(mode, home.as_ref(), threads.parse().unwrap_or(1)));
        return report::answer(outcome);
    }
    match measure(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            report::complain(&message);
            ExitCode::from(2)
        }
    }
}
