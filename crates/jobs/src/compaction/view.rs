//! Answers about compactions.

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
    /// The time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub at: Option<Millis>,
    /// `manual` or `auto`, where the client says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// The offset of its mark in the file, in bytes.
    pub offset: u64,
    /// Tokens of the context before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_tokens: Option<u64>,
    /// Tokens of the context after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_tokens: Option<u64>,
    /// The context before it.
    pub before: CompactionSide,
    /// The context after it: the summary, and the parts kept unchanged.
    pub after: CompactionSide,
    /// The summary, masked, as far as it is shown. Absent at the level `metadata`, and where the provider keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The length of the file at the begin hook of the compaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_bytes: Option<u64>,
    /// The SHA-256 of the file up to there, as it was then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_sha256: Option<String>,
    /// True if the file up to there is still the same. Absent without a hook that measured it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchanged: Option<bool>,
}

/// The composition of a context.
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
    /// The kind of piece: `prompt`, `answer`, `thought`, `call`, `result`, `summary` or `harness`.
    pub part: String,
    /// The time its row was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub at: Option<Millis>,
    /// The offset of its row in the file, in bytes.
    pub offset: u64,
    /// The length of its text, in bytes.
    pub bytes: u64,
    /// The tool of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The beginning of its text, masked. Never that of a result; nothing at the level `metadata`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}
