//! Analysis of shell commands.
//!
//! [`analyze`] reads a command line as the shell would, without running anything, and returns its steps, their targets
//! and their effects; [`describe`] adds the title, lane and semantic fields of a timeline row. Both are pure and total:
//! any text has a result, in time linear in its length and in bounded stack. A part that is not understood is `unknown`
//! with low confidence; it is never guessed at with high confidence.
//!
//! ```
//! use agent_tracer_shell::{Context, Effect, describe};
//!
//! let call = describe("cd web && npm test 2>&1 | tail -20", &Context::default());
//! assert_eq!(call.analysis.overall_effect, Effect::ExecuteCheck);
//! assert!(call.analysis.failure_masked);
//! assert_eq!(call.semantics.entity_name, "npm");
//! assert_eq!(call.title, "Run tests: npm test");
//! ```
//!
//! A command passes through `syntax` (text to tree) → `words` (words to arguments) → `walk` (tree to steps, with
//! `tools` as its tables) → `decide` and `exit` (the decisive step, and the conclusions from the exit code) →
//! `semantics`, `title` and `files`.

mod arguments;
mod context;
mod decide;
mod decode;
mod draft;
mod effect;
mod exit;
mod exposure;
mod files;
mod index;
mod model;
mod one_or_many;
mod path;
mod semantics;
mod syntax;
mod title;
mod tools;
mod walk;
mod words;

pub use context::{Context, Dialect};
pub use effect::Effect;
pub use exposure::{Breadth, Exposure, FileAccess, FileUse, Opacity, Uses};
pub use files::Files;
pub use model::{
    Check, CommandAnalysis, Confidence, Operator, Redirect, Selectors, Step, Structure, Target, TargetType,
    Verdict,
};
pub use semantics::Semantics;

use agent_tracer_event::Lane;
use draft::Draft;
use effect::Effects;
use exit::Node;
use serde::{Deserialize, Serialize};
use walk::WalkResult;

/// Longest command that is read, in bytes. What is beyond counts as not understood.
const MAX_COMMAND: usize = 256 * 1024;
/// Most checks that are listed.
const MAX_CHECKS: usize = 8;

/// Everything there is to say about a shell call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShellCall {
    /// The steps of the command and their effects.
    pub analysis: CommandAnalysis,
    /// The same in the words of the event vocabulary.
    pub semantics: Semantics,
    /// The lane of the timeline in which it belongs.
    pub lane: Lane,
    /// A title of a few words, for people.
    pub title: String,
    /// The files it names.
    pub files: Files,
    /// The facts that rules need beside the analysis.
    #[serde(default)]
    pub exposure: Exposure,
}

/// Says what a command does.
#[must_use]
pub fn analyze(command: &str, context: &Context<'_>) -> CommandAnalysis {
    describe(command, context).analysis
}

/// Says what a command does, and how to tell it.
#[must_use]
pub fn describe(command: &str, context: &Context<'_>) -> ShellCall {
    let text = readable(command);
    let mut walked = walk::walk(text, context);
    if text.len() < command.len() {
        // The end of a line decides its exit code, so the whole is not understood, and not only what was cut off.
        walked.incomplete = true;
        walked.opacity.add(Opacity::Limit);
    }
    let mut effects =
        walked.steps.iter().fold(walked.omitted.effects, |all, step| all.and(step.all_effects()));
    if walked.incomplete || walked.steps.is_empty() {
        // Added to what was understood: the gravest effect counts, and a fault must not make a line look harmless.
        effects = effects.and(Effects::UNKNOWN);
    }
    let (semantics, lane) = semantics::derive(text, context, &walked.steps, effects);
    let title = title::title(&walked.steps, text);
    let files = Files::of(&walked.steps, context);
    let mut exposure = expose(&mut walked);
    let analysis = summarise(command, text, walked, effects);
    // Whatever else made the reading a guess: a rule must not take a guess for knowledge.
    if analysis.confidence == Confidence::Low && exposure.opacity.is_empty() && !analysis.steps.is_empty() {
        exposure.opacity.push(Opacity::Program);
    }
    ShellCall { analysis, semantics, lane, title, files, exposure }
}

/// Gathers what cannot be seen through, from the walk and from every step.
fn expose(walked: &mut WalkResult) -> Exposure {
    let mut opacity = walked.opacity;
    if walked.incomplete {
        opacity.add(Opacity::Syntax);
    }
    if walked.omitted.count > 0 {
        opacity.add(Opacity::Limit);
    }
    for step in &walked.steps {
        step.each_simple(&mut |simple| opacity.join(simple.opacities()));
    }
    Exposure {
        opacity: opacity.list(),
        environment: std::mem::take(&mut walked.environment),
        programs: std::mem::take(&mut walked.programs),
        printed: walked.printed,
    }
}

/// Returns the part of a command that is read: all of it, unless it is absurdly long.
fn readable(command: &str) -> &str {
    let mut end = command.len().min(MAX_COMMAND);
    while !command.is_char_boundary(end) {
        end -= 1;
    }
    command.get(..end).unwrap_or_default()
}

fn summarise(command: &str, text: &str, walked: WalkResult, effects: Effects) -> CommandAnalysis {
    let structure = structure(&walked);
    let decisive = decide::decisive(&walked.steps);
    let main = decisive.and_then(|position| walked.steps.get(position)).map(decide::innermost);
    let failure_masked = main.is_some_and(|main| is_masked(&walked.tree, main));
    let checks = checks(&walked);
    let least = walked.steps.iter().map(Draft::least_confidence).min().unwrap_or(Confidence::Low);
    let confidence = if walked.incomplete { Confidence::Low } else { least.min(walked.omitted.confidence) };
    CommandAnalysis {
        raw: command.to_owned(),
        structure,
        overall_effect: effects.gravest(),
        confidence,
        failure_masked,
        decisive_step: decisive,
        steps: walked.steps.into_iter().map(|step| step.finish(text)).collect(),
        checks,
        omitted_steps: walked.omitted.count,
    }
}

fn structure(walked: &WalkResult) -> Structure {
    if walked.branches {
        return Structure::Compound;
    }
    match walked.steps.as_slice() {
        [] if walked.omitted.count == 0 => Structure::Simple,
        [only] if walked.omitted.count == 0 => {
            if only.members.is_empty() {
                Structure::Simple
            } else {
                Structure::Pipeline
            }
        }
        steps if steps.iter().any(|step| !step.members.is_empty()) => Structure::Compound,
        _ => Structure::Sequence,
    }
}

/// Returns `true` if a failure is masked. A failed probe is an answer, and pipes into `head` are how probes are
/// written: only what hides a failure on purpose counts there. Anywhere else it is enough that success can be
/// reported.
fn is_masked(tree: &Node, main: &Draft) -> bool {
    if main.all_effects().gravest() <= Effect::ReadOnly {
        exit::hides_failure_on_purpose(tree, main.leaf)
    } else {
        exit::can_hide_failure(tree, main.leaf)
    }
}

fn checks(walked: &WalkResult) -> Vec<Check> {
    let mut checks = Vec::new();
    for (position, step) in walked.steps.iter().enumerate() {
        let members =
            if step.members.is_empty() { std::slice::from_ref(step) } else { step.members.as_slice() };
        for member in members {
            let is_check = matches!(member.operation, "run_test" | "run_lint" | "run_build" | "verify")
                && member.effects.has(Effect::ExecuteCheck);
            if is_check && checks.len() < MAX_CHECKS {
                let proof = exit::proof(&walked.tree, member.leaf);
                checks.push(Check {
                    step: position,
                    command_name: member.name.clone(),
                    operation: member.operation.to_owned(),
                    zero_means_passed: proof.zero,
                    non_zero_means_failed: proof.non_zero,
                });
            }
        }
    }
    checks
}
