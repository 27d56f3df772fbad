//! Runs the user's own status line command: same input, at most 300 ms, whatever it printed until then.
//!
//! The one place of the hook with a second process. It runs in a process group of its own, so that a
//! command which hangs is ended with everything it started.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// The time limit for the user's command.
pub(crate) const LIMIT: Duration = Duration::from_millis(300);

/// The most output that is read, which is more than any status line needs.
const OUTPUT_CAP: usize = 64 << 10;

/// Set for the user's command, so that one which calls this hook again does not start itself for ever.
const CHAINED: &str = "AGENT_TRACER_CHAINED";

/// Returns `true` if this process was itself started as the user's own status line.
pub(crate) fn is_chained() -> bool {
    std::env::var_os(CHAINED).is_some()
}

/// Returns the output of the command, without the line break at its end.
pub(crate) fn run(command: &str, input: &[u8], limit: Duration) -> Vec<u8> {
    let deadline = Instant::now() + limit;
    let spawned = Command::new("/bin/sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .env(CHAINED, "1")
        .process_group(0)
        .spawn();
    let Ok(mut child) = spawned else { return Vec::new() };
    let mut stdin = child.stdin.take();
    let mut output = Vec::new();
    if let (Some(feed), Some(stdout)) = (&stdin, &mut child.stdout) {
        // Both ends must not block: the command may read late, or never, or leave a child behind that
        // holds its output open.
        if fcntl(feed.as_fd(), FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).is_ok()
            && fcntl(stdout.as_fd(), FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).is_ok()
        {
            exchange(&mut stdin, stdout, input, deadline, &mut output);
        }
    }
    drop(stdin);
    // The group goes with all that is left in it; a command that has ended is only waited for.
    if let Ok(pid) = i32::try_from(child.id()) {
        killpg(Pid::from_raw(pid), Signal::SIGKILL).ok();
    }
    drop(child.wait());
    while output.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
        output.pop();
    }
    output
}

/// Feeds the input and takes the output until the command closes it or time is up.
fn exchange(
    stdin: &mut Option<std::process::ChildStdin>,
    stdout: &mut std::process::ChildStdout,
    mut input: &[u8],
    deadline: Instant,
    output: &mut Vec<u8>,
) {
    let mut chunk = [0_u8; 4096];
    loop {
        if input.is_empty() {
            *stdin = None;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
        let (readable, writable) = {
            let mut watched = vec![PollFd::new(stdout.as_fd(), PollFlags::POLLIN)];
            if let Some(feed) = stdin.as_ref() {
                watched.push(PollFd::new(feed.as_fd(), PollFlags::POLLOUT));
            }
            if poll(&mut watched, timeout).is_err() {
                return;
            }
            let ready = |index: usize| watched.get(index).and_then(PollFd::any).unwrap_or(false);
            (ready(0), ready(1))
        };
        if writable && let Some(feed) = stdin.as_mut() {
            match feed.write(input) {
                Ok(count) => input = input.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // The command does not read its input: many status lines do not.
                Err(_) => input = &[],
            }
        }
        if readable {
            match stdout.read(&mut chunk) {
                Ok(0) => return,
                Ok(count) => {
                    output.extend_from_slice(chunk.get(..count).unwrap_or_default());
                    if output.len() > OUTPUT_CAP {
                        output.truncate(OUTPUT_CAP);
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long enough that a busy machine does not end a command that is well.
    const PATIENT: Duration = Duration::from_secs(20);

    #[test]
    fn the_command_gets_the_same_input() {
        assert_eq!(run("cat", b"{\"a\":1}\n", PATIENT), b"{\"a\":1}");
    }

    #[test]
    fn input_and_output_larger_than_a_pipe_do_not_stall() {
        let input = vec![b'x'; 300_000];
        assert_eq!(run("cat >/dev/null; echo done", &input, PATIENT), b"done");
        assert_eq!(run("cat", &input, PATIENT).len(), OUTPUT_CAP);
    }

    #[test]
    fn a_command_that_reads_nothing_is_no_error() {
        assert_eq!(run("printf 'one\\ntwo\\n'", &vec![b'x'; 300_000], PATIENT), b"one\ntwo");
    }

    #[test]
    fn a_command_that_hangs_is_ended_and_what_it_printed_stays() {
        let begin = Instant::now();
        assert_eq!(run("echo early; sleep 600", b"", Duration::from_millis(300)), b"early");
        assert!(begin.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_child_left_behind_does_not_hold_the_line() {
        let begin = Instant::now();
        assert_eq!(run("sleep 600 & echo here", b"", Duration::from_millis(300)), b"here");
        assert!(begin.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_command_that_does_not_exist_gives_nothing() {
        assert_eq!(run("/nowhere/at/all", b"", PATIENT), b"");
    }
}
