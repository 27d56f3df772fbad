//! Derives the meaning of a tool call, in words that are the same for every agent.
//!
//! [`understand`] takes a tool's name and input as an agent spells them and says what kind of event the call is, in
//! which lane it is shown, what it was about and what a person reads. What each tool means is data: one row per tool,
//! in the table of its family. The law: total, and no call is lost. A tool that no table knows still makes an
//! event, and [`Meaning::recognised`] is false for it.
//!
//! What came back is read by [`outcome`]. Both know the forms that privacy leaves behind: a text may be
//! `{"bytes": …}`, a command `{"program": …}`, a file's contents `{"bytes", "lines", "hash"}`.

pub(crate) mod agents;
pub mod commits;
mod files;
mod input;
mod mcp;
mod misc;
pub mod outcome;
pub mod patch;
mod plans;
mod questions;
mod row;
mod sanitise;
mod schedule;
mod search;
pub mod shell;
pub mod skills;
pub mod todos;
mod unknown;
mod web;
mod worktrees;

use agent_tracer_event::semantics::Semantics;
use agent_tracer_event::{Agent, Entry, Kind, Lane, Metadata, Subject, attributes};
use serde_json::Value;

use crate::{adapter, text};
use input::Input;
pub(crate) use questions::settle_question;
pub use sanitise::sanitise;

/// Describes where a call was made: paths are shown as seen from here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place<'a> {
    /// The working directory at the time of the call.
    pub cwd: Option<&'a str>,
    /// The root of the project.
    pub project: Option<&'a str>,
}

/// A tool call, as an agent spells it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Names who called.
    pub agent: Agent,
    /// The tool, by the agent's name of it.
    pub tool: &'a str,
    /// Holds what it was called with: any JSON, after privacy.
    pub input: &'a Value,
    /// Holds the place.
    pub place: Place<'a>,
}

/// Holds the meaning of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Meaning {
    /// The kind of its event.
    pub kind: Kind,
    /// The lane it is shown in.
    pub lane: Lane,
    /// The semantic fields.
    pub semantics: Semantics,
    /// Holds the title.
    pub title: String,
    /// Longer text: the prompt of another agent, the plan, the question.
    pub body: Option<String>,
    /// The files it is about, absolute where the working directory is known.
    pub file_paths: Vec<String>,
    /// The tool's own keys, with `toolInput`.
    pub metadata: Metadata,
    /// True if any table knows the tool.
    pub recognised: bool,
}

impl Meaning {
    /// Writes all of it into the entry of the call.
    pub fn write(self, entry: &mut Entry) {
        entry.subject = Subject::Event(self.kind);
        // Also where it is the usual one of the kind: an input that a hook has rewritten may change the lane.
        entry.lane = Some(self.lane);
        entry.title = Some(self.title);
        entry.body = self.body;
        entry.file_paths = self.file_paths;
        self.semantics.write(&mut entry.metadata);
        entry.metadata.extend(self.metadata);
    }
}

/// Says what a call means.
#[must_use]
pub fn understand(call: &Call<'_>) -> Meaning {
    let name = adapter::of(call.agent).tool_name(call);
    let input = Input::new(call, name);
    let mut meaning = if let Some(shell) = shell::of(name) {
        shell::understand(&input, shell)
    } else if let Some((server, tool)) = mcp::parts(name) {
        mcp::understand(&input, server, tool)
    } else if let Some(row) = row::find(name) {
        row.understand(&input)
    } else {
        unknown::understand(&input)
    };
    meaning.semantics.source_tool = text::line(call.tool, NAME_CHARS);
    if !call.input.is_null() {
        meaning.metadata.insert(attributes::TOOL_INPUT.to_owned(), sanitise(call.input));
    }
    meaning
}

/// The most characters of a tool's name.
pub const NAME_CHARS: usize = 200;

#[cfg(test)]
mod tests;
