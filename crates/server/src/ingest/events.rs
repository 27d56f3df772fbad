//! Events in our own words, up to a thousand at once. Each stands for itself.

use std::collections::HashMap;
use std::sync::Arc;

use agent_tracer_agents::extent::Bounds;
use agent_tracer_event::{
    Agent, Channel, Entry, Evidence, Kind, Lane, Millis, Outcome, Phase, Reading, Subject, TaskId, TaskKey,
    Unrecognised, attributes,
};
use agent_tracer_intake::Privacy;
use agent_tracer_ledger::{Batch, Observed, Verdict};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_128;

use super::meaning::{self, cut};
use super::passage::{self, RecordParts};
use super::wire::{EventsAnswer, RejectedEvent};
use super::{bring_posted, observation_name, read_body};
use crate::app::App;
use crate::problem::{FieldError, Problem};

/// The most events of one call.
const MOST: usize = 1000;

/// The most characters of an id that a sender draws.
const ID_CHARS: usize = 300;

/// The range of valid times: from 1970 to 2100.
pub(super) const TIMES: std::ops::RangeInclusive<Millis> = Millis(0)..=Millis(4_102_444_800_000);

/// The most files of one event.
const FILES: usize = 1000;

/// Members that have a meaning of their own. Any other is kept as metadata.
const MEMBERS: &[&str] = &[
    "id",
    "kind",
    "taskId",
    "runtimeSource",
    "runtimeSessionId",
    "sessionId",
    "occurredAt",
    "title",
    "body",
    "lane",
    "filePaths",
    "metadata",
    "parentEventId",
];

/// Takes a batch of events.
pub(crate) async fn post(State(app): State<Arc<App>>, request: Request) -> Response {
    match take(&app, request).await {
        Ok(answer) => {
            let headers = [
                (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
            ];
            (StatusCode::ACCEPTED, headers, serde_json::to_vec(&answer).unwrap_or_default()).into_response()
        }
        Err(problem) => problem.into_response(),
    }
}

async fn take(app: &Arc<App>, request: Request) -> Result<EventsAnswer, Problem> {
    let body = read_body(app, request, &["application/json"]).await?;
    body.check(Bounds::POSTED)?;
    let now = (app.deps.clock)();
    // Held until the events are stored.
    let _share = body.share;
    let observed = if is_light(&body.bytes) {
        Batcher::new(app, now)?.read(&body.bytes)?
    } else {
        let worker = Arc::clone(app);
        app.blocking(move || Batcher::new(&worker, now)?.read(&body.bytes)).await??
    };
    let (observed, ids): (Vec<Observed>, Vec<Option<String>>) = observed.into_iter().unzip();
    let refusals: Vec<Option<String>> = observed
        .iter()
        .map(|observed| match &observed.verdict {
            Verdict::Malformed(reason) | Verdict::Refused(reason) => Some(reason.clone()),
            Verdict::Read(_) => None,
        })
        .collect();
    let receipt = bring_posted(app, Batch { observed, ..Batch::default() }).await?;
    let mut answer = EventsAnswer::default();
    for (index, ((refusal, id), outcome)) in refusals.into_iter().zip(ids).zip(receipt.outcomes).enumerate() {
        match (refusal, outcome) {
            (Some(reason), _) => answer.rejected.push(RejectedEvent { index: index as u64, id, reason }),
            (None, Outcome::Duplicate) => answer.duplicates += 1,
            (None, Outcome::Recorded | Outcome::Unrecognised) => answer.accepted += 1,
            (None, Outcome::Malformed | Outcome::Refused) => {
                let reason = "the ledger refused it".to_owned();
                answer.rejected.push(RejectedEvent { index: index as u64, id, reason });
            }
        }
    }
    Ok(answer)
}

/// Returns whether a body is read faster than it could be handed to another thread: it is short, and no task in it must be
/// looked up.
fn is_light(bytes: &[u8]) -> bool {
    const LIGHT: usize = 8 * 1024;
    const LOOKED_UP: &[u8] = b"\"taskId\"";
    bytes.len() <= LIGHT && !bytes.windows(LOOKED_UP.len()).any(|part| part == LOOKED_UP)
}

/// Reads the events of one call.
struct Batcher<'a> {
    app: &'a App,
    now: Millis,
    privacy: Arc<Privacy>,
    /// Tasks that were named by their id.
    tasks: HashMap<String, Option<TaskKey>>,
}

impl<'a> Batcher<'a> {
    fn new(app: &'a App, now: Millis) -> Result<Self, Problem> {
        Ok(Self { app, now, privacy: app.privacy()?, tasks: HashMap::new() })
    }

    fn read(mut self, bytes: &[u8]) -> Result<Vec<(Observed, Option<String>)>, Problem> {
        let mut body: Value = serde_json::from_slice(bytes)
            .map_err(|error| Problem::bad(format!("the body is not JSON: line {}", error.line())))?;
        let wrong = |reason: &str| {
            Err(Problem::invalid_fields(
                StatusCode::UNPROCESSABLE_ENTITY,
                vec![FieldError::new("/events", reason)],
            ))
        };
        let Some(events) = body.get_mut("events").and_then(Value::as_array_mut) else {
            return wrong("is not a list");
        };
        match events.len() {
            0 => wrong("is empty"),
            1..=MOST => Ok(events.iter_mut().map(|event| self.observe(event)).collect()),
            _ => wrong("holds more than 1000 events"),
        }
    }

    fn observe(&mut self, event: &mut Value) -> (Observed, Option<String>) {
        let id = event.get("id").and_then(Value::as_str).map(|id| cut(id, ID_CHARS));
        let mut observed = Observed {
            name: String::new(),
            source: None,
            // Without a known agent, the count of refusals needs some agent.
            agent: Agent::default(),
            channel: Channel::Http,
            arrived: self.now,
            verdict: Verdict::Malformed(String::new()),
            payload: None,
            kept: None,
        };
        let read = match event.as_object_mut() {
            Some(members) => self.event(members, &mut observed),
            None => Err(Verdict::Malformed("the event is not an object".to_owned())),
        };
        observed.verdict = match read {
            Ok(reading) => Verdict::Read(reading),
            Err(verdict) => {
                // What is refused is counted each time; it must not use up the name of what is sent again, mended.
                observed.name = observation_name(self.app, "event", self.now);
                verdict
            }
        };
        (observed, id)
    }

    /// Reads one event. What is large is taken out of its members instead of copied.
    fn event(
        &mut self,
        members: &mut Map<String, Value>,
        observed: &mut Observed,
    ) -> Result<Reading, Verdict> {
        let mut reading = Reading::default();
        let Some(kind_text) = text(members, "kind")? else { return bad("`kind` is missing") };
        let known = Kind::parse(&kind_text);
        let kind = known.unwrap_or(Kind::Unrecognised);
        let task = self.task(members)?;
        observed.agent = task.agent;
        if self.app.excluded.holds(&task.task_id()) {
            return Err(excluded());
        }
        let occurred_at = match text(members, "occurredAt")? {
            None => None,
            Some(time) => match Millis::parse(&time) {
                Some(time) if TIMES.contains(&time) => Some(time),
                Some(_) => return bad("`occurredAt` is not between 1970 and 2100"),
                None => return bad("`occurredAt` is not an RFC 3339 time"),
            },
        };
        let lane = match text(members, "lane")? {
            None => None,
            Some(lane) => match Lane::parse(&lane) {
                Some(lane) => Some(lane),
                None => return bad("`lane` is not a lane"),
            },
        };
        let file_paths = file_paths(members)?;
        // Where it has no id, everything that it says is its name.
        let has_id = members.get("id").is_some_and(|id| !id.is_null());
        let whole = match occurred_at {
            Some(_) if !has_id => serde_json::to_vec(members).map_or(0, |whole| xxh3_128(&whole)),
            _ => 0,
        };
        let mut metadata = match members.get_mut("metadata") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(metadata)) => std::mem::take(metadata),
            Some(_) => return bad("`metadata` is not an object"),
        };
        for (name, value) in members.iter().filter(|(name, _)| !MEMBERS.contains(&name.as_str())) {
            // Older senders put some of it beside the metadata. Whatever it is, it is kept.
            if !metadata.contains_key(name) {
                metadata.insert(name.clone(), value.clone());
            }
        }
        if let Some(parent) = text(members, "parentEventId")? {
            metadata.insert(attributes::PARENT_EVENT_ID.to_owned(), Value::from(cut(&parent, ID_CHARS)));
        }
        if known.is_none() {
            let name = cut(&kind_text, 100);
            metadata.insert(attributes::EVENT_NAME.to_owned(), Value::from(name.as_str()));
            reading.unrecognised.push(Unrecognised::Event(name));
        }
        let id = match members.get("id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) if !id.is_empty() && id.chars().count() <= ID_CHARS => Some(id.clone()),
            Some(_) => return bad("`id` is not a string of 1 to 300 characters"),
        };
        observed.name = match (&id, occurred_at) {
            (Some(id), _) => format!("http:event:{id}"),
            // Sent again it is the same; without a time, two equal events may be two.
            (None, Some(_)) => format!("http:event:{}:{whole:032x}", task.task_id()),
            (None, None) => observation_name(self.app, "event", self.now),
        };
        let (key, alias) = natural_key(kind, &kind_text, &metadata, &observed.name);
        let tool = meaning::tool_name(kind, &metadata);
        let input = meaning::tool_input(&metadata, &file_paths);
        metadata.remove(attributes::TOOL_INPUT);
        metadata.remove("tool_input");
        metadata.remove("tool_name");
        let mistyped = meaning::mistyped(&metadata);
        let cwd =
            ["cwd", "workspacePath"].iter().find_map(|name| metadata.get(*name)?.as_str()).map(str::to_owned);
        let posted = RecordParts {
            title: text(members, "title")?,
            body: text(members, "body")?,
            cwd,
            file_paths,
            tool_name: tool.clone(),
            tool_input: input,
            metadata,
        };
        let passed = passage::pass(posted, kind, &self.privacy)
            .map_err(|fault| Verdict::Malformed(format!("it is not understood: {fault}")))?;
        if passed.excluded {
            self.app.excluded.add(task.task_id());
            return Err(excluded());
        }
        let at = occurred_at.unwrap_or(self.now);
        let evidence = Evidence::reported("http, posted event");
        if let Some(cwd) = passed.metadata.get(attributes::CWD).cloned() {
            let mut about =
                Entry::new(Subject::Task, Phase::Update, task.clone(), "task", at, evidence.clone());
            about.metadata.insert(attributes::CWD.to_owned(), cwd);
            reading.entries.push(about);
        }
        let mut entry = Entry::new(Subject::Event(kind), Phase::Open, task, key, at, evidence);
        entry.aliases.extend(alias);
        let refused = meaning::write(&mut entry, observed.agent, kind, tool.as_deref(), lane, passed);
        let counted = mistyped.into_iter().filter(|(name, _)| refused.contains(name));
        reading.unrecognised.extend(counted.map(|(_, what)| what));
        reading.entries.push(entry);
        Ok(reading)
    }

    /// Returns the task of the event.
    fn task(&mut self, members: &Map<String, Value>) -> Result<TaskKey, Verdict> {
        let named = session(members)?;
        let Some(id) = text(members, "taskId")? else {
            return named
                .ok_or_else(|| malformed("neither `taskId` nor `runtimeSource` and `runtimeSessionId`"));
        };
        if let Some(named) = named {
            // An id of another system is not ours to judge; one of ours must be that of the session.
            return match TaskId::parse(&id) {
                Some(task) if task != named.task_id() => bad("`taskId` is not the task of this session"),
                _ => Ok(named),
            };
        }
        let (app, now) = (self.app, self.now);
        let found = self.tasks.entry(id).or_insert_with_key(|id| {
            let task = app.deps.store.task(now, &TaskId::parse(id)?).ok()?;
            Some(TaskKey::new(task.agent, task.runtime_session_id))
        });
        found.clone().ok_or_else(|| malformed("`taskId` not found"))
    }
}

/// Returns the session that a record names, if it names one.
fn session(members: &Map<String, Value>) -> Result<Option<TaskKey>, Verdict> {
    let (source, session) = (text(members, "runtimeSource")?, text(members, "runtimeSessionId")?);
    match (source, session) {
        (None, None) => Ok(None),
        (Some(source), Some(session)) => {
            let Some(agent) = Agent::from_any_spelling(&source) else {
                return bad("`runtimeSource` is not a supported agent");
            };
            if session.chars().count() > ID_CHARS {
                return bad("`runtimeSessionId` is longer than 300 characters");
            }
            Ok(Some(TaskKey::new(agent, session)))
        }
        (Some(_), None) => bad("`runtimeSessionId` is missing"),
        (None, Some(_)) => bad("`runtimeSource` is missing"),
    }
}

/// Returns the natural key of an event, and another under which it may be recorded.
fn natural_key(
    kind: Kind,
    kind_text: &str,
    metadata: &Map<String, Value>,
    name: &str,
) -> (String, Option<String>) {
    let word = |names: &[&str]| {
        names.iter().find_map(|name| metadata.get(*name)?.as_str()).filter(|text| !text.is_empty())
    };
    // A call is known by the agent's id of it, so that a posted call and the one that a hook saw are one row.
    let of_call = word(&[attributes::TOOL_USE_ID, "tool_use_id"])
        .filter(|_| meaning::is_call(kind))
        .map(|id| format!("tool:{}", cut(id, ID_CHARS)));
    // Two sources that check each other (`crossCheck`) may know different ids of one call: their common key comes first.
    let checked = metadata
        .get(attributes::CROSS_CHECK)
        .and_then(|check| check.get("dedupeKey"))
        .and_then(Value::as_str);
    if let Some(checked) = checked.filter(|checked| !checked.is_empty()) {
        return (format!("cross:{}:{}", cut(kind_text, 100), cut(checked, ID_CHARS)), of_call);
    }
    let own = match kind {
        Kind::TokenUsage => {
            word(&[attributes::RESPONSE_ID, attributes::MESSAGE_ID, "response_id", "message_id"])
                .map(|id| format!("response:{}", cut(id, ID_CHARS)))
        }
        Kind::UserMessage => {
            word(&[attributes::PROMPT_ID, "prompt_id"]).map(|id| format!("prompt:{}", cut(id, ID_CHARS)))
        }
        _ => of_call,
    };
    (own.unwrap_or_else(|| name.to_owned()), None)
}

fn file_paths(members: &Map<String, Value>) -> Result<Vec<String>, Verdict> {
    match members.get("filePaths") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(paths)) if paths.len() <= FILES => {
            let paths: Option<Vec<String>> =
                paths.iter().map(|path| path.as_str().map(str::to_owned)).collect();
            paths.ok_or_else(|| malformed("`filePaths` holds a value that is not a string"))
        }
        Some(_) => bad("`filePaths` is not a list of at most 1000 strings"),
    }
}

/// Returns a member that is a string; an empty one counts as absent.
fn text(members: &Map<String, Value>, name: &str) -> Result<Option<String>, Verdict> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Some(_) => bad(&format!("`{name}` is not a string")),
    }
}

fn malformed(reason: &str) -> Verdict {
    Verdict::Malformed(reason.to_owned())
}

fn bad<T>(reason: &str) -> Result<T, Verdict> {
    Err(malformed(reason))
}

fn excluded() -> Verdict {
    Verdict::Refused("excluded by privacy.conf".to_owned())
}
