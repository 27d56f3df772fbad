//! Checks the service, if one is installed: that it starts this program, and that it runs.

use super::DoctorContext;
use super::check::{Check, Group, State};
use crate::service::{Manager, Status};

pub(super) fn checks(context: &DoctorContext<'_>) -> Vec<Check> {
    let manager = Manager::of_system();
    match Status::look(manager, &context.home, context.environment) {
        Ok(status) => judge(&status, &manager.restart().text()),
        Err(failure) => {
            vec![check(State::Warn, format!("cannot look at the service: {}", failure.message()))]
        }
    }
}

fn check(state: State, text: impl Into<String>) -> Check {
    Check::new(Group::Server, "service", state, text)
}

/// Judges a service. None is no fault: a server in a terminal does the same.
fn judge(status: &Status, restart: &str) -> Vec<Check> {
    // A package brings the file, and the user decides whether it counts.
    if !status.installed || (!status.ours && status.enabled != Some(true)) {
        return Vec::new();
    }
    let file = status.file.display();
    let program = status.program.as_deref().unwrap_or("an unknown program");
    let install = "agent-tracer service install";
    let mut checks = Vec::new();
    if !status.program_exists {
        let text = format!("the service starts `{program}`, which does not exist (`{file}`)");
        checks.push(check(State::Fail, text).fix(install));
    } else if !status.is_this_program {
        let text = format!("the service starts `{program}`, not this program (`{file}`)");
        checks.push(check(State::Warn, text).fix(install));
    }
    if let Some(why) = &status.problem {
        checks.push(check(
            State::Info,
            format!("the service is installed; whether it runs is not known: {why}"),
        ));
    } else if status.running == Some(false) {
        let text = "the service is installed, but does not run; the spool keeps events until it does";
        checks.push(check(State::Warn, text).fix(format!("{restart}\n{}", status.log)));
    } else if status.enabled == Some(false) {
        checks.push(check(State::Warn, "the service runs, but is not started at login").fix(install));
    }
    let ours = env!("CARGO_PKG_VERSION");
    if let Some(theirs) =
        status.version.as_deref().filter(|theirs| *theirs != ours && status.running == Some(true))
    {
        let text = format!("the service still runs version {theirs}, and this is {ours}");
        checks.push(check(State::Warn, text).fix(restart));
    }
    if checks.is_empty() {
        checks.push(check(State::Ok, format!("the service is enabled and runs (`{file}`)")));
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn well() -> Status {
        Status {
            manager: "systemd",
            installed: true,
            ours: true,
            file: "/x/agent-tracer.service".into(),
            program: Some("/bin/agent-tracer".to_owned()),
            program_exists: true,
            is_this_program: true,
            enabled: Some(true),
            running: Some(true),
            pid: Some(4711),
            address: Some("127.0.0.1:4747".to_owned()),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            log: "journalctl".to_owned(),
            problem: None,
        }
    }

    #[test]
    fn each_fault_of_a_service_is_found_and_none_is_no_fault() {
        let packaged = Status { ours: false, enabled: Some(false), running: Some(false), ..well() };
        for (status, expected) in [
            (well(), vec![(State::Ok, "enabled and runs")]),
            (Status { installed: false, ..well() }, vec![]),
            (packaged, vec![]),
            (
                Status { program_exists: false, is_this_program: false, running: Some(false), ..well() },
                vec![(State::Fail, "which does not exist"), (State::Warn, "does not run")],
            ),
            (Status { is_this_program: false, ..well() }, vec![(State::Warn, "not this program")]),
            (Status { enabled: Some(false), ..well() }, vec![(State::Warn, "not started at login")]),
            (Status { version: Some("0.0.1".to_owned()), ..well() }, vec![(State::Warn, "version 0.0.1")]),
            (
                Status { running: None, enabled: None, problem: Some("no bus".to_owned()), ..well() },
                vec![(State::Info, "not known: no bus")],
            ),
        ] {
            let checks = judge(&status, "restart");
            assert_eq!(checks.len(), expected.len(), "{checks:?}");
            for (check, (state, part)) in checks.iter().zip(expected) {
                assert_eq!(check.state, state, "{check:?}");
                assert!(check.text.contains(part), "{check:?}");
                assert!(check.fix.is_some() || state <= State::Info, "{check:?}");
            }
        }
    }
}
