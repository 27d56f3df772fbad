//! Queries about the tracer itself: health, settings, the audit of reads.

use agent_tracer_event::attributes::CaptureLevel;
use agent_tracer_ledger::view::{Health, HealthStatus, Page};
use agent_tracer_ledger::{Answer, QueryError, error_text};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::params::{BETWEEN, PAGING};
use super::{CachePolicy, Endpoint, Param, ParamType, QueryParams, optional, write};
use crate::app::App;
use crate::deps::{AuditEntry, AuditFilter};
use crate::openapi::{one, page};
use crate::problem::Problem;

/// Settings of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Settings {
    /// The version of the server.
    pub(crate) version: String,
    /// The address it listens on.
    pub(crate) address: String,
    /// The time zone of days where a query does not say.
    pub(crate) time_zone: String,
    /// The privacy level.
    #[schema(value_type = CaptureLevel)]
    pub(crate) privacy_level: String,
    /// The number of folder patterns that are excluded from recording. The patterns themselves are not shown.
    pub(crate) excluded: u64,
    /// Days without an event after which the events of a task are dropped; absent if they are kept for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retention_days: Option<u32>,
    /// The number of models with a price of the user's own, from the table `[prices]`.
    pub(crate) own_prices: u64,
    /// True if the client may change things: with the token, or in a browser that opened the one-time link.
    pub(crate) may_write: bool,
}

/// Gathers the health of every part.
fn health(app: &App) -> Health {
    let store = &app.deps.store;
    let spool = (app.deps.spool)();
    let mut problems = spool.problems;
    problems.extend(spool.faults.iter().flat_map(|faults| faults.problems.iter().cloned()));
    let lost: u64 = spool.health.lost.values().sum();
    if lost > 0 {
        problems.push(format!("the hook lost {lost} events\nhint: run `agent-tracer doctor`"));
    }
    if spool.health.quarantined > 0 {
        problems.push(format!(
            "{} envelopes could not be read and are in quarantine\nhint: run `agent-tracer doctor`",
            spool.health.quarantined
        ));
    }
    // A store that cannot answer is the most important thing to report.
    let (store_health, seq) =
        (answer_or_report(store.health(), &mut problems), answer_or_report(store.seq(), &mut problems));
    let (outcomes, sources) =
        (answer_or_report(store.outcomes(), &mut problems), answer_or_report(store.sources(), &mut problems));
    let unrecognised = answer_or_report(store.unrecognised(), &mut problems);
    let reasons = answer_or_report(store.reasons(), &mut problems);
    Health {
        status: if problems.is_empty() { HealthStatus::Ok } else { HealthStatus::Degraded }.to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        store: store_health,
        seq,
        spool: spool.health,
        outcomes,
        reasons,
        lag_ms: spool.lag_ms,
        sources,
        unrecognised,
        import: spool.import,
        retention: spool.retention,
        ship: spool.ship,
        faults: spool.faults,
        problems,
    }
}

/// Returns an answer of the store. If it has none, adds a problem and returns `None`: a default would read as a fact.
fn answer_or_report<T>(answer: Answer<T>, problems: &mut Vec<String>) -> Option<T> {
    let note = |error: QueryError| {
        let problem = format!("{}\nhint: stop the server and run `agent-tracer doctor`", error_text(&error));
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    };
    answer.map_err(note).ok()
}

/// Filters of the audit: the owner of the sessions, and the reader.
const AUDIT_FILTERS: &[Param] = &[
    optional("of", ParamType::Text, "Accesses to the sessions of this person; `*` for lists of all owners."),
    optional("by", ParamType::Text, "Accesses by this person."),
];

/// Lists accesses to sessions. Only administrators come this far.
fn audit(app: &App, params: &QueryParams) -> Result<Page<AuditEntry>, Problem> {
    let Some(team) = &app.deps.team else {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "this server records one machine and keeps no audit\nhint: a server started with `--store` keeps one",
        ));
    };
    let range = params.range();
    let filter = AuditFilter {
        owner: params.text("of"),
        reader: params.text("by"),
        since: range.since,
        until: range.until,
        paging: range.paging,
    };
    Ok((team.list_access)(&filter)?)
}

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: "/audit",
        operation: "listAudit",
        summary: "Accesses to sessions on a team's server, newest first. Only for administrators.",
        params: &[AUDIT_FILTERS, BETWEEN, PAGING],
        shape: page::<AuditEntry>,
        cache: CachePolicy::Always,
        ask: |app, params| write(&audit(app, params)?),
    },
    Endpoint {
        path: "/health",
        operation: "getHealth",
        summary: "Health of the tracer: store, spool, outcomes, sources.",
        params: &[],
        shape: one::<Health>,
        cache: CachePolicy::Always,
        ask: |app, _| write(&health(app)),
    },
    Endpoint {
        path: "/dead-letters",
        operation: "listDeadLetters",
        summary: "Envelopes that could not be read and were set aside, newest first.",
        params: &[],
        shape: page::<crate::dead_letters::DeadLetter>,
        cache: CachePolicy::Always,
        ask: |app, _| write(&crate::dead_letters::list(app)?),
    },
    Endpoint {
        path: "/settings",
        operation: "getSettings",
        summary: "Settings of the server.",
        params: &[],
        shape: one::<Settings>,
        cache: CachePolicy::Always,
        ask: |app, params| {
            let privacy = app.privacy()?;
            write(&Settings {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                address: app.address.to_string(),
                time_zone: app.config.time_zone.clone().unwrap_or_else(|| "UTC".to_owned()),
                privacy_level: privacy.config.level.name().to_owned(),
                excluded: privacy.config.excludes.len() as u64,
                retention_days: (app.deps.spool)().retention.days,
                own_prices: app.config.own_prices,
                may_write: params.may_write,
            })
        },
    },
];
