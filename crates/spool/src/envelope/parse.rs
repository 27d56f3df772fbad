//! The one reader of envelopes: total, and strict about everything but unknown lines.
//!
//! The checksum is judged before the header is read, so a rotten file is reported as rotten and not
//! by the first line that its damage made unreadable.

use std::borrow::Cow;

use super::escape::{is_plain_in_name, unescape};
use super::{
    Agent, Channel, ENVELOPE_BYTES_MAX, Envelope, EnvelopeError, Fault, HEADER_BYTES_MAX, HEADER_LINES_MAX,
    Header, MAGIC, TRAILER_BYTES, TRAILER_PREFIX, VERSION,
};
use crate::checksum::xxh64;
use crate::decimal;

/// Reads a whole envelope; bytes after the trailer make it a torn one.
pub fn parse(bytes: &[u8]) -> Result<Envelope<'_>, EnvelopeError> {
    if bytes.len() > ENVELOPE_BYTES_MAX {
        return Err(EnvelopeError::TooLarge { bytes: bytes.len() });
    }
    check_version(bytes)?;
    let content = check_trailer(bytes)?;
    let (header, body) = split_header(content)?;
    let mut fields = Fields::default();
    for (index, line) in header.split(|byte| *byte == b'\n').enumerate().skip(1) {
        if index >= HEADER_LINES_MAX {
            return Err(EnvelopeError::TooManyLines);
        }
        let (name, value) = read_line(line, index + 1)?;
        fields.take(name, value)?;
    }
    let (header, length) = fields.finish()?;
    if length != body.len() as u64 {
        return Err(EnvelopeError::LengthMismatch { stated: length, found: body.len() });
    }
    Ok(Envelope { header, body })
}

fn check_version(bytes: &[u8]) -> Result<(), EnvelopeError> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        let begun = MAGIC.starts_with(bytes);
        return Err(if begun {
            EnvelopeError::Torn { bytes: bytes.len() }
        } else {
            EnvelopeError::NotAnEnvelope
        });
    };
    let version = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if version == VERSION {
        return Ok(());
    }
    // A file cut inside its first line has no version to speak of.
    if version.len() == rest.len() {
        return Err(EnvelopeError::Torn { bytes: bytes.len() });
    }
    let shown = String::from_utf8_lossy(version.get(..16).unwrap_or(version)).into_owned();
    Err(EnvelopeError::UnsupportedVersion(shown))
}

/// Returns everything before the trailer.
fn check_trailer(bytes: &[u8]) -> Result<&[u8], EnvelopeError> {
    let torn = EnvelopeError::Torn { bytes: bytes.len() };
    let Some((content, trailer)) =
        bytes.len().checked_sub(TRAILER_BYTES).and_then(|at| bytes.split_at_checked(at))
    else {
        return Err(torn);
    };
    let digits = trailer.strip_prefix(TRAILER_PREFIX).and_then(|rest| rest.strip_suffix(b"\n"));
    let Some(stated) = digits.and_then(read_lower_hex) else {
        return Err(torn);
    };
    let computed = xxh64(content);
    if stated == computed { Ok(content) } else { Err(EnvelopeError::ChecksumMismatch { stated, computed }) }
}

fn read_lower_hex(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |number, byte| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u64::from(digit))
    })
}

/// Splits at the first empty line; the header keeps its version line and loses its last line feed.
fn split_header(content: &[u8]) -> Result<(&[u8], &[u8]), EnvelopeError> {
    // Only the head is searched: a body may have megabytes without an empty line.
    let searched = content.get(..HEADER_BYTES_MAX).unwrap_or(content);
    let Some(end) = searched.windows(2).position(|pair| pair == b"\n\n") else {
        let whole = searched.len() == content.len();
        return Err(if whole { EnvelopeError::HeaderNotEnded } else { EnvelopeError::HeaderTooLong });
    };
    let (header, rest) = content.split_at_checked(end).unwrap_or((content, b""));
    Ok((header, rest.strip_prefix(b"\n\n").unwrap_or_default()))
}

type Line<'a> = (Cow<'a, [u8]>, Cow<'a, [u8]>);

fn read_line(line: &[u8], number: usize) -> Result<Line<'_>, EnvelopeError> {
    let malformed = EnvelopeError::MalformedLine { line: number };
    let Some(colon) = line.iter().position(|byte| *byte == b':') else {
        return Err(malformed);
    };
    let (name, rest) = line.split_at_checked(colon).unwrap_or((line, b""));
    let Some(value) = rest.strip_prefix(b": ") else {
        return Err(malformed);
    };
    if name.is_empty() || !name.iter().all(|byte| is_plain_in_name(*byte) || *byte == b'%') {
        return Err(malformed);
    }
    match (unescape(name), unescape(value)) {
        (Some(name), Some(value)) => Ok((name, value)),
        _ => Err(EnvelopeError::BadEscape { line: number }),
    }
}

/// The header's values while its lines are read.
#[derive(Default)]
struct Fields<'a> {
    agent: Option<Agent>,
    channel: Option<Channel>,
    arrived_nanos: Option<u64>,
    length: Option<u64>,
    writer: Option<Cow<'a, str>>,
    level: Option<Cow<'a, str>>,
    received_bytes: Option<u64>,
    fault: Option<Fault<'a>>,
    pid: Option<u32>,
    pid_start: Option<u64>,
    pid_namespace: Option<u64>,
    parent_pid: Option<u32>,
    hook_pid: Option<u32>,
    cwd: Option<Cow<'a, [u8]>>,
    env: Vec<(Cow<'a, str>, Cow<'a, [u8]>)>,
    other: Vec<(Cow<'a, str>, Cow<'a, [u8]>)>,
    omitted: Option<u64>,
}

impl<'a> Fields<'a> {
    fn take(&mut self, name: Cow<'a, [u8]>, value: Cow<'a, [u8]>) -> Result<(), EnvelopeError> {
        match name.as_ref() {
            b"agent" => once(&mut self.agent, "agent", read_agent(&value)),
            b"channel" => once(&mut self.channel, "channel", read_channel(&value)),
            b"arrived" => once(&mut self.arrived_nanos, "arrived", decimal::read(&value)),
            b"length" => once(&mut self.length, "length", decimal::read(&value)),
            b"writer" => once(&mut self.writer, "writer", text(value)),
            b"level" => once(&mut self.level, "level", text(value)),
            b"received-bytes" => once(&mut self.received_bytes, "received-bytes", decimal::read(&value)),
            b"fault" => once(&mut self.fault, "fault", read_fault(value)),
            b"pid" => once(&mut self.pid, "pid", read_pid(&value)),
            b"pid-start" => once(&mut self.pid_start, "pid-start", decimal::read(&value)),
            b"pid-namespace" => once(&mut self.pid_namespace, "pid-namespace", decimal::read(&value)),
            b"parent-pid" => once(&mut self.parent_pid, "parent-pid", read_pid(&value)),
            b"hook-pid" => once(&mut self.hook_pid, "hook-pid", read_pid(&value)),
            b"cwd" => once(&mut self.cwd, "cwd", Some(value)),
            b"omitted" => once(&mut self.omitted, "omitted", decimal::read(&value)),
            _ => {
                let name = text(name).ok_or(EnvelopeError::BadValue("name"))?;
                match name.strip_prefix("env.") {
                    Some(variable) => self.env.push((Cow::Owned(variable.to_owned()), value)),
                    None => self.other.push((name, value)),
                }
                Ok(())
            }
        }
    }

    fn finish(self) -> Result<(Header<'a>, u64), EnvelopeError> {
        let length = self.length.ok_or(EnvelopeError::Missing("length"))?;
        let header = Header {
            agent: self.agent.ok_or(EnvelopeError::Missing("agent"))?,
            channel: self.channel.ok_or(EnvelopeError::Missing("channel"))?,
            arrived_nanos: self.arrived_nanos.ok_or(EnvelopeError::Missing("arrived"))?,
            writer: self.writer,
            level: self.level,
            received_bytes: self.received_bytes,
            fault: self.fault,
            pid: self.pid,
            pid_start: self.pid_start,
            pid_namespace: self.pid_namespace,
            parent_pid: self.parent_pid,
            hook_pid: self.hook_pid,
            cwd: self.cwd,
            env: self.env,
            other: self.other,
            omitted: self.omitted.unwrap_or_default(),
        };
        Ok((header, length))
    }
}

/// Fills a field that may be filled once, with a value that must have been readable.
fn once<T>(slot: &mut Option<T>, name: &'static str, value: Option<T>) -> Result<(), EnvelopeError> {
    if slot.is_some() {
        return Err(EnvelopeError::Repeated(name));
    }
    *slot = Some(value.ok_or(EnvelopeError::BadValue(name))?);
    Ok(())
}

fn read_agent(value: &[u8]) -> Option<Agent> {
    std::str::from_utf8(value).ok().and_then(Agent::parse)
}

fn read_channel(value: &[u8]) -> Option<Channel> {
    [Channel::Hook, Channel::Statusline, Channel::Decision]
        .into_iter()
        .find(|channel| channel.as_str().as_bytes() == value)
}

fn read_pid(value: &[u8]) -> Option<u32> {
    decimal::read(value).and_then(|number| u32::try_from(number).ok())
}

fn read_fault(value: Cow<'_, [u8]>) -> Option<Fault<'_>> {
    let at = value.iter().rposition(|byte| *byte == b'@')?;
    let position = decimal::read(value.get(at + 1..)?)?;
    let what = match value {
        Cow::Borrowed(bytes) => text(Cow::Borrowed(bytes.get(..at)?))?,
        Cow::Owned(mut bytes) => {
            bytes.truncate(at);
            text(Cow::Owned(bytes))?
        }
    };
    Some(Fault { what, at: position })
}

fn text(value: Cow<'_, [u8]>) -> Option<Cow<'_, str>> {
    match value {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
    }
}
