//! Names the sessions of one run: `agent-tracer run` starts an agent, and its receipt is about these sessions alone.
//!
//! The run has an id, which the agent's processes carry in [`VARIABLE`], and a folder of its own in [`Home::runs`]. The
//! hook leaves the id of each recorded session there, in the file `sessions`, a line each.
//!
//! Law: the variable names a folder that exists, or nothing is written. An id is made of few plain characters, so it is no
//! path.

use std::io;
use std::path::PathBuf;

use crate::{Home, unrecorded_sessions};

/// The environment variable that carries the id of a run.
pub const VARIABLE: &str = "AGENT_TRACER_RUN";

/// The lengths of an id that are accepted.
const ID_BYTES: std::ops::RangeInclusive<usize> = 16..=64;

/// Returns the folder of a run; `None` if the text is no id.
#[must_use]
pub fn folder(home: &Home, run: &[u8]) -> Option<PathBuf> {
    let is_id = ID_BYTES.contains(&run.len()) && run.iter().all(u8::is_ascii_hexdigit);
    let id = std::str::from_utf8(run).ok().filter(|_| is_id)?;
    Some(home.runs().join(id))
}

/// Adds a session to a run. A text that is no id, of either, is ignored.
///
/// # Errors
/// The run has no folder, or its file cannot be written.
pub fn note(home: &Home, run: &[u8], session: &[u8]) -> io::Result<()> {
    folder(home, run).map_or(Ok(()), |folder| unrecorded_sessions::append(&folder.join("sessions"), session))
}

/// Returns the sessions of a run; none for a run that has no file.
///
/// # Errors
/// The file cannot be read.
pub fn sessions(home: &Home, run: &[u8]) -> io::Result<Vec<String>> {
    folder(home, run).map_or(Ok(Vec::new()), |folder| unrecorded_sessions::list(&folder.join("sessions")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &[u8] = b"0123456789abcdef01";
    const SESSION: &[u8] = b"0f0e0d0c-1111-4222-8333-444455556666";

    #[test]
    fn sessions_are_noted_only_for_a_run_that_has_a_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        assert!(note(&home, RUN, SESSION).is_err());
        assert_eq!(sessions(&home, RUN).expect("none"), Vec::<String>::new());
        std::fs::create_dir_all(super::folder(&home, RUN).expect("an id")).expect("made");
        for session in [SESSION, SESSION, b"../../etc/passwd"] {
            note(&home, RUN, session).expect("noted");
        }
        assert_eq!(sessions(&home, RUN).expect("one"), [String::from_utf8_lossy(SESSION)]);
    }

    #[test]
    fn a_variable_that_is_no_id_names_no_folder() {
        let home = Home::in_folder("/h");
        for text in
            ["", "short", "../../../../../etc", "0123456789abcdef/x", "0123456789ABCDEG", &"a".repeat(65)]
        {
            assert_eq!(folder(&home, text.as_bytes()), None, "{text}");
            note(&home, text.as_bytes(), SESSION).expect("ignored");
        }
    }
}
