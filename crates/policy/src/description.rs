//! A rule in words that a person reads: one line for each thing that has to be so.
//!
//! Law: every key that a rule can hold has words here, so that no condition is hidden from who looks at the list.

use std::fmt::Display;

use crate::clients::askers;
use crate::criteria::Criteria;
use crate::history::Condition;
use crate::rule::{CommandMatcher, EffectWord, Matcher, Rewrite, Rule, TimeMatcher};
use crate::words::{Moment, Scope};

impl Rule {
    /// Describes the conditions and the changes. Empty means that the rule matches every such event.
    #[must_use]
    pub fn in_words(&self) -> Vec<String> {
        let mut lines = matcher(&self.matches);
        if let Some(unless) = &self.unless {
            lines.push(format!("unless {}", matcher(unless).join(" and ")));
        }
        lines.extend(self.when.iter().map(condition));
        lines.extend(criteria(&self.require));
        if let Some(verify) = &self.verify {
            let what = verify.condition.as_deref().unwrap_or("that");
            lines.push(format!("a {} of {} verifies: {what}", verify.by.as_str(), askers()));
        }
        lines.extend(rewrite(&self.rewrite));
        lines
    }
}

/// Joins words: `a` or `b` or `c`.
fn any<T: Display>(words: impl IntoIterator<Item = T>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ")
}

/// Says something of a list that is not empty.
fn list<T>(lines: &mut Vec<String>, what: &str, words: &[T], text: impl Fn(&T) -> &str) {
    if !words.is_empty() {
        lines.push(format!("{what} {}", any(words.iter().map(text))));
    }
}

fn matcher(matcher: &Matcher) -> Vec<String> {
    let mut lines = Vec::new();
    list(&mut lines, "agent is", &matcher.agent, |agent| agent.as_str());
    list(&mut lines, "agent type is", &matcher.agent_type, |glob| glob.as_str());
    lines.extend(matcher.thread.map(|thread| format!("by the `{thread}` agent")));
    list(&mut lines, "tool is", &matcher.tool, |glob| glob.as_str());
    list(&mut lines, "touches", &matcher.path, |glob| glob.as_str());
    list(&mut lines, "reads", &matcher.reads, |glob| glob.as_str());
    list(&mut lines, "writes", &matcher.writes, |glob| glob.as_str());
    list(&mut lines, "takes away", &matcher.deletes, |glob| glob.as_str());
    lines.extend(matcher.command.as_ref().map(|it| format!("a command {}", command(it).join(", "))));
    list(&mut lines, "host is", &matcher.host, |glob| glob.as_str());
    list(&mut lines, "MCP server is", &matcher.mcp_server, |glob| glob.as_str());
    list(&mut lines, "MCP tool is", &matcher.mcp_tool, |glob| glob.as_str());
    list(&mut lines, "skill is", &matcher.skill, |glob| glob.as_str());
    list(&mut lines, "permission mode is", &matcher.permission_mode, |glob| glob.as_str());
    list(&mut lines, "project is", &matcher.project, |glob| glob.as_str());
    list(&mut lines, "prompt is like", &matcher.prompt, |glob| glob.as_str());
    lines.extend(matcher.time.as_ref().map(time));
    lines
}

fn command(command: &CommandMatcher) -> Vec<String> {
    let mut lines = Vec::new();
    list(&mut lines, "whose program is", &command.program, |glob| glob.as_str());
    list(&mut lines, "whose subcommand is", &command.subcommand, |glob| glob.as_str());
    list(&mut lines, "whose operation is", &command.operation, |glob| glob.as_str());
    list(&mut lines, "whose effect is", &command.effect, |effect| match effect {
        EffectWord::Delete => "delete",
        EffectWord::Effect(effect) => effect.as_str(),
    });
    list(&mut lines, "on", &command.target, |glob| glob.as_str());
    list(&mut lines, "inside", &command.wrapper, |glob| glob.as_str());
    list(&mut lines, "like", &command.text, |glob| glob.as_str());
    lines.extend(command.recursive.map(|is| with(is, "that reaches everything below").to_owned()));
    lines.extend(command.understood.map(|is| with(is, "that is understood").to_owned()));
    lines
}

/// Chooses between the texts for yes and for no.
fn with(is: bool, yes: &'static str) -> &'static str {
    match (is, yes) {
        (true, yes) => yes,
        (false, "that is understood") => "that is not understood",
        (false, _) => "that does not reach everything below",
    }
}

fn time(time: &TimeMatcher) -> String {
    let clock = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
    let days = match time.days.as_slice() {
        [] => String::new(),
        days => format!(" on {}", any(days)),
    };
    format!("from {} to {}{days}", clock(time.from), clock(time.to))
}

const fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Turn => "in this turn",
        Scope::Task => "in this task",
        Scope::Tree => "in this task and its subagents",
        Scope::Day => "today",
    }
}

fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Tokens { per, over } => format!("more than {over} tokens {}", scope(*per)),
        Condition::Cost { per, over_micros } => {
            let (dollars, cents) = (over_micros / 1_000_000, over_micros % 1_000_000 / 10_000);
            format!("more than ${dollars}.{cents:02} {}", scope(*per))
        }
        Condition::Repeated(times) => format!("the same call was made {times} times or more before"),
        Condition::FailuresInARow(times) => format!("{times} calls or more failed in a row"),
        Condition::UnreadEdit(true) => "changes a file that was not read".to_owned(),
        Condition::UnreadEdit(false) => "changes only files that were read".to_owned(),
        Condition::MinutesSince { moment, over } => {
            let what = match moment {
                Moment::Prompt => "the last prompt",
                Moment::Edit => "the last change of a file",
                Moment::Test => "the last run of tests",
                Moment::Commit => "the last commit",
                Moment::Start => "the beginning of the task",
            };
            format!("more than {over} minutes since {what}")
        }
    }
}

pub(crate) fn criteria(criteria: &Criteria) -> Vec<String> {
    let mut lines = Vec::new();
    for (is_asked, line) in [
        (criteria.tests_passed, "requires that tests passed after the last change"),
        (criteria.failures_handled, "requires that failed commands were dealt with"),
        (criteria.todos_closed, "requires that no work item is open"),
        (criteria.mentioned_opened, "requires that files named in the prompt were opened"),
    ] {
        lines.extend(is_asked.then(|| line.to_owned()));
    }
    list(&mut lines, "requires that something was written to", &criteria.wrote, |glob| glob.as_str());
    lines
}

fn rewrite(rewrite: &Rewrite) -> Vec<String> {
    let mut lines = Vec::new();
    if !rewrite.set.is_empty() {
        lines.push(format!("sets {}", any(rewrite.set.keys())));
    }
    list(&mut lines, "takes away", &rewrite.remove, String::as_str);
    lines.extend(rewrite.add_flag.as_ref().map(|flag| format!("adds `{flag}`")));
    lines.extend(rewrite.directory.as_ref().map(|folder| format!("starts in `{folder}`")));
    lines
}

#[cfg(test)]
mod tests {
    use crate::read;

    fn words(rule: &str) -> Vec<String> {
        let file =
            read(&format!("version = 1\n[[rule]]\nname = \"r\"\nreason = \"because\"\n{rule}")).unwrap();
        file.rules[0].in_words()
    }

    #[test]
    fn every_key_of_a_matcher_is_described() {
        let lines = words(
            r#"
            on = "PreToolUse"
            decision = "deny"
            match.agent = "codex"
            match.agent_type = ["Explore", "writer-*"]
            match.thread = "subagent"
            match.tool = "Bash"
            match.path = "p"
            match.reads = "r"
            match.writes = "w"
            match.deletes = "d"
            match.command = { program = "git", subcommand = "push", operation = "o", effect = ["delete", "network"], target = "t", wrapper = "sudo", text = "x", recursive = false, understood = false }
            match.host = "h"
            match.mcp_server = "s"
            match.mcp_tool = "m"
            match.skill = "k"
            match.permission_mode = "plan"
            match.project = "/srv"
            match.time = { days = ["sat", "sun"], from = "22:00", to = "06:30" }
            unless.tool = "Read"
            unless.reads = "docs/**"
            "#,
        );
        assert_eq!(
            lines,
            [
                "agent is `codex`",
                "agent type is `Explore` or `writer-*`",
                "by the `subagent` agent",
                "tool is `Bash`",
                "touches `p`",
                "reads `r`",
                "writes `w`",
                "takes away `d`",
                "a command whose program is `git`, whose subcommand is `push`, whose operation is `o`, whose effect is \
                 `delete` or `network`, on `t`, inside `sudo`, like `x`, that does not reach everything below, that is \
                 not understood",
                "host is `h`",
                "MCP server is `s`",
                "MCP tool is `m`",
                "skill is `k`",
                "permission mode is `plan`",
                "project is `/srv`",
                "from 22:00 to 06:30 on `sat` or `sun`",
                "unless tool is `Read` and reads `docs/**`",
            ]
        );
        assert_eq!(
            words("on = \"UserPromptSubmit\"\ndecision = \"deny\"\nmatch.prompt = \"*secret*\""),
            ["prompt is like `*secret*`"]
        );
    }

    #[test]
    fn history_criteria_and_rewrites_are_described() {
        let lines = words(
            r#"
            on = "PreToolUse"
            decision = "rewrite"
            when.tokens = { per = "tree", over = 1000 }
            when.cost_usd = { per = "day", over = 2.5 }
            when.repeated = 3
            when.failures_in_a_row = 2
            when.unread_edit = true
            when.minutes_since = { last = "test", over = 9 }
            rewrite.set = { timeout = 5 }
            rewrite.remove = ["run_in_background"]
            rewrite.add_flag = "--dry-run"
            rewrite.directory = "sub"
            "#,
        );
        assert_eq!(
            lines,
            [
                "more than 1000 tokens in this task and its subagents",
                "more than $2.50 today",
                "more than 9 minutes since the last run of tests",
                "the same call was made 3 times or more before",
                "2 calls or more failed in a row",
                "changes a file that was not read",
                "sets `timeout`",
                "takes away `run_in_background`",
                "adds `--dry-run`",
                "starts in `sub`",
            ]
        );
        let lines = words(
            r#"
            on = "Stop"
            decision = "deny"
            require = { tests_passed = true, failures_handled = true, todos_closed = true, mentioned_opened = true, wrote = ["LOG.md"] }
            "#,
        );
        assert_eq!(lines.len(), 5);
        assert!(lines.iter().all(|line| line.starts_with("requires that ")), "{lines:?}");
    }
}
