//! Checks whether a server reads the spool, and its health. A server is optional: without one nothing is lost.

use std::net::SocketAddr;

use agent_tracer_spool::Home;
use serde_json::Value;

use super::check::{Check, Group, State};
use crate::instance::Instance;
use crate::local_server::{self, HEALTH};

fn check(name: &'static str, state: State, text: impl Into<String>) -> Check {
    Check::new(Group::Server, name, state, text)
}

pub(super) fn checks(home: &Home) -> Vec<Check> {
    // The lock names the server of this home; another listener may be a foreign program.
    let Some(address) = Instance::address(home) else {
        if Instance::is_held(home) {
            let text = "another process has the ledger, and answers no questions: a command that writes, or a server \
                        that is starting";
            return vec![check("server", State::Info, text)];
        }
        let text = "not running; nothing is lost, the spool keeps events until it is";
        return vec![check("server", State::Info, text).fix("agent-tracer serve")];
    };
    match local_server::get(address, HEALTH) {
        Some((200, health)) => judge(address, &health),
        // A problem in its own words; any other program would not say one.
        Some((status, problem)) if problem.get("title").is_some() || problem.get("detail").is_some() => {
            vec![refused(address, status, &problem)]
        }
        Some(_) | None => vec![
            check("server", State::Warn, format!("the server runs, but does not answer at {address}"))
                .fix("stop it and start it again with `agent-tracer serve`; nothing is lost meanwhile"),
        ],
    }
}

/// Returns the check of a server whose health request failed.
fn refused(address: SocketAddr, status: u16, problem: &Value) -> Check {
    let text = |key: &str| problem.get(key).and_then(Value::as_str);
    let why = text("detail").or_else(|| text("title")).unwrap_or("no reason");
    let (why, hint) = why.split_once("\nhint: ").unwrap_or((
        why,
        "stop the server and run `agent-tracer doctor` again: it then looks at the ledger alone",
    ));
    check(
        "server",
        State::Fail,
        format!("running at http://{address}, but its health check failed ({status}): {why}"),
    )
    .fix(hint)
}

fn judge(address: SocketAddr, health: &Value) -> Vec<Check> {
    let number = |pointer: &str| health.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    let text = |key: &str| health.get(key).and_then(Value::as_str).unwrap_or("of unknown version");
    let (theirs, ours) = (text("version"), env!("CARGO_PKG_VERSION"));
    let kept = match health.get("store") {
        Some(_) => format!("{} tasks, {} events", number("/store/tasks"), number("/store/events")),
        None => "the number of recorded events is unknown".to_owned(),
    };
    let state =
        format!("running at http://{address}: {kept}, {} envelopes waiting", number("/spool/waiting"));
    let mut checks = vec![check("server", State::Ok, state)];
    if theirs != ours {
        checks.push(
            check(
                "server_version",
                State::Warn,
                format!("this is version {ours}, but the server is {theirs}"),
            )
            .fix("stop the server and start it again"),
        );
    }
    let texts = |pointer: &str| -> Vec<&str> {
        let list = health.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).collect()
    };
    // What is wrong with the store itself is no matter of taste: something is not recorded, or was lost.
    let faults = texts("/faults/problems");
    for problem in texts("/problems") {
        let state = if faults.contains(&problem) { State::Fail } else { State::Warn };
        // Problems carry their hint in one text over the API.
        let (problem, hint) =
            problem.split_once("\nhint: ").unwrap_or((problem, "see `Health` in the dashboard"));
        checks.push(check("server_health", state, format!("the server reports: {problem}")).fix(hint));
    }
    let unknown = number("/outcomes/unrecognised");
    if unknown > 0 {
        let text = format!("{unknown} inputs of the agents were not recognised; they are kept and counted");
        checks.push(check("unrecognised", State::Info, text));
    }
    checks
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use serde_json::json;

    use super::*;

    fn well() -> Value {
        json!({"version": env!("CARGO_PKG_VERSION"), "store": {"tasks": 3, "events": 40}, "spool": {"waiting": 0},
            "outcomes": {"unrecognised": 0}, "problems": []})
    }

    fn states(checks: &[Check]) -> Vec<(&str, State)> {
        checks.iter().map(|check| (check.name, check.state)).collect()
    }

    #[test]
    fn a_store_that_cannot_answer_is_not_said_to_be_empty() {
        let mut health = well();
        health.as_object_mut().expect("an object").remove("store");
        let checks = judge("127.0.0.1:5959".parse().expect("an address"), &health);
        assert!(checks[0].text.contains("the number of recorded events is unknown"), "{}", checks[0].text);
        assert!(!checks[0].text.contains("0 tasks"), "{}", checks[0].text);
    }

    #[test]
    fn a_server_that_is_well_is_one_good_line() {
        let checks = judge("127.0.0.1:5959".parse().expect("an address"), &well());
        assert_eq!(states(&checks), [("server", State::Ok)]);
        assert!(checks[0].text.contains("127.0.0.1:5959: 3 tasks, 40 events"), "{}", checks[0].text);
    }

    #[test]
    fn another_version_and_each_problem_are_reported() {
        let mut health = well();
        health["version"] = json!("0.0.1");
        health["problems"] = json!(["the disk is nearly full\nhint: make room"]);
        health["outcomes"]["unrecognised"] = json!(2);
        let checks = judge("127.0.0.1:5959".parse().expect("an address"), &health);
        let expected = [
            ("server", State::Ok),
            ("server_version", State::Warn),
            ("server_health", State::Warn),
            ("unrecognised", State::Info),
        ];
        assert_eq!(states(&checks), expected);
        assert!(checks[2].text.ends_with("nearly full"), "{}", checks[2].text);
        assert_eq!(checks[2].fix.as_deref(), Some("make room"));
    }

    #[test]
    fn what_is_wrong_with_the_store_is_a_failure() {
        let mut health = well();
        let fault = "the store could not write: disk I/O error\nhint: look at the disk";
        health["problems"] = json!(["the history is still being read", fault]);
        health["faults"] = json!({"recording": false, "problems": [fault]});
        let checks = judge("127.0.0.1:5959".parse().expect("an address"), &health);
        let expected =
            [("server", State::Ok), ("server_health", State::Warn), ("server_health", State::Fail)];
        assert_eq!(states(&checks), expected);
        assert_eq!(checks[2].fix.as_deref(), Some("look at the disk"));
    }

    #[test]
    fn a_server_that_cannot_say_how_it_is_has_a_version_all_the_same() {
        let problem =
            json!({"title": "Service Unavailable", "detail": "the store could not answer: damaged"});
        let check = refused("127.0.0.1:5959".parse().expect("an address"), 503, &problem);
        assert_eq!(check.state, State::Fail);
        assert!(check.text.contains("(503): the store could not answer"), "{}", check.text);
        assert!(!check.text.contains("version") && check.fix.is_some());
    }

    #[test]
    fn the_server_of_this_home_is_asked_wherever_it_listens() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        std::fs::create_dir_all(home.data()).expect("a folder");
        assert_eq!(states(&checks(&home)), [("server", State::Info)], "the ledger is free");

        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut instance = Instance::take(&home).expect("the ledger");
        instance.publish(listener.local_addr().expect("an address"));
        let answering = std::thread::spawn(move || {
            for body in [well().to_string(), "SSH-2.0".to_owned()] {
                let (mut stream, _) = listener.accept().expect("a caller");
                let mut asked = [0; 256];
                let count = stream.read(&mut asked).expect("a question");
                assert!(asked[..count].starts_with(b"GET /api/v1/health HTTP/1.1\r\n"));
                write!(stream, "HTTP/1.0 200 OK\r\n\r\n{body}").expect("an answer");
            }
        });
        assert_eq!(states(&checks(&home)), [("server", State::Ok)]);
        assert_eq!(states(&checks(&home)), [("server", State::Warn)], "what answers is not our server");
        answering.join().expect("both were asked");
    }
}
