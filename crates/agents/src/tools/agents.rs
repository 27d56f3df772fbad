//! Tools that hand work to other agents, talk to them, or call a skill.
//!
//! Codex has two generations of agent tools and glues their namespace to the name without a separator
//! (`multi_agent_v1wait_agent`, `collaborationspawn_agent`); [`without_namespace`] takes it off again.

use agent_tracer_event::semantics::{EntityType, Importance, SubtypeKey};
use agent_tracer_event::{Lane, attributes};
use serde_json::Value;

use super::input::Input;
use super::row::{COORDINATE, Row, count, flag, id, number, text, texts};
use super::{Meaning, skills};
use crate::text::line;

/// The namespaces of Codex's agent tools, longest first.
const NAMESPACES: &[&str] = &["multi_agent_v1", "multi_agent_v2", "multi_agent", "collaboration", "collab"];

/// The tools that stand in these namespaces; only in front of them is a namespace taken off.
const AGENT_TOOLS: &[&str] = &[
    "spawn_agent",
    "wait_agent",
    "wait",
    "close_agent",
    "send_input",
    "send_message",
    "resume_agent",
    "followup_task",
    "assign_task",
    "interrupt_agent",
    "list_agents",
];

// A type says what the agent is and comes first; the last two only say what this one is called.
const AGENT_NAME: &[&str] = &["subagent_type", "agent_type", "agent", "task_name", "name"];
const PROMPT: &[&str] = &["prompt", "message"];
const TARGET: &[&str] = &["target", "to", "recipient", "id", "agent_id"];

pub(super) const TABLE: &[Row] = &[
    Row {
        // The first two are one tool: hooks call it by one name and the client's own list by the other.
        names: &["Agent", "Task", "spawn_agent"],
        operation: "delegate",
        entity: Some((EntityType::Agent, AGENT_NAME)),
        keep: &[
            text(AGENT_NAME, attributes::AGENT_NAME, 200),
            text(&["description"], attributes::AGENT_DESCRIPTION, 1000),
            text(&["model"], attributes::AGENT_MODEL, 200),
            text(&["effort", "reasoning_effort"], attributes::AGENT_EFFORT, 40),
            flag(&["run_in_background"], attributes::AGENT_RUN_IN_BACKGROUND),
            text(&["isolation"], attributes::ISOLATION, 40),
            text(&["mode"], attributes::AGENT_PERMISSION_MODE, 40),
            text(&["name"], attributes::TEAMMATE_NAME, 200),
            text(&["team_name"], attributes::TEAM_NAME, 200),
            text(&["task_name"], attributes::AGENT_TASK_NAME, 200),
        ],
        body: PROMPT,
        title: |input| {
            let what = input.text(&["description"]).or_else(|| input.text(PROMPT)).map(|what| line(what, 80));
            match (input.text(AGENT_NAME), what) {
                (Some(name), Some(what)) => format!("Delegate to {}: {what}", line(name, 60)),
                (Some(name), None) => format!("Delegate to {}", line(name, 60)),
                (None, Some(what)) => format!("Delegate: {what}"),
                (None, None) => "Delegate to an agent".to_owned(),
            }
        },
        also: Some(|_, meaning| activity(meaning, "delegation")),
        ..COORDINATE
    },
    Row {
        names: &["wait_agent"],
        label: Some("Wait for agent"),
        operation: "wait",
        importance: Importance::Minor,
        keep: &[
            texts(&["targets", "ids"], attributes::AGENT_IDS, 100),
            number(&["timeout_ms"], attributes::TIMEOUT_MS),
        ],
        title: |input| match input.list(&["targets", "ids"]).map_or(0, <[Value]>::len) {
            0 => "Wait for agents".to_owned(),
            1 => "Wait for an agent".to_owned(),
            many => format!("Wait for {many} agents"),
        },
        also: Some(|_, meaning| activity(meaning, "agent_step")),
        ..COORDINATE
    },
    Row {
        names: &["close_agent", "interrupt_agent"],
        label: Some("Close agent"),
        entity: Some((EntityType::Agent, TARGET)),
        keep: &[id(TARGET, attributes::AGENT_TARGET)],
        title: |input| {
            let verb = if input.tool == "interrupt_agent" { "Interrupt" } else { "Close" };
            format!("{verb} {}", target(input))
        },
        also: Some(|_, meaning| activity(meaning, "agent_step")),
        ..COORDINATE
    },
    Row {
        names: &["resume_agent"],
        label: Some("Resume agent"),
        entity: Some((EntityType::Agent, TARGET)),
        keep: &[id(TARGET, attributes::AGENT_TARGET)],
        title: |input| format!("Resume {}", target(input)),
        also: Some(|_, meaning| activity(meaning, "agent_step")),
        ..COORDINATE
    },
    Row {
        names: &["SendMessage", "send_message", "send_input", "followup_task", "assign_task"],
        label: Some("Send message"),
        operation: "message",
        entity: Some((EntityType::Agent, TARGET)),
        keep: &[
            id(TARGET, attributes::AGENT_TARGET),
            text(&["summary"], attributes::MESSAGE_SUMMARY, 200),
            text(&["type"], attributes::MESSAGE_TYPE, 60),
            flag(&["interrupt"], attributes::INTERRUPT),
        ],
        body: &["message", "content", "prompt"],
        title: |input| {
            let said = input.text(&["summary", "message", "content", "prompt"]).map(|said| line(said, 70));
            match said {
                Some(said) => format!("Tell {}: {said}", target(input)),
                None => format!("Send a message to {}", target(input)),
            }
        },
        also: Some(|_, meaning| activity(meaning, "message")),
        ..COORDINATE
    },
    Row {
        names: &["ListAgents", "ListPeers", "list_agents"],
        label: Some("List agents"),
        operation: "list",
        importance: Importance::Minor,
        title: |_| "List agents".to_owned(),
        also: Some(|_, meaning| activity(meaning, "agent_step")),
        ..COORDINATE
    },
    Row {
        names: &["Workflow"],
        label: Some("Run workflow"),
        operation: "delegate",
        entity: Some((EntityType::Agent, &["name", "title", "scriptPath"])),
        files: &["scriptPath"],
        keep: &[
            text(&["name"], attributes::WORKFLOW_NAME, 200),
            text(&["description", "title"], attributes::WORKFLOW_DESCRIPTION, 1000),
            text(&["resumeFromRunId"], attributes::WORKFLOW_RESUMED_FROM, 200),
        ],
        title: |input| match input.text(&["name", "title", "description", "scriptPath"]) {
            Some(name) => format!("Run workflow: {}", line(input.display_path(name), 90)),
            None => "Run a workflow".to_owned(),
        },
        also: Some(|_, meaning| activity(meaning, "delegation")),
        ..COORDINATE
    },
    Row {
        names: &["spawn_agents_on_csv"],
        label: Some("Delegate in bulk"),
        operation: "delegate",
        files: &["csv_path", "output_csv_path"],
        title: |input| match input.text(&["csv_path"]) {
            Some(path) => format!("Delegate one agent per row of {}", input.display_path(path)),
            None => "Delegate one agent per row".to_owned(),
        },
        also: Some(|_, meaning| activity(meaning, "delegation")),
        ..COORDINATE
    },
    Row {
        names: &["SubagentHandback", "report_agent_job_result"],
        label: Some("Report back"),
        title: |_| "Report back to the agent that asked".to_owned(),
        also: Some(|_, meaning| activity(meaning, "handoff")),
        ..COORDINATE
    },
    Row {
        names: &["TeamCreate", "TeamDelete"],
        label: Some("Team"),
        keep: &[text(&["team_name", "name"], attributes::TEAM_NAME, 200)],
        title: |input| {
            let verb = if input.tool == "TeamDelete" { "Dissolve" } else { "Form" };
            match input.text(&["team_name", "name"]) {
                Some(name) => format!("{verb} team {}", line(name, 80)),
                None => format!("{verb} a team"),
            }
        },
        also: Some(|_, meaning| activity(meaning, "agent_step")),
        ..COORDINATE
    },
    Row {
        names: &["Skill", "SlashCommand"],
        subtype: SubtypeKey::SkillUse,
        operation: "invoke",
        keep: &[text(&["args"], attributes::SKILL_ARGS, 400)],
        body: &["args"],
        title: |input| match skill(input) {
            Some(name) => match input.text(&["args"]) {
                Some(args) => format!("Use skill {}: {}", line(name, 60), line(args, 50)),
                None => format!("Use skill {}", line(name, 100)),
            },
            None => "Use a skill".to_owned(),
        },
        also: Some(|input, meaning| {
            activity(meaning, "skill_use");
            if let Some(name) = skill(input) {
                skills::mark(&mut meaning.metadata, name, skills::Activation::Tool);
                meaning.semantics.entity = Some((EntityType::Skill, line(name, 200)));
            }
        }),
        ..COORDINATE
    },
    Row {
        names: &["propose_skills"],
        subtype: SubtypeKey::SkillUse,
        label: Some("Propose skills"),
        lane: Lane::Planning,
        operation: "propose",
        keep: &[count(&["proposals"], attributes::ITEM_COUNT)],
        title: |_| "Propose skills".to_owned(),
        also: Some(|_, meaning| activity(meaning, "skill_use")),
        ..COORDINATE
    },
];

/// Takes the glued namespace off an agent tool of Codex.
///
/// A plain `wait` belongs to code mode, but behind a namespace it waits for agents.
pub(crate) fn without_namespace(tool: &str) -> &str {
    for namespace in NAMESPACES {
        let Some(rest) = tool.strip_prefix(namespace) else { continue };
        let rest = rest.trim_start_matches(['.', '_', ':', '/']);
        if rest == "wait" {
            return "wait_agent";
        }
        if AGENT_TOOLS.contains(&rest) {
            return rest;
        }
    }
    tool
}

fn activity(meaning: &mut Meaning, kind: &str) {
    meaning.metadata.insert(attributes::ACTIVITY_TYPE.to_owned(), Value::from(kind));
}

/// Returns whom a call is about: by name, for an id says nothing to a person.
fn target(input: &Input<'_>) -> String {
    let named = input.id(TARGET).filter(|target| !is_id(target));
    named.map_or_else(|| "an agent".to_owned(), |target| line(&target, 60))
}

/// Returns whether a name is only an id: long, of hexadecimal digits and dashes.
fn is_id(name: &str) -> bool {
    name.len() > 14 && name.chars().all(|letter| letter.is_ascii_hexdigit() || letter == '-')
}

/// Returns the skill's name. The older slash command tool gives a whole command line.
fn skill<'a>(input: &Input<'a>) -> Option<&'a str> {
    let given = input.text(&["skill", "name", "command"])?;
    let word = given.split_whitespace().next()?;
    Some(word.strip_prefix('/').filter(|rest| !rest.is_empty()).unwrap_or(word))
}
