//! The items of a task's lists: each made of one row.

use agent_tracer_event::{CallState, Millis, attributes};
use serde_json::Value;

use super::About;
use crate::project::row::channels_of;
use crate::project::{FactRow, List};
use crate::view::{CommandRun, Exploration, Permission, Question, ToolCall, WebLookup};

/// The lists that tool calls stand in.
pub const CALLS: [List; 6] =
    [List::Question, List::Todo, List::Command, List::Exploration, List::Web, List::Call];

/// Returns a whole number of the metadata that cannot be negative.
#[must_use]
pub fn number(row: &FactRow, key: &str) -> Option<u64> {
    row.meta(key)?.as_u64()
}

/// Returns how long a call took.
#[must_use]
pub fn duration(row: &FactRow) -> Option<u64> {
    row.duration.and_then(|duration| u64::try_from(duration).ok())
}

fn owned(row: &FactRow, key: &str) -> Option<String> {
    row.text(key).map(str::to_owned)
}

fn error_class(row: &FactRow) -> Option<String> {
    row.error.map(|class| class.to_string()).or_else(|| owned(row, attributes::ERROR_CLASS))
}

/// Returns a tool call; what has no tool or no state is none.
#[must_use]
pub fn tool_call(about: &About, row: &FactRow) -> Option<ToolCall> {
    Some(ToolCall {
        id: about.row_id(row.fact),
        tool_use_id: row.data.tool_use_id.clone(),
        task_id: about.uid.to_string(),
        agent_id: row.data.agent_id.clone(),
        turn_id: row.turn.map(|turn| about.turn_id(turn)),
        tool_name: row.tool.clone()?,
        state: row.state?,
        started_at: Millis(row.occurred),
        ended_at: row.ended.map(Millis),
        duration_ms: duration(row),
        duration_source: owned(row, attributes::DURATION_SOURCE),
        permission_wait_ms: number(row, attributes::PERMISSION_WAIT_MS),
        exit_code: row.meta(attributes::EXIT_CODE).and_then(Value::as_i64),
        error_class: error_class(row),
        title: row.data.title.clone(),
        channels: channels_of(row.channels),
    })
}

/// Returns a shell command.
#[must_use]
pub fn command_run(about: &About, row: &FactRow) -> CommandRun {
    let analysis = |key: &str| row.meta(attributes::COMMAND_ANALYSIS).and_then(|analysis| analysis.get(key));
    let command = owned(row, attributes::COMMAND).or_else(|| analysis("raw")?.as_str().map(str::to_owned));
    CommandRun {
        id: about.row_id(row.fact),
        task_id: about.uid.to_string(),
        title: row.data.title.clone(),
        command: command.unwrap_or_default(),
        effect: analysis("overallEffect").and_then(Value::as_str).unwrap_or("unknown").to_owned(),
        failure_masked: analysis("failureMasked").and_then(Value::as_bool).unwrap_or(false),
        state: row.state.unwrap_or(CallState::Running),
        exit_code: row.meta(attributes::EXIT_CODE).and_then(Value::as_i64),
        error_class: error_class(row),
        occurred_at: Millis(row.occurred),
        duration_ms: duration(row),
    }
}

/// Returns a read, a search or a look-up.
#[must_use]
pub fn exploration(about: &About, row: &FactRow) -> Exploration {
    Exploration {
        id: about.row_id(row.fact),
        task_id: about.uid.to_string(),
        what: owned(row, attributes::SUBTYPE_KEY).unwrap_or_else(|| "uncategorized".to_owned()),
        title: row.data.title.clone(),
        tool_name: row.tool.clone(),
        file_paths: row.data.file_paths.clone(),
        offset: number(row, attributes::READ_OFFSET),
        limit: number(row, attributes::READ_LIMIT),
        pattern: owned(row, attributes::SEARCH_PATTERN).or_else(|| owned(row, attributes::WEB_QUERY)),
        scope: owned(row, attributes::SEARCH_PATH).or_else(|| owned(row, attributes::SEARCH_GLOB)),
        mode: owned(row, attributes::GREP_OUTPUT_MODE),
        glob: owned(row, attributes::SEARCH_GLOB),
        case_insensitive: row.meta(attributes::GREP_CASE_INSENSITIVE).and_then(Value::as_bool),
        multiline: row.meta(attributes::GREP_MULTILINE).and_then(Value::as_bool),
        occurred_at: Millis(row.occurred),
        duration_ms: duration(row),
        state: row.state,
    }
}

/// Returns a look-up in the web.
#[must_use]
pub fn web_lookup(about: &About, row: &FactRow) -> WebLookup {
    // A search keeps its query where a fetch keeps its address; only addresses are shown as such.
    let urls: Vec<String> =
        texts(row, attributes::WEB_URLS).into_iter().filter(|url| host(url).is_some()).collect();
    let mut domains: Vec<String> = urls.iter().filter_map(|url| host(url)).map(str::to_owned).collect();
    domains.sort();
    domains.dedup();
    WebLookup {
        id: about.row_id(row.fact),
        task_id: about.uid.to_string(),
        what: owned(row, attributes::SUBTYPE_KEY).unwrap_or_default(),
        title: row.data.title.clone(),
        query: owned(row, attributes::WEB_QUERY),
        prompt: owned(row, attributes::WEB_PROMPT),
        urls,
        domains,
        allowed_domains: texts(row, attributes::WEB_ALLOWED_DOMAINS),
        blocked_domains: texts(row, attributes::WEB_BLOCKED_DOMAINS),
        occurred_at: Millis(row.occurred),
        duration_ms: duration(row),
        state: row.state,
    }
}

/// Returns a permission that was asked for.
#[must_use]
pub fn permission(about: &About, row: &FactRow) -> Permission {
    Permission {
        id: about.row_id(row.fact),
        task_id: about.uid.to_string(),
        tool_name: row.tool.clone().or_else(|| owned(row, attributes::TOOL_NAME)),
        tool_use_id: row.data.tool_use_id.clone().or_else(|| owned(row, attributes::TOOL_USE_ID)),
        call_id: owned(row, attributes::CALL_ID),
        title: row.data.title.clone(),
        decision: owned(row, attributes::DECISION),
        occurred_at: Millis(row.occurred),
        wait_ms: number(row, attributes::WAIT_MS),
        tool_input_summary: owned(row, attributes::TOOL_INPUT_SUMMARY),
        suggestion_count: number(row, attributes::SUGGESTION_COUNT),
    }
}

/// Returns where a question stands. A file says that the call of a question ended, and not what that means.
fn phase(row: &FactRow) -> &str {
    match (row.text(attributes::QUESTION_PHASE).unwrap_or("asked"), row.state.filter(|_| row.is_call())) {
        ("asked", Some(CallState::Succeeded)) => "answered",
        ("asked", Some(CallState::Denied | CallState::Failed)) => "declined",
        ("asked", Some(CallState::Interrupted | CallState::Abandoned)) => "cancelled",
        (phase, _) => phase,
    }
}

/// Returns a question to a person; the answer to a server's question is none.
#[must_use]
pub fn question(about: &About, row: &FactRow) -> Option<Question> {
    if row.meta(attributes::ELICITATION_RESULT) == Some(&Value::Bool(true)) {
        return None;
    }
    // How long the tool ran says nothing of the person. The whole time is a little more than the wait, and the best there
    // is where no one saw the dialog open.
    let whole = row.ended.and_then(|ended| u64::try_from(ended.saturating_sub(row.occurred)).ok());
    let questions = match row.meta(attributes::QUESTIONS) {
        Some(Value::Array(questions)) => questions.clone(),
        _ => Vec::new(),
    };
    Some(Question {
        id: about.row_id(row.fact),
        task_id: about.uid.to_string(),
        title: row.data.title.clone(),
        questions,
        phase: phase(row).to_owned(),
        answer_count: number(row, attributes::ANSWER_COUNT),
        occurred_at: Millis(row.occurred),
        wait_ms: number(row, attributes::WAIT_MS)
            .or_else(|| number(row, attributes::PERMISSION_WAIT_MS))
            .or(whole),
    })
}

/// Returns the texts of a list in the metadata.
fn texts(row: &FactRow, name: &str) -> Vec<String> {
    match row.meta(name) {
        Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Returns the host of an address.
fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(inside) => inside.split(']').next()?,
        None => host.split(':').next()?,
    };
    Some(host).filter(|host| !host.is_empty())
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn the_host_of_an_address_is_found() {
        for (url, expected) in [
            ("https://docs.rs/rusqlite/latest?x#y", Some("docs.rs")),
            ("http://user:word@host.example:8080/", Some("host.example")),
            ("http://[::1]:4747/health", Some("::1")),
            ("https://example.com", Some("example.com")),
            ("https:///nothing", None),
            ("no address", None),
        ] {
            assert_eq!(host(url), expected, "{url}");
        }
    }
}
