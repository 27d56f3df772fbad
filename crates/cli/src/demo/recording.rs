//! The recorded sessions inside the program, one story each.
//!
//! A story is lines of JSON (`tests/real-clients/demo/record` makes them). The first names the agent, the start and the
//! ids that occur in it; each other line is a scene, `at` milliseconds later: the payload of a `hook` or a
//! `statusline`, a `row` that the client appended to a `file`, or a `whole` file. Files are named from the agent's
//! home.

use agent_tracer_event::Agent;
use serde::Deserialize;
use serde_json::Value;

use crate::failure::Failure;

const TEXTS: &[&str] = &[
    include_str!("../../demo/checkout.jsonl"),
    include_str!("../../demo/forecast.jsonl"),
    include_str!("../../demo/release.jsonl"),
    include_str!("../../demo/station.jsonl"),
    include_str!("../../demo/limit.jsonl"),
];

/// One recorded session, with its subagents.
#[derive(Debug)]
pub(crate) struct Story {
    /// Name of the story.
    pub(crate) name: String,
    /// Recorded agent.
    pub(crate) agent: Agent,
    /// Start of the recording, in milliseconds since 1970.
    pub(crate) began_ms: i64,
    /// Every id in it, the longest first.
    pub(crate) ids: Vec<String>,
    /// Scenes in order.
    pub(crate) scenes: Vec<Scene>,
}

/// One thing that happened.
#[derive(Debug, Deserialize)]
pub(crate) struct Scene {
    /// Milliseconds since the story began.
    #[serde(rename = "at")]
    pub(crate) at_ms: i64,
    #[serde(flatten)]
    pub(crate) what: SceneKind,
}

/// Lists the kinds of scenes.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum SceneKind {
    /// The agent called the hook.
    Hook { hook: Value },
    /// The agent asked for its status line.
    StatusLine { statusline: Value },
    /// The agent appended a line to one of its files.
    Row { file: String, row: Value },
    /// The agent wrote a file at once.
    Whole { file: String, whole: Value },
}

#[derive(Deserialize)]
struct Head {
    story: String,
    agent: Agent,
    began: i64,
    ids: Vec<String>,
}

/// Returns every story.
pub(crate) fn stories() -> Result<Vec<Story>, Failure> {
    TEXTS
        .iter()
        .map(|text| {
            read(text).map_err(|error| Failure::new(format!("cannot read a recorded session: {error}")))
        })
        .collect()
}

fn read(text: &str) -> Result<Story, serde_json::Error> {
    let mut lines = text.lines();
    let head: Head = serde_json::from_str(lines.next().unwrap_or_default())?;
    let scenes = lines.map(serde_json::from_str).collect::<Result<Vec<Scene>, _>>()?;
    let mut ids = head.ids;
    // One id may begin another; the longer one has to be found first.
    ids.sort_by_key(|id| std::cmp::Reverse(id.len()));
    Ok(Story { name: head.story, agent: head.agent, began_ms: head.began, ids, scenes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hooks(story: &Story) -> impl Iterator<Item = &Value> {
        story.scenes.iter().filter_map(|scene| match &scene.what {
            SceneKind::Hook { hook } => Some(hook),
            _ => None,
        })
    }

    fn count(stories: &[Story], agent: Agent, event: &str) -> usize {
        let of_agent = stories.iter().filter(|story| story.agent == agent);
        of_agent.flat_map(hooks).filter(|hook| hook["hook_event_name"] == event).count()
    }

    #[test]
    fn the_stories_hold_what_a_demo_has_to_show_of_both_agents() {
        let stories = stories().expect("stories");
        for agent in [Agent::CLAUDE_CODE, Agent::CODEX] {
            for event in ["SubagentStart", "PermissionRequest", "PreCompact", "SessionEnd"] {
                assert!(count(&stories, agent, event) > 0, "{agent:?} {event}");
            }
        }
        assert!(count(&stories, Agent::CLAUDE_CODE, "PostToolUseFailure") > 2);
        assert!(count(&stories, Agent::CLAUDE_CODE, "StopFailure") > 0);
    }

    #[test]
    fn subagents_run_in_parallel_and_one_inside_another() {
        let stories = stories().expect("stories");
        let checkout = stories.iter().find(|story| story.name == "checkout").expect("the story");
        let (mut running, mut most, mut nested) = (0, 0, false);
        for hook in hooks(checkout) {
            match hook["hook_event_name"].as_str() {
                Some("SubagentStart") => running += 1,
                Some("SubagentStop") => running -= 1,
                Some("PreToolUse") => nested |= hook["tool_name"] == "Agent" && hook["agent_id"].is_string(),
                _ => {}
            }
            most = most.max(running);
        }
        assert!(most >= 3, "{most}");
        assert!(nested);
    }

    #[test]
    fn scenes_are_in_order_and_files_stay_in_the_agents_home() {
        for story in stories().expect("stories") {
            assert!(story.scenes.is_sorted_by_key(|scene| scene.at_ms), "{}", story.name);
            for scene in &story.scenes {
                if let SceneKind::Row { file, .. } | SceneKind::Whole { file, .. } = &scene.what {
                    assert!(!file.starts_with('/') && !file.contains(".."), "{file}");
                }
            }
        }
    }
}
