//! Looks up the evidence about the past in the ledger, for one question.
//!
//! Law: nothing is looked up that no rule asks for, and everything that is looked up is an index and a bound. What is
//! not known up to this very event, and with it, is not known ([`ArrivalWait`]). How a command of Codex ended is in its own
//! file, which may be read a moment after the hook: that is waited for, as long as there is time.

use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{Call, Scope};
use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Agent, CallState, Channel, Kind, Millis, Subject, TaskId};
use agent_tracer_ledger::view::Task;
use agent_tracer_ledger::{PastAction, PastPrompt, PastSpending, Store, TaskHistory};

use crate::daemon::arrivals::ArrivalWait;
use crate::daemon::decision::LookupTimes;
use crate::daemon::stop_deferrals::StopDeferrals;
use crate::evidence::{Evidence, spending_between};

/// The interval of reading an agent's own file again.
const POLL: Duration = Duration::from_millis(2);
/// The most levels of a tree.
const DEPTH: usize = 64;
/// The most names of files taken from a prompt.
const MENTIONED_MAX: usize = 50;

/// The moment of a question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuestionTime {
    pub(crate) now: Millis,
    /// The beginning of the day, where the human is.
    pub(crate) midnight: Millis,
}

/// The evidence of the ledger for one question.
pub(crate) struct LedgerEvidence<'q> {
    pub(crate) agent: Agent,
    /// The payload of the question.
    pub(crate) payload: &'q [u8],
    pub(crate) history: &'q TaskHistory,
    pub(crate) store: &'q dyn Store,
    pub(crate) time: QuestionTime,
    pub(crate) wait: ArrivalWait<'q>,
    pub(crate) deferrals: &'q StopDeferrals,
    pub(crate) cache: LookupCache,
}

/// Lookups that several answers share, and the time that all of them took.
#[derive(Default)]
pub(crate) struct LookupCache {
    asker: OnceCell<Option<(Asker, TaskHistory)>>,
    task: OnceCell<Option<Task>>,
    /// The wait until earlier events were in the ledger.
    waited: Cell<Duration>,
    /// All lookups together, with the waiting.
    elapsed: Cell<Duration>,
}

/// The agent and the call that a question is about, in the ledger's vocabulary.
#[derive(Clone, Debug)]
struct Asker {
    task: TaskId,
    turn: Option<String>,
    /// The natural key of the call.
    call: Option<String>,
}

impl LedgerEvidence<'_> {
    /// Returns the times of waiting and of lookups so far.
    pub(crate) fn times(&self) -> LookupTimes {
        let waited = self.cache.waited.get();
        LookupTimes { waited, looked: self.cache.elapsed.get().saturating_sub(waited) }
    }

    fn timed<T>(&self, look_up: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let answer = look_up();
        self.cache.elapsed.set(self.cache.elapsed.get() + began.elapsed());
        answer
    }

    /// Returns the asker and its history; `None` if it is not known up to now.
    fn asker(&self) -> Option<&(Asker, TaskHistory)> {
        let look_up = || {
            let asker = self.identify()?;
            let began = Instant::now();
            let history = self.wait.history(self.history, &asker.task);
            self.cache.waited.set(began.elapsed());
            Some((asker, history?))
        };
        self.cache.asker.get_or_init(look_up).as_ref()
    }

    /// Identifies the asker by the readers, which know the agent that acts; nothing of the reading is stored.
    fn identify(&self) -> Option<Asker> {
        let reading = read(&Observation {
            agent: self.agent,
            channel: Channel::Hook,
            name: "question",
            arrived: self.time.now,
            source: Source::Hook,
            body: self.payload,
            context: &Context::default(),
        });
        let is_call = |kind: Kind| kind == Kind::ToolUsed || kind == Kind::TerminalCommand;
        // A hook may also lead to entries of a session or a turn; the call that is asked about is an event.
        let events = || reading.entries.iter().filter(|entry| matches!(entry.subject, Subject::Event(_)));
        let entry = events().next().or(reading.entries.first())?;
        let call = events().find(|entry| {
            entry.tool_use_id.is_some() || matches!(entry.subject, Subject::Event(kind) if is_call(kind))
        });
        Some(Asker {
            task: entry.task.task_id(),
            turn: events().find_map(|entry| entry.turn.clone()),
            call: call.map(|entry| entry.key.clone()),
        })
    }

    /// Returns the task as it stands.
    fn task(&self) -> Option<&Task> {
        let look_up = || self.store.task(self.time.now, &self.asker()?.0.task).ok();
        self.cache.task.get_or_init(look_up).as_ref()
    }

    fn look_up_spending(&self, scope: Scope) -> Option<PastSpending> {
        let (asker, history) = self.asker()?;
        match scope {
            Scope::Turn => history.turn(&asker.task, asker.turn.as_deref()?).ok(),
            Scope::Task => Some(PastSpending::of(&self.task()?.usage)),
            Scope::Tree => {
                let own = self.task()?;
                let parent_of = |task: &Task| task.parent_task_id.as_deref().and_then(TaskId::parse);
                let (mut parent, mut root) = (parent_of(own), None);
                for _ in 0..DEPTH {
                    let Some(above) = &parent else { break };
                    let task = self.store.task(self.time.now, above).ok()?;
                    parent = parent_of(&task);
                    root = Some(task);
                }
                Some(PastSpending::of(&root.as_ref().unwrap_or(own).tree_usage))
            }
            Scope::Day => spending_between(self.store, self.time.midnight, None),
        }
    }
}

impl Evidence for LedgerEvidence<'_> {
    fn now(&self) -> Millis {
        self.time.now
    }

    fn spending(&self, scope: Scope) -> Option<PastSpending> {
        self.timed(|| self.look_up_spending(scope))
    }

    fn repeats(&self) -> Option<u64> {
        self.timed(|| {
            let (asker, history) = self.asker()?;
            history.repeats(&asker.task, asker.call.as_deref()?).ok()?
        })
    }

    fn failures_in_a_row(&self, most: usize) -> Option<u64> {
        self.timed(|| {
            let (asker, history) = self.asker()?;
            history.failures_in_a_row(&asker.task, most).ok()
        })
    }

    fn has_opened(&self, path: &str) -> Option<bool> {
        self.timed(|| {
            let (asker, history) = self.asker()?;
            history.has_opened(&asker.task, path).ok()
        })
    }

    fn actions(&self, since: Millis, most: usize) -> Option<Vec<PastAction>> {
        self.timed(|| {
            let (asker, history) = self.asker()?;
            history.actions(&asker.task, since, most).ok()
        })
    }

    fn settled_actions(&self, since: Millis, most: usize) -> Option<Vec<PastAction>> {
        self.timed(|| {
            let (asker, history) = self.asker()?;
            let until = Instant::now() + self.wait.max_wait.saturating_sub(self.cache.waited.get());
            wait_for_exits(
                self.agent,
                || history.actions(&asker.task, since, most).ok(),
                || {
                    // Polled: the rollout is appended by another process, and a watch on the file costs more than the
                    // few looks that the deadline leaves room for.
                    std::thread::park_timeout(POLL);
                    Instant::now() < until
                },
            )
        })
    }

    fn last_prompt(&self) -> Option<Option<PastPrompt>> {
        self.timed(|| {
            let (asker, history) = self.asker()?;
            history.last_prompt(&asker.task).ok()
        })
    }

    fn started_at(&self) -> Option<Millis> {
        self.timed(|| self.task().map(|task| task.started_at))
    }

    fn deferrals(&self, call: &Call, rule: &str) -> Option<u64> {
        self.deferrals.times(call, rule)
    }

    fn open_todos(&self) -> Option<u64> {
        let is_open =
            |state: &str| !matches!(state, "completed" | "cancelled" | "canceled" | "deleted" | "done");
        self.timed(|| {
            let todos = self.store.todos(&self.asker()?.0.task).ok()?;
            Some(todos.items.iter().filter(|todo| is_open(&todo.state)).count() as u64)
        })
    }

    fn mentioned(&self, prompt: &PastPrompt, call: &Call) -> Vec<String> {
        let Some(from) = prompt.directory.as_deref().or(call.cwd.as_deref()) else { return Vec::new() };
        self.timed(|| existing_paths(prompt.text.as_deref().unwrap_or_default(), Path::new(from)))
    }
}

/// Files and folders that a prompt names and that are there.
fn existing_paths(text: &str, from: &Path) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = word
            .trim_matches(|c: char| matches!(c, '"' | '\'' | '`' | '(' | ')' | '<' | '>' | ',' | ';' | ':'));
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
        let path: PathBuf = from.join(word).components().collect();
        if let Some(path) = path.to_str().filter(|path| Path::new(path).exists()).map(str::to_owned)
            && !found.contains(&path)
            && found.len() < MENTIONED_MAX
        {
            found.push(path);
        }
    }
    found
}

/// Returns actions, read again until the exit of each command is known or the wait is over.
fn wait_for_exits(
    agent: Agent,
    mut look: impl FnMut() -> Option<Vec<PastAction>>,
    mut wait: impl FnMut() -> bool,
) -> Option<Vec<PastAction>> {
    loop {
        let actions = look()?;
        if !actions.iter().any(|action| has_late_exit(agent, action)) || !wait() {
            return Some(actions);
        }
    }
}

/// Returns whether a command has ended and its exit code is still to come: Codex writes it to its rollout, not to hooks.
fn has_late_exit(agent: Agent, action: &PastAction) -> bool {
    let has_ended = matches!(action.state, CallState::Succeeded | CallState::Failed);
    agent.spec().exit_code_comes_later && action.command.is_some() && action.exit.is_none() && has_ended
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
    fn waits_and_exit(
        agent: Agent,
        state: CallState,
        known_after: usize,
        max_wait: usize,
    ) -> (usize, Option<i32>) {
        let (looks, mut waits) = (Cell::new(0), 0);
        let look = || {
            looks.set(looks.get() + 1);
            Some(vec![ran(state, (looks.get() > known_after).then_some(0))])
        };
        let actions = wait_for_exits(agent, look, || {
            waits += 1;
            waits < max_wait
        });
        (waits, actions.unwrap()[0].exit)
    }

    #[test]
    fn how_a_command_of_codex_ended_is_waited_for_as_long_as_there_is_time() {
        assert_eq!(waits_and_exit(Agent::CODEX, CallState::Succeeded, 0, 9), (0, Some(0)), "it is known");
        assert_eq!(waits_and_exit(Agent::CODEX, CallState::Succeeded, 3, 9), (3, Some(0)));
        assert_eq!(waits_and_exit(Agent::CODEX, CallState::Failed, 3, 9), (3, Some(0)));
        assert_eq!(
            waits_and_exit(Agent::CODEX, CallState::Succeeded, 99, 9),
            (9, None),
            "it is never reported"
        );
    }

    #[test]
    fn an_exit_that_will_not_be_reported_is_not_waited_for() {
        assert_eq!(waits_and_exit(Agent::CLAUDE_CODE, CallState::Succeeded, 3, 9), (0, None));
        for state in [CallState::Running, CallState::Denied] {
            assert_eq!(waits_and_exit(Agent::CODEX, state, 3, 9), (0, None), "{state:?}");
        }
        assert!(wait_for_exits(Agent::CODEX, || None, || true).is_none());
    }
}
