//! Defines the knowledge of each channel as rules about columns: no scenario is named here.
//!
//! Where both channels were captured, the files are believed about whatever they tell of, and hooks about the rest.

use std::collections::BTreeMap;

use agent_tracer_event::{Agent, Channel};

use super::observed::{Happened, state_line};
use super::table::{Call, How, ResponseSums, Row};

/// The tools of Codex that it runs without asking a hook.
const WITHOUT_HOOKS: &[&str] =
    &["exec", "wait", "write_stdin", "web_search", "image_generation", "tool_search"];

/// Returns whether a channel tells of a column at all.
fn knows(agent: Agent, channel: Channel, column: &str) -> bool {
    let is_hook = channel == Channel::Hook;
    match (agent, column) {
        // A prompt that a hook held back is in no row of its own.
        (_, "blocked") => is_hook,
        // What a teammate reports is put into the conversation, past the hooks.
        (_, "messages") => !is_hook,
        // Hooks of Claude Code do not contain the prompt of an agent either.
        (Agent::CLAUDE_CODE, "orders") => !is_hook,
        // Esc, and No in a dialog, end a turn of Claude Code without a hook.
        (Agent::CLAUDE_CODE, "interrupts") => !is_hook,
        // Only hooks report that the user was asked and that auto mode decided.
        (_, "asks" | "refusals") => is_hook,
        // Claude Code writes down what it tries again; Codex tells its hooks of every attempt.
        (Agent::CLAUDE_CODE, "failed_requests") => !is_hook,
        (Agent::CODEX, "failed_requests") => is_hook,
        // No hook of Codex ends a turn that the API failed.
        (Agent::CODEX, "errors") => !is_hook,
        _ => true,
    }
}

/// Returns whether a channel reports the requests of an agent or of the client itself.
fn knows_tokens(agent: Agent, channel: Channel, whose: &str) -> bool {
    match (agent, channel, whose) {
        // What the client asks for itself is at most in its account; the titles of threads are nowhere.
        (_, _, "title" | "search") => false,
        (Agent::CLAUDE_CODE, Channel::Transcript, whose) => whose != "compaction",
        (Agent::CLAUDE_CODE, ..) => false,
        (Agent::CODEX, Channel::Hook, whose) => whose != "compaction",
        _ => true,
    }
}

/// Returns how a channel sees a call that ended this way: not at all, or in this state.
fn sees(agent: Agent, channel: Channel, call: &Call) -> Option<String> {
    let is = |state: &str| Some(state.to_owned());
    if channel != Channel::Hook {
        return Some(call.state.clone());
    }
    match agent {
        Agent::CLAUDE_CODE => match (call.state.as_str(), call.how) {
            // Nothing closes them but what comes after them.
            ("interrupted", _) | (_, Some(How::Dialog | How::Cut)) => is("running"),
            // The batch has the words, and nothing says whose they are.
            (_, Some(How::Words)) => is("succeeded"),
            (state, _) => is(state),
        },
        _ => match (call.state.as_str(), call.how) {
            _ if WITHOUT_HOOKS.contains(&call.tool.as_str()) => None,
            (_, Some(How::Unattempted)) => None,
            // The result of a failed command comes without its exit code.
            ("failed", _) if call.tool == "Bash" => is("succeeded"),
            // Only successful calls report their end.
            ("failed" | "denied" | "interrupted", _) => is("running"),
            (state, _) => is(state),
        },
    }
}

/// Returns what these channels must tell, when this happened.
pub(super) fn expected(row: &Row, channels: &[Channel]) -> Happened {
    let row = row.seen_by(channels);
    let agent = row.agent;
    let any = |column: &str| channels.iter().any(|channel| knows(agent, *channel, column));
    let count = |column: &str| if any(column) { row.number(column) } else { 0 };
    let has_files = channels.contains(&Channel::Transcript);
    let main_errors = row.errors.iter().filter(|(_, agent)| agent.is_none()).count();
    let unknown_errors = if any("errors") { 0 } else { i64::try_from(main_errors).unwrap() };
    let blocked = if any("blocked") { 0 } else { row.number("blocked") };
    // A review is a thread that no hook calls a subagent: neither what it is nor that it ended.
    let is_hidden = |kind: &str| agent == Agent::CODEX && kind == "review" && !has_files;
    let hidden = row.agents.iter().filter(|child| is_hidden(&child.kind)).count();
    let mut numbers = BTreeMap::from([
        ("prompts", row.number("prompts") - blocked + count("messages")),
        ("answers", row.number("answers") - unknown_errors),
        ("reports", row.number("reports") - i64::try_from(hidden).unwrap()),
    ]);
    for column in ["orders", "interrupts", "asks", "refusals", "failed_requests"] {
        numbers.insert(column, count(column));
    }
    let mut calls = Vec::new();
    for call in &row.calls {
        // The last is the most believed.
        let state = channels.iter().filter_map(|channel| sees(agent, *channel, call)).next_back();
        if let Some(state) = state {
            calls.push(state_line(&call.tool, &state, call.agent.as_deref()));
        }
    }
    let mut agents = Vec::new();
    for child in &row.agents {
        let kind = if is_hidden(&child.kind) { "-" } else { &child.kind };
        agents.push(format!("{} {kind} < {}", child.id, child.parent));
    }
    let mut errors = Vec::new();
    if any("errors") {
        errors.extend(row.errors.iter().map(|(error, agent)| match agent {
            Some(agent) => format!("{error} @{agent}"),
            None => error.clone(),
        }));
    }
    // A rollout does not say who wanted a compaction.
    let has_trigger = agent == Agent::CLAUDE_CODE || channels.contains(&Channel::Hook);
    let compactions = row.compactions.iter();
    let mut compactions: Vec<String> =
        compactions.map(|trigger| if has_trigger { trigger.clone() } else { "-".to_owned() }).collect();
    let tokens: BTreeMap<String, ResponseSums> = row
        .tokens
        .iter()
        .filter(|(whose, _)| channels.iter().any(|channel| knows_tokens(agent, *channel, whose)))
        .map(|(whose, tokens)| (whose.clone(), *tokens))
        .collect();
    // The account has everything in it. Older versions keep none, and a client that is killed cannot write it.
    let is_old = ["2.1.150", "2.1.197"].contains(&row.version.as_str());
    let keeps = agent == Agent::CLAUDE_CODE && !is_old && !row.killed;
    let account = (keeps && has_files).then(|| {
        if let Some(account) = row.account {
            return account;
        }
        let mut sum = [0; 4];
        for tokens in row.tokens.values() {
            for (sum, tokens) in sum.iter_mut().zip(&tokens[1..]) {
                *sum += tokens;
            }
        }
        sum
    });
    calls.sort();
    agents.sort();
    errors.sort();
    compactions.sort();
    Happened { numbers, calls, agents, errors, compactions, tokens, account }
}
