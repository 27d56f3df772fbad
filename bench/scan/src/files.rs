//! The files of a corpus, and how several threads share them.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of one read, which stay in the nearer caches while they are examined.
const CHUNK: usize = 256 * 1024;

/// Every transcript under `home/projects`, the largest first, so that no thread ends with a big one alone.
pub(crate) fn transcripts(home: &Path) -> Result<Vec<(PathBuf, u64)>, String> {
    let mut found = Vec::new();
    let mut folders = vec![home.join("projects")];
    while let Some(folder) = folders.pop() {
        let fail = |error: std::io::Error| format!("cannot read `{}`: {error}", folder.display());
        for entry in fs::read_dir(&folder).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let about = entry.metadata().map_err(fail)?;
            if about.is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|extension| extension == "jsonl") {
                found.push((entry.path(), about.len()));
            }
        }
    }
    found.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    Ok(found)
}

/// Lets threads take file after file; each keeps what it finds, and the findings are handed over together.
pub(crate) fn share<T: Send>(
    files: &[(PathBuf, u64)],
    threads: usize,
    start: impl Fn() -> T + Sync,
    each: impl Fn(&mut T, &Path) -> Result<(), String> + Sync,
) -> Result<Vec<T>, String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = start();
        while let Some((path, _)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            each(&mut found, path)?;
        }
        Ok(found)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked".to_owned())?).collect()
    })
}

/// Reads a file chunk by chunk into one buffer.
pub(crate) fn chunks(path: &Path, mut each: impl FnMut(&[u8])) -> Result<u64, String> {
    let fail = |error: std::io::Error| format!("cannot read `{}`: {error}", path.display());
    let mut file = File::open(path).map_err(fail)?;
    let mut buffer = vec![0; CHUNK];
    let mut total = 0;
    loop {
        let read = file.read(&mut buffer).map_err(fail)?;
        if read == 0 {
            return Ok(total);
        }
        total += read as u64;
        each(buffer.get(..read).unwrap_or_default());
    }
}

/// Reads a whole file into a buffer that is used again.
pub(crate) fn whole(path: &Path, buffer: &mut Vec<u8>) -> Result<(), String> {
    let fail = |error: std::io::Error| format!("cannot read `{}`: {error}", path.display());
    buffer.clear();
    File::open(path).map_err(fail)?.read_to_end(buffer).map_err(fail)?;
    Ok(())
}
