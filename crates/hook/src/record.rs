//! From standard input to an accepted envelope.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agent_tracer_agent::Agent;
use agent_tracer_privacy::{Config, ConfigFault, Moment, Source, mask, reduce};
use agent_tracer_spool::envelope::{Channel, Fault, Header};
use agent_tracer_spool::{
    EnvelopeName, Home, Reason, Spool, doorbell, links, run, settings_file, unrecorded_sessions,
};

use crate::arguments::Arguments;
use crate::{environment, hash_key, process, transcript};

/// The longest payload that is read. Agents send a few kilobytes; results of 50 MB have been seen.
const INPUT_CAP: usize = 64 << 20;

/// Room for a payload of the usual length, so that reading it does not reallocate.
const USUAL: usize = 8 << 10;

/// A payload and its record.
#[derive(Debug, Default)]
pub(crate) struct RecordedEvent {
    /// The payload as it arrived, up to [`INPUT_CAP`]; empty if it could not be read.
    pub(crate) payload: Vec<u8>,
    /// Its envelope; `None` if the user does not want it recorded, or if recording failed.
    pub(crate) name: Option<EnvelopeName>,
    /// The payload after privacy.
    pub(crate) body: Vec<u8>,
    /// The kind of event, for what the hook does beside recording; `Other` if nothing may be recorded.
    pub(crate) moment: Moment,
}

/// Reads the payload and records it.
pub(crate) fn run(arguments: &Arguments, home: Option<&Home>) -> RecordedEvent {
    let mut input = match Input::read() {
        Ok(input) => input,
        Err(_) => {
            if let Some(home) = home {
                Spool::at(&home.spool()).count_loss(Reason::UnreadableInput);
            }
            return RecordedEvent::default();
        }
    };
    if let Some(event) = &arguments.event {
        // A payload that cannot be named is recorded as it is, and counted by its reader.
        Agent::name_event(&mut input.payload, event.as_bytes());
    }
    let mut body = Vec::new();
    let mut moment = Moment::Other;
    let name = match home {
        Some(home) if environment::switched_off() => {
            keep_out(home, &input.payload);
            None
        }
        Some(home) => record(arguments, home, &input, &mut body, &mut moment),
        None => None,
    };
    if let (Some(home), Some(_), Some(run)) = (home, &name, environment::run()) {
        note_session(home, &run, &input.payload);
    }
    RecordedEvent { name, body, moment, payload: input.payload }
}

/// Keeps this session out of later readings of the agent's own files.
fn keep_out(home: &Home, payload: &[u8]) {
    for key in [&b"\"session_id\""[..], b"\"agent_id\""] {
        if let Some(id) = first_text(payload, key) {
            // Without an installation there is no such file, and no program that reads transcripts either.
            drop(unrecorded_sessions::append(&home.unrecorded(), id));
        }
    }
}

/// Names the session to the run that it is a part of.
fn note_session(home: &Home, run: &OsStr, payload: &[u8]) {
    let names = [&b"\"session_id\""[..], b"\"sessionId\""];
    if let Some(id) = names.into_iter().find_map(|name| first_text(payload, name)) {
        // A run that is over has no folder any more, and a receipt without a session says so.
        drop(run::note(home, run.as_bytes(), id));
    }
}

/// Returns the text behind the first occurrence of a key, as it is spelled. Both agents name the session first.
fn first_text<'p>(payload: &'p [u8], key: &[u8]) -> Option<&'p [u8]> {
    let at = payload.windows(key.len()).position(|window| window == key)?;
    let rest = payload.get(at + key.len()..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let text = rest.strip_prefix(b"\"")?;
    text.get(..text.iter().position(|byte| *byte == b'"')?)
}

/// Reads standard input to its end and drops it: an agent that writes to a closed pipe sees an error.
pub(crate) fn swallow_input() {
    drop(io::copy(&mut io::stdin().lock(), &mut io::sink()));
}

/// The contents of standard input.
struct Input {
    /// At most [`INPUT_CAP`] bytes of it.
    payload: Vec<u8>,
    /// The full length of the input.
    bytes: u64,
    /// Is `true` if it is longer than what was kept.
    is_cut: bool,
}

impl Input {
    fn read() -> io::Result<Self> {
        let mut payload = Vec::with_capacity(USUAL);
        let mut stdin = io::stdin().lock();
        (&mut stdin).take(INPUT_CAP as u64).read_to_end(&mut payload)?;
        let mut bytes = payload.len() as u64;
        if payload.len() == INPUT_CAP {
            bytes += io::copy(&mut stdin, &mut io::sink())?;
        }
        let is_cut = bytes > payload.len() as u64;
        Ok(Self { payload, bytes, is_cut })
    }
}

#[expect(clippy::disallowed_methods, reason = "the hook is where arrival is stamped: payloads carry no time")]
pub(crate) fn now_nanos() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
}

fn record(
    arguments: &Arguments,
    home: &Home,
    input: &Input,
    body: &mut Vec<u8>,
    moment: &mut Moment,
) -> Option<EnvelopeName> {
    let arrived = now_nanos();
    let Some(config) = privacy_config(home, arrived) else {
        Spool::at(&home.spool()).count_loss(Reason::UnreadablePrivacy);
        return None;
    };
    let cwd = std::env::current_dir().ok();
    if is_excluded(&config, cwd.as_deref()) {
        return None;
    }
    let agent = arguments.agent;
    let source = match arguments.channel {
        Channel::Statusline => Source::StatusLine,
        Channel::Hook | Channel::Decision => Source::Hook(agent),
    };
    let mut header = Header::new(agent, arguments.channel, arrived);
    header.writer = Some(Cow::Borrowed(env!("CARGO_PKG_VERSION")));
    header.level = Some(Cow::Borrowed(config.level.name()));
    header.received_bytes = Some(input.bytes);
    body.reserve(input.payload.len().min(USUAL));
    if input.is_cut {
        header.fault = Some(Fault { what: Cow::Borrowed("oversize"), at: INPUT_CAP as u64 });
    } else {
        let reduction = reduce(&input.payload, source, &config, &mut || hash_key::load_or_make(home), body);
        // The payload may name another folder than the one of this process.
        if [&reduction.cwd, &reduction.project_dir].into_iter().flatten().any(|path| excludes(&config, path))
        {
            return None;
        }
        *moment = reduction.moment;
        if reduction.moment == Moment::Compacts && reduction.fault.is_none() {
            header.other.extend(transcript::seen(&input.payload, agent));
        }
        if let Some(fault) = reduction.fault {
            body.clear();
            header.fault = Some(Fault { what: Cow::Borrowed(fault.what.name()), at: fault.at as u64 });
        }
    }
    header.cwd = cwd.map(|path| Cow::Owned(masked(path.into_os_string().into_vec())));
    describe_process(&mut header);
    // The spool itself counts a refusal, and the agent must not see one.
    let accepted = Spool::at(&home.spool()).accept(&header, body, arrived, std::process::id()).ok()?;
    doorbell::ring(home);
    Some(accepted.name)
}

/// Adds the process that started this hook, and the named variables.
fn describe_process(header: &mut Header<'_>) {
    for name in environment::recorded() {
        if let Some(value) = std::env::var_os(name) {
            header.env.push((Cow::Borrowed(name), Cow::Owned(masked(value.into_vec()))));
        }
    }
    let parent = std::os::unix::process::parent_id();
    // An agent may name its process; a shell between it and this process would hide it otherwise.
    let named =
        header.agent.spec().pid_variable.and_then(|own| header.env.iter().find(|(name, _)| name == own));
    let named = named.and_then(|(_, value)| std::str::from_utf8(value).ok()?.parse().ok());
    let pid = named.unwrap_or(parent);
    header.pid = Some(pid);
    header.pid_start = process::start_time(pid);
    header.pid_namespace = process::pid_namespace();
    header.parent_pid = Some(parent);
    header.hook_pid = Some(std::process::id());
}

/// Masks secrets in a path or a name. Bytes that are no text stay as they are.
fn masked(value: Vec<u8>) -> Vec<u8> {
    let replaced = match std::str::from_utf8(&value).map(mask) {
        Ok(Cow::Owned(text)) => Some(text.into_bytes()),
        Ok(Cow::Borrowed(_)) | Err(_) => None,
    };
    replaced.unwrap_or(value)
}

/// Returns the user's settings, or the default without a file. `None` if the file cannot be relied on: it cannot be
/// read, another user can write it, or a line of it may have been meant to exclude a folder. There are no settings of an
/// earlier event to fall back on here, and an event that was recorded against the user's will is worse than one that is
/// missing and counted. The same holds for a file that was emptied just now, as it is being written.
fn privacy_config(home: &Home, now_nanos: u64) -> Option<Config> {
    let Some(text) = finished_settings(&home.privacy_conf(), home.user(), now_nanos)? else {
        return Some(Config::default());
    };
    let (mut config, faults) = Config::parse(&text);
    if faults.iter().any(ConfigFault::may_hide_exclusion) {
        return None;
    }
    if !config.excludes.is_empty() {
        let user = std::env::var_os("HOME");
        config.follow_links(user.as_deref().map(OsStrExt::as_bytes), links::resolve);
    }
    Some(config)
}

/// The number of further attempts to read settings that may be half written.
const LOOKS_MAX: u32 = 5;
/// The pause between two attempts.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);
/// The age from which on a file counts as written.
const WRITTEN_NANOS: u64 = 1_000_000_000;

/// Reads the settings, `Some(None)` if there are none. A shell's `>` empties the file for an instant before it writes
/// it, and what it excludes must hold then too. So a file that is empty or ends within a line, and was touched just now, is
/// looked at again; one that is still empty then cannot be relied on.
///
/// A file that ends with a line break costs nothing more.
fn finished_settings(path: &Path, user: Option<u32>, now_nanos: u64) -> Option<Option<Vec<u8>>> {
    let mut looks = 0;
    loop {
        let text = settings_file::read(path, user, Config::MAX_BYTES).ok()?;
        // Most homes have no such file, and their folder changes all the time: absence is believed at once.
        if text.as_ref().is_none_or(|text| text.ends_with(b"\n")) || !is_young(path, now_nanos) {
            return Some(text);
        }
        if looks == LOOKS_MAX {
            return (!text.as_ref().is_some_and(Vec::is_empty)).then_some(text);
        }
        looks += 1;
        #[expect(clippy::disallowed_methods, reason = "no other process says when it has written a file")]
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

fn is_young(path: &Path, now_nanos: u64) -> bool {
    let written = std::fs::metadata(path).and_then(|facts| facts.modified());
    let nanos = written.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map(|since| since.as_nanos());
    nanos.is_some_and(|nanos| nanos.abs_diff(u128::from(now_nanos)) < u128::from(WRITTEN_NANOS))
}

/// Returns `true` if the user excluded the place where this process stands.
fn is_excluded(config: &Config, cwd: Option<&Path>) -> bool {
    if config.excludes.is_empty() {
        return false;
    }
    let project = environment::project();
    [cwd.map(Path::as_os_str), project.as_deref()]
        .into_iter()
        .flatten()
        .any(|path| excludes(config, path.as_bytes()))
}

fn excludes(config: &Config, path: &[u8]) -> bool {
    let user = std::env::var_os("HOME");
    !config.excludes.is_empty() && config.excludes(path, user.as_deref().map(OsStrExt::as_bytes))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn settings_that_are_rewritten_in_place_are_whole_or_not_relied_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("privacy.conf");
        let text = b"level full\nexclude /secret\n";
        File::create(&path).and_then(|mut file| file.write_all(text)).expect("written");
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    File::create(&path).and_then(|mut file| file.write_all(text)).expect("written");
                }
            });
            for _ in 0..500 {
                let read = finished_settings(&path, None, now_nanos());
                assert!(
                    read.is_none_or(|read| read.as_deref() == Some(text)),
                    "empty settings were believed"
                );
            }
            is_over.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn settings_that_were_empty_for_a_while_or_are_not_there_are_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("privacy.conf");
        assert_eq!(finished_settings(&path, None, now_nanos()), Some(None));
        File::create(&path).expect("made");
        assert_eq!(finished_settings(&path, None, now_nanos()), None, "it was emptied just now");
        let later = now_nanos() + 2 * WRITTEN_NANOS;
        assert_eq!(finished_settings(&path, None, later), Some(Some(Vec::new())));
        let earlier = now_nanos() - 2 * WRITTEN_NANOS;
        assert_eq!(
            finished_settings(&path, None, earlier),
            Some(Some(Vec::new())),
            "a clock that was set back"
        );
        fs::remove_file(&path).expect("removed");
        File::create(&path).and_then(|mut file| file.write_all(b"level full")).expect("written");
        assert_eq!(finished_settings(&path, None, now_nanos()), Some(Some(b"level full".to_vec())));
    }
}
