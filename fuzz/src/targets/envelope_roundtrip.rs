//! Whatever a hook has to say, it comes back: the input is cut into the values of a header and a body.

use std::borrow::Cow;

use agent_tracer_spool::envelope::{Agent, Channel, Envelope, Fault, Header, encode, parse};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "envelope-roundtrip",
    run,
    seeds,
    dictionary: &[b"%", b"%41", b"\n", b"\r", b": ", b"@", b"agent", b"env.", b"\xc2\x9b", b"\xed\xa0\x80"],
};

fn run(bytes: &[u8]) {
    let mut rest = bytes;
    let mut header = Header::new(Agent::CODEX, Channel::Hook, number(&mut rest));
    header.pid = Some(number(&mut rest) as u32);
    header.pid_start = Some(number(&mut rest));
    header.received_bytes = Some(number(&mut rest));
    header.cwd = Some(Cow::Borrowed(value(&mut rest)));
    header.fault = Some(Fault { what: String::from_utf8_lossy(value(&mut rest)), at: number(&mut rest) });
    header.level = Some(String::from_utf8_lossy(value(&mut rest)));
    header.writer = Some(String::from_utf8_lossy(value(&mut rest)));
    while rest.first().is_some_and(|byte| byte % 2 == 1) {
        let name = String::from_utf8_lossy(value(&mut rest));
        header.env.push((name, Cow::Borrowed(value(&mut rest))));
        let name = Cow::Owned(format!("x-{}", String::from_utf8_lossy(value(&mut rest))));
        header.other.push((name, Cow::Borrowed(value(&mut rest))));
    }
    let mut written = Vec::new();
    encode(&header, rest, &mut written);
    let read = parse(&written).expect("what the writer writes the reader reads");
    if read.header.omitted == 0 {
        assert_eq!(read, Envelope { header, body: rest });
    } else {
        assert_eq!(read.body, rest);
    }
}

/// Takes eight bytes, or what is left of them, as a number.
fn number(rest: &mut &[u8]) -> u64 {
    take(rest, 8).iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Takes a value whose first byte is its length, or the logarithm of a long one.
fn value<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let length = take(rest, 1).first().map_or(0, |byte| match byte {
        0..=239 => usize::from(*byte),
        240..=255 => 1 << (byte - 239),
    });
    take(rest, length)
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, left) = rest.split_at_checked(length).unwrap_or((rest, b""));
    *rest = left;
    taken
}

fn seeds() -> Vec<Vec<u8>> {
    let mut plain = vec![0; 32];
    plain.extend(b"\x09/home/dev\x05what?");
    plain.extend([0; 8]);
    plain.extend(b"\x07actions\x050.1.0\x03AB=\x02\xff\n\x01y\x03v%v{\"body\":1}");
    vec![Vec::new(), plain, vec![0xff; 300], (0..=255).collect()]
}
