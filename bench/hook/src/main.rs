//! Measures what a hook makes its agent wait, and what it costs the machine.
//!
//! Every contestant is started round-robin, so that a disturbance of the machine hits all alike, and every
//! bar is a ratio to the floor in the same run. Times are for people; ratios are the result. Prints a table
//! on standard output and, with `--json FILE`, the same as JSON.

mod contestants;
mod payloads;
mod report;
mod run;
mod sink;

use std::path::PathBuf;
use std::process::ExitCode;

use contestants::Bench;

/// Holds the options of the command line.
struct Options {
    hook: PathBuf,
    floor: PathBuf,
    repetitions: usize,
    json: Option<PathBuf>,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        hook: PathBuf::from("dist/agent-tracer-hook"),
        floor: PathBuf::from("target/hook/floor"),
        repetitions: 300,
        json: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
        match argument.as_str() {
            "--hook" => options.hook = value()?.into(),
            "--floor" => options.floor = value()?.into(),
            "--json" => options.json = Some(value()?.into()),
            "--repetitions" => {
                options.repetitions =
                    value()?.parse().map_err(|_| "`--repetitions` needs a number".to_owned())?;
            }
            other => return Err(format!("unknown argument `{other}`")),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let outcome = options()
        .and_then(|options| Ok((Bench::prepare(&options.hook, &options.floor)?, options)))
        .and_then(|(bench, options)| {
            let rows = run::round_robin(&bench, options.repetitions)?;
            report::print(&rows, options.json.as_deref())
        });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            report::complain(&message);
            ExitCode::from(2)
        }
    }
}
