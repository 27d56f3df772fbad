//! Replaces this process by the guard, the program that answers where the server does not. It reads the payload as its
//! standard input.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use agent_tracer_agent::Agent;

/// The guard and its arguments.
pub(crate) struct Guard<'s> {
    /// An absolute path; empty if no guard is configured.
    pub(crate) program: &'s Path,
    pub(crate) agent: Agent,
    /// The home, if the command line named one.
    pub(crate) home: Option<&'s Path>,
    /// The name of the envelope; empty if the event was not recorded.
    pub(crate) envelope: &'s str,
}

/// Returns the path of `agent-tracer` beside this binary, as `install` leaves it. Empty if this binary's own path is
/// not known.
pub(crate) fn sibling_binary() -> PathBuf {
    std::env::current_exe().map(|own| own.with_file_name("agent-tracer")).unwrap_or_default()
}

/// Replaces this process by the guard. Returns only if that failed.
pub(crate) fn exec_guard(guard: &Guard<'_>, payload: &[u8]) {
    if !guard.program.is_absolute() {
        return;
    }
    let Ok(input) = input(payload) else { return };
    let mut command = Command::new(guard.program);
    command.arg("guard").arg(guard.agent.spec().word);
    command.args(["--for-hook", guard.envelope]);
    // The variable beats the argument, and the program refuses two that differ.
    let is_in_environment = std::env::var_os("AGENT_TRACER_HOME").is_some_and(|home| !home.is_empty());
    if let (Some(home), false) = (guard.home, is_in_environment) {
        command.arg("--home").arg(home);
    }
    // `exec` returns only an error, and then the table's own decision holds.
    drop(command.stdin(input).exec());
}

/// Returns the payload as a file in memory: it must not reach the disk unreduced.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn input(payload: &[u8]) -> io::Result<File> {
    use nix::sys::memfd::{MFdFlags, memfd_create};
    let mut file = File::from(memfd_create("event", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(payload)?;
    file.rewind()?;
    Ok(file)
}

/// Returns the payload in a pipe. The system buffers only so much without a reader; a longer payload is an outage.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn input(payload: &[u8]) -> io::Result<std::process::Stdio> {
    const PIPE: usize = 16 << 10;
    if payload.len() > PIPE {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(payload)?;
    Ok(reader.into())
}
