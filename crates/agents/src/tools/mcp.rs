//! Tools of MCP servers: `mcp__<server>__<tool>`.

use agent_tracer_event::semantics::{EntityType, Importance, Semantics, SubtypeKey, ToolFamily};
use agent_tracer_event::{Kind, Metadata, attributes};
use serde_json::Value;

use super::Meaning;
use super::input::Input;
use crate::text::{line, title};

/// Splits the name of a server's tool. The server's name ends at the first double underscore.
pub(super) fn parts(name: &str) -> Option<(&str, &str)> {
    let rest = name.strip_prefix("mcp__")?;
    // Ambiguous where a server's name has two underscores; a client that names the server beside the tool overrules it.
    let (server, tool) = rest.split_once("__").unwrap_or((rest, ""));
    (!server.is_empty()).then_some((server, tool))
}

pub(super) fn understand(input: &Input<'_>, server: &str, tool: &str) -> Meaning {
    let (server, tool) = (line(server, 200), line(tool, 200));
    let name = if tool.is_empty() { server.clone() } else { format!("{server}/{tool}") };
    let mut metadata = Metadata::new();
    metadata.insert(attributes::ACTIVITY_TYPE.to_owned(), Value::from("mcp_call"));
    metadata.insert(attributes::MCP_SERVER.to_owned(), Value::from(server));
    if !tool.is_empty() {
        metadata.insert(attributes::MCP_TOOL.to_owned(), Value::from(tool));
    }
    Meaning {
        kind: Kind::AgentActivityLogged,
        lane: Kind::AgentActivityLogged.lane(),
        semantics: Semantics {
            subtype: SubtypeKey::McpCall,
            label: None,
            family: ToolFamily::Coordination,
            operation: "invoke".to_owned(),
            entity: Some((EntityType::Mcp, name.clone())),
            source_tool: input.tool.to_owned(),
            importance: Importance::Normal,
        },
        title: title(&format!("Call {name}")),
        body: None,
        file_paths: Vec::new(),
        metadata,
        recognised: true,
    }
}
