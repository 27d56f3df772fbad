//! The agent as a process: it gets our terminal, our process group and our signals, and its end becomes ours.
//!
//! Law: the agent stays in our process group, so that the terminal reaches it as if we were not there. A signal of the
//! terminal goes to the whole group and is not passed on; one that a process sends to us alone is. When the agent stops, we
//! stop, so that the shell sees a stopped job.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use nix::sys::signal::{SigSet, Signal, kill, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::failure::{Failure, plain};

/// The signals that are passed on.
const PASSED: [Signal; 8] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGTSTP,
    Signal::SIGCONT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
];

/// Describes how a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessEnd {
    /// It ended by itself, with this code.
    Exited(u8),
    /// A signal ended it.
    Killed(Signal),
}

impl ProcessEnd {
    /// Returns the code as a shell reports it.
    pub(crate) fn code(self) -> u8 {
        match self {
            ProcessEnd::Exited(code) => code,
            // What a shell reports of a program that a signal ended, so that scripts see no difference.
            ProcessEnd::Killed(signal) => u8::try_from(128 + signal as i32).unwrap_or(u8::MAX),
        }
    }

    /// Returns the name of the signal that ended it.
    pub(crate) fn signal(self) -> Option<&'static str> {
        match self {
            ProcessEnd::Exited(_) => None,
            ProcessEnd::Killed(signal) => Some(signal.as_str()),
        }
    }
}

/// Runs a program to its end. No thread may have been started before that has not ended.
pub(crate) fn run(command: &mut Command) -> Result<ProcessEnd, Failure> {
    let signals: SigSet = PASSED.into_iter().collect();
    let mask = SigSet::thread_get_mask().unwrap_or_else(|_| SigSet::empty());
    let held = signals.thread_block().map_err(|error| Failure::new(format!("cannot hold signals: {error}")));
    held?;
    // Otherwise the agent would inherit what is right for this program.
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_thp_disable(false).ok();
    #[expect(unsafe_code, reason = "the child has to get the mask of our caller, and not what we hold back")]
    // SAFETY: between fork and exec this only calls `pthread_sigmask`, which may be called there.
    unsafe {
        command.pre_exec(move || mask.thread_set_mask().map_err(io::Error::from));
    }
    // In our process group: the terminal then sends its signals to the agent too, and job control works.
    let child = command.spawn().map_err(|cause| {
        let program = Path::new(command.get_program()).display().to_string();
        Failure::new(format!("cannot start `{program}`: {}", plain(&cause)))
            .hint("check that it is a program that runs on this machine")
    })?;
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX));
    let running = Arc::new(Mutex::new(Some(pid)));
    let passing = Arc::clone(&running);
    let started = Builder::new().name("signals".to_owned()).spawn(move || pass(signals, &passing));
    if let Err(error) = started {
        kill(pid, Signal::SIGTERM).ok();
        return Err(Failure::new(format!("cannot start a thread: {error}")));
    }
    let end = wait(pid);
    *running.lock().unwrap_or_else(PoisonError::into_inner) = None;
    end
}

/// Waits for the end, and stops with the process whenever it stops.
fn wait(pid: Pid) -> Result<ProcessEnd, Failure> {
    loop {
        match waitpid(pid, Some(WaitPidFlag::WUNTRACED)) {
            Ok(WaitStatus::Exited(_, code)) => {
                return Ok(ProcessEnd::Exited(u8::try_from(code).unwrap_or(u8::MAX)));
            }
            Ok(WaitStatus::Signaled(_, signal, _)) => return Ok(ProcessEnd::Killed(signal)),
            // Without a terminal no shell would continue us.
            Ok(WaitStatus::Stopped(..)) if File::open("/dev/tty").is_ok() => {
                // Stopped with it, so that the shell takes the terminal back; continued when the shell continues us.
                raise(Signal::SIGSTOP).ok();
                kill(pid, Signal::SIGCONT).ok();
            }
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(Failure::new(format!("cannot wait for the agent: {error}"))),
        }
    }
}

/// Passes signals on while the process runs. After its end they are ours again.
fn pass(signals: SigSet, running: &Mutex<Option<Pid>>) {
    let mut source = SignalSource::of(signals);
    while let Some((signal, is_shared)) = source.next() {
        let running = running.lock().unwrap_or_else(PoisonError::into_inner);
        match *running {
            // The terminal sent it to the whole group, so the agent has it already.
            Some(_) if is_shared => {}
            Some(pid) => drop(kill(pid, signal)),
            None => {
                signals.thread_unblock().ok();
                raise(signal).ok();
            }
        }
    }
}

/// Reads the signals of this process, one after the other, with whether the terminal sent them to the whole group.
#[cfg(target_os = "linux")]
struct SignalSource(Option<nix::sys::signalfd::SignalFd>);

#[cfg(target_os = "linux")]
impl SignalSource {
    /// The code of a signal that the kernel sends by itself, which for these signals is the terminal.
    // `SI_KERNEL`: signals that a terminal makes have it, those of `kill` do not.
    const BY_KERNEL: i32 = 0x80;

    fn of(signals: SigSet) -> Self {
        Self(nix::sys::signalfd::SignalFd::new(&signals).ok())
    }

    fn next(&mut self) -> Option<(Signal, bool)> {
        loop {
            match self.0.as_mut()?.read_signal() {
                Ok(Some(info)) => {
                    let Some(signal) =
                        i32::try_from(info.ssi_signo).ok().and_then(|it| Signal::try_from(it).ok())
                    else {
                        continue;
                    };
                    return Some((signal, info.ssi_code == Self::BY_KERNEL));
                }
                Ok(None) | Err(nix::errno::Errno::EINTR) => {}
                Err(_) => return None,
            }
        }
    }
}

/// The same where a signal does not say who sent it: in front of a terminal it is taken for the terminal's.
#[cfg(not(target_os = "linux"))]
struct SignalSource(SigSet);

#[cfg(not(target_os = "linux"))]
impl SignalSource {
    fn of(signals: SigSet) -> Self {
        Self(signals)
    }

    fn next(&mut self) -> Option<(Signal, bool)> {
        use std::io::IsTerminal;

        let signal = self.0.wait().ok()?;
        let is_typed = matches!(signal, Signal::SIGINT | Signal::SIGQUIT | Signal::SIGTSTP);
        Some((signal, is_typed && std::io::stdin().is_terminal()))
    }
}
