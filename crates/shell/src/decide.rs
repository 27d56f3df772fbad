//! The choice of the step for which a command line was run.

use crate::draft::Draft;
use crate::effect::{Effect, Effects};

/// Returns the weight of a step as evidence of the purpose of the whole line.
///
/// Checks come first, tests before linters before builds: a line that builds and then tests was run for the tests.
/// Every other step is weighed by its effects.
pub(crate) fn weight(draft: &Draft) -> u32 {
    if !draft.members.is_empty() {
        return draft.members.iter().map(weight).max().unwrap_or_default();
    }
    // What runs inside a step to make its words counts as well, but below the same thing done openly.
    let inner = draft.substitutions.iter().map(weight).max().unwrap_or_default();
    own_weight(draft).max(inner.saturating_sub(5))
}

/// Returns the weight of a step without what runs inside it.
fn own_weight(draft: &Draft) -> u32 {
    match draft.operation {
        "run_test" => 1000,
        "run_lint" => 950,
        "run_build" => 900,
        "verify" => 850,
        "install_dependency" => 800,
        _ => by_effect(draft),
    }
}

fn by_effect(draft: &Draft) -> u32 {
    match draft.effects.gravest() {
        // Among steps that run elsewhere, the graver one counts.
        Effect::RemoteExecution => 700 + draft.effects.without(Effects::REMOTE).gravest() as u32,
        Effect::Destructive => 650,
        Effect::Write if is_preparation(draft) => 550,
        Effect::Write => 600,
        Effect::Network => 500,
        Effect::ExecuteCheck => 450,
        // Above reading: what is not understood may be the purpose, and a probe beside it is not.
        Effect::Unknown => 400,
        Effect::ReadOnly => match draft.operation {
            "filter" | "sort_output" | "limit_output" | "test" | "compute" => 180,
            _ => 200,
        },
        Effect::Neutral => match draft.operation {
            "print" | "wait" => 100,
            _ => 50,
        },
    }
}

/// Returns `true` for a step that only makes another one possible.
pub(crate) fn is_preparation(draft: &Draft) -> bool {
    matches!(
        draft.operation,
        "create_directory"
            | "stage"
            | "create_file"
            | "change_mode"
            | "change_config"
            | "clean"
            | "create_environment"
    )
}

/// Returns the index of the decisive step. Of equals, the last one that changes something, or the first one that looks.
pub(crate) fn decisive(steps: &[Draft]) -> Option<usize> {
    let mut best: Option<(usize, u32)> = None;
    for (position, step) in steps.iter().enumerate() {
        let weight = weight(step);
        let better = match best {
            None => true,
            // A line ends with what it was written for, and looks first at what it is about.
            Some((_, known)) if weight >= 400 => weight >= known,
            Some((_, known)) => weight > known,
        };
        if better {
            best = Some((position, weight));
        }
    }
    best.map(|(position, _)| position)
}

/// Returns the step itself, or the decisive member of a pipeline: whose status counts.
pub(crate) fn innermost(draft: &Draft) -> &Draft {
    match decisive(&draft.members).and_then(|position| draft.members.get(position)) {
        Some(member) => innermost(member),
        None => draft,
    }
}

/// Returns the step that gives another its meaning: the decisive member of a pipeline, or a substitution that weighs
/// more than the step around it, as in `echo $(rm -rf x)`.
pub(crate) fn meaning(draft: &Draft) -> &Draft {
    let step = innermost(draft);
    let inner = decisive(&step.substitutions).and_then(|position| step.substitutions.get(position));
    match inner {
        Some(inner) if weight(inner) > own_weight(step) => meaning(inner),
        _ => step,
    }
}
