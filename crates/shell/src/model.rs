//! What an analysis says. The names are part of the wire contract and spelled in camel case there.

use serde::{Deserialize, Serialize};

use crate::effect::Effect;
use crate::exposure::Uses;

/// What one command line does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandAnalysis {
    /// The command as it was given.
    pub raw: String,
    /// How its steps are put together.
    pub structure: Structure,
    /// The gravest effect of any step.
    pub overall_effect: Effect,
    /// How sure the reading is: as sure as its least sure step.
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

/// How steps are put together.
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

/// How sure a reading is, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Guessed, or not understood.
    Low,
    /// The program is known; what it does depends on something that is not in the command.
    Medium,
    /// The command says it.
    High,
}

/// What joins a step to the one before it.
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
    /// What is done, as one word: `search`, `run_test`, `delete_file`, `pipeline`, …
    pub operation: String,
    /// What it is done to.
    pub targets: Vec<Target>,
    /// All effects, gravest first.
    pub effects: Vec<Effect>,
    /// The gravest of them.
    pub effect: Effect,
    /// How sure the reading of this step is.
    pub confidence: Confidence,
    /// A destructive step reaches everything below its targets, or whatever a list on its input names.
    #[serde(default, skip_serializing_if = "is_false")]
    pub recursive: bool,
    /// What joins it to the step before; absent on the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_from_previous: Option<Operator>,
    /// Redirections, as written.
    #[serde(default)]
    pub redirects: Vec<Redirect>,
    /// What was unwrapped to reach the program, outermost first: `sudo`, `bash -c`, `uv run`.
    #[serde(default)]
    pub wrappers: Vec<String>,
    /// The members, if the step is a pipeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<Vec<Step>>,
    /// What runs inside `$(…)`, backticks and `<(…)` to make this step's words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub substitutions: Vec<Step>,
    /// Which part of its targets a reading step looks at.
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
    /// What it is.
    #[serde(rename = "type")]
    pub kind: TargetType,
    /// Its name; paths as seen from where the command started.
    pub value: String,
}

/// What a target is.
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

/// Which part of its targets a step looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Selectors {
    /// Lines: `10-40`, `10-`, `-20` for the last twenty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_range: Option<String>,
    /// What is searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

impl Selectors {
    /// True if the step looks at its targets as a whole.
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

/// What is known of a check once the command has ended.
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
    /// What the exit code of the whole command says about this check.
    #[must_use]
    pub const fn verdict(&self, exit_code: i32) -> Verdict {
        match exit_code {
            0 if self.zero_means_passed => Verdict::Passed,
            0 => Verdict::Undecided,
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
