//! Changes of files: lines by file and agent, edits in order, the net effect, and the commits among them.
//!
//! A file that is moved stays one file. Lines are summed only where every edit has a count; a sum that is missing the
//! counts of some edits says how many.

use std::collections::{BTreeMap, HashMap};

use super::history::{CallStep, CommitMark, EditOperation, FileEdit, StepOutcome};

/// Holds the lines of several edits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineSums {
    /// Counts the edits.
    pub edits: u64,
    /// Counts the lines that were added.
    pub added: u64,
    /// Counts the lines that were removed.
    pub removed: u64,
    /// Counts the edits whose lines are not known.
    pub uncounted: u64,
}

impl LineSums {
    fn add(&mut self, edit: &FileEdit) {
        self.edits += 1;
        self.added = self.added.saturating_add(edit.added.unwrap_or(0));
        self.removed = self.removed.saturating_add(edit.removed.unwrap_or(0));
        self.uncounted += u64::from(edit.added.is_none() || edit.removed.is_none());
    }

    /// Returns the lines that the file grew by, or `None` if an edit is uncounted.
    #[must_use]
    pub fn net(&self) -> Option<i64> {
        let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        (self.uncounted == 0).then(|| signed(self.added) - signed(self.removed))
    }
}

/// Names what all edits together did to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetEffect {
    /// It is new.
    Created,
    /// It was there before and is changed.
    Modified,
    /// It was there before and is gone.
    Deleted,
    /// It was there before and has another name.
    Renamed,
    /// It was created and deleted again.
    Nothing,
}

/// Holds one edit of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditMark {
    /// The number of the step.
    pub step: i64,
    /// The moment at which it ended.
    pub at: i64,
    /// The agent.
    pub agent: usize,
    /// The kind of change.
    pub operation: EditOperation,
    /// Counts the lines that were added.
    pub added: Option<u64>,
    /// Counts the lines that were removed.
    pub removed: Option<u64>,
}

/// Holds everything that was done to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Its path at the end.
    pub path: String,
    /// The path at the beginning, if it was moved.
    pub moved_from: Option<String>,
    /// The net effect.
    pub effect: NetEffect,
    /// The lines of all edits.
    pub lines: LineSums,
    /// The lines by agent.
    pub agents: BTreeMap<usize, LineSums>,
    /// The edits in their order.
    pub edits: Vec<EditMark>,
    /// Counts the edits since the last commit.
    pub uncommitted: u64,
}

/// Holds one commit that was made in the task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The number of the step.
    pub step: i64,
    /// The moment at which it ended.
    pub at: i64,
    /// The agent.
    pub agent: usize,
    /// The hash, where the client's file tells it.
    pub hash: Option<String>,
    /// The files that were edited since the commit before it. What was staged is not recorded.
    pub edited: Vec<String>,
}

/// Holds all changes of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeSet {
    /// Files in the order of their first edits.
    pub files: Vec<FileChange>,
    /// Commits by time.
    pub commits: Vec<Commit>,
}

impl ChangeSet {
    /// Sums the successful edits of steps, which may come in any order.
    #[must_use]
    pub fn from_steps(steps: &[CallStep]) -> Self {
        let mut done: Vec<&CallStep> = steps
            .iter()
            .filter(|step| step.outcome == StepOutcome::Succeeded)
            .filter(|step| !step.edits.is_empty() || !step.commits.is_empty())
            .collect();
        done.sort_by_key(|step| (step.ended.unwrap_or(step.at), step.at, step.id));
        let mut changes = Self::default();
        let mut places: HashMap<String, usize> = HashMap::new();
        for step in done {
            for edit in &step.edits {
                changes.edit(step, edit, &mut places);
            }
            for commit in &step.commits {
                changes.commit(step, commit);
            }
        }
        changes
    }

    fn edit(&mut self, step: &CallStep, edit: &FileEdit, places: &mut HashMap<String, usize>) {
        let index = *places.entry(edit.path.clone()).or_insert_with(|| {
            self.files.push(FileChange {
                path: edit.path.clone(),
                moved_from: None,
                effect: NetEffect::Modified,
                lines: LineSums::default(),
                agents: BTreeMap::new(),
                edits: Vec::new(),
                uncommitted: 0,
            });
            self.files.len() - 1
        });
        let Some(file) = self.files.get_mut(index) else { return };
        file.effect = effect(file, &edit.operation);
        file.lines.add(edit);
        file.agents.entry(step.agent).or_default().add(edit);
        file.uncommitted += 1;
        file.edits.push(EditMark {
            step: step.id,
            at: step.ended.unwrap_or(step.at),
            agent: step.agent,
            operation: edit.operation.clone(),
            added: edit.added,
            removed: edit.removed,
        });
        if let EditOperation::Rename { to } = &edit.operation {
            let from = std::mem::replace(&mut file.path, to.clone());
            places.remove(&from);
            file.moved_from.get_or_insert(from);
            if file.moved_from.as_deref() == Some(to.as_str()) {
                file.moved_from = None;
            }
            places.insert(to.clone(), index);
        }
    }

    fn commit(&mut self, step: &CallStep, commit: &CommitMark) {
        let edited = self.files.iter_mut().filter(|file| file.uncommitted > 0).map(|file| {
            file.uncommitted = 0;
            file.path.clone()
        });
        self.commits.push(Commit {
            step: step.id,
            at: step.ended.unwrap_or(step.at),
            agent: step.agent,
            hash: commit.hash.clone(),
            edited: edited.collect(),
        });
    }

    /// Sums the lines of all files.
    #[must_use]
    pub fn lines(&self) -> LineSums {
        let mut sums = LineSums::default();
        for lines in self.files.iter().map(|file| file.lines) {
            sums.edits += lines.edits;
            sums.added = sums.added.saturating_add(lines.added);
            sums.removed = sums.removed.saturating_add(lines.removed);
            sums.uncounted += lines.uncounted;
        }
        sums
    }
}

/// Returns the net effect after one more edit.
fn effect(file: &FileChange, operation: &EditOperation) -> NetEffect {
    let is_first = file.edits.is_empty();
    match (operation, file.effect) {
        (EditOperation::Create, _) if is_first => NetEffect::Created,
        (EditOperation::Delete, NetEffect::Created) => NetEffect::Nothing,
        (EditOperation::Delete, NetEffect::Nothing) => NetEffect::Nothing,
        (EditOperation::Delete, _) => NetEffect::Deleted,
        (_, NetEffect::Nothing) => NetEffect::Created,
        (_, NetEffect::Created) => NetEffect::Created,
        // A file that is written again after it was deleted is another content of the same file.
        (_, NetEffect::Deleted) => NetEffect::Modified,
        (EditOperation::Rename { .. }, _) if is_first || file.effect == NetEffect::Renamed => {
            NetEffect::Renamed
        }
        (_, NetEffect::Renamed | NetEffect::Modified) => NetEffect::Modified,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edit(path: &str, operation: EditOperation, added: u64, removed: u64) -> FileEdit {
        FileEdit { path: path.to_owned(), operation, added: Some(added), removed: Some(removed) }
    }

    fn step(id: i64, agent: usize, edits: Vec<FileEdit>) -> CallStep {
        CallStep { id, at: id, agent, edits, ..CallStep::default() }
    }

    fn commit(id: i64, hash: &str) -> CallStep {
        CallStep {
            id,
            at: id,
            commits: vec![CommitMark { hash: Some(hash.to_owned()) }],
            ..CallStep::default()
        }
    }

    #[test]
    fn edits_are_summed_by_file_and_agent_in_their_order() {
        let changes = ChangeSet::from_steps(&[
            step(3, 1, vec![edit("a", EditOperation::Modify, 5, 2)]),
            step(1, 0, vec![edit("a", EditOperation::Modify, 1, 1), edit("b", EditOperation::Create, 9, 0)]),
        ]);
        let paths: Vec<&str> = changes.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["a", "b"]);
        let file = &changes.files[0];
        assert_eq!((file.lines.added, file.lines.removed, file.lines.net()), (6, 3, Some(3)));
        assert_eq!(file.agents[&1], LineSums { edits: 1, added: 5, removed: 2, uncounted: 0 });
        assert_eq!(file.edits.iter().map(|edit| edit.step).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(changes.files[1].effect, NetEffect::Created);
    }

    #[test]
    fn net_effect_forgets_what_was_taken_back() {
        let rename = |to: &str| EditOperation::Rename { to: to.to_owned() };
        for (operations, effect, path) in [
            (vec![EditOperation::Create, EditOperation::Delete], NetEffect::Nothing, "a"),
            (
                vec![EditOperation::Create, EditOperation::Delete, EditOperation::Write],
                NetEffect::Created,
                "a",
            ),
            (vec![EditOperation::Modify, EditOperation::Delete], NetEffect::Deleted, "a"),
            (vec![EditOperation::Delete, EditOperation::Create], NetEffect::Modified, "a"),
            (vec![EditOperation::Create, rename("z")], NetEffect::Created, "z"),
            (vec![rename("z")], NetEffect::Renamed, "z"),
        ] {
            let steps: Vec<CallStep> = (0..)
                .zip(&operations)
                .map(|(id, operation)| step(id, 0, vec![edit("a", operation.clone(), 1, 0)]))
                .collect();
            let changes = ChangeSet::from_steps(&steps);
            assert_eq!(
                (changes.files[0].effect, changes.files[0].path.as_str()),
                (effect, path),
                "{operations:?}"
            );
            assert_eq!(changes.files.len(), 1);
        }
    }

    #[test]
    fn file_that_is_moved_stays_one_file() {
        let changes = ChangeSet::from_steps(&[
            step(1, 0, vec![edit("a", EditOperation::Modify, 1, 0)]),
            step(2, 0, vec![edit("a", EditOperation::Rename { to: "b".to_owned() }, 0, 0)]),
            step(3, 0, vec![edit("b", EditOperation::Modify, 2, 0)]),
            step(4, 0, vec![edit("a", EditOperation::Create, 7, 0)]),
        ]);
        assert_eq!(changes.files.len(), 2);
        assert_eq!((changes.files[0].moved_from.as_deref(), changes.files[0].lines.added), (Some("a"), 3));
    }

    #[test]
    fn edits_belong_to_the_next_commit() {
        let changes = ChangeSet::from_steps(&[
            step(1, 0, vec![edit("a", EditOperation::Modify, 1, 0)]),
            commit(2, "abc1234"),
            step(3, 0, vec![edit("b", EditOperation::Modify, 1, 0)]),
            commit(4, "def5678"),
            step(5, 0, vec![edit("b", EditOperation::Modify, 1, 0)]),
        ]);
        let edited: Vec<&[String]> = changes.commits.iter().map(|commit| commit.edited.as_slice()).collect();
        assert_eq!(edited, [&["a".to_owned()][..], &["b".to_owned()][..]]);
        assert_eq!(changes.files.iter().map(|file| file.uncommitted).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(changes.commits[1].hash.as_deref(), Some("def5678"));
    }

    #[test]
    fn failed_edit_changes_nothing_and_an_edit_without_counts_is_uncounted() {
        let mut failed = step(1, 0, vec![edit("a", EditOperation::Modify, 1, 0)]);
        failed.outcome = StepOutcome::Failed;
        let mut unknown = edit("b", EditOperation::Write, 1, 0);
        unknown.removed = None;
        let changes = ChangeSet::from_steps(&[failed, step(2, 0, vec![unknown])]);
        assert_eq!(changes.files.len(), 1);
        assert_eq!((changes.files[0].lines.uncounted, changes.files[0].lines.net()), (1, None));
    }

    fn any_steps() -> impl Strategy<Value = Vec<CallStep>> {
        let operation = prop_oneof![
            Just(EditOperation::Write),
            Just(EditOperation::Create),
            Just(EditOperation::Modify),
            Just(EditOperation::Delete),
            (0..4_u8).prop_map(|to| EditOperation::Rename { to: to.to_string() }),
        ];
        let count = || proptest::option::weighted(0.8, 0_u64..50);
        let edit = (0..4_u8, operation, count(), count()).prop_map(|(path, operation, added, removed)| {
            FileEdit { path: path.to_string(), operation, added, removed }
        });
        let step = (proptest::collection::vec(edit, 0..4), 0..3_usize, 0..40_i64, 0..2_usize).prop_map(
            |(edits, agent, at, commits)| CallStep {
                at,
                agent,
                edits,
                commits: vec![CommitMark { hash: None }; commits],
                ..CallStep::default()
            },
        );
        proptest::collection::vec(step, 0..15).prop_map(|mut steps| {
            for (id, step) in (0..).zip(&mut steps) {
                step.id = id;
            }
            steps
        })
    }

    proptest! {
        #[test]
        fn sums_of_files_and_agents_equal_those_of_all_edits(steps in any_steps()) {
            let changes = ChangeSet::from_steps(&steps);
            let mut expected = LineSums::default();
            for edit in steps.iter().flat_map(|step| &step.edits) {
                expected.add(edit);
            }
            prop_assert_eq!(changes.lines(), expected);
            let mut by_agent = LineSums::default();
            for lines in changes.files.iter().flat_map(|file| file.agents.values()) {
                by_agent.edits += lines.edits;
                by_agent.added += lines.added;
                by_agent.removed += lines.removed;
                by_agent.uncounted += lines.uncounted;
            }
            prop_assert_eq!(by_agent, expected);
            let mut reversed = steps.clone();
            reversed.reverse();
            prop_assert_eq!(ChangeSet::from_steps(&reversed), changes);
        }
    }
}
