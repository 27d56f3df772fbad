//! Real inputs from folders, in an order that does not depend on the file system.
//!
//! A `.jsonl` file is one input per line, any other file is one input. Bounded: a corpus is a beginning,
//! not a test of patience.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The longest input that is taken.
const INPUT_BYTES_MAX: usize = 64 * 1024;
/// The largest file that is opened.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// The most bytes of a whole corpus.
const CORPUS_BYTES_MAX: usize = 64 << 20;

/// Reads every input below the folders. Links are not followed.
pub fn read(folders: &[PathBuf]) -> io::Result<Vec<Vec<u8>>> {
    let mut files = Vec::new();
    for folder in folders {
        if fs::metadata(folder)?.is_dir() {
            collect(folder, &mut files)?;
        } else {
            files.push(folder.clone());
        }
    }
    files.sort();
    let mut inputs = Vec::new();
    let mut bytes = 0usize;
    for file in files {
        for input in read_file(&file)? {
            bytes += input.len();
            if bytes > CORPUS_BYTES_MAX {
                return Ok(inputs);
            }
            inputs.push(input);
        }
    }
    inputs.sort();
    inputs.dedup();
    Ok(inputs)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn read_file(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    let fits = |input: &&[u8]| !input.is_empty() && input.len() <= INPUT_BYTES_MAX;
    if path.extension().is_some_and(|ending| ending == "jsonl") {
        return Ok(bytes.split(|byte| *byte == b'\n').filter(fits).map(<[u8]>::to_vec).collect());
    }
    Ok(Some(bytes.as_slice()).filter(fits).map(<[u8]>::to_vec).into_iter().collect())
}
