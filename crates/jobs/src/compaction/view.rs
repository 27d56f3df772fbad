//! What is answered about compactions.

use std::collections::BTreeMap;

use agent_tracer_event::Millis;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One compaction of a task's context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Compaction {
    /// Its place among those of the file, from one.
    pub number: u64,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub at: Option<Millis>,
    /// `manual` or `auto`, where the client says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// Where in the file its mark stands, in bytes.
    pub offset: u64,
    /// Tokens of the context before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_tokens: Option<u64>,
    /// Tokens of the context after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_tokens: Option<u64>,
    /// What went in.
    pub before: CompactionSide,
    /// What came out: the summary, and what was kept as it was.
    pub after: CompactionSide,
    /// The summary, masked, as far as it is shown. Absent at the level `metadata`, and where the provider keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// How long the file was when the hook saw the compaction begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_bytes: Option<u64>,
    /// The SHA-256 of the file up to there, as it was then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_sha256: Option<String>,
    /// Whether the file up to there is still the same. Absent where nobody saw it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchanged: Option<bool>,
}

/// What a context consisted of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompactionSide {
    /// Pieces by what they are: `prompt`, `answer`, `thought`, `call`, `result`, `summary`, `harness`.
    #[schema(value_type = Object)]
    pub pieces: BTreeMap<String, u64>,
    /// Their texts together, in bytes.
    pub bytes: u64,
}

/// One piece of what went in or came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompactionItem {
    /// Its place on this side, from zero.
    pub place: u64,
    /// What it is: `prompt`, `answer`, `thought`, `call`, `result`, `summary` or `harness`.
    pub part: String,
    /// When its row was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub at: Option<Millis>,
    /// Where its row stands in the file, in bytes.
    pub offset: u64,
    /// How long its text is, in bytes.
    pub bytes: u64,
    /// The tool of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The beginning of its text, masked. Never that of a result; nothing at the level `metadata`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}
