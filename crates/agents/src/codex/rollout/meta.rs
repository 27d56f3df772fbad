//! `session_meta` and `turn_context`: who the thread is, where it works, and with which model.

use agent_tracer_event::{Kind, Metadata, Phase, Subject, attributes};

use super::context;
use super::name::uuid_millis;
use super::writer::RolloutWriter;
use crate::codex::facts::{put, subagent_key, thread_started_key, turn_key, write_action};
use crate::codex::wire::{Members, text};
use crate::text::base_name;

/// Describes what `source` says of a thread.
#[derive(Debug, Default, PartialEq)]
struct Origin {
    /// Holds how the thread was started: `exec`, `cli`, `vscode`, …
    word: Option<String>,
    /// The type of the agent, if it is not the main one.
    agent_type: Option<String>,
    /// True if the client made the agent for a purpose of its own.
    helper: bool,
    parent: Option<String>,
    depth: Option<u64>,
    path: Option<String>,
    nickname: Option<String>,
}

fn origin(meta: &Members<'_>) -> Origin {
    let owned = |members: &Members<'_>, name: &str| members.word(name).map(|text| text.into_owned());
    let mut origin = Origin {
        parent: owned(meta, "parent_thread_id"),
        path: owned(meta, "agent_path"),
        nickname: owned(meta, "agent_nickname"),
        ..Origin::default()
    };
    let role = owned(meta, "agent_role");
    let Some(source) = meta.raw("source") else {
        origin.agent_type = role;
        return origin;
    };
    if let Some(word) = text(source) {
        origin.word = Some(word.into_owned());
        origin.agent_type = role;
        return origin;
    }
    let Some(source) = Members::parse(source.get()) else { return origin };
    let spawned = source.members("subagent");
    if let Some(kind) = source.word("subagent") {
        origin.helper = kind != "review";
        origin.agent_type = Some(kind.into_owned());
    } else if let Some(spawn) = spawned.as_ref().and_then(|kind| kind.members("thread_spawn")) {
        origin.depth = spawn.count("depth");
        origin.parent = origin.parent.or_else(|| owned(&spawn, "parent_thread_id"));
        origin.path = origin.path.or_else(|| owned(&spawn, "agent_path"));
        origin.nickname = origin.nickname.or_else(|| owned(&spawn, "agent_nickname"));
        // Hooks call an agent without a role `default`.
        origin.agent_type =
            role.or_else(|| owned(&spawn, "agent_role")).or_else(|| Some("default".to_owned()));
    } else if let Some(kind) = spawned {
        origin.helper = true;
        let named = owned(&kind, "other");
        origin.agent_type = named.or_else(|| kind.iter().next().map(|(name, _)| name.to_owned()));
    }
    origin
}

/// Reads the first row of a file. Any later one is another thread's and begins a copy of its rows.
pub(super) fn session_meta(writer: &mut RolloutWriter<'_>, meta: &Members<'_>) {
    if writer.state.named {
        let other = meta.word("id");
        if writer.state.start_ordinal.is_none()
            && other.is_some()
            && other.as_deref() != writer.state.thread_id.as_deref()
        {
            writer.state.copying = true;
        }
        return;
    }
    let Some(thread) = meta.word("id") else { return };
    writer.thread = thread.clone().into_owned();
    writer.turn = None;
    let origin = origin(meta);
    let state = &mut *writer.state;
    state.named = true;
    state.thread_id = Some(thread.clone().into_owned());
    state.root_session = meta.word("session_id").map(|root| root.into_owned());
    state.parent_thread.clone_from(&origin.parent);
    state.helper = origin.helper;
    state.history_mode = meta.word("history_mode").map(|mode| mode.into_owned());
    state.start_ordinal = meta.count("subagent_history_start_ordinal");
    state.forked = meta.word("forked_from_id").is_some() || meta.raw("history_base").is_some();
    state.multi_agent_version = meta.word("multi_agent_version").map(|version| version.into_owned());
    state.cwd = meta.word("cwd").map(|cwd| cwd.into_owned());
    let is_child = origin.parent.is_some();
    let agent_type = match &origin.agent_type {
        Some(kind) => writer.rules.word(kind),
        None if is_child => "default".to_owned(),
        None => "main".to_owned(),
    };
    writer.state.agent_type = Some(agent_type.clone());
    if let Some(version) = meta.word("cli_version") {
        writer.reading.client_version = Some(writer.rules.word(&version));
    }
    if let Some(mode) = meta.text("history_mode") {
        writer.expect_known("history_mode", &mode, &["paginated", "legacy"]);
    }
    identity(writer, meta, &origin, &agent_type);

    let key = thread_started_key(&writer.thread);
    let mut started = writer.event(Kind::SessionStarted, Phase::Open, key, "session_meta");
    started.title = Some(if is_child { "Subagent started" } else { "Session started" }.to_owned());
    writer.put_word(&mut started.metadata, attributes::ENTRYPOINT, meta.word("originator"));
    writer.put_word(&mut started.metadata, attributes::CWD, meta.word("cwd"));
    writer.say(started);

    // The user went back to an earlier message: the thread goes on in this file from there.
    let base = meta.members("history_base");
    if base.as_ref().and_then(|base| base.word("thread_id")).as_deref() == Some(writer.thread.as_str()) {
        context::went_back(writer, base.and_then(|base| base.count("end_ordinal_exclusive")));
    }

    if let Some(parent) = &origin.parent {
        let key = subagent_key(&writer.thread);
        let subject = Subject::Event(Kind::ActionLogged);
        let mut action = writer.entry_of(parent, subject, Phase::Open, key, "session_meta.parent_thread_id");
        write_action(&mut action, &writer.thread, Some(&agent_type), "running");
        writer.put_word(&mut action.metadata, attributes::AGENT_NICKNAME, origin.nickname.as_deref());
        writer.say(action);
    }
}

fn identity(writer: &mut RolloutWriter<'_>, meta: &Members<'_>, origin: &Origin, agent_type: &str) {
    let mut about = Metadata::new();
    writer.put_word(&mut about, attributes::CWD, meta.word("cwd"));
    put(&mut about, attributes::AGENT_TYPE, Some(agent_type));
    writer.put_word(&mut about, attributes::ROOT_SESSION, meta.word("session_id"));
    writer.put_word(&mut about, attributes::CLIENT_SOURCE, origin.word.as_deref());
    writer.put_word(&mut about, attributes::ENTRYPOINT, meta.word("originator"));
    writer.put_word(&mut about, attributes::CLIENT_VERSION, meta.word("cli_version"));
    writer.put_word(&mut about, attributes::MODEL_PROVIDER, meta.word("model_provider"));
    writer.put_word(&mut about, attributes::HISTORY_MODE, meta.word("history_mode"));
    writer.put_word(&mut about, attributes::THREAD_SOURCE, meta.word("thread_source"));
    put(
        &mut about,
        attributes::ATTENDED,
        match origin.word.as_deref() {
            Some("exec") => Some(false),
            Some("cli" | "vscode") => Some(true),
            _ => None,
        },
    );
    if let Some(git) = meta.members("git") {
        writer.put_word(&mut about, attributes::GIT_BRANCH, git.word("branch"));
        writer.put_word(&mut about, attributes::GIT_COMMIT, git.word("commit_hash"));
    }
    if let Some(parent) = &origin.parent {
        writer.put_word(&mut about, attributes::PARENT_SESSION, Some(parent));
        put(&mut about, attributes::PARENT_CERTAINTY, Some("reported"));
        put(&mut about, attributes::AGENT_ID, Some(writer.thread.as_str()));
        put(&mut about, attributes::DEPTH, origin.depth);
        writer.put_word(&mut about, attributes::AGENT_NICKNAME, origin.nickname.as_deref());
        writer.put_word(&mut about, attributes::AGENT_PATH, origin.path.as_deref());
    } else if let Some(base) = meta.word("forked_from_id").filter(|base| *base != writer.thread) {
        writer.put_word(&mut about, attributes::FORKED_FROM, Some(base));
    }
    writer.say_task(about, "session_meta");
    // A second generation agent gets its task by mail that may be encrypted, and a helper's prompt is not given: the
    // path or the type is the best name that there is.
    let path = origin.path.as_deref().map(|path| (base_name(path), "agent_path"));
    let name = path.or_else(|| origin.helper.then_some((agent_type, "agent_type")));
    if let Some((name, source)) = name {
        let mut named = Metadata::new();
        writer.put_word(&mut named, attributes::TITLE, Some(name));
        put(&mut named, attributes::TITLE_SOURCE, Some(source));
        writer.say_task(named, &format!("session_meta, {source}"));
        if let Some(entry) = writer.reading.entries.last_mut() {
            entry.evidence.certainty = agent_tracer_event::Certainty::Guessed;
        }
    }
}

/// Reads the settings of a turn. Repeated after each compaction.
pub(super) fn turn_context(writer: &mut RolloutWriter<'_>, context: &Members<'_>) {
    if let Some(cwd) = context.word("cwd") {
        writer.state.cwd = Some(cwd.into_owned());
    }
    writer.state.approval_policy = context.word("approval_policy").map(|policy| policy.into_owned());
    if let Some(version) = context.word("multi_agent_version") {
        writer.state.multi_agent_version = Some(version.into_owned());
    }
    let model = context.word("model").map(|model| writer.rules.word(&model));
    if let Some(turn) = writer.turn.clone() {
        let mut entry = writer.entry(Subject::Turn, Phase::Update, turn_key(&turn), "turn_context");
        put(&mut entry.metadata, attributes::MODEL, model.as_deref());
        writer.put_word(&mut entry.metadata, attributes::EFFORT, context.word("effort"));
        writer.put_word(&mut entry.metadata, attributes::CWD, context.word("cwd"));
        writer.put_word(&mut entry.metadata, attributes::APPROVAL_POLICY, context.word("approval_policy"));
        writer.put_word(
            &mut entry.metadata,
            attributes::APPROVALS_REVIEWER,
            context.word("approvals_reviewer"),
        );
        let sandbox = context.members("sandbox_policy");
        writer.put_word(
            &mut entry.metadata,
            attributes::SANDBOX,
            sandbox.and_then(|policy| policy.word("type").or_else(|| policy.word("mode"))),
        );
        let mode = context.members("collaboration_mode").and_then(|mode| mode.word("mode"));
        writer.put_word(&mut entry.metadata, attributes::COLLABORATION_MODE, mode);
        writer.say(entry);
    }
    let Some(model) = model else { return };
    let before = writer.state.model.replace(model.clone());
    if before.as_deref() == Some(&model) {
        return;
    }
    let mut about = Metadata::new();
    put(&mut about, attributes::MODEL, Some(model.as_str()));
    writer.put_word(&mut about, attributes::EFFORT, context.word("effort"));
    writer.say_task(about, "turn_context.model");
    if let Some(before) = before {
        let place = writer.turn.clone().unwrap_or_else(|| writer.observation.clone());
        let key = format!("model:{place}:{model}");
        let mut entry = writer.event(Kind::ModelSwitched, Phase::Open, key, "turn_context.model");
        entry.title = Some(crate::text::title(&format!("Model {before} → {model}")));
        put(&mut entry.metadata, attributes::FROM_MODEL, Some(before));
        put(&mut entry.metadata, attributes::TO_MODEL, Some(model));
        writer.say(entry);
    }
}

/// Returns whether the rows of a file without ordinals are still copies of another thread's.
///
/// A copy is written in one go when the thread begins. It is over when a turn begins that is younger than the
/// thread, or when rows are later than that moment.
pub(super) fn still_copying(writer: &RolloutWriter<'_>, row: &str, payload: &Members<'_>) -> bool {
    let begins_turn = row == "turn_context" || payload.text("type").as_deref() == Some("task_started");
    let born = writer.state.thread_id.as_deref().and_then(uuid_millis);
    if begins_turn
        && let Some(turn) = payload.word("turn_id").as_deref().and_then(uuid_millis)
        && let Some(born) = born
    {
        return turn < born;
    }
    match writer.state.first_at {
        Some(first) => writer.at.0 < first.0.saturating_add(COPY_MILLIS),
        None => true,
    }
}

/// Limits how long a copy takes at most.
const COPY_MILLIS: i64 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_of_a_thread_is_a_word_or_tells_of_its_parent() {
        let of = |text: &str| origin(&Members::parse(text).unwrap());
        assert_eq!(of(r#"{"source":"exec"}"#), Origin { word: Some("exec".into()), ..Origin::default() });
        let review = of(r#"{"source":{"subagent":"review"},"parent_thread_id":"p"}"#);
        assert_eq!((review.agent_type.as_deref(), review.parent.as_deref()), (Some("review"), Some("p")));
        let guardian = of(r#"{"source":{"subagent":{"other":"guardian"}}}"#);
        assert_eq!(
            (guardian.agent_type.as_deref(), guardian.helper, review.helper),
            (Some("guardian"), true, false)
        );
        assert!(of(r#"{"source":{"subagent":"compact"}}"#).helper);
        let spawn = of(
            r#"{"source":{"subagent":{"thread_spawn":{"parent_thread_id":"p","depth":2,"agent_path":"/root/a","agent_nickname":"N","agent_role":null}}}}"#,
        );
        assert_eq!(
            spawn,
            Origin {
                word: None,
                agent_type: Some("default".into()),
                helper: false,
                parent: Some("p".into()),
                depth: Some(2),
                path: Some("/root/a".into()),
                nickname: Some("N".into()),
            }
        );
        for odd in [r#"{"source":7}"#, r#"{"source":{"subagent":[]}}"#, r#"{"source":{}}"#, "{}"] {
            assert_eq!(of(odd).agent_type, None, "{odd}");
        }
    }
}
