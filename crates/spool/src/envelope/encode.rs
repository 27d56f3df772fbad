//! The one writer of envelopes.
//!
//! Runs in the hook for every event: one buffer, no formatting machinery, no failure. A line that would
//! break the header's limits is left out and counted rather than cut: half a path names another place.

use super::escape::{push_name, push_value};
use super::{
    HEADER_BYTES_MAX, HEADER_LINES_MAX, Header, MAGIC, TRAILER_BYTES, TRAILER_PREFIX, VERSION, names,
};
use crate::checksum::xxh64;
use crate::decimal;

/// Bytes and lines kept free for the `omitted` line and the empty one.
const RESERVED_BYTES: usize = 64;
const RESERVED_LINES: usize = 2;

/// Appends the envelope to `out`, which is usually empty.
///
/// Never fails. The spool checks the result against [`super::ENVELOPE_BYTES_MAX`].
pub fn encode(header: &Header<'_>, body: &[u8], out: &mut Vec<u8>) {
    out.reserve(1024 + body.len());
    let start = out.len();
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(VERSION);
    out.push(b'\n');
    let mut lines = Lines { out, start, count: 1, omitted: header.omitted };
    lines.value(names::AGENT, header.agent.as_str().as_bytes());
    lines.value(names::CHANNEL, header.channel.as_str().as_bytes());
    lines.number(names::ARRIVED, header.arrived_nanos);
    lines.number(names::LENGTH, body.len() as u64);
    lines.optional_value(names::WRITER, header.writer.as_deref().map(str::as_bytes));
    lines.optional_value(names::LEVEL, header.level.as_deref().map(str::as_bytes));
    lines.optional_number(names::RECEIVED_BYTES, header.received_bytes);
    if let Some(fault) = &header.fault {
        lines.line(names::FAULT, fault.what.len(), |out| {
            push_value(out, fault.what.as_bytes());
            out.push(b'@');
            decimal::push(out, fault.at);
        });
    }
    lines.optional_number(names::PID, header.pid.map(u64::from));
    lines.optional_number(names::PID_START, header.pid_start);
    lines.optional_number(names::PID_NAMESPACE, header.pid_namespace);
    lines.optional_number(names::PARENT_PID, header.parent_pid.map(u64::from));
    lines.optional_number(names::HOOK_PID, header.hook_pid.map(u64::from));
    lines.optional_value(names::CWD, header.cwd.as_deref());
    for (name, value) in &header.env {
        lines.pair(names::ENV_PREFIX, name.as_bytes(), value);
    }
    for (name, value) in &header.other {
        // A reader would take it for one of ours, or could not read the envelope at all.
        if names::is_ours(name.as_bytes()) || name.is_empty() {
            lines.omitted += 1;
        } else {
            lines.pair(b"", name.as_bytes(), value);
        }
    }
    let Lines { out, omitted, .. } = lines;
    if omitted > 0 {
        push_line(out, names::OMITTED, |out| decimal::push(out, omitted));
    }
    out.push(b'\n');
    out.extend_from_slice(body);
    push_trailer(out, start);
}

/// The header under construction, with its counts for the limits.
struct Lines<'o> {
    out: &'o mut Vec<u8>,
    /// The offset of the envelope in `out`.
    start: usize,
    /// Lines so far, with the version line.
    count: usize,
    /// Lines left out.
    omitted: u64,
}

impl Lines<'_> {
    fn value(&mut self, name: &[u8], value: &[u8]) {
        self.line(name, value.len(), |out| push_value(out, value));
    }

    fn number(&mut self, name: &[u8], number: u64) {
        self.line(name, 0, |out| decimal::push(out, number));
    }

    fn optional_value(&mut self, name: &[u8], value: Option<&[u8]>) {
        if let Some(value) = value {
            self.value(name, value);
        }
    }

    fn optional_number(&mut self, name: &[u8], number: Option<u64>) {
        if let Some(number) = number {
            self.number(name, number);
        }
    }

    fn pair(&mut self, prefix: &[u8], name: &[u8], value: &[u8]) {
        let bytes = name.len().saturating_add(value.len());
        self.guarded(bytes, |out| {
            out.extend_from_slice(prefix);
            push_name(out, name);
            out.extend_from_slice(b": ");
            push_value(out, value);
            out.push(b'\n');
        });
    }

    fn line(&mut self, name: &[u8], bytes: usize, value: impl FnOnce(&mut Vec<u8>)) {
        self.guarded(bytes, |out| push_line(out, name, value));
    }

    /// Writes a line, and takes it back if it breaks a limit. `bytes` is the least it can need, so
    /// that a giant value is not copied first.
    fn guarded(&mut self, bytes: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let limit = HEADER_BYTES_MAX - RESERVED_BYTES;
        if bytes > limit || self.count + RESERVED_LINES >= HEADER_LINES_MAX {
            self.omitted += 1;
            return;
        }
        let mark = self.out.len();
        write(self.out);
        if self.out.len() - self.start > limit {
            self.out.truncate(mark);
            self.omitted += 1;
        } else {
            self.count += 1;
        }
    }
}

fn push_line(out: &mut Vec<u8>, name: &[u8], value: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    value(out);
    out.push(b'\n');
}

/// Appends the trailer over everything from `start`.
fn push_trailer(out: &mut Vec<u8>, start: usize) {
    let sum = xxh64(out.get(start..).unwrap_or_default());
    let mut trailer = [b'\n'; TRAILER_BYTES];
    for (slot, byte) in trailer.iter_mut().zip(TRAILER_PREFIX) {
        *slot = *byte;
    }
    for (index, slot) in trailer.iter_mut().skip(TRAILER_PREFIX.len()).take(16).enumerate() {
        let nibble = (sum >> (60 - 4 * index)) as u8 & 15;
        *slot = if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
    }
    out.extend_from_slice(&trailer);
}
