//! Questions about the tracer itself: health, settings, who looked at what.

use agent_tracer_ledger::view::{Health, Page};
use agent_tracer_ledger::{Answer, QueryError};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::params::{BETWEEN, PAGING};
use super::{Ages, Asked, Endpoint, Param, Reads, may, write};
use crate::app::App;
use crate::doors::{AuditEntry, AuditFilter};
use crate::openapi::{one, page};
use crate::problem::Problem;

/// How the server is set up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Settings {
    /// The version of the server.
    pub(crate) version: String,
    /// The address it listens on.
    pub(crate) address: String,
    /// Whose days are meant where a question does not say.
    pub(crate) time_zone: String,
    /// How much is kept: `metadata`, `actions` or `full`.
    pub(crate) privacy_level: String,
    /// How many patterns of folders are excluded from recording. The patterns themselves are nobody's business.
    pub(crate) excluded: u64,
    /// Events of tasks that were not heard of for so many days are dropped; absent if they are kept for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retention_days: Option<u32>,
    /// How many models have a price of the user's own, from `prices.toml`.
    pub(crate) own_prices: u64,
    /// Whether the asker may change things: with the token, or in a browser that opened the one-time link.
    pub(crate) may_write: bool,
}

/// Gathers how everything is.
fn health(app: &App) -> Health {
    let store = &app.doors.store;
    let spool = (app.doors.spool)();
    let mut problems = spool.problems;
    problems.extend(spool.faults.iter().flat_map(|faults| faults.problems.iter().cloned()));
    let lost: u64 = spool.health.lost.values().sum();
    if lost > 0 {
        problems.push(format!("the hook could not keep {lost} events\nhint: run `agent-tracer doctor`"));
    }
    if spool.health.quarantined > 0 {
        problems.push(format!(
            "{} envelopes could not be read or kept and are in quarantine\nhint: run `agent-tracer doctor`",
            spool.health.quarantined
        ));
    }
    // How a store is that cannot answer must be told more than anything else.
    let (store_health, seq) = (known(store.health(), &mut problems), known(store.seq(), &mut problems));
    let (outcomes, sources) = (known(store.outcomes(), &mut problems), known(store.sources(), &mut problems));
    let unrecognised = known(store.unrecognised(), &mut problems);
    let reasons = known(store.reasons(), &mut problems);
    Health {
        status: if problems.is_empty() { "ok" } else { "degraded" }.to_owned(),
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

/// Returns an answer of the store; none, and a problem, if it has none: a default would read as a fact.
fn known<T>(answer: Answer<T>, problems: &mut Vec<String>) -> Option<T> {
    let note = |error: QueryError| {
        let problem = format!("{error}\nhint: stop the server and run `agent-tracer doctor`");
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    };
    answer.map_err(note).ok()
}

/// Whose looks, and at whose sessions.
const LOOKS: &[Param] = &[
    may("of", Reads::Text, "At this person's sessions; `*` for lists of everybody's."),
    may("by", Reads::Text, "By this person."),
];

/// Who looked at what. Only administrators come this far.
fn audit(app: &App, asked: &Asked) -> Result<Page<AuditEntry>, Problem> {
    let Some(team) = &app.doors.team else {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "this server keeps what happens on one machine, and nobody else looks at it\nhint: a server that was started with `--store` keeps who looked at whose sessions",
        ));
    };
    let range = asked.range();
    let filter = AuditFilter {
        owner: asked.text("of"),
        reader: asked.text("by"),
        since: range.since,
        until: range.until,
        paging: range.paging,
    };
    Ok((team.looks)(&filter)?)
}

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: "/audit",
        operation: "listAudit",
        summary: "Who looked at whose sessions on a team's server, the newest first. Only for administrators.",
        params: &[LOOKS, BETWEEN, PAGING],
        shape: page::<AuditEntry>,
        ages: Ages::Always,
        ask: |app, asked| write(&audit(app, asked)?),
    },
    Endpoint {
        path: "/health",
        operation: "getHealth",
        summary: "How the tracer itself is: store, spool, outcomes, sources.",
        params: &[],
        shape: one::<Health>,
        ages: Ages::Always,
        ask: |app, _| write(&health(app)),
    },
    Endpoint {
        path: "/dead-letters",
        operation: "listDeadLetters",
        summary: "What the spool could not read and keeps aside, the newest first.",
        params: &[],
        shape: page::<crate::dead_letters::DeadLetter>,
        ages: Ages::Always,
        ask: |app, _| write(&crate::dead_letters::list(app)?),
    },
    Endpoint {
        path: "/settings",
        operation: "getSettings",
        summary: "How the server is set up.",
        params: &[],
        shape: one::<Settings>,
        ages: Ages::Always,
        ask: |app, asked| {
            let privacy = app.privacy()?;
            write(&Settings {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                address: app.address.to_string(),
                time_zone: app.config.time_zone.clone().unwrap_or_else(|| "UTC".to_owned()),
                privacy_level: privacy.config.level.name().to_owned(),
                excluded: privacy.config.excludes.len() as u64,
                retention_days: (app.doors.spool)().retention.days,
                own_prices: app.config.own_prices,
                may_write: asked.may_write,
            })
        },
    },
];
