//! Runs fuzz targets for a bounded number of tries: see `arguments` for the command line.
//!
//! Exit code 0 if all passed, 1 if a law was broken, 2 if the command line or the corpus was wrong.

use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;

use agent_tracer_fuzz::harness::{Ending, fuzz, replay};
use agent_tracer_fuzz::{arguments, corpus, report};

fn main() -> ExitCode {
    let arguments = match arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => return complain(&error),
    };
    let inputs = match corpus::read(&arguments.corpus) {
        Ok(inputs) => inputs,
        Err(error) => return complain(&format!("cannot read the corpus: {error}")),
    };
    let again = match arguments.replay.as_deref().map(fs::read).transpose() {
        Ok(again) => again,
        Err(error) => return complain(&format!("cannot read the input: {error}")),
    };
    // A failure is printed once, by the report; while an input is made smaller it panics again and again.
    std::panic::set_hook(Box::new(|_| {}));
    let mut code = ExitCode::SUCCESS;
    for target in arguments.targets {
        let ending = match &again {
            Some(input) => replay(target, input.clone(), &arguments.plan),
            None => fuzz(target, &inputs, &arguments.plan),
        };
        say(&mut io::stdout(), &report::text(target.name, arguments.plan.seed, &ending));
        if let Ending::Panicked(failure) | Ending::StoodStill(failure) = &ending {
            code = ExitCode::FAILURE;
            match report::save(&arguments.save, target.name, failure) {
                Ok(path) => say(&mut io::stdout(), &format!("saved as `{}`", path.display())),
                Err(error) => say(&mut io::stderr(), &format!("cannot save the input: {error}")),
            }
        }
    }
    code
}

fn complain(text: &str) -> ExitCode {
    say(&mut io::stderr(), text);
    ExitCode::from(2)
}

/// Prints a line; a reader that is gone does not matter.
fn say(out: &mut impl Write, text: &str) {
    writeln!(out, "{text}").ok();
}
