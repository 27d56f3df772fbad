//! `<task-notification>`: the client tells the model, in the place of a prompt, that work in the background has ended.
//!
//! The text is the client's own markup around a few ids and states. Its `<result>` has been reduced by privacy and is
//! not looked at.

use agent_tracer_event::{Entry, Evidence, Kind, Metadata, Phase, TaskKey, attributes};
use serde_json::Value;

use super::hook::Hook;
use super::subagents;
use crate::claude::identity;
use crate::claude::wire::Members;
use crate::text::{line, title};

/// Describes what a notification says, by its tags.
pub(super) struct Notification<'a> {
    /// The background task: an agent's id, or a shell's.
    task: Option<&'a str>,
    /// The call that started it.
    call: Option<&'a str>,
    /// The session that started it, which has its output in a folder of its own.
    session: Option<&'a str>,
    status: Option<&'a str>,
    summary: Option<&'a str>,
    duration_ms: Option<u64>,
    tool_uses: Option<u64>,
    /// True if it was an agent: only agents report their tokens, and the summary names them so.
    of_an_agent: bool,
}

const OPENING: &str = "<task-notification>";

impl<'a> Notification<'a> {
    /// Reads a prompt that is a notification; any other text is none.
    pub(super) fn parse(prompt: &'a str) -> Option<Self> {
        // The client sends it as a prompt that no person typed, and fires `UserPromptSubmit` for it.
        let text = prompt.trim_start().strip_prefix(OPENING)?;
        // Whatever a result says must not pass for the client's words, so only what stands outside of it counts.
        let (before, after) = match (text.find("<result>"), text.rfind("</result>")) {
            (Some(from), Some(to)) if from < to => (text.get(..from)?, text.get(to..)?),
            (Some(from), _) => (text.get(..from)?, ""),
            (None, _) => (text, ""),
        };
        let tag = |name: &str| inner(before, name).or_else(|| inner(after, name));
        let number = |name: &str| tag(name)?.parse().ok();
        let summary = tag("summary");
        let tokens: Option<u64> = number("subagent_tokens");
        Some(Self {
            task: tag("task-id"),
            call: tag("tool-use-id"),
            session: tag("output-file").and_then(session_of_output),
            status: tag("status"),
            summary,
            duration_ms: number("duration_ms"),
            tool_uses: number("tool_uses"),
            of_an_agent: tokens.is_some() || summary.is_some_and(|summary| summary.starts_with("Agent ")),
        })
    }

    /// Reads what level `metadata` leaves of one: whose end it tells of, and how that was.
    pub(super) fn of_reduced(prompt: Members<'a>) -> Option<Self> {
        let status = prompt.text(&["status"]);
        (prompt.text(&["promptOrigin"]) == Some("task_notification") && status.is_some()).then(|| Self {
            task: prompt.text(&["task_id"]),
            call: prompt.text(&["tool_use_id"]),
            session: None,
            status,
            summary: None,
            duration_ms: None,
            tool_uses: None,
            of_an_agent: prompt.text(&["type"]) == Some("agent"),
        })
    }

    pub(super) fn title(&self) -> String {
        match (self.summary, self.status) {
            (Some(summary), _) => title(summary),
            (None, Some(status)) => title(&format!("Background task {status}")),
            (None, None) => "Background task ended".to_owned(),
        }
    }

    /// Writes the ids and states into the message's metadata.
    pub(super) fn write(&self, metadata: &mut Metadata) {
        for (name, text) in [
            (attributes::NOTIFICATION_TASK_ID, self.task),
            (attributes::NOTIFICATION_TOOL_USE_ID, self.call),
            (attributes::NOTIFICATION_STATUS, self.status),
            (attributes::NOTIFICATION_SUMMARY, self.summary),
        ] {
            if let Some(text) = text {
                metadata.insert(name.to_owned(), Value::from(line(text, 400)));
            }
        }
        for (name, number) in [
            (attributes::NOTIFICATION_DURATION_MS, self.duration_ms),
            (attributes::NOTIFICATION_TOOL_USES, self.tool_uses),
        ] {
            if let Some(number) = number {
                metadata.insert(name.to_owned(), Value::from(number));
            }
        }
    }

    /// Returns the exit code that the client writes behind a shell's summary.
    fn exit_code(&self) -> Option<i64> {
        // From the end: the summary quotes the command, which may hold the same words.
        let (_, rest) = self.summary?.rsplit_once("exit code ")?;
        rest.trim_end_matches(')').trim().parse().ok()
    }

    /// Returns the task that started the work: after `/clear` the notification comes to the session behind it.
    fn starter(&self, hook: &Hook<'_>) -> TaskKey {
        match self.session.filter(|_| hook.agent_id.is_none()) {
            Some(session) => identity::task(&line(session, 200), None),
            None => hook.actor(),
        }
    }

    /// Returns what the notification says of the work that it is about: the agent as its parent sees it, and the call.
    pub(super) fn closes(&self, hook: &Hook<'_>) -> Vec<Entry> {
        let mut entries = Vec::new();
        let async_status = match self.status {
            Some("completed") => "completed",
            Some("failed" | "error") => "failed",
            Some("killed" | "stopped" | "cancelled" | "canceled") => "cancelled",
            // An unknown word is still an end, and a row that stays open would look like work.
            Some(_) | None => "completed",
        };
        let evidence = Evidence::reported("hook UserPromptSubmit, task-notification");
        let agent = self.task.filter(|_| self.of_an_agent).map(|agent| line(agent, 200));
        if let Some(agent) = agent.as_ref().filter(|_| async_status == "cancelled") {
            // No other event tells of the end of an agent that was stopped.
            entries.extend(subagents::stopped(hook, &self.starter(hook), agent));
        } else if let Some(agent) = agent {
            let key = format!("subagent:{agent}");
            let mut row = hook.event_on(self.starter(hook), Kind::ActionLogged, Phase::Close, key);
            row.evidence = evidence.clone();
            row.ended_at = Some(hook.at);
            row.metadata.insert(attributes::ASYNC_TASK_ID.to_owned(), Value::from(agent.as_str()));
            row.metadata.insert(attributes::AGENT_ID.to_owned(), Value::from(agent));
            row.metadata.insert(attributes::ASYNC_STATUS.to_owned(), Value::from(async_status));
            entries.push(row);
        }
        if let Some(call) = self.call {
            let kind = if self.of_an_agent { Kind::AgentActivityLogged } else { Kind::TerminalCommand };
            let call = line(call, 200);
            let mut row = hook.event_on(self.starter(hook), kind, Phase::Update, format!("tool:{call}"));
            row.evidence = evidence;
            // The turn of the call is the one that started it, not the one that hears of its end.
            row.turn = None;
            row.metadata.remove(attributes::PROMPT_ID);
            row.tool_use_id = Some(call);
            row.metadata.insert(attributes::BACKGROUND_STATUS.to_owned(), Value::from(async_status));
            row.metadata.insert(attributes::BACKGROUND_ENDED_AT.to_owned(), Value::from(hook.at.to_string()));
            if let Some(duration) = self.duration_ms {
                row.metadata.insert(attributes::BACKGROUND_DURATION_MS.to_owned(), Value::from(duration));
            }
            if let Some(code) = self.exit_code().filter(|_| !self.of_an_agent) {
                row.metadata.insert(attributes::EXIT_CODE.to_owned(), Value::from(code));
            }
            entries.push(row);
        }
        entries
    }
}

/// Returns the session in the path of an output: `…/<session>/tasks/<task>.output`.
fn session_of_output(path: &str) -> Option<&str> {
    let (folder, _) = path.rsplit_once("/tasks/")?;
    folder.rsplit('/').next().filter(|session| !session.is_empty())
}

/// Returns the text between a tag and its end.
fn inner<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (inside, _) = rest.split_once(&format!("</{tag}>"))?;
    Some(inside.trim()).filter(|inside| !inside.is_empty())
}
