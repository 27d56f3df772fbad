//! Puts the built dashboard into the program: a table of its files, each with its compressed forms where it has them.
//!
//! Without a built dashboard the table is empty, and the server says how to build it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let dist = Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../web/dist");
    println!("cargo::rerun-if-changed={}", dist.display());
    let mut files = Vec::new();
    collect(&dist, &mut files)?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in files.iter().filter(|file| !is_packed(file)) {
        let name = file.strip_prefix(&dist).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let packed = |ending: &str| {
            let path = PathBuf::from(format!("{}.{ending}", file.display()));
            if path.is_file() {
                format!("Some(include_bytes!({path:?}).as_slice())")
            } else {
                "None".to_owned()
            }
        };
        writeln!(
            table,
            "({name:?}, include_bytes!({file:?}).as_slice(), {}, {}),",
            packed("gz"),
            packed("br")
        )
        .map_err(io::Error::other)?;
    }
    table.push_str("]\n");
    let out = Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("dashboard.rs");
    // Cargo's own folder: it needs no defence against links, and a torn file is built again.
    #[expect(clippy::disallowed_methods, reason = "the build's own folder")]
    fs::write(out, table)
}

fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz" || ending == "br")
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
