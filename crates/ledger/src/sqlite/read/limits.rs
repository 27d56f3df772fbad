//! How much of each agent's rate limits is used, and when they will be reached.
//!
//! Limits belong to the account and every session tells of them, so what the newest sessions saw is one line of points.

use std::collections::BTreeMap;

use agent_tracer_event::{Agent, Kind, Millis};
use rusqlite::Connection;
use serde_json::Value;

use crate::project::forecast::forecast;
use crate::project::{FactRow, List};
use crate::sqlite::facts::{self, word_at};
use crate::store::Answer;
use crate::view::{Limit, LimitForecast, Page};

/// Sessions that are looked at, the newest first.
const MOST_TASKS: i64 = 24;

/// Snapshots of each that are looked at, the newest first.
const MOST_POINTS: i64 = 400;

/// A limit: its name, the keys of what is used and when it begins anew, and how far back a slope is looked for.
struct Window {
    name: &'static str,
    used: &'static str,
    resets: &'static str,
    recent_ms: i64,
}

const WINDOWS: [Window; 2] = [
    Window {
        name: "five_hour",
        used: "rateLimitFiveHourUsedPct",
        resets: "rateLimitFiveHourResetsAt",
        recent_ms: 3_600_000,
    },
    Window {
        name: "seven_day",
        used: "rateLimitSevenDayUsedPct",
        resets: "rateLimitSevenDayResetsAt",
        recent_ms: 86_400_000,
    },
];

/// What one snapshot says of a limit.
type Seen = (i64, f64, Option<i64>);

fn seen(row: &FactRow, window: &Window) -> Option<Seen> {
    let used = row.meta(window.used).and_then(Value::as_f64).filter(|used| used.is_finite())?;
    let resets = row.text(window.resets).and_then(Millis::parse).map(|at| at.0);
    Some((row.occurred, used, resets))
}

/// Every limit that an agent told of lately.
pub(crate) fn limits(conn: &Connection, now: Millis) -> Answer<Page<Limit>> {
    let mut find = conn.prepare_cached(
        "SELECT id, agent FROM task INDEXED BY task_newest WHERE events > 0 AND last <= ?1 \
         ORDER BY last DESC, id DESC LIMIT ?2",
    )?;
    let tasks: Vec<(i64, i64)> = find
        .query_map([now.0.saturating_add(86_400_000), MOST_TASKS], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut points: BTreeMap<(i64, usize), Vec<Seen>> = BTreeMap::new();
    for (task, agent) in tasks {
        let rows = facts::select(
            conn,
            &format!(
                "WHERE f.task = ?1 AND f.{} AND f.kind = {} ORDER BY f.occurred DESC LIMIT ?2",
                facts::in_list(List::Context),
                Kind::ContextSnapshot as i64
            ),
            [task, MOST_POINTS],
        )?;
        for (place, window) in WINDOWS.iter().enumerate() {
            let more = rows.iter().filter_map(|stored| seen(&stored.row, window));
            points.entry((agent, place)).or_default().extend(more);
        }
    }
    let mut items = Vec::new();
    for ((agent, place), mut points) in points {
        points.sort_by_key(|(at, ..)| *at);
        let (Some(agent), Some(window)) = (word_at(Agent::ALL, agent), WINDOWS.get(place)) else { continue };
        items.extend(limit(agent, window, &points, now.0));
    }
    Ok(Page::whole(items))
}

fn limit(agent: Agent, window: &Window, points: &[Seen], now: i64) -> Option<Limit> {
    let (at, used, resets) = *points.last()?;
    let is_over = resets.is_some_and(|resets| resets <= now);
    // Points of an earlier window are of no use: it began anew since. Where nobody says when, use falls then.
    let same = |point: &&Seen| match (point.2, resets) {
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
        agent,
        window: window.name.to_owned(),
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
        let mut points: Vec<Seen> = vec![(200 * MINUTE, 97.0, Some(210 * MINUTE))];
        points.extend((0..=12).map(|step| {
            let at = 240 + step * 5;
            (at * MINUTE, 10.0 + step as f64 * 5.0, Some(resets))
        }));
        let limit = limit(Agent::Codex, &WINDOWS[0], &points, now).unwrap();
        assert_eq!((limit.used_pct, limit.resets_at), (70.0, Some(Millis(resets))));
        let forecast = limit.forecast.unwrap();
        assert!((forecast.pct_per_hour - 60.0).abs() < 1e-6, "{forecast:?}");
        assert_eq!(forecast.full_at, Some(Millis(330 * MINUTE)));
        assert_eq!((forecast.certainty.as_str(), forecast.points), ("high", 13));
    }

    #[test]
    fn a_window_that_closed_since_is_empty_and_one_that_closes_first_is_not_full() {
        let points = [(0, 10.0, Some(300 * MINUTE)), (60 * MINUTE, 20.0, Some(300 * MINUTE))];
        let closed = limit(Agent::Codex, &WINDOWS[0], &points, 301 * MINUTE).unwrap();
        assert_eq!((closed.used_pct, closed.resets_at, closed.forecast), (0.0, None, None));
        let open = limit(Agent::Codex, &WINDOWS[0], &points, 61 * MINUTE).unwrap().forecast.unwrap();
        assert_eq!((open.full_at, open.pct_at_reset), (None, Some(60.0)));
        assert_eq!(limit(Agent::Codex, &WINDOWS[0], &[], 0), None);
    }
}
