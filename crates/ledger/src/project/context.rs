//! Points of the context chart: what a row says of how full the window was, when it was compacted, who answered.
//!
//! Law: what the client says of its window is the chart. A client that says nothing (no status line, no interactive
//! session) still tells what each response was asked with: its input and what it read from and wrote to caches stood in
//! the window, and the size of the window is that of the model. Such a point is marked as estimated.

use std::sync::LazyLock;

use agent_tracer_event::{Kind, Millis, attributes};
use agent_tracer_prices::Prices;
use serde_json::Value;

use super::{FactRow, List};
use crate::view::{ContextPoint, ContextPointKind};

static MODELS: LazyLock<Prices> = LazyLock::new(Prices::embedded);

/// Returns whether a row says how full the window was.
#[must_use]
pub fn is_measure(kind: Option<Kind>, list: List) -> bool {
    kind == Some(Kind::ContextSnapshot) || list == List::Response
}

/// Returns the point of a row, if it is one.
#[must_use]
pub fn point(id: String, row: &FactRow) -> Option<ContextPoint> {
    let kind = match row.kind? {
        Kind::ContextSnapshot => ContextPointKind::Snapshot,
        Kind::ModelSwitched => ContextPointKind::ModelSwitch,
        _ if row.list == List::Response => return estimate(id, row),
        // A compaction that begins is not one yet.
        _ if row.text(attributes::COMPACT_PHASE) == Some("after") => ContextPointKind::Compaction,
        _ => return None,
    };
    let share = |key: &str| row.meta(key).and_then(Value::as_f64);
    let tokens = |key: &str| row.meta(key).and_then(Value::as_u64);
    let is_mark = kind != ContextPointKind::Snapshot;
    Some(ContextPoint {
        id,
        kind,
        at: Millis(row.occurred),
        used_pct: share(attributes::CONTEXT_WINDOW_USED_PCT),
        total_tokens: tokens(attributes::CONTEXT_WINDOW_TOTAL_TOKENS),
        window_size: tokens(attributes::CONTEXT_WINDOW_SIZE),
        model: [attributes::TO_MODEL, attributes::MODEL_ID, attributes::MODEL]
            .iter()
            .find_map(|key| row.text(key))
            .map(str::to_owned),
        cost_usd: share(attributes::COST_TOTAL_USD),
        five_hour_used_pct: share(attributes::RATE_LIMIT_FIVE_HOUR_USED_PCT),
        seven_day_used_pct: share(attributes::RATE_LIMIT_SEVEN_DAY_USED_PCT),
        title: Some(row.data.title.clone()).filter(|title| is_mark && !title.is_empty()),
        estimated: false,
    })
}

/// Returns the points with a mark wherever the client reports another model than before.
///
/// `before` is the last point of the page before. A row that tells of the switch itself stands for it: after one, the
/// next report only says how the client spells the model.
#[must_use]
pub fn mark_switches(points: Vec<ContextPoint>, before: Option<&ContextPoint>) -> Vec<ContextPoint> {
    let is_report = |point: &ContextPoint| point.kind == ContextPointKind::Snapshot && !point.estimated;
    let mut model = before.filter(|point| is_report(point)).and_then(|point| point.model.clone());
    let mut marked = Vec::with_capacity(points.len());
    for point in points {
        if point.kind == ContextPointKind::ModelSwitch {
            model = None;
        } else if is_report(&point)
            && let Some(now) = &point.model
        {
            if let Some(then) = model.as_ref().filter(|then| *then != now) {
                marked.push(ContextPoint {
                    id: format!("{}:model", point.id),
                    kind: ContextPointKind::ModelSwitch,
                    at: point.at,
                    model: Some(now.clone()),
                    title: Some(format!("Model {then} → {now}")),
                    used_pct: None,
                    total_tokens: None,
                    window_size: None,
                    cost_usd: None,
                    five_hour_used_pct: None,
                    seven_day_used_pct: None,
                    estimated: false,
                });
            }
            model = Some(now.clone());
        }
        marked.push(point);
    }
    marked
}

/// Estimates the fill of the window from a response. A copy gives no estimate: its request was made elsewhere.
fn estimate(id: String, row: &FactRow) -> Option<ContextPoint> {
    let usage = row.usage()?;
    let total = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    let model = row.text(attributes::MODEL);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(at: i64, kind: ContextPointKind, model: &str) -> ContextPoint {
        ContextPoint {
            id: at.to_string(),
            kind,
            at: Millis(at),
            used_pct: None,
            total_tokens: None,
            window_size: None,
            model: Some(model.to_owned()),
            cost_usd: None,
            five_hour_used_pct: None,
            seven_day_used_pct: None,
            title: None,
            estimated: false,
        }
    }

    fn marks(points: Vec<ContextPoint>, before: Option<&ContextPoint>) -> Vec<(i64, Option<String>)> {
        let marked = mark_switches(points, before).into_iter();
        let marks = marked.filter(|point| point.kind == ContextPointKind::ModelSwitch);
        marks.map(|point| (point.at.0, point.title)).collect()
    }

    #[test]
    fn another_model_in_a_report_is_marked() {
        use ContextPointKind::Snapshot;
        let points =
            vec![at(1, Snapshot, "a"), at(2, Snapshot, "a"), at(3, Snapshot, "b"), at(4, Snapshot, "c")];
        let found = marks(points.clone(), None);
        assert_eq!(found, [(3, Some("Model a → b".to_owned())), (4, Some("Model b → c".to_owned()))]);
        // A page that begins in between knows what came before it.
        let (first, second) = points.split_at(2);
        assert_eq!(marks(first.to_vec(), None), []);
        assert_eq!(marks(second.to_vec(), first.last()), found);
    }

    #[test]
    fn a_switch_that_was_recorded_is_not_marked_again() {
        use ContextPointKind::{ModelSwitch, Snapshot};
        let points = vec![at(1, Snapshot, "a"), at(2, ModelSwitch, "b"), at(3, Snapshot, "b-20260101")];
        assert_eq!(marks(points, None), [(2, None)]);
        let mut guess = at(3, Snapshot, "b");
        guess.estimated = true;
        assert_eq!(marks(vec![at(1, Snapshot, "a"), guess], None), []);
    }
}
