//! Failure threads: a failure, what was tried, and the first success of the same intent.
//!
//! Two steps have the same intent if they run the same program and subcommand on the same targets, read the same file,
//! change the same file, or name the same other thing ([`Intent`]). A run of all tests, builds or checks without a
//! target also succeeds for each of them; a run of one target does not succeed for all.
//!
//! A step that began before a failure ended is no answer to it: of calls that ran at once none recovers another. A
//! success of any agent of the tree counts.

use std::collections::{BTreeMap, HashMap};

use super::history::{CallStep, FileEdit, Intent, StepOutcome};

/// Holds one failure and what followed from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureThread {
    /// The intent that failed.
    pub intent: Intent,
    /// The number of the first failed step.
    pub first: i64,
    /// The title of the first failed step.
    pub title: String,
    /// The class of its error.
    pub error: Option<String>,
    /// The agent that failed.
    pub agent: usize,
    /// The moment at which the first failure ended.
    pub failed_at: i64,
    /// The moment at which the last failure ended.
    pub last_failed_at: i64,
    /// The numbers of all failed steps of the thread, by time.
    pub failures: Vec<i64>,
    /// The end of the thread.
    pub end: ThreadEnd,
    /// The files that were changed between the first failure and the success, else up to the last failure, and how often.
    pub edits: BTreeMap<String, u64>,
    /// Counts the other steps in between.
    pub other_steps: u64,
}

/// Names the end of a failure thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadEnd {
    /// A later step with the same intent succeeded.
    Recovered {
        /// The number of that step.
        step: i64,
        /// Its agent.
        agent: usize,
        /// The time from the end of the first failure to the end of that step.
        after_ms: i64,
    },
    /// No later step with the same intent succeeded.
    Never,
}

impl FailureThread {
    /// Returns `true` if a later step succeeded.
    #[must_use]
    pub const fn is_recovered(&self) -> bool {
        matches!(self.end, ThreadEnd::Recovered { .. })
    }

    /// Returns the thread as a sentence without its subject: `recovered after 1m 08s by 2 edits of queue.rs`.
    #[must_use]
    pub fn sentence(&self) -> String {
        let edits: u64 = self.edits.values().sum();
        let by = match (edits, self.edits.len()) {
            (0, _) if self.failures.len() > 1 => format!("attempt {}", self.failures.len() + 1),
            (0, _) => "another attempt".to_owned(),
            (edits, 1) => {
                let path = self.edits.keys().next().map_or("", |path| base_name(path));
                format!("{} of {path}", counted(edits, "edit"))
            }
            (edits, files) => format!("{} of {files} files", counted(edits, "edit")),
        };
        let attempts = counted(u64::try_from(self.failures.len()).unwrap_or(u64::MAX), "failure");
        match self.end {
            ThreadEnd::Recovered { after_ms, .. } => {
                format!("recovered after {} by {by}", format_duration(after_ms))
            }
            ThreadEnd::Never if edits > 0 => format!("not recovered, {attempts}, {by}"),
            ThreadEnd::Never => format!("not recovered, {attempts}"),
        }
    }
}

fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns a duration as people write it: `840ms`, `12s`, `1m 08s`, `2h 05m`.
fn format_duration(ms: i64) -> String {
    let ms = ms.max(0);
    let seconds = ms / 1_000;
    match seconds {
        0 => format!("{ms}ms"),
        1..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
    }
}

/// The part of an intent that two attempts always have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Subject<'s> {
    Program(&'s str),
    Read(&'s str),
    Change(&'s str),
    Other(&'s str),
}

impl<'s> From<&'s Intent> for Subject<'s> {
    fn from(intent: &'s Intent) -> Self {
        match intent {
            Intent::Command { program, .. } => Self::Program(program),
            Intent::Read(path) => Self::Read(path),
            Intent::Change(path) => Self::Change(path),
            Intent::Other(name) => Self::Other(name),
        }
    }
}

/// Returns `true` if doing one thing has done the other as well.
fn covers(done: &Intent, wanted: &Intent) -> bool {
    match (done, wanted) {
        (
            Intent::Command { program, targets, covers_all },
            Intent::Command { program: other, targets: wanted, .. },
        ) => {
            program == other
                && (targets == wanted
                    || *covers_all && targets.is_empty()
                    || !wanted.is_empty() && wanted.is_subset(targets))
        }
        _ => done == wanted,
    }
}

/// Returns the failure threads of a tree in the order of their first failures.
///
/// The steps may come in any order. A thread never ends before it began, and every failed step with an intent is in
/// exactly one thread.
#[must_use]
pub fn threads(steps: &[CallStep]) -> Vec<FailureThread> {
    let mut by_end: Vec<&CallStep> = steps.iter().filter(|step| step.outcome != StepOutcome::Open).collect();
    by_end.sort_by_key(|step| (step.ended.unwrap_or(step.at), step.at, step.id));
    let mut threads: Vec<FailureThread> = Vec::new();
    let mut open: HashMap<Subject<'_>, Vec<usize>> = HashMap::new();
    for step in &by_end {
        match step.outcome {
            StepOutcome::Failed => fail(step, &mut threads, &mut open),
            StepOutcome::Succeeded => succeed(step, &mut threads, &mut open),
            StepOutcome::Open => {}
        }
    }
    let work = StepTimes::new(&by_end);
    for thread in &mut threads {
        work.complete(thread);
    }
    threads.sort_by_key(|thread| (thread.failed_at, thread.first));
    threads
}

fn fail<'s>(
    step: &'s CallStep,
    threads: &mut Vec<FailureThread>,
    open: &mut HashMap<Subject<'s>, Vec<usize>>,
) {
    // A command that fails has one thread, by the first thing that it tries: the step that decides its result.
    let Some(intent) = step.intents.first() else { return };
    let waiting = open.entry(Subject::from(intent)).or_default();
    let same = waiting
        .iter()
        .copied()
        .find(|index| threads.get(*index).is_some_and(|thread| thread.intent == *intent));
    if let Some(thread) = same.and_then(|index| threads.get_mut(index)) {
        thread.failures.push(step.id);
        thread.last_failed_at = step.ended.unwrap_or(step.at);
        return;
    }
    waiting.push(threads.len());
    threads.push(FailureThread {
        intent: intent.clone(),
        first: step.id,
        title: step.title.clone(),
        error: step.error.clone(),
        agent: step.agent,
        failed_at: step.ended.unwrap_or(step.at),
        last_failed_at: step.ended.unwrap_or(step.at),
        failures: vec![step.id],
        end: ThreadEnd::Never,
        edits: BTreeMap::new(),
        other_steps: 0,
    });
}

fn succeed<'s>(
    step: &'s CallStep,
    threads: &mut [FailureThread],
    open: &mut HashMap<Subject<'s>, Vec<usize>>,
) {
    for intent in &step.intents {
        let Some(waiting) = open.get_mut(&Subject::from(intent)) else { continue };
        waiting.retain(|index| {
            let Some(thread) = threads.get_mut(*index) else { return false };
            if step.at < thread.failed_at || !covers(intent, &thread.intent) {
                return true;
            }
            let ended = step.ended.unwrap_or(step.at);
            thread.end =
                ThreadEnd::Recovered { step: step.id, agent: step.agent, after_ms: ended - thread.failed_at };
            false
        });
    }
}

/// Holds the times of steps and edits, for the interval of each thread.
struct StepTimes<'s> {
    /// Ends of steps, sorted.
    ends: Vec<(i64, i64)>,
    /// Ends of successful edits by path, sorted.
    edits: HashMap<&'s str, Vec<i64>>,
    /// Ends of steps with such edits and their paths, sorted.
    edited: Vec<(i64, &'s str)>,
}

impl<'s> StepTimes<'s> {
    fn new(by_end: &[&'s CallStep]) -> Self {
        let mut work = Self { ends: Vec::new(), edits: HashMap::new(), edited: Vec::new() };
        for step in by_end {
            let ended = step.ended.unwrap_or(step.at);
            work.ends.push((ended, step.id));
            if step.outcome != StepOutcome::Succeeded {
                continue;
            }
            for FileEdit { path, .. } in &step.edits {
                work.edits.entry(path).or_default().push(ended);
                work.edited.push((ended, path));
            }
        }
        work
    }

    /// Counts the edits and other steps of a thread. The step that ends it is not among them, unless it is an edit:
    /// then it is what mended the failure.
    fn complete(&self, thread: &mut FailureThread) {
        let end = match thread.end {
            ThreadEnd::Recovered { after_ms, .. } => thread.failed_at + after_ms,
            ThreadEnd::Never => thread.last_failed_at,
        };
        let from = self.edited.partition_point(|(at, _)| *at <= thread.failed_at);
        let until = self.edited.partition_point(|(at, _)| *at <= end);
        // In a long thread the files are fewer than the edits.
        if until.saturating_sub(from) <= self.edits.len() {
            for (_, path) in self.edited.get(from..until).unwrap_or_default() {
                *thread.edits.entry((*path).to_owned()).or_default() += 1;
            }
        } else {
            for (path, times) in &self.edits {
                let count = times.partition_point(|at| *at <= end)
                    - times.partition_point(|at| *at <= thread.failed_at);
                if count > 0 {
                    thread.edits.insert((*path).to_owned(), u64::try_from(count).unwrap_or(u64::MAX));
                }
            }
        }
        let all = self.ends.partition_point(|(at, _)| *at <= end)
            - self.ends.partition_point(|(at, _)| *at <= thread.failed_at);
        let own = thread.failures.len().saturating_sub(1) + usize::from(thread.is_recovered());
        thread.other_steps = u64::try_from(all.saturating_sub(own)).unwrap_or(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::history::EditOperation;
    use super::*;

    fn command(program: &str, targets: &[&str]) -> Intent {
        Intent::Command {
            program: program.to_owned(),
            targets: targets.iter().map(|target| (*target).to_owned()).collect(),
            covers_all: program.ends_with("test"),
        }
    }

    fn step(id: i64, at: i64, ended: i64, outcome: StepOutcome, intent: Intent) -> CallStep {
        CallStep {
            id,
            at,
            ended: Some(ended),
            outcome,
            intents: vec![intent],
            title: format!("step {id}"),
            ..CallStep::default()
        }
    }

    fn edit(id: i64, at: i64, path: &str) -> CallStep {
        let mut step = step(id, at, at + 10, Succeeded, Intent::Change(path.to_owned()));
        step.edits.push(FileEdit {
            path: path.to_owned(),
            operation: EditOperation::Modify,
            added: Some(1),
            removed: Some(1),
        });
        step
    }

    use StepOutcome::{Failed, Succeeded};

    #[test]
    fn test_that_passes_after_two_edits_is_recovered_by_them() {
        let test = || command("cargo test", &["queue"]);
        let found = threads(&[
            step(1, 0, 5_000, Failed, test()),
            edit(2, 20_000, "/src/queue.rs"),
            edit(3, 40_000, "/src/queue.rs"),
            step(4, 68_000, 73_000, Succeeded, test()),
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].sentence(), "recovered after 1m 08s by 2 edits of queue.rs");
        assert_eq!(found[0].other_steps, 2);
    }

    #[test]
    fn all_tests_cover_one_test_but_one_test_does_not_cover_all() {
        let one = || command("cargo test", &["queue"]);
        let all = || command("cargo test", &[]);
        let found = threads(&[step(1, 0, 1, Failed, one()), step(2, 2, 3, Succeeded, all())]);
        assert!(found[0].is_recovered());
        let found = threads(&[step(1, 0, 1, Failed, all()), step(2, 2, 3, Succeeded, one())]);
        assert_eq!(found[0].end, ThreadEnd::Never);
        let found = threads(&[
            step(1, 0, 1, Failed, command("rm", &["a"])),
            step(2, 2, 3, Succeeded, command("rm", &[])),
        ]);
        assert_eq!(
            found[0].end,
            ThreadEnd::Never,
            "only tests, builds and checks without a target cover all"
        );
    }

    #[test]
    fn attempts_of_one_intent_are_one_thread() {
        let read = || Intent::Read("/a".to_owned());
        let found = threads(&[
            step(1, 0, 1, Failed, read()),
            step(2, 2, 3, Failed, read()),
            step(3, 4, 2_005, Succeeded, read()),
            step(4, 3_000, 3_001, Failed, read()),
        ]);
        assert_eq!(
            found.iter().map(|thread| thread.failures.as_slice()).collect::<Vec<_>>(),
            [&[1, 2][..], &[4]]
        );
        assert_eq!(found[0].sentence(), "recovered after 2s by attempt 3");
        assert_eq!(found[1].sentence(), "not recovered, 1 failure");
    }

    #[test]
    fn a_call_that_ran_at_the_same_time_recovers_nothing() {
        let read = || Intent::Read("/a".to_owned());
        let found = threads(&[step(1, 0, 10, Failed, read()), step(2, 5, 20, Succeeded, read())]);
        assert_eq!(found[0].end, ThreadEnd::Never);
    }

    #[test]
    fn another_agent_may_mend_it() {
        let mut mended = edit(2, 10, "/a");
        mended.agent = 1;
        let found = threads(&[step(1, 0, 1, Failed, Intent::Change("/a".to_owned())), mended]);
        assert_eq!(found[0].end, ThreadEnd::Recovered { step: 2, agent: 1, after_ms: 19 });
        assert_eq!(found[0].sentence(), "recovered after 19ms by 1 edit of a");
    }

    #[test]
    fn durations_are_written_as_people_write_them() {
        for (ms, text) in
            [(840, "840ms"), (59_999, "59s"), (68_000, "1m 08s"), (7_500_000, "2h 05m"), (-5, "0ms")]
        {
            assert_eq!(format_duration(ms), text);
        }
    }

    fn any_step() -> impl Strategy<Value = CallStep> {
        let intent = prop_oneof![
            (0..3_u8, proptest::collection::btree_set(0..3_u8, 0..3)).prop_map(|(program, targets)| {
                let targets: BTreeSet<String> =
                    targets.into_iter().map(|target| target.to_string()).collect();
                Intent::Command { program: format!("p{program}"), targets, covers_all: program == 0 }
            }),
            (0..3_u8).prop_map(|file| Intent::Change(file.to_string())),
        ];
        let outcome = proptest::sample::select(vec![Succeeded, Failed, StepOutcome::Open]);
        (0..60_i64, 0..9_i64, outcome, proptest::collection::vec(intent, 0..3)).prop_map(
            |(at, length, outcome, intents)| {
                let edits = intents.iter().filter_map(|intent| match intent {
                    Intent::Change(path) => Some(FileEdit {
                        path: path.clone(),
                        operation: EditOperation::Modify,
                        added: None,
                        removed: None,
                    }),
                    _ => None,
                });
                let edits = edits.collect();
                CallStep { at, ended: Some(at + length), outcome, intents, edits, ..CallStep::default() }
            },
        )
    }

    proptest! {
        #[test]
        fn every_failure_is_in_one_thread_and_ends_at_the_first_success(
            mut steps in proptest::collection::vec(any_step(), 0..30), seed in 0_usize..30,
        ) {
            for (id, step) in (0..).zip(&mut steps) {
                step.id = id;
            }
            let found = threads(&steps);
            let mut listed: Vec<i64> = found.iter().flat_map(|thread| thread.failures.clone()).collect();
            listed.sort_unstable();
            let failed = steps.iter().filter(|step| step.outcome == Failed && !step.intents.is_empty());
            prop_assert_eq!(listed, failed.map(|step| step.id).collect::<Vec<_>>());
            for thread in &found {
                let answers = |step: &&CallStep| {
                    step.outcome == Succeeded
                        && step.at >= thread.failed_at
                        && step.intents.iter().any(|intent| covers(intent, &thread.intent))
                };
                let first = steps.iter().filter(answers).min_by_key(|step| (step.ended, step.at, step.id));
                let expected = first.map(|step| step.id);
                let got = match thread.end {
                    ThreadEnd::Recovered { step, .. } => Some(step),
                    ThreadEnd::Never => None,
                };
                prop_assert_eq!(got, expected);
                let end = first.and_then(|step| step.ended).unwrap_or(thread.last_failed_at);
                let mut edits: BTreeMap<String, u64> = BTreeMap::new();
                for step in steps.iter().filter(|step| step.outcome == Succeeded) {
                    let ended = step.ended.unwrap();
                    if ended > thread.failed_at && ended <= end {
                        for edit in &step.edits {
                            *edits.entry(edit.path.clone()).or_default() += 1;
                        }
                    }
                }
                prop_assert_eq!(&thread.edits, &edits);
            }
            if !steps.is_empty() {
                let middle = seed % steps.len();
                steps.rotate_left(middle);
                prop_assert_eq!(threads(&steps), found);
            }
        }
    }
}
