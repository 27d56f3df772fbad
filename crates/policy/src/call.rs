//! Parses one hook payload into the call that rules match.
//!
//! The law: total over JSON. A payload that is not JSON is an error; one whose event no rule can name is no
//! business; a field that is missing or of an odd type is absent, and a rule that needs it does not match.
//! The payload is the agent's own, before privacy has reduced it: it stays in memory and is never written.

use agent_tracer_event::Agent;
use agent_tracer_shell::ShellCall;
use serde_json::{Map, Value};

use crate::clients;
use crate::command;
use crate::glob::Roots;
use crate::host;
use crate::path;
use crate::touch::{self, Touch};
use crate::words::{Event, Thread, Weekday};

/// Reasons why a payload could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Not JSON.
    #[error("the payload is not JSON")]
    NotJson(#[source] serde_json::Error),
    /// JSON, but not an object.
    #[error("the payload is not an object")]
    NotAnObject,
    /// It does not say what happened.
    #[error("the payload has no `hook_event_name`")]
    NoEvent,
}

/// A time of day and week, where the human is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTime {
    /// The day.
    pub weekday: Weekday,
    /// Minutes since midnight, below 1,440.
    pub minute: u16,
}

/// Facts that the caller knows and the payload does not hold. Nothing here is needed; without it some rules cannot match.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The root of the project. Without it the payload's `cwd` stands in.
    pub project: Option<String>,
    /// The user's home.
    pub home: Option<String>,
    /// The local time.
    pub now: Option<LocalTime>,
}

/// One question of an agent.
#[derive(Clone, Debug)]
pub struct Call {
    /// The agent.
    pub agent: Agent,
    /// At which moment.
    pub event: Event,
    /// The session, by the agent's name of it.
    pub session: Option<String>,
    /// The subagent, by the agent's name of it; absent on the main thread.
    pub agent_id: Option<String>,
    /// The kind of agent.
    pub agent_type: Option<String>,
    /// The permission mode.
    pub permission_mode: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// Its input, whole.
    pub input: Value,
    /// The id of the tool call.
    pub tool_use_id: Option<String>,
    /// The prompt of the human.
    pub prompt: Option<String>,
    /// True if a stop is repeated after a rule has deferred it.
    pub again: bool,
    /// The working directory of the call.
    pub cwd: Option<String>,
    /// Facts from the caller.
    pub around: Surroundings,
    /// The working directory of its command, if the input names one.
    pub started_in: Option<String>,
    /// The command, and what it does. Where an input holds several, all of them together.
    pub command: Option<ShellCall>,
    /// The files it touches.
    pub touches: Vec<Touch>,
    /// The hosts it talks to.
    pub hosts: Vec<String>,
    /// True if more files or hosts are involved than are listed.
    pub beyond: bool,
    /// The server and its tool.
    pub mcp: Option<(String, String)>,
    /// The skill.
    pub skill: Option<String>,
}

/// The tools that name a skill.
pub(crate) const SKILLS: &[&str] = &["Skill", "SlashCommand"];

impl Call {
    /// Reads a payload. `None` if it is of an event that no rule can name.
    pub fn read(agent: Agent, payload: &[u8], around: Surroundings) -> Result<Option<Self>, CallError> {
        let value: Value = serde_json::from_slice(payload).map_err(CallError::NotJson)?;
        let Value::Object(fields) = value else { return Err(CallError::NotAnObject) };
        let name = fields.get("hook_event_name").and_then(Value::as_str).ok_or(CallError::NoEvent)?;
        Ok(Event::parse(name).map(|event| Self::from_fields(agent, event, fields, around)))
    }

    /// Reads the fields of a payload whose event is known.
    #[must_use]
    pub fn from_fields(
        agent: Agent,
        event: Event,
        mut fields: Map<String, Value>,
        around: Surroundings,
    ) -> Self {
        let text = |name: &str| {
            fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let mut call = Self {
            agent,
            event,
            session: text("session_id"),
            agent_id: text("agent_id"),
            agent_type: text("agent_type"),
            permission_mode: text("permission_mode"),
            tool: text("tool_name").filter(|_| event.has_tool()),
            input: Value::Null,
            tool_use_id: text("tool_use_id"),
            prompt: text("prompt"),
            again: fields.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false),
            cwd: text("cwd").map(|cwd| path::tidy(&cwd)),
            around,
            started_in: None,
            command: None,
            touches: Vec::new(),
            hosts: Vec::new(),
            beyond: false,
            mcp: None,
            skill: None,
        };
        if event.has_tool() {
            let server =
                fields.get("mcp_server").and_then(|server| server.get("name")).and_then(Value::as_str);
            let server = server.map(str::to_owned);
            call.take_input(fields.remove("tool_input").unwrap_or(Value::Null), server);
        }
        call
    }

    /// Returns the same call with another input: what a rewrite would make of it.
    #[must_use]
    pub fn with_input(&self, input: Value) -> Self {
        let mut call = self.clone();
        let server = call.mcp.take().map(|(server, _)| server);
        call.take_input(input, server);
        call
    }

    fn take_input(&mut self, input: Value, server: Option<String>) {
        let tool = self.tool.clone().unwrap_or_default();
        let home = self.around.home.as_deref();
        let made_in = touch::BaseFolders { cwd: self.cwd.as_deref(), home };
        let started_in = command::folder_of(&tool, &input, made_in);
        let from = touch::BaseFolders { cwd: started_in.as_deref().or(self.cwd.as_deref()), home };
        let given = |names: &[&str]| names.iter().find_map(|name| input.get(name).and_then(Value::as_str));
        let command = command::parse_input(&tool, &input, from);
        let mut touches = touch::from_input(&tool, &input, made_in);
        // A patch comes as the bare input or under one of three names, by version and by the way the tool was called.
        if tool == "apply_patch" {
            let mut patches = |patch: &str| touches.join(touch::from_patch(patch, made_in));
            input.as_str().into_iter().for_each(&mut patches);
            let complete = touch::visit_named(&tool, &input, &["command", "input", "patch"], &mut patches);
            touches.beyond |= !complete;
        }
        let (mut hosts, named) = host::hosts_of_input(&tool, &input);
        if let Some(shell) = &command {
            touches.join(touch::from_command(&shell.analysis, from));
            // A patch can be typed into a shell.
            if shell.analysis.raw.contains("*** Begin Patch") {
                touches.join(touch::from_patch(&shell.analysis.raw, from));
            }
            touch::visit_steps(&shell.analysis, &mut |step| {
                for host in host::hosts_of_step(step) {
                    if !hosts.contains(&host) {
                        hosts.push(host);
                    }
                }
            });
        }
        self.command = command;
        self.touches = touches.list;
        self.beyond = touches.beyond || !named;
        self.hosts = hosts;
        self.started_in = started_in;
        self.mcp = tool.strip_prefix("mcp__").map(|rest| {
            let (name, tool) = rest.split_once("__").unwrap_or((rest, ""));
            // The payload names the server exactly; the part of the tool's name is the client's spelling of it, and a
            // guess.
            (server.unwrap_or_else(|| name.to_owned()), tool.to_owned())
        });
        let is_skill = SKILLS.contains(&tool.as_str());
        self.skill = given(&["skill", "command", "name"]).filter(|_| is_skill).map(|name| {
            name.trim_start_matches('/').split_whitespace().next().unwrap_or_default().to_owned()
        });
        self.input = input;
    }

    /// Returns whether all effects of the call can be read from its input.
    #[must_use]
    pub fn is_understood(&self) -> bool {
        !self.beyond && self.command.as_ref().is_none_or(|shell| shell.exposure.is_understood())
    }

    /// Returns the folders that the paths of its command start from.
    #[must_use]
    pub fn command_folder(&self) -> Option<&str> {
        self.started_in.as_deref().or(self.cwd.as_deref())
    }

    /// Returns the agent that acts.
    #[must_use]
    pub const fn thread(&self) -> Thread {
        match self.agent_id {
            Some(_) => Thread::Subagent,
            None => Thread::Main,
        }
    }

    /// Returns the root of the project, or where the call was made.
    #[must_use]
    pub fn project(&self) -> Option<&str> {
        self.around.project.as_deref().or(self.cwd.as_deref())
    }

    /// Returns the folders that paths start from.
    #[must_use]
    pub fn roots(&self) -> Roots<'_> {
        Roots { project: self.project(), home: self.around.home.as_deref() }
    }

    /// Returns the names under which rules may know the tool: its own, and those that its client itself takes for the
    /// same.
    #[must_use]
    pub fn tool_names(&self) -> Vec<&str> {
        let Some(tool) = self.tool.as_deref() else { return Vec::new() };
        let others = clients::find(self.agent).map_or(&[][..], |client| client.other_names(tool));
        std::iter::once(tool).chain(others.iter().copied()).collect()
    }
}
