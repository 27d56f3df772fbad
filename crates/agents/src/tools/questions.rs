//! Questions to the human.
//!
//! The questions are in the input; whether and how they were answered is only counted, never quoted, below level
//! `full`.

use agent_tracer_event::semantics::{Importance, SubtypeKey};
use agent_tracer_event::{CallState, Entry, Kind, Lane, attributes};
use serde_json::{Map, Value};

use super::Meaning;
use super::input::{Input, integer};
use super::row::{PLAN, Row};
use crate::text::{cut, line};

pub(super) const TABLE: &[Row] = &[
    Row {
        names: &["AskUserQuestion", "request_user_input"],
        kind: Kind::QuestionLogged,
        lane: Lane::Questions,
        subtype: SubtypeKey::Question,
        operation: "ask",
        title: |input| {
            let asked = question_inputs(input);
            let more = match asked.len() {
                0 | 1 => String::new(),
                all => format!(" (and {} more)", all - 1),
            };
            match asked.first().and_then(|one| one.text(&["question", "header"])) {
                Some(question) => format!("Ask: {}{more}", line(question, 90)),
                None => "Ask the user".to_owned(),
            }
        },
        also: Some(questions),
        ..PLAN
    },
    Row {
        names: &["request_permissions"],
        kind: Kind::QuestionLogged,
        lane: Lane::Questions,
        subtype: SubtypeKey::Question,
        label: Some("Ask for permissions"),
        operation: "ask",
        importance: Importance::Normal,
        body: &["reason", "justification"],
        title: |input| match input.text(&["reason", "justification"]) {
            Some(why) => format!("Ask for permissions: {}", line(why, 80)),
            None => "Ask for permissions".to_owned(),
        },
        ..PLAN
    },
];

/// Writes what became of a question whose call has ended, where its input does not hold the answers.
pub(crate) fn settle_question(entry: &mut Entry) {
    let phase = match entry.state {
        Some(CallState::Succeeded) => "answered",
        Some(CallState::Denied) => "declined",
        Some(CallState::Interrupted | CallState::Abandoned) => "cancelled",
        Some(CallState::Running | CallState::Failed) | None => return,
    };
    entry.metadata.insert(attributes::QUESTION_PHASE.to_owned(), Value::from(phase));
}

/// Returns the questions, from the list that the clients send or the single question of older documents.
fn question_inputs<'a>(input: &Input<'a>) -> Vec<Input<'a>> {
    match input.list(&["questions"]) {
        Some(list) => list.iter().take(20).map(|question| input.inside(question)).collect(),
        None if input.get(&["question"]).is_some() => vec![*input],
        None => Vec::new(),
    }
}

fn questions(input: &Input<'_>, meaning: &mut Meaning) {
    let asked = question_inputs(input);
    let mut kept = Vec::new();
    let mut body = Vec::new();
    for one in &asked {
        let options = one.list(&["options"]).unwrap_or_default().iter().take(20);
        let labels: Vec<String> = options
            .filter_map(|option| option.as_str().or_else(|| one.inside(option).text(&["label", "value"])))
            .map(|label| line(label, 200))
            .collect();
        let mut question = Map::new();
        for (keys, name) in
            [(&["question"][..], "question"), (&["header"][..], "header"), (&["id"][..], "id")]
        {
            if let Some(text) = one.text(keys) {
                question.insert(name.to_owned(), Value::from(cut(text, 1000).as_ref()));
            }
        }
        if !labels.is_empty() {
            question.insert("options".to_owned(), Value::from(labels.clone()));
        }
        if let Some(several) = one.flag(&["multiSelect"]) {
            question.insert("multiSelect".to_owned(), Value::from(several));
        }
        if let Some(text) = one.text(&["question"]) {
            let choice =
                if labels.is_empty() { String::new() } else { format!("\n- {}", labels.join("\n- ")) };
            body.push(format!("{text}{choice}"));
        }
        kept.push(Value::Object(question));
    }
    if let [only] = kept.as_slice()
        && let Some(options) = only.get("options")
    {
        meaning.metadata.insert(attributes::OPTIONS.to_owned(), options.clone());
    }
    meaning.metadata.insert(attributes::QUESTION_COUNT.to_owned(), Value::from(kept.len()));
    if !kept.is_empty() {
        meaning.metadata.insert(attributes::QUESTIONS.to_owned(), Value::Array(kept));
    }
    // Answers stand in the input of a call that has returned, as they were given or as privacy counted them.
    let answers = input.get(&["answers"]).and_then(|answers| match answers {
        Value::Object(members) => {
            members.get("count").and_then(integer).or_else(|| i64::try_from(members.len()).ok())
        }
        Value::Array(items) => i64::try_from(items.len()).ok(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    });
    let phase = if answers.is_some() { "answered" } else { "asked" };
    if let Some(answers) = answers {
        meaning.metadata.insert(attributes::ANSWER_COUNT.to_owned(), Value::from(answers));
    }
    meaning.metadata.insert(attributes::QUESTION_PHASE.to_owned(), Value::from(phase));
    if !body.is_empty() {
        meaning.body = Some(cut(&body.join("\n\n"), super::sanitise::TEXT_CHARS).into_owned());
    }
}
