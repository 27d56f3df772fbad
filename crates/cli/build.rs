//! Puts the built dashboard into the program, and names the build in its version.
//!
//! The dashboard is a table of files, each with its compressed forms where it has them. Without a built dashboard the
//! table is empty, and the server says how to build it.
//!
//! The commit and the date are those of `$AGENT_TRACER_COMMIT` and `$SOURCE_DATE_EPOCH`, which `make dist` sets. Git is
//! not asked: each commit would then link the program again, and a source package has no repository.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=AGENT_TRACER_COMMIT");
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    println!("cargo::rustc-env=AGENT_TRACER_VERSION={}", version());
    embed_dashboard()
}

/// Returns the version with the build behind it: `0.2.0 (1a2b3c4d5e6f 2026-11-18)`, or without the parts that are not known.
fn version() -> String {
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    // The date alone says nothing of the source; many packagers set it for every build.
    let Some(commit) = env::var("AGENT_TRACER_COMMIT").ok().filter(|commit| !commit.is_empty()) else {
        return version;
    };
    match env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse().ok()) {
        Some(seconds) => format!("{version} ({commit} {})", date(seconds)),
        None => format!("{version} ({commit})"),
    }
}

/// Returns the date of a time in seconds since 1970, in UTC.
fn date(seconds: u64) -> String {
    // Years that begin in March end with the leap day; 400 of them have 146,097 days. Day 0 is 1 March of year 0.
    let day = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day_of_month:02}")
}

fn embed_dashboard() -> io::Result<()> {
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
