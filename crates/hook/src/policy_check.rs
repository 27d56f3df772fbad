//! Answers an event where rules may apply: `policy.tbl` says whether an answer is needed, the server gives it, and the
//! guard program gives it where the server does not.
//!
//! By now the event is in the spool and survives any failure here. The law: without rules, this costs one failed open
//! and nothing more. The server gets as long as the table allows. Without its answer (none runs, it is late, the
//! payload is too long for it) this process becomes the guard, which judges by the rules alone, without the history;
//! only rules that need the history then end in an outage. The payload leaves this process only over the server's
//! socket, or as the input of the guard.
//!
//! Three things are not left to the table. A table that is damaged, or that another user can write, must not silence
//! the rules: at every event that rules can be about, the hook asks the server or the guard, which read the rules
//! themselves. The same holds if the table is missing while the user's rules exist. If no answer comes then, the human
//! decides. And at a prompt, before any tool runs, the project is searched for rules: if the table does not know them,
//! the hook asks, and from then on the table does.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent_tracer_agent::Agent;
use agent_tracer_policy_abi::wire::PAYLOAD_MAX;
use agent_tracer_policy_abi::{BYTES_MAX, DEADLINE_MS, EVENTS, MatchedRows, Outage, Question, Table};
use agent_tracer_privacy::Moment;
use agent_tracer_spool::Home;
use agent_tracer_spool::settings_file::{self, Refusal};

use crate::exec_guard::{Guard, exec_guard, sibling_binary};
use crate::policy_socket::{self, Answer, AnswerError};
use crate::record::RecordedEvent;
use crate::{arguments::Arguments, decision, project_rules};
use crate::{environment, lookup};

/// The members of a payload that rules match.
#[derive(Debug, Default, PartialEq, Eq)]
struct Fields<'p> {
    event: Cow<'p, [u8]>,
    tool: Cow<'p, [u8]>,
    cwd: Cow<'p, [u8]>,
    /// The places of tool results, which no rule reads and which can be long.
    results: Vec<Range<usize>>,
    /// The payload was read to its end.
    is_whole: bool,
}

impl<'p> Fields<'p> {
    /// Reads a payload. Of members that occur twice the last counts, as it does for other JSON parsers.
    ///
    /// A payload that breaks off is used as far as it goes: making it too long must not get an event past a rule.
    fn of(payload: &'p [u8]) -> Self {
        let mut fields = Self::default();
        let read = lookup::members(payload, &mut |key, place| {
            let text = || payload.get(place.clone()).and_then(lookup::text).unwrap_or_default();
            match key {
                b"hook_event_name" => fields.event = text(),
                b"tool_name" => fields.tool = text(),
                b"cwd" => fields.cwd = text(),
                b"tool_response" => fields.results.push(place),
                _ => {}
            }
        });
        fields.is_whole = read.is_some();
        fields
    }

    /// Returns the payload with each result replaced by `null`.
    fn without_results(&self, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(payload.len());
        let mut from = 0;
        for place in &self.results {
            out.extend_from_slice(payload.get(from..place.start).unwrap_or_default());
            out.extend_from_slice(b"null");
            from = place.end;
        }
        out.extend_from_slice(payload.get(from..).unwrap_or_default());
        out
    }
}

/// Answers an event if a rule may apply to it. Returns the exit code.
pub(crate) fn answer(arguments: &Arguments, home: &Home, recorded: &RecordedEvent) -> i32 {
    let loaded = settings_file::read(&home.policy_table(), home.user(), BYTES_MAX);
    let is_prompt = recorded.moment == Moment::Prompts;
    let table = match &loaded {
        Ok(None) if has_user_rules(home) => TableState::Damaged,
        Ok(None) if !is_prompt => return 0,
        Ok(None) => TableState::Nothing,
        Ok(Some(bytes)) => Table::open(bytes).map_or(TableState::Damaged, TableState::Table),
        Err(_) => TableState::Damaged,
    };
    let project = environment::project().unwrap_or_default();
    // Agents send their folder before the prompt, so a prompt need not be parsed if no project has rules.
    if let TableState::Nothing = table {
        let is_named = project.as_bytes().starts_with(b"/");
        let cwd = if is_named { None } else { lookup::first_text(&recorded.payload, b"cwd") };
        let cwd = cwd.unwrap_or_default();
        if !project_rules::has_rules(&[project.as_bytes(), &cwd], |_| false) {
            return 0;
        }
    }
    let began = Instant::now();
    let agent = arguments.agent;
    let fields = Fields::of(&recorded.payload);
    let question = Question {
        agent: agent.as_str().as_bytes(),
        event: &fields.event,
        tool: &fields.tool,
        directories: [project.as_bytes(), &fields.cwd],
    };
    let matched = match &table {
        TableState::Table(table) => table.ask(&question),
        TableState::Nothing | TableState::Damaged => None,
    };
    let must_ask = matched.is_some()
        || match &table {
            TableState::Damaged => EVENTS.contains(&&*fields.event),
            TableState::Nothing => project_rules::has_rules(&question.directories, |_| false),
            TableState::Table(table) => {
                is_prompt && project_rules::has_rules(&question.directories, |root| knows(table, root))
            }
        };
    if !must_ask {
        return 0;
    }
    let payload = fields.without_results(&recorded.payload);
    let (deadline_ms, guard) = match &table {
        TableState::Table(table) => (table.deadline_ms(), PathBuf::from(OsStr::from_bytes(table.guard()))),
        TableState::Nothing | TableState::Damaged => (DEADLINE_MS, PathBuf::new()),
    };
    let deadline = began + Duration::from_millis(u64::from(deadline_ms));
    let name = recorded.name.map(|name| name.to_string()).unwrap_or_default();
    // Where others may write, the socket may be theirs too.
    let is_open_to_others = matches!(loaded, Err(Refusal::Foreign { .. } | Refusal::Writable { .. }));
    let answer = if !fields.is_whole || payload.len() > PAYLOAD_MAX || is_open_to_others {
        Err(AnswerError::Late)
    } else {
        let texts =
            policy_socket::Texts { name: name.as_bytes(), folder: project.as_bytes(), payload: &payload };
        policy_socket::ask(home, agent, &texts, deadline)
    };
    let server_only = matched.is_some_and(|matched| matched.server_only);
    match answer {
        Ok(answer) => return print(&answer),
        Err(AnswerError::NoServer) if server_only => return 0,
        Err(_) if server_only || !fields.is_whole => {}
        Err(_) => {
            for program in [guard, sibling_binary()] {
                let guard =
                    Guard { program: &program, agent, home: arguments.home.as_deref(), envelope: &name };
                // Returns only if the program could not be started.
                exec_guard(&guard, &payload);
            }
        }
    }
    match (matched, table) {
        (Some(matched), _) => outage(&matched, &fields, agent, home, recorded, began),
        (None, TableState::Damaged) => leave_to_human(&fields.event, agent),
        // The table has no row for these rules, so their choice for an outage is unknown.
        (None, TableState::Table(_) | TableState::Nothing) => 0,
    }
}

/// Returns `true` if the user has a file of rules, or if its absence cannot be established.
fn has_user_rules(home: &Home) -> bool {
    match std::fs::symlink_metadata(home.policy_file()) {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}

/// The state of the table of rules in force.
enum TableState<'t> {
    /// The table is sound.
    Table(Table<'t>),
    /// There is no table and the user has no rules; a project may still have some.
    Nothing,
    /// The table cannot be relied on, or it is missing while the user's rules exist. The rules themselves decide, as
    /// silence would let a damaged file disable them.
    Damaged,
}

/// Leaves a call to the human where neither the table nor the rules can be read. An agent that cannot ask is refused.
/// Only before a tool runs, because only there can an answer prevent an act.
fn leave_to_human(event: &[u8], agent: Agent) -> i32 {
    if event != b"PreToolUse" {
        return 0;
    }
    let decision = if agent.spec().may_ask { "ask" } else { "deny" };
    let stdout = format!(
        "{{\"hookSpecificOutput\":{{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"{decision}\",\
         \"permissionDecisionReason\":\"the rules of agent-tracer could not be read: `agent-tracer doctor` says why\"}}}}\n"
    );
    print(&Answer { exit: 0, stdout: stdout.into_bytes(), stderr: Vec::new() })
}

/// Returns `true` if a table has rows of the project at this root.
fn knows(table: &Table<'_>, root: &Path) -> bool {
    table.rows().any(|row| row.project == root.as_os_str().as_bytes())
}

/// Answers as the table says for an outage, and records the decision.
fn outage(
    matched: &MatchedRows<'_>,
    fields: &Fields<'_>,
    agent: Agent,
    home: &Home,
    recorded: &RecordedEvent,
    began: Instant,
) -> i32 {
    let row = &matched.row;
    let outcome = match row.outage {
        Outage::Allow => "silent",
        Outage::Ask => "ask",
        Outage::Deny => "deny",
    };
    let decision =
        decision::Decision { rule: row.rule, project: row.project, outcome, took: began.elapsed() };
    decision::record(&decision, agent, home, recorded);
    let answer = Answer { exit: row.exit, stdout: row.stdout.to_vec(), stderr: row.stderr.to_vec() };
    // A row's texts are in the shape of its own event and would be misread at another.
    if fields.event.as_ref() == row.event { print(&answer) } else { 0 }
}

/// Prints an answer and returns its exit code. A closed pipe is no reason to fail.
fn print(answer: &Answer) -> i32 {
    let mut stdout = io::stdout().lock();
    drop(stdout.write_all(&answer.stdout).and_then(|()| stdout.flush()));
    drop(io::stderr().lock().write_all(&answer.stderr));
    i32::from(answer.exit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_rules_match_are_found_and_results_are_left_out() {
        let payload = br#"{"hook_event_name":"PostToolUse","tool_name":"a","cwd":"/c\u00f6","tool_response":{"x":["y"]},"tool_name":"Bash","n":1}"#;
        let fields = Fields::of(payload);
        assert!(fields.is_whole);
        assert_eq!((fields.event.as_ref(), fields.tool.as_ref()), (&b"PostToolUse"[..], &b"Bash"[..]));
        assert_eq!(fields.cwd.as_ref(), "/cö".as_bytes());
        let sent = String::from_utf8(fields.without_results(payload)).unwrap();
        assert!(sent.contains(r#""tool_response":null,"tool_name":"Bash","n":1}"#), "{sent}");
        assert_eq!(Fields::of(b"not json"), Fields::default());
        assert_eq!(Fields::of(b"{}"), Fields { is_whole: true, ..Fields::default() });
        let unsound =
            br#"{"hook_event_name":"PreToolUse","tool_input":{"command":"rm \q"},"tool_name":"Bash"}"#;
        assert_eq!(Fields::of(unsound).tool.as_ref(), b"Bash", "an unsound input does not hide the tool");
        let cut = Fields::of(payload.split_at(payload.len() - 30).0);
        assert_eq!(
            (cut.event.as_ref(), cut.tool.as_ref(), cut.is_whole),
            (&b"PostToolUse"[..], &b"a"[..], false)
        );
    }
}
