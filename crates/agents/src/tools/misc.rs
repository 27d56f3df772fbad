//! Tools of the clients that belong to no family: messages to the human, artefacts, servers, the product itself.

use agent_tracer_event::semantics::{EntityType, Importance, SubtypeKey, ToolFamily};
use agent_tracer_event::{Kind, Lane, attributes};

use super::row::{COORDINATE, EXPLORE, FILE, PLAN, Row, text, texts};
use crate::text::line;

// From the clients' own lists, with the names that they have dropped: older files still have them.
pub(super) const TABLE: &[Row] = &[
    Row {
        names: &["StructuredOutput"],
        kind: Kind::ToolUsed,
        lane: Lane::Assistant,
        subtype: SubtypeKey::Uncategorized,
        label: Some("Structured answer"),
        operation: "answer",
        title: |_| "Give a structured answer".to_owned(),
        ..PLAN
    },
    Row {
        names: &["SendUserMessage", "Brief"],
        lane: Lane::Assistant,
        subtype: SubtypeKey::Uncategorized,
        label: Some("Tell the user"),
        operation: "message",
        body: &["message", "content"],
        title: |input| match input.text(&["message", "content", "title"]) {
            Some(said) => format!("Tell the user: {}", line(said, 90)),
            None => "Tell the user".to_owned(),
        },
        ..PLAN
    },
    Row {
        names: &["SendUserFile"],
        lane: Lane::Assistant,
        subtype: SubtypeKey::Uncategorized,
        label: Some("Send file"),
        operation: "send",
        files: &["file_path", "path"],
        title: |input| match input.text(&["file_path", "path"]) {
            Some(path) => format!("Send {} to the user", input.display_path(path)),
            None => "Send a file to the user".to_owned(),
        },
        ..PLAN
    },
    Row {
        names: &["PushNotification"],
        kind: Kind::ToolUsed,
        subtype: SubtypeKey::Uncategorized,
        label: Some("Notify the user"),
        operation: "notify",
        title: |input| match input.text(&["message"]) {
            Some(said) => format!("Notify the user: {}", line(said, 90)),
            None => "Notify the user".to_owned(),
        },
        ..COORDINATE
    },
    Row {
        names: &["ReadNotifications"],
        kind: Kind::ToolUsed,
        subtype: SubtypeKey::ListFiles,
        label: Some("Read notifications"),
        operation: "read",
        title: |_| "Read notifications".to_owned(),
        ..EXPLORE
    },
    Row {
        names: &["Artifact"],
        subtype: SubtypeKey::CreateFile,
        label: Some("Artifact"),
        operation: "publish",
        entity: Some((EntityType::Url, &["url", "title", "file_path"])),
        files: &["file_path"],
        keep: &[
            text(&["action"], attributes::ARTIFACT_ACTION, 60),
            text(&["title"], attributes::ARTIFACT_TITLE, 200),
        ],
        title: |input| {
            let verb = input.text(&["action"]).unwrap_or("publish").replace('_', " ");
            match input.text(&["title", "file_path", "url"]) {
                Some(what) => {
                    format!("Artifact, {}: {}", line(&verb, 40), line(input.display_path(what), 60))
                }
                None => format!("Artifact, {}", line(&verb, 40)),
            }
        },
        ..FILE
    },
    Row {
        names: &["Projects"],
        kind: Kind::ToolUsed,
        subtype: SubtypeKey::Uncategorized,
        label: Some("Project knowledge"),
        operation: "invoke",
        keep: &[
            text(&["method"], attributes::PROJECT_METHOD, 60),
            text(&["query"], attributes::SEARCH_PATTERN, 300),
        ],
        title: |input| {
            let method = input.text(&["method"]).unwrap_or("project").replace('_', " ");
            match input.text(&["path", "query"]) {
                Some(what) => format!("Project knowledge, {}: {}", line(&method, 40), line(what, 60)),
                None => format!("Project knowledge, {}", line(&method, 40)),
            }
        },
        ..COORDINATE
    },
    Row {
        names: &["ClaudeDesign"],
        kind: Kind::ToolUsed,
        subtype: SubtypeKey::Uncategorized,
        label: Some("Design"),
        operation: "invoke",
        keep: &[text(&["operation"], attributes::DESIGN_OPERATION, 100)],
        title: |input| match input.text(&["operation"]) {
            Some(operation) => format!("Design: {}", line(&operation.replace('_', " "), 80)),
            None => "Design".to_owned(),
        },
        ..COORDINATE
    },
    Row {
        names: &["SendFeedback"],
        kind: Kind::ToolUsed,
        subtype: SubtypeKey::Uncategorized,
        label: Some("Send feedback"),
        operation: "message",
        keep: &[text(&["type"], attributes::FEEDBACK_TYPE, 60)],
        title: |input| match input.text(&["title"]) {
            Some(what) => format!("Send feedback: {}", line(what, 90)),
            None => "Send feedback".to_owned(),
        },
        ..COORDINATE
    },
    Row {
        names: &["WaitForMcpServers", "RefreshMcpTools"],
        subtype: SubtypeKey::McpCall,
        label: Some("MCP servers"),
        operation: "wait",
        importance: Importance::Minor,
        keep: &[
            text(&["server"], attributes::MCP_SERVER, 200),
            texts(&["servers"], attributes::MCP_SERVERS, 200),
        ],
        title: |input| {
            if input.tool == "RefreshMcpTools" {
                "Refresh the tools of servers".to_owned()
            } else {
                "Wait for servers".to_owned()
            }
        },
        ..COORDINATE
    },
    Row {
        names: &["image_generation", "image_generation_call", "imagegen"],
        kind: Kind::ToolUsed,
        subtype: SubtypeKey::CreateFile,
        label: Some("Make image"),
        family: ToolFamily::File,
        operation: "create",
        title: |input| match input.text(&["prompt", "revised_prompt"]) {
            Some(prompt) => format!("Make an image: {}", line(prompt, 90)),
            None => "Make an image".to_owned(),
        },
        ..FILE
    },
    Row {
        names: &["EndConversation"],
        kind: Kind::ToolUsed,
        subtype: SubtypeKey::Uncategorized,
        label: Some("End conversation"),
        operation: "end",
        title: |_| "End the conversation".to_owned(),
        ..COORDINATE
    },
    Row {
        names: &["OfferChromeSetup", "ShowOnboardingRolePicker", "ShareOnboardingGuide"],
        kind: Kind::ToolUsed,
        subtype: SubtypeKey::Uncategorized,
        label: Some("Onboarding"),
        operation: "offer",
        importance: Importance::Minor,
        title: |_| "Help with the set-up of the client".to_owned(),
        ..COORDINATE
    },
];
