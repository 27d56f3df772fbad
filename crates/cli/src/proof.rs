//! Trying our hooks on the client itself: it is started for a moment, and the hook has to be called.
//!
//! The client gets a home, a folder to work in and settings that are all temporary; of the user's settings only our own
//! entries are in them, so no other hook runs. Its model is a listener of ours on 127.0.0.1 that refuses every request,
//! which is late enough: the events of a session's start have been sent by then. The same listener is named as the proxy
//! for everything else, so no other address is contacted. What the hook records goes into the temporary home and with it.
//!
//! Law: bounded in time, and nothing of the user's is read but the path of the client, nothing is changed.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use agent_tracer_agents::hooks::OwnHook;
use agent_tracer_agents::setup::{self, TrialValue};
use agent_tracer_spool::{Home, envelope};
use serde_json::{Value, json};

use crate::clients::InstalledClient;
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::files;
use crate::trial::{NoAnswer, Trial, Variables};
use agent_tracer_event::Agent;

/// Time limit for the client. It needs one to four seconds on a machine that is not busy.
const LIMIT: Duration = Duration::from_secs(20);
/// Time limit for a silent connection to the listener.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most envelopes that are looked at.
const ENVELOPES_MAX: usize = 64;
/// The answer to every request: an error that no client tries again.
const REFUSAL: &str = r#"{"type":"error","error":{"type":"invalid_request_error","message":"not a model"}}"#;

/// Lists the results of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The client called the hook for these events.
    Called(Vec<String>),
    /// The client ran to its end and did not call the hook; its first line of output, if it said anything.
    NotCalled(Option<String>),
    /// The client could not be tried, for this reason.
    NotTried(Failure),
}

/// Starts the client with our hooks as they stand in a settings file.
pub(crate) fn prove(
    agent: Agent,
    client: &InstalledClient,
    own: &[OwnHook],
    environment: &Environment,
) -> Proof {
    match attempt(agent, client, own, environment) {
        Ok(proof) => proof,
        Err(failure) => Proof::NotTried(failure),
    }
}

fn attempt(
    agent: Agent,
    client: &InstalledClient,
    own: &[OwnHook],
    environment: &Environment,
) -> Result<Proof, Failure> {
    let Some(version) = client.version else {
        return Err(Failure::new(format!("`{}` prints no version", client.program.display())));
    };
    let folder = tempfile::Builder::new().prefix("agent-tracer-trial-").tempdir();
    let no_folder =
        |cause: io::Error| Failure::new(format!("cannot create a temporary folder: {}", plain(&cause)));
    let folder = folder.map_err(no_folder)?;
    let place = |name: &str| -> Result<PathBuf, Failure> {
        let path = folder.path().join(name);
        fs::create_dir(&path).map_err(no_folder)?;
        Ok(path)
    };
    let (home, work, settings, tracer) =
        (place("home")?, place("work")?, place("settings")?, place("tracer")?);
    let listener = Listener::start()
        .map_err(|cause| Failure::new(format!("cannot listen on 127.0.0.1: {}", plain(&cause))))?;
    let base = format!("http://127.0.0.1:{}", listener.port);
    let setup = setup::of(agent).ok_or_else(|| Failure::new("it calls no hooks"))?;
    let setup = setup.trial(own, &base, version).map_err(|cause| Failure::new(cause.to_string()))?;
    // Where the variable names a folder above the home, the files lie below it.
    let spec = agent.spec();
    let agent_home = match spec.home_variable {
        "" => home.join(spec.home_folder),
        _ => settings.join(spec.home_below_variable),
    };
    for (name, text) in &setup.files {
        let path = agent_home.join(name);
        let folder = path.parent().unwrap_or(&agent_home);
        fs::create_dir_all(folder).map_err(no_folder)?;
        files::write_private(&path, text.as_bytes())?;
    }

    let path = environment.variable("PATH").unwrap_or_default();
    let language = environment.variable("LANG").unwrap_or_else(|| "C.UTF-8".into());
    let (home_text, work_text) = (home.as_os_str(), work.as_os_str());
    let mut variables: Vec<(&str, &OsStr)> = vec![
        // Only these: any other variable of the user could name another home or another model.
        ("PATH", &path),
        ("LANG", &language),
        ("HOME", home_text),
        ("TMPDIR", work_text),
        ("SHELL", OsStr::new("/bin/sh")),
        ("TERM", OsStr::new("dumb")),
        // The trial must not appear among the recorded sessions.
        ("AGENT_TRACER_HOME", tracer.as_os_str()),
        ("HTTP_PROXY", OsStr::new(&base)),
        ("HTTPS_PROXY", OsStr::new(&base)),
        ("ALL_PROXY", OsStr::new(&base)),
        ("http_proxy", OsStr::new(&base)),
        ("https_proxy", OsStr::new(&base)),
        ("all_proxy", OsStr::new(&base)),
        ("NO_PROXY", OsStr::new("127.0.0.1")),
        ("no_proxy", OsStr::new("127.0.0.1")),
    ];
    if !spec.home_variable.is_empty() {
        variables.push((spec.home_variable, settings.as_os_str()));
    }
    variables.extend(setup.variables.iter().map(|(name, value)| match value {
        TrialValue::Text(text) => (*name, OsStr::new(text)),
        TrialValue::WorkFolder => (*name, work_text),
    }));
    let answer = Trial {
        program: &client.program,
        arguments: setup.arguments.iter().map(OsStr::new).collect(),
        input: b"",
        variables: Variables::Only(&variables),
        directory: work.clone(),
        limit: LIMIT,
    }
    .run();
    // Asked of the spool and not of the client: only an envelope proves that the hook ran to its end.
    let called = events_in(&Home::in_folder(&tracer));
    if !called.is_empty() {
        return Ok(Proof::Called(called));
    }
    match answer {
        Ok(answer) => {
            let first = answer.text.lines().map(str::trim).find(|line| !line.is_empty());
            let first =
                first.map(|line| crate::output::printable(&line.chars().take(120).collect::<String>()));
            Ok(Proof::NotCalled(first))
        }
        Err(NoAnswer::NotStarted(cause)) => Err(Failure::new(format!("it cannot be started: {cause}"))),
        Err(NoAnswer::TooSlow) => Err(Failure::new(format!("it did not end within {} s", LIMIT.as_secs()))),
    }
}

/// Returns the events of which a spool has envelopes, each once, in the order of their arrival.
fn events_in(home: &Home) -> Vec<String> {
    let mut paths: Vec<PathBuf> = fs::read_dir(home.spool().join("new"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .take(ENVELOPES_MAX)
        .collect();
    paths.sort();
    let mut events = Vec::new();
    for path in paths {
        let Ok(bytes) = files::read_capped(&path, envelope::ENVELOPE_BYTES_MAX as u64) else { continue };
        let Ok(envelope) = envelope::parse(&bytes) else { continue };
        let body: Value = serde_json::from_slice(envelope.body).unwrap_or_else(|_| json!({}));
        if let Some(event) = body.get("hook_event_name").and_then(Value::as_str)
            && !events.iter().any(|known| known == event)
        {
            events.push(event.to_owned());
        }
    }
    events
}

/// A listener on 127.0.0.1 that refuses every request; it ends with this value.
struct Listener {
    port: u16,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    fn start() -> io::Result<Listener> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let ended = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&ended);
        let thread = std::thread::Builder::new().name("refusing".to_owned()).spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Acquire) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                // One thread each: a client may hold a connection open while it uses another.
                drop(std::thread::Builder::new().spawn(move || drop(refuse(stream))));
            }
        })?;
        Ok(Listener { port, ended, thread: Some(thread) })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        // The thread waits for a connection; this is the last one.
        let last = TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, self.port).into(), PATIENCE);
        if let (Ok(_), Some(thread)) = (last, self.thread.take()) {
            drop(thread.join());
        }
    }
}

/// Reads what there is of a request and refuses it.
fn refuse(mut stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = [0; 16 * 1024];
    let count = stream.read(&mut request)?;
    let is_proxy_request = request.get(..count).is_some_and(|bytes| bytes.starts_with(b"CONNECT "));
    let status = if is_proxy_request { "403 Forbidden" } else { "400 Bad Request" };
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nx-should-retry: false\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{REFUSAL}",
        REFUSAL.len()
    )?;
    stream.flush()?;
    // What is left of the request is read: closing on unread bytes would reset the connection before the answer.
    let mut left = 0;
    while left < 4 << 20 {
        match stream.read(&mut request) {
            Ok(0) | Err(_) => break,
            Ok(count) => left += count,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(request: &str) -> String {
        let listener = Listener::start().expect("a port");
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, listener.port)).expect("a connection");
        stream.write_all(request.as_bytes()).expect("a request");
        stream.shutdown(std::net::Shutdown::Write).expect("the end of it");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    #[test]
    fn the_listener_refuses_models_and_other_addresses() {
        assert!(answer("POST /v1/messages HTTP/1.1\r\n\r\n{}").starts_with("HTTP/1.1 400 "));
        assert!(answer("CONNECT api.example.com:443 HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 403 "));
    }

    #[test]
    fn the_listener_ends_with_its_value() {
        let listener = Listener::start().expect("a port");
        let port = listener.port;
        drop(listener);
        assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err(), "port {port}");
    }
}
