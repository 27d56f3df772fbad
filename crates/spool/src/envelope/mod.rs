//! The envelope: one observation written down.
//!
//! # Format, version 1
//!
//! ```text
//! agent-tracer-envelope 1\n            the magic and the version
//! agent: claude_code\n                 header lines: name, colon, one space, value
//! channel: hook\n
//! arrived: 1731600000123456789\n
//! length: 17\n
//! cwd: /home/dev/caf%C3\n
//! \n                                   an empty line ends the header
//! {"session_id":1}\n                   exactly `length` bytes of body, of any kind
//! \nxxh64: 0123456789abcdef\n          the trailer: 25 bytes, then the end of the file
//! ```
//!
//! - **Lines** end in one LF. Header lines may come in any order; the writer's order is the one of
//!   [`Header`]'s fields, with `length` after `arrived`. A line that may occur once must.
//! - **Names** are `A-Z a-z 0-9 . _ -`; any other byte is escaped.
//! - **Values** hold any bytes. `%`, control characters (U+0000–U+001F, U+007F–U+009F) and bytes that
//!   are not UTF-8 are written as `%` and two hexadecimal digits, everything else as it is; a path
//!   therefore comes back byte for byte. The reader takes any escape, the writer only these.
//! - **Numbers** are decimal digits, at most `u64`.
//! - **Trailer**: XXH64 (seed 0) of every byte before the trailer, sixteen lower-case digits.
//! - **Limits**: the version line and the header up to and with the empty line take at most
//!   [`HEADER_BYTES_MAX`] bytes and [`HEADER_LINES_MAX`] lines, the whole envelope at most
//!   [`ENVELOPE_BYTES_MAX`]. The writer leaves out optional lines that would break the header's limits
//!   and writes their number into `omitted`.
//!
//! | line | value |
//! |---|---|
//! | `agent` | the id of an agent ([`Agent`]); required |
//! | `channel` | `hook` or `statusline`; required |
//! | `arrived` | nanoseconds since the epoch; required |
//! | `length` | bytes of the body; required |
//! | `writer` | version of the hook |
//! | `level` | privacy level that was applied |
//! | `received-bytes` | bytes of the payload before privacy |
//! | `fault` | `<what>@<byte position>`: the payload was not understood, so the body is empty |
//! | `pid`, `pid-start`, `pid-namespace` | the agent's process: id, kernel start time, namespace |
//! | `parent-pid`, `hook-pid` | the hook's parent and the hook itself |
//! | `cwd` | the hook's working directory |
//! | `env.<NAME>` | a named environment variable, any number of them |
//! | `omitted` | how many lines did not fit |
//!
//! A reader keeps lines that it does not know ([`Header::other`]), so an older server survives a newer
//! hook. A change that an older reader would misunderstand gets a new version number.

mod encode;
mod error;
mod escape;
mod names;
mod parse;

use std::borrow::Cow;

pub use agent_tracer_agent::Agent;
pub use encode::encode;
pub use error::EnvelopeError;
pub use parse::parse;

/// The first line up to the version number.
pub(crate) const MAGIC: &[u8] = b"agent-tracer-envelope ";
/// The version this crate writes and reads.
pub(crate) const VERSION: &[u8] = b"1";
/// The trailer up to the checksum's digits.
pub(crate) const TRAILER_PREFIX: &[u8] = b"\nxxh64: ";
/// The trailer: its prefix, sixteen digits and a line feed.
pub(crate) const TRAILER_BYTES: usize = 8 + 16 + 1;

/// The most bytes of a whole envelope: a bigger one is neither written nor read.
pub const ENVELOPE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The most bytes up to the end of the header, so that a hostile file costs little to refuse.
pub const HEADER_BYTES_MAX: usize = 64 * 1024;
/// The most lines of a header.
pub const HEADER_LINES_MAX: usize = 256;

/// The way in which the observation reached the hook binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channel {
    /// An event of the agent's hook system.
    Hook,
    /// A refresh of the status line.
    Statusline,
    /// The decision of a user's rule on an event, in our own words, not the agent's.
    Decision,
}

impl Channel {
    /// Returns the channel's name as it stands in envelopes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Channel::Hook => "hook",
            Channel::Statusline => "statusline",
            Channel::Decision => "decision",
        }
    }
}

/// A fault in the payload, which leaves the body empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault<'a> {
    /// The fault in a few words of ours; never text of the payload.
    pub what: Cow<'a, str>,
    /// The byte position in the payload.
    pub at: u64,
}

/// The facts about an observation besides its bytes.
///
/// Borrows where it can: the hook writes it without a copy, and the reader allocates only for values
/// that hold escapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header<'a> {
    /// The product whose hook was called.
    pub agent: Agent,
    /// The way in.
    pub channel: Channel,
    /// The start of the hook, in nanoseconds since the epoch.
    pub arrived_nanos: u64,
    /// The version of the hook that wrote the envelope.
    pub writer: Option<Cow<'a, str>>,
    /// The privacy level that was applied to the body.
    pub level: Option<Cow<'a, str>>,
    /// Bytes of the payload as it arrived; the body is the payload after privacy.
    pub received_bytes: Option<u64>,
    /// Set if the payload was not understood; the body is then empty.
    pub fault: Option<Fault<'a>>,
    /// The agent's process.
    pub pid: Option<u32>,
    /// The start of that process in the kernel's own unit, only for comparison: it distinguishes the
    /// process from a later one with the same id.
    pub pid_start: Option<u64>,
    /// The pid namespace that the ids belong to; ids of different namespaces do not compare.
    pub pid_namespace: Option<u64>,
    /// The hook's parent: the agent, or a shell between the two.
    pub parent_pid: Option<u32>,
    /// The hook itself.
    pub hook_pid: Option<u32>,
    /// The hook's working directory, as bytes: paths need not be UTF-8.
    pub cwd: Option<Cow<'a, [u8]>>,
    /// Named environment variables.
    pub env: Vec<(Cow<'a, str>, Cow<'a, [u8]>)>,
    /// Lines that this version does not know, in their order.
    pub other: Vec<(Cow<'a, str>, Cow<'a, [u8]>)>,
    /// The number of lines that the writer left out because the header was full.
    pub omitted: u64,
}

impl<'a> Header<'a> {
    /// Returns a header with the required lines only.
    pub fn new(agent: Agent, channel: Channel, arrived_nanos: u64) -> Header<'a> {
        Header {
            agent,
            channel,
            arrived_nanos,
            writer: None,
            level: None,
            received_bytes: None,
            fault: None,
            pid: None,
            pid_start: None,
            pid_namespace: None,
            parent_pid: None,
            hook_pid: None,
            cwd: None,
            env: Vec::new(),
            other: Vec::new(),
            omitted: 0,
        }
    }

    /// Returns the same header without borrows.
    pub fn into_owned(self) -> Header<'static> {
        fn text(value: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(value.into_owned())
        }
        fn bytes(value: Cow<'_, [u8]>) -> Cow<'static, [u8]> {
            Cow::Owned(value.into_owned())
        }
        fn pairs(list: Vec<(Cow<'_, str>, Cow<'_, [u8]>)>) -> Vec<(Cow<'static, str>, Cow<'static, [u8]>)> {
            list.into_iter().map(|(name, value)| (text(name), bytes(value))).collect()
        }
        Header {
            agent: self.agent,
            channel: self.channel,
            arrived_nanos: self.arrived_nanos,
            writer: self.writer.map(text),
            level: self.level.map(text),
            received_bytes: self.received_bytes,
            fault: self.fault.map(|fault| Fault { what: text(fault.what), at: fault.at }),
            pid: self.pid,
            pid_start: self.pid_start,
            pid_namespace: self.pid_namespace,
            parent_pid: self.parent_pid,
            hook_pid: self.hook_pid,
            cwd: self.cwd.map(bytes),
            env: pairs(self.env),
            other: pairs(self.other),
            omitted: self.omitted,
        }
    }
}

/// An envelope as it was read: both parts borrow from the file's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The facts about the observation besides its bytes.
    pub header: Header<'a>,
    /// The observation's bytes after privacy; empty if the header has a fault.
    pub body: &'a [u8],
}
