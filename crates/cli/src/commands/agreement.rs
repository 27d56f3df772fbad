//! Asks a person before something is changed that is not easily changed back.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::failure::Failure;

/// Asks on the terminal whether to do something. Anything but a yes is a failure, and so is a missing terminal.
pub(super) fn ask(deed: &str) -> Result<(), Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::usage(format!("refusing to {deed} without confirmation: not a terminal"))
            .hint("add `--yes` to skip the confirmation, or `--dry-run` to preview"));
    }
    let fail = |cause: io::Error| Failure::output(&cause);
    let mut talk = io::stderr().lock();
    write!(talk, "{deed}? [y/N] ").and_then(|()| talk.flush()).map_err(fail)?;
    drop(talk);
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(fail)?;
    if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(Failure::new("not confirmed: nothing was changed"))
}
