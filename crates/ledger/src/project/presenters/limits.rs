//! The used share of each agent's rate limits, and the forecast of when they will be reached.
//!
//! Limits belong to the account and every session reports them, so the snapshots of the newest sessions form one
//! series.

use std::collections::BTreeMap;

use agent_tracer_event::{Agent, Millis, attributes};
use serde_json::Value;

use crate::project::FactRow;
use crate::project::forecast::forecast;
use crate::view::{Limit, LimitForecast, LimitWindow};

/// Sessions that are looked at, the newest first.
pub const MOST_TASKS: u32 = 24;

/// Snapshots of each that are looked at, the newest first.
pub const MOST_SNAPSHOTS: u32 = 400;

/// Sessions that were last active this long after the moment at which one asks are not looked at: a clock is wrong.
pub const AHEAD_MS: i64 = 86_400_000;

/// A limit: its name, the keys of what is used and when it begins anew, and how far back a slope is looked for.
struct Window {
    name: LimitWindow,
    used: &'static str,
    resets: &'static str,
    recent_ms: i64,
}

const WINDOWS: [Window; 2] = [
    Window {
        name: LimitWindow::FiveHour,
        used: attributes::RATE_LIMIT_FIVE_HOUR_USED_PCT,
        resets: attributes::RATE_LIMIT_FIVE_HOUR_RESETS_AT,
        recent_ms: 3_600_000,
    },
    Window {
        name: LimitWindow::SevenDay,
        used: attributes::RATE_LIMIT_SEVEN_DAY_USED_PCT,
        resets: attributes::RATE_LIMIT_SEVEN_DAY_RESETS_AT,
        recent_ms: 86_400_000,
    },
];

/// One snapshot of a limit.
type LimitSnapshot = (i64, f64, Option<i64>);

fn snapshot(row: &FactRow, window: &Window) -> Option<LimitSnapshot> {
    let used = row.meta(window.used).and_then(Value::as_f64).filter(|used| used.is_finite())?;
    let resets = row.text(window.resets).and_then(Millis::parse).map(|at| at.0);
    Some((row.occurred, used, resets))
}

/// Returns every limit that an agent reported lately, out of snapshots of the context.
pub fn limits<'row>(snapshots: impl IntoIterator<Item = (Agent, &'row FactRow)>, now: Millis) -> Vec<Limit> {
    let mut points: BTreeMap<(usize, usize), (Agent, Vec<LimitSnapshot>)> = BTreeMap::new();
    for (agent, row) in snapshots {
        for (place, window) in WINDOWS.iter().enumerate() {
            let of_window = points.entry((agent.place(), place)).or_insert_with(|| (agent, Vec::new()));
            of_window.1.extend(snapshot(row, window));
        }
    }
    let mut items = Vec::new();
    for ((_, place), (agent, mut points)) in points {
        points.sort_by_key(|(at, ..)| *at);
        items.extend(WINDOWS.get(place).and_then(|window| limit(agent, window, &points, now.0)));
    }
    items
}

fn limit(agent: Agent, window: &Window, points: &[LimitSnapshot], now: i64) -> Option<Limit> {
    let (at, used, resets) = *points.last()?;
    let is_over = resets.is_some_and(|resets| resets <= now);
    // Points of an earlier window are of no use: it began anew since. Where no one says when, use falls then.
    let same = |point: &&LimitSnapshot| match (point.2, resets) {
        (Some(one), Some(two)) => (one - two).abs() < 60_000,
        _ => point.1 <= used,
    };
    let recent: Vec<(i64, f64)> = points
        .iter()
        .filter(same)
        .filter(|(seen, ..)| *seen >= at - window.recent_ms)
        .map(|(at, used, _)| (*at, *used))
        .collect();
    let line = forecast(&recent).filter(|_| !is_over);
    Some(Limit {
        owner: None,
        agent,
        window: window.name.to_string(),
        used_pct: if is_over { 0.0 } else { used },
        at: Millis(at),
        resets_at: resets.map(Millis).filter(|_| !is_over),
        forecast: line.map(|line| LimitForecast {
            pct_per_hour: line.per_hour,
            // What begins anew before it is full will not be full.
            full_at: line.full_at.filter(|full| resets.is_none_or(|resets| *full <= resets)).map(Millis),
            pct_at_reset: resets.map(|resets| used + line.per_hour * (resets - at) as f64 / 3_600_000.0),
            certainty: line.trust.as_str().to_owned(),
            points: recent.len() as u64,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    #[test]
    fn a_limit_is_forecast_from_its_own_window_alone() {
        let (now, resets) = (300 * MINUTE, 420 * MINUTE);
        let mut points: Vec<LimitSnapshot> = vec![(200 * MINUTE, 97.0, Some(210 * MINUTE))];
        points.extend((0..=12).map(|step| {
            let at = 240 + step * 5;
            (at * MINUTE, 10.0 + step as f64 * 5.0, Some(resets))
        }));
        let limit = limit(Agent::CODEX, &WINDOWS[0], &points, now).unwrap();
        assert_eq!((limit.used_pct, limit.resets_at), (70.0, Some(Millis(resets))));
        let forecast = limit.forecast.unwrap();
        assert!((forecast.pct_per_hour - 60.0).abs() < 1e-6, "{forecast:?}");
        assert_eq!(forecast.full_at, Some(Millis(330 * MINUTE)));
        assert_eq!((forecast.certainty.as_str(), forecast.points), ("high", 13));
    }

    #[test]
    fn a_window_that_closed_since_is_empty_and_one_that_closes_first_is_not_full() {
        let points = [(0, 10.0, Some(300 * MINUTE)), (60 * MINUTE, 20.0, Some(300 * MINUTE))];
        let closed = limit(Agent::CODEX, &WINDOWS[0], &points, 301 * MINUTE).unwrap();
        assert_eq!((closed.used_pct, closed.resets_at, closed.forecast), (0.0, None, None));
        let open = limit(Agent::CODEX, &WINDOWS[0], &points, 61 * MINUTE).unwrap().forecast.unwrap();
        assert_eq!((open.full_at, open.pct_at_reset), (None, Some(60.0)));
        assert_eq!(limit(Agent::CODEX, &WINDOWS[0], &[], 0), None);
    }
}
