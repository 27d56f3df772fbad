//! Derives the meaning of a posted event: its own words where it has them, the tables of the agents where it has none.

use agent_tracer_agents::tools::{self, Call, Place, outcome};
use agent_tracer_event::{
    Agent, CallState, Entry, Kind, Lane, Millis, Phase, Tokens, Unrecognised, attributes,
};
use serde_json::{Map, Value, json};

use super::passage::ReducedRecord;

/// The most characters of a short text, of a path, and of a long text.
const WORD_CHARS: usize = 200;
const PATH_CHARS: usize = 1024;
const BODY_CHARS: usize = 100_000;

/// Members that may hold the result of a call, after privacy.
const RESULTS: &[&str] = &[
    "tool_response",
    "toolResponse",
    "tool_output",
    "toolOutput",
    "tool_result",
    "toolResult",
    "toolUseResult",
    "tool_use_result",
    "result",
    "results",
    "response",
    "output",
    "stdout",
    "stderr",
];

/// Returns whether events of this kind describe a tool call.
pub(super) fn is_call(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::ToolUsed
            | Kind::TerminalCommand
            | Kind::MonitorObserved
            | Kind::AgentActivityLogged
            | Kind::PlanLogged
            | Kind::QuestionLogged
            | Kind::TodoLogged
            | Kind::WorktreeCreate
            | Kind::WorktreeRemove
    )
}

/// Returns the tool that a record names. A command without one was run in a shell.
pub(super) fn tool_name(kind: Kind, metadata: &Map<String, Value>) -> Option<String> {
    let names = [attributes::TOOL_NAME, "tool_name", attributes::SOURCE_TOOL];
    let named = names.iter().find_map(|name| metadata.get(*name)?.as_str()).filter(|name| !name.is_empty());
    let shell = (kind == Kind::TerminalCommand).then_some("Bash");
    named.or(shell).map(|name| cut(name, WORD_CHARS))
}

/// Returns the input of the tool, from members that name it apart where there is no input.
pub(super) fn tool_input(metadata: &Map<String, Value>, file_paths: &[String]) -> Option<Value> {
    for name in [attributes::TOOL_INPUT, "tool_input"] {
        if let Some(input) = metadata.get(name).filter(|input| !input.is_null()) {
            return Some(input.clone());
        }
    }
    if let Some(command) =
        metadata.get(attributes::COMMAND).filter(|command| command.is_string() || command.is_array())
    {
        return Some(json!({ "command": command }));
    }
    file_paths.first().map(|path| json!({ "file_path": path }))
}

/// Writes all that a record says into its entry. Returns the names of declared members whose values have another type:
/// they are kept out of the metadata, because answers of the query API promise the declared types.
pub(super) fn write(
    entry: &mut Entry,
    agent: Agent,
    kind: Kind,
    tool: Option<&str>,
    lane: Option<Lane>,
    passed: ReducedRecord,
) -> Vec<String> {
    let ReducedRecord { title, body, file_paths, tool_input, mut metadata, .. } = passed;
    let mut derived_lane = None;
    if let (true, Some(tool)) = (is_call(kind), tool) {
        entry.tool_name = Some(tool.to_owned());
        let cwd = metadata.get(attributes::CWD).and_then(Value::as_str).map(str::to_owned);
        let input = tool_input.unwrap_or(Value::Null);
        let meaning = tools::understand(&Call {
            agent,
            tool,
            input: &input,
            place: Place { cwd: cwd.as_deref(), project: None },
        });
        derived_lane = Some(meaning.lane);
        meaning.write(entry);
        close(entry, kind, &mut metadata);
    } else if let Some(input) = tool_input {
        entry.metadata.insert(attributes::TOOL_INPUT.to_owned(), tools::sanitise(&input));
    }
    // The sender's word is the last: tables fill in what it did not say.
    entry.subject = agent_tracer_event::Subject::Event(kind);
    entry.lane = lane.or(derived_lane);
    if let Some(title) = title {
        entry.title = Some(line(&title));
    }
    if let Some(body) = body {
        entry.body = Some(cut(&body, BODY_CHARS));
    }
    if !file_paths.is_empty() {
        entry.file_paths = file_paths.iter().map(|path| cut(path, PATH_CHARS)).collect();
    }
    take_ids(entry, &metadata);
    if kind == Kind::TokenUsage {
        usage(entry, &metadata);
    }
    let mut refused = Vec::new();
    for (name, value) in metadata {
        // Also what privacy made of a text, such as the lengths of a result.
        if attributes::value_type(&name).is_some_and(|declared| !declared.admits(&value)) {
            refused.push(name);
            continue;
        }
        let value = if name == attributes::COMMAND_ANALYSIS { value } else { tools::sanitise(&value) };
        entry.metadata.insert(name, value);
    }
    refused
}

/// Returns the declared members that were posted with another type, each as it is counted: with the type, because the
/// value may be private. A null stands for no value and is not counted.
pub(super) fn mistyped(metadata: &Map<String, Value>) -> Vec<(String, Unrecognised)> {
    let mut mistyped = Vec::new();
    for (name, value) in metadata {
        let actual = match value {
            Value::Null => continue,
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "list",
            Value::Object(_) => "object",
        };
        if attributes::value_type(name).is_some_and(|declared| !declared.admits(value)) {
            // A prefix may be followed by any text; a declared key is short.
            let key = attributes::find_prefix(name).map_or(name.as_str(), |prefix| prefix.prefix);
            mistyped.push((name.clone(), Unrecognised::Value(format!("{key}={actual}"))));
        }
    }
    mistyped
}

/// Returns the outcome of a call: a posted call is over unless the sender says otherwise.
fn close(entry: &mut Entry, kind: Kind, metadata: &mut Map<String, Value>) {
    // Taken out of the metadata: privacy reduced it to quantities, which the outcome has under their own keys.
    let result = RESULTS
        .iter()
        .filter_map(|name| metadata.remove(*name))
        .fold(None, |first, next| first.or(Some(next)));
    let mut ended = outcome::returned(&result.unwrap_or(Value::Null));
    let failed = metadata.get(attributes::SUCCESS) == Some(&Value::Bool(false))
        || metadata.get(attributes::IS_ERROR) == Some(&Value::Bool(true))
        || metadata.get(attributes::EXIT_CODE).and_then(Value::as_i64).is_some_and(|code| code != 0)
        || metadata.contains_key(attributes::ERROR_CLASS)
        || metadata.get(attributes::ERROR).is_some_and(|error| !error.is_null());
    if failed && ended.state == CallState::Succeeded {
        let error = metadata.remove(attributes::ERROR).unwrap_or(Value::Null);
        let mut failure = outcome::failed(&error, false);
        if metadata.get(attributes::EXIT_CODE).is_some() && error.is_null() {
            failure.error_class = Some(agent_tracer_event::ErrorClass::NonZeroExit);
            failure.metadata.insert(attributes::ERROR_CLASS.to_owned(), Value::from("non_zero_exit"));
        }
        failure.metadata.extend(ended.metadata);
        ended = failure;
    }
    let given = metadata.get("state").and_then(Value::as_str).and_then(CallState::parse);
    let asks = kind == Kind::QuestionLogged && metadata.get(attributes::QUESTION_PHASE).is_some();
    entry.state = given.or_else(|| (!asks).then_some(ended.state));
    entry.metadata.extend(ended.metadata);
    if entry.state == Some(CallState::Running) {
        entry.phase = Phase::Open;
        return;
    }
    entry.phase = Phase::Close;
    let took = metadata.get(attributes::DURATION_MS).and_then(Value::as_i64).filter(|took| *took >= 0);
    entry.ended_at = Some(Millis(entry.occurred_at.0.saturating_add(took.unwrap_or(0))));
    if took.is_some() && !metadata.contains_key(attributes::DURATION_SOURCE) {
        metadata.insert(attributes::DURATION_SOURCE.to_owned(), Value::from("agent"));
    }
}

/// Copies the ids that have a field of their own in an entry.
fn take_ids(entry: &mut Entry, metadata: &Map<String, Value>) {
    let word = |names: &[&str]| {
        let found =
            names.iter().find_map(|name| metadata.get(*name)?.as_str()).filter(|text| !text.is_empty());
        found.map(|text| cut(text, WORD_CHARS))
    };
    entry.tool_use_id = word(&[attributes::TOOL_USE_ID, "tool_use_id"]);
    entry.turn = word(&[attributes::PROMPT_ID, "turnId"]);
    entry.agent_id = word(&[attributes::AGENT_ID, "agent_id"]);
    entry.agent_type = word(&[attributes::AGENT_TYPE, "agent_type"]);
    entry.hook_event_name = word(&["hookEventName"]);
}

/// Writes the tokens, wherever the sender put them.
fn usage(entry: &mut Entry, metadata: &Map<String, Value>) {
    let inside = metadata.get(Tokens::KEY).and_then(Value::as_object);
    let count = |names: &[&str]| {
        names.iter().find_map(|name| {
            let value = inside.and_then(|inside| inside.get(*name)).or_else(|| metadata.get(*name))?;
            value.as_u64()
        })
    };
    let usage = Tokens {
        input: count(&["inputTokens", "input_tokens"]).unwrap_or(0),
        output: count(&["outputTokens", "output_tokens"]).unwrap_or(0),
        cache_read: count(&["cacheReadTokens", "cacheReadInputTokens", "cache_read_input_tokens"])
            .unwrap_or(0),
        cache_write: count(&[
            "cacheCreationTokens",
            "cacheCreateTokens",
            "cacheCreationInputTokens",
            "cache_creation_input_tokens",
        ])
        .unwrap_or(0),
        reasoning: count(&["reasoningTokens"]),
    };
    if usage.total() > 0 {
        usage.write(&mut entry.metadata);
    }
}

/// Returns the first characters of a text.
pub(super) fn cut(text: &str, most: usize) -> String {
    let end = if text.len() <= most { None } else { text.char_indices().nth(most) };
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text).to_owned()
}

/// Returns a text on one line, short enough for a row.
pub(super) fn line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&text, WORD_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_after_its_characters_and_not_its_bytes() {
        let table = [
            ("", 0, ""),
            ("abc", 3, "abc"),
            ("abc", 2, "ab"),
            ("üüü", 3, "üüü"),
            ("üüü", 2, "üü"),
            ("ü", 0, ""),
        ];
        for (text, most, kept) in table {
            assert_eq!(cut(text, most), kept, "{text} {most}");
        }
    }
}
