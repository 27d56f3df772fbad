//! Writes a corpus from a seed: the same seed and size give the same bytes on every machine.
//!
//! The proportions are those of a large real history: per gigabyte some 680 files, half of them subagents', 250,000
//! rows, 82,000 responses that are repeated on 150,000 rows, and results that make up four fifths of all bytes. A
//! tenth of the sessions are forks, which begin with a copy of another session's rows.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

mod dice;
mod rows;

use dice::Dice;
use rows::Writer;

/// Holds the true numbers of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Facts {
    pub(crate) size_mb: u64,
    pub(crate) seed: u64,
    pub(crate) bytes: u64,
    pub(crate) files: u64,
    pub(crate) rows: u64,
    /// Distinct responses.
    pub(crate) responses: u64,
    /// Rows that repeat them.
    pub(crate) usage_rows: u64,
    /// Calls of tools, copies included.
    pub(crate) calls: u64,
    /// Input, output, cache read, cache creation, each response once.
    pub(crate) tokens: [u64; 4],
}

/// Returns the path of the true numbers.
const FACTS: &str = "corpus.json";

/// Writes the corpus unless it is there already.
pub(crate) fn ensure(home: &Path, size_mb: u64, seed: u64) -> Result<Facts, String> {
    let fail = |error: std::io::Error| format!("cannot write the corpus into `{}`: {error}", home.display());
    let known =
        fs::read(home.join(FACTS)).ok().and_then(|facts| serde_json::from_slice::<Facts>(&facts).ok());
    if let Some(known) = known.filter(|known| known.size_mb == size_mb && known.seed == seed) {
        return Ok(known);
    }
    if home.join("projects").exists() {
        let hint = "hint: name another directory with `--corpus`, or remove it";
        return Err(format!("`{}` holds something else\n{hint}", home.join("projects").display()));
    }
    let facts = write(home, size_mb, seed).map_err(fail)?;
    let mut file = File::create(home.join(FACTS)).map_err(fail)?;
    let text = serde_json::to_vec(&facts).map_err(|error| format!("cannot write the facts: {error}"))?;
    file.write_all(&text).map_err(fail)?;
    Ok(facts)
}

fn write(home: &Path, size_mb: u64, seed: u64) -> std::io::Result<Facts> {
    let mut dice = Dice::new(seed);
    let mut facts = Facts { size_mb, seed, ..Facts::default() };
    let wanted = size_mb * 1_000_000;
    let mut session = 0;
    let mut copied: Vec<u8> = Vec::new();
    while facts.bytes < wanted {
        let folder = home.join("projects").join(format!("-home-dev-project-{}", session % 40));
        fs::create_dir_all(&folder)?;
        let name = dice.uuid();
        let mut writer = Writer::new(&mut dice, &name, session);
        // A tenth of the sessions begin with the first rows of the session before them.
        let forked = session % 10 == 9 && !copied.is_empty();
        if forked {
            writer.copy(&copied);
        }
        let own = writer.out.len();
        let agents = writer.session(&mut facts);
        let head = writer.out.get(own..).unwrap_or_default();
        let end =
            head.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(60).map_or(0, |(at, _)| at + 1);
        copied = head.get(..end).unwrap_or_default().to_vec();
        let out = std::mem::take(&mut writer.out);
        put(&folder.join(format!("{name}.jsonl")), &out, &mut facts)?;
        for agent in agents {
            let inside = folder.join(&name).join("subagents");
            fs::create_dir_all(&inside)?;
            let mut writer = Writer::new(&mut dice, &name, session);
            writer.agent(&agent, &mut facts);
            let out = std::mem::take(&mut writer.out);
            put(&inside.join(format!("agent-{agent}.jsonl")), &out, &mut facts)?;
        }
        session += 1;
    }
    Ok(facts)
}

fn put(path: &Path, content: &[u8], facts: &mut Facts) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(content)?;
    file.flush()?;
    let copies = memchr::memmem::find_iter(content, br#""type":"tool_use""#).count() as u64;
    facts.calls += copies;
    facts.files += 1;
    facts.bytes += content.len() as u64;
    facts.rows += memchr::memchr_iter(b'\n', content).count() as u64;
    facts.usage_rows += memchr::memmem::find_iter(content, br#""usage":{"#).count() as u64;
    Ok(())
}
