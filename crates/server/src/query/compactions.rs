//! Questions about compactions: what went in and what came out, from the agent's own file.

use agent_tracer_event::{Kind, TaskId, attributes};
use agent_tracer_jobs::compaction::{Compaction, CompactionItem, FileSnapshot, ScanResult, Side};
use agent_tracer_ledger::view::Page;
use agent_tracer_ledger::{MAX_LIMIT, Paging, RowFilter, Store};
use axum::http::StatusCode;
use serde_json::Value;

use super::params::{OWNER_AND_MACHINE, PAGING};
use super::{CachePolicy, Endpoint, ParamType, QueryParams, optional, write};
use crate::app::App;
use crate::openapi::page;
use crate::problem::{FieldError, Problem};

/// Compactions of one task that are looked at.
const SEEN_MAX: usize = 1000;

const SIDES: &[(&str, Side)] = &[("before", Side::Before), ("after", Side::After)];

fn sides() -> Vec<&'static str> {
    SIDES.iter().map(|(word, _)| *word).collect()
}

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: "/tasks/{id}/compactions",
        operation: "listTaskCompactions",
        summary: "The compactions of a task's context: what went in and what came out, read from the agent's own file on \
                  request; nothing of it is stored. `unchanged` compares the file with what the hook measured. Not \
                  found if the file is gone.",
        params: &[OWNER_AND_MACHINE],
        shape: page::<Compaction>,
        cache: CachePolicy::Always,
        ask: |app, params| {
            let scanned = scan(app, params, None)?;
            write(&Page::whole(scanned.compactions))
        },
    },
    Endpoint {
        path: "/tasks/{id}/compaction-items",
        operation: "listTaskCompactionItems",
        summary: "The pieces that went into one compaction, or came out of it, with the beginning of their texts, masked. \
                  Results of tools have no text.",
        params: &[
            OWNER_AND_MACHINE,
            &[
                optional(
                    "number",
                    ParamType::Integer(1, 1000),
                    "Number of the compaction; the first unless given.",
                ),
                optional("side", ParamType::One(sides), "The side: before the compaction, unless given."),
            ],
            PAGING,
        ],
        shape: page::<CompactionItem>,
        cache: CachePolicy::Always,
        ask: |app, params| {
            let number = params.integer("number").unwrap_or(1);
            let known = |word: &str| SIDES.iter().find(|(known, _)| *known == word).map(|(_, side)| *side);
            let side = params.word("side", known).unwrap_or(Side::Before);
            let paging = params.paging();
            let from = match paging.cursor.as_deref().map(str::parse::<u64>) {
                None => 0,
                Some(Ok(from)) => from,
                Some(Err(_)) => {
                    let wrong = FieldError::new("cursor", "is not a cursor of this list");
                    return Err(Problem::invalid_fields(StatusCode::BAD_REQUEST, vec![wrong]));
                }
            };
            let limit = match paging.limit {
                0 => 100,
                limit => limit.min(MAX_LIMIT),
            };
            let scanned = scan(app, params, Some((number, side, from, limit as usize)))?;
            if !scanned.compactions.iter().any(|it| it.number == number) {
                return Err(Problem::not_found("compaction not found"));
            }
            let next_cursor = scanned.more.then(|| (from + scanned.items.len() as u64).to_string());
            write(&Page { items: scanned.items, next_cursor })
        },
    },
];

fn scan(
    app: &App,
    params: &QueryParams,
    items: Option<(u64, Side, u64, usize)>,
) -> Result<ScanResult, Problem> {
    let id = TaskId::parse(&params.id).ok_or_else(|| Problem::not_found("task not found"))?;
    let store = params.store(app);
    let task = store.task(params.now, &id)?;
    let Some(ask) = &app.deps.capabilities.compactions else {
        return Err(Problem::not_found("the files of the agents are not on this machine"));
    };
    let scanned = ask(&task, &seen(store, &id)?, items);
    let scanned =
        scanned.map_err(|cause| Problem::new(StatusCode::SERVICE_UNAVAILABLE, cause.to_string()))?;
    scanned.ok_or_else(|| Problem::not_found("the agent's file of this session is gone"))
}

/// Returns the sizes and hashes that hooks saw when compactions began, the oldest first.
fn seen(store: &dyn Store, id: &TaskId) -> Result<Vec<FileSnapshot>, Problem> {
    let mut filter = RowFilter {
        kinds: vec![Kind::ContextSaved],
        paging: Paging { cursor: None, limit: MAX_LIMIT },
        ..RowFilter::default()
    };
    let mut seen = Vec::new();
    loop {
        let page = store.timeline(id, &filter)?;
        for row in &page.items {
            let Some(bytes) = row.metadata.get(attributes::TRANSCRIPT_BYTES).and_then(Value::as_u64) else {
                continue;
            };
            let sha256 =
                row.metadata.get(attributes::TRANSCRIPT_SHA256).and_then(Value::as_str).map(str::to_owned);
            seen.push(FileSnapshot { bytes, sha256 });
        }
        filter.paging.cursor = page.next_cursor;
        if filter.paging.cursor.is_none() || seen.len() >= SEEN_MAX {
            return Ok(seen);
        }
    }
}
