//! Sessions: that they are there, and that they ended.
//!
//! Ids are derived from the session itself, so every client, however often and at the same time, receives the same ids.

use std::sync::Arc;

use agent_tracer_agents::extent::Bounds;
use agent_tracer_event::{
    Agent, Channel, Entry, Evidence, Kind, Metadata, Millis, Outcome, Phase, Reading, SessionId, Subject,
    TaskId, TaskKey, attributes,
};
use agent_tracer_ledger::view::{Row, TaskStatus};
use agent_tracer_ledger::{Batch, MAX_LIMIT, Observed, Paging, QueryError, RowFilter, Verdict};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use super::meaning::{cut, line};
use super::passage::{self, RecordParts, ReducedRecord};
use super::wire::{EndAnswer, EndRequest, EnsureAnswer, EnsureRequest};
use super::{bring, read_body, settle};
use crate::app::App;
use crate::problem::{FieldError, Problem};

/// The most characters of an id.
const ID_CHARS: usize = 300;

/// The most subagents that end with a session.
// Each is looked up in the store before anything is written.
const COMPLETIONS: usize = 1000;

/// The reasons that a sender may give for the end of a session. A cancelled subagent is known from its notification only.
pub(crate) const END_REASONS: &[&str] =
    &["idle", "assistant_turn_complete", "explicit_exit", "runtime_terminated", "cleared", "abandoned"];

/// Makes sure that a session has a task.
pub(crate) async fn ensure(State(app): State<Arc<App>>, request: Request) -> Response {
    answer(ensured(&app, request).await)
}

/// Ends a session.
pub(crate) async fn end(State(app): State<Arc<App>>, request: Request) -> Response {
    answer(ended(&app, request).await)
}

fn answer<T: Serialize>(answered: Result<T, Problem>) -> Response {
    match answered {
        Ok(answer) => {
            let headers = [
                (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
            ];
            (headers, serde_json::to_vec(&answer).unwrap_or_default()).into_response()
        }
        Err(problem) => problem.into_response(),
    }
}

async fn ensured(app: &Arc<App>, request: Request) -> Result<EnsureAnswer, Problem> {
    let body = read_body(app, request, &["application/json"]).await?;
    body.check(Bounds::POSTED)?;
    settle(app).await;
    let posted: EnsureRequest = parse(&body.bytes)?;
    let key = key(&posted.runtime_source, &posted.runtime_session_id)?;
    let task = key.task_id();
    if let Some(given) = posted.task_id.as_deref().and_then(TaskId::parse)
        && given != task
    {
        return Err(Problem::new(StatusCode::CONFLICT, "`taskId` is the task of another session"));
    }
    let now = (app.deps.clock)();
    let (worker, about) = (Arc::clone(app), task.clone());
    let batch = app.blocking(move || ensure_batch(&worker, &key, posted, now)).await??;
    let receipt = bring(app, batch).await?;
    let session_created = receipt.outcomes.first() == Some(&Outcome::Recorded);
    let task_created = receipt.created.contains(&about);
    let session_id = session_of(app, &about, now).await?;
    Ok(EnsureAnswer { task_id: task.to_string(), session_id, task_created, session_created })
}

/// Builds two observations: one that the session exists, recorded once, and one of what this call adds.
fn ensure_batch(app: &App, key: &TaskKey, posted: EnsureRequest, now: Millis) -> Result<Batch, Problem> {
    let task = key.task_id();
    let said = serde_json::to_string(&posted).unwrap_or_default();
    let evidence = Evidence::reported("http, sessions/ensure");
    let entry =
        |subject, phase, name: &str| Entry::new(subject, phase, key.clone(), name, now, evidence.clone());
    let parent = parent(app, key.agent, &posted, now);
    let passed = pass(app, Kind::SessionStarted, posted.title, posted.workspace_path)?;
    let mut about = entry(Subject::Task, Phase::Update, "task");
    if let Some(cwd) = passed.metadata.get(attributes::CWD) {
        about.metadata.insert(attributes::CWD.to_owned(), cwd.clone());
    }
    if let Some(title) = &passed.title {
        about.metadata.insert(attributes::TITLE.to_owned(), Value::from(line(title)));
        about.metadata.insert(attributes::TITLE_SOURCE.to_owned(), Value::from("session_title"));
    }
    if let Some(origin) = &posted.origin {
        about.metadata.insert("origin".to_owned(), Value::from(cut(&agent_tracer_privacy::mask(origin), 60)));
    }
    if let Some(parent) = parent {
        about.metadata.insert(attributes::PARENT_SESSION.to_owned(), Value::from(parent));
        about.metadata.insert(attributes::PARENT_CERTAINTY.to_owned(), Value::from("reported"));
    }
    let mut started = entry(Subject::Event(Kind::SessionStarted), Phase::Open, "session:started:http");
    let resumed = posted.resume == Some(true);
    started.title = Some(if resumed { "Session resumed" } else { "Session started" }.to_owned());
    started.metadata.insert(
        attributes::SESSION_SOURCE.to_owned(),
        Value::from(if resumed { "resume" } else { "startup" }),
    );
    let known = app.deps.store.task(now, &task).is_ok();
    // A session reported by another channel began there; a second report would be a second beginning.
    let first = if known { vec![entry(Subject::Task, Phase::Update, "task")] } else { vec![started] };
    let observed = |name: String, entries: Vec<Entry>| Observed {
        name,
        source: None,
        agent: key.agent,
        channel: Channel::Http,
        arrived: now,
        verdict: if passed.excluded {
            Verdict::Refused("excluded by privacy.conf".to_owned())
        } else {
            Verdict::Read(Reading { entries, ..Reading::default() })
        },
        payload: None,
        kept: None,
    };
    if passed.excluded {
        app.excluded.add(task.clone());
    }
    let details = format!("http:about:{task}:{:032x}", xxh3_128(said.as_bytes()));
    Ok(Batch {
        observed: vec![observed(format!("http:ensure:{task}"), first), observed(details, vec![about])],
        ..Batch::default()
    })
}

/// Returns the agent's id of the session that started this one.
fn parent(app: &App, agent: Agent, posted: &EnsureRequest, now: Millis) -> Option<String> {
    let by_task = |id: &str| {
        let task = app.deps.store.task(now, &TaskId::parse(id)?).ok()?;
        (task.agent == agent).then_some(task.runtime_session_id)
    };
    if let Some(found) = posted.parent_task_id.as_deref().and_then(by_task) {
        return Some(found);
    }
    let given = posted.parent_session_id.as_deref().filter(|given| !given.is_empty())?;
    match SessionId::parse(given) {
        Some(ours) => by_task(ours.task().as_str()),
        None => Some(cut(given, ID_CHARS)),
    }
}

async fn ended(app: &Arc<App>, request: Request) -> Result<EndAnswer, Problem> {
    let body = read_body(app, request, &["application/json"]).await?;
    body.check(Bounds::POSTED)?;
    settle(app).await;
    let posted: EndRequest = parse(&body.bytes)?;
    let key = key(&posted.runtime_source, &posted.runtime_session_id)?;
    if let Some(reason) = &posted.completion_reason
        && !END_REASONS.contains(&reason.as_str())
    {
        return Err(invalid("/completionReason", &format!("is not one of {}", END_REASONS.join(", "))));
    }
    if posted.background_completions.as_ref().is_some_and(|list| list.len() > COMPLETIONS) {
        return Err(invalid("/backgroundCompletions", "holds more than 1000"));
    }
    let now = (app.deps.clock)();
    let task = key.task_id();
    let worker = Arc::clone(app);
    let batch = app.blocking(move || end_batch(&worker, &key, posted, now)).await??;
    bring(app, batch).await?;
    let (worker, about) = (Arc::clone(app), task.clone());
    let status = app.blocking(move || worker.deps.store.task(now, &about).map(|task| task.status)).await?;
    let session_id = session_of(app, &task, now).await?;
    Ok(EndAnswer {
        task_id: task.to_string(),
        session_id,
        task_status: status.unwrap_or(TaskStatus::Completed),
    })
}

fn end_batch(app: &App, key: &TaskKey, posted: EndRequest, now: Millis) -> Result<Batch, Problem> {
    let task = key.task_id();
    let said = serde_json::to_string(&posted).unwrap_or_default();
    // A session that is going on again after its end may end again, but one end is recorded once.
    let known = app.deps.store.summary(now, &task).ok();
    let stay = known.as_ref().map_or(0, |summary| summary.sessions.len());
    let passed = pass(app, Kind::AssistantResponse, None, None)?;
    let excluded = passed.excluded || app.excluded.holds(&task);
    // An end creates no session: of one that was never reported, nothing is known but that it is over.
    let recorded = app.deps.store.task(now, &task);
    if !excluded && matches!(recorded, Err(QueryError::NotFound)) {
        return Err(Problem::new(StatusCode::NOT_FOUND, "session not found"));
    }
    let summary = match posted.summary {
        Some(summary) => pass_body(app, summary)?,
        None => None,
    };
    let default = if posted.complete_task == Some(false) { "idle" } else { "explicit_exit" };
    let reason = posted.completion_reason.as_deref().unwrap_or(default);
    // What is only idle, or has only ended its turn, goes on with the next prompt, unless it is said that it does not.
    let goes_on = matches!(reason, "idle" | "assistant_turn_complete");
    let complete = posted.complete_task.or(goes_on.then_some(false));
    // Every turn may end, and a session that only paused may end for good later: each is an end of its own.
    let which = match complete {
        Some(false) => format!("{stay}:turn:{}", known.map_or(0, |summary| summary.turns)),
        _ => match earlier_ends(app, &task, recorded.ok().map(|task| task.status)) {
            0 => stay.to_string(),
            earlier => format!("{stay}:{earlier}"),
        },
    };
    let mut entries = vec![end_entry(key.clone(), &which, now, reason, complete, summary)];
    for id in posted.background_completions.unwrap_or_default() {
        let Some(child) = child(app, key, &id, now) else { continue };
        entries.push(end_entry(child, "0", now, "assistant_turn_complete", Some(true), None));
    }
    let verdict = if excluded {
        Verdict::Refused("excluded by privacy.conf".to_owned())
    } else {
        Verdict::Read(Reading { entries, ..Reading::default() })
    };
    let observed = Observed {
        name: format!("http:end:{task}:{which}:{:032x}", xxh3_128(said.as_bytes())),
        source: None,
        agent: key.agent,
        channel: Channel::Http,
        arrived: now,
        verdict,
        payload: None,
        kept: None,
    };
    Ok(Batch { observed: vec![observed], ..Batch::default() })
}

/// Counts the ends before this one. Of a session that has ended, this is its last end once more; of one that went on after
/// its end, it is the next.
fn earlier_ends(app: &App, task: &TaskId, status: Option<TaskStatus>) -> usize {
    let paging = Paging { limit: MAX_LIMIT, ..Paging::default() };
    let filter = RowFilter { kinds: vec![Kind::SessionEnded], paging, ..RowFilter::default() };
    let rows = app.deps.store.timeline(task, &filter).map(|page| page.items).unwrap_or_default();
    let is_final =
        |row: &&Row| row.metadata.get(attributes::COMPLETE_TASK).and_then(Value::as_bool) != Some(false);
    let ends = rows.iter().filter(is_final).count();
    match status {
        Some(TaskStatus::Completed | TaskStatus::Abandoned) => ends.saturating_sub(1),
        _ => ends,
    }
}

fn end_entry(
    task: TaskKey,
    which: &str,
    now: Millis,
    reason: &str,
    complete: Option<bool>,
    summary: Option<String>,
) -> Entry {
    let evidence = Evidence::reported("http, sessions/end");
    let name = format!("session:ended:http:{which}");
    let mut entry = Entry::new(Subject::Event(Kind::SessionEnded), Phase::Close, task, name, now, evidence);
    entry.ended_at = Some(now);
    entry.title = Some("Session ended".to_owned());
    entry.body = summary;
    let mut metadata = Metadata::new();
    metadata.insert(attributes::COMPLETION_REASON.to_owned(), Value::from(reason));
    if let Some(complete) = complete {
        metadata.insert(attributes::COMPLETE_TASK.to_owned(), Value::from(complete));
    }
    entry.metadata = metadata;
    entry
}

/// Finds a subagent by our id of its task, or by the agent's id of it.
fn child(app: &App, parent: &TaskKey, id: &str, now: Millis) -> Option<TaskKey> {
    if let Some(task) = TaskId::parse(id) {
        let task = app.deps.store.task(now, &task).ok()?;
        return Some(TaskKey::new(task.agent, task.runtime_session_id));
    }
    let id = cut(id, ID_CHARS);
    if id.is_empty() {
        return None;
    }
    Some(if parent.agent.spec().has_subagent_sessions {
        TaskKey::new(parent.agent, id)
    } else {
        TaskKey::subagent(parent.agent, id.strip_prefix("sub--").unwrap_or(&id))
    })
}

fn pass(app: &App, kind: Kind, title: Option<String>, cwd: Option<String>) -> Result<ReducedRecord, Problem> {
    let privacy = app.privacy()?;
    let posted = RecordParts { title, cwd, ..RecordParts::default() };
    passage::pass(posted, kind, &privacy)
        .map_err(|fault| Problem::bad(format!("cannot read the text: {fault}")))
}

fn pass_body(app: &App, text: String) -> Result<Option<String>, Problem> {
    let privacy = app.privacy()?;
    let posted = RecordParts { body: Some(text), ..RecordParts::default() };
    let passed = passage::pass(posted, Kind::AssistantResponse, &privacy);
    Ok(passed.map_err(|fault| Problem::bad(format!("cannot read the text: {fault}")))?.body)
}

/// Returns the id of the newest stay of the session, as the store numbers them.
async fn session_of(app: &Arc<App>, task: &TaskId, now: Millis) -> Result<String, Problem> {
    let (worker, about) = (Arc::clone(app), task.clone());
    let newest = app
        .blocking(move || {
            let summary = worker.deps.store.summary(now, &about).ok()?;
            summary.sessions.last().map(|session| session.id.clone())
        })
        .await?;
    Ok(newest.unwrap_or_else(|| SessionId::derive(task, "stay:1").to_string()))
}

fn key(source: &str, session: &str) -> Result<TaskKey, Problem> {
    let Some(agent) = Agent::from_any_spelling(source) else {
        return Err(invalid("/runtimeSource", "is not a supported agent"));
    };
    if session.is_empty() || session.chars().count() > ID_CHARS {
        return Err(invalid("/runtimeSessionId", "is not a string of 1 to 300 characters"));
    }
    Ok(TaskKey::new(agent, session))
}

fn invalid(at: &str, reason: &str) -> Problem {
    Problem::invalid_fields(StatusCode::UNPROCESSABLE_ENTITY, vec![FieldError::new(at, reason)])
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes).map_err(|error| {
        // The error holds the position and the missing name, never the value.
        match error.classify() {
            serde_json::error::Category::Data => Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!("the body does not fit the schema: {error}"),
            ),
            _ => Problem::bad(format!(
                "the body is not JSON: line {}, column {}",
                error.line(),
                error.column()
            )),
        }
    })
}
