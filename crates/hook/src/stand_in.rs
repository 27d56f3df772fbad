//! Becomes the program that answers where the server does not: the same process, with the payload as its input.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use agent_tracer_agent::Agent;

/// Who stands in, and what it is told.
pub(crate) struct StandIn<'s> {
    /// An absolute path; empty if there is nobody.
    pub(crate) program: &'s Path,
    pub(crate) agent: Agent,
    /// The home, where the command line named one.
    pub(crate) home: Option<&'s Path>,
    /// The name of the envelope; empty if nothing was recorded.
    pub(crate) envelope: &'s str,
}

/// The main program where `install` leaves it: beside this one. Empty if nobody can tell where that is.
pub(crate) fn beside_us() -> PathBuf {
    std::env::current_exe().map(|own| own.with_file_name("agent-tracer")).unwrap_or_default()
}

/// Does not come back if it works.
pub(crate) fn become_it(stand_in: &StandIn<'_>, payload: &[u8]) {
    if !stand_in.program.is_absolute() {
        return;
    }
    let Ok(input) = input(payload) else { return };
    let mut command = Command::new(stand_in.program);
    command.arg("guard").arg(stand_in.agent.spec().word);
    command.args(["--for-hook", stand_in.envelope]);
    // The variable beats the argument, and the program refuses two that differ.
    let is_told = std::env::var_os("AGENT_TRACER_HOME").is_some_and(|home| !home.is_empty());
    if let (Some(home), false) = (stand_in.home, is_told) {
        command.arg("--home").arg(home);
    }
    // Only an error comes back, and then the table's own answer holds.
    drop(command.stdin(input).exec());
}

/// The payload as a file that is nowhere on the disk.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn input(payload: &[u8]) -> io::Result<File> {
    use nix::sys::memfd::{MFdFlags, memfd_create};
    let mut file = File::from(memfd_create("event", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(payload)?;
    file.rewind()?;
    Ok(file)
}

/// Elsewhere a pipe, which holds as much as is written before anybody reads; a longer payload is an outage.
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
