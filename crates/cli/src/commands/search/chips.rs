//! The language of searches: `tool:Bash state:failed >10s cargo`, the same as in the dashboard.
//!
//! A word without a known meaning is searched for, so that text with colons can be searched too. A known key with an
//! invalid value (`state:borken`) is an error: no hits would hide it.

use agent_tracer_event::{Agent, CallState, Kind};

use crate::failure::Failure;
use crate::output::one_line;

/// Holds the parts of a search.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Chips {
    pub(super) words: String,
    pub(super) tool: Option<String>,
    pub(super) state: Option<CallState>,
    pub(super) kind: Option<Kind>,
    pub(super) longer_than_ms: Option<u64>,
    pub(super) task: Option<String>,
    pub(super) project: Option<String>,
    pub(super) agent: Option<Agent>,
    pub(super) agent_type: Option<String>,
    pub(super) since: Option<String>,
    pub(super) until: Option<String>,
}

impl Chips {
    /// Reads the arguments of a search. A shell has cut them; quotes that are left belong to the search.
    pub(super) fn of(arguments: &[String]) -> Result<Chips, Failure> {
        let mut chips = Chips::default();
        let mut words: Vec<String> = Vec::new();
        for piece in arguments.iter().flat_map(|argument| pieces(argument)) {
            if !chips.take(&piece)? {
                let word = piece.replace('"', "");
                if !word.is_empty() {
                    words.push(word);
                }
            }
        }
        chips.words = words.join(" ");
        Ok(chips)
    }

    /// Takes a piece that has a meaning; tells whether it has one.
    fn take(&mut self, piece: &str) -> Result<bool, Failure> {
        if let Some(text) = piece.strip_prefix('>') {
            return Ok(match milliseconds(text) {
                Some(ms) => {
                    self.longer_than_ms = Some(ms);
                    true
                }
                // Not a duration: `>` may be part of the text that is searched.
                None => false,
            });
        }
        let Some((name, value)) = piece.split_once(':') else { return Ok(false) };
        let value = value.replace('"', "");
        // A word with a colon at its end is text.
        if value.is_empty() {
            return Ok(false);
        }
        match name {
            "tool" => self.tool = Some(value),
            "state" | "status" => {
                self.state =
                    Some(CallState::parse(&value).ok_or_else(|| {
                        wrong(name, &value, CallState::ALL.iter().map(|state| state.as_str()))
                    })?);
            }
            "kind" => {
                self.kind = Some(Kind::parse(&value).ok_or_else(|| {
                    let near = Kind::ALL.iter().map(|kind| kind.as_str());
                    let alike: Vec<&str> = near.clone().filter(|kind| kind.contains(&value)).collect();
                    if alike.is_empty() { wrong(name, &value, near) } else { wrong(name, &value, alike) }
                })?);
            }
            "client" => {
                self.agent =
                    Some(Agent::from_any_spelling(&value).ok_or_else(|| {
                        wrong(name, &value, Agent::ALL.iter().map(|agent| agent.spec().word))
                    })?);
            }
            "agent" | "type" => match Agent::from_any_spelling(&value) {
                // The word of an agent means the product, not a subagent of that name.
                Some(agent) => self.agent = Some(agent),
                None => self.agent_type = Some(value),
            },
            "project" => self.project = Some(value),
            "task" => self.task = Some(value),
            "since" => self.since = Some(value),
            "until" => self.until = Some(value),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn wrong<'a>(name: &str, value: &str, known: impl IntoIterator<Item = &'a str>) -> Failure {
    let known: Vec<String> = known.into_iter().map(|word| format!("`{word}`")).collect();
    Failure::usage(format!("unknown {name} `{}`", one_line(value)))
        .hint(format!("known: {}", known.join(", ")))
        .hint(format!("to search for the text itself, quote it: '\"{name}:{}\"'", one_line(value)))
}

/// Cuts at blanks, but not inside quotes.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut is_quoted = false;
    for character in text.chars() {
        // Quotes may begin inside of a word: `tool:"my tool"` is one piece.
        is_quoted ^= character == '"';
        if character.is_whitespace() && !is_quoted {
            pieces.push(String::new());
        } else if let Some(piece) = pieces.last_mut() {
            piece.push(character);
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Reads `500ms`, `10s`, `1.5m`, `2min`, `1h`.
fn milliseconds(text: &str) -> Option<u64> {
    let digits = text.find(|character: char| !character.is_ascii_digit() && character != '.')?;
    let (number, unit) = text.split_at_checked(digits)?;
    let factor = match unit {
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    Some((number * factor).round() as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(arguments: &[&str]) -> Chips {
        Chips::of(&arguments.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).expect("understood")
    }

    #[test]
    fn words_with_a_meaning_differ_from_words() {
        let expected = Chips {
            words: "cargo http://x te".to_owned(),
            tool: Some("Bash".to_owned()),
            state: Some(CallState::Failed),
            longer_than_ms: Some(10_000),
            ..Chips::default()
        };
        assert_eq!(read(&["tool:Bash", "status:failed", ">10s", "cargo", "http://x", "te"]), expected);
        assert_eq!(read(&["tool:Bash state:failed >10s cargo http://x te"]), expected);
        assert_eq!(
            read(&["project:\"my shop\"", "agent:Explore", "client:codex"]),
            Chips {
                project: Some("my shop".to_owned()),
                agent_type: Some("Explore".to_owned()),
                agent: Some(Agent::CODEX),
                ..Chips::default()
            }
        );
    }

    #[test]
    fn quoted_and_unknown_keys_stay_words() {
        assert_eq!(read(&["\"tool:Bash\""]).words, "tool:Bash");
        assert_eq!(read(&["a:b", "tool:", ">x", "> 5", "-v"]).words, "a:b tool: >x > 5 -v");
    }

    #[test]
    fn a_meaning_that_cannot_be_meant_is_said() {
        for (text, known) in [
            ("state:borken", "`failed`"),
            ("kind:tool", "`"),
            ("client:vim", "`claude`"),
            ("kind:zzz", "`user.message`"),
        ] {
            let refused = Chips::of(&[text.to_owned()]).expect_err(text).to_string();
            assert!(refused.contains(known) && refused.contains("hint: "), "{refused}");
        }
    }

    #[test]
    fn times_are_read() {
        for (text, ms) in
            [("500ms", 500), ("10s", 10_000), ("1.5m", 90_000), ("2min", 120_000), ("1h", 3_600_000)]
        {
            assert_eq!(milliseconds(text), Some(ms), "{text}");
        }
        for text in ["", "s", "10", "1.2.3s", "10 s", "10d", ".s"] {
            assert_eq!(milliseconds(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,80}") {
            drop(Chips::of(&[text]));
        }
    }
}
