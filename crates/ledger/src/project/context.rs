//! Points of the context chart: what a row says of how full the window was, when it was compacted, who answered.
//!
//! Law: what the client says of its window is the chart. A client that says nothing (no status line, no interactive
//! session) still tells what each response was asked with: its input and what it read from and wrote to caches stood in
//! the window, and the size of the window is that of the model. Such a point is marked as estimated.

use std::sync::LazyLock;

use agent_tracer_event::{Kind, Millis};
use agent_tracer_prices::Prices;
use serde_json::Value;

use super::{FactRow, List};
use crate::view::{ContextPoint, ContextPointKind};

static MODELS: LazyLock<Prices> = LazyLock::new(Prices::embedded);

/// Whether a row says how full the window was.
#[must_use]
pub fn is_measure(kind: Option<Kind>, list: List) -> bool {
    kind == Some(Kind::ContextSnapshot) || list == List::Response
}

/// The point of a row, if it is one.
#[must_use]
pub fn point(id: String, row: &FactRow) -> Option<ContextPoint> {
    let kind = match row.kind? {
        Kind::ContextSnapshot => ContextPointKind::Snapshot,
        Kind::ModelSwitched => ContextPointKind::ModelSwitch,
        _ if row.list == List::Response => return estimate(id, row),
        // A compaction that begins is not one yet.
        _ if row.text("compactPhase") == Some("after") => ContextPointKind::Compaction,
        _ => return None,
    };
    let share = |key: &str| row.meta(key).and_then(Value::as_f64);
    let tokens = |key: &str| row.meta(key).and_then(Value::as_u64);
    let is_mark = kind != ContextPointKind::Snapshot;
    Some(ContextPoint {
        id,
        kind,
        at: Millis(row.occurred),
        used_pct: share("contextWindowUsedPct"),
        total_tokens: tokens("contextWindowTotalTokens"),
        window_size: tokens("contextWindowSize"),
        model: ["toModel", "modelId", "model"].iter().find_map(|key| row.text(key)).map(str::to_owned),
        cost_usd: share("costTotalUsd"),
        five_hour_used_pct: share("rateLimitFiveHourUsedPct"),
        seven_day_used_pct: share("rateLimitSevenDayUsedPct"),
        title: Some(row.data.title.clone()).filter(|title| is_mark && !title.is_empty()),
        estimated: false,
    })
}

/// What a response says of the window. A copy says nothing: it was asked elsewhere.
fn estimate(id: String, row: &FactRow) -> Option<ContextPoint> {
    let usage = row.usage()?;
    let total = usage
        .input_tokens
        .saturating_add(usage.cache_read_tokens)
        .saturating_add(usage.cache_creation_tokens);
    let model = row.text("model");
    let window = model.and_then(|model| MODELS.window(model)).filter(|window| *window > 0);
    (total > 0).then(|| ContextPoint {
        id,
        kind: ContextPointKind::Snapshot,
        at: Millis(row.occurred),
        used_pct: window.map(|window| ((total as f64 / window as f64) * 1_000.0).round().min(1_000.0) / 10.0),
        total_tokens: Some(total),
        window_size: window,
        model: model.map(str::to_owned),
        cost_usd: None,
        five_hour_used_pct: None,
        seven_day_used_pct: None,
        title: None,
        estimated: true,
    })
}
