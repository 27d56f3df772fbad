//! A parsed rule: its conditions, its decision, and its decision when the conditions are unknown.

use agent_tracer_event::Agent;
use serde_json::{Map, Value};

use crate::criteria::Criteria;
use crate::glob::{Glob, PathGlob};
use crate::history::Condition;
use crate::verify::Verify;
use crate::words::{Decision, Event, Mode, OnOutage, Severity, Thread, Weekday};

/// One rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Its name, unique in its file.
    pub name: String,
    /// Its description, for people.
    pub description: Option<String>,
    /// The events at which it speaks.
    pub events: Vec<Event>,
    /// Its decision.
    pub decision: Decision,
    /// The text for the model.
    pub reason: String,
    /// Its severity.
    pub severity: Severity,
    /// Its mode.
    pub mode: Mode,
    /// Its decision when its conditions cannot be evaluated.
    pub on_outage: OnOutage,
    /// Conditions that must all hold.
    pub matches: Matcher,
    /// Conditions that must not all hold.
    pub unless: Option<Matcher>,
    /// Conditions about the history.
    pub when: Vec<Condition>,
    /// Criteria of a stop; the rule fires where they are not met.
    pub require: Criteria,
    /// The client's verifier, instead of us.
    pub verify: Option<Verify>,
    /// The changes of a `rewrite`.
    pub rewrite: Rewrite,
    /// Additional outputs.
    pub says: AnswerExtras,
    /// The most deferrals of one stop.
    pub at_most: u64,
    /// Its examples.
    pub examples: Vec<Example>,
    /// Its line in its file, counted from one.
    pub line: usize,
}

/// Conditions that must all hold. An empty list requires nothing; a list is satisfied by any of its members.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matcher {
    /// The product.
    pub agent: Vec<Agent>,
    /// The kind of agent.
    pub agent_type: Vec<Glob>,
    /// Main agent or subagent.
    pub thread: Option<Thread>,
    /// The tool.
    pub tool: Vec<Glob>,
    /// A file that is touched in any way.
    pub path: Vec<PathGlob>,
    /// A file that is read.
    pub reads: Vec<PathGlob>,
    /// A file that is written, or taken away.
    pub writes: Vec<PathGlob>,
    /// A file that is taken away.
    pub deletes: Vec<PathGlob>,
    /// Conditions on the meaning of a command.
    pub command: Option<CommandMatcher>,
    /// A host that is talked to.
    pub host: Vec<Glob>,
    /// The MCP server.
    pub mcp_server: Vec<Glob>,
    /// The tool of an MCP server.
    pub mcp_tool: Vec<Glob>,
    /// The skill.
    pub skill: Vec<Glob>,
    /// Permission modes.
    pub permission_mode: Vec<Glob>,
    /// The project.
    pub project: Vec<PathGlob>,
    /// Patterns of the prompt.
    pub prompt: Vec<Glob>,
    /// Times.
    pub time: Option<TimeMatcher>,
}

/// Conditions on the meaning of a command: all must hold for one and the same step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandMatcher {
    /// The program behind all wrappers.
    pub program: Vec<Glob>,
    /// Its subcommand.
    pub subcommand: Vec<Glob>,
    /// Operations.
    pub operation: Vec<Glob>,
    /// Effects.
    pub effect: Vec<EffectWord>,
    /// Targets.
    pub target: Vec<PathGlob>,
    /// Wrappers around the program.
    pub wrapper: Vec<Glob>,
    /// The step's own words.
    pub text: Vec<Glob>,
    /// True if it must reach everything below its targets.
    pub recursive: Option<bool>,
    /// True if the whole command must be understood.
    pub understood: Option<bool>,
}

/// An effect, or the one that people mean most often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectWord {
    /// One of the effects of a step.
    Effect(agent_tracer_shell::Effect),
    /// Files are taken away or emptied.
    Delete,
}

/// A time of day and week. From the start to the end before it if the end is earlier: over midnight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeMatcher {
    /// The days on which it begins; every day if there are none.
    pub days: Vec<Weekday>,
    /// The first minute of the day.
    pub from: u16,
    /// The first minute that no longer counts.
    pub to: u16,
}

/// The changes of a `rewrite` to the input of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rewrite {
    /// Sets these.
    pub set: Map<String, Value>,
    /// Takes these away.
    pub remove: Vec<String>,
    /// Adds this word to a command of one step.
    pub add_flag: Option<String>,
    /// Lets a command start here.
    pub directory: Option<String>,
}

impl Rewrite {
    /// Returns whether it changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Additional outputs of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerExtras {
    /// Shown to the human.
    pub system_message: Option<String>,
    /// Shown when the agent stops; the reason if there is none.
    pub stop_reason: Option<String>,
    /// Keeps what the hook printed out of the transcript view.
    pub suppress_output: bool,
    /// New permission rules that come with an `allow`, as the client spells them.
    pub permissions: Vec<Value>,
}

/// A call and what should come of it, written beside the rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The agent.
    pub agent: Agent,
    /// Times.
    pub event: Event,
    /// The payload, without what the above says.
    pub fields: Map<String, Value>,
    /// The expected decision; none if absent.
    pub expect: Option<Decision>,
    /// Its line, counted from one.
    pub line: usize,
}
