//! Prompts and answers that hooks and files tell of without a common name are one each, however far apart in time they
//! are reported.

use agent_tracer_event::{Agent, Channel, Kind, Millis, Series, Subject, TaskId, TaskKey};
use agent_tracer_ledger::view::{Row, Turn};
use agent_tracer_ledger::{Observed, RowFilter, Verdict};
use agent_tracer_testkit::{Level, hook_at, transcript_of};
use serde_json::{Value, json};

use crate::delivery_order::{assert_same, shuffled};
use crate::queries::every;
use crate::world::World;

const BEGAN: i64 = 1_790_000_000_000;
const HOUR: i64 = 3_600_000;

fn id() -> TaskId {
    TaskKey::new(Agent::CLAUDE_CODE, "s").task_id()
}

fn rows(world: &World, kind: Kind) -> Vec<Row> {
    let store = world.ledger.store();
    let all = every(|paging| store.timeline(&id(), &RowFilter { paging, ..RowFilter::default() }));
    all.into_iter().filter(|row| row.kind == kind).collect()
}

fn turns(world: &World) -> Vec<Turn> {
    every(|paging| world.ledger.store().turns(&id(), &paging))
}

fn count(world: &World) -> (usize, usize, usize) {
    (rows(world, Kind::UserMessage).len(), rows(world, Kind::AssistantResponse).len(), turns(world).len())
}

/// Returns a payload at so many milliseconds after the beginning.
fn hook(level: Level, at: i64, event: &str, prompt: Option<&str>, more: Value) -> Observed {
    let mut payload = json!({"hook_event_name": event, "session_id": "s", "cwd": "/w"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    if let Some(prompt) = prompt {
        payload["prompt_id"] = Value::from(prompt);
    }
    let body = serde_json::to_vec(&payload).unwrap();
    hook_at(level, Agent::CLAUDE_CODE, &format!("{event}{at}"), Millis(BEGAN + at), false, &body)
}

fn prompt_hook(at: i64, text: &str) -> Observed {
    hook(Level::Actions, at, "UserPromptSubmit", None, json!({"prompt": text}))
}

fn stop_hook(at: i64, text: &str) -> Observed {
    hook(Level::Actions, at, "Stop", None, json!({"last_assistant_message": text}))
}

/// A file of a version that may have hooks without the id of the prompt, or of one that has not.
struct File {
    version: &'static str,
    lines: Vec<Value>,
}

impl File {
    fn new(version: &'static str) -> Self {
        Self { version, lines: Vec::new() }
    }

    fn push(mut self, at: i64, row: Value) -> Self {
        let number = self.lines.len();
        let mut line = json!({"uuid": format!("u{number}"), "sessionId": "s", "cwd": "/w", "version": self.version,
            "isSidechain": false, "timestamp": Millis(BEGAN + at).to_string()});
        line.as_object_mut().unwrap().extend(row.as_object().unwrap().clone());
        self.lines.push(line);
        self
    }

    fn prompt(self, at: i64, prompt: &str, content: impl Into<Value>) -> Self {
        let content: Value = content.into();
        let message = json!({"role": "user", "content": content});
        self.push(at, json!({"type": "user", "promptId": prompt, "promptSource": "user", "message": message}))
    }

    fn answer(self, at: i64, text: &str) -> Self {
        let message = json!({"id": format!("msg_{at}"), "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 1, "output_tokens": 1}});
        self.push(at, json!({"type": "assistant", "message": message, "requestId": format!("req_{at}")}))
    }

    fn queue(self, at: i64, operation: &str, content: &str) -> Self {
        self.push(at, json!({"type": "queue-operation", "operation": operation, "content": content}))
    }

    fn attached(self, at: i64, content: &str) -> Self {
        let attachment = json!({"type": "queued_command", "prompt": content});
        self.push(at, json!({"type": "attachment", "attachment": attachment}))
    }

    fn read_at(&self, level: Level) -> Vec<Observed> {
        let text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        transcript_of(level, "projects/w/s.jsonl", text.as_bytes())
    }

    fn read(&self) -> Vec<Observed> {
        self.read_at(Level::Actions)
    }
}

const OLD: &str = "2.1.150";
const NEW: &str = "2.1.326";

/// Returns the ledger of hooks and rows together; fails unless every order of them ends in the same rows.
fn in_every_order(hooks: &[Observed], rows: &[Observed]) -> World {
    let all: Vec<Observed> = hooks.iter().chain(rows).cloned().collect();
    let world = World::with(&all, usize::MAX);
    let expected = world.rows();
    let rows_first: Vec<Observed> = rows.iter().chain(hooks).cloned().collect();
    assert_same("series", "rows first", &expected, &World::with(&rows_first, 1).rows());
    for seed in 1..6 {
        assert_same("series", "mixed", &expected, &World::with(&shuffled(&all, seed), 1).rows());
    }
    world.ledger.rebuild().unwrap();
    assert_same("series", "rebuilt", &expected, &world.rows());
    world
}

/// Returns two turns with one text and one answer, and a third with another.
fn two_alike() -> File {
    File::new(OLD)
        .prompt(0, "p1", "Go on")
        .answer(4_000, "Done.")
        .prompt(60_000, "p2", "Go on")
        .answer(64_000, "Done.")
        .prompt(120_000, "p3", "Stop")
        .answer(121_000, "Stopped.")
}

fn hooks_of_two_alike(moved: impl Fn(i64) -> i64) -> Vec<Observed> {
    vec![
        prompt_hook(moved(50), "Go on"),
        stop_hook(moved(4_050), "Done."),
        prompt_hook(moved(60_050), "Go on"),
        stop_hook(moved(64_050), "Done."),
        prompt_hook(moved(120_050), "Stop"),
        stop_hook(moved(121_050), "Stopped."),
    ]
}

#[test]
fn hooks_that_name_no_prompt_are_joined_whatever_their_clock_says() {
    let cases: [(&str, &dyn Fn(i64) -> i64); 4] = [
        ("live", &|at| at),
        ("replayed hours later", &|at| at + 5 * HOUR),
        ("replayed at once", &|at| 5 * HOUR + at / 10),
        ("an early clock", &|at| at - 90_000),
    ];
    for (name, moved) in cases {
        let world = in_every_order(&hooks_of_two_alike(moved), &two_alike().read());
        assert_eq!(count(&world), (3, 3, 3), "{name}");
        let joined = [Kind::UserMessage, Kind::AssistantResponse]
            .into_iter()
            .flat_map(|kind| rows(&world, kind))
            .filter(|row| row.channels.len() == 2);
        assert_eq!(joined.count(), 6, "{name}");
        for turn in turns(&world) {
            assert_eq!(turn.state.as_str(), "succeeded", "{name}");
            assert!(turn.ended_at.is_some_and(|ended| ended > turn.started_at), "{name}: {turn:?}");
        }
    }
}

#[test]
fn where_hooks_miss_a_prompt_the_nearest_is_joined() {
    let hooks: Vec<Observed> = hooks_of_two_alike(|at| at).into_iter().skip(2).collect();
    let world = in_every_order(&hooks, &two_alike().read());
    assert_eq!(count(&world), (3, 3, 3));
    let joined: Vec<bool> =
        rows(&world, Kind::UserMessage).iter().map(|row| row.channels.len() == 2).collect();
    assert_eq!(joined, [false, true, true]);
    let alone = in_every_order(&hooks_of_two_alike(|at| at), &[]);
    assert_eq!(count(&alone), (3, 3, 3));
}

#[test]
fn a_prompt_that_waited_for_long_is_reported_once_by_hooks_that_name_no_prompt() {
    let hooks = [prompt_hook(50, "First"), prompt_hook(10_000, "Second"), stop_hook(60_000, "Both done.")];
    let steered = File::new(OLD)
        .prompt(0, "p1", "First")
        .queue(10_000, "enqueue", "Second")
        .queue(50_000, "remove", "Second")
        .attached(50_010, "Second")
        .answer(60_000, "Both done.");
    let world = in_every_order(&hooks, &steered.read());
    assert_eq!(count(&world), (2, 1, 1));
    assert_eq!(turns(&world)[0].prompt.as_deref(), Some("First"));
    let dequeued = File::new(OLD)
        .prompt(0, "p1", "First")
        .queue(10_000, "enqueue", "Second")
        .answer(50_000, "First done.")
        .queue(50_010, "dequeue", "")
        .prompt(50_020, "p2", "Second")
        .answer(60_000, "Both done.");
    let hooks = [
        prompt_hook(50, "First"),
        prompt_hook(10_000, "Second"),
        stop_hook(50_000, "First done."),
        stop_hook(60_000, "Both done."),
    ];
    assert_eq!(count(&in_every_order(&hooks, &dequeued.read())), (2, 2, 2));
}

#[test]
fn the_same_text_twice_in_one_turn_is_two_prompts() {
    let file = File::new(NEW)
        .prompt(0, "p1", "Begin")
        .queue(10_000, "enqueue", "continue")
        .queue(20_000, "enqueue", "continue")
        .queue(50_000, "remove", "continue")
        .queue(50_001, "remove", "continue")
        .attached(50_010, "continue")
        .attached(50_011, "continue")
        .answer(60_000, "Done.");
    let typed = |at: i64, text: &str| {
        hook(Level::Actions, at, "UserPromptSubmit", Some("p1"), json!({"prompt": text}))
    };
    let hooks = [typed(50, "Begin"), typed(10_000, "continue"), typed(20_000, "continue")];
    for (hooks, rows) in [(&hooks[..], file.read()), (&hooks[..], Vec::new()), (&[], file.read())] {
        let world = in_every_order(hooks, &rows);
        assert_eq!((self::rows(&world, Kind::UserMessage).len(), turns(&world).len()), (3, 1));
    }
}

#[test]
fn prompts_of_the_same_length_are_two_where_only_lengths_are_kept() {
    let file = File::new(NEW)
        .prompt(0, "p1", "Begin")
        .queue(10_000, "enqueue", "Look!")
        .queue(50_000, "remove", "Look!")
        .attached(50_010, "Look!")
        .answer(60_000, "Done.");
    let typed = |at: i64, text: &str| {
        hook(Level::Metadata, at, "UserPromptSubmit", Some("p1"), json!({"prompt": text}))
    };
    let hooks = [typed(50, "Begin"), typed(10_000, "Look!")];
    for (hooks, rows) in [
        (&hooks[..], file.read_at(Level::Metadata)),
        (&hooks[..], Vec::new()),
        (&[], file.read_at(Level::Metadata)),
    ] {
        assert_eq!(self::rows(&in_every_order(hooks, &rows), Kind::UserMessage).len(), 2);
    }
}

#[test]
fn one_prompt_whose_text_differs_between_channels_is_one() {
    let command = "<command-message>shout</command-message>\n<command-name>/shout</command-name>\n\
        <command-args>two  spaces</command-args>";
    let blocks = json!([{"type": "text", "text": "Look at"}, {"type": "text", "text": "this"}]);
    let image = json!([{"type": "text", "text": "Look"}, {"type": "image", "source": {"type": "base64"}}]);
    for (typed, content) in [
        ("/shout  two  spaces", Value::from(command)),
        ("Look at this, both", blocks),
        ("Look [Image #1]", image),
    ] {
        for level in [Level::Metadata, Level::Actions, Level::Full] {
            let hooks = [hook(level, 50, "UserPromptSubmit", Some("p1"), json!({"prompt": typed}))];
            let file = File::new(NEW).prompt(0, "p1", content.clone()).answer(4_000, "Done.");
            let world = in_every_order(&hooks, &file.read_at(level));
            assert_eq!(rows(&world, Kind::UserMessage).len(), 1, "{typed} at {level:?}");
        }
    }
}

#[test]
fn a_session_that_is_resumed_with_the_same_words_has_two_prompts() {
    // Without a terminal each prompt goes through the queue, and has the id of its own turn in its hook.
    let file = File::new(NEW)
        .queue(0, "enqueue", "Go on")
        .prompt(10, "p1", "Go on")
        .answer(4_000, "Done.")
        .queue(60_000, "enqueue", "Go on")
        .prompt(60_010, "p2", "Go on")
        .answer(64_000, "Done.");
    for moved in [0, 5 * HOUR] {
        let typed = |at: i64, prompt: &str| {
            hook(Level::Actions, at + moved, "UserPromptSubmit", Some(prompt), json!({"prompt": "Go on"}))
        };
        let world = in_every_order(&[typed(50, "p1"), typed(60_050, "p2")], &file.read());
        assert_eq!(count(&world), (2, 2, 2));
        assert!(rows(&world, Kind::UserMessage).iter().all(|row| row.channels.len() == 2));
    }
}

#[test]
fn telemetry_that_names_the_turn_alone_adds_no_second_prompt() {
    let hooks = [hook(Level::Actions, 50, "UserPromptSubmit", Some("p1"), json!({"prompt": "Go on"}))];
    let mut exported = hooks[0].clone();
    exported.name = "exported".to_owned();
    exported.channel = Channel::Otlp;
    exported.payload = None;
    let Verdict::Read(reading) = &mut exported.verdict else { panic!("{exported:?}") };
    reading.entries.retain(|entry| entry.subject == Subject::Event(Kind::UserMessage));
    for entry in &mut reading.entries {
        entry.key = "prompt:p1".to_owned();
        entry.series = Some(Series { name: "prompt:p1".to_owned(), part: String::new() });
    }
    let file = File::new(NEW).prompt(0, "p1", "Go on").answer(4_000, "Done.");
    for rows in [file.read(), Vec::new()] {
        let world = in_every_order(&[hooks[0].clone(), exported.clone()], &rows);
        assert_eq!(self::rows(&world, Kind::UserMessage).len(), 1);
    }
}
