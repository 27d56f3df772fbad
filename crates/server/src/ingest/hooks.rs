//! Hooks that an agent posts itself, in its own words: the same way as through the spool, without the spool.

use std::sync::Arc;

use agent_tracer_agents::{Context, Observation, Source};
use agent_tracer_event::{Agent, Channel, Millis};
use agent_tracer_ledger::{Batch, Observed, Verdict};
use agent_tracer_privacy as privacy;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use xxhash_rust::xxh3::xxh3_64;

use super::{bring_posted, observation_name, read_body};
use crate::app::App;
use crate::doors::Privacy;
use crate::problem::Problem;

/// Takes a hook of Claude Code.
pub(crate) async fn post_claude(State(app): State<Arc<App>>, request: Request) -> Response {
    post(&app, Agent::ClaudeCode, request).await
}

/// Takes a hook of Codex.
pub(crate) async fn post_codex(State(app): State<Arc<App>>, request: Request) -> Response {
    post(&app, Agent::Codex, request).await
}

async fn post(app: &Arc<App>, agent: Agent, request: Request) -> Response {
    match take(app, agent, request).await {
        // An agent reads the body of a hook's answer; an empty one changes nothing of what it does.
        Ok(()) => ().into_response(),
        Err(problem) => problem.into_response(),
    }
}

async fn take(app: &Arc<App>, agent: Agent, request: Request) -> Result<(), Problem> {
    let body = read_body(app, request, &["application/json"]).await?;
    let now = (app.doors.clock)();
    let name = observation_name(app, "hook", now);
    let worker = Arc::clone(app);
    let observed = app
        .blocking(move || {
            let privacy = (worker.doors.privacy)();
            observe(agent, name, now, &body.bytes, &privacy)
        })
        .await?;
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

/// Reads a payload after privacy.
fn observe(agent: Agent, name: String, now: Millis, payload: &Bytes, rules: &Privacy) -> Observed {
    let source = match agent {
        Agent::ClaudeCode => privacy::Source::ClaudeHook,
        Agent::Codex => privacy::Source::CodexHook,
    };
    let mut kept = Vec::new();
    let reduction = privacy::reduce(payload, source, &rules.config, &mut || rules.hash_key, &mut kept);
    let directories = [&reduction.cwd, &reduction.project_dir];
    let excluded =
        directories.into_iter().flatten().any(|path| rules.config.excludes(path, rules.home_dir.as_deref()));
    let verdict = match reduction.fault {
        Some(fault) => Verdict::Malformed(format!("{} at byte {}", fault.what.name(), fault.at)),
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
        // Of what is kept, as the spool does it: the same event told on both ways is told twice. Codex sends equal bytes
        // for distinct calls.
        payload: (is_read && agent == Agent::ClaudeCode).then(|| xxh3_64(&kept)),
        kept: is_read.then_some(kept),
        verdict,
    }
}
