//! The account behind the recorded sessions: how much of a subscription's limits is used.
//!
//! The sessions were recorded with an API key, and clients report no limits to accounts that pay by the token. A demo
//! without limits would hide a part of the page, so they are put where the clients put them for a subscriber.
//!
//! Law: pure; the same moment always gets the same answer, use only grows within a window, and a limit that was recorded
//! stays as it was.

use agent_tracer_event::Agent;
use serde_json::{Value, json};

const HOUR_MS: i64 = 3_600_000;

/// A limit: how long its window is, when it begins, and how much of it is used at its beginning and its end.
struct Limit {
    window_ms: i64,
    shift_ms: i64,
    from_pct: i64,
    to_pct: i64,
}

impl Limit {
    /// Per cent that are used at a moment, and when the window ends, in seconds since 1970.
    fn at(&self, at_ms: i64) -> (i64, i64) {
        let inside_ms = (at_ms + self.shift_ms).rem_euclid(self.window_ms);
        let used = self.from_pct + (self.to_pct - self.from_pct) * inside_ms / self.window_ms;
        (used, (at_ms - inside_ms + self.window_ms) / 1000)
    }
}

/// Returns `true` if the agent reports its limits to a status line; any other writes them into its files.
fn has_status_line(agent: Agent) -> bool {
    agent.spec().statusline_word.is_some()
}

fn limits(agent: Agent) -> (Limit, Limit) {
    let five_hours = |shift, from_pct, to_pct| Limit {
        window_ms: 5 * HOUR_MS,
        shift_ms: shift * HOUR_MS,
        from_pct,
        to_pct,
    };
    let week = |shift, from_pct, to_pct| Limit {
        window_ms: 168 * HOUR_MS,
        shift_ms: shift * HOUR_MS,
        from_pct,
        to_pct,
    };
    match has_status_line(agent) {
        true => (five_hours(0, 9, 78), week(30, 4, 71)),
        false => (five_hours(2, 3, 46), week(90, 2, 38)),
    }
}

/// Puts the limits of a moment where the client of this agent tells them.
pub(crate) fn tell_limits(agent: Agent, event: &mut Value, at_ms: i64) {
    let (short, long) = limits(agent);
    let ((short_pct, short_ends), (long_pct, long_ends)) = (short.at(at_ms), long.at(at_ms));
    match has_status_line(agent) {
        true => {
            if let Some(line) = event.as_object_mut() {
                line.entry("rate_limits").or_insert_with(|| {
                    json!({
                        "five_hour": {"used_percentage": short_pct, "resets_at": short_ends},
                        "seven_day": {"used_percentage": long_pct, "resets_at": long_ends},
                    })
                });
            }
        }
        false => {
            let Some(limits) = event.pointer_mut("/payload/rate_limits").and_then(Value::as_object_mut)
            else {
                return;
            };
            if limits.get("primary").is_some_and(Value::is_null) {
                limits.insert(
                    "primary".to_owned(),
                    json!({"used_percent": short_pct, "window_minutes": 300, "resets_at": short_ends}),
                );
                limits.insert(
                    "secondary".to_owned(),
                    json!({"used_percent": long_pct, "window_minutes": 10_080, "resets_at": long_ends}),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_900_000_000_000;

    fn claude(at_ms: i64) -> Value {
        let mut line = json!({"session_id": "s"});
        tell_limits(Agent::CLAUDE_CODE, &mut line, at_ms);
        line
    }

    #[test]
    fn a_status_line_tells_both_windows_and_when_they_end() {
        let line = claude(NOW);
        for window in ["five_hour", "seven_day"] {
            let used = line["rate_limits"][window]["used_percentage"].as_i64().expect("used");
            let ends = line["rate_limits"][window]["resets_at"].as_i64().expect("an end");
            assert!((1..100).contains(&used), "{line}");
            assert!(ends * 1000 > NOW && ends * 1000 <= NOW + 168 * HOUR_MS, "{line}");
        }
    }

    #[test]
    fn use_only_grows_until_the_window_ends() {
        let ends = |line: &Value| line["rate_limits"]["five_hour"]["resets_at"].as_i64();
        let used = |line: &Value| line["rate_limits"]["five_hour"]["used_percentage"].as_i64();
        let lines: Vec<Value> = (0..600).map(|minute| claude(NOW + minute * 60_000)).collect();
        for pair in lines.windows(2) {
            assert!(ends(&pair[0]) != ends(&pair[1]) || used(&pair[0]) <= used(&pair[1]), "{pair:?}");
        }
        assert!(lines.iter().map(ends).collect::<std::collections::HashSet<_>>().len() >= 2);
    }

    #[test]
    fn a_rollout_without_limits_gets_them_and_every_other_line_stays() {
        let mut row = json!({"payload": {"type": "token_count", "rate_limits": {"limit_id": "codex", "primary": null, "secondary": null}}});
        tell_limits(Agent::CODEX, &mut row, NOW);
        assert_eq!(row["payload"]["rate_limits"]["primary"]["window_minutes"], 300);
        assert_eq!(row["payload"]["rate_limits"]["secondary"]["window_minutes"], 10_080);
        for other in [
            json!({"payload": {"type": "message"}}),
            json!({"payload": {"rate_limits": {"primary": {"used_percent": 80}}}}),
            json!({"payload": {"rate_limits": null}}),
            json!(["not an object"]),
        ] {
            let mut event = other.clone();
            tell_limits(Agent::CODEX, &mut event, NOW);
            assert_eq!(event, other);
        }
    }

    #[test]
    fn a_limit_that_was_recorded_stays() {
        let mut line = json!({"rate_limits": {"five_hour": {"used_percentage": 99}}});
        let before = line.clone();
        tell_limits(Agent::CLAUDE_CODE, &mut line, NOW);
        assert_eq!(line, before);
    }
}
