//! OpenTelemetry over HTTP: JSON or protobuf, answered in the form it came in.
//!
//! The agents' room reads the content of an export. Here it is decoded, brought to the ledger, and answered as the
//! protocol asks: `partialSuccess` says how many records were refused.

mod reply;

use std::sync::Arc;

use agent_tracer_agents::extent::Bounds;
use agent_tracer_agents::files::Rules;
use agent_tracer_agents::otlp::{self, Record, Signal, protobuf};
use agent_tracer_event::{Agent, Channel, Millis};
use agent_tracer_ledger::{Batch, Observed, Verdict};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use crate::app::App;
use crate::ingest::{Body, bring_posted, observation_name, read_body};
use crate::problem::Problem;
use reply::{Form, Refusals};

const JSON: &str = "application/json";
const PROTOBUF: &str = "application/x-protobuf";

/// The most records of one export. Exporters send some hundred at once.
const RECORDS: usize = 10_000;

/// Takes events.
pub(crate) async fn post_logs(State(app): State<Arc<App>>, request: Request) -> Response {
    post(&app, Signal::Logs, request).await
}

/// Takes counters and gauges.
pub(crate) async fn post_metrics(State(app): State<Arc<App>>, request: Request) -> Response {
    post(&app, Signal::Metrics, request).await
}

/// Takes spans.
pub(crate) async fn post_traces(State(app): State<Arc<App>>, request: Request) -> Response {
    post(&app, Signal::Traces, request).await
}

async fn post(app: &Arc<App>, signal: Signal, request: Request) -> Response {
    let sent = request
        .headers()
        .get(header::CONTENT_TYPE)
        .map(|value| value.as_bytes().starts_with(PROTOBUF.as_bytes()));
    // From the request, also for a refusal: an exporter of protobuf cannot read a problem in JSON.
    let form = if sent == Some(true) { Form::Protobuf } else { Form::Json };
    match take(app, signal, request).await {
        Ok(refusals) => reply::accepted(form, signal, &refusals),
        Err(problem) => match form {
            Form::Json => problem.into_response(),
            Form::Protobuf => reply::refused(&problem),
        },
    }
}

async fn take(app: &Arc<App>, signal: Signal, request: Request) -> Result<Refusals, Problem> {
    let mut body = read_body(app, request, &[JSON, PROTOBUF]).await?;
    // Held until the records are stored.
    let _share = body.share.take();
    let now = (app.deps.clock)();
    let worker = Arc::clone(app);
    let (batch, refusals) = app.blocking(move || read(&worker, signal, &body, now)).await??;
    // Also what is no export at all: it arrived, so it is counted.
    bring_posted(app, batch).await?;
    match refusals.is_no_export {
        true => Err(Problem::bad("the body is not an export of this signal")),
        false => Ok(refusals),
    }
}

fn read(app: &App, signal: Signal, body: &Body, now: Millis) -> Result<(Batch, Refusals), Problem> {
    // Arguments of calls are texts that are JSON themselves.
    body.check_texts(Bounds::WITHIN_TEXTS)?;
    let export: Value = if body.media_type == PROTOBUF {
        protobuf::decode(signal, &body.bytes)
            .map_err(|fault| Problem::bad(format!("the body is not an export: {fault}")))?
    } else {
        body.check(Bounds::POSTED)?;
        serde_json::from_slice(&body.bytes)
            .map_err(|error| Problem::bad(format!("the body is not JSON: line {}", error.line())))?
    };
    let privacy = app.privacy()?;
    let rules =
        Rules { config: &privacy.config, hash_key: privacy.hash_key, home_dir: privacy.home_dir.as_deref() };
    let records = otlp::read(&rules, signal, &export, now);
    if records.len() > RECORDS {
        let detail = format!("the export holds more than {RECORDS} records\nhint: export in smaller batches");
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
    }
    let (mut batch, mut refusals) = (Batch::default(), Refusals::default());
    for record in records {
        let (agent, name, verdict) = match record {
            Record::Skipped => {
                batch.skipped += 1;
                continue;
            }
            Record::Foreign => {
                refusals.foreign += 1;
                let verdict = Verdict::Refused("telemetry of another program".to_owned());
                (Agent::default(), observation_name(app, "otlp", now), verdict)
            }
            Record::Malformed => {
                refusals.malformed += 1;
                let verdict = Verdict::Malformed("not a record of telemetry".to_owned());
                (Agent::default(), observation_name(app, "otlp", now), verdict)
            }
            Record::Read { agent, name, reading } => {
                let excluded = reading.entries.iter().any(|entry| app.excluded.holds(&entry.task.task_id()));
                let verdict = if excluded {
                    refusals.excluded += 1;
                    Verdict::Refused("excluded by privacy.conf".to_owned())
                } else {
                    Verdict::Read(reading)
                };
                (agent, format!("otlp:{name}"), verdict)
            }
        };
        batch.observed.push(Observed {
            name,
            source: None,
            agent,
            channel: Channel::Otlp,
            arrived: now,
            verdict,
            payload: None,
            kept: None,
        });
    }
    refusals.is_no_export = !otlp::is_export(signal, &export);
    Ok((batch, refusals))
}
