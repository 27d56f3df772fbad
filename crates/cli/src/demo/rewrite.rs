//! Rewrites a recorded session for the replay: its ids, its times, and the agent's home.
//!
//! Law: pure, and the same for everything of one telling, so that a hook, a transcript and the name of a file still speak
//! of the same thing. A time is whatever lies within a day of the recording; a text that only looks like one stays.

use std::path::Path;

use agent_tracer_event::Agent;
use jiff::Timestamp;
use serde_json::{Map, Number, Value};

use super::recording::Story;

const DAY_MS: i64 = 86_400_000;
/// Characters at the end of an id that are replaced.
const TAIL: usize = 8;

/// One telling of a story.
#[derive(Debug)]
pub(crate) struct Rewrite {
    began_ms: i64,
    starts_ms: i64,
    speed: f64,
    /// Replacements in texts, in this order.
    words: Vec<(String, String)>,
}

impl Rewrite {
    /// Tells a story for the `round`th time, from `starts_ms` on, `speed` times as fast, with the agent's home there.
    pub(crate) fn new(story: &Story, round: i64, starts_ms: i64, speed: f64, agent_home: &Path) -> Rewrite {
        let mut words: Vec<(String, String)> =
            story.ids.iter().map(|id| (id.clone(), renamed(id, round))).collect();
        for agent in Agent::ALL {
            let recorded = format!("/home/dev/{}", agent.spec().home_folder);
            words.push((recorded, agent_home.display().to_string()));
        }
        Rewrite { began_ms: story.began_ms, starts_ms, speed, words }
    }

    /// Returns when, in this telling, something happens that was recorded so many milliseconds after the beginning.
    pub(crate) fn moment_ms(&self, at_ms: i64) -> i64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "hours at most")]
        let scaled = (at_ms as f64 / self.speed).round() as i64;
        self.starts_ms.saturating_add(scaled)
    }

    /// Returns a text with the names of this telling.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (recorded, replacement) in &self.words {
            if text.contains(recorded.as_str()) {
                text = text.replace(recorded.as_str(), replacement);
            }
        }
        text
    }

    /// Returns what was recorded, with the names and times of this telling.
    pub(crate) fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.stamp(text).unwrap_or_else(|| self.text(text))),
            Value::Number(number) => self.point(number).map_or_else(|| value.clone(), Value::Number),
            Value::Array(values) => Value::Array(values.iter().map(|value| self.value(value)).collect()),
            Value::Object(fields) => {
                Value::Object(fields.iter().map(|(key, value)| self.field(key, value)).collect())
            }
            Value::Null | Value::Bool(_) => value.clone(),
        }
    }

    fn field(&self, key: &str, value: &Value) -> (String, Value) {
        let scaled = if key.to_ascii_lowercase().contains("duration") { self.span(value) } else { None };
        (self.text(key), scaled.unwrap_or_else(|| self.value(value)))
    }

    /// A time in words, if it belongs to the recording.
    fn stamp(&self, text: &str) -> Option<String> {
        if !text.starts_with("20") {
            return None;
        }
        let at_ms = text.parse::<Timestamp>().ok()?.as_millisecond() - self.began_ms;
        let scaled = Timestamp::from_millisecond(self.moment_ms(at_ms)).ok()?;
        (at_ms.abs() < DAY_MS).then(|| format!("{scaled:.3}"))
    }

    /// A time as seconds or milliseconds since 1970, if it belongs to the recording.
    fn point(&self, number: &Number) -> Option<Number> {
        let value = number.as_i64()?;
        let unit = [1, 1000]
            .into_iter()
            .find(|unit| (value.saturating_mul(*unit) - self.began_ms).abs() < DAY_MS)?;
        Some((self.moment_ms(value * unit - self.began_ms) / unit).into())
    }

    /// Scales a duration: a number, or seconds and nanoseconds.
    fn span(&self, value: &Value) -> Option<Value> {
        let shorter = |number: &Number| {
            let scaled = number.as_f64()? / self.speed;
            #[expect(clippy::cast_possible_truncation, reason = "rounded on purpose")]
            let whole = scaled.round() as i64;
            if number.is_f64() { Number::from_f64(scaled) } else { Some(whole.into()) }
        };
        match value {
            Value::Number(number) => shorter(number).map(Value::Number),
            Value::Object(parts) if parts.contains_key("secs") => {
                let part = |name: &str| parts.get(name).and_then(Value::as_f64).unwrap_or_default();
                let scaled = (part("secs") + part("nanos") / 1e9) / self.speed;
                let mut fields = Map::new();
                #[expect(clippy::cast_possible_truncation, reason = "rounded on purpose")]
                fields.insert("secs".to_owned(), (scaled.trunc() as i64).into());
                #[expect(clippy::cast_possible_truncation, reason = "rounded on purpose")]
                fields.insert("nanos".to_owned(), ((scaled.fract() * 1e9) as i64).into());
                Some(Value::Object(fields))
            }
            _ => None,
        }
    }
}

/// An id of the same shape that no other round has.
fn renamed(id: &str, round: i64) -> String {
    // FNV-1a: the same id gets the same name wherever it occurs, without a table of random ones.
    let mut hash: u32 = 0x811c_9dc5;
    for byte in id.bytes().chain(round.to_le_bytes()) {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    let kept: String = id.chars().take(id.chars().count().saturating_sub(TAIL)).collect();
    format!("{kept}{hash:08x}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::json;

    use super::*;
    use crate::demo::stories;

    const STARTS: i64 = 1_900_000_000_000;

    fn story() -> Story {
        let ids = ["01234567-89ab-4cde-8f01-23456789abcd", "toolu_0123456789abcdef01234567"];
        Story {
            name: "one".to_owned(),
            agent: Agent::CLAUDE_CODE,
            began_ms: 1_800_000_000_000,
            ids: ids.map(str::to_owned).to_vec(),
            scenes: Vec::new(),
        }
    }

    fn rewrite(speed: f64, round: i64) -> Rewrite {
        Rewrite::new(&story(), round, STARTS, speed, Path::new("/tmp/demo/claude"))
    }

    #[test]
    fn times_of_the_recording_move_and_others_stay() {
        let recorded = json!({
            "timestamp": "2027-01-15T08:00:10.000Z",
            "started_at": 1_800_000_020,
            "at": 1_800_000_030_000_i64,
            "commit": "2026-01-01T12:00:00Z",
            "text": "2027-01-15T08:00:10.000Z is when it was",
            "bytes": 1_800_000,
        });
        let expected = json!({
            "timestamp": "2030-03-17T17:46:45.000Z",
            "started_at": 1_900_000_010,
            "at": 1_900_000_015_000_i64,
            "commit": "2026-01-01T12:00:00Z",
            "text": "2027-01-15T08:00:10.000Z is when it was",
            "bytes": 1_800_000,
        });
        assert_eq!(rewrite(2.0, 1).value(&recorded), expected);
    }

    #[test]
    fn durations_shrink_with_the_speed() {
        let recorded = json!({"duration_ms": 400, "durationMs": 3, "duration": {"secs": 3, "nanos": 0}, "total_duration_ms": 1.5, "duration_text": "4 s"});
        let expected = json!({"duration_ms": 100, "durationMs": 1, "duration": {"secs": 0, "nanos": 750_000_000}, "total_duration_ms": 0.375, "duration_text": "4 s"});
        assert_eq!(rewrite(4.0, 1).value(&recorded), expected);
    }

    #[test]
    fn an_id_keeps_its_shape_and_is_the_same_everywhere_in_a_round_and_new_in_the_next() {
        let recorded = json!({
            "session_id": "01234567-89ab-4cde-8f01-23456789abcd",
            "transcript_path": "/home/dev/.claude/projects/-home-dev-orchard/01234567-89ab-4cde-8f01-23456789abcd.jsonl",
        });
        let (one, two) = (rewrite(1.0, 1).value(&recorded), rewrite(1.0, 2).value(&recorded));
        let id = one["session_id"].as_str().expect("an id");
        assert_eq!(id.len(), 36);
        assert_ne!(id, "01234567-89ab-4cde-8f01-23456789abcd");
        assert_eq!(one["transcript_path"], format!("/tmp/demo/claude/projects/-home-dev-orchard/{id}.jsonl"));
        assert_ne!(one["session_id"], two["session_id"]);
    }

    #[test]
    fn no_two_ids_of_the_stories_become_one_in_many_rounds() {
        let mut seen = HashSet::new();
        for story in stories().expect("stories") {
            for round in -14..50 {
                for id in &story.ids {
                    assert!(seen.insert(renamed(id, round)), "{id} in round {round}");
                }
            }
        }
    }
}
