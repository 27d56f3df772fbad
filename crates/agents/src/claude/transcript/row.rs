//! One row of a transcript, as far as anybody asks for it.
//!
//! A row is read in one pass: what stands in it under a known name becomes a field, everything else is walked over.
//! Texts stay where they lie in the line; values whose meaning depends on the type of the row, which may stand behind
//! them, are kept as their bytes. The newest of several members with one name counts, as in the client.

use super::scan::{Cursor, Malformed, Read};
use super::text::Text;
use super::tokens::{Usage, read_usage};

/// A row. Missing texts are empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Row<'a> {
    pub(super) kind: Text<'a>,
    pub(super) subtype: Text<'a>,
    pub(super) uuid: Text<'a>,
    pub(super) parent: Text<'a>,
    pub(super) session: Text<'a>,
    /// The session under which the process was started: another one after `/clear`.
    pub(super) process_session: Text<'a>,
    /// The session whose process made the request of this response.
    pub(super) request_session: Text<'a>,
    pub(super) agent: Text<'a>,
    pub(super) timestamp: Text<'a>,
    pub(super) cwd: Text<'a>,
    pub(super) version: Text<'a>,
    pub(super) branch: Text<'a>,
    pub(super) entrypoint: Text<'a>,
    pub(super) prompt: Text<'a>,
    pub(super) request: Text<'a>,
    /// The `id` of the `api-request` row that asked for this response.
    pub(super) request_ref: Text<'a>,
    pub(super) requested_model: Text<'a>,
    pub(super) effort: Text<'a>,
    pub(super) attribution_agent: Text<'a>,
    pub(super) attribution_skill: Text<'a>,
    pub(super) attribution_plugin: Text<'a>,
    pub(super) attribution_mcp_server: Text<'a>,
    pub(super) attribution_mcp_tool: Text<'a>,
    pub(super) error: Text<'a>,
    pub(super) permission_mode: Text<'a>,
    pub(super) prompt_source: Text<'a>,
    pub(super) turn_origin: Text<'a>,
    pub(super) denial: Text<'a>,
    pub(super) interrupted_message: Text<'a>,
    pub(super) source_tool_use: Text<'a>,
    pub(super) tool_use: Text<'a>,
    pub(super) parent_tool_use: Text<'a>,
    /// The `model` beside the message: older rows have it there.
    pub(super) model: Text<'a>,
    pub(super) id: Text<'a>,
    pub(super) api_error_status: Option<u64>,
    pub(super) duration_ms: Option<u64>,
    pub(super) cost_usd: Option<f64>,
    pub(super) status_code: Option<u64>,
    pub(super) is_sidechain: bool,
    pub(super) is_meta: bool,
    pub(super) is_compact_summary: bool,
    pub(super) is_api_error: bool,
    pub(super) is_aborted: bool,
    /// The call was refused before it began.
    pub(super) is_denied_before_run: bool,
    pub(super) message: Option<Message<'a>>,
    /// A `usage` beside the message: `api_response` rows have it there.
    pub(super) usage: Option<Usage<'a>>,
    pub(super) tool_use_result: Option<&'a [u8]>,
    pub(super) permission_decision: Option<&'a [u8]>,
    pub(super) attachment: Option<&'a [u8]>,
    pub(super) data: Option<&'a [u8]>,
    pub(super) forked_from: Option<&'a [u8]>,
}

/// The `message` of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Message<'a> {
    pub(super) id: Text<'a>,
    pub(super) role: Text<'a>,
    pub(super) model: Text<'a>,
    pub(super) stop_reason: Text<'a>,
    pub(super) content: Content<'a>,
    pub(super) usage: Option<Usage<'a>>,
    /// True if a member called `usage` was there at all.
    pub(super) names_usage: bool,
}

/// Describes what a message says.
#[derive(Clone, Debug, Default)]
pub(super) enum Content<'a> {
    /// Nothing, or something that is neither text nor blocks.
    #[default]
    Empty,
    /// One text.
    Text(Text<'a>),
    /// Blocks, of which every one may be something else.
    Blocks(Vec<Block<'a>>),
}

/// A block of a message.
#[derive(Clone, Debug, Default)]
pub(super) struct Block<'a> {
    pub(super) kind: Text<'a>,
    /// `text` of a text block, `thinking` of a thinking block.
    pub(super) text: Text<'a>,
    pub(super) id: Text<'a>,
    pub(super) name: Text<'a>,
    pub(super) input: Option<&'a [u8]>,
    pub(super) tool_use: Text<'a>,
    pub(super) content: Option<&'a [u8]>,
    pub(super) is_error: bool,
}

/// Describes which parts of a message are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// Ids and numbers: the content is walked over.
    Numbers,
    /// The content too.
    Content,
}

/// Reads a row. A line that is no JSON object is malformed.
pub(super) fn row(line: &[u8], depth: Depth) -> Read<Row<'_>> {
    let mut cursor = Cursor::new(line);
    if cursor.peek() != Some(b'{') {
        return Err(Malformed);
    }
    let row = nested(&mut cursor, depth)?;
    cursor.end()?;
    Ok(row)
}

/// Returns what is in reach of a row of which only the beginning and the end are left.
///
/// Whatever stood in the middle is missing; nothing is ever taken from the inside of a text, because a quote in a text
/// has a backslash before it and the quotes that names are looked for by have none.
pub(super) fn remains<'a>(head: &'a [u8], tail: &'a [u8]) -> Row<'a> {
    let mut row = Row::default();
    let mut cursor = Cursor::new(head);
    // The error at the end of the head is expected: what was read before it stands in the row.
    let _torn = cursor.members(|cursor, name| member(&mut row, cursor, &name.name(), Depth::Numbers));
    let in_message =
        names(tail, br#""usage""#).take(TRIES).find_map(|at| rest_of_message(&row, tail.get(at..)?));
    if let Some(whole) = in_message {
        return whole;
    }
    let mut places: Vec<usize> = ROW_NAMES.iter().flat_map(|name| names(tail, name).take(TRIES)).collect();
    places.sort_unstable();
    places.into_iter().find_map(|at| rest_of_row(&row, tail.get(at..)?)).unwrap_or(row)
}

/// Names of which one stands near the end of every row with a message.
const ROW_NAMES: &[&[u8]] =
    &[br#""uuid""#, br#""timestamp""#, br#""requestId""#, br#""toolUseResult""#, br#""sessionId""#];

/// At how many places the end of a row is looked for: a hostile tail must not cost more than an honest one.
const TRIES: usize = 64;

/// Returns where a member with this name may begin.
fn names<'t>(tail: &'t [u8], name: &'t [u8]) -> impl Iterator<Item = usize> + 't {
    memchr::memmem::find_iter(tail, name).filter(|at| {
        let before = tail.get(..*at).unwrap_or_default().trim_ascii_end();
        matches!(before.last(), Some(b',' | b'{'))
    })
}

/// Reads on inside of a message, up to its end and that of its row.
fn rest_of_message<'a>(row: &Row<'a>, rest: &'a [u8]) -> Option<Row<'a>> {
    let mut row = row.clone();
    let mut cursor = Cursor::new(rest);
    let message = row.message.get_or_insert_default();
    cursor.more_members(|cursor, name| message_member(message, cursor, &name.name(), Depth::Numbers)).ok()?;
    if cursor.comma() {
        cursor.more_members(|cursor, name| member(&mut row, cursor, &name.name(), Depth::Numbers)).ok()?;
    }
    cursor.end().ok()?;
    Some(row)
}

/// Reads on inside of a row, up to its end.
fn rest_of_row<'a>(row: &Row<'a>, rest: &'a [u8]) -> Option<Row<'a>> {
    let mut row = row.clone();
    let mut cursor = Cursor::new(rest);
    cursor.more_members(|cursor, name| member(&mut row, cursor, &name.name(), Depth::Numbers)).ok()?;
    cursor.end().ok()?;
    Some(row)
}

/// Reads a row that stands inside of another value.
pub(super) fn nested<'a>(cursor: &mut Cursor<'a>, depth: Depth) -> Read<Row<'a>> {
    let mut row = Row::default();
    cursor.members(|cursor, name| member(&mut row, cursor, &name.name(), depth))?;
    Ok(row)
}

/// Reads a text into its field; anything that is no text leaves the field empty.
fn text<'a>(cursor: &mut Cursor<'a>, field: &mut Text<'a>) -> Read<()> {
    *field = cursor.text()?.unwrap_or_default();
    Ok(())
}

fn flag(cursor: &mut Cursor<'_>, field: &mut bool) -> Read<()> {
    *field = cursor.flag()?.unwrap_or(false);
    Ok(())
}

fn raw<'a>(cursor: &mut Cursor<'a>, field: &mut Option<&'a [u8]>) -> Read<()> {
    *field = Some(cursor.raw()?).filter(|value| *value != b"null");
    Ok(())
}

#[inline]
fn member<'a>(row: &mut Row<'a>, cursor: &mut Cursor<'a>, name: &[u8], depth: Depth) -> Read<()> {
    // By length first: a row has some thirty members, and a comparison with every known name would cost more than
    // reading the row.
    match name.len() {
        0..=4 => match name {
            b"type" => text(cursor, &mut row.kind),
            b"uuid" => text(cursor, &mut row.uuid),
            b"cwd" => text(cursor, &mut row.cwd),
            b"id" => text(cursor, &mut row.id),
            b"data" => raw(cursor, &mut row.data),
            _ => cursor.skip(),
        },
        5..=7 => match name {
            b"message" => {
                row.message = None;
                if cursor.peek() != Some(b'{') {
                    return cursor.skip();
                }
                let message = row.message.insert(Message::default());
                cursor.members(|cursor, name| message_member(message, cursor, &name.name(), depth))
            }
            b"agentId" => text(cursor, &mut row.agent),
            b"version" => text(cursor, &mut row.version),
            b"isMeta" => flag(cursor, &mut row.is_meta),
            b"effort" => text(cursor, &mut row.effort),
            b"error" => text(cursor, &mut row.error),
            b"usage" => {
                row.usage = read_usage(cursor)?;
                Ok(())
            }
            b"model" => text(cursor, &mut row.model),
            b"subtype" => text(cursor, &mut row.subtype),
            b"costUSD" => {
                row.cost_usd = cursor.number()?;
                Ok(())
            }
            _ => cursor.skip(),
        },
        8..=9 => match name {
            b"promptId" => text(cursor, &mut row.prompt),
            b"timestamp" => text(cursor, &mut row.timestamp),
            b"sessionId" => text(cursor, &mut row.session),
            b"gitBranch" => text(cursor, &mut row.branch),
            b"requestId" => text(cursor, &mut row.request),
            b"toolUseID" => text(cursor, &mut row.tool_use),
            b"cost_usd" => {
                row.cost_usd = cursor.number()?;
                Ok(())
            }
            _ => cursor.skip(),
        },
        10..=11 => match name {
            b"parentUuid" => text(cursor, &mut row.parent),
            b"entrypoint" => text(cursor, &mut row.entrypoint),
            b"attachment" => raw(cursor, &mut row.attachment),
            b"requestRef" => text(cursor, &mut row.request_ref),
            b"request_id" => text(cursor, &mut row.request),
            b"turnOrigin" => text(cursor, &mut row.turn_origin),
            b"forkedFrom" => raw(cursor, &mut row.forked_from),
            b"session_id" => text(cursor, &mut row.process_session),
            b"isSidechain" => flag(cursor, &mut row.is_sidechain),
            b"durationMs" | b"duration_ms" => {
                row.duration_ms = cursor.count()?;
                Ok(())
            }
            b"status_code" => {
                row.status_code = cursor.count()?;
                Ok(())
            }
            _ => cursor.skip(),
        },
        12..=14 => match name {
            b"toolUseResult" => raw(cursor, &mut row.tool_use_result),
            b"promptSource" => text(cursor, &mut row.prompt_source),
            b"permissionMode" => text(cursor, &mut row.permission_mode),
            b"toolDenialKind" => text(cursor, &mut row.denial),
            b"requestedModel" => text(cursor, &mut row.requested_model),
            b"apiErrorStatus" => {
                row.api_error_status = cursor.count()?;
                Ok(())
            }
            _ => cursor.skip(),
        },
        _ => match name {
            b"parentToolUseID" => text(cursor, &mut row.parent_tool_use),
            b"sourceToolUseID" => text(cursor, &mut row.source_tool_use),
            b"isCompactSummary" => flag(cursor, &mut row.is_compact_summary),
            b"attributionAgent" => text(cursor, &mut row.attribution_agent),
            b"attributionSkill" => text(cursor, &mut row.attribution_skill),
            b"attributionPlugin" => text(cursor, &mut row.attribution_plugin),
            b"isApiErrorMessage" => flag(cursor, &mut row.is_api_error),
            b"requestSessionId" => text(cursor, &mut row.request_session),
            b"isAbortedMidStream" => flag(cursor, &mut row.is_aborted),
            b"permissionDecision" => raw(cursor, &mut row.permission_decision),
            b"attributionMcpTool" => text(cursor, &mut row.attribution_mcp_tool),
            b"attributionMcpServer" => text(cursor, &mut row.attribution_mcp_server),
            b"toolDenialBeforeRun" => flag(cursor, &mut row.is_denied_before_run),
            b"interruptedMessageId" => text(cursor, &mut row.interrupted_message),
            _ => cursor.skip(),
        },
    }
}

#[inline]
fn message_member<'a>(
    message: &mut Message<'a>,
    cursor: &mut Cursor<'a>,
    name: &[u8],
    depth: Depth,
) -> Read<()> {
    match name {
        b"id" => text(cursor, &mut message.id),
        b"role" => text(cursor, &mut message.role),
        b"model" => text(cursor, &mut message.model),
        b"stop_reason" => text(cursor, &mut message.stop_reason),
        b"content" if depth == Depth::Content => {
            message.content = content(cursor)?;
            Ok(())
        }
        b"usage" => {
            message.names_usage = true;
            message.usage = read_usage(cursor)?;
            Ok(())
        }
        _ => cursor.skip(),
    }
}

fn content<'a>(cursor: &mut Cursor<'a>) -> Read<Content<'a>> {
    match cursor.peek() {
        Some(b'"') => cursor.string().map(Content::Text),
        Some(b'[') => {
            let mut blocks = Vec::new();
            cursor.items(|cursor| {
                blocks.push(block(cursor)?);
                Ok(())
            })?;
            Ok(Content::Blocks(blocks))
        }
        _ => cursor.skip().map(|()| Content::Empty),
    }
}

fn block<'a>(cursor: &mut Cursor<'a>) -> Read<Block<'a>> {
    let mut block = Block::default();
    if cursor.peek() == Some(b'"') {
        // The client itself reads a bare string among the blocks as a text.
        block.kind = Text::new(b"text");
        block.text = cursor.string()?;
        return Ok(block);
    }
    cursor.members(|cursor, name| match &*name.name() {
        b"type" => text(cursor, &mut block.kind),
        b"text" | b"thinking" => text(cursor, &mut block.text),
        b"id" => text(cursor, &mut block.id),
        b"name" => text(cursor, &mut block.name),
        b"input" => raw(cursor, &mut block.input),
        b"tool_use_id" => text(cursor, &mut block.tool_use),
        b"content" => raw(cursor, &mut block.content),
        b"is_error" => flag(cursor, &mut block.is_error),
        _ => cursor.skip(),
    })?;
    Ok(block)
}
