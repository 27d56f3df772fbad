//! The two binaries: there, of one version, and able to record.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use agent_tracer_spool::{Home, envelope};

use super::DoctorContext;
use super::check::{Check, Group, State};
use crate::files;
use crate::trial::{NoAnswer, Trial, Variables};

/// An event that says nothing about anybody.
const PAYLOAD: &[u8] = br#"{"session_id":"doctor","transcript_path":"","cwd":"/","hook_event_name":"Notification","message":"doctor","notification_type":"doctor"}"#;

/// A thousand times what the hook needs.
const LIMIT: Duration = Duration::from_secs(5);

pub(super) fn checks(context: &DoctorContext<'_>) -> Vec<Check> {
    let hook = context.environment.hook();
    let check = |name, state, text: String| Check::new(Group::Program, name, state, text);
    if !hook.is_file() {
        return vec![
            check("hook_present", State::Fail, format!("the hook binary `{}` is missing", hook.display()))
                .fix("put `agent-tracer-hook` beside `agent-tracer`, or run `make build`"),
        ];
    }
    if !files::is_executable(&hook) {
        return vec![
            check(
                "hook_present",
                State::Fail,
                format!("the hook binary `{}` is not executable", hook.display()),
            )
            .fix(format!("chmod +x '{}'", hook.display())),
        ];
    }
    let mut checks =
        vec![check("hook_present", State::Ok, format!("the hook binary is `{}`", hook.display()))];
    checks.push(version(context, &hook));
    checks.extend(linkage(&hook));
    checks.push(records(&hook));
    let off = context.environment.variable("AGENT_TRACER_OFF");
    if off.is_some_and(|value| agent_tracer_spool::means_yes(value.as_encoded_bytes())) {
        checks.push(
            check(
                "switched_off",
                State::Warn,
                "`AGENT_TRACER_OFF` is set in this shell: agents started from it are not recorded".to_owned(),
            )
            .fix("unset AGENT_TRACER_OFF"),
        );
    }
    checks
}

fn version(context: &DoctorContext<'_>, hook: &Path) -> Check {
    let ours = env!("CARGO_PKG_VERSION");
    let check = |state, text: String| Check::new(Group::Program, "versions", state, text);
    let fix = "install both binaries from the same release";
    let answer = Trial {
        program: hook,
        arguments: vec![OsStr::new("--version")],
        input: b"",
        variables: Variables::Without(&[]),
        directory: context.environment.directory.clone(),
        limit: LIMIT,
    }
    .run();
    match answer {
        Ok(answer) => match answer.text.trim().strip_prefix("agent-tracer-hook ") {
            Some(theirs) if theirs == ours => check(State::Ok, format!("both binaries are version {ours}")),
            Some(theirs) => {
                check(State::Warn, format!("this is version {ours}, but the hook is version {theirs}"))
                    .fix(fix)
            }
            None => check(State::Fail, "the hook binary prints no version".to_owned()).fix(fix),
        },
        Err(no_answer) => check(State::Fail, format!("the hook binary {}", why(&no_answer))).fix(fix),
    }
}

fn why(no_answer: &NoAnswer) -> String {
    match no_answer {
        NoAnswer::NotStarted(cause) => format!("cannot be started: {cause}"),
        NoAnswer::TooSlow => format!("did not end within {} s", LIMIT.as_secs()),
    }
}

/// Checks whether the hook is linked statically, by the program headers of its ELF file.
fn linkage(hook: &Path) -> Option<Check> {
    let check = |state, text: &str| Check::new(Group::Program, "hook_static", state, text);
    let mut head = Vec::new();
    // The headers of a program stand at its beginning.
    File::open(hook).ok()?.take(64 * 1024).read_to_end(&mut head).ok()?;
    Some(match has_interpreter(&head)? {
        false => check(State::Ok, "the hook is linked statically, which starts fastest"),
        true => check(
            State::Warn,
            "the hook is linked dynamically, which makes each event cost half as much again",
        )
        .fix("use a release, or `make build`"),
    })
}

/// Returns whether a 64-bit little-endian ELF file asks for a dynamic loader; `None` for any other file.
fn has_interpreter(head: &[u8]) -> Option<bool> {
    const PT_INTERP: u32 = 3;
    // macOS and 32-bit programs have other headers; nothing is said of them.
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let number = |at: usize, bytes: usize| -> Option<usize> {
        let field = head.get(at..at.checked_add(bytes)?)?;
        field
            .iter()
            .rev()
            .try_fold(0_usize, |sum, byte| sum.checked_mul(256)?.checked_add(usize::from(*byte)))
    };
    let (table, size, count) = (number(0x20, 8)?, number(0x36, 2)?, number(0x38, 2)?);
    for index in 0..count {
        let at = table.checked_add(index.checked_mul(size)?)?;
        if number(at, 4)? == usize::try_from(PT_INTERP).ok()? {
            return Some(true);
        }
    }
    Some(false)
}

/// Gives the hook an event in a home of its own and looks for the envelope.
fn records(hook: &Path) -> Check {
    let check = |state, text: String| Check::new(Group::Program, "hook_records", state, text);
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(cause) => {
            return check(
                State::Warn,
                format!(
                    "cannot try the hook: cannot create a temporary folder: {}",
                    crate::failure::plain(&cause)
                ),
            );
        }
    };
    let home = Home::in_folder(folder.path());
    let answer = Trial {
        program: hook,
        arguments: vec![
            OsStr::new(agent_tracer_event::Agent::default().spec().word),
            OsStr::new("--home"),
            folder.path().as_os_str(),
        ],
        input: PAYLOAD,
        // These two would lead the trial to the real home, or switch it off.
        variables: Variables::Without(&["AGENT_TRACER_HOME", "AGENT_TRACER_OFF"]),
        directory: folder.path().to_owned(),
        limit: LIMIT,
    }
    .run();
    let fix = "install both binaries again; if that does not help, report a bug";
    match answer {
        Err(no_answer) => check(State::Fail, format!("the hook binary {}", why(&no_answer))).fix(fix),
        // Agents take what a hook prints for a decision, so silence is part of the contract.
        Ok(answer) if !answer.success || !answer.text.is_empty() => {
            check(State::Fail, "the hook binary printed an answer to an event, which it must not".to_owned())
                .fix(fix)
        }
        Ok(answer) => match envelope_in(&home) {
            Some(()) => {
                let micros = answer.elapsed.as_micros();
                check(
                    State::Ok,
                    format!(
                        "the hook records an event ({}.{} ms with starting it)",
                        micros / 1000,
                        micros % 1000 / 100
                    ),
                )
            }
            None => check(State::Fail, "the hook binary runs but records nothing".to_owned()).fix(fix),
        },
    }
}

/// Looks for the one whole envelope of our event.
fn envelope_in(home: &Home) -> Option<()> {
    let mut entries = std::fs::read_dir(home.spool().join("new")).ok()?;
    let path = entries.next()?.ok()?.path();
    let bytes = files::read_capped(&path, envelope::ENVELOPE_BYTES_MAX as u64).ok()?;
    let envelope = envelope::parse(&bytes).ok()?;
    let body: serde_json::Value = serde_json::from_slice(envelope.body).ok()?;
    (body.get("hook_event_name")? == "Notification" && entries.next().is_none()).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an ELF header with program headers of these types.
    fn elf(types: &[u32]) -> Vec<u8> {
        let mut file = vec![0; 64];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[0x20] = 64;
        file[0x36] = 56;
        file[0x38] = u8::try_from(types.len()).expect("few");
        for kind in types {
            file.extend(kind.to_le_bytes());
            file.extend([0; 52]);
        }
        file
    }

    #[test]
    fn a_file_that_asks_for_a_loader_is_dynamic() {
        assert_eq!(has_interpreter(&elf(&[6, 3, 1])), Some(true));
        assert_eq!(has_interpreter(&elf(&[1, 1])), Some(false));
    }

    #[test]
    fn a_file_of_another_kind_or_a_torn_one_gives_no_answer() {
        assert_eq!(has_interpreter(b"#!/bin/sh\n"), None);
        assert_eq!(has_interpreter(&elf(&[1, 1])[..100]), None);
        assert_eq!(has_interpreter(b"\x7fELF\x02\x01"), None);
        let mut hostile = elf(&[1]);
        hostile[0x20..0x28].copy_from_slice(&[0xff; 8]);
        assert_eq!(has_interpreter(&hostile), None);
    }
}
