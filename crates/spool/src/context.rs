//! The context that an agent gets at its start: one small page per folder, written by the server, read by the hook.
//!
//! A page is a file in [`Home::context`], named by the hash of its folder, and holds five lines:
//!
//! ```text
//! agent-tracer-context 1
//! <seconds since 1970 at which it was written>
//! <the folder, as raw bytes>
//! <`task` if the task's name is exported into the agent's shells, else `-`>
//! <the text, escaped as the inside of a JSON string, so that the hook has nothing to escape>
//! ```
//!
//! Law: an incomplete page is ignored. A page names its folder because the hashes of two folders can collide.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::checksum::xxh64;
use crate::{Home, settings_file};

/// The first line.
const MAGIC: &[u8] = b"agent-tracer-context 1";
/// The longest page that is read.
pub const BYTES_MAX: usize = 16 << 10;
/// The longest text that a page may hold, in bytes before escaping.
pub const TEXT_MAX: usize = 8 << 10;
/// The most folders searched for a page, from the agent's own upwards.
const ABOVE_MAX: usize = 24;

/// One page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The time of writing, in seconds since 1970.
    pub written_s: u64,
    /// True if the name of the task is exported into the agent's shells.
    pub exports_task: bool,
    /// The text, as the inside of a JSON string.
    pub escaped: Vec<u8>,
}

/// Returns the path of a folder's page.
pub fn path(home: &Home, folder: &Path) -> PathBuf {
    home.context().join(format!("{:016x}", xxh64(folder.as_os_str().as_bytes())))
}

/// Returns the path of the marker file that exports the task's name into agents' shells even without a page.
pub fn task_mark(home: &Home) -> PathBuf {
    home.context().join("export-task")
}

/// Returns `true` if the task's name is exported into the shells of an agent whose folder has no page.
pub fn exports_task(home: &Home) -> bool {
    matches!(settings_file::open(&task_mark(home), home.user()), Ok(Some(_)))
}

/// Encodes a folder's page. Returns `None` if the folder or the text contains a line feed, or the page is too long.
pub fn encode(page: &Page, folder: &Path) -> Option<Vec<u8>> {
    let folder = folder.as_os_str().as_bytes();
    if folder.contains(&b'\n') || page.escaped.contains(&b'\n') {
        return None;
    }
    let written = page.written_s.to_string();
    let exports: &[u8] = if page.exports_task { b"task" } else { b"-" };
    let mut bytes = [MAGIC, written.as_bytes(), folder, exports, &page.escaped].join(&b'\n');
    bytes.push(b'\n');
    (bytes.len() <= BYTES_MAX).then_some(bytes)
}

/// Parses a page, if it belongs to this folder.
fn parse(bytes: &[u8], folder: &Path) -> Option<Page> {
    let mut lines = bytes.strip_suffix(b"\n")?.split(|byte| *byte == b'\n');
    if lines.next()? != MAGIC {
        return None;
    }
    let written_s = std::str::from_utf8(lines.next()?).ok()?.parse().ok()?;
    if lines.next()? != folder.as_os_str().as_bytes() {
        return None;
    }
    let exports_task = match lines.next()? {
        b"task" => true,
        b"-" => false,
        _ => return None,
    };
    let escaped = lines.next()?.to_vec();
    lines.next().is_none().then_some(Page { written_s, exports_task, escaped })
}

/// Returns the page of a folder, or of the nearest folder above it that has one.
pub fn find(home: &Home, folder: &Path) -> Option<Page> {
    let page = |folder: &Path| {
        // The page becomes part of the agent's prompt, so no other user may be able to write it.
        let bytes = settings_file::read(&path(home, folder), home.user(), BYTES_MAX).ok().flatten()?;
        parse(&bytes, folder)
    };
    folder.ancestors().take(ABOVE_MAX).find_map(page)
}

/// Escapes a text as the inside of a JSON string, in one line.
#[must_use]
pub fn escape(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            other if other.is_control() => out.extend_from_slice(b" "),
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page { written_s: 1_794_777_004, exports_task: true, escaped: escape(text) }
    }

    #[test]
    fn a_page_reads_back_for_its_own_folder_only() {
        let folder = Path::new("/code/a b");
        let whole = page("- one\n- \"two\" \\ three");
        let bytes = encode(&whole, folder).unwrap();
        assert_eq!(parse(&bytes, folder), Some(whole));
        assert_eq!(parse(&bytes, Path::new("/code")), None);
        for end in 0..bytes.len() {
            assert_eq!(parse(&bytes[..end], folder), None, "cut at {end}");
        }
        let mut more = bytes;
        more.extend_from_slice(b"line\n");
        assert_eq!(parse(&more, folder), None);
    }

    #[test]
    fn a_folder_or_text_that_does_not_fit_is_refused() {
        assert_eq!(encode(&page("x"), Path::new("/a\nb")), None);
        assert_eq!(encode(&page(&"x".repeat(BYTES_MAX)), Path::new("/a")), None);
        assert_eq!(escape("a\u{0}b\tc\r\n"), b"a b c \\n");
    }

    #[test]
    fn the_page_of_the_nearest_folder_is_found() {
        let home = Home::in_folder(std::env::temp_dir().join(format!("context-{}", std::process::id())));
        std::fs::create_dir_all(home.context()).unwrap();
        for (folder, text) in [("/code", "outer"), ("/code/in", "inner")] {
            let bytes = encode(&page(text), Path::new(folder)).unwrap();
            let mut file = std::fs::File::create(path(&home, Path::new(folder))).unwrap();
            std::io::Write::write_all(&mut file, &bytes).unwrap();
        }
        let found = |folder: &str| find(&home, Path::new(folder)).map(|page| page.escaped);
        assert_eq!(found("/code/in/deep/er"), Some(b"inner".to_vec()));
        assert_eq!(found("/code/other"), Some(b"outer".to_vec()));
        assert_eq!(found("/elsewhere"), None);
        std::fs::remove_dir_all(home.data()).unwrap();
    }
}
