//! Whatever bytes lie in the spool, the reader answers; and what it accepts, the writer can repeat.
//!
//! Most mutations would die at the checksum, so each input is also tried with its last bytes replaced by
//! a right trailer.

use agent_tracer_spool::EnvelopeName;
use agent_tracer_spool::checksum::xxh64;
use agent_tracer_spool::envelope::{Agent, Channel, Fault, Header, encode, parse};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "envelope",
    run,
    seeds,
    dictionary: &[
        b"agent-tracer-envelope 1\n",
        b"agent: codex\n",
        b"agent: claude_code\n",
        b"channel: hook\n",
        b"channel: statusline\n",
        b"arrived: 1731600000123456789\n",
        b"length: 0\n",
        b"length: 17\n",
        b"writer: 0.1.0\n",
        b"level: actions\n",
        b"received-bytes: 1\n",
        b"fault: x@1\n",
        b"fault: @\n",
        b"pid: 1\n",
        b"pid-start: 1\n",
        b"pid-namespace: 1\n",
        b"parent-pid: 1\n",
        b"hook-pid: 1\n",
        b"cwd: /\n",
        b"env.A: b\n",
        b"env.: \n",
        b"omitted: 1\n",
        b"%61gent: codex\n",
        b"new-line: %0A\n",
        b": ",
        b"\n\n",
        b"\nxxh64: 0000000000000000\n",
        b"%FF",
        b"%zz",
    ],
};

const TRAILER_BYTES: usize = 25;

fn run(bytes: &[u8]) {
    check(bytes);
    let content = bytes.get(..bytes.len().saturating_sub(TRAILER_BYTES)).unwrap_or_default();
    check(&sealed(content));
    if let Some(name) = EnvelopeName::parse(bytes) {
        assert_eq!(name.as_str().as_bytes(), bytes, "a name is one text");
    }
}

fn check(bytes: &[u8]) {
    let envelope = match parse(bytes) {
        Ok(envelope) => envelope,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let mut again = Vec::new();
    encode(&envelope.header, envelope.body, &mut again);
    // A header at the very limit may lose lines when it is written again, but only counted ones.
    let repeated = parse(&again).expect("what the writer writes the reader reads");
    assert_eq!(repeated.body, envelope.body);
    if repeated.header.omitted == envelope.header.omitted {
        assert_eq!(repeated.header, envelope.header);
    }
}

fn sealed(content: &[u8]) -> Vec<u8> {
    let mut bytes = content.to_vec();
    bytes.extend(format!("\nxxh64: {:016x}\n", xxh64(content)).into_bytes());
    bytes
}

fn seeds() -> Vec<Vec<u8>> {
    let small = Header::new(Agent::CODEX, Channel::Hook, 1);
    let mut full = Header::new(Agent::CLAUDE_CODE, Channel::Statusline, 1_731_600_000_123_456_789);
    full.writer = Some("0.1.0".into());
    full.level = Some("actions".into());
    full.received_bytes = Some(2048);
    full.fault = Some(Fault { what: "truncated".into(), at: 17 });
    full.pid = Some(812);
    full.pid_start = Some(123_456);
    full.pid_namespace = Some(4_026_531_836);
    full.parent_pid = Some(811);
    full.hook_pid = Some(813);
    full.cwd = Some(b"/home/dev/caf\xe9 100%\n"[..].into());
    full.env = vec![("CLAUDE_PROJECT_DIR".into(), b"/home/dev/project"[..].into())];
    full.other = vec![("new-line".into(), "日本".as_bytes().into())];
    let encoded = |header: &Header<'_>, body: &[u8]| {
        let mut bytes = Vec::new();
        encode(header, body, &mut bytes);
        bytes
    };
    vec![
        encoded(&small, b""),
        encoded(&full, b""),
        encoded(&full, b"{\"hook_event_name\":\"PreToolUse\"}\n\n"),
        b"01731600000123456789-812-0".to_vec(),
    ]
}
