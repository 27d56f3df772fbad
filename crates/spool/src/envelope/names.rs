//! The names of the header lines that this version knows.

pub(super) const AGENT: &[u8] = b"agent";
pub(super) const CHANNEL: &[u8] = b"channel";
pub(super) const ARRIVED: &[u8] = b"arrived";
pub(super) const LENGTH: &[u8] = b"length";
pub(super) const WRITER: &[u8] = b"writer";
pub(super) const LEVEL: &[u8] = b"level";
pub(super) const RECEIVED_BYTES: &[u8] = b"received-bytes";
pub(super) const FAULT: &[u8] = b"fault";
pub(super) const PID: &[u8] = b"pid";
pub(super) const PID_START: &[u8] = b"pid-start";
pub(super) const PID_NAMESPACE: &[u8] = b"pid-namespace";
pub(super) const PARENT_PID: &[u8] = b"parent-pid";
pub(super) const HOOK_PID: &[u8] = b"hook-pid";
pub(super) const CWD: &[u8] = b"cwd";
pub(super) const OMITTED: &[u8] = b"omitted";
/// Before the name of an environment variable.
pub(super) const ENV_PREFIX: &[u8] = b"env.";

/// Returns `true` if the reader takes a line of this name for one of its own.
pub(super) fn is_ours(name: &[u8]) -> bool {
    const PLAIN: [&[u8]; 15] = [
        AGENT,
        CHANNEL,
        ARRIVED,
        LENGTH,
        WRITER,
        LEVEL,
        RECEIVED_BYTES,
        FAULT,
        PID,
        PID_START,
        PID_NAMESPACE,
        PARENT_PID,
        HOOK_PID,
        CWD,
        OMITTED,
    ];
    PLAIN.contains(&name) || name.starts_with(ENV_PREFIX)
}
