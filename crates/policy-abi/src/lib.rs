//! `policy.tbl`: the events that need an answer, and the decision that holds if none arrives.
//!
//! The hook reads this file before every event that a rule can name; everything in it is ready to be compared and
//! printed. Std only, and no allocation; the caller reads the file.
//!
//! # The file
//!
//! All numbers are unsigned and little-endian. The file is written to a temporary name and renamed, so it is whole or
//! it is not there; the checksum is against damage, not against an attacker, who could as well rewrite it.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 8 | `ATPOLTB` and the version, the byte `2` |
//! | 8 | 4 | length of the whole file in bytes |
//! | 12 | 8 | FNV-1a, 64 bits, of everything from offset 20 on |
//! | 20 | 4 | time that the hook waits for an answer, in milliseconds |
//! | 24 | 4 | number of rows |
//! | 28 | 7 | a text: the program that answers where no server does, as an absolute path; empty if there is none |
//! | 35 | 1 | zero |
//! | 36 | 52 × rows | the rows |
//! | … | … | the texts, one after the other |
//!
//! A text is written as its offset from the beginning of the file (4 bytes) and its length (3 bytes). A row holds seven
//! texts, then three numbers of one byte:
//!
//! | offset in the row | |
//! |---|---|
//! | 0 | agent, by its id |
//! | 7 | event, as the agent spells it |
//! | 14 | tool: a pattern in which `*` stands for anything and `?` for one byte; `*` alone also for no tool |
//! | 21 | project: its root, for rules that hold only below it; empty for all |
//! | 28 | text to print on standard output in an outage |
//! | 35 | text to print on standard error in an outage |
//! | 42 | the rule that decides in an outage, as `<origin>/<name>` |
//! | 49 | strictness of the outage: 0 allow, 1 ask, 2 deny |
//! | 50 | exit code in an outage |
//! | 51 | the program that must answer: 0 any, 1 only the server, because only it can evaluate the rules of this row |
//!
//! Rows stand in no order. All rows that match an event count: it needs an answer, and in an outage the strictest of
//! them holds; among equals the first.
//!
//! [`wire`] defines the messages between the hook and the server.

pub mod wire;

use std::collections::HashMap;
use std::fmt;

/// The name of the file, in the folder of Agent Tracer's own data.
pub const FILE_NAME: &str = "policy.tbl";
/// The events that rules can be about. A hook without a sound table asks at each of them.
pub const EVENTS: [&[u8]; 9] = [
    b"UserPromptSubmit",
    b"PreToolUse",
    b"PermissionRequest",
    b"PostToolUse",
    b"PostToolUseFailure",
    b"Stop",
    b"SubagentStop",
    b"TaskCompleted",
    b"TeammateIdle",
];
/// The file with the rules of a project, below the project's root.
pub const PROJECT_FILE: &str = ".agent-tracer/policy.toml";
/// The default time that a hook waits for an answer, in milliseconds.
pub const DEADLINE_MS: u32 = 50;
/// The longest file that is read, in bytes.
pub const BYTES_MAX: usize = 8 << 20;
/// The most rows.
pub const ROWS_MAX: usize = 65_536;

const MAGIC: &[u8; 8] = b"ATPOLTB2";
const HEADER: usize = 36;
const ROW: usize = 52;
const CHECKED: usize = 20;

/// The decision that holds in an outage, least strict first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outage {
    /// The hook stays silent.
    #[default]
    Allow,
    /// The human decides.
    Ask,
    /// The event is refused.
    Deny,
}

/// A row: an event that needs an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row<'b> {
    /// The agent, by its id.
    pub agent: &'b [u8],
    /// The event, as the agent spells it.
    pub event: &'b [u8],
    /// A pattern for the tool.
    pub tool: &'b [u8],
    /// The root of the project below which this holds; empty for everywhere.
    pub project: &'b [u8],
    /// The decision that holds in an outage.
    pub outage: Outage,
    /// The text for standard output in an outage.
    pub stdout: &'b [u8],
    /// The text for standard error in an outage.
    pub stderr: &'b [u8],
    /// The exit code of the hook in an outage.
    pub exit: u8,
    /// The rule that decides in an outage, as `<origin>/<name>`.
    pub rule: &'b [u8],
    /// Only the server can evaluate the rules of this row: while none runs, no answer is needed.
    pub server_only: bool,
}

/// The rows that match an event, combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchedRows<'b> {
    /// The strictest row, which holds in an outage.
    pub row: Row<'b>,
    /// Every matching row is one that only the server can evaluate.
    pub server_only: bool,
}

/// A fault in the bytes of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Not a table, or one of another version.
    NotATable,
    /// Shorter or longer than it says.
    Torn,
    /// The checksum does not match.
    Changed,
    /// A text lies outside of the file, or a code is unknown.
    Broken,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotATable => "not a table of this version",
            Self::Torn => "its length does not match its header",
            Self::Changed => "its checksum does not match",
            Self::Broken => "a row points outside of the file",
        })
    }
}

impl std::error::Error for Damage {}

/// A table whose rows are known to be sound.
#[derive(Clone, Copy, Debug)]
pub struct Table<'b> {
    bytes: &'b [u8],
    deadline_ms: u32,
    guard: &'b [u8],
    rows: usize,
}

/// An event for which a hook looks up whether it needs an answer.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The agent, by its id.
    pub agent: &'q [u8],
    /// The event, as the agent spells it.
    pub event: &'q [u8],
    /// The tool; empty if there is none.
    pub tool: &'q [u8],
    /// The folders in which the agent works: its project and its working directory, as far as they are known.
    pub directories: [&'q [u8]; 2],
}

impl<'b> Table<'b> {
    /// Checks the bytes of a file. Every row of a table that opens is sound.
    pub fn open(bytes: &'b [u8]) -> Result<Self, Damage> {
        if bytes.get(..MAGIC.len()) != Some(MAGIC.as_slice()) {
            return Err(Damage::NotATable);
        }
        // The length comes before the sum: a file that ends early is torn, not changed.
        if number(bytes, 8, 4) != Some(bytes.len()) || bytes.len() > BYTES_MAX {
            return Err(Damage::Torn);
        }
        let sum = bytes.get(12..CHECKED).and_then(|sum| <[u8; 8]>::try_from(sum).ok()).ok_or(Damage::Torn)?;
        if checksum(bytes.get(CHECKED..).ok_or(Damage::Torn)?) != u64::from_le_bytes(sum) {
            return Err(Damage::Changed);
        }
        let deadline = number(bytes, 20, 4).and_then(|it| u32::try_from(it).ok()).ok_or(Damage::Torn)?;
        let rows = number(bytes, 24, 4).ok_or(Damage::Torn)?;
        let guard = text_at(bytes, 28).ok_or(Damage::Broken)?;
        if bytes.get(35) != Some(&0) {
            return Err(Damage::Broken);
        }
        let table = Self { bytes, deadline_ms: deadline, guard, rows };
        // Every row is read once here, so that a lookup needs no error path: a hook has no one to report an error to.
        if rows > ROWS_MAX || (0..rows).any(|index| table.row(index).is_none()) {
            return Err(Damage::Broken);
        }
        Ok(table)
    }

    /// Returns the time that a hook waits for an answer, in milliseconds.
    #[must_use]
    pub const fn deadline_ms(&self) -> u32 {
        self.deadline_ms
    }

    /// Returns the program that answers where no server does; empty if there is none.
    #[must_use]
    pub const fn guard(&self) -> &'b [u8] {
        self.guard
    }

    /// Returns every row.
    pub fn rows(&self) -> impl Iterator<Item = Row<'b>> + '_ {
        (0..self.rows).filter_map(|index| self.row(index))
    }

    /// Combines the rows that match an event. `None` if the event needs no answer.
    #[must_use]
    pub fn ask(&self, question: &Question<'_>) -> Option<MatchedRows<'b>> {
        let mut found: Option<MatchedRows<'b>> = None;
        for row in self.rows().filter(|row| row.matches_question(question)) {
            // One row that any program can answer is enough to need an answer while no server runs.
            let server_only = row.server_only && found.is_none_or(|known| known.server_only);
            // `>=` keeps the first of equals, as the format promises.
            let row = found.map(|known| known.row).filter(|known| known.outage >= row.outage).unwrap_or(row);
            found = Some(MatchedRows { row, server_only });
        }
        found
    }

    fn row(&self, index: usize) -> Option<Row<'b>> {
        let start = HEADER.checked_add(index.checked_mul(ROW)?)?;
        let text = |field: usize| text_at(self.bytes, start + field * 7);
        let byte = |at: usize| self.bytes.get(start + at).copied();
        let outage = match byte(49)? {
            0 => Outage::Allow,
            1 => Outage::Ask,
            2 => Outage::Deny,
            _ => return None,
        };
        let server_only = match byte(51)? {
            0 => false,
            1 => true,
            _ => return None,
        };
        Some(Row {
            agent: text(0)?,
            event: text(1)?,
            tool: text(2)?,
            project: text(3)?,
            stdout: text(4)?,
            stderr: text(5)?,
            rule: text(6)?,
            outage,
            exit: byte(50)?,
            server_only,
        })
    }
}

impl Row<'_> {
    fn matches_question(&self, question: &Question<'_>) -> bool {
        self.agent == question.agent
            && self.event == question.event
            && matches(self.tool, question.tool)
            && question.directories.iter().any(|directory| is_below(directory, self.project))
    }
}

/// Returns `true` if a folder equals `root` or lies below it.
fn is_below(directory: &[u8], root: &[u8]) -> bool {
    match directory.strip_prefix(root) {
        Some(rest) => root.is_empty() || root.ends_with(b"/") || rest.is_empty() || rest.starts_with(b"/"),
        None => false,
    }
}

/// Returns `true` if a pattern matches a name. Only the last `*` is tried again, so the time is the product of the
/// lengths.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut place) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = name.get(place) {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(expected) if *expected == b'?' || expected == byte => {
                at += 1;
                place += 1;
            }
            _ => match star {
                Some((back, seen)) => {
                    star = Some((back, seen + 1));
                    at = back + 1;
                    place = seen + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

fn number(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    let part = bytes.get(at..at.checked_add(length)?)?;
    Some(part.iter().rev().fold(0, |sum, byte| (sum << 8) | usize::from(*byte)))
}

/// Reads the text whose offset and length stand at `at`.
fn text_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let offset = number(bytes, at, 4)?;
    let length = number(bytes, at + 4, 3)?;
    bytes.get(offset..offset.checked_add(length)?)
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        // FNV-1a fits into one line and needs no dependency. It guards against damage, not against an attacker.
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The rules do not fit into a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the rules need more than {ROWS_MAX} rows or {BYTES_MAX} bytes")
    }
}

impl std::error::Error for TooLarge {}

/// Makes the bytes of a table. Equal texts are stored once.
pub fn build(deadline_ms: u32, guard: &[u8], rows: &[Row<'_>]) -> Result<Vec<u8>, TooLarge> {
    if rows.len() > ROWS_MAX {
        return Err(TooLarge);
    }
    // The texts follow the rows, so that a row is found by its number alone.
    let mut texts = Texts { first: HEADER + rows.len() * ROW, bytes: Vec::new(), known: HashMap::new() };
    let mut checked = deadline_ms.to_le_bytes().to_vec();
    checked.extend(encode_number(rows.len(), 4)?);
    checked.extend(texts.store(guard)?);
    checked.push(0);
    for row in rows {
        for text in [row.agent, row.event, row.tool, row.project, row.stdout, row.stderr, row.rule] {
            checked.extend(texts.store(text)?);
        }
        let outage = match row.outage {
            Outage::Allow => 0,
            Outage::Ask => 1,
            Outage::Deny => 2,
        };
        checked.extend([outage, row.exit, u8::from(row.server_only)]);
    }
    let length = texts.first + texts.bytes.len();
    if length > BYTES_MAX {
        return Err(TooLarge);
    }
    checked.extend(texts.bytes);
    let mut bytes = MAGIC.to_vec();
    bytes.extend(encode_number(length, 4)?);
    bytes.extend(checksum(&checked).to_le_bytes());
    bytes.extend(checked);
    Ok(bytes)
}

/// The texts of a table that is being made.
struct Texts<'r> {
    /// The offset of the first text.
    first: usize,
    bytes: Vec<u8>,
    known: HashMap<&'r [u8], usize>,
}

impl<'r> Texts<'r> {
    /// Stores a text once and returns its place as a row holds it: offset, then length.
    fn store(&mut self, text: &'r [u8]) -> Result<Vec<u8>, TooLarge> {
        let offset = match self.known.get(text) {
            Some(offset) => *offset,
            None => {
                let offset = self.first + self.bytes.len();
                self.bytes.extend_from_slice(text);
                self.known.insert(text, offset);
                offset
            }
        };
        let mut place = encode_number(offset, 4)?;
        place.extend(encode_number(text.len(), 3)?);
        Ok(place)
    }
}

fn encode_number(value: usize, bytes: usize) -> Result<Vec<u8>, TooLarge> {
    let all = u64::try_from(value).map_err(|_| TooLarge)?.to_le_bytes();
    // A number that does not fit is refused and never cut: a cut offset would name another text.
    let (low, high) = all.split_at_checked(bytes).ok_or(TooLarge)?;
    if high.iter().any(|byte| *byte != 0) {
        return Err(TooLarge);
    }
    Ok(low.to_vec())
}
