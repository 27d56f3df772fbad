//! Criteria of finished work that an agent has to meet before it may stop.
//!
//! Pure functions over [`Work`], which the ledger fills. The law: only proof counts. A test run counts if its exit code
//! is known and means that the tests passed (not masked by `|| true`, a pipe or a trailing `echo`), if it came after
//! the last change, and if it ran inside the project. What cannot be known is unknown, and defers no stop.

use agent_tracer_shell::{Context, Effect, ShellCall, Verdict, describe};

use crate::glob::{PathGlob, Roots};
use crate::path;

/// Something that was done, in the order in which it was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkAction {
    /// A file was read, by its absolute path.
    Read(String),
    /// A file was made, changed or taken away, by its absolute path.
    Changed(String),
    /// A command ran.
    Ran {
        /// As it was given.
        command: String,
        /// Its working directory.
        directory: Option<String>,
        /// Its exit; `None` if unknown.
        exit: Option<i32>,
    },
}

/// The actions of one agent since its last prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Oldest first.
    pub actions: Vec<WorkAction>,
    /// Work items that are not closed; `None` if unknown.
    pub open_todos: Option<u64>,
    /// Files and folders that the human named, by their absolute paths.
    pub mentioned: Vec<String>,
}

/// The conditions of a stop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Criteria {
    /// Tests ran and passed after the last change.
    pub tests_passed: bool,
    /// Every command that failed was followed by one of its kind that did not.
    pub failures_handled: bool,
    /// No work item is open.
    pub todos_closed: bool,
    /// Every file that the human named was opened.
    pub mentioned_opened: bool,
    /// A file that fits one of these was written.
    pub wrote: Vec<PathGlob>,
}

/// The state of a criterion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CriterionState {
    /// It is.
    Yes,
    /// It is not, and why.
    No(String),
    /// Unknown.
    Unknown,
}

impl Criteria {
    /// Returns whether there are no criteria.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Holds work against every criterion. Unmet criteria are all reported; an unknown one counts only where
    /// nothing is missing.
    #[must_use]
    pub fn judge(&self, work: &Work, roots: Roots<'_>) -> CriterionState {
        let runs = WorkReview::new(work, roots);
        let mut missing = Vec::new();
        let mut unknown = false;
        let judged = [
            self.tests_passed.then(|| runs.tests_passed()),
            self.failures_handled.then(|| runs.failures_handled()),
            self.todos_closed.then(|| runs.todos_closed()),
            self.mentioned_opened.then(|| runs.mentioned_opened()),
            (!self.wrote.is_empty()).then(|| runs.wrote(&self.wrote)),
        ];
        for met in judged.into_iter().flatten() {
            match met {
                CriterionState::Yes => {}
                CriterionState::No(why) => missing.push(why),
                CriterionState::Unknown => unknown = true,
            }
        }
        match (missing.is_empty(), unknown) {
            // Each deferral costs a turn of the agent, so one names everything that is missing.
            (false, _) => CriterionState::No(missing.join("; ")),
            (true, true) => CriterionState::Unknown,
            (true, false) => CriterionState::Yes,
        }
    }
}

/// Work, with its commands read.
struct WorkReview<'w> {
    work: &'w Work,
    roots: Roots<'w>,
    /// The commands by their place in the work.
    shells: Vec<(usize, ShellCall)>,
}

impl<'w> WorkReview<'w> {
    fn new(work: &'w Work, roots: Roots<'w>) -> Self {
        let shells = work.actions.iter().enumerate().filter_map(|(place, action)| match action {
            WorkAction::Ran { command, directory, .. } => {
                let context = Context { cwd: directory.as_deref(), home: roots.home, ..Context::default() };
                Some((place, describe(command, &context)))
            }
            WorkAction::Read(_) | WorkAction::Changed(_) => None,
        });
        Self { work, roots, shells: shells.collect() }
    }

    fn is_inside(&self, name: &str) -> bool {
        self.roots.project.is_none_or(|project| path::below(name, project).is_some())
    }

    /// Returns the last change of a file of the project, by an edit or by a command.
    fn last_change(&self) -> Option<(usize, String)> {
        let edits = self.work.actions.iter().enumerate().filter_map(|(place, action)| match action {
            WorkAction::Changed(name) if self.is_inside(name) => Some((place, name.clone())),
            WorkAction::Changed(_) | WorkAction::Read(_) | WorkAction::Ran { .. } => None,
        });
        let commands = self.shells.iter().filter_map(|(place, shell)| {
            let files = shell.files.written.iter().chain(&shell.files.deleted);
            files.clone().find(|name| self.is_inside(name)).map(|name| (*place, name.clone()))
        });
        edits.chain(commands).max_by_key(|(place, _)| *place)
    }

    fn tests_passed(&self) -> CriterionState {
        let Some((changed, name)) = self.last_change() else { return CriterionState::Yes };
        let mut verdict: Option<CriterionState> = None;
        // `>=` and not `>`: one command may change a file and then run the tests (`sed -i … && cargo test`).
        for (place, shell) in self.shells.iter().filter(|(place, _)| *place >= changed) {
            let Some(WorkAction::Ran { command, directory, exit }) = self.work.actions.get(*place) else {
                continue;
            };
            let tests = shell.analysis.checks.iter().filter(|check| check.operation == "run_test");
            for check in tests {
                let shown = short(command);
                let judged = match exit {
                    _ if !self.runs_here(shell, check.step, directory.as_deref()) => {
                        CriterionState::No(format!("`{shown}` did not run inside the project"))
                    }
                    None => CriterionState::No(format!("the result of `{shown}` is unknown")),
                    Some(code) => match check.verdict(*code) {
                        Verdict::Passed => CriterionState::Yes,
                        Verdict::Failed => CriterionState::No(format!("the tests failed: `{shown}`")),
                        Verdict::Undecided => CriterionState::No(format!(
                            "the exit code of `{shown}` does not say whether the tests passed: run them alone"
                        )),
                    },
                };
                // The last word counts, and what proves nothing takes no proof away.
                let proves = judged == CriterionState::Yes
                    || judged == CriterionState::No(format!("the tests failed: `{shown}`"));
                if proves || verdict.as_ref() != Some(&CriterionState::Yes) {
                    verdict = Some(judged);
                }
            }
        }
        verdict.unwrap_or_else(|| {
            CriterionState::No(format!("no tests ran after the last change (`{}`)", self.display_name(&name)))
        })
    }

    /// Returns whether a step of a command ran inside the project, as far as the command shows.
    fn runs_here(&self, shell: &ShellCall, step: usize, directory: Option<&str>) -> bool {
        let Some(project) = self.roots.project else { return true };
        let Some(mut here) = directory.map(path::tidy) else { return false };
        let mut moved = |steps: &[agent_tracer_shell::Step]| {
            for step in steps.iter().filter(|step| matches!(step.command_name.as_str(), "cd" | "pushd")) {
                match step.targets.first() {
                    // Targets are already seen from where the command started.
                    Some(target) => here = path::absolute(&target.value, directory, self.roots.home),
                    None => here = self.roots.home.unwrap_or("/").to_owned(),
                }
            }
        };
        let before = shell.analysis.steps.get(..step).unwrap_or_default();
        moved(before);
        let pointed = shell.analysis.steps.get(step).into_iter().flat_map(|step| &step.targets);
        let pointed_away = pointed
            .filter(|target| {
                target.kind == agent_tracer_shell::TargetType::Workspace && target.value.starts_with('/')
            })
            .any(|target| path::below(&path::tidy(&target.value), project).is_none());
        path::below(&here, project).is_some() && !pointed_away
    }

    fn failures_handled(&self) -> CriterionState {
        let kind = |shell: &ShellCall| {
            let step = shell.analysis.decisive_step.and_then(|place| shell.analysis.steps.get(place));
            step.map(|step| (step.command_name.clone(), step.subcommand.clone(), step.operation.clone()))
        };
        let mut open: Vec<(_, String)> = Vec::new();
        for (place, shell) in &self.shells {
            let Some(WorkAction::Ran { command, exit: Some(exit), .. }) = self.work.actions.get(*place)
            else {
                continue;
            };
            // A failed look is an answer.
            if shell.analysis.overall_effect <= Effect::ReadOnly {
                continue;
            }
            // The kind, not the text: an agent that repairs a command rarely repeats it word by word.
            let what = kind(shell);
            open.retain(|(other, _)| *other != what);
            if *exit != 0 {
                open.push((what, short(command)));
            }
        }
        match open.last() {
            None => CriterionState::Yes,
            Some((_, command)) => {
                CriterionState::No(format!("`{command}` failed and nothing was done about it"))
            }
        }
    }

    fn todos_closed(&self) -> CriterionState {
        match self.work.open_todos {
            Some(0) => CriterionState::Yes,
            Some(1) => CriterionState::No("one work item is open".to_owned()),
            Some(open) => CriterionState::No(format!("{open} work items are open")),
            None => CriterionState::Unknown,
        }
    }

    fn mentioned_opened(&self) -> CriterionState {
        let mut opened: Vec<&str> = Vec::new();
        for action in &self.work.actions {
            match action {
                WorkAction::Read(name) | WorkAction::Changed(name) => opened.push(name),
                WorkAction::Ran { .. } => {}
            }
        }
        for (_, shell) in &self.shells {
            opened.extend(shell.files.all());
        }
        let missing: Vec<String> = self
            .work
            .mentioned
            .iter()
            .filter(|name| !opened.iter().any(|opened| path::below(opened, name).is_some()))
            .map(|name| format!("`{}`", self.display_name(name)))
            .collect();
        if missing.is_empty() {
            CriterionState::Yes
        } else {
            CriterionState::No(format!("not opened: {}", missing.join(", ")))
        }
    }

    fn wrote(&self, globs: &[PathGlob]) -> CriterionState {
        let fits = |name: &str| globs.iter().any(|glob| glob.covers(name, self.roots));
        let edits =
            self.work.actions.iter().any(|action| matches!(action, WorkAction::Changed(name) if fits(name)));
        let commands = self.shells.iter().any(|(_, shell)| shell.files.written.iter().any(|name| fits(name)));
        if edits || commands {
            return CriterionState::Yes;
        }
        let names: Vec<String> = globs.iter().map(|glob| format!("`{}`", glob.as_str())).collect();
        CriterionState::No(format!("nothing was written to {}", names.join(" or ")))
    }

    /// Returns a path as people of this project write it.
    fn display_name(&self, name: &str) -> String {
        let inside = self.roots.project.and_then(|project| path::below(name, project));
        inside.filter(|inside| !inside.is_empty()).unwrap_or(name).to_owned()
    }
}

/// Shortens a command to one line that is not too long.
fn short(command: &str) -> String {
    let line = command.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
