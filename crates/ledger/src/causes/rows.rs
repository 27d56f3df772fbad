//! Reads the rows of a task as the input of the analyses.
//!
//! The rows of one task make its [`History`]; the calls of all tasks of a tree make the [`CallStep`]s. What a channel
//! did not record is missing here as well: a task that only hooks reported has no responses and no cost, and an edit
//! without counts stays uncounted.

use std::collections::{BTreeSet, HashMap};

use agent_tracer_event::{CallState, Kind, attributes};
use agent_tracer_prices::BilledUsage;
use serde_json::Value;

use super::history::{
    Addition, CallStep, CommitMark, EditOperation, FileEdit, History, Intent, Mark, MarkKind, PricedResponse,
    RequestForm, Source, StepOutcome,
};
use crate::project::FactRow;
use crate::project::tally::Pricer;
use crate::timing::Basis;
use crate::timing::model::{in_conversation, spans};

/// Reads the history of one task from its rows, which may come in any order.
///
/// `cost` returns the recorded cost of a response in pico-dollars; `pricer` only gives the relations between
/// the prices of its tokens.
pub fn history(rows: &[FactRow], cost: impl Fn(&FactRow) -> Option<i64>, pricer: &dyn Pricer) -> History {
    let mut sorted: Vec<&FactRow> = rows.iter().filter(|row| row.kind.is_some()).collect();
    sorted.sort_by_key(|row| (row.occurred, row.order, row.fact));
    let mut history = History::default();
    let mut asked: HashMap<&str, i64> = HashMap::new();
    for row in sorted.iter().filter(|row| row.usage().is_some()) {
        if let Some(request) = row.text(attributes::REQUEST_ID) {
            asked.insert(request, row.fact);
        }
    }
    // A guessed beginning follows what came before it, so a gap that is measured to it would always be empty.
    let sent: HashMap<i64, i64> = spans(rows)
        .into_iter()
        .filter_map(|span| Some((span.id, span.requested.filter(|sent| sent.basis == Basis::Measured)?.at)))
        .collect();
    let mut began = None;
    for row in &sorted {
        if let Some(mut response) = response(row, cost(row), pricer) {
            response.requested_at = sent.get(&row.fact).copied().filter(|at| *at <= row.occurred);
            listed_additions(row, &mut history.additions);
            history.responses.push(response);
        }
        let asked_by = row.text(attributes::REQUEST_ID).and_then(|request| asked.get(request)).copied();
        history.additions.extend(addition(row, asked_by));
        if let Some(kind) = mark(row) {
            history.marks.push(Mark { id: row.fact, at: row.ended.unwrap_or(row.occurred), kind });
        }
        if row.kind == Some(Kind::SessionStarted) && began.is_none() {
            began = Some(row.text(attributes::SESSION_SOURCE).unwrap_or_default());
        }
    }
    history.begins_with_copy = matches!(began, Some("fork" | "resume"));
    history.additions.sort_by_key(|addition| addition.at);
    history.marks.sort_by_key(|mark| mark.at);
    history
}

fn response(row: &FactRow, cost: Option<i64>, pricer: &dyn Pricer) -> Option<PricedResponse> {
    let tokens = row.usage()?;
    let metadata = &row.data.metadata;
    let usage = BilledUsage::read(metadata).unwrap_or_else(|| BilledUsage::from(&tokens));
    let model = row.text(attributes::MODEL).unwrap_or_default();
    let number = |key: &str| row.meta(key).and_then(Value::as_u64);
    let request = row.text(attributes::REQUEST_PREFIX_HASH).map(|shape| RequestForm {
        shape: shape.to_owned(),
        kept: number(attributes::REPEATED_MESSAGE_COUNT).unwrap_or(0),
        messages: number(attributes::MESSAGE_COUNT).unwrap_or(0),
    });
    Some(PricedResponse {
        id: row.fact,
        at: row.occurred,
        turn: row.turn,
        in_conversation: in_conversation(row),
        model: model.strip_suffix("[1m]").unwrap_or(model).to_owned(),
        usage: usage.capped(),
        reasoning_tokens: tokens.reasoning.unwrap_or(0).min(usage.capped().output),
        cost: cost.and_then(|cost| u64::try_from(cost).ok()),
        rates: pricer.rates(model, metadata),
        request,
        ..PricedResponse::default()
    })
}

/// Adds what the client put into the context before a response.
fn listed_additions(row: &FactRow, additions: &mut Vec<Addition>) {
    let mut add = |source: Source, bytes: u64| {
        if bytes > 0 {
            let (id, at, turn) = (row.fact, row.occurred, row.turn);
            additions.push(Addition { id, at, asked_by: None, turn, source, bytes });
        }
    };
    let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64).unwrap_or(0);
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let list = |key: &str| row.meta(key).and_then(Value::as_array).into_iter().flatten();
    add(Source::System, row.meta(attributes::SYSTEM_BYTES).and_then(Value::as_u64).unwrap_or(0));
    for tools in list(attributes::TOOL_DEFINITIONS) {
        add(Source::Tools { server: text(tools, "server") }, number(tools, "bytes"));
    }
    for item in list(attributes::CONTEXT_ADDITIONS) {
        let (name, path) = (text(item, "name"), text(item, "path"));
        let source = match item.get("source").and_then(Value::as_str).unwrap_or_default() {
            "instructions" => Source::Instructions { path: path.unwrap_or_default() },
            "skill" => Source::Skill { name },
            "tools" => Source::Tools { server: name },
            _ => Source::Attachment { kind: name.unwrap_or_default(), path },
        };
        add(source, number(item, "bytes"));
    }
}

/// Returns what a row put into the context by itself: a prompt, or the result of a call.
fn addition(row: &FactRow, asked_by: Option<i64>) -> Option<Addition> {
    let number = |key: &str| row.meta(key).and_then(Value::as_u64);
    let (id, turn) = (row.fact, row.turn);
    if row.is_call() {
        let path = row.text(attributes::FILE_PATH).map(str::to_owned).or_else(|| {
            match row.data.file_paths.as_slice() {
                [only] => Some(only.clone()),
                _ => None,
            }
        });
        let bytes = number(attributes::OUTPUT_BYTES)
            .or_else(|| row.text(attributes::ERROR).and_then(|error| u64::try_from(error.len()).ok()));
        return (row.state != Some(CallState::Running)).then(|| Addition {
            id,
            at: row.ended.unwrap_or(row.occurred),
            asked_by,
            turn,
            source: Source::Result { tool: row.tool.clone().unwrap_or_default(), path },
            bytes: bytes.unwrap_or(0),
        });
    }
    let body = || row.data.body.as_ref().and_then(|body| u64::try_from(body.len()).ok());
    let bytes = match row.kind? {
        Kind::UserMessage => number(attributes::PROMPT_BYTES).or_else(body),
        Kind::UserPromptExpansion => number(attributes::EXPANDED_PROMPT_BYTES),
        _ => None,
    };
    bytes.filter(|bytes| *bytes > 0).map(|bytes| Addition {
        id,
        at: row.occurred,
        asked_by: None,
        turn,
        source: Source::Prompt,
        bytes,
    })
}

fn mark(row: &FactRow) -> Option<MarkKind> {
    let is_set = |key: &str| row.meta(key) == Some(&Value::Bool(true));
    match row.kind? {
        Kind::ContextSaved if row.text(attributes::COMPACT_PHASE) == Some("after") => {
            let summary_bytes =
                row.meta(attributes::COMPACT_SUMMARY_BYTES).and_then(Value::as_u64).unwrap_or(0);
            Some(MarkKind::Compaction { summary_bytes })
        }
        Kind::ContextSaved if row.meta(attributes::BASE_ORDINAL).is_some() => Some(MarkKind::Rewind),
        Kind::SessionStarted if row.text(attributes::SESSION_SOURCE) == Some("resume") => {
            Some(MarkKind::Resume { expired: is_set(attributes::PROMPT_CACHE_LIKELY_EXPIRED) })
        }
        _ => None,
    }
}

/// Returns the MCP servers and the skills that calls of a task used: what is offered beyond them is unused.
#[must_use]
pub fn used(rows: &[FactRow]) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let servers = rows.iter().filter(|row| row.is_call()).filter_map(|row| row.text(attributes::MCP_SERVER));
    (servers.collect(), rows.iter().filter_map(FactRow::skill).collect())
}

/// Reads the calls of one task as the steps of one agent.
#[must_use]
pub fn steps(rows: &[FactRow], agent: usize) -> Vec<CallStep> {
    rows.iter().filter(|row| row.is_call()).map(|row| step(row, agent)).collect()
}

fn step(row: &FactRow, agent: usize) -> CallStep {
    let outcome = match row.state {
        Some(CallState::Succeeded) => StepOutcome::Succeeded,
        Some(CallState::Failed | CallState::Denied) => StepOutcome::Failed,
        Some(CallState::Running | CallState::Interrupted | CallState::Abandoned) | None => StepOutcome::Open,
    };
    let mut intents = intents(row);
    let analysis = row.meta(attributes::COMMAND_ANALYSIS);
    let is_masked = analysis.and_then(|analysis| analysis.get("failureMasked")) == Some(&Value::Bool(true));
    if is_masked && outcome == StepOutcome::Succeeded {
        // The command could not fail, so its success says nothing.
        intents.clear();
    }
    CallStep {
        id: row.fact,
        at: row.occurred,
        ended: row.ended,
        agent,
        tool: row.tool.clone().unwrap_or_default(),
        title: row.data.title.clone(),
        outcome,
        error: row.error.map(|error| error.as_str().to_owned()),
        intents,
        edits: edits(row),
        commits: commits(row),
    }
}

/// Operations of which a run without targets covers every target.
const CHECKS: [&str; 4] = ["run_test", "run_lint", "run_build", "verify"];
/// Operations that only serve the step that follows.
const NEUTRAL: [&str; 3] = ["change_directory", "print", "wait"];

/// Returns the things that a call tries to do; the one that decides its result stands first.
fn intents(row: &FactRow) -> Vec<Intent> {
    if let Some(analysis) = row.meta(attributes::COMMAND_ANALYSIS) {
        return commands(analysis);
    }
    let path = || row.text(attributes::FILE_PATH).or_else(|| row.data.file_paths.first().map(String::as_str));
    let name = |key: &str| row.text(key).unwrap_or_default();
    let tool = row.tool.as_deref().unwrap_or_default();
    let other = |text: String| vec![Intent::Other(text)];
    match row.text(attributes::SUBTYPE_KEY).unwrap_or_default() {
        "read_file" => path().map(|path| Intent::Read(path.to_owned())).into_iter().collect(),
        "create_file" | "modify_file" | "delete_file" | "rename_file" | "apply_patch" => {
            row.data.file_paths.iter().map(|path| Intent::Change(path.clone())).collect()
        }
        "web_fetch" => other(format!("fetch {}", first(row.meta(attributes::WEB_URLS)))),
        "web_search" => other(format!("search {}", name(attributes::WEB_QUERY))),
        "mcp_call" => other(format!("{}/{}", name(attributes::MCP_SERVER), name(attributes::MCP_TOOL))),
        "skill_use" => other(format!("skill {}", name(attributes::SKILL_NAME))),
        "delegation" => {
            other(format!("agent {} {}", name(attributes::AGENT_NAME), name(attributes::AGENT_DESCRIPTION)))
        }
        _ => {
            let entity = row.text(attributes::ENTITY_NAME).or_else(|| row.text(attributes::CALL_SIGNATURE));
            other(format!("{tool} {}", entity.unwrap_or_default()))
        }
    }
}

fn first(list: Option<&Value>) -> &str {
    list.and_then(Value::as_array).and_then(|list| list.first()).and_then(Value::as_str).unwrap_or_default()
}

fn commands(analysis: &Value) -> Vec<Intent> {
    let steps = analysis.get("steps").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let decisive = analysis.get("decisiveStep").and_then(Value::as_u64).unwrap_or(0);
    let decisive = usize::try_from(decisive).unwrap_or(0);
    let mut intents: Vec<Intent> = steps.get(decisive).and_then(command).into_iter().collect();
    for (index, step) in steps.iter().enumerate() {
        let operation = step.get("operation").and_then(Value::as_str).unwrap_or_default();
        if index != decisive && !NEUTRAL.contains(&operation) {
            intents.extend(command(step));
        }
    }
    intents.dedup();
    intents
}

fn command(step: &Value) -> Option<Intent> {
    let text = |step: &Value, key: &str| step.get(key).and_then(Value::as_str).map(str::to_owned);
    let name = text(step, "commandName").filter(|name| !name.is_empty())?;
    // A pipeline is named after the member that decides; what that is run on stands in the member.
    let members = step.get("pipeline").and_then(Value::as_array).into_iter().flatten();
    let step = members
        .into_iter()
        .find(|member| text(member, "commandName").as_ref() == Some(&name))
        .unwrap_or(step);
    let subcommand = text(step, "subcommand");
    let operation = text(step, "operation").unwrap_or_default();
    let covers_all = CHECKS.contains(&operation.as_str());
    let listed = step.get("targets").and_then(Value::as_array).into_iter().flatten();
    let mut targets: BTreeSet<String> = listed.filter_map(|target| text(target, "value")).collect();
    if covers_all {
        // Names of tests are no targets of the analysis; they are the words behind the program.
        targets.extend(words_behind(
            step.get("raw").and_then(Value::as_str).unwrap_or_default(),
            &name,
            subcommand.as_deref(),
        ));
    }
    let program = match &subcommand {
        Some(subcommand) => format!("{name} {subcommand}"),
        None => name,
    };
    Some(Intent::Command { program, targets, covers_all })
}

/// Returns the words behind a program and its subcommand that are neither options nor anything of the shell's.
fn words_behind(raw: &str, program: &str, subcommand: Option<&str>) -> Vec<String> {
    let base_name = |word: &str| word.rsplit('/').next().is_some_and(|name| name == program);
    let words = raw.split_whitespace().skip_while(|word| !base_name(word)).skip(1);
    words
        .take_while(|word| *word != "--" && !word.contains(['|', ';', '&', '>', '<']))
        .filter(|word| {
            !word.starts_with('-')
                && subcommand.is_none_or(|subcommand| !subcommand.split(' ').any(|part| part == *word))
        })
        .map(|word| word.trim_matches(['"', '\'']).to_owned())
        .collect()
}

/// Returns the files that a call changed: as its result counts them, else as its input names them.
fn edits(row: &FactRow) -> Vec<FileEdit> {
    let list = |key: &str| row.meta(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let listed = |items: &[Value]| items.iter().filter_map(listed_edit).collect::<Vec<_>>();
    let counted = listed(list(attributes::FILE_CHANGES));
    if !counted.is_empty() {
        return counted;
    }
    let named = listed(list(attributes::FILE_OPERATIONS));
    if !named.is_empty() {
        return named;
    }
    let number = |key: &str| row.meta(key).and_then(Value::as_u64);
    let operation = match row.text(attributes::SUBTYPE_KEY).unwrap_or_default() {
        "create_file" => EditOperation::Write,
        "modify_file" => EditOperation::Modify,
        "delete_file" => EditOperation::Delete,
        _ => return Vec::new(),
    };
    let Some(path) =
        row.text(attributes::FILE_PATH).or_else(|| row.data.file_paths.first().map(String::as_str))
    else {
        return Vec::new();
    };
    let added = number(attributes::LINES_ADDED).or_else(|| number(attributes::CONTENT_LINES));
    vec![FileEdit { path: path.to_owned(), operation, added, removed: number(attributes::LINES_REMOVED) }]
}

fn listed_edit(item: &Value) -> Option<FileEdit> {
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    let number = |key: &str| item.get(key).and_then(Value::as_u64);
    let lines = number("lines");
    let (operation, added, removed) = match text("operation")? {
        "create" => (EditOperation::Create, lines, lines.map(|_| 0)),
        "delete" => (EditOperation::Delete, lines.map(|_| 0), lines),
        "rename" => (
            text("to").map_or(EditOperation::Modify, |to| EditOperation::Rename { to: to.to_owned() }),
            None,
            None,
        ),
        "modify" => (EditOperation::Modify, None, None),
        _ => return None,
    };
    Some(FileEdit {
        path: text("path")?.to_owned(),
        operation,
        added: number(attributes::LINES_ADDED).or(added),
        removed: number(attributes::LINES_REMOVED).or(removed),
    })
}

fn commits(row: &FactRow) -> Vec<CommitMark> {
    let hashes = row.meta(attributes::COMMIT_HASHES).and_then(Value::as_array);
    if let Some(hashes) = hashes {
        let hashes = hashes.iter().filter_map(Value::as_str);
        return hashes.map(|hash| CommitMark { hash: Some(hash.to_owned()) }).collect();
    }
    let steps = row.meta(attributes::COMMAND_ANALYSIS).and_then(|analysis| analysis.get("steps")?.as_array());
    let is = |step: &Value, key: &str, word: &str| step.get(key).and_then(Value::as_str) == Some(word);
    let is_commit = |step: &&Value| is(step, "commandName", "git") && is(step, "subcommand", "commit");
    let count = steps.map_or(0, |steps| steps.iter().filter(is_commit).count());
    vec![CommitMark { hash: None }; count]
}
