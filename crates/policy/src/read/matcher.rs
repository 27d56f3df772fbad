//! Reads what a rule is about.

use agent_tracer_event::Agent;
use agent_tracer_shell::Effect;
use toml::de::DeTable;

use super::Reader;
use crate::glob::{Glob, PathGlob};
use crate::rule::{CommandMatcher, EffectWord, Matcher, TimeMatcher};
use crate::words::{Thread, Weekday};

/// The keys of `match` and `unless`.
pub const MATCH_KEYS: &[&str] = &[
    "agent",
    "agent_type",
    "thread",
    "tool",
    "path",
    "reads",
    "writes",
    "deletes",
    "command",
    "host",
    "mcp_server",
    "mcp_tool",
    "skill",
    "permission_mode",
    "project",
    "prompt",
    "time",
];

/// The keys of `command`.
pub const COMMAND_KEYS: &[&str] =
    &["program", "subcommand", "operation", "effect", "target", "wrapper", "text", "recursive", "understood"];

/// The keys of `time`.
pub const TIME_KEYS: &[&str] = &["days", "from", "to"];

/// Returns the ids of agents.
pub(crate) fn agents() -> Vec<&'static str> {
    Agent::ALL.iter().map(|agent| agent.as_str()).collect()
}

impl Reader<'_> {
    pub(super) fn matcher(&mut self, table: &DeTable<'_>, owner: &str) -> Matcher {
        self.check_keys(table, MATCH_KEYS, owner);
        let mut named = Vec::new();
        for spelled in self.texts(table, "agent") {
            named.extend(self.word("agent", spelled, Agent::from_any_spelling, &agents()));
        }
        let thread = self
            .text(table, "thread")
            .and_then(|spelled| self.word("thread", spelled, Thread::parse, &["main", "subagent"]));
        let command = self.table(table, "command").map(|(table, at)| self.command(table, at));
        let time = self.table(table, "time").and_then(|(table, at)| self.time(table, at));
        Matcher {
            agent: named,
            agent_type: self.globs(table, "agent_type"),
            thread,
            tool: self.globs(table, "tool"),
            path: self.paths(table, "path"),
            reads: self.paths(table, "reads"),
            writes: self.paths(table, "writes"),
            deletes: self.paths(table, "deletes"),
            command,
            host: self.any_case(table, "host"),
            mcp_server: self.globs(table, "mcp_server"),
            mcp_tool: self.globs(table, "mcp_tool"),
            skill: self.globs(table, "skill"),
            permission_mode: self.globs(table, "permission_mode"),
            project: self.paths(table, "project"),
            prompt: self.any_case(table, "prompt"),
            time,
        }
    }

    fn globs(&mut self, table: &DeTable<'_>, key: &str) -> Vec<Glob> {
        self.texts(table, key).iter().map(|(text, _)| Glob::new(text)).collect()
    }

    fn any_case(&mut self, table: &DeTable<'_>, key: &str) -> Vec<Glob> {
        self.texts(table, key).iter().map(|(text, _)| Glob::any_case(text)).collect()
    }

    pub(super) fn paths(&mut self, table: &DeTable<'_>, key: &str) -> Vec<PathGlob> {
        self.texts(table, key).iter().map(|(text, _)| PathGlob::new(text)).collect()
    }

    fn command(&mut self, table: &DeTable<'_>, at: usize) -> CommandMatcher {
        self.check_keys(table, COMMAND_KEYS, "`command`");
        let mut names = vec!["delete"];
        names.extend(Effect::GRAVEST_FIRST.into_iter().map(Effect::as_str));
        let parse = |text: &str| match text {
            "delete" => Some(EffectWord::Delete),
            _ => Effect::GRAVEST_FIRST
                .into_iter()
                .find(|effect| effect.as_str() == text)
                .map(EffectWord::Effect),
        };
        let mut effects = Vec::new();
        for spelled in self.texts(table, "effect") {
            effects.extend(self.word("effect", spelled, parse, &names));
        }
        let command = CommandMatcher {
            program: self.globs(table, "program"),
            subcommand: self.globs(table, "subcommand"),
            operation: self.globs(table, "operation"),
            effect: effects,
            target: self.paths(table, "target"),
            wrapper: self.globs(table, "wrapper"),
            text: self.globs(table, "text"),
            recursive: self.flag(table, "recursive").map(|(flag, _)| flag),
            understood: self.flag(table, "understood").map(|(flag, _)| flag),
        };
        if table.is_empty() {
            self.fault(at, "`command` is empty".to_owned(), None);
        }
        command
    }

    fn time(&mut self, table: &DeTable<'_>, at: usize) -> Option<TimeMatcher> {
        self.check_keys(table, TIME_KEYS, "`time`");
        let names: Vec<&str> = Weekday::ALL.iter().map(|day| day.as_str()).collect();
        let mut days = Vec::new();
        for spelled in self.texts(table, "days") {
            match spelled.0.as_str() {
                "weekdays" => days.extend(Weekday::ALL.iter().take(5)),
                "weekend" => days.extend(Weekday::ALL.iter().skip(5)),
                _ => days.extend(self.word("days", spelled, Weekday::parse, &names)),
            }
        }
        let from = self.minute(table, "from");
        let to = self.minute(table, "to");
        if table.is_empty() {
            self.fault(at, "`time` is empty".to_owned(), None);
            return None;
        }
        Some(TimeMatcher { days, from: from.unwrap_or(0), to: to.unwrap_or(0) })
    }

    fn minute(&mut self, table: &DeTable<'_>, key: &str) -> Option<u16> {
        let (text, at) = self.text(table, key)?;
        let parsed = text.split_once(':').and_then(|(hour, minute)| {
            let digits = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
            if !digits(hour) || !digits(minute) {
                return None;
            }
            let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
            // The end of a day may be called 24:00.
            match (hour, minute) {
                (24, 0) => Some(0),
                (0..24, 0..60) => Some(hour * 60 + minute),
                _ => None,
            }
        });
        if parsed.is_none() {
            let hint = Some("write hours and minutes, such as `22:00`".to_owned());
            self.fault(at, format!("`{key}` cannot be `{text}`"), hint);
        }
        parsed
    }
}
