//! The floor: the least a Rust program can do that receives an event and puts it on disk.
//!
//! Reads standard input, writes one file into `DIR/tmp` and renames it into `DIR/new`. Every bar of the
//! hook is a ratio to this program, linked the same way and measured in the same run.

use std::fs;
use std::io::{self, Read, Write};

fn main() -> io::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments.next().ok_or_else(|| io::Error::other("usage: floor DIR"))?;
    let mut payload = Vec::new();
    io::stdin().read_to_end(&mut payload)?;
    let name = std::process::id().to_string();
    let folder = std::path::PathBuf::from(folder);
    let temporary = folder.join("tmp").join(&name);
    fs::File::create(&temporary)?.write_all(&payload)?;
    fs::rename(&temporary, folder.join("new").join(&name))
}
