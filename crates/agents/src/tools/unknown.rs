//! Tools that no table knows: an event all the same, and nothing guessed about it.

use agent_tracer_event::semantics::{Importance, Semantics, SubtypeKey, ToolFamily};
use agent_tracer_event::{Kind, Metadata};

use super::Meaning;
use super::input::Input;
use crate::text::{line, title};

pub(super) fn understand(input: &Input<'_>) -> Meaning {
    let name = line(input.tool, 100);
    Meaning {
        kind: Kind::ToolUsed,
        lane: Kind::ToolUsed.lane(),
        semantics: Semantics {
            subtype: SubtypeKey::Uncategorized,
            label: None,
            family: ToolFamily::Coordination,
            operation: "execute".to_owned(),
            entity: None,
            source_tool: input.tool.to_owned(),
            importance: Importance::Normal,
        },
        title: if name.is_empty() { "Use a tool".to_owned() } else { title(&format!("Use {name}")) },
        body: None,
        file_paths: Vec::new(),
        metadata: Metadata::new(),
        // Counted, so that the tools of a newer client are noticed: which tools there are depends on model and mode.
        recognised: false,
    }
}
