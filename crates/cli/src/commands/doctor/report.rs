//! The checks in words and as JSON.

use agent_tracer_spool::Home;
use serde_json::json;

use super::check::{Check, Group, State};
use crate::output::{Output, Paint, printable};

/// Returns every check, grouped.
pub(super) fn full(checks: &[Check], output: &Output) -> String {
    let mut text = String::new();
    for group in Group::all() {
        let members: Vec<&Check> = checks.iter().filter(|check| check.group == group).collect();
        if members.is_empty() {
            continue;
        }
        text.push_str(&output.paint(Paint::Bold, group.title()));
        text.push('\n');
        for check in members {
            text.push_str(&line(check, "", output));
        }
        text.push('\n');
    }
    text.push_str(&summary(checks));
    text
}

/// Returns the findings that need attention, each with its group.
pub(super) fn brief(checks: &[Check], output: &Output) -> String {
    let mut text = String::new();
    for check in checks.iter().filter(|check| check.state >= State::Warn) {
        text.push_str(&line(check, &format!("{}: ", check.group.title()), output));
    }
    text.push_str(&summary(checks));
    text
}

/// Returns the checks for programs. Fields are only ever added.
pub(super) fn json(checks: &[Check], home: &Home) -> String {
    let count = |state: State| checks.iter().filter(|check| check.state == state).count();
    let report = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "home": {"data": home.data().to_string_lossy(), "config": home.config().to_string_lossy()},
        "checks": checks,
        "summary": {
            "ok": count(State::Ok),
            "info": count(State::Info),
            "warn": count(State::Warn),
            "fail": count(State::Fail),
        },
    });
    format!("{report:#}\n")
}

fn line(check: &Check, prefix: &str, output: &Output) -> String {
    let (word, paint) = match check.state {
        State::Ok => ("ok  ", Paint::Green),
        State::Info => ("info", Paint::Blue),
        State::Warn => ("warn", Paint::Yellow),
        State::Fail => ("fail", Paint::Red),
    };
    // A text quotes files that a project may bring along: an escape sequence in one could hide the line.
    let mut text = format!("  {}  {prefix}{}\n", output.paint(paint, word), printable(&check.text));
    if let Some(fix) = &check.fix {
        for part in printable(fix).lines() {
            text.push_str(&format!("        fix: {part}\n"));
        }
    }
    text
}

fn summary(checks: &[Check]) -> String {
    let count = |state: State| checks.iter().filter(|check| check.state == state).count();
    let (warn, fail) = (count(State::Warn), count(State::Fail));
    match (warn, fail) {
        (0, 0) => "all is well\n".to_owned(),
        (_, 0) => format!("{} worth a look\n", things(warn)),
        (0, _) => format!("{} to fix\n", things(fail)),
        _ => format!("{} to fix, {} worth a look\n", things(fail), things(warn)),
    }
}

fn things(count: usize) -> String {
    if count == 1 { "1 thing".to_owned() } else { format!("{count} things") }
}
