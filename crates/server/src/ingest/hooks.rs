//! Hooks that an agent posts itself, in its own words: the same way as through the spool, without the spool.
//!
//! A sender that gets no answer sends again. With an `Idempotency-Key` the key alone says what is the same: one key is one
//! event, for as long as the ledger keeps its sources, and equal payloads with different keys are different events.
//! Without one, equal payloads are one event for twenty seconds, four times what `Retry-After` asks for, unless the agent
//! sends equal bytes for distinct calls (`repeats_equal_events` in the table).

use std::sync::Arc;

use agent_tracer_agents::extent::{Bounds, measure};
use agent_tracer_agents::{Context, Observation, Source};
use agent_tracer_event::{Agent, Channel, Millis};
use agent_tracer_intake::Privacy;
use agent_tracer_ledger::{Batch, Observed, Verdict};
use agent_tracer_privacy as privacy;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use xxhash_rust::xxh3::xxh3_64;

use super::{bring_posted, observation_name, read_body};
use crate::app::App;
use crate::problem::Problem;

/// The header in which a sender names an event.
const KEY_HEADER: &str = "idempotency-key";

/// The longest key.
const KEY_BYTES: usize = 256;

/// Adds the path of each agent. Where payloads do not name their events, the path does: `/hooks/AGENT/EVENT`.
pub(crate) fn routes(router: Router<Arc<App>>) -> Router<Arc<App>> {
    Agent::rows().fold(router, |router, agent| {
        let path = path(agent);
        if agent.spec().names_events {
            let take = move |State(app): State<Arc<App>>, request: Request| async move { take_hook(&app, agent, None, request).await };
            return router.route(&path, post(take));
        }
        let take = move |State(app): State<Arc<App>>, Path(event): Path<String>, request: Request| async move {
            take_hook(&app, agent, Some(event), request).await
        };
        router.route(&path, post(take))
    })
}

/// Returns the path of an agent's hooks.
pub(crate) fn path(agent: Agent) -> String {
    let spec = agent.spec();
    format!("/hooks/{}{}", spec.word, if spec.names_events { "" } else { "/{name}" })
}

async fn take_hook(app: &Arc<App>, agent: Agent, event: Option<String>, request: Request) -> Response {
    match take(app, agent, event, request).await {
        // An agent reads the body of a hook's answer; an empty one changes nothing of what it does.
        Ok(()) => ().into_response(),
        Err(problem) => problem.into_response(),
    }
}

async fn take(app: &Arc<App>, agent: Agent, event: Option<String>, request: Request) -> Result<(), Problem> {
    let key = idempotency_key(request.headers())?;
    let mut body = read_body(app, request, &["application/json"]).await?;
    if let Some(event) = event {
        body.bytes = with_event(&body.bytes, &event)?;
    }
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

/// Returns a payload with the event that its path names.
fn with_event(payload: &[u8], event: &str) -> Result<Bytes, Problem> {
    let mut named = payload.to_vec();
    if Agent::name_event(&mut named, event.as_bytes()) {
        return Ok(named.into());
    }
    Err(Problem::bad("the payload is not a JSON object, or the last part of the path is not an event name"))
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
        // Of what is kept, as the spool does it: the same event sent on both ways arrives twice. Some agents send equal
        // bytes for distinct calls.
        payload: (is_read && agent.spec().repeats_equal_events).then(|| xxh3_64(&kept)),
        kept: is_read.then_some(kept),
        verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_has_a_path_of_its_own_word() {
        for agent in Agent::rows() {
            let spec = agent.spec();
            let rest = if spec.names_events { "" } else { "/{name}" };
            assert_eq!(path(agent), format!("/hooks/{}{rest}", spec.word));
        }
    }

    #[test]
    fn an_event_of_the_path_stands_in_the_payload() {
        let named = with_event(br#"{"a":1}"#, "stop").expect("an object");
        assert_eq!(&named[..], br#"{"hook_event_name":"stop","a":1}"#);
        for (payload, event) in [("[]", "stop"), ("{}", "no word"), ("{}", "")] {
            assert!(with_event(payload.as_bytes(), event).is_err(), "{payload} {event}");
        }
    }
}
