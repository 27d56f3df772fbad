//! Takes out of records what may not leave.
//!
//! The machine has reduced its records by its own configuration; this is a second pass, by the team's, and it can only
//! remove. At the lowest level a text leaves only if its name is on a list: the text of an unlisted name stays here.
//! Secrets are searched for in every text again, in case a newer rule knows more.

use agent_tracer_event::{Metadata, Millis, attributes};
use agent_tracer_ledger::shipment::{DerivedTask, ShippedFact};
use agent_tracer_privacy::{Level, mask};
use serde_json::Value;

use crate::ship::policy::Policy;

/// Names that only the level `full` may ship: heads and tails of results.
const RESULTS: [&str; 2] = [attributes::OUTPUT_HEAD, attributes::OUTPUT_TAIL];

/// Texts that are words of closed sets, names or ids, and no sentence of a person.
const NAMES: &[&str] = &[
    attributes::ACTIVITY_TYPE,
    attributes::AGENT_ID,
    attributes::AGENT_TYPE,
    attributes::ANSWERED_BY,
    attributes::ASYNC_STATUS,
    attributes::ATTRIBUTION_SKILL,
    attributes::BACKGROUND_STATUS,
    attributes::BATCH_ID,
    attributes::CALL_ID,
    attributes::CALL_SIGNATURE,
    attributes::CHILD_AGENT_ID,
    attributes::CLIENT_VERSION,
    attributes::COMPACT_PHASE,
    attributes::COMPLETION_REASON,
    attributes::DECISION,
    attributes::DENIED_BY_RULE,
    attributes::DURATION_SOURCE,
    attributes::EFFORT,
    attributes::ENTRYPOINT,
    attributes::ERROR_CLASS,
    attributes::FROM_MODEL,
    attributes::MCP_SERVER,
    attributes::MCP_TOOL,
    attributes::MODEL,
    attributes::MODEL_ID,
    attributes::NOT_COUNTED,
    attributes::NOTIFICATION_TYPE,
    attributes::PARENT_CERTAINTY,
    attributes::PERMISSION_MODE,
    attributes::PROMPT_ORIGIN,
    attributes::QUESTION_PHASE,
    attributes::RATE_LIMIT_FIVE_HOUR_RESETS_AT,
    attributes::RATE_LIMIT_SEVEN_DAY_RESETS_AT,
    attributes::REQUEST_ID,
    attributes::RULE_BASIS,
    attributes::RULE_DECISION,
    attributes::RULE_ID,
    attributes::RULE_OUTCOME,
    attributes::RULE_POLICY,
    attributes::RULE_SOURCE,
    attributes::RULE_STATUS,
    attributes::SERVICE_TIER,
    attributes::SESSION_SOURCE,
    attributes::SEVERITY,
    attributes::SKILL_NAME,
    attributes::STOP_REASON,
    attributes::SUBTYPE_KEY,
    attributes::TODO_ID,
    attributes::TODO_STATE,
    attributes::TO_MODEL,
    attributes::TOOL_NAME,
    attributes::TOOL_USE_ID,
    attributes::TRIGGER,
    attributes::USAGE_SOURCE,
];

/// Of a command's analysis: what it runs and what that does, never what it was given.
const ANALYSIS: &[&str] = &["commandName", "subcommand", "effect", "overallEffect", "operation"];

impl Policy {
    fn drops(&self, name: &str) -> bool {
        self.drop.iter().any(|dropped| dropped == name)
    }

    fn text(&self, name: &str, text: &mut String) {
        if self.drops(name) {
            text.clear();
        } else if let std::borrow::Cow::Owned(masked) = mask(text) {
            *text = masked;
        }
    }

    fn option(&self, name: &str, text: &mut Option<String>) {
        if self.drops(name) {
            *text = None;
        } else if let Some(text) = text {
            self.text(name, text);
        }
    }

    /// Reduces a task to what may leave.
    pub(crate) fn task(&self, record: &mut DerivedTask) {
        if self.level == Level::Metadata {
            record.title = format!("Session {}", Millis(record.started));
            record.current = None;
        }
        for (name, text) in [
            ("title", &mut record.title),
            ("cwd", &mut record.cwd),
            ("project", &mut record.project),
            ("machine", &mut record.machine),
            ("agentType", &mut record.agent_type),
        ] {
            self.text(name, text);
        }
        for (name, text) in [
            ("current", &mut record.current),
            ("gitBranch", &mut record.git_branch),
            ("model", &mut record.model),
            ("clientVersion", &mut record.client_version),
        ] {
            self.option(name, text);
        }
    }

    /// Reduces a fact to what may leave.
    pub(crate) fn fact(&self, record: &mut ShippedFact) {
        let row = &mut record.row;
        // Natural keys are derived from recorded text, and no other server needs them: a fact is known by its number.
        row.data.key.clear();
        row.data.turn = None;
        if self.level == Level::Metadata {
            row.data.title =
                row.tool.clone().or_else(|| row.kind.map(|kind| kind.to_string())).unwrap_or_default();
            row.data.body = None;
        }
        self.text("title", &mut row.data.title);
        self.option("body", &mut row.data.body);
        self.option("agentType", &mut row.data.agent_type);
        if self.drops("filePaths") {
            row.data.file_paths.clear();
        }
        for path in &mut row.data.file_paths {
            self.text("filePaths", path);
        }
        self.metadata(&mut row.data.metadata);
        self.metadata(&mut row.derived);
    }

    fn metadata(&self, metadata: &mut Metadata) {
        if self.level == Level::Metadata {
            // A list of what may leave and not of what may not: an attribute that is added later stays here until it
            // is listed.
            metadata.retain(|name, value| match value {
                Value::String(_) => NAMES.contains(&name.as_str()),
                Value::Object(_) | Value::Array(_) => match name.as_str() {
                    attributes::COMMAND_ANALYSIS => only(value, ANALYSIS),
                    attributes::FILE_OPERATIONS => only(value, &["path", "operation"]),
                    "summary" => only(value, &[]),
                    _ => false,
                },
                Value::Null | Value::Bool(_) | Value::Number(_) => true,
            });
        }
        metadata.retain(|name, value| self.keep(name, value));
    }

    /// Takes out of a value what may not leave, and says whether anything of it may.
    fn keep(&self, name: &str, value: &mut Value) -> bool {
        if self.drops(name) || (self.level != Level::Full && RESULTS.contains(&name)) {
            return false;
        }
        match value {
            Value::String(text) => self.text(name, text),
            Value::Array(items) => items.retain_mut(|item| self.keep("", item)),
            Value::Object(fields) => fields.retain(|name, value| self.keep(name, value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        true
    }
}

/// Leaves of a value its numbers and the texts with these names, at any depth.
fn only(value: &mut Value, names: &[&str]) -> bool {
    match value {
        Value::Object(fields) => fields.retain(|name, value| match value {
            Value::String(_) => names.contains(&name.as_str()),
            value => only(value, names),
        }),
        Value::Array(items) => items.retain_mut(|item| !item.is_string() && only(item, names)),
        Value::String(_) => return false,
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    true
}
