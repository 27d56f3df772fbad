//! Translation of an analysis into the semantic fields that every tool call has.
//!
//! The first match decides: a configured rule pattern; a test, a linter, a build or a verification anywhere in the
//! line, in this order; a line that only looks; and else the operation of its decisive step.

use agent_tracer_event::Lane;
use agent_tracer_event::semantics::{EntityType, Importance, SubtypeGroup, SubtypeKey, ToolFamily};
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::decide;
use crate::draft::{Access, Draft};
use crate::effect::{Effect, Effects};
use crate::model::TargetType;

/// The semantic fields of a shell call, under their fixed names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Semantics {
    /// The kind of tool call.
    pub subtype_key: SubtypeKey,
    /// The words a person reads.
    pub subtype_label: String,
    /// The family of the key.
    pub subtype_group: SubtypeGroup,
    /// The family of the tool.
    pub tool_family: ToolFamily,
    /// The verb; of a probe, the operation of its decisive step.
    pub operation: String,
    /// The kind of thing that it acted on.
    pub entity_type: EntityType,
    /// Its name.
    pub entity_name: String,
    /// The importance to a person. The caller raises it for a denied or failed call: the command line shows neither.
    pub importance: Importance,
    /// For a probe that does what a dedicated tool does: which one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe_key: Option<SubtypeKey>,
}

const LOOKS: Effects = Effects::READ.and(Effects::NEUTRAL);

/// Derives the semantic fields and the lane.
pub(crate) fn derive(
    command: &str,
    context: &Context<'_>,
    steps: &[Draft],
    effects: Effects,
) -> (Semantics, Lane) {
    let main = decide::decisive(steps).and_then(|position| steps.get(position)).map(decide::meaning);
    let key = subtype(command, context, steps, main, effects);
    let only_looks =
        key == SubtypeKey::ShellProbe || key == SubtypeKey::WebFetch && !effects.has(Effect::Write);
    let lane = if key == SubtypeKey::RuleCheck {
        Lane::Rule
    } else if only_looks {
        Lane::Exploration
    } else {
        Lane::Implementation
    };
    let importance = if effects.gravest() >= Effect::Destructive {
        Importance::Critical
    } else if key == SubtypeKey::ShellProbe {
        Importance::Minor
    } else {
        Importance::Normal
    };
    let (entity_type, entity_name) = entity(key, main, command);
    let semantics = Semantics {
        subtype_key: key,
        subtype_label: label(key, main).to_owned(),
        subtype_group: key.group(),
        tool_family: ToolFamily::Terminal,
        operation: operation(key, main).to_owned(),
        entity_type,
        entity_name,
        importance,
        probe_key: if key == SubtypeKey::ShellProbe { main.and_then(probe) } else { None },
    };
    (semantics, lane)
}

fn subtype(
    command: &str,
    context: &Context<'_>,
    steps: &[Draft],
    main: Option<&Draft>,
    effects: Effects,
) -> SubtypeKey {
    if context.rule_patterns.iter().any(|pattern| !pattern.is_empty() && command.contains(pattern)) {
        return SubtypeKey::RuleCheck;
    }
    for (operation, key) in [
        ("run_test", SubtypeKey::RunTest),
        ("run_lint", SubtypeKey::RunLint),
        ("run_build", SubtypeKey::RunBuild),
        ("verify", SubtypeKey::Verify),
    ] {
        if steps.iter().any(|step| has_operation(step, operation)) {
            return key;
        }
    }
    let Some(main) = main else { return SubtypeKey::RunCommand };
    if effects.within(LOOKS) {
        return SubtypeKey::ShellProbe;
    }
    by_decisive(main, effects)
}

fn has_operation(step: &Draft, operation: &str) -> bool {
    // `cargo test --help` and dry runs keep the name and do nothing.
    let acts = !step.effects.within(LOOKS);
    step.operation == operation && acts || step.members.iter().any(|member| has_operation(member, operation))
}

fn by_decisive(main: &Draft, effects: Effects) -> SubtypeKey {
    let looks_elsewhere = effects.within(LOOKS.and(Effects::NETWORK));
    match main.operation {
        "install_dependency" | "remove_dependency" => SubtypeKey::InstallDependency,
        "fetch_url" | "download" => SubtypeKey::WebFetch,
        "apply_patch" => SubtypeKey::ApplyPatch,
        // `git diff > x.patch` creates a file; the program that fills it does not matter.
        "write_file" => SubtypeKey::CreateFile,
        "append_file" => SubtypeKey::ModifyFile,
        _ if is_version_control(main) => SubtypeKey::Vcs,
        "delete_file" => SubtypeKey::DeleteFile,
        "rename_file" => SubtypeKey::RenameFile,
        "create_file" | "create_directory" | "copy_file" | "link_file" | "unpack" | "pack" => {
            SubtypeKey::CreateFile
        }
        "edit_in_place" | "change_mode" | "modify_file" => SubtypeKey::ModifyFile,
        _ if looks_elsewhere && main.effects.has(Effect::ReadOnly) => SubtypeKey::ShellProbe,
        _ => SubtypeKey::RunCommand,
    }
}

fn is_version_control(main: &Draft) -> bool {
    // `git fetch` only talks, and still brings something; a dry run looks.
    let exchanges = matches!(main.operation, "fetch_repo" | "publish") && !main.effects.has(Effect::ReadOnly);
    let changes = !main.effects.within(LOOKS.and(Effects::NETWORK)) || exchanges;
    matches!(main.name.as_str(), "git" | "hg" | "svn" | "jj" | "sl" | "gh" | "glab" | "hub" | "tea")
        && changes
}

/// Returns the dedicated tool that does what a probe does with a shell command.
fn probe(main: &Draft) -> Option<SubtypeKey> {
    match (main.operation, main.name.as_str()) {
        ("read_file" | "read_range" | "follow", _) => Some(SubtypeKey::ReadFile),
        ("search", "find" | "gfind" | "fd" | "fdfind" | "locate" | "mdfind") => Some(SubtypeKey::GlobFiles),
        ("search", _) => Some(SubtypeKey::GrepCode),
        ("list", _) => Some(SubtypeKey::ListFiles),
        ("limit_output" | "filter" | "sort_output" | "transform" | "compare", _) => main
            .aims
            .iter()
            .any(|aim| aim.access == Access::Read && aim.kind != TargetType::Stream)
            .then_some(SubtypeKey::ReadFile),
        _ => None,
    }
}

/// Returns the words a person reads: those of the vocabulary, unless the program says more.
fn label(key: SubtypeKey, main: Option<&Draft>) -> &'static str {
    match main {
        Some(main) if key == SubtypeKey::RunLint && is_type_check(main) => "Type check",
        Some(main) if key == SubtypeKey::RunLint && is_format(main) => "Format",
        Some(main) if key == SubtypeKey::InstallDependency && main.operation == "remove_dependency" => {
            "Remove dependency"
        }
        _ => key.label(),
    }
}

/// Linters that look at types only.
pub(crate) fn is_type_check(draft: &Draft) -> bool {
    let by_name = matches!(
        draft.name.as_str(),
        "mypy"
            | "pyright"
            | "basedpyright"
            | "tsc"
            | "vue-tsc"
            | "svelte-check"
            | "pytype"
            | "pyre"
            | "flow"
            | "ty"
    );
    let script = draft.detail.as_deref().unwrap_or_default();
    by_name || crate::tools::scripts::purpose(script) == crate::tools::scripts::Purpose::TypeCheck
}

/// Linters that rewrite.
pub(crate) fn is_format(draft: &Draft) -> bool {
    let by_name = matches!(
        (draft.name.as_str(), draft.subcommand.as_deref()),
        (
            "prettier"
                | "black"
                | "isort"
                | "rustfmt"
                | "gofmt"
                | "goimports"
                | "shfmt"
                | "clang-format"
                | "taplo",
            _
        ) | ("cargo" | "go" | "deno" | "terraform" | "tofu", Some("fmt"))
            | ("ruff" | "biome" | "mix" | "dotnet" | "dart", Some("format"))
    );
    let script = draft.detail.as_deref().unwrap_or_default();
    by_name || crate::tools::scripts::purpose(script) == crate::tools::scripts::Purpose::Format
}

fn operation(key: SubtypeKey, main: Option<&Draft>) -> &'static str {
    match key {
        SubtypeKey::ShellProbe => main.map_or("probe", |main| public(main.operation)),
        SubtypeKey::Vcs => main.map_or("execute", |main| public(main.operation)),
        SubtypeKey::WebFetch => "fetch",
        SubtypeKey::CreateFile => "create",
        SubtypeKey::ModifyFile | SubtypeKey::ApplyPatch => "modify",
        SubtypeKey::DeleteFile => "delete",
        SubtypeKey::RenameFile => "rename",
        SubtypeKey::InstallDependency => "install",
        SubtypeKey::RunCommand
        | SubtypeKey::RunTest
        | SubtypeKey::RunBuild
        | SubtypeKey::RunLint
        | SubtypeKey::Verify
        | SubtypeKey::RuleCheck
        // The rest of the vocabulary belongs to tools of their own; no command line has it.
        | SubtypeKey::ReadFile
        | SubtypeKey::GlobFiles
        | SubtypeKey::GrepCode
        | SubtypeKey::ListFiles
        | SubtypeKey::WebSearch
        | SubtypeKey::McpCall
        | SubtypeKey::SkillUse
        | SubtypeKey::Delegation
        | SubtypeKey::Plan
        | SubtypeKey::Todo
        | SubtypeKey::Question
        | SubtypeKey::Uncategorized => "execute",
    }
}

/// Returns the operation as others see it: the finer words that titles need fold into the common one.
pub(crate) fn public(operation: &'static str) -> &'static str {
    match operation {
        "stage" | "unstage" | "commit" | "switch_branch" | "create_branch" | "delete_branch"
        | "create_tag" | "delete_tag" | "merge" | "rebase" | "discard_changes" | "reset" | "reset_hard"
        | "stash" | "drop_stash" => "vcs_write",
        "unknown_command" => "unknown",
        other => other,
    }
}

fn entity(key: SubtypeKey, main: Option<&Draft>, command: &str) -> (EntityType, String) {
    let Some(main) = main else {
        let first = command.split_whitespace().next().unwrap_or_default();
        return (EntityType::Command, first.chars().take(120).collect());
    };
    let named = match key {
        SubtypeKey::InstallDependency => first_aim(main, |aim| aim.kind == TargetType::Package),
        SubtypeKey::WebFetch => first_aim(main, |aim| aim.kind == TargetType::Url),
        SubtypeKey::DeleteFile => first_aim(main, |aim| aim.access == Access::Delete),
        SubtypeKey::CreateFile | SubtypeKey::ModifyFile | SubtypeKey::RenameFile | SubtypeKey::ApplyPatch => {
            first_aim(main, |aim| aim.access == Access::Write)
        }
        _ => None,
    };
    named.unwrap_or_else(|| (EntityType::Command, main.name.chars().take(120).collect()))
}

fn first_aim(main: &Draft, wanted: impl Fn(&crate::draft::Aim) -> bool) -> Option<(EntityType, String)> {
    let aim = main.aims.iter().find(|aim| wanted(aim))?;
    let kind = match aim.kind {
        TargetType::Package => EntityType::Package,
        TargetType::Url => EntityType::Url,
        TargetType::Directory => EntityType::Directory,
        TargetType::File | TargetType::Path | TargetType::Unknown => EntityType::File,
        TargetType::Workspace | TargetType::Stream => return None,
    };
    Some((kind, aim.value.clone()))
}
