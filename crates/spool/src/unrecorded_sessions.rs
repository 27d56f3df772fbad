//! Sessions of which nothing may be recorded, because they ran while recording was switched off.
//!
//! The hook writes nothing then, but agents also write transcripts, and their reader does not know the session's
//! environment. So the hook leaves the session's id in one file, a line each, and readers of transcripts
//! skip files with such an id in their path. Nothing else of the session is written.

use std::io::{self, Read};
use std::path::Path;

use crate::disk;

/// The most bytes of the file that are read: some hundred thousand sessions.
const FILE_BYTES: u64 = 16 << 20;
/// Ids are long and random; a shorter word could be part of an ordinary path.
const ID_BYTES: std::ops::RangeInclusive<usize> = 16..=64;

/// Adds an id to the file, unless it is there. A word without the shape of an id is ignored.
///
/// # Errors
/// The file cannot be read or written, for instance because nothing was ever installed in this home.
pub fn append(path: &Path, id: &[u8]) -> io::Result<()> {
    // Looked up before the append: every hook of a session comes here, and the file has one line for each session.
    if !is_id(id) || list(path)?.iter().any(|known| known.as_bytes() == id) {
        return Ok(());
    }
    let mut line = id.to_vec();
    line.push(b'\n');
    // One write at the end of the file: concurrent hooks never share a line.
    disk::write(&disk::open_append(path)?, &line)
}

/// Returns every id in the file; a missing file has none.
///
/// # Errors
/// The file cannot be read.
pub fn list(path: &Path) -> io::Result<Vec<String>> {
    let mut text = Vec::new();
    match disk::open_read(path) {
        Ok(file) => file.take(FILE_BYTES).read_to_end(&mut text)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    let lines = text.split(|byte| *byte == b'\n').filter(|line| is_id(line));
    Ok(lines.map(|line| String::from_utf8_lossy(line).into_owned()).collect())
}

fn is_id(word: &[u8]) -> bool {
    ID_BYTES.contains(&word.len())
        && word.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_noted_once_and_nothing_else_ever() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("unrecorded");
        assert_eq!(list(&path).expect("none"), Vec::<String>::new());
        let id = "0f0e0d0c-1111-4222-8333-444455556666";
        for word in [id, id, "short", "../../../etc/passwd-and-more", "two words that are long enough", ""] {
            append(&path, word.as_bytes()).expect("noted");
        }
        assert_eq!(list(&path).expect("one"), [id]);
        assert_eq!(std::fs::read_to_string(&path).expect("text"), format!("{id}\n"));
    }

    #[test]
    fn damage_hides_no_other_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("unrecorded");
        let mut text = b"\xff\xfe half a line".to_vec();
        text.extend_from_slice(b"\n0123456789abcdef0\n\n0123");
        disk::write(&disk::open_append(&path).expect("a file"), &text).expect("written");
        assert_eq!(list(&path).expect("read"), ["0123456789abcdef0"]);
    }
}
