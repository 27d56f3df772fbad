//! Reads what the system knows of a process: when it started, and whether it ended.
//!
//! The numbers are those that the hook writes: on Linux ticks since boot and the number of a namespace, on macOS
//! microseconds since 1970 and 0. Elsewhere, and without `/proc`, there is no namespace, and no process is judged.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A process that the system knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessFacts {
    pub(crate) start: u64,
    /// It ended, and its parent has not asked for its exit code yet.
    pub(crate) is_zombie: bool,
}

/// The list of processes that is asked.
#[derive(Debug)]
pub(crate) enum ProcessTable {
    /// A folder like `/proc` of Linux.
    Folder(PathBuf),
    #[cfg(target_os = "macos")]
    Kernel,
}

impl Default for ProcessTable {
    fn default() -> Self {
        #[cfg(target_os = "macos")]
        return Self::Kernel;
        #[cfg(not(target_os = "macos"))]
        Self::Folder(PathBuf::from("/proc"))
    }
}

impl ProcessTable {
    /// Returns the process id namespace of this process.
    pub(crate) fn namespace(&self) -> Option<u64> {
        match self {
            Self::Folder(folder) => {
                let target = std::fs::read_link(folder.join("self/ns/pid")).ok()?;
                target.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
            }
            // There is one, without a number. No namespace of Linux is 0, so a container that shares the home differs.
            #[cfg(target_os = "macos")]
            Self::Kernel => Some(0),
        }
    }

    /// Returns the facts of a process. Fails with [`io::ErrorKind::NotFound`] if there is none with this id.
    pub(crate) fn find(&self, pid: u32) -> io::Result<ProcessFacts> {
        match self {
            Self::Folder(folder) => read(folder, pid),
            #[cfg(target_os = "macos")]
            Self::Kernel => kernel::find(pid),
        }
    }
}

fn read(folder: &Path, pid: u32) -> io::Result<ProcessFacts> {
    let mut line = Vec::new();
    // A process that ends between opening and reading is `ESRCH`, which is not `NotFound`: the next check finds it.
    File::open(folder.join(pid.to_string()).join("stat"))?.take(4096).read_to_end(&mut line)?;
    parse(&line).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Reads a line of `stat`. The name of the process may itself hold spaces and brackets.
fn parse(line: &[u8]) -> Option<ProcessFacts> {
    let name_end = line.iter().rposition(|byte| *byte == b')')?;
    let mut fields = line.get(name_end + 2..)?.split(|byte| *byte == b' ');
    let state = *fields.next()?.first()?;
    let start = std::str::from_utf8(fields.nth(18)?).ok()?.parse().ok()?;
    Some(ProcessFacts { start, is_zombie: matches!(state, b'Z' | b'X') })
}

#[cfg(target_os = "macos")]
mod kernel {
    use std::io;

    use nix::libc;

    use super::ProcessFacts;

    #[expect(unsafe_code, reason = "no safe crate of ours asks macOS for the start of a process")]
    pub(super) fn find(pid: u32) -> io::Result<ProcessFacts> {
        let pid = libc::c_int::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?;
        let size = size_of::<libc::proc_bsdinfo>();
        let length = libc::c_int::try_from(size).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut facts = std::mem::MaybeUninit::<libc::proc_bsdinfo>::zeroed();
        // SAFETY: the kernel writes at most `length` bytes, and the buffer has as many.
        let written =
            unsafe { libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, facts.as_mut_ptr().cast(), length) };
        if written != length {
            let error = io::Error::last_os_error();
            // A process that ended is not found either, even before its parent asked for its exit code.
            return Err(match error.raw_os_error() {
                Some(libc::ESRCH) => io::ErrorKind::NotFound.into(),
                _ if written > 0 => io::ErrorKind::InvalidData.into(),
                _ => error,
            });
        }
        // SAFETY: whole numbers and arrays of them, which any bytes are; the kernel wrote all of them.
        let facts = unsafe { facts.assume_init() };
        Ok(ProcessFacts {
            start: facts.pbi_start_tvsec.saturating_mul(1_000_000).saturating_add(facts.pbi_start_tvusec),
            is_zombie: facts.pbi_status == libc::SZOMB,
        })
    }
}

// What every system with a table has to answer, so that the same tests judge Linux and macOS.
#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn this_process_has_a_start_time_and_a_namespace() {
        let table = ProcessTable::default();
        let Some(_) = table.namespace() else { panic!("a system of the tests has a table of processes") };
        let first = table.find(std::process::id()).unwrap();
        assert!(first.start > 0 && !first.is_zombie);
        assert_eq!(table.find(std::process::id()).unwrap(), first, "it is the same at each question");
    }

    #[test]
    fn a_child_is_found_until_it_ended() {
        let table = ProcessTable::default();
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let running = table.find(child.id()).unwrap();
        assert!(!running.is_zombie && running.start >= table.find(std::process::id()).unwrap().start);
        // Its output ends when it does, and only then.
        drop(child.stdin.take());
        io::copy(child.stdout.as_mut().unwrap(), &mut io::sink()).unwrap();
        child.wait().unwrap();
        assert_eq!(table.find(child.id()).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn an_id_that_no_process_can_have_is_no_process() {
        assert!(ProcessTable::default().find(u32::MAX).is_err());
    }
}
