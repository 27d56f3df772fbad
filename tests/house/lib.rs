//! Rules about the repository itself, written as tests: which room may know which, how large a file may
//! grow, and that every room is described.
//!
//! Also what tests of other rooms need to hold a generated file of the tree (a page, the API's description) to its source.
//! Text that only a test reads is a snapshot of `insta` instead. `INSTA_UPDATE=always` accepts both.

use std::fs::{self, File};
use std::io::{Error, Write};
use std::path::Path;

/// Asserts that a file holds this text. `path` is relative to the root of the repository.
///
/// With `INSTA_UPDATE=always` or `force` the text is written instead.
///
/// # Panics
/// Panics if the file holds another text, or cannot be written.
pub fn assert_file(path: &str, text: &str) {
    let accept =
        std::env::var("INSTA_UPDATE").is_ok_and(|value| matches!(value.as_str(), "always" | "force"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    match sync(&file, text, accept) {
        Ok(true) => {}
        Ok(false) => assert_eq!(read(&file), text, "`{path}` is stale\nhint: {}", hint()),
        Err(error) => assert_eq!(error.to_string(), "", "cannot write `{path}`"),
    }
}

/// Asserts that a file holds this text between two marks, and accepts like [`assert_file`].
///
/// # Panics
/// Panics as [`assert_file`] does, and if the file lacks a mark.
pub fn assert_part(path: &str, begin: &str, end: &str, text: &str) {
    let whole = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path));
    let (before, rest) = whole.split_once(begin).expect("the file has the mark where the part begins");
    let (_, after) = rest.split_once(end).expect("the file has the mark where the part ends");
    assert_file(path, &format!("{before}{begin}{text}{end}{after}"));
}

/// Returns `true` if the file holds the text now. Without `accept` it is not written.
///
/// # Errors
/// The file cannot be written.
pub fn sync(file: &Path, text: &str, accept: bool) -> Result<bool, Error> {
    // An equal file is not touched: its time is what `make` compares.
    if read(file) == text {
        return Ok(true);
    }
    if !accept {
        return Ok(false);
    }
    fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    File::create(file)?.write_all(text.as_bytes())?;
    Ok(true)
}

/// Returns what a file holds; a missing file holds nothing.
fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// Names the command that accepts what differs, from the package and the test that runs.
fn hint() -> String {
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let thread = std::thread::current();
    format!("INSTA_UPDATE=always cargo test -p {package} {}", thread.name().unwrap_or_default())
}
