//! Translation of an analysis into the semantic fields that every tool call has.
//!
//! The first match decides: a configured rule pattern; a test, a linter, a build or a verification anywhere in the
//! line, in this order; a line that only looks; and else the operation of its decisive step. The spellings are those of
//! the event vocabulary, repeated here so that this crate depends on no other.

use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::decide;
use crate::draft::{Access, Draft};
use crate::effect::{Effect, Effects};
use crate::model::TargetType;

/// Declares a small set of words with one spelling each.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// The one spelling.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }
    };
}

words! {
    /// The kind of tool call that a shell command amounts to.
    SubtypeKey {
        /// It looked and changed nothing.
        ShellProbe = "shell_probe",
        /// It fetched a page.
        WebFetch = "web_fetch",
        /// It made files.
        CreateFile = "create_file",
        /// It changed files.
        ModifyFile = "modify_file",
        /// It deleted files.
        DeleteFile = "delete_file",
        /// It moved or renamed files.
        RenameFile = "rename_file",
        /// It applied a patch.
        ApplyPatch = "apply_patch",
        /// It ran something.
        RunCommand = "run_command",
        /// It ran tests.
        RunTest = "run_test",
        /// It built.
        RunBuild = "run_build",
        /// It ran a linter, formatter or type checker.
        RunLint = "run_lint",
        /// It installed, added or removed packages.
        InstallDependency = "install_dependency",
        /// It changed or exchanged versions.
        Vcs = "vcs",
        /// It verified something.
        Verify = "verify",
        /// It checked a rule.
        RuleCheck = "rule_check",
    }
}

words! {
    /// The dedicated tool that a probe stands in for.
    ProbeKey {
        /// Reads a file.
        ReadFile = "read_file",
        /// Lists files.
        ListFiles = "list_files",
        /// Searches in files.
        GrepCode = "grep_code",
        /// Looks for files by name.
        GlobFiles = "glob_files",
    }
}

words! {
    /// The family of a [`SubtypeKey`].
    SubtypeGroup {
        /// Probes.
        Shell = "shell",
        /// The web.
        Web = "web",
        /// Files changed.
        FileOps = "file_ops",
        /// Things run.
        Execution = "execution",
    }
}

words! {
    /// The family of the tool: always the terminal.
    ToolFamily {
        /// Runs commands.
        Terminal = "terminal",
    }
}

words! {
    /// The kind of thing that the command acted on.
    EntityType {
        /// A program.
        Command = "command",
        /// A file.
        File = "file",
        /// A directory.
        Directory = "directory",
        /// An address.
        Url = "url",
        /// A package.
        Package = "package",
    }
}

words! {
    /// The importance of the command to a person.
    Importance {
        /// It only looked.
        Minor = "minor",
        /// Everything else.
        Normal = "normal",
        /// It may destroy something, or runs what came from elsewhere.
        Critical = "critical",
    }
}

words! {
    /// The lane of the timeline.
    Lane {
        /// Reading the world.
        Exploration = "exploration",
        /// Changing and running things.
        Implementation = "implementation",
        /// Rules.
        Rule = "rule",
    }
}

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
    pub probe_key: Option<ProbeKey>,
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
    let lane = match key {
        SubtypeKey::RuleCheck => Lane::Rule,
        SubtypeKey::ShellProbe => Lane::Exploration,
        SubtypeKey::WebFetch if !effects.has(Effect::Write) => Lane::Exploration,
        _ => Lane::Implementation,
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
        subtype_group: group(key),
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
fn probe(main: &Draft) -> Option<ProbeKey> {
    match (main.operation, main.name.as_str()) {
        ("read_file" | "read_range" | "follow", _) => Some(ProbeKey::ReadFile),
        ("search", "find" | "gfind" | "fd" | "fdfind" | "locate" | "mdfind") => Some(ProbeKey::GlobFiles),
        ("search", _) => Some(ProbeKey::GrepCode),
        ("list", _) => Some(ProbeKey::ListFiles),
        ("limit_output" | "filter" | "sort_output" | "transform" | "compare", _) => main
            .aims
            .iter()
            .any(|aim| aim.access == Access::Read && aim.kind != TargetType::Stream)
            .then_some(ProbeKey::ReadFile),
        _ => None,
    }
}

const fn group(key: SubtypeKey) -> SubtypeGroup {
    match key {
        SubtypeKey::ShellProbe => SubtypeGroup::Shell,
        SubtypeKey::WebFetch => SubtypeGroup::Web,
        SubtypeKey::CreateFile
        | SubtypeKey::ModifyFile
        | SubtypeKey::DeleteFile
        | SubtypeKey::RenameFile
        | SubtypeKey::ApplyPatch => SubtypeGroup::FileOps,
        SubtypeKey::RunCommand
        | SubtypeKey::RunTest
        | SubtypeKey::RunBuild
        | SubtypeKey::RunLint
        | SubtypeKey::InstallDependency
        | SubtypeKey::Vcs
        | SubtypeKey::Verify
        | SubtypeKey::RuleCheck => SubtypeGroup::Execution,
    }
}

fn label(key: SubtypeKey, main: Option<&Draft>) -> &'static str {
    match key {
        SubtypeKey::ShellProbe => "Shell probe",
        SubtypeKey::WebFetch => "Fetch page",
        SubtypeKey::CreateFile => "Create file",
        SubtypeKey::ModifyFile => "Modify file",
        SubtypeKey::DeleteFile => "Delete file",
        SubtypeKey::RenameFile => "Rename file",
        SubtypeKey::ApplyPatch => "Apply patch",
        SubtypeKey::RunCommand => "Run command",
        SubtypeKey::RunTest => "Run tests",
        SubtypeKey::RunBuild => "Build",
        SubtypeKey::RunLint => match main {
            Some(main) if is_type_check(main) => "Type check",
            Some(main) if is_format(main) => "Format",
            _ => "Lint",
        },
        SubtypeKey::InstallDependency => match main {
            Some(main) if main.operation == "remove_dependency" => "Remove dependency",
            _ => "Install dependency",
        },
        SubtypeKey::Vcs => "Version control",
        SubtypeKey::Verify => "Verify",
        SubtypeKey::RuleCheck => "Check rule",
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
        | SubtypeKey::RuleCheck => "execute",
    }
}

/// The operation as others see it: the finer words that titles need fold into the common one.
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
