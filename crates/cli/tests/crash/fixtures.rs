//! Replays the payloads of real clients under new session ids.

use std::fs;
use std::path::{Path, PathBuf};

use agent_tracer_spool::envelope::Agent;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// The hooks of one captured session, in order.
pub(crate) struct Script {
    pub(crate) agent: Agent,
    session: String,
    payloads: Vec<Value>,
}

impl Script {
    fn read(agent: Agent, path: &Path) -> Option<Script> {
        let text = fs::read_to_string(path).expect("a fixture");
        let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row"));
        let payloads: Vec<Value> = rows
            .filter(|row| row.get("channel").is_none_or(|channel| channel == "hook"))
            .map(|row| row["payload"].clone())
            .collect();
        let session = payloads.first()?["session_id"].as_str()?.to_owned();
        Some(Script { agent, session, payloads })
    }

    /// The hooks as another session would have sent them.
    pub(crate) fn payloads_of(&self, session: &str) -> Vec<Value> {
        let retell = |payload: &Value| {
            let text = payload.to_string().replace(&self.session, session);
            serde_json::from_str(&text).expect("still JSON")
        };
        self.payloads.iter().map(retell).collect()
    }
}

/// Every captured session of both agents, one agent after the other in turn.
pub(crate) fn scripts() -> Vec<Script> {
    let claude = sorted(&root().join("claude-code/2.1.325"));
    let claude = claude.iter().map(|folder| folder.join("hooks.jsonl")).filter(|path| path.exists());
    let claude: Vec<Script> = claude.filter_map(|path| Script::read(Agent::CLAUDE_CODE, &path)).collect();
    let codex = sorted(&root().join("codex/0.166.0/hooks"));
    let codex: Vec<Script> = codex.iter().filter_map(|path| Script::read(Agent::CODEX, path)).collect();
    assert!(claude.len() > 50 && codex.len() > 20, "{} and {}", claude.len(), codex.len());
    let mut scripts = Vec::new();
    let (mut claude, mut codex) = (claude.into_iter(), codex.into_iter());
    loop {
        let next = [claude.next(), codex.next()];
        if next.iter().all(Option::is_none) {
            return scripts;
        }
        scripts.extend(next.into_iter().flatten());
    }
}

/// The files of a captured session, as another session would have written them: name below the project, and bytes.
pub(crate) fn transcript(scenario: &str, session: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = root().join("claude-code/2.1.325").join(scenario);
    let main = sorted(&folder).into_iter().find(|path| {
        path.extension().is_some_and(|extension| extension == "jsonl") && !path.ends_with("hooks.jsonl")
    });
    let main = main.expect("a transcript");
    let old = main.file_stem().expect("a name").to_string_lossy().into_owned();
    let mut paths = vec![main];
    let mut open = vec![folder.join(&old)];
    while let Some(inner) = open.pop().filter(|inner| inner.is_dir()) {
        for path in sorted(&inner) {
            if path.is_dir() { open.push(path) } else { paths.push(path) }
        }
    }
    // A subagent is known by its own id, and no two sessions have the same one.
    let mut names = vec![(old, session.to_owned())];
    for path in &paths {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if let Some(agent) = name.strip_prefix("agent-").and_then(|name| name.strip_suffix(".jsonl")) {
            let tail: String = session.chars().filter(char::is_ascii_digit).take(4).collect();
            names.push((agent.to_owned(), format!("{}{tail}", &agent[..agent.len() - 4])));
        }
    }
    let rename = |text: &str| names.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new));
    let retell = |path: &PathBuf| {
        let name = rename(&path.strip_prefix(&folder).expect("below").to_string_lossy());
        (PathBuf::from(name), rename(&fs::read_to_string(path).expect("a fixture")).into_bytes())
    };
    paths.iter().map(retell).collect()
}

/// One captured payload of Claude Code.
pub(crate) fn payload(name: &str) -> Value {
    let path = root().join("claude-code/2.1.325-payloads").join(format!("{name}.json"));
    serde_json::from_str(&fs::read_to_string(path).expect("a fixture")).expect("JSON")
}
