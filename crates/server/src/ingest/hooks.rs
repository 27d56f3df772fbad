//! Hooks that an agent posts itself, in its own words: the same way as through the spool, without the spool.
//!
//! A sender that gets no answer sends again. With an `Idempotency-Key` the key alone says what is the same: one key is one
//! event, for as long as the ledger keeps its sources, and equal payloads with different keys are different events.
//! Without one, equal payloads of Claude Code are one event for twenty seconds, four times what `Retry-After` asks for;
//! those of Codex never are, because it sends equal bytes for distinct calls.

use std::sync::Arc;

use agent_tracer_agents::extent::{Bounds, measure};
use agent_tracer_agents::{Context, Observation, Source};
use agent_tracer_event::{Agent, Channel, Millis};
use agent_tracer_intake::Privacy;
use agent_tracer_ledger::{Batch, Observed, Verdict};
use agent_tracer_privacy as privacy;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use xxhash_rust::xxh3::xxh3_64;

use super::{bring_posted, observation_name, read_body};
use crate::app::App;
use crate::problem::Problem;

/// The header in which a sender names an event.
const KEY_HEADER: &str = "idempotency-key";

/// The longest key.
const KEY_BYTES: usize = 256;

/// Takes a hook of Claude Code.
pub(crate) async fn post_claude(State(app): State<Arc<App>>, request: Request) -> Response {
    post(&app, Agent::CLAUDE_CODE, request).await
}

/// Takes a hook of Codex.
pub(crate) async fn post_codex(State(app): State<Arc<App>>, request: Request) -> Response {
    post(&app, Agent::CODEX, request).await
}

async fn post(app: &Arc<App>, agent: Agent, request: Request) -> Response {
    match take(app, agent, request).await {
        // An agent reads the body of a hook's answer; an empty one changes nothing of what it does.
        Ok(()) => ().into_response(),
        Err(problem) => problem.into_response(),
    }
}

async fn take(app: &Arc<App>, agent: Agent, request: Request) -> Result<(), Problem> {
    let key = idempotency_key(request.headers())?;
    let body = read_body(app, request, &["application/json"]).await?;
    let now = (app.deps.clock)();
    let name = observation_name(app, "hook", now);
    // Held until the event is stored.
    let _share = body.share;
    let worker = Arc::clone(app);
    let observed = app
        .blocking(move || {
            let privacy = worker.privacy()?;
            let Some(key) = key else {
                return Ok::<_, Problem>(observe(agent, name, now, &body.bytes, &privacy));
            };
            // Read under the name that it is kept by: when it is read again, it has no other.
            let keyed = format!("key:{}:{key}", agent.as_str());
            let mut observed = observe(agent, keyed, now, &body.bytes, &privacy);
            observed.payload = None;
            // What is not recorded does not use up its key: mended, it may come again.
            if !matches!(observed.verdict, Verdict::Read(_)) {
                observed.name = name;
            }
            Ok(observed)
        })
        .await??;
    let fault = match &observed.verdict {
        Verdict::Malformed(reason) => Some(reason.clone()),
        Verdict::Read(_) | Verdict::Refused(_) => None,
    };
    bring_posted(app, Batch { observed: vec![observed], ..Batch::default() }).await?;
    match fault {
        None => Ok(()),
        Some(reason) => Err(Problem::bad(format!("the payload is not understood: {reason}"))),
    }
}

/// Returns the key by which the sender tells events apart.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut keys = headers.get_all(KEY_HEADER).iter();
    let Some(key) = keys.next() else { return Ok(None) };
    let is_key =
        |key: &&str| (1..=KEY_BYTES).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
    let key = key.to_str().ok().filter(is_key).filter(|_| keys.next().is_none());
    let wrong =
        || Problem::bad(format!("`Idempotency-Key` is not one key of 1 to {KEY_BYTES} visible characters"));
    key.map(|key| Some(key.to_owned())).ok_or_else(wrong)
}

/// Reads a payload after privacy.
fn observe(agent: Agent, name: String, now: Millis, payload: &Bytes, rules: &Privacy) -> Observed {
    let source = privacy::Source::Hook(agent);
    let mut kept = Vec::new();
    let reduction = privacy::reduce(payload, source, &rules.config, &mut || rules.hash_key, &mut kept);
    let directories = [&reduction.cwd, &reduction.project_dir];
    let excluded =
        directories.into_iter().flatten().any(|path| rules.config.excludes(path, rules.home_dir.as_deref()));
    let verdict = match reduction.fault {
        Some(fault) => Verdict::Malformed(format!("{} at byte {}", fault.what.name(), fault.at)),
        // Of what is kept: results are reduced by then, however large they were.
        None if !Bounds::POSTED.hold(measure(&kept)) => {
            Verdict::Malformed(format!("it holds more than {} values", Bounds::POSTED.values))
        }
        None if excluded => Verdict::Refused("excluded by privacy.conf".to_owned()),
        None => Verdict::Read(agent_tracer_agents::read(&Observation {
            agent,
            channel: Channel::Http,
            name: &name,
            arrived: now,
            source: Source::Hook,
            body: &kept,
            context: &Context::default(),
        })),
    };
    let is_read = matches!(verdict, Verdict::Read(_));
    Observed {
        name,
        source: None,
        agent,
        channel: Channel::Http,
        arrived: now,
        // Of what is kept, as the spool does it: the same event sent on both ways arrives twice. Codex sends equal bytes
        // for distinct calls.
        payload: (is_read && agent.spec().repeats_equal_events).then(|| xxh3_64(&kept)),
        kept: is_read.then_some(kept),
        verdict,
    }
}
