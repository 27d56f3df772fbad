//! A rule, as it was read: what it is about, what it wants, and what holds when nobody can tell.

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
    /// What it is for, for people.
    pub description: Option<String>,
    /// The events at which it speaks.
    pub events: Vec<Event>,
    /// What it wants.
    pub decision: Decision,
    /// What the model is told.
    pub reason: String,
    /// How much a person should care.
    pub severity: Severity,
    /// Whether it acts.
    pub mode: Mode,
    /// What holds when nobody can tell whether it applies.
    pub on_outage: OnOutage,
    /// What all has to be so.
    pub matches: Matcher,
    /// What must not all be so.
    pub unless: Option<Matcher>,
    /// What has to have been so.
    pub when: Vec<Condition>,
    /// What has to be so at an end; the rule speaks where it is not.
    pub require: Criteria,
    /// Who else verifies it, instead of us.
    pub verify: Option<Verify>,
    /// What a `rewrite` changes.
    pub rewrite: Rewrite,
    /// What else is said.
    pub says: Says,
    /// How often it may put off one end before it lets go.
    pub at_most: u64,
    /// What its writer expects of it.
    pub examples: Vec<Example>,
    /// Where it stands in its file, counted from one.
    pub line: usize,
}

/// What all has to be so. An empty list asks for nothing; a list is satisfied by any of its members.
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
    /// What a command means.
    pub command: Option<CommandMatcher>,
    /// A host that is talked to.
    pub host: Vec<Glob>,
    /// The MCP server.
    pub mcp_server: Vec<Glob>,
    /// The tool of an MCP server.
    pub mcp_tool: Vec<Glob>,
    /// The skill.
    pub skill: Vec<Glob>,
    /// How freely the agent may act.
    pub permission_mode: Vec<Glob>,
    /// The project.
    pub project: Vec<PathGlob>,
    /// What the human said.
    pub prompt: Vec<Glob>,
    /// When.
    pub time: Option<TimeMatcher>,
}

/// What a command means: all of this has to be so of one and the same step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandMatcher {
    /// The program behind all wrappers.
    pub program: Vec<Glob>,
    /// Its subcommand.
    pub subcommand: Vec<Glob>,
    /// What is done, as one word.
    pub operation: Vec<Glob>,
    /// What it does to the world.
    pub effect: Vec<EffectWord>,
    /// What it is done to.
    pub target: Vec<PathGlob>,
    /// What was unwrapped to reach the program.
    pub wrapper: Vec<Glob>,
    /// The step's own words.
    pub text: Vec<Glob>,
    /// Whether it reaches everything below its targets.
    pub recursive: Option<bool>,
    /// Whether the whole command could be understood.
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

/// What a `rewrite` does to the input of a tool.
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
    /// Whether it changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What else an answer says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Says {
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
    /// Who asks.
    pub agent: Agent,
    /// When.
    pub event: Event,
    /// The payload, without what the above says.
    pub fields: Map<String, Value>,
    /// What should come of it; nothing if absent.
    pub expect: Option<Decision>,
    /// Where it stands, counted from one.
    pub line: usize,
}
