//! Tools that look for things: files by name, text in files, symbols, other tools.

use agent_tracer_event::semantics::{EntityType, SubtypeKey, ToolFamily};
use agent_tracer_event::{Kind, attributes};
use serde_json::Value;

use super::Meaning;
use super::input::Input;
use super::row::{EXPLORE, Row, flag, number, text};
use crate::text::{cut, line};

const PATTERN: &[&str] = &["pattern", "query", "regex"];
const PATH: &[&str] = &["path", "dir_path", "directory"];
const LSP_FILE: &[&str] = &["filePath", "file_path", "path"];
const LSP_SYMBOL: &[&str] = &["symbol", "query"];

pub(super) const TABLE: &[Row] = &[
    Row {
        names: &["Glob", "glob"],
        subtype: SubtypeKey::GlobFiles,
        entity: Some((EntityType::File, PATTERN)),
        keep: &[text(PATTERN, attributes::SEARCH_PATTERN, 300), text(PATH, attributes::SEARCH_PATH, 1024)],
        title: |input| match input.text(PATTERN) {
            Some(pattern) => format!("Find {}{}", line(input.display_path(pattern), 70), within(input)),
            None => format!("Find files{}", within(input)),
        },
        also: Some(searched_file),
        ..EXPLORE
    },
    Row {
        names: &["Grep", "grep", "grep_files"],
        subtype: SubtypeKey::GrepCode,
        entity: Some((EntityType::Query, PATTERN)),
        keep: &[
            text(PATTERN, attributes::SEARCH_PATTERN, 300),
            text(PATH, attributes::SEARCH_PATH, 1024),
            text(&["glob", "include"], attributes::SEARCH_GLOB, 300),
            text(&["type"], attributes::SEARCH_TYPE, 40),
            text(&["output_mode"], attributes::GREP_OUTPUT_MODE, 40),
            flag(&["-i", "case_insensitive"], attributes::GREP_CASE_INSENSITIVE),
            flag(&["multiline"], attributes::GREP_MULTILINE),
            number(&["head_limit", "limit"], attributes::GREP_HEAD_LIMIT),
        ],
        title: |input| {
            let verb = if input.text(&["output_mode"]) == Some("count") { "Count" } else { "Search for" };
            match input.text(PATTERN) {
                Some(pattern) => format!("{verb} \"{}\"{}", line(pattern, 60), within(input)),
                None => format!("Search files{}", within(input)),
            }
        },
        also: Some(searched_file),
        ..EXPLORE
    },
    Row {
        names: &["LS", "list_dir"],
        subtype: SubtypeKey::ListFiles,
        operation: "list",
        entity: Some((EntityType::Directory, PATH)),
        keep: &[text(PATH, attributes::SEARCH_PATH, 1024)],
        title: |input| match input.text(PATH).map(|path| input.display_path(path)) {
            Some(".") | None => "List files".to_owned(),
            Some(path) => format!("List {path}"),
        },
        ..EXPLORE
    },
    Row {
        names: &["LSP"],
        subtype: SubtypeKey::GrepCode,
        entity: Some((EntityType::File, LSP_FILE)),
        files: LSP_FILE,
        keep: &[
            text(&["operation"], attributes::LSP_OPERATION, 60),
            text(LSP_SYMBOL, attributes::LSP_SYMBOL, 300),
            number(&["line"], attributes::LSP_LINE),
            number(&["character", "column"], attributes::LSP_COLUMN),
        ],
        title: lsp_title,
        also: Some(lsp),
        ..EXPLORE
    },
    Row {
        names: &["ToolSearch", "tool_search", "tool_suggest"],
        subtype: SubtypeKey::ListFiles,
        label: Some("Tool search"),
        entity: Some((EntityType::Query, &["query"])),
        keep: &[
            text(&["query"], attributes::SEARCH_PATTERN, 300),
            number(&["max_results", "limit"], attributes::SEARCH_LIMIT),
        ],
        title: |input| match input.text(&["query"]) {
            // Names of tools to load instead of a question for them.
            Some(query) => match query.strip_prefix("select:") {
                Some(names) => format!("Load tools {}", line(&names.replace(',', ", "), 80)),
                None => format!("Look for tools: {}", line(query, 80)),
            },
            None => "Look for tools".to_owned(),
        },
        ..EXPLORE
    },
    Row {
        names: &[
            "ListMcpResourcesTool",
            "ListMcpResources",
            "list_mcp_resources",
            "list_mcp_resource_templates",
        ],
        kind: Kind::AgentActivityLogged,
        subtype: SubtypeKey::McpCall,
        label: Some("List resources"),
        family: ToolFamily::Coordination,
        operation: "list",
        entity: Some((EntityType::Mcp, &["server"])),
        keep: &[text(&["server"], attributes::MCP_SERVER, 200)],
        title: |input| match input.text(&["server"]) {
            Some(server) => format!("List resources of {server}"),
            None => "List resources of all servers".to_owned(),
        },
        also: Some(mcp_activity),
        ..EXPLORE
    },
    Row {
        names: &[
            "ReadMcpResourceTool",
            "ReadMcpResource",
            "ReadMcpResourceDirTool",
            "ReadMcpResourceDir",
            "read_mcp_resource",
        ],
        kind: Kind::AgentActivityLogged,
        subtype: SubtypeKey::McpCall,
        label: Some("Read resource"),
        family: ToolFamily::Coordination,
        operation: "read",
        entity: Some((EntityType::Mcp, &["server"])),
        keep: &[
            text(&["server"], attributes::MCP_SERVER, 200),
            text(&["uri"], attributes::MCP_RESOURCE, 300),
        ],
        title: |input| {
            let from = input.text(&["server"]).map_or(String::new(), |server| format!(" from {server}"));
            format!("Read {}{from}", line(input.text(&["uri"]).unwrap_or("a resource"), 80))
        },
        also: Some(mcp_activity),
        ..EXPLORE
    },
];

/// Returns where was looked, in words.
fn within(input: &Input<'_>) -> String {
    let path = input.text(PATH).map(|path| input.display_path(path)).filter(|path| *path != ".");
    let glob = input.text(&["glob", "include"]);
    match (path, glob) {
        (Some(path), Some(glob)) => format!(" in {path}/{}", line(glob, 40)),
        (Some(path), None) => format!(" in {path}"),
        (None, Some(glob)) => format!(" in {}", line(glob, 40)),
        (None, None) => input.text(&["type"]).map_or(String::new(), |kind| format!(" in {kind} files")),
    }
}

/// Adds the file to a search in one named file.
fn searched_file(input: &Input<'_>, meaning: &mut Meaning) {
    let Some(path) = input.text(PATH) else { return };
    let name = crate::text::base_name(path);
    // Without a disk to ask, a name with a suffix counts as a file.
    if name.trim_start_matches('.').contains('.') {
        meaning.file_paths.push(input.stored_path(path));
    }
}

fn mcp_activity(_input: &Input<'_>, meaning: &mut Meaning) {
    meaning.metadata.insert(attributes::ACTIVITY_TYPE.to_owned(), Value::from("mcp_call"));
}

/// Reads `goToDefinition` as words.
fn spaced(operation: &str) -> String {
    let mut words = String::new();
    for letter in operation.chars() {
        if letter.is_uppercase() {
            words.push(' ');
            words.extend(letter.to_lowercase());
        } else {
            words.push(if letter == '_' || letter == '-' { ' ' } else { letter });
        }
    }
    words
}

fn lsp_title(input: &Input<'_>) -> String {
    let operation = input.text(&["operation"]).map_or_else(|| "look up".to_owned(), spaced);
    let mut letters = operation.trim().chars();
    let verb: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    if let Some(symbol) = input.text(LSP_SYMBOL) {
        return format!("{verb}: {}", line(symbol, 60));
    }
    match (input.text(LSP_FILE).map(|path| input.display_path(path)), input.number(&["line"])) {
        (Some(path), Some(line)) => format!("{verb}: {path}:{line}"),
        (Some(path), None) => format!("{verb}: {path}"),
        (None, _) => verb,
    }
}

fn lsp(input: &Input<'_>, meaning: &mut Meaning) {
    if let Some(operation) = input.text(&["operation"]) {
        let operation = cut(operation, 60);
        meaning.semantics.operation = format!("lsp_{operation}");
        meaning.semantics.label = Some(format!("LSP {operation}"));
    } else {
        meaning.semantics.operation = "lsp".to_owned();
        meaning.semantics.label = Some("LSP".to_owned());
    }
    if let Some(symbol) = input.text(LSP_SYMBOL) {
        meaning.semantics.entity = Some((EntityType::Symbol, line(symbol, 300)));
    }
}
