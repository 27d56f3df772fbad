//! One text has many spellings in JSON. What is kept of it must not depend on which one an agent chose.

use agent_tracer_agent::Agent;
use agent_tracer_privacy::{Level, Source, mask};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::corpus::secrets;
use crate::fixtures::{reduced, variants};
use crate::properties::{cases, level, payload, soup, source};

/// Draws how each character is spelled.
#[derive(Debug)]
struct Pen {
    state: u64,
    /// Of how many characters one is escaped that need not be.
    every: u64,
}

impl Pen {
    fn draw(&mut self, below: u64) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % below
    }

    /// The spelling of a whole document.
    fn document(&mut self, value: &Value, out: &mut String) {
        match value {
            Value::String(text) => self.text(text, out),
            Value::Array(items) => {
                out.push('[');
                for (number, item) in items.iter().enumerate() {
                    out.push_str(if number == 0 { "" } else { "," });
                    self.document(item, out);
                }
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                for (number, (name, member)) in members.iter().enumerate() {
                    out.push_str(if number == 0 { "" } else { "," });
                    self.text(name, out);
                    out.push(':');
                    self.document(member, out);
                }
                out.push('}');
            }
            other => out.push_str(&other.to_string()),
        }
    }

    fn text(&mut self, text: &str, out: &mut String) {
        out.push('"');
        for character in text.chars() {
            let must = matches!(character, '"' | '\\' | '\0'..='\u{1f}');
            if must || self.draw(self.every) == 0 {
                self.escape(character, out);
            } else {
                out.push(character);
            }
        }
        out.push('"');
    }

    fn escape(&mut self, character: char, out: &mut String) {
        let short = match character {
            '"' => "\\\"",
            '\\' => "\\\\",
            '/' => "\\/",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            _ => "",
        };
        if !short.is_empty() && self.draw(2) == 0 {
            out.push_str(short);
            return;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let spelled = if self.draw(2) == 0 { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") };
            out.push_str(&spelled);
        }
    }
}

fn pen() -> impl Strategy<Value = Pen> {
    (any::<u64>(), prop::sample::select(vec![1, 2, 5, 30, 1000]))
        .prop_map(|(state, every)| Pen { state, every })
}

/// A payload with `text` in a string of every kind.
fn everywhere(text: &str) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "prompt": text, "message": text, "reason": text,
        "tool_input": {
            "command": text, "description": text, "content": text, "file_path": text, "env": {"A": text, "list": [text, text]},
            "args": ["--flag", text], "unknown": {"name": "x", "value": text},
        },
        "list": [text], text: "a name",
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_secret_is_masked_whichever_of_its_characters_are_escaped(
        number in any::<prop::sample::Index>(), before in "[ -~]{0,40}", mut pen in pen(),
    ) {
        let all = secrets();
        let secret = number.get(&all);
        let payload = everywhere(&secret.text);
        let mut spelled = String::new();
        pen.document(&payload, &mut spelled);
        let plain = reduced(&payload.to_string(), Source::Hook(Agent::CLAUDE_CODE), Level::Actions);
        prop_assert_eq!(reduced(&spelled, Source::Hook(Agent::CLAUDE_CODE), Level::Actions), plain, "{}", spelled);
        // Whatever stands before it moves it to another place of a block.
        let text = format!("{before}\n{}", secret.text);
        prop_assume!(!text.contains("<task-notification") && !text.starts_with("data:"));
        let mut spelled = String::new();
        pen.document(&json!({"prompt": text}), &mut spelled);
        let kept = reduced(&spelled, Source::Hook(Agent::CLAUDE_CODE), Level::Actions);
        prop_assert_eq!(kept["prompt"].as_str().expect("a prompt"), mask(&text), "{}", spelled);
    }

    #[test]
    fn the_reduction_of_a_payload_does_not_depend_on_its_spelling(
        payload in payload(), mut pen in pen(), level in level(), source in source(),
    ) {
        let mut spelled = String::new();
        pen.document(&payload, &mut spelled);
        prop_assert_eq!(serde_json::from_str::<Value>(&spelled).expect("JSON"), payload.clone());
        prop_assert_eq!(reduced(&spelled, source, level), reduced(&payload.to_string(), source, level), "{}", spelled);
    }

    #[test]
    fn the_reduction_of_a_captured_payload_does_not_depend_on_its_spelling(
        number in any::<prop::sample::Index>(), mut pen in pen(), level in level(),
    ) {
        static CASES: std::sync::LazyLock<Vec<crate::fixtures::Case>> = std::sync::LazyLock::new(variants);
        let case = number.get(&CASES);
        let mut spelled = String::new();
        pen.document(&case.payload, &mut spelled);
        let plain = reduced(&case.payload.to_string(), case.source, level);
        prop_assert_eq!(reduced(&spelled, case.source, level), plain, "{}", case.name);
    }

    #[test]
    fn words_around_secrets_are_masked_the_same_in_every_spelling(text in soup(), mut pen in pen()) {
        let payload = everywhere(&text);
        let mut spelled = String::new();
        pen.document(&payload, &mut spelled);
        let plain = reduced(&payload.to_string(), Source::Hook(Agent::CLAUDE_CODE), Level::Actions);
        prop_assert_eq!(reduced(&spelled, Source::Hook(Agent::CLAUDE_CODE), Level::Actions), plain, "{}", spelled);
    }
}
