//! Running a program for a moment, to see what it answers.
//!
//! Law: nothing waits for ever. A program that does not end in time is killed and counts as not answering.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// The longest answer that is read.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;

/// A program to be tried.
pub(crate) struct Trial<'a> {
    pub(crate) program: &'a Path,
    pub(crate) arguments: Vec<&'a OsStr>,
    /// Bytes for standard input.
    pub(crate) input: &'a [u8],
    /// The variables that it sees.
    pub(crate) variables: Variables<'a>,
    /// Working directory.
    pub(crate) directory: PathBuf,
    pub(crate) limit: Duration,
}

/// The variables that a program sees.
pub(crate) enum Variables<'a> {
    /// Those of this process except these.
    Without(&'a [&'a str]),
    /// These alone.
    Only(&'a [(&'a str, &'a OsStr)]),
}

/// Holds the output of the program.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) success: bool,
    /// Standard output, and standard error behind it.
    pub(crate) text: String,
    pub(crate) elapsed: Duration,
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// It could not be started.
    NotStarted(String),
    /// It did not end within the limit.
    TooSlow,
}

impl Trial<'_> {
    /// Runs the program and waits for its end, at most up to the limit.
    pub(crate) fn run(&self) -> Result<Answer, NoAnswer> {
        let started = Instant::now();
        let mut command = Command::new(self.program);
        command
            .args(&self.arguments)
            .current_dir(&self.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // What it starts in turn must not outlive it: the whole group is ended with it.
            .process_group(0);
        match self.variables {
            Variables::Without(names) => {
                for name in names {
                    command.env_remove(name);
                }
            }
            Variables::Only(variables) => {
                command.env_clear().envs(variables.iter().copied());
            }
        }
        let mut child =
            command.spawn().map_err(|cause| NoAnswer::NotStarted(crate::failure::plain(&cause)))?;
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX));
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let input = self.input.to_vec();
        let (sender, receiver) = mpsc::channel();
        // One thread per pipe: a program may fill one while it waits for another.
        thread::spawn(move || drop(stdin.map(|mut stdin| stdin.write_all(&input))));
        let errors = thread::spawn(move || read(stderr));
        thread::spawn(move || {
            let text = read(stdout) + &errors.join().unwrap_or_default();
            let success = child.wait().is_ok_and(|status| status.success());
            // The other end is gone only after the time limit; then no reader is left.
            drop(sender.send((success, text)));
        });
        match receiver.recv_timeout(self.limit) {
            Ok((success, text)) => Ok(Answer { success, text, elapsed: started.elapsed() }),
            Err(_) => {
                // Not yet waited for, so the number still belongs to it.
                killpg(pid, Signal::SIGKILL).ok();
                Err(NoAnswer::TooSlow)
            }
        }
    }
}

fn read(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        drop(pipe.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell<'a>(script: &'a str, input: &'a [u8], limit: Duration) -> Result<Answer, NoAnswer> {
        Trial {
            program: Path::new("/bin/sh"),
            arguments: vec![OsStr::new("-c"), OsStr::new(script)],
            input,
            variables: Variables::Without(&["HOME"]),
            directory: PathBuf::from("/"),
            limit,
        }
        .run()
    }

    #[test]
    fn a_program_gets_its_input_and_its_output_is_read() {
        let answer = shell("cat; echo err >&2; echo ${HOME-none}", b"hi\n", Duration::from_secs(20))
            .expect("an answer");
        assert!(answer.success);
        assert_eq!(answer.text, "hi\nnone\nerr\n");
    }

    #[test]
    fn a_program_may_see_nothing_but_what_it_is_given() {
        let given = OsStr::new("yes");
        let answer = Trial {
            program: Path::new("/bin/sh"),
            arguments: vec![
                OsStr::new("-c"),
                OsStr::new("echo ${GIVEN-none} ${PATH_INFO-none} ${HOME-none}"),
            ],
            input: b"",
            variables: Variables::Only(&[("GIVEN", given)]),
            directory: PathBuf::from("/"),
            limit: Duration::from_secs(20),
        };
        assert_eq!(answer.run().expect("an answer").text, "yes none none\n");
    }

    #[test]
    fn a_program_that_does_not_end_is_given_up() {
        let outcome = shell("exec sleep 600", b"", Duration::from_millis(50));
        assert_eq!(outcome.expect_err("too slow"), NoAnswer::TooSlow);
    }

    #[test]
    fn a_large_input_and_a_large_answer_do_not_lock_each_other() {
        let input = vec![b'x'; 1 << 20];
        let answer = shell("cat", &input, Duration::from_secs(20));
        // `cat` is cut off once the cap is read, so it may end badly; what counts is that it ends.
        assert_eq!(answer.expect("an end").text.len(), 64 * 1024);
    }

    #[test]
    fn a_program_that_cannot_be_started_says_why() {
        let trial = Trial {
            program: Path::new("/nowhere/at/all"),
            arguments: Vec::new(),
            input: b"",
            variables: Variables::Without(&[]),
            directory: PathBuf::from("/"),
            limit: Duration::from_secs(1),
        };
        assert!(matches!(trial.run(), Err(NoAnswer::NotStarted(why)) if why.contains("no such file")));
    }
}
