//! The door at which an event may be answered: `policy.tbl` says whether anybody must, the server does, and where it does
//! not a second program stands in.
//!
//! By now the event is in the spool; whatever happens here, it is not lost. The law: where no rule is, one failed open
//! and nothing more. The server is waited for as long as the table says. Without its answer (none runs, it is late, the
//! payload is too long for it) this process becomes the program that judges by the rules themselves, without the past;
//! only what needs the past is then an outage. The payload leaves this process only over the server's socket, or as the
//! input of that program.
//!
//! Three things are not left to the table. One that is damaged, or that another user can write, is no silence: at every
//! event that rules can be about, those are asked who read the rules themselves. The same holds where the table is gone
//! and the user's rules are not. And at a prompt, before anything is done, the project is looked at: where it has rules
//! that the table does not know, somebody is asked, and from then on the table does. Where nothing can be asked, the
//! human is.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent_tracer_agent::Agent;
use agent_tracer_policy_abi::wire::PAYLOAD_MAX;
use agent_tracer_policy_abi::{Asked, BYTES_MAX, DEADLINE_MS, EVENTS, Outage, Question, Table};
use agent_tracer_privacy::Moment;
use agent_tracer_spool::Home;
use agent_tracer_spool::settings_file::{self, Refusal};

use crate::record::Recorded;
use crate::stand_in::{self, StandIn};
use crate::talk::{self, Said, Unanswered};
use crate::{arguments::Arguments, decision, unknown};
use crate::{environment, lookup};

/// What a rule can be asked about, of a payload.
#[derive(Debug, Default, PartialEq, Eq)]
struct Fields<'p> {
    event: Cow<'p, [u8]>,
    tool: Cow<'p, [u8]>,
    cwd: Cow<'p, [u8]>,
    /// Results of tools: no rule looks at them, and they can be long.
    results: Vec<Range<usize>>,
    /// Whether the payload was read to its end.
    is_whole: bool,
}

impl<'p> Fields<'p> {
    /// Reads a payload; of members that are there twice the last counts, as it does for everybody else.
    ///
    /// One that breaks off is asked about as far as it goes: who makes it too long must not get past a rule by that.
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

    /// The payload without results.
    fn asked(&self, payload: &[u8]) -> Vec<u8> {
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

/// Answers an event if anybody has anything to say. Returns how to end.
pub(crate) fn answer(arguments: &Arguments, home: &Home, recorded: &Recorded) -> i32 {
    let loaded = settings_file::read(&home.policy_table(), home.user(), BYTES_MAX);
    let is_prompt = recorded.moment == Moment::Prompts;
    let table = match &loaded {
        Ok(None) if has_user_rules(home) => Known::Damaged,
        Ok(None) if !is_prompt => return 0,
        Ok(None) => Known::Nothing,
        Ok(Some(bytes)) => Table::open(bytes).map_or(Known::Damaged, Known::Table),
        Err(_) => Known::Damaged,
    };
    let project = environment::project().unwrap_or_default();
    // Both agents say where they are before they say the prompt, which is not worth reading where nobody has rules.
    if let Known::Nothing = table {
        let is_named = project.as_bytes().starts_with(b"/");
        let cwd = if is_named { None } else { lookup::first_text(&recorded.payload, b"cwd") };
        let cwd = cwd.unwrap_or_default();
        if !unknown::has_rules(&[project.as_bytes(), &cwd], |_| false) {
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
    let asked = match &table {
        Known::Table(table) => table.ask(&question),
        Known::Nothing | Known::Damaged => None,
    };
    let must_ask = asked.is_some()
        || match &table {
            Known::Damaged => EVENTS.contains(&&*fields.event),
            Known::Nothing => unknown::has_rules(&question.directories, |_| false),
            Known::Table(table) => {
                is_prompt && unknown::has_rules(&question.directories, |root| knows(table, root))
            }
        };
    if !must_ask {
        return 0;
    }
    let payload = fields.asked(&recorded.payload);
    let (deadline_ms, guard) = match &table {
        Known::Table(table) => (table.deadline_ms(), PathBuf::from(OsStr::from_bytes(table.guard()))),
        Known::Nothing | Known::Damaged => (DEADLINE_MS, PathBuf::new()),
    };
    let deadline = began + Duration::from_millis(u64::from(deadline_ms));
    let name = recorded.name.map(|name| name.to_string()).unwrap_or_default();
    // Where others may write, the socket may be theirs too.
    let is_open_to_others = matches!(loaded, Err(Refusal::Foreign { .. } | Refusal::Writable { .. }));
    let said = if !fields.is_whole || payload.len() > PAYLOAD_MAX || is_open_to_others {
        Err(Unanswered::Late)
    } else {
        let texts = talk::Texts { name: name.as_bytes(), folder: project.as_bytes(), payload: &payload };
        talk::ask(home, agent, &texts, deadline)
    };
    let server_only = asked.is_some_and(|asked| asked.server_only);
    match said {
        Ok(said) => return speak(&said),
        Err(Unanswered::NobodyThere) if server_only => return 0,
        Err(_) if server_only || !fields.is_whole => {}
        Err(_) => {
            for program in [guard, stand_in::beside_us()] {
                let stand_in =
                    StandIn { program: &program, agent, home: arguments.home.as_deref(), envelope: &name };
                // Comes back only if it could not be done.
                stand_in::become_it(&stand_in, &payload);
            }
        }
    }
    match (asked, table) {
        (Some(asked), _) => outage(&asked, &fields, agent, home, recorded, began),
        (None, Known::Damaged) => leave_to_human(&fields.event, agent),
        // Of rules that no table tells of, nobody knows what they say of an outage.
        (None, Known::Table(_) | Known::Nothing) => 0,
    }
}

/// Whether the user has a file of rules, or may have one where nobody can look.
fn has_user_rules(home: &Home) -> bool {
    match std::fs::symlink_metadata(home.policy_file()) {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}

/// What is known of the rules in force.
enum Known<'t> {
    /// What the table says.
    Table(Table<'t>),
    /// There is no table: no rule is in force that anybody has heard of.
    Nothing,
    /// There is one that cannot be relied on, or it is gone and the rules are not. That is no reason to keep silent:
    /// the rules themselves are asked.
    Damaged,
}

/// Leaves a call to the human where neither the table nor the rules can be asked. An agent that cannot ask is refused.
/// Only before a tool runs: nothing else can be undone by an answer.
fn leave_to_human(event: &[u8], agent: Agent) -> i32 {
    if event != b"PreToolUse" {
        return 0;
    }
    let decision = if agent.spec().may_ask { "ask" } else { "deny" };
    let stdout = format!(
        "{{\"hookSpecificOutput\":{{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"{decision}\",\
         \"permissionDecisionReason\":\"the rules of agent-tracer could not be read: `agent-tracer doctor` says why\"}}}}\n"
    );
    speak(&Said { exit: 0, stdout: stdout.into_bytes(), stderr: Vec::new() })
}

/// Whether a table has rows of the project at this root.
fn knows(table: &Table<'_>, root: &Path) -> bool {
    table.rows().any(|row| row.project == root.as_os_str().as_bytes())
}

/// Does what the table says of an outage, and writes down that it was one.
fn outage(
    asked: &Asked<'_>,
    fields: &Fields<'_>,
    agent: Agent,
    home: &Home,
    recorded: &Recorded,
    began: Instant,
) -> i32 {
    let row = &asked.row;
    let outcome = match row.outage {
        Outage::Allow => "silent",
        Outage::Ask => "ask",
        Outage::Deny => "deny",
    };
    let decision =
        decision::Decision { rule: row.rule, project: row.project, outcome, took: began.elapsed() };
    decision::write_down(&decision, agent, home, recorded);
    let said = Said { exit: row.exit, stdout: row.stdout.to_vec(), stderr: row.stderr.to_vec() };
    // Nothing is said at an event that is not the table's: a row answers only for its own.
    if fields.event.as_ref() == row.event { speak(&said) } else { 0 }
}

/// Prints an answer. A reader that is gone is no reason to fail.
fn speak(said: &Said) -> i32 {
    let mut stdout = io::stdout().lock();
    drop(stdout.write_all(&said.stdout).and_then(|()| stdout.flush()));
    drop(io::stderr().lock().write_all(&said.stderr));
    i32::from(said.exit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rule_is_asked_about_is_found_and_results_are_left_out() {
        let payload = br#"{"hook_event_name":"PostToolUse","tool_name":"a","cwd":"/c\u00f6","tool_response":{"x":["y"]},"tool_name":"Bash","n":1}"#;
        let fields = Fields::of(payload);
        assert!(fields.is_whole);
        assert_eq!((fields.event.as_ref(), fields.tool.as_ref()), (&b"PostToolUse"[..], &b"Bash"[..]));
        assert_eq!(fields.cwd.as_ref(), "/cö".as_bytes());
        let asked = String::from_utf8(fields.asked(payload)).unwrap();
        assert!(asked.contains(r#""tool_response":null,"tool_name":"Bash","n":1}"#), "{asked}");
        assert_eq!(Fields::of(b"not json"), Fields::default());
        assert_eq!(Fields::of(b"{}"), Fields { is_whole: true, ..Fields::default() });
        let cut = Fields::of(payload.split_at(payload.len() - 30).0);
        assert_eq!(
            (cut.event.as_ref(), cut.tool.as_ref(), cut.is_whole),
            (&b"PostToolUse"[..], &b"a"[..], false)
        );
    }
}
