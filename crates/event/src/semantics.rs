//! Covers what a tool call means, in words that are the same for every agent.

use crate::attributes;
use serde_json::Value;

use crate::entry::Metadata;
use crate::words;

words! {
    /// The action of a tool call.
    SubtypeKey {
        /// A file was read.
        ReadFile = "read_file",
        /// Files were looked for by name.
        GlobFiles = "glob_files",
        /// Text was looked for in files.
        GrepCode = "grep_code",
        /// Files, tools or other things were listed.
        ListFiles = "list_files",
        /// The web was searched.
        WebSearch = "web_search",
        /// A page was fetched.
        WebFetch = "web_fetch",
        /// A command looked at something and changed nothing.
        ShellProbe = "shell_probe",
        /// A file was made.
        CreateFile = "create_file",
        /// A file was changed.
        ModifyFile = "modify_file",
        /// A file was deleted.
        DeleteFile = "delete_file",
        /// A file was moved or renamed.
        RenameFile = "rename_file",
        /// A patch was applied.
        ApplyPatch = "apply_patch",
        /// A command ran.
        RunCommand = "run_command",
        /// Tests ran.
        RunTest = "run_test",
        /// Something was built.
        RunBuild = "run_build",
        /// A linter, formatter or type checker ran.
        RunLint = "run_lint",
        /// A package was installed, added or removed.
        InstallDependency = "install_dependency",
        /// Version control.
        Vcs = "vcs",
        /// Something was verified.
        Verify = "verify",
        /// A rule was checked.
        RuleCheck = "rule_check",
        /// A tool of an MCP server.
        McpCall = "mcp_call",
        /// A skill.
        SkillUse = "skill_use",
        /// Work was handed to another agent.
        Delegation = "delegation",
        /// A plan.
        Plan = "plan",
        /// A work item.
        Todo = "todo",
        /// A question.
        Question = "question",
        /// None of these.
        Uncategorized = "uncategorized",
    }
}

words! {
    /// The family of [`SubtypeKey`]s.
    SubtypeGroup {
        /// Files read.
        Files = "files",
        /// Searches.
        Search = "search",
        /// The web.
        Web = "web",
        /// Shell probes.
        Shell = "shell",
        /// Files changed.
        FileOps = "file_ops",
        /// Things run.
        Execution = "execution",
        /// Agents, skills, servers.
        Coordination = "coordination",
        /// Plans, work items, questions.
        Planning = "planning",
    }
}

words! {
    /// The family of tools.
    ToolFamily {
        /// Looks at things.
        Explore = "explore",
        /// Changes files.
        File = "file",
        /// Runs commands.
        Terminal = "terminal",
        /// Talks to others.
        Coordination = "coordination",
    }
}

words! {
    /// The type of the thing that a call is about.
    EntityType {
        /// A file.
        File = "file",
        /// A directory.
        Directory = "directory",
        /// An address.
        Url = "url",
        /// A search query.
        Query = "query",
        /// A symbol in code.
        Symbol = "symbol",
        /// A command.
        Command = "command",
        /// A running shell.
        Shell = "shell",
        /// A tool of a server.
        Mcp = "mcp",
        /// A skill.
        Skill = "skill",
        /// An agent.
        Agent = "agent",
        /// A schedule.
        Cron = "cron",
        /// A package.
        Package = "package",
    }
}

words! {
    /// The importance of an event for a person, least first.
    Importance {
        /// Probes and telemetry.
        Minor = "minor",
        /// Everything else.
        Normal = "normal",
        /// Destructive, run from remote, denied, a failed test.
        Critical = "critical",
    }
}

impl SubtypeKey {
    /// Returns the group this belongs to.
    #[must_use]
    pub const fn group(self) -> SubtypeGroup {
        match self {
            Self::ReadFile => SubtypeGroup::Files,
            Self::GlobFiles | Self::GrepCode | Self::ListFiles => SubtypeGroup::Search,
            Self::WebSearch | Self::WebFetch => SubtypeGroup::Web,
            Self::ShellProbe => SubtypeGroup::Shell,
            Self::CreateFile | Self::ModifyFile | Self::DeleteFile | Self::RenameFile | Self::ApplyPatch => {
                SubtypeGroup::FileOps
            }
            Self::RunCommand
            | Self::RunTest
            | Self::RunBuild
            | Self::RunLint
            | Self::InstallDependency
            | Self::Vcs
            | Self::Verify
            | Self::RuleCheck
            | Self::Uncategorized => SubtypeGroup::Execution,
            Self::McpCall | Self::SkillUse | Self::Delegation => SubtypeGroup::Coordination,
            Self::Plan | Self::Todo | Self::Question => SubtypeGroup::Planning,
        }
    }

    /// Returns the words a person reads.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::ReadFile => "Read file",
            Self::GlobFiles => "Find files",
            Self::GrepCode => "Search code",
            Self::ListFiles => "List",
            Self::WebSearch => "Web search",
            Self::WebFetch => "Fetch page",
            Self::ShellProbe => "Shell probe",
            Self::CreateFile => "Create file",
            Self::ModifyFile => "Modify file",
            Self::DeleteFile => "Delete file",
            Self::RenameFile => "Rename file",
            Self::ApplyPatch => "Apply patch",
            Self::RunCommand => "Run command",
            Self::RunTest => "Run tests",
            Self::RunBuild => "Build",
            Self::RunLint => "Lint",
            Self::InstallDependency => "Install dependency",
            Self::Vcs => "Version control",
            Self::Verify => "Verify",
            Self::RuleCheck => "Check rule",
            Self::McpCall => "MCP call",
            Self::SkillUse => "Use skill",
            Self::Delegation => "Delegate",
            Self::Plan => "Plan",
            Self::Todo => "Todo",
            Self::Question => "Question",
            Self::Uncategorized => "Other",
        }
    }
}

/// The semantic fields that every tool event carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Semantics {
    /// Holds what was done.
    pub subtype: SubtypeKey,
    /// A label where the common one of the subtype says too little.
    pub label: Option<String>,
    /// The family of the tool.
    pub family: ToolFamily,
    /// The verb: read, search, list, fetch, create, modify, delete, rename, execute, probe, invoke, delegate, …
    pub operation: String,
    /// Holds what it was about.
    pub entity: Option<(EntityType, String)>,
    /// The tool's name as the agent gave it.
    pub source_tool: String,
    /// Holds how much a person should care.
    pub importance: Importance,
}

impl Semantics {
    /// Writes the fields under their fixed names.
    pub fn write(&self, metadata: &mut Metadata) {
        let mut put = |key: &str, value: &str| metadata.insert(key.to_owned(), Value::from(value));
        put(attributes::SUBTYPE_KEY, self.subtype.as_str());
        // The label is written too: a reader of the stored row, such as an export, has no table of labels.
        put(attributes::SUBTYPE_LABEL, self.label.as_deref().unwrap_or_else(|| self.subtype.label()));
        put(attributes::SUBTYPE_GROUP, self.subtype.group().as_str());
        put(attributes::TOOL_FAMILY, self.family.as_str());
        put("operation", &self.operation);
        if let Some((entity, name)) = &self.entity {
            put(attributes::ENTITY_TYPE, entity.as_str());
            put(attributes::ENTITY_NAME, name);
        }
        put(attributes::SOURCE_TOOL, &self.source_tool);
        put("importance", self.importance.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fixed_names_are_written_and_no_others() {
        let mut metadata = Metadata::new();
        Semantics {
            subtype: SubtypeKey::ReadFile,
            label: None,
            family: ToolFamily::Explore,
            operation: "read".to_owned(),
            entity: Some((EntityType::File, "src/lib.rs".to_owned())),
            source_tool: "Read".to_owned(),
            importance: Importance::Minor,
        }
        .write(&mut metadata);
        let keys: Vec<&str> = metadata.keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            [
                "subtypeKey",
                "subtypeLabel",
                "subtypeGroup",
                "toolFamily",
                "operation",
                "entityType",
                "entityName",
                "sourceTool",
                "importance"
            ]
        );
    }
}
