//! From an agent's payload to what may be written.

use crate::config::Config;
use crate::scan::{Cursor, Fault, FaultKind};

/// Who made the payload, and through which door it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A hook of Claude Code.
    ClaudeHook,
    /// A hook of Codex.
    CodexHook,
    /// Claude Code's status line.
    StatusLine,
}

/// What became of a payload.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reduction {
    /// Why the payload was not understood; then nothing of it was written.
    pub fault: Option<Fault>,
    /// How many secrets were masked.
    pub masked: u32,
    /// The payload's working directory, unescaped; only looked up when the configuration excludes folders.
    pub cwd: Option<Vec<u8>>,
    /// The payload's project directory (status line), likewise.
    pub project_dir: Option<Vec<u8>>,
}

/// Appends to `out` what may be kept of `input`, as one compact JSON object.
///
/// `key` is asked at most once, and only if something is hashed. If the payload cannot be understood, `out`
/// is left as it was and the fault says why.
pub fn reduce(
    input: &[u8],
    source: Source,
    config: &Config,
    key: &mut dyn FnMut() -> [u8; 16],
    out: &mut Vec<u8>,
) -> Reduction {
    let _ = (source, config, key);
    let start = out.len();
    let mut reduction = Reduction::default();
    let mut cursor = Cursor::new(input);
    if let Err(fault) = document(&mut cursor, out) {
        out.truncate(start);
        reduction.fault = Some(fault);
    }
    reduction
}

/// Until the rules are here, nothing is kept: the safe half of the contract.
fn document(cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
    cursor.blank();
    if cursor.peek() != Some(b'{') {
        return Err(cursor.fault(FaultKind::NotAnObject));
    }
    cursor.skip()?;
    cursor.blank();
    if cursor.peek().is_some() {
        return Err(cursor.fault(FaultKind::TrailingBytes));
    }
    out.extend_from_slice(b"{}");
    Ok(())
}
