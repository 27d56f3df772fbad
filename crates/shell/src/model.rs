//! The result of an analysis. Its names are part of the wire contract, where they are in camel case.

use serde::{Deserialize, Serialize};

use crate::effect::Effect;
use crate::exposure::Uses;

/// The analysis of one command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandAnalysis {
    /// The command as it was given.
    pub raw: String,
    /// The composition of its steps.
    pub structure: Structure,
    /// The gravest effect of any step.
    pub overall_effect: Effect,
    /// The confidence of the reading: that of its least certain step.
    pub confidence: Confidence,
    /// True if the decisive step can fail and the command still reports success.
    pub failure_masked: bool,
    /// Index of the step that the command was run for; absent only if there are no steps.
    pub decisive_step: Option<usize>,
    /// The steps in the order in which they are written.
    pub steps: Vec<Step>,
    /// Every test, linter or build among the steps, and what the exit code of the whole says about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Steps that count in the effect but are not listed, because the command has too many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted_steps: usize,
}

/// The composition of the steps of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Structure {
    /// One step.
    Simple,
    /// Steps one after another, or none at all.
    Sequence,
    /// One pipeline.
    Pipeline,
    /// Anything that mixes these, branches or repeats.
    Compound,
}

/// The confidence of a reading, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    // Lowest first, because a line is as certain as the `min` of its steps.
    /// Guessed, or not understood.
    Low,
    /// The program is known; what it does depends on something that is not in the command.
    Medium,
    /// The command says it.
    High,
}

/// The operator between a step and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operator {
    /// Runs if the step before succeeded.
    #[serde(rename = "&&")]
    And,
    /// Runs if the step before failed.
    #[serde(rename = "||")]
    Or,
    /// Runs after the step before; also the end of a line.
    #[serde(rename = ";")]
    Then,
    /// Runs while the step before goes on in the background.
    #[serde(rename = "&")]
    Background,
    /// Reads what the step before writes.
    #[serde(rename = "|")]
    Pipe,
    /// Reads what the step before writes, errors included.
    #[serde(rename = "|&")]
    PipeAll,
}

/// One program or builtin that runs, or one pipeline of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The part of the command that this step was read from.
    pub raw: String,
    /// The program without its folder, behind all wrappers. Of a pipeline: that of its decisive member.
    pub command_name: String,
    /// The subcommand, for programs that have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subcommand: Option<String>,
    /// The operation, as one word: `search`, `run_test`, `delete_file`, `pipeline`, …
    pub operation: String,
    /// The targets of the operation.
    pub targets: Vec<Target>,
    /// All effects, gravest first.
    pub effects: Vec<Effect>,
    /// The gravest of them.
    pub effect: Effect,
    /// The confidence of the reading of this step.
    pub confidence: Confidence,
    /// A destructive step reaches everything below its targets, or whatever a list on its input names.
    #[serde(default, skip_serializing_if = "is_false")]
    pub recursive: bool,
    /// The operator between it and the step before; absent on the first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_from_previous: Option<Operator>,
    /// Redirections, as written.
    #[serde(default)]
    pub redirects: Vec<Redirect>,
    /// The wrappers around the program, outermost first: `sudo`, `bash -c`, `uv run`.
    #[serde(default)]
    pub wrappers: Vec<String>,
    /// The members, if the step is a pipeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<Vec<Step>>,
    /// The steps inside `$(…)`, backticks and `<(…)` that produce this step's words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub substitutions: Vec<Step>,
    /// The part of its targets that a reading step looks at.
    #[serde(default, skip_serializing_if = "Selectors::is_empty")]
    pub selectors: Selectors,
    /// The files and hosts it reaches, for rules; no part of the wire contract. Empty for a pipeline: its members
    /// have them.
    #[serde(skip)]
    pub uses: Uses,
}

/// Something a step works on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Target {
    /// The kind of the target.
    #[serde(rename = "type")]
    pub kind: TargetType,
    /// Its name; paths as seen from where the command started.
    pub value: String,
}

/// A kind of target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetType {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A file or directory, or a pattern for them.
    Path,
    /// A member of a workspace, or the directory a tool was pointed at.
    Workspace,
    /// A standard stream, a terminal or nowhere.
    Stream,
    /// An address.
    Url,
    /// A package.
    Package,
    /// Named by a variable or by the output of a command.
    Unknown,
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Redirect {
    /// The operator with its descriptor: `>`, `2>>`, `&>`, `<<`.
    pub operator: String,
    /// The file, or the stream: `&1`, `/dev/null`.
    pub target: Target,
}

/// The part of its targets that a step looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Selectors {
    /// Lines: `10-40`, `10-`, `-20` for the last twenty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_range: Option<String>,
    /// The search pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

impl Selectors {
    /// Returns `true` if the step looks at its targets as a whole.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.line_range.is_none() && self.pattern.is_none()
    }
}

/// A test, linter or build, and what the exit code of the whole command proves about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Index of the step.
    pub step: usize,
    /// The program.
    pub command_name: String,
    /// `run_test`, `run_lint`, `run_build` or `verify`.
    pub operation: String,
    /// Exit code zero means that this check ran and passed.
    pub zero_means_passed: bool,
    /// Any other exit code means that this check failed.
    pub non_zero_means_failed: bool,
}

/// The result of a check, as far as the end of the command shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It ran and passed.
    Passed,
    /// It ran and failed.
    Failed,
    /// The exit code does not say.
    Undecided,
}

impl Check {
    /// Returns the verdict on this check that follows from the exit code of the whole command.
    #[must_use]
    pub const fn verdict(&self, exit_code: i32) -> Verdict {
        match exit_code {
            0 if self.zero_means_passed => Verdict::Passed,
            // `npm test || true` ends in zero whether or not the tests passed.
            0 => Verdict::Undecided,
            // Not every other code is a failed test: `cd web && npm test` also fails where there is no `web`.
            _ if self.non_zero_means_failed => Verdict::Failed,
            _ => Verdict::Undecided,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}
