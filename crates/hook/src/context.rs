//! The context that an agent gets when it begins, where the user wants that: the page that the server keeps for its
//! folder.
//!
//! The law: one file is read, and the hook waits for no other process. Without a page it prints nothing; an old page is
//! printed with its age. By now the event is in the spool.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use agent_tracer_agent::Agent;
use agent_tracer_privacy::Moment;
use agent_tracer_spool::Home;
use agent_tracer_spool::context::{self, Page};

use crate::record::now_nanos;
use crate::{environment, lookup};

/// The age from which on a page is printed with its age.
const OLD_S: u64 = 20 * 60;

/// Prints the page of the agent's folder if the agent begins.
pub(crate) fn print(agent: Agent, home: &Home, moment: Moment, payload: &[u8]) {
    let event = match moment {
        Moment::SessionStarts => "SessionStart",
        Moment::SubagentStarts => "SubagentStart",
        Moment::Compacts | Moment::Prompts | Moment::Other => return,
    };
    let page = folders(payload).find_map(|folder| context::find(home, &folder));
    // A project without recorded sessions has no page, but its shells get the variable all the same.
    let exports_task = page.as_ref().map_or_else(|| context::exports_task(home), |page| page.exports_task);
    if exports_task && moment == Moment::SessionStarts {
        export_task(agent);
    }
    let Some(page) = page else { return };
    let answer = answer(&page, event, now_nanos() / 1_000_000_000);
    let mut stdout = io::stdout().lock();
    // A reader that is gone is no reason to fail.
    drop(stdout.write_all(&answer).and_then(|()| stdout.flush()));
}

/// Returns the folders in which the agent works: its own report first, the directory of this process without one.
fn folders(payload: &[u8]) -> impl Iterator<Item = PathBuf> {
    let is_named = |folder: &PathBuf| folder.is_absolute();
    let project = environment::project().map(PathBuf::from).filter(is_named);
    let cwd = lookup::first_text(payload, b"cwd").map(|cwd| PathBuf::from(OsStr::from_bytes(&cwd)));
    let cwd = cwd.filter(is_named).or_else(|| std::env::current_dir().ok());
    [project, cwd].into_iter().flatten()
}

/// Renders a page in the shape that both agents take.
fn answer(page: &Page, event: &str, now_s: u64) -> Vec<u8> {
    let mut answer = Vec::with_capacity(page.escaped.len() + 160);
    answer.extend_from_slice(b"{\"hookSpecificOutput\":{\"hookEventName\":\"");
    answer.extend_from_slice(event.as_bytes());
    answer.extend_from_slice(b"\",\"additionalContext\":\"");
    answer.extend_from_slice(&page.escaped);
    let age_s = now_s.saturating_sub(page.written_s);
    if age_s >= OLD_S {
        answer.extend_from_slice(format!("\\n(These numbers are {} old.)", age(age_s)).as_bytes());
    }
    answer.extend_from_slice(b"\"}}\n");
    answer
}

fn age(seconds: u64) -> String {
    match seconds / 60 {
        minutes @ 0..120 => format!("{minutes} minutes"),
        minutes @ 120..2880 => format!("{} hours", minutes / 60),
        minutes => format!("{} days", minutes / 1440),
    }
}

/// Names the session in the environment of the agent's shells, where the client has a file for that.
fn export_task(agent: Agent) {
    let Some((file, session)) = agent.spec().shell_file_variables else { return };
    let (Some(file), Some(session)) = (std::env::var_os(file), std::env::var_os(session)) else { return };
    let session = session.to_string_lossy();
    // Shells execute this file, so only a plain id goes into it.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if session.is_empty() || session.len() > 64 || !session.bytes().all(is_plain) {
        return;
    }
    let line = format!("export AGENT_TRACER_TASK={session}\n");
    // The file may not exist yet, and other hooks append to it too.
    let opened = OpenOptions::new().append(true).create(true).open(Path::new(&file));
    drop(opened.and_then(|mut file| file.write_all(line.as_bytes())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_old_page_is_printed_with_its_age() {
        let page = Page { written_s: 1_000_000, exports_task: false, escaped: b"a\\nb".to_vec() };
        let text = |now: u64| String::from_utf8(answer(&page, "SessionStart", now)).unwrap();
        let fresh = r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"a\nb"}}"#;
        for now in [0, 1_000_000, 1_000_000 + OLD_S - 1] {
            assert_eq!(text(now), format!("{fresh}\n"), "{now}");
        }
        for (later, age) in [(OLD_S, "20 minutes"), (3 * 3600, "3 hours"), (9 * 86_400, "9 days")] {
            let text = text(1_000_000 + later);
            assert!(text.contains(&format!("\\n(These numbers are {age} old.)\"}}}}")), "{text}");
            serde_json::from_str::<serde_json::Value>(&text).expect("JSON");
        }
    }
}
