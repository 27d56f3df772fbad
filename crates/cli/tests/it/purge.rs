//! `purge`: whichever way something came in, no file of the home holds anything of it afterwards.
//!
//! Each session says a word of its own on every way in. Where the words stand is looked for in the bytes of every file of
//! the home, in every column of the store as its own reader unpacks it, and in what is compressed.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use agent_tracer_agents::sessions::Form;
use agent_tracer_event::{Agent, TaskKey};
use agent_tracer_intake::files::open;
use nix::sys::signal::Signal;
use rusqlite::types::ValueRef;
use serde_json::{Value, json};

use crate::history::json as json_of;
use crate::serve::{OLDER, Server};
use crate::world::World;

const DATA: &str = "home/.local/share/agent-tracer";

/// A session, and the word that it says everywhere.
#[derive(Clone, Copy)]
struct Session {
    id: &'static str,
    word: &'static str,
}

const GONE: Session = Session { id: "11111111-aaaa-4bbb-8ccc-111111111111", word: "bcdfghjklmnpq" };
const STAYS: Session = Session { id: "22222222-aaaa-4bbb-8ccc-222222222222", word: "rstvwxzbcdfgh" };
/// A session with files and events of last week alone.
const AGED: Session = Session { id: "33333333-aaaa-4bbb-8ccc-333333333333", word: "jklmnpqrstvwx" };
/// Id inside damaged data.
const UNKNOWN: &str = "zzbbccddffgghh";

impl Session {
    fn task(self) -> String {
        TaskKey::new(Agent::CLAUDE_CODE, self.id).task_id().to_string()
    }

    fn folder(self) -> String {
        format!("/nowhere/{}", self.word)
    }

    /// A hook's payload; each number another event.
    fn payload(self, number: usize) -> Value {
        let Session { id, word } = self;
        let base = json!({"session_id": id, "cwd": self.folder(), "transcript_path": "/nowhere/t.jsonl"});
        let more = match number % 3 {
            0 => json!({"hook_event_name": "UserPromptSubmit", "prompt": format!("please {word} {number}")}),
            1 => {
                json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": format!("toolu_{word}{number}"),
                "tool_input": {"command": format!("{word}-{number} --now"), "description": word},
                "tool_response": {"stdout": word}})
            }
            _ => {
                json!({"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_use_id": format!("toolu_{word}{number}"),
                "tool_input": {"file_path": format!("{}/{word}.rs", self.folder()), "old_string": word, "new_string": "x"}})
            }
        };
        let mut payload = base;
        payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        payload
    }

    /// Events in our own words, of last week.
    fn events(self) -> Value {
        let Session { id, word } = self;
        let event = |number: usize, kind: &str, more: Value| {
            let mut event = json!({"id": format!("{word}-{number}"), "kind": kind, "runtimeSource": "claude_code",
                "runtimeSessionId": id, "occurredAt": format!("2026-11-0{}T10:00:00.000Z", 1 + number % 7)});
            event.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            event
        };
        json!({"events": [
            event(1, "tool.used", json!({"filePaths": [format!("{}/posted.rs", self.folder())], "title": word,
                "metadata": {"toolName": "Read", "toolUseId": format!("toolu_i{word}"), "subtypeKey": "read_file"}})),
            event(2, "terminal.command", json!({"body": word,
                "metadata": {"command": format!("{word} --posted"), "toolUseId": format!("toolu_c{word}")}})),
        ]})
    }

    fn telemetry(self) -> Value {
        let of = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
        let record = json!({"timeUnixNano": "1794777004001000000", "body": {"stringValue": "claude_code.tool_result"},
            "attributes": [of("event.name", "tool_result"), of("session.id", self.id), of("tool_name", self.word),
                of("event.timestamp", "2026-11-03T10:00:00.000Z"), of("success", "true"), of("duration_ms", "7"),
                of("tool_use_id", &format!("toolu_o{}", self.word)), of("tool_parameters", self.word)]});
        json!({"resourceLogs": [{"resource": {"attributes": [of("service.name", "claude-code")]},
            "scopeLogs": [{"logRecords": [record]}]}]})
    }

    /// Writes a transcript with an unfinished last call, so that its reader remembers the arguments.
    fn write_transcript(self, world: &World) {
        let Session { id, word } = self;
        let row = |number: usize, kind: &str, message: Value| {
            json!({"type": kind, "uuid": format!("u{number}{word}"), "sessionId": id, "cwd": self.folder(),
                "timestamp": format!("2026-11-02T10:00:0{number}.000Z"), "promptId": format!("p{word}"), "message": message})
        };
        let call = json!({"type": "tool_use", "id": format!("toolu_t{word}"), "name": "Bash",
            "input": {"command": format!("{word} --open")}});
        let rows = [
            row(1, "user", json!({"role": "user", "content": format!("do {word}")})),
            row(
                2,
                "assistant",
                json!({"role": "assistant", "id": format!("msg_{word}"), "model": "claude-opus-4-1",
                "content": [{"type": "text", "text": word}, call], "usage": {"input_tokens": 10, "output_tokens": 5}}),
            ),
        ];
        let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        world.write(&format!("home/.claude/projects/-nowhere/{id}.jsonl"), &text);
    }
}

/// A home into which three sessions came on every way, and which is closed again.
fn filled() -> World {
    let world = World::with_real_hook();
    for session in [GONE, STAYS, AGED] {
        session.write_transcript(&world);
    }
    for number in 0..6 {
        for session in [GONE, STAYS] {
            world.hook("project", "claude", &session.payload(number).to_string()).ended_with(0);
        }
    }
    let server = Server::start(&world);
    for session in [GONE, STAYS] {
        for number in 10..16 {
            server.post(&world, "/hooks/claude", &session.payload(number));
        }
        server.post(&world, "/v1/logs", &session.telemetry());
    }
    for session in [GONE, STAYS, AGED] {
        server.post(&world, "/ingest/v1/events", &session.events());
    }
    server.end(Signal::SIGTERM);
    // Search follows behind, and a server that ends does not wait for it.
    world.run(&["rebuild"]).ended_with(0);
    for session in [GONE, STAYS] {
        leave(&world, session);
    }
    // Unreadable data has no known owner.
    world.write(&format!("{DATA}/spool/quarantine/stranger-0123"), &format!("garbage {UNKNOWN}"));
    world.write(&format!("{DATA}/ledger.db.aside/log-0123"), &format!("garbage {UNKNOWN}"));
    fs::copy(
        world.path(&format!("{DATA}/ledger.db")),
        world.path(&format!("{DATA}/ledger.db.schema-5.backup")),
    )
    .expect("a copy");
    world.write(&format!("{DATA}/context/0123456789abcdef"), &format!("a page about {}", GONE.folder()));
    world
}

/// Leaves what a session leaves outside of the ledger: what waits, what is damaged, what was set aside, a copy.
fn leave(world: &World, session: Session) {
    let new = format!("{DATA}/spool/new");
    world.hook("project", "claude", &session.payload(20).to_string()).ended_with(0);
    let waiting = world.names(&new);
    let last = waiting.last().expect("it waits");
    let mut bytes = fs::read(world.path(&format!("{new}/{last}"))).expect("an envelope");
    *bytes.iter_mut().rev().nth(3).expect("a trailer") ^= 1;
    let damaged = world.path(&format!("{DATA}/spool/quarantine/{last}"));
    fs::rename(world.path(&format!("{new}/{last}")), &damaged).expect("moved");
    world.write(&format!("{DATA}/spool/quarantine/{last}.reason"), "cannot read envelope\n");
    write_bytes(&damaged, &bytes);
    world.hook("project", "claude", &session.payload(21).to_string()).ended_with(0);
    let Session { id, word } = session;
    world.write(
        &format!("{DATA}/ledger.db.aside/journal-{word}"),
        &format!("torn {{\"session_id\":\"{id}\",\"x\":\"{word}\"}}"),
    );
    world.write(
        &format!("{DATA}/backup/{}-20261102T100000000Z-main.jsonl.zst", session.task()),
        &format!("a copy of {word}"),
    );
}

fn write_bytes(path: &Path, bytes: &[u8]) {
    use std::io::Write;
    fs::File::create(path).expect("a file").write_all(bytes).expect("written");
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Every place of the home where a word stands.
fn places_of(world: &World, word: &str) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(word.len()).any(|window| window == word.as_bytes());
    let mut places = Vec::new();
    for folder in [DATA, "home/.config/agent-tracer"] {
        for path in files_below(&world.path(folder)).into_iter().filter(|path| path.is_file()) {
            let name = path.strip_prefix(world.path(folder)).expect("below").to_string_lossy().into_owned();
            let mut unpacked = Vec::new();
            if name.ends_with(".zst")
                && let Ok(mut file) = open(&path, Form::CompressedLines)
            {
                drop(file.read_to_end(&mut unpacked));
            }
            if holds(&fs::read(&path).expect("bytes")) || holds(&unpacked) {
                places.push(name);
            }
        }
    }
    places.extend(columns_with(&world.path(&format!("{DATA}/ledger.db")), word));
    places
}

fn columns_with(store: &Path, word: &str) -> Vec<String> {
    let store = rusqlite::Connection::open(store).expect("the store");
    let mut find = store.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").expect("tables");
    let tables: Vec<String> =
        find.query_map([], |row| row.get(0)).expect("names").map(|name| name.expect("a name")).collect();
    let mut places = Vec::new();
    for table in tables.iter().filter(|table| *table != "search") {
        let mut rows = store.prepare(&format!("SELECT * FROM \"{table}\"")).expect("rows");
        let columns: Vec<String> = rows.column_names().map(str::to_owned).collect();
        let mut rows = rows.query([]).expect("rows");
        while let Some(row) = rows.next().expect("a row") {
            for (index, column) in columns.iter().enumerate() {
                let text = match row.get_ref(index).expect("a value") {
                    ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                    ValueRef::Blob(blob) => agent_tracer_ledger::unpack(blob),
                    ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => continue,
                };
                if text.contains(word) {
                    places.push(format!("{table}.{column}"));
                }
            }
        }
    }
    places
}

#[track_caller]
fn is_gone(world: &World, word: &str) {
    assert_eq!(places_of(world, word), Vec::<String>::new(), "{word}");
}

#[test]
fn a_task_goes_from_every_file_and_nothing_brings_it_back() {
    let world = filled();
    let stood = places_of(&world, GONE.word);
    for place in [
        "ledger.db",
        "ledger.db.schema-5.backup",
        "ledger.db.aside/journal-bcdfghjklmnpq",
        "context/0123456789abcdef",
        "cursor.state",
        "source.kept",
        "vocabulary.term",
    ] {
        assert!(stood.iter().any(|stood| stood == place), "{place} is not among {stood:?}");
    }
    for part in ["spool/new/", "spool/quarantine/", "backup/"] {
        assert!(stood.iter().any(|stood| stood.starts_with(part)), "{part} is not among {stood:?}");
    }
    let dry = world.run(&["purge", GONE.id, "--dry-run"]).ended_with(0);
    assert!(dry.stderr.contains("would remove") && dry.stderr.contains("schema-5.backup"), "{}", dry.stderr);

    let said = world.run(&["purge", GONE.id, "--yes"]).ended_with(0).stderr;
    is_gone(&world, GONE.word);
    assert!(said.contains("removed `ledger.db.schema-5.backup`"), "{said}");
    assert!(said.contains("warning: 3 files") && said.contains("purge --all"), "{said}");
    for part in ["spool/new/", "spool/quarantine/", "backup/", "ledger.db.aside/journal-", "ledger.db"] {
        let stays = places_of(&world, STAYS.word);
        assert!(stays.iter().any(|place| place.starts_with(part)), "{part} is not among {stays:?}");
    }
    // A copy of a log holds pages of any task, packed.
    assert_eq!(places_of(&world, UNKNOWN), ["spool/quarantine/stranger-0123"]);

    for command in [&["import"][..], &["reread"], &["rebuild"]] {
        world.run(command).ended_with(0);
        is_gone(&world, GONE.word);
    }
    Server::start(&world).end(Signal::SIGTERM);
    is_gone(&world, GONE.word);
    world.run(&["show", GONE.id]).ended_with(1);
    world.run(&["show", STAYS.id]).ended_with(0);
}

#[test]
fn a_project_goes_from_every_file() {
    let world = filled();
    let answer = json_of(&world, &["purge", "--project", &GONE.folder(), "--yes"]);
    is_gone(&world, GONE.word);
    // The owner of the other session's damaged files is unknown too.
    let left = &answer["leftovers"];
    assert_eq!(
        (&left["storeCopies"], &left["unreadable"]),
        (&json!(["ledger.db.schema-5.backup"]), &json!(3)),
        "{answer}"
    );
    assert_eq!(
        (&left["compactionCopies"], &left["setAside"], &left["envelopes"]),
        (&json!(1), &json!(2), &json!(2))
    );
    assert!(!places_of(&world, STAYS.word).is_empty());
}

#[test]
fn all_of_it_goes_from_every_file_with_every_total() {
    let world = filled();
    assert!(json_of(&world, &["retain", "--days", "2"])["tasks"].as_u64().expect("a number") > 0);
    world.run(&["purge", "--all", "--yes"]).ended_with(0);
    for word in [GONE.word, STAYS.word, AGED.word, UNKNOWN] {
        is_gone(&world, word);
    }
    world.run(&["import"]).ended_with(0);
    world.run(&["reread"]).ended_with(0);
    let server = Server::start(&world);
    for path in [
        "tasks",
        "files",
        "commands",
        "tools",
        "agents",
        "failures",
        "usage?by=project",
        "usage?by=model",
        "usage?by=day",
    ] {
        let answer = server.get(&format!("/api/v1/{path}"));
        let body = answer.split("\r\n\r\n").nth(1).expect("a body");
        let page: Value = serde_json::from_str(body).expect("JSON");
        assert_eq!(page["items"], json!([]), "{path}");
    }
    let health = server.get("/api/v1/health");
    let health: Value = serde_json::from_str(health.split("\r\n\r\n").nth(1).expect("a body")).expect("JSON");
    assert_eq!((&health["store"]["events"], &health["store"]["entries"]), (&json!(0), &json!(0)));
    let metrics = server.get("/metrics");
    let of_rows =
        |line: &&str| line.starts_with("agent_tracer_events ") || line.starts_with("agent_tracer_tasks ");
    assert!(metrics.lines().any(|line| line == "agent_tracer_events 0"), "{metrics}");
    assert!(metrics.lines().filter(of_rows).all(|line| line.ends_with(" 0")), "{metrics}");
    server.end(Signal::SIGTERM);
    for word in [GONE.word, STAYS.word, AGED.word, UNKNOWN] {
        is_gone(&world, word);
    }
}

#[test]
fn a_task_of_which_only_totals_are_left_goes_too() {
    let world = filled();
    world.run(&["retain", "--days", "2"]).ended_with(0);
    assert!(
        places_of(&world, AGED.word).iter().any(|place| place == "word.text"),
        "its file is in the totals"
    );
    world.run(&["purge", AGED.id, "--yes"]).ended_with(0);
    is_gone(&world, AGED.word);
    world.run(&["rebuild"]).ended_with(0);
    world.run(&["import"]).ended_with(0);
    is_gone(&world, AGED.word);
    assert!(!places_of(&world, STAYS.word).is_empty());
}

#[test]
fn a_purge_that_could_not_be_finished_is_reported_and_ended_by_the_next_one() {
    let world = filled();
    world.run(&["backup", "create"]).ended_with(0);
    let in_the_way = world.path(&format!("{DATA}/ledger.db.anew"));
    fs::create_dir(&in_the_way).expect("a folder");
    let refused = world.run(&["purge", GONE.id, "--yes"]).ended_with(1).stderr;
    assert!(refused.contains("cannot change the ledger: ") && refused.contains("hint: "), "{refused}");
    let server = Server::start(&world);
    let health = server.get("/api/v1/health");
    assert!(health.contains("\"degraded\"") && health.contains("a purge was not finished"), "{health}");
    let doctor = world.run(&["doctor"]).ended_with(0).stdout;
    assert!(doctor.contains("a purge was not finished") && doctor.contains("agent-tracer purge"), "{doctor}");
    let said = server.end(Signal::SIGTERM);
    assert!(said.contains("a purge was not finished"), "{said}");
    fs::remove_dir(&in_the_way).expect("removed");
    let again = world.run(&["purge", "--before", "2000-01-01", "--yes"]).ended_with(0).stderr;
    assert!(again.contains("finished an interrupted purge"), "{again}");
    assert!(again.contains("still holds what was deleted"), "{again}");
    for name in world.names(&format!("{DATA}/backup")).iter().filter(|name| name.starts_with("store-")) {
        world.run(&["backup", "remove", name]).ended_with(0);
    }
    is_gone(&world, GONE.word);
}

#[test]
fn what_an_upgrade_left_behind_goes_too() {
    let world = filled();
    let store = rusqlite::Connection::open(world.path(&format!("{DATA}/ledger.db"))).expect("the store");
    store.execute_batch(OLDER).expect("an older store");
    drop(store);
    Server::start(&world).end(Signal::SIGTERM);
    let copy = format!("{DATA}/ledger.db.schema-6.backup");
    assert!(world.exists(&copy));
    world.run(&["purge", GONE.id, "--yes"]).ended_with(0);
    is_gone(&world, GONE.word);
    assert!(!world.exists(&copy));
}

/// Leaves what processes leave that are killed while they copy the store, and returns where.
fn leave_unfinished(world: &World) -> Vec<String> {
    let part = format!("{DATA}/backup/.store-20261102T100000000Z.db.part");
    let of_part = ["", "-wal", "-journal-of-posts", ".sums", ".aside/post-1", ".aside/post-1.reason"]
        .map(|end| format!("{part}{end}"));
    let of_incoming = ["", "-wal", "-journal-of-posts", ".aside/post-1"]
        .map(|end| format!("{DATA}/ledger.db.incoming/ledger.db{end}"));
    let orphan = format!("{DATA}/backup/.store-20261103T100000000Z.db.part-wal");
    let all: Vec<String> = of_part.into_iter().chain(of_incoming).chain([orphan]).collect();
    for place in &all {
        world.write(place, &format!("half of {} and {}", GONE.word, STAYS.word));
    }
    all
}

#[test]
fn what_killed_processes_left_of_copies_goes_with_a_task() {
    let world = filled();
    let left = leave_unfinished(&world);
    let listed = world.run(&["backup", "list"]).ended_with(0).stdout;
    assert_eq!(listed.matches("unfinished").count(), 3, "{listed}");
    let name = ".store-20261102T100000000Z.db.part";
    let refused = world.run(&["backup", "restore", name, "--yes"]).ended_with(2).stderr;
    assert!(refused.contains("was not finished") && refused.contains("backup remove"), "{refused}");
    let dry = world.run(&["purge", GONE.id, "--dry-run"]).ended_with(0).stderr;
    assert!(dry.contains("ledger.db.incoming") && dry.contains(name), "{dry}");
    world.run(&["purge", GONE.id, "--yes", "--keep-backups"]).ended_with(0);
    is_gone(&world, GONE.word);
    assert!(left.iter().all(|place| !world.exists(place)), "{left:?}");
}

#[test]
fn all_copies_go_with_everything_also_those_of_forgotten_tasks() {
    let world = filled();
    world.run(&["backup", "create"]).ended_with(0);
    world.run(&["purge", "--all", "--yes", "--keep-backups"]).ended_with(0);
    let held = |world: &World| world.names(&format!("{DATA}/backup"));
    assert_eq!(held(&world).len(), 1, "{:?}", held(&world));
    // No task is left of which the backup could be asked.
    let dry = world.run(&["purge", "--all", "--dry-run"]).ended_with(0).stderr;
    assert!(dry.contains("would remove") && dry.contains("backup/store-"), "{dry}");
    leave_unfinished(&world);
    world.run(&["purge", "--all", "--yes"]).ended_with(0);
    assert_eq!(held(&world), Vec::<String>::new());
    for word in [GONE.word, STAYS.word, AGED.word, UNKNOWN] {
        is_gone(&world, word);
    }
}

#[test]
fn all_copies_go_with_everything_where_the_store_itself_is_gone() {
    let world = filled();
    world.run(&["backup", "create"]).ended_with(0);
    leave_unfinished(&world);
    fs::remove_file(world.path(&format!("{DATA}/ledger.db"))).expect("removed");
    world.write(&format!("{DATA}/ledger.db-journal-of-posts"), GONE.word);
    world.run(&["purge", "--all"]).ended_with(2);
    world.run(&["purge", "--all", "--yes"]).ended_with(0);
    Server::start(&world).end(Signal::SIGTERM);
    for word in [GONE.word, STAYS.word, UNKNOWN] {
        let mut stood = places_of(&world, word);
        // The agents' own files are read anew: that is what a new store does.
        stood.retain(|place| {
            place.starts_with("backup/") || place.starts_with("spool/") || place.contains("incoming")
        });
        assert_eq!(stood, Vec::<String>::new(), "{word}");
    }
}

#[test]
fn a_replaced_store_goes_if_its_journal_still_holds_posts_that_it_never_folded() {
    let world = filled();
    world.run(&["backup", "create"]).ended_with(0);
    let name =
        world.names(&format!("{DATA}/backup")).into_iter().find(|name| name.ends_with(".db")).expect("one");
    world.run(&["backup", "restore", &name, "--yes"]).ended_with(0);
    let undo =
        world.names(DATA).into_iter().find(|name| name.starts_with("ledger.db.before-")).expect("an undo");
    // Of another version, so the owner of these posts is unknown.
    world.write(&format!("{DATA}/{undo}/ledger.db-journal-of-posts"), &GONE.word.repeat(1_000));
    let copy = rusqlite::Connection::open(world.path(&format!("{DATA}/{undo}/ledger.db"))).expect("the undo");
    copy.execute("DELETE FROM task", []).expect("emptied");
    drop(copy);
    world.run(&["purge", GONE.id, "--yes"]).ended_with(0);
    assert!(!world.exists(&format!("{DATA}/{undo}")));
    is_gone(&world, GONE.word);
}
