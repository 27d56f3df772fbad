//! Facts of the kernel about the agent that started this hook.
//!
//! A process id alone says little later: ids are reused, and another container has its own. Start time and
//! namespace make it certain. All of it is optional: where the system does not tell, the fields are missing. What is
//! written here is compared with the table of processes in `agent-tracer-intake`, which takes the same numbers.

#[cfg(not(target_os = "macos"))]
pub(crate) use proc_folder::{pid_namespace, start_time};

#[cfg(target_os = "macos")]
pub(crate) use macos::{pid_namespace, start_time};

#[cfg(not(target_os = "macos"))]
mod proc_folder {
    use std::fs::File;
    use std::io::Read;

    /// Returns the start time of a process in clock ticks since boot, as `/proc/<pid>/stat` gives it.
    pub(crate) fn start_time(pid: u32) -> Option<u64> {
        let mut path = String::with_capacity(24);
        path.push_str("/proc/");
        path.push_str(&pid.to_string());
        path.push_str("/stat");
        let mut text = [0_u8; 1024];
        let count = File::open(path).ok()?.read(&mut text).ok()?;
        parse_start_ticks(text.get(..count)?)
    }

    /// Reads field 22 of the line. The name in field 2 may itself hold spaces and brackets.
    fn parse_start_ticks(line: &[u8]) -> Option<u64> {
        let name_end = line.iter().rposition(|byte| *byte == b')')?;
        let field = line.get(name_end + 2..)?.split(|byte| *byte == b' ').nth(19)?;
        std::str::from_utf8(field).ok()?.parse().ok()
    }

    /// Returns the number of the process id namespace that this process is in.
    pub(crate) fn pid_namespace() -> Option<u64> {
        let target = std::fs::read_link("/proc/self/ns/pid").ok()?;
        let text = target.to_str()?;
        text.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_process_name_full_of_brackets_does_not_shift_the_fields() {
            let line = b"42 (a) b) (c) S 1 42 42 0 -1 4194560 100 0 0 0 1 2 3 4 20 0 1 0 987654 1000 10 18446744073709551615\n";
            assert_eq!(parse_start_ticks(line), Some(987_654));
        }

        #[test]
        fn a_cut_line_has_no_start_time() {
            assert_eq!(parse_start_ticks(b"42 (sh) S 1 42"), None);
            assert_eq!(parse_start_ticks(b""), None);
            assert_eq!(parse_start_ticks(b"42 (sh)"), None);
        }
    }
}

#[cfg(target_os = "macos")]
mod macos {
    use std::mem::MaybeUninit;

    use nix::libc;

    /// Returns the start time of a process of the same user, in microseconds since 1970.
    #[expect(unsafe_code, reason = "no safe crate of ours asks macOS for the start of a process")]
    pub(crate) fn start_time(pid: u32) -> Option<u64> {
        let length = libc::c_int::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
        let mut facts = MaybeUninit::<libc::proc_bsdinfo>::zeroed();
        let (pid, buffer) = (libc::c_int::try_from(pid).ok()?, facts.as_mut_ptr().cast());
        // SAFETY: the kernel writes at most `length` bytes, and the buffer has as many.
        let written = unsafe { libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, buffer, length) };
        if written != length {
            return None;
        }
        // SAFETY: whole numbers and arrays of them, which any bytes are; the kernel wrote all of them.
        let facts = unsafe { facts.assume_init() };
        facts.pbi_start_tvsec.checked_mul(1_000_000)?.checked_add(facts.pbi_start_tvusec)
    }

    /// Returns 0: there is one namespace, without a number. No namespace of Linux is 0, so a container that shares the
    /// home differs.
    pub(crate) fn pid_namespace() -> Option<u64> {
        Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_a_start_time_where_the_system_tells() {
        if cfg!(target_os = "macos") || std::path::Path::new("/proc/self/stat").exists() {
            assert!(start_time(std::process::id()).is_some());
            assert!(pid_namespace().is_some());
        }
    }
}
