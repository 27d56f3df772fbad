//! Looks up the history in the ledger, for one question.
//!
//! Law: nothing is looked up that no rule asks for, nothing twice however many rules ask, and everything that is looked up
//! is an index and a bound. What is not known up to this very event, and with it, is not known ([`Reach`]). How a command
//! of Codex ended is in its own file, which may be read a moment after the hook: that is waited for, as long as there is time.

use std::cell::{Cell, OnceCell};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::{Call, Deed, History, Moment, Scope, Since, Work};
use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Agent, CallState, Channel, Kind, Millis, Subject, TaskId};
use agent_tracer_ledger::view::Task;
use agent_tracer_ledger::{PastAction, Range, Store, TaskHistory, UsageBy, Utc};

use crate::daemon::arrivals::Reach;
use crate::daemon::decision::Spent;
use crate::daemon::stop_deferrals::StopDeferrals;

/// The recent actions of an agent, for conditions about the last of something.
const LATELY: usize = 500;
/// So many of the last deeds usually tell when something was last done.
const LAST: usize = 16;
/// The most actions that criteria are evaluated against.
const WORK_MAX: usize = 2000;
/// The interval of reading an agent's own file again.
const MOMENT: Duration = Duration::from_millis(2);
/// The most levels of a tree.
const DEPTH: usize = 64;
/// The most names of files taken from a prompt.
const MENTIONED_MAX: usize = 50;

/// The kinds of calls that change a file.
const CHANGES: &[&str] = &["create_file", "modify_file", "delete_file", "rename_file", "apply_patch"];

/// The moment of a question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When {
    pub(crate) now: Millis,
    /// The beginning of the day, where the human is.
    pub(crate) midnight: Millis,
}

/// The past of one question.
pub(crate) struct LedgerHistory<'q> {
    pub(crate) agent: Agent,
    /// The payload of the question.
    pub(crate) payload: &'q [u8],
    pub(crate) past: &'q TaskHistory,
    pub(crate) store: &'q dyn Store,
    pub(crate) when: When,
    pub(crate) reach: Reach<'q>,
    pub(crate) put_off: &'q StopDeferrals,
    pub(crate) known: OnceCell<Option<(Who, TaskHistory)>>,
    pub(crate) looked: LookupCache,
    pub(crate) times: Times,
}

/// The times spent.
#[derive(Default)]
pub(crate) struct Times {
    /// The wait until earlier events were in the ledger.
    waited: Cell<Duration>,
    /// All questions about the past together, with the waiting.
    asked: Cell<Duration>,
}

impl Times {
    fn asking<T>(&self, ask: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let answer = ask();
        self.asked.set(self.asked.get() + began.elapsed());
        answer
    }

    /// The time of waiting, and the time of lookups.
    pub(crate) fn spent(&self) -> Spent {
        let waited = self.waited.get();
        Spent { waited, looked: self.asked.get().saturating_sub(waited) }
    }
}

/// Lookups already made.
#[derive(Default)]
pub(crate) struct LookupCache {
    lately: OnceCell<Option<Vec<PastAction>>>,
    failures: OnceCell<Option<u64>>,
    repeats: OnceCell<Option<u64>>,
    /// By scope.
    spent: [OnceCell<Option<(u64, u64)>>; Scope::ALL.len()],
    /// By moment.
    since: [OnceCell<Option<Since>>; Moment::ALL.len()],
    work: OnceCell<Option<Work>>,
    task: OnceCell<Option<Task>>,
}

/// The scope of the history, in the ledger's vocabulary.
#[derive(Clone, Debug)]
pub(crate) struct Who {
    task: TaskId,
    turn: Option<String>,
    /// The natural key of the call.
    call: Option<String>,
}

impl LedgerHistory<'_> {
    /// Returns the scope and its history; `None` if it is not known up to now.
    fn known(&self) -> Option<&(Who, TaskHistory)> {
        let look = || {
            let who = self.identify()?;
            let began = Instant::now();
            let past = self.reach.history(self.past, &who.task);
            self.times.waited.set(began.elapsed());
            Some((who, past?))
        };
        self.known.get_or_init(look).as_ref()
    }

    /// The readers know the agent that acts; nothing of the reading is stored.
    fn identify(&self) -> Option<Who> {
        let reading = read(&Observation {
            agent: self.agent,
            channel: Channel::Hook,
            name: "question",
            arrived: self.when.now,
            source: Source::Hook,
            body: self.payload,
            context: &Context::default(),
        });
        let is_call = |kind: Kind| kind == Kind::ToolUsed || kind == Kind::TerminalCommand;
        let events = || reading.entries.iter().filter(|entry| matches!(entry.subject, Subject::Event(_)));
        let entry = events().next().or(reading.entries.first())?;
        let call = events().find(|entry| {
            entry.tool_use_id.is_some() || matches!(entry.subject, Subject::Event(kind) if is_call(kind))
        });
        Some(Who {
            task: entry.task.task_id(),
            turn: events().find_map(|entry| entry.turn.clone()),
            call: call.map(|entry| entry.key.clone()),
        })
    }

    fn lately(&self) -> Option<&[PastAction]> {
        let look = || {
            let (who, past) = self.known()?;
            past.actions(&who.task, Millis(0), LATELY).ok()
        };
        self.looked.lately.get_or_init(look).as_deref()
    }

    /// The task as it stands.
    fn task(&self) -> Option<&Task> {
        let look = || self.store.task(self.when.now, &self.known()?.0.task).ok();
        self.looked.task.get_or_init(look).as_ref()
    }

    /// Tokens and millionths of a dollar.
    fn spent(&self, scope: Scope) -> Option<(u64, u64)> {
        *self.looked.spent.get(scope as usize)?.get_or_init(|| self.look_at_spent(scope))
    }

    fn look_at_spent(&self, scope: Scope) -> Option<(u64, u64)> {
        let (who, past) = self.known()?;
        let of = |usage: &agent_tracer_ledger::view::UsageView| {
            (usage.tokens.total(), (usage.cost_usd.max(0.0) * 1e6).round() as u64)
        };
        match scope {
            Scope::Turn => {
                let turn = past.turn(&who.task, who.turn.as_deref()?).ok()?;
                Some((turn.tokens, turn.cost_micros))
            }
            Scope::Task => Some(of(&self.task()?.usage)),
            Scope::Tree => {
                let own = self.task()?;
                let parent_of = |task: &Task| task.parent_task_id.as_deref().and_then(TaskId::parse);
                let (mut parent, mut root) = (parent_of(own), None);
                for _ in 0..DEPTH {
                    let Some(above) = &parent else { break };
                    let task = self.store.task(self.when.now, above).ok()?;
                    parent = parent_of(&task);
                    root = Some(task);
                }
                Some(of(&root.as_ref().unwrap_or(own).tree_usage))
            }
            Scope::Day => {
                let range = Range { since: Some(self.when.midnight), ..Range::default() };
                let page = self.store.usage(&range, UsageBy::Agent, &Utc).ok()?;
                let parts = page.items.iter().map(|bucket| of(&bucket.usage));
                Some(parts.fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1)))
            }
        }
    }

    fn ago(&self, at: Millis) -> Since {
        Since::Minutes(u64::try_from((self.when.now.0 - at.0).max(0) / 60_000).unwrap_or(0))
    }

    /// Files and folders that a prompt names and that are there.
    fn mentioned(text: &str, from: &Path) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            let word = word.trim_matches(|c: char| {
                matches!(c, '"' | '\'' | '`' | '(' | ')' | '<' | '>' | ',' | ';' | ':')
            });
            let word = word.strip_prefix('@').unwrap_or(word).trim_end_matches(['.', '!', '?']);
            let looks_like_a_path = word.contains('/')
                || word.rsplit_once('.').is_some_and(|(stem, ending)| {
                    !stem.is_empty()
                        && (1..=8).contains(&ending.len())
                        && ending.chars().all(char::is_alphanumeric)
                });
            if !looks_like_a_path || word.contains("://") || word.len() > 1024 {
                continue;
            }
            let path: std::path::PathBuf = from.join(word).components().collect();
            if let Some(path) = path.to_str().filter(|path| Path::new(path).exists()).map(str::to_owned)
                && !found.contains(&path)
                && found.len() < MENTIONED_MAX
            {
                found.push(path);
            }
        }
        found
    }
}

/// Returns actions, read again until the exit of each command is known or the wait is over.
fn settled(
    agent: Agent,
    mut look: impl FnMut() -> Option<Vec<PastAction>>,
    mut wait: impl FnMut() -> bool,
) -> Option<Vec<PastAction>> {
    loop {
        let deeds = look()?;
        if !deeds.iter().any(|deed| has_late_exit(agent, deed)) || !wait() {
            return Some(deeds);
        }
    }
}

/// Returns whether a command has ended and its exit code is still to come: Codex writes it to its rollout, not to hooks.
fn has_late_exit(agent: Agent, deed: &PastAction) -> bool {
    let has_ended = matches!(deed.state, CallState::Succeeded | CallState::Failed);
    agent.spec().exit_code_comes_later && deed.command.is_some() && deed.exit.is_none() && has_ended
}

/// Converts an action to the form of criteria.
fn deeds_of(deed: &PastAction) -> Vec<Deed> {
    if let Some(command) = &deed.command {
        let exit = deed.exit;
        return match deed.state {
            CallState::Denied => Vec::new(),
            _ => vec![Deed::Ran { command: command.clone(), directory: deed.directory.clone(), exit }],
        };
    }
    if deed.state != CallState::Succeeded {
        return Vec::new();
    }
    let paths = deed.paths.iter().cloned();
    match deed.subtype.as_str() {
        "read_file" => paths.map(Deed::Read).collect(),
        subtype if CHANGES.contains(&subtype) => paths.map(Deed::Changed).collect(),
        _ => Vec::new(),
    }
}

impl History for LedgerHistory<'_> {
    fn tokens(&self, _: &Call, scope: Scope) -> Option<u64> {
        self.times.asking(|| self.spent(scope).map(|(tokens, _)| tokens))
    }

    fn cost_micros(&self, _: &Call, scope: Scope) -> Option<u64> {
        self.times.asking(|| self.spent(scope).map(|(_, micros)| micros))
    }

    fn repeats(&self, _: &Call) -> Option<u64> {
        let look = || {
            let (who, past) = self.known()?;
            past.repeats(&who.task, who.call.as_deref()?).ok()?
        };
        self.times.asking(|| *self.looked.repeats.get_or_init(look))
    }

    fn failures_in_a_row(&self, _: &Call) -> Option<u64> {
        let look = || {
            let (who, past) = self.known()?;
            past.failures_in_a_row(&who.task, LATELY).ok()
        };
        self.times.asking(|| *self.looked.failures.get_or_init(look))
    }

    fn was_read(&self, _: &Call, path: &str) -> Option<bool> {
        self.times.asking(|| {
            let (who, past) = self.known()?;
            past.has_opened(&who.task, path).ok()
        })
    }

    fn since(&self, _: &Call, moment: Moment) -> Option<Since> {
        let known = self.looked.since.get(moment as usize)?;
        self.times.asking(|| *known.get_or_init(|| self.look_since(moment)))
    }

    fn deferrals(&self, call: &Call, rule: &str) -> Option<u64> {
        self.put_off.times(call, rule)
    }

    fn work(&self, call: &Call) -> Option<Work> {
        self.times.asking(|| self.looked.work.get_or_init(|| self.look_at_work(call)).clone())
    }
}

impl LedgerHistory<'_> {
    fn look_since(&self, moment: Moment) -> Option<Since> {
        let (Who { task, .. }, past) = self.known()?;
        let is = |deed: &PastAction| match moment {
            Moment::Edit => CHANGES.contains(&deed.subtype.as_str()) && deed.state == CallState::Succeeded,
            Moment::Test => deed.subtype == "run_test",
            Moment::Commit => {
                let commits = |command: &String| command.contains("git ") && command.contains("commit");
                deed.state == CallState::Succeeded && deed.command.as_ref().is_some_and(commits)
            }
            Moment::Prompt | Moment::Start => false,
        };
        match moment {
            Moment::Prompt => {
                Some(past.last_prompt(task).ok()?.map_or(Since::Never, |prompt| self.ago(prompt.at)))
            }
            Moment::Start => Some(self.ago(self.task()?.started_at)),
            Moment::Edit | Moment::Test | Moment::Commit => {
                // Most of the time it was not long ago, and a few rows are read instead of hundreds.
                let last = past.actions(task, Millis(0), LAST).ok()?;
                if let Some(deed) = last.iter().find(|deed| is(deed)) {
                    return Some(self.ago(deed.at));
                }
                let deeds = if last.len() < LAST { last.as_slice() } else { self.lately()? };
                match deeds.iter().find(|deed| is(deed)) {
                    Some(deed) => Some(self.ago(deed.at)),
                    // Longer ago than anybody looks is not never.
                    None => (deeds.len() < LATELY).then_some(Since::Never),
                }
            }
        }
    }

    fn look_at_work(&self, call: &Call) -> Option<Work> {
        let (Who { task, .. }, past) = self.known()?;
        let prompt = past.last_prompt(task).ok()?;
        let since = prompt.as_ref().map_or(Millis(0), |prompt| prompt.at);
        let until = Instant::now() + self.reach.patience.saturating_sub(self.times.waited.get());
        let deeds = settled(
            self.agent,
            || past.actions(task, since, WORK_MAX).ok(),
            || {
                std::thread::park_timeout(MOMENT);
                Instant::now() < until
            },
        )?;
        let todos = self.store.todos(task).ok()?;
        let is_open =
            |state: &str| !matches!(state, "completed" | "cancelled" | "canceled" | "deleted" | "done");
        let directory =
            prompt.as_ref().and_then(|prompt| prompt.directory.clone()).or_else(|| call.cwd.clone());
        let text = prompt.and_then(|prompt| prompt.text).unwrap_or_default();
        let mentioned = directory.map(|from| Self::mentioned(&text, Path::new(&from))).unwrap_or_default();
        Some(Work {
            deeds: deeds.iter().rev().flat_map(deeds_of).collect(),
            open_todos: Some(todos.items.iter().filter(|todo| is_open(&todo.state)).count() as u64),
            mentioned,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(state: CallState, exit: Option<i32>) -> PastAction {
        PastAction {
            at: Millis(1),
            subtype: "run_test".to_owned(),
            tool: "Bash".to_owned(),
            state,
            paths: Vec::new(),
            command: Some("cargo test".to_owned()),
            directory: None,
            exit,
        }
    }

    /// Returns the number of waits and the last exit code.
    fn seen(agent: Agent, state: CallState, known_after: usize, patience: usize) -> (usize, Option<i32>) {
        let (looks, mut waits) = (Cell::new(0), 0);
        let look = || {
            looks.set(looks.get() + 1);
            Some(vec![ran(state, (looks.get() > known_after).then_some(0))])
        };
        let deeds = settled(agent, look, || {
            waits += 1;
            waits < patience
        });
        (waits, deeds.unwrap()[0].exit)
    }

    #[test]
    fn how_a_command_of_codex_ended_is_waited_for_as_long_as_there_is_time() {
        assert_eq!(seen(Agent::CODEX, CallState::Succeeded, 0, 9), (0, Some(0)), "it is known");
        assert_eq!(seen(Agent::CODEX, CallState::Succeeded, 3, 9), (3, Some(0)));
        assert_eq!(seen(Agent::CODEX, CallState::Failed, 3, 9), (3, Some(0)));
        assert_eq!(seen(Agent::CODEX, CallState::Succeeded, 99, 9), (9, None), "it is never reported");
    }

    #[test]
    fn an_exit_that_will_not_be_reported_is_not_waited_for() {
        assert_eq!(seen(Agent::CLAUDE_CODE, CallState::Succeeded, 3, 9), (0, None));
        for state in [CallState::Running, CallState::Denied] {
            assert_eq!(seen(Agent::CODEX, state, 3, 9), (0, None), "{state:?}");
        }
        assert!(settled(Agent::CODEX, || None, || true).is_none());
    }
}
