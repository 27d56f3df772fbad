//! Answers rules about the past from evidence, for a live question and for a replay alike.
//!
//! Law: a rule about the past is written here once, and what a row means is written once in the ledger. [`Evidence`]
//! supplies what is known up to an event and with it: `daemon` looks it up, `backtest` has gathered it from the rows so
//! far. A replay therefore answers as the live question did, as far as its evidence reaches.
//!
//! For one question nothing is asked of the evidence twice, however many rules ask.

use std::cell::OnceCell;

use agent_tracer_event::{CallState, Millis};
use agent_tracer_ledger::{PastAction, PastPrompt, PastSpending, Range, Store, UsageBy, Utc};

use crate::call::Call;
use crate::criteria::{Work, WorkAction};
use crate::history::{Elapsed, History};
use crate::words::{Moment, Scope};

/// The recent actions of an agent, for conditions about the last of something.
const RECENT: usize = 500;
/// So many of the last actions usually contain the last of something.
const LAST: usize = 16;
/// The most actions that criteria are evaluated against.
pub(crate) const WORK_MAX: usize = 2000;

/// The kinds of calls that change a file.
const CHANGES: &[&str] = &["create_file", "modify_file", "delete_file", "rename_file", "apply_patch"];

/// Supplies what is known of a task up to an event, the event included. `None` means unknown.
pub(crate) trait Evidence {
    /// Returns the moment of the question.
    fn now(&self) -> Millis;
    /// Returns the spending so far.
    fn spending(&self, scope: Scope) -> Option<PastSpending>;
    /// Returns how often this very call was made before, in its task.
    fn repeats(&self) -> Option<u64>;
    /// Returns the number of the task's latest calls that failed in a row, of at most `most`.
    fn failures_in_a_row(&self, most: usize) -> Option<u64>;
    /// Returns whether the task has read or made a file.
    fn has_opened(&self, path: &str) -> Option<bool>;
    /// Returns the actions that began at or after a moment, newest first, at most `most` of them.
    fn actions(&self, since: Millis, most: usize) -> Option<Vec<PastAction>>;
    /// Returns the same with the exit of each command that has ended, if that can still be had.
    fn settled_actions(&self, since: Millis, most: usize) -> Option<Vec<PastAction>>;
    /// Returns the last prompt that a person typed; the inner `None` means that there is none.
    fn last_prompt(&self) -> Option<Option<PastPrompt>>;
    /// Returns the beginning of the task.
    fn started_at(&self) -> Option<Millis>;
    /// Returns how often a rule has deferred this stop already.
    fn deferrals(&self, call: &Call, rule: &str) -> Option<u64>;
    /// Returns the number of open work items.
    fn open_todos(&self) -> Option<u64>;
    /// Returns the files and folders that a prompt names, by their absolute paths.
    fn mentioned(&self, prompt: &PastPrompt, call: &Call) -> Vec<String>;
}

/// The history of one question, by its evidence.
pub(crate) struct EvidenceHistory<E> {
    pub(crate) evidence: E,
    answers: Answers,
}

/// Answers already found.
#[derive(Default)]
struct Answers {
    repeats: OnceCell<Option<u64>>,
    failures: OnceCell<Option<u64>>,
    recent: OnceCell<Option<Vec<PastAction>>>,
    /// By scope.
    spending: [OnceCell<Option<PastSpending>>; Scope::ALL.len()],
    /// By moment.
    since: [OnceCell<Option<Elapsed>>; Moment::ALL.len()],
    work: OnceCell<Option<Work>>,
}

impl<E: Evidence> EvidenceHistory<E> {
    pub(crate) fn new(evidence: E) -> Self {
        Self { evidence, answers: Answers::default() }
    }

    fn spending(&self, scope: Scope) -> Option<PastSpending> {
        *self.answers.spending.get(scope as usize)?.get_or_init(|| self.evidence.spending(scope))
    }

    fn minutes_since(&self, at: Millis) -> Elapsed {
        let elapsed_ms = (self.evidence.now().0 - at.0).max(0);
        Elapsed::Minutes(u64::try_from(elapsed_ms / 60_000).unwrap_or(0))
    }

    fn find_since(&self, moment: Moment) -> Option<Elapsed> {
        match moment {
            Moment::Start => Some(self.minutes_since(self.evidence.started_at()?)),
            Moment::Prompt => {
                let prompt = self.evidence.last_prompt()?;
                Some(prompt.map_or(Elapsed::Never, |prompt| self.minutes_since(prompt.at)))
            }
            Moment::Edit => self.since_last(is_edit),
            Moment::Test => self.since_last(|action| action.subtype == "run_test"),
            Moment::Commit => self.since_last(is_commit),
        }
    }

    /// Returns the time since the last action of a kind.
    fn since_last(&self, is_meant: impl Fn(&PastAction) -> bool) -> Option<Elapsed> {
        // Most of the time it was not long ago, and a few rows are read instead of hundreds.
        let last = self.evidence.actions(Millis(0), LAST)?;
        if let Some(action) = last.iter().find(|action| is_meant(action)) {
            return Some(self.minutes_since(action.at));
        }
        if last.len() < LAST {
            return Some(Elapsed::Never);
        }
        let recent =
            self.answers.recent.get_or_init(|| self.evidence.actions(Millis(0), RECENT)).as_deref()?;
        match recent.iter().find(|action| is_meant(action)) {
            Some(action) => Some(self.minutes_since(action.at)),
            // Longer ago than the search reaches is not never.
            None => (recent.len() < RECENT).then_some(Elapsed::Never),
        }
    }

    fn gather_work(&self, call: &Call) -> Option<Work> {
        let prompt = self.evidence.last_prompt()?;
        let since = prompt.as_ref().map_or(Millis(0), |prompt| prompt.at);
        let actions = self.evidence.settled_actions(since, WORK_MAX)?;
        Some(Work {
            actions: actions.iter().rev().flat_map(work_actions).collect(),
            open_todos: self.evidence.open_todos(),
            mentioned: prompt.map(|prompt| self.evidence.mentioned(&prompt, call)).unwrap_or_default(),
        })
    }
}

impl<E: Evidence> History for EvidenceHistory<E> {
    fn tokens(&self, _: &Call, scope: Scope) -> Option<u64> {
        self.spending(scope).map(|spending| spending.tokens)
    }

    fn cost_micros(&self, _: &Call, scope: Scope) -> Option<u64> {
        self.spending(scope).map(PastSpending::cost_micros)
    }

    fn repeats(&self, _: &Call) -> Option<u64> {
        *self.answers.repeats.get_or_init(|| self.evidence.repeats())
    }

    fn failures_in_a_row(&self, _: &Call) -> Option<u64> {
        *self.answers.failures.get_or_init(|| self.evidence.failures_in_a_row(RECENT))
    }

    fn was_read(&self, _: &Call, path: &str) -> Option<bool> {
        self.evidence.has_opened(path)
    }

    fn since(&self, _: &Call, moment: Moment) -> Option<Elapsed> {
        *self.answers.since.get(moment as usize)?.get_or_init(|| self.find_since(moment))
    }

    fn deferrals(&self, call: &Call, rule: &str) -> Option<u64> {
        self.evidence.deferrals(call, rule)
    }

    fn work(&self, call: &Call) -> Option<Work> {
        self.answers.work.get_or_init(|| self.gather_work(call)).clone()
    }
}

/// Returns the spending of every task in a stretch of time, without an end up to now.
pub(crate) fn spending_between(
    store: &dyn Store,
    since: Millis,
    until: Option<Millis>,
) -> Option<PastSpending> {
    let range = Range { since: Some(since), until, ..Range::default() };
    let page = store.usage(&range, UsageBy::Agent, &Utc).ok()?;
    let mut sum = PastSpending::default();
    for bucket in &page.items {
        sum.add(PastSpending::of(&bucket.usage));
    }
    Some(sum)
}

fn is_edit(action: &PastAction) -> bool {
    CHANGES.contains(&action.subtype.as_str()) && action.state == CallState::Succeeded
}

fn is_commit(action: &PastAction) -> bool {
    // By text and not by the analysis: this runs over hundreds of recorded commands while an agent waits. A wrong hit
    // resets a timer, nothing more.
    let commits = |command: &String| command.contains("git ") && command.contains("commit");
    action.state == CallState::Succeeded && action.command.as_ref().is_some_and(commits)
}

/// Converts an action to the form of criteria.
fn work_actions(action: &PastAction) -> Vec<WorkAction> {
    if let Some(command) = &action.command {
        let (directory, exit) = (action.directory.clone(), action.exit);
        // A command that was denied did not run, so it neither passes tests nor fails. One that still runs has no
        // exit code, and counts as unknown.
        let is_denied = action.state == CallState::Denied;
        return if is_denied {
            Vec::new()
        } else {
            vec![WorkAction::Ran { command: command.clone(), directory, exit }]
        };
    }
    if action.state != CallState::Succeeded {
        return Vec::new();
    }
    let paths = action.paths.iter().cloned();
    match action.subtype.as_str() {
        "read_file" => paths.map(WorkAction::Read).collect(),
        subtype if CHANGES.contains(&subtype) => paths.map(WorkAction::Changed).collect(),
        _ => Vec::new(),
    }
}
