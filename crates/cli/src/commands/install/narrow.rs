//! `--events` and `--tools`: names that people type, checked against what the agents know.

use agent_tracer_agents::setup::Setup;

use crate::failure::Failure;
use agent_tracer_event::Agent;

/// Checks names of events; none given means all.
pub(super) fn events(
    agent: Agent,
    setup: &dyn Setup,
    names: &[String],
) -> Result<Option<Vec<String>>, Failure> {
    let known = setup.events();
    let mut checked = Vec::new();
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        if let Some(refused) = setup.refused_event(name) {
            let text = format!("`{name}` cannot be registered: {}", refused.reason);
            return Err(Failure::usage(text).hint(refused.hint));
        }
        checked.push(one_of("event", agent, name, &known)?);
    }
    Ok((!checked.is_empty()).then_some(checked))
}

/// Checks names of tools; none given means all. Tools of MCP servers and names after `=` are taken as they are.
pub(super) fn tools(
    agent: Agent,
    setup: &dyn Setup,
    names: &[String],
) -> Result<Option<Vec<String>>, Failure> {
    let known = setup.tools();
    let mut checked = Vec::new();
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        // Tools of servers have names that no list can hold.
        let unchecked = name.strip_prefix('=').or_else(|| name.starts_with("mcp__").then_some(name));
        match unchecked {
            Some(name) if is_matcher(name) => checked.push(name.to_owned()),
            Some(name) => {
                return Err(Failure::usage(format!("`{name}` is not a tool name"))
                    .hint("a name has letters, digits, `_` and `-`; `.*` may stand at its end"));
            }
            None => checked.push(one_of("tool", agent, name, known)?),
        }
    }
    Ok((!checked.is_empty()).then_some(checked))
}

fn is_matcher(name: &str) -> bool {
    let stem = name.strip_suffix(".*").unwrap_or(name);
    !stem.is_empty() && stem.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '-'))
}

fn one_of(what: &str, agent: Agent, name: &str, known: &[&str]) -> Result<String, Failure> {
    if known.contains(&name) {
        return Ok(name.to_owned());
    }
    let failure = Failure::usage(format!("{} has no {what} `{name}`", agent.name()));
    // Agents compare exactly, so `bash` would never match, without any sign of it.
    Err(match known.iter().find(|known| known.eq_ignore_ascii_case(name)) {
        Some(known) => failure.hint(format!("did you mean `{known}`?")),
        None if what == "tool" => failure
            .hint(format!("the {what}s are {}", known.join(", ")))
            .hint(format!("`={name}` takes the name as it is")),
        None => failure.hint(format!("the {what}s are {}", known.join(", "))),
    })
}

#[cfg(test)]
mod tests {
    use agent_tracer_agents::setup;

    use super::*;

    fn events(agent: Agent, names: &[String]) -> Result<Option<Vec<String>>, Failure> {
        super::events(agent, setup::of(agent).expect("settings"), names)
    }

    fn tools(agent: Agent, names: &[String]) -> Result<Option<Vec<String>>, Failure> {
        super::tools(agent, setup::of(agent).expect("settings"), names)
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn known_names_pass_and_none_means_all() {
        assert_eq!(events(Agent::CLAUDE_CODE, &[]).expect("all"), None);
        let stop = events(Agent::CODEX, &names(&["Stop", " SessionEnd ", ""])).expect("known");
        assert_eq!(stop, Some(names(&["Stop", "SessionEnd"])));
        let kept = tools(Agent::CLAUDE_CODE, &names(&["Bash", "mcp__files__.*", "=Novel"])).expect("known");
        assert_eq!(kept, Some(names(&["Bash", "mcp__files__.*", "Novel"])));
    }

    #[test]
    fn an_unknown_name_is_an_error_with_the_list() {
        let error = events(Agent::CODEX, &names(&["PostToolBatch"])).expect_err("unknown").to_string();
        assert!(
            error.starts_with(
                "error: Codex has no event `PostToolBatch`\nhint: the events are SessionStart, "
            ),
            "{error}"
        );
        let error = tools(Agent::CODEX, &names(&["Grep"])).expect_err("unknown").to_string();
        assert!(error.contains("apply_patch") && error.contains("`=Grep`"), "{error}");
    }

    #[test]
    fn another_case_gets_the_right_spelling() {
        let error = tools(Agent::CLAUDE_CODE, &names(&["bash"])).expect_err("unknown").to_string();
        assert!(error.contains("hint: did you mean `Bash`?"), "{error}");
    }

    #[test]
    fn what_would_break_the_agent_cannot_be_asked_for() {
        let error = events(Agent::CLAUDE_CODE, &names(&["WorktreeCreate"])).expect_err("refused").to_string();
        assert!(error.contains("would break worktrees"), "{error}");
        assert!(events(Agent::CLAUDE_CODE, &names(&["MessageDisplay"])).is_ok());
    }

    #[test]
    fn patterns_that_mean_something_else_are_refused() {
        for name in ["=", "=a|b", "=.*", "mcp__a(b)", "=^x$"] {
            assert!(tools(Agent::CLAUDE_CODE, &names(&[name])).is_err(), "{name}");
        }
    }
}
