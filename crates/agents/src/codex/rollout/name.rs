//! The name of a rollout file: `rollout-<YYYY-MM-DDTHH-MM-SS>-<thread id>[_<rollout id>].jsonl[.zst]`.
//!
//! The second id appears when the user goes back to an earlier message: the thread goes on in a new file. Archiving
//! moves a file to another folder, and cold files may be compressed with zstd; neither changes what the file is
//! called up to its first dot. So that part, the stem, names the rows of a file wherever it lies. Decompression is
//! the work of the file's reader.

/// A rollout by its file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RolloutName<'a> {
    /// The name up to its ending.
    pub stem: &'a str,
    /// The thread it belongs to.
    pub thread_id: &'a str,
    /// The id of the file itself, if the thread went on in a new one.
    pub rollout_id: Option<&'a str>,
    /// True if it must be decompressed with zstd before its lines can be read.
    pub compressed: bool,
}

const STAMP: &str = "dddd-dd-ddTdd-dd-dd-";

impl<'a> RolloutName<'a> {
    /// Reads a file name or a path that ends with one; nothing if it is not a rollout's.
    #[must_use]
    pub fn parse(path: &'a str) -> Option<Self> {
        let name = path.rsplit(['/', '\\']).next()?;
        let (name, compressed) = match name.strip_suffix(".zst") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let stem = name.strip_suffix(".jsonl")?;
        let rest = stem.strip_prefix("rollout-")?;
        let ids = after_stamp(rest)?;
        let (thread_id, rollout_id) = match ids.split_once('_') {
            Some((thread, rollout)) => (thread, Some(rollout)),
            None => (ids, None),
        };
        let good = is_uuid(thread_id) && rollout_id.is_none_or(is_uuid);
        good.then_some(Self { stem, thread_id, rollout_id, compressed })
    }
}

/// Returns the thread that a rollout's path names: the first UUID of its file name, even if the rest is unusual.
pub(in crate::codex) fn thread_of(path: &str) -> Option<&str> {
    if let Some(name) = RolloutName::parse(path) {
        return Some(name.thread_id);
    }
    let name = path.rsplit(['/', '\\']).next()?;
    // The first: behind it may stand that of the file itself, which a thread gets when it goes back.
    (0..name.len()).filter_map(|from| name.get(from..from + UUID_BYTES)).find(|part| is_uuid(part))
}

fn after_stamp(text: &str) -> Option<&str> {
    let stamp = text.as_bytes().get(..STAMP.len())?;
    let fits = stamp.iter().zip(STAMP.bytes()).all(|(byte, shape)| match shape {
        b'd' => byte.is_ascii_digit(),
        other => *byte == other,
    });
    fits.then(|| text.get(STAMP.len()..))?
}

const UUID_BYTES: usize = 36;

/// Returns whether a text is a UUID in its usual form.
pub(in crate::codex) fn is_uuid(text: &str) -> bool {
    text.len() == UUID_BYTES
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Returns the milliseconds since 1970 that a UUID of version 7 begins with.
pub(super) fn uuid_millis(text: &str) -> Option<u64> {
    // Other versions hold no time, and a wrong one would take copied rows for the thread's own.
    if !is_uuid(text) || text.as_bytes().get(14) != Some(&b'7') {
        return None;
    }
    let digits: String = text.chars().filter(|letter| *letter != '-').take(12).collect();
    u64::from_str_radix(&digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: &str = "01a1e0b3-0708-7a91-bca0-aa31b76b9484";
    const ROLLOUT: &str = "01a1e120-2ea6-7463-8b4a-6b898802ad57";

    #[test]
    fn names_of_all_forms_are_recognised() {
        let plain = format!("rollout-2026-11-15T19-33-11-{THREAD}.jsonl");
        let reverted = format!("rollout-2026-11-15T19-33-11-{THREAD}_{ROLLOUT}.jsonl");
        for (path, rollout_id, compressed) in [
            (plain.clone(), None, false),
            (format!("/home/dev/.codex/sessions/2026/11/15/{plain}"), None, false),
            (format!("/home/dev/.codex/archived_sessions/{plain}.zst"), None, true),
            (reverted.clone(), Some(ROLLOUT), false),
            (format!("{reverted}.zst"), Some(ROLLOUT), true),
        ] {
            let name = RolloutName::parse(&path).unwrap();
            assert_eq!((name.thread_id, name.rollout_id, name.compressed), (THREAD, rollout_id, compressed));
            assert!(path.contains(name.stem) && !name.stem.contains('.'), "{path}");
        }
    }

    #[test]
    fn other_files_are_not_rollouts() {
        for path in [
            "",
            "rollout.jsonl",
            "history.jsonl",
            "rollout-2026-11-15T19-33-11-.jsonl",
            "rollout-2026-11-15T19-33-11-01a1e0b3-0708-7a91-bca0-aa31b76b948.jsonl",
            "rollout-2026-11-15T19-33-11-01a1e0b3-0708-7a91-bca0-aa31b76b9484.json",
            "rollout-2026-11-15T19-33-11-01a1e0b3-0708-7a91-bca0-aa31b76b9484_x.jsonl",
            "rollout-2026-11-1５T19-33-11-01a1e0b3-0708-7a91-bca0-aa31b76b9484.jsonl",
            "rollout-2026-11-15T19-33-11-01a1e0b3-0708-7a91-bca0-aa31b76b9484.jsonl/x",
        ] {
            assert_eq!(RolloutName::parse(path), None, "{path}");
        }
    }

    #[test]
    fn the_thread_is_the_first_uuid_of_the_file_name() {
        assert_eq!(thread_of(&format!("/x/{ROLLOUT}/rollout-é-{THREAD}_{ROLLOUT}.jsonl")), Some(THREAD));
        assert_eq!(thread_of(&format!("/x/{ROLLOUT}/notes.jsonl")), None);
        assert_eq!(thread_of(""), None);
    }

    #[test]
    fn a_uuid_of_version_seven_holds_its_time() {
        assert_eq!(uuid_millis(THREAD), Some(0x01a1_e0b3_0708));
        assert_eq!(uuid_millis("3e71c27c-ad0a-4fc2-be14-147b6c9e00e3"), None);
        assert_eq!(uuid_millis("7"), None);
    }
}
