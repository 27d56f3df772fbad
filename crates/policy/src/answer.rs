//! Says a verdict as each agent understands it.
//!
//! Nothing to say is no output at all: plain text on standard output becomes context for the model at some events, and
//! an empty object is noise. By which output a decision goes out is not decided here: [`crate::legality`] knows.

use agent_tracer_event::Agent;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::decide::{Outcome, Verdict};
use crate::legality::{self, AnswerForm};
use crate::words::{Decision, Event};

/// Longest text that is handed to an agent, in characters.
const CHARS_MAX: usize = 10_000;

/// The output and the exit code of the hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// For standard output: one line of JSON with its line end, or nothing.
    pub stdout: String,
    /// For standard error.
    pub stderr: String,
    /// The exit code: 0, or 2 where the agent reads the decision from it.
    pub exit: u8,
}

impl Answer {
    /// Returns whether the answer is empty.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}

/// Says a verdict to the agent that asked.
#[must_use]
pub fn answer(call: &Call, verdict: &Verdict) -> Answer {
    answer_to(call.agent, call.event, verdict)
}

/// Says a verdict to an agent at an event.
#[must_use]
pub fn answer_to(agent: Agent, event: Event, verdict: &Verdict) -> Answer {
    // The reaction of an agent to an output at an unknown event was never observed.
    if !legality::has_event(agent, event) {
        return Answer::default();
    }
    let call = AnswerContext { agent, event };
    let mut writer = Writer { call, top: Map::new(), specific: Map::new() };
    let decision = verdict.outcome.decision();
    let form = decision.and_then(|decision| legality::answer_form(call.agent, call.event, decision));
    if form == Some(AnswerForm::ExitTwo) {
        return Answer { stderr: text(&verdict.reasons) + "\n", exit: 2, ..Answer::default() };
    }
    if let Some(form) = form {
        writer.decide(form, verdict);
    }
    // A client that takes no context here would drop the warning without a word. The human reads it instead: better
    // than no reader at all.
    let mut messages = verdict.messages.clone();
    match legality::answer_form(call.agent, call.event, Decision::Warn) {
        _ if verdict.context.is_empty() => {}
        Some(AnswerForm::Context) if blocks_prompt(call, verdict) => {}
        Some(AnswerForm::Context) => {
            writer.specific.insert("additionalContext".to_owned(), text(&verdict.context).into());
        }
        _ => messages.extend(verdict.context.iter().cloned()),
    }
    if !messages.is_empty() {
        writer.top.insert("systemMessage".to_owned(), text(&messages).into());
    }
    if verdict.suppress_output && legality::may_suppress(call.agent, call.event) && !writer.is_empty() {
        writer.top.insert("suppressOutput".to_owned(), true.into());
    }
    writer.finish()
}

/// Leaves a call to the human, or refuses it where the agent cannot ask, because the rules could not be held against it.
/// Nothing at an event at which that has no words.
#[must_use]
pub fn answer_unjudged(agent: Agent, event: Event, why: &str) -> Answer {
    let verdict = Verdict { outcome: Outcome::Ask, reasons: vec![why.to_owned()], ..Verdict::silent() };
    answer_to(agent, event, &verdict)
}

/// Returns `true` if the prompt is blocked: one that is not sent takes no context with it.
fn blocks_prompt(call: AnswerContext, verdict: &Verdict) -> bool {
    call.event == Event::UserPromptSubmit && verdict.outcome >= Outcome::Deny
}

/// The agent and the event of a question.
#[derive(Clone, Copy)]
struct AnswerContext {
    agent: Agent,
    event: Event,
}

struct Writer {
    call: AnswerContext,
    top: Map<String, Value>,
    /// The content of `hookSpecificOutput`.
    specific: Map<String, Value>,
}

impl Writer {
    fn is_empty(&self) -> bool {
        self.top.is_empty() && self.specific.is_empty()
    }

    fn decide(&mut self, form: AnswerForm, verdict: &Verdict) {
        let reason = text(&verdict.reasons);
        match form {
            AnswerForm::Permission => {
                let word = match verdict.outcome {
                    Outcome::Allow => "allow",
                    Outcome::Ask => "ask",
                    // A decision that has no word of its own here becomes the stricter one: an answer is never weaker
                    // than its rule.
                    Outcome::Rewrite | Outcome::Silent | Outcome::Deny | Outcome::Stop => "deny",
                };
                self.permission(word, reason);
                if let Some(input) = &verdict.input {
                    self.specific.insert("updatedInput".to_owned(), input.clone());
                }
            }
            AnswerForm::UpdatedInput => {
                self.permission("allow", reason);
                if let Some(input) = &verdict.input {
                    self.specific.insert("updatedInput".to_owned(), input.clone());
                }
            }
            AnswerForm::DenyInstead => {
                let instead = match verdict.outcome {
                    Outcome::Stop => "stop here and tell the user",
                    Outcome::Allow | Outcome::Rewrite | Outcome::Silent | Outcome::Ask | Outcome::Deny => {
                        "ask the user first"
                    }
                };
                // The client cannot carry the wish out, so the model is asked to: the reason says what to do instead.
                let reason = format!("{reason}\n{instead}: this agent cannot be made to from here");
                if self.call.event == Event::PermissionRequest {
                    self.behavior("deny", Some(reason));
                } else {
                    self.permission("deny", reason);
                }
            }
            AnswerForm::Behavior => match verdict.outcome {
                Outcome::Allow => {
                    self.behavior("allow", None);
                    self.permissions(verdict);
                }
                Outcome::Rewrite | Outcome::Silent | Outcome::Ask | Outcome::Deny | Outcome::Stop => {
                    self.behavior("deny", Some(reason));
                }
            },
            AnswerForm::BehaviorWithInput => {
                self.behavior("allow", None);
                if let Some(input) = &verdict.input {
                    self.decision("updatedInput", input.clone());
                }
                self.permissions(verdict);
            }
            AnswerForm::Interrupt => {
                self.behavior("deny", Some(reason));
                self.decision("interrupt", true.into());
            }
            AnswerForm::Block => {
                self.top.insert("decision".to_owned(), "block".into());
                self.top.insert("reason".to_owned(), reason.into());
            }
            AnswerForm::Continue => {
                let stop = verdict.stop_reason.clone().unwrap_or(reason.clone());
                self.top.insert("continue".to_owned(), false.into());
                self.top.insert("stopReason".to_owned(), cut(&stop).into());
                // The turn ends; the call that brought it up must not run either.
                if self.call.event == Event::PreToolUse {
                    self.permission("deny", reason);
                }
            }
            AnswerForm::Context | AnswerForm::SystemMessage | AnswerForm::ExitTwo => {}
        }
    }

    fn permission(&mut self, word: &str, reason: String) {
        self.specific.insert("permissionDecision".to_owned(), word.into());
        self.specific.insert("permissionDecisionReason".to_owned(), reason.into());
    }

    fn behavior(&mut self, word: &str, message: Option<String>) {
        self.decision("behavior", word.into());
        if let Some(message) = message {
            self.decision("message", message.into());
        }
    }

    fn permissions(&mut self, verdict: &Verdict) {
        let may = legality::may_update_permissions(self.call.agent, self.call.event);
        if may && !verdict.permissions.is_empty() {
            self.decision("updatedPermissions", verdict.permissions.clone().into());
        }
    }

    fn decision(&mut self, key: &str, value: Value) {
        let decision = self.specific.entry("decision").or_insert_with(|| json!({}));
        if let Value::Object(decision) = decision {
            decision.insert(key.to_owned(), value);
        }
    }

    fn finish(mut self) -> Answer {
        if !self.specific.is_empty() {
            // Without the name of the event the clients ignore the whole of it.
            let mut specific = Map::new();
            specific.insert("hookEventName".to_owned(), self.call.event.as_str().into());
            specific.extend(self.specific);
            self.top.insert("hookSpecificOutput".to_owned(), specific.into());
        }
        if self.top.is_empty() {
            return Answer::default();
        }
        Answer { stdout: format!("{}\n", Value::Object(self.top)), ..Answer::default() }
    }
}

/// Joins texts into one, each once.
fn text(texts: &[String]) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for text in texts {
        if !lines.contains(&text.as_str()) {
            lines.push(text);
        }
    }
    cut(&lines.join("\n"))
}

fn cut(text: &str) -> String {
    let text = plain(text);
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Removes what a terminal obeys instead of showing: escape sequences, control characters but line ends and tabs, and
/// marks that turn the direction of writing or have no width.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' | '\t' => out.push(letter),
            '\u{1b}' => skip_sequence(&mut letters),
            '\u{9b}' => skip_parameters(&mut letters),
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {}
            // A name of a file or a rule may carry these; what is printed by a hook reaches the user's terminal as it
            // is.
            _ if letter.is_control() => {}
            _ => out.push(letter),
        }
    }
    out
}

type Characters<'t> = std::iter::Peekable<std::str::Chars<'t>>;

/// Skips what follows an escape character.
fn skip_sequence(letters: &mut Characters<'_>) {
    match letters.next_if(|letter| matches!(letter, ' '..='~')) {
        Some('[') => skip_parameters(letters),
        // A text for the terminal itself, such as a title: up to its end, which may be missing.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while letters.next_if(|letter| !letter.is_control()).is_some() {}
        }
        Some(_) | None => {}
    }
}

/// Skips parameters and the letter that ends them.
fn skip_parameters(letters: &mut Characters<'_>) {
    while letters.next_if(|letter| matches!(letter, ' '..='?')).is_some() {}
    letters.next_if(|letter| matches!(letter, '@'..='~'));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_left_out_and_what_it_shows_stays() {
        for (text, expected) in [
            ("a\u{1b}[31;1mred\u{1b}[0m b", "ared b"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link", "link"),
            ("\u{9b}2Jc\u{8}\u{0}d\r\ne\tf", "cd\ne\tf"),
            ("\u{202e}gnp\u{200b}.x\u{feff}", "gnp.x"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("ünï 🙂 [31m", "ünï 🙂 [31m"),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
    }
}
