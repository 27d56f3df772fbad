//! The telemetry that the clients would have exported during a scenario, derived from its files.
//!
//! Few scenarios were captured with telemetry, and those hold one record of each name. So the records are made here, in
//! the client's words: for Claude Code every prompt, every request that was answered and every call that ended, once,
//! from the session that made it; for Codex the stream events and metrics that repeat tokens and must never count.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;

use agent_tracer_agents::files::Rules;
use agent_tracer_agents::otlp::{Record, Signal, read};
use agent_tracer_event::{Agent, Channel, Millis};
use agent_tracer_ledger::{Observed, Verdict};
use serde_json::{Map, Value, json};

use crate::{Part, Scenario, config, fixtures};

impl Scenario {
    /// Returns the scenario with telemetry added.
    #[must_use]
    pub fn with_telemetry(&self) -> Self {
        let mut all = self.clone();
        let records =
            if self.name.starts_with("codex/") { self.codex_records() } else { self.claude_records() };
        let observed = observed(&records);
        all.parts.push(Part { path: format!("{}/telemetry", self.name), channel: Channel::Otlp, observed });
        all
    }

    fn rows(&self, channel: Channel) -> Vec<(&str, Vec<Value>)> {
        let parts = self.parts.iter().filter(|part| part.channel == channel && part.path.ends_with(".jsonl"));
        let read = |part: &'_ Part| {
            let text = fs::read_to_string(fixtures().join(&part.path)).unwrap();
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect::<Vec<Value>>()
        };
        parts.map(|part| (part.path.as_str(), read(part))).collect()
    }

    /// Returns the time of each session's first hook. A request belongs to the earliest session; later files hold
    /// copies of it.
    fn begun(&self) -> HashMap<String, u64> {
        let mut begun = HashMap::new();
        for (_, rows) in self.rows(Channel::Hook) {
            for row in rows {
                let session = row["payload"]["session_id"].as_str().unwrap_or_default().to_owned();
                begun.entry(session).or_insert(row["t_ns"].as_u64().unwrap_or(0));
            }
        }
        begun
    }

    fn claude_records(&self) -> Vec<Value> {
        let begun = self.begun();
        let mut files = self.rows(Channel::Transcript);
        let session = |path: &str| {
            let name = path.split("/subagents/").next().unwrap().trim_end_matches(".jsonl");
            name.rsplit('/').next().unwrap().to_owned()
        };
        // The session comes before its agents: a fork's file begins with copies of the session's requests.
        files.sort_by_key(|(path, _)| {
            (begun.get(&session(path)).copied().unwrap_or(u64::MAX), path.contains("/subagents/"))
        });
        let (mut records, mut known) = (Vec::new(), HashSet::new());
        for (path, rows) in files {
            let agent =
                path.rsplit_once("/agent-").map(|(_, name)| name.trim_end_matches(".jsonl").to_owned());
            let about = About { session: session(path), agent };
            let (mut prompt, mut tools) = (Value::Null, HashMap::new());
            let mut requests: BTreeMap<String, Value> = BTreeMap::new();
            for row in rows {
                if !row["promptId"].is_null() {
                    prompt = row["promptId"].clone();
                }
                let content = row["message"]["content"].as_array().cloned().unwrap_or_default();
                for block in &content {
                    if block["type"] == "tool_use" {
                        tools.insert(block["id"].clone(), block["name"].clone());
                    }
                    let of = &block["tool_use_id"];
                    let Some(tool) = tools.get(of).filter(|_| block["type"] == "tool_result") else {
                        continue;
                    };
                    if known.insert(format!("tool {of}")) {
                        let good = block["is_error"] != true;
                        let tool = if tool.as_str().unwrap().starts_with("mcp__") {
                            &json!("mcp_tool")
                        } else {
                            tool
                        };
                        let members = json!({"prompt.id": prompt, "tool_name": tool, "tool_use_id": of,
                            "success": good.to_string(), "duration_ms": "5"});
                        records.push(about.record("tool_result", &row["timestamp"], members));
                    }
                }
                let Some(request) = row["requestId"].as_str().filter(|_| row["type"] == "assistant") else {
                    continue;
                };
                let usage = &row["message"]["usage"];
                let is_own = requests.contains_key(request) || !known.contains(request);
                // A row without a reason was written while the answer arrived, and its numbers are not final.
                let is_complete = row["message"]["stop_reason"].is_string();
                if usage.is_object() && is_own && is_complete && row["message"]["model"] != "<synthetic>" {
                    known.insert(request.to_owned());
                    let members = json!({"prompt.id": prompt, "model": row["message"]["model"],
                        "input_tokens": usage["input_tokens"], "output_tokens": usage["output_tokens"],
                        "cache_read_tokens": usage["cache_read_input_tokens"],
                        "cache_creation_tokens": usage["cache_creation_input_tokens"],
                        "request_id": request, "duration_ms": 100});
                    // A response is exported once, when it is complete.
                    requests
                        .insert(request.to_owned(), about.record("api_request", &row["timestamp"], members));
                }
            }
            records.extend(requests.into_values());
        }
        records
    }

    fn codex_records(&self) -> Vec<Value> {
        let mut records = Vec::new();
        for (_, rows) in self.rows(Channel::Transcript) {
            for row in rows.iter().filter(|row| row["type"] == "token_usage_record") {
                let usage = &row["payload"]["usage"];
                let members = json!({"event.name": "codex.sse_event", "event.kind": "response.completed",
                    "event.timestamp": row["timestamp"], "conversation.id": row["payload"]["thread_id"],
                    "input_token_count": usage["input_tokens"].to_string(),
                    "output_token_count": usage["output_tokens"].to_string(),
                    "cached_token_count": usage["cached_input_tokens"].to_string(),
                    "reasoning_token_count": usage["reasoning_output_tokens"].to_string(), "model": "gpt-5.5"});
                records.push(export("codex_exec", members.as_object().unwrap()));
            }
        }
        records
    }
}

/// The session and agent that export a record.
struct About {
    session: String,
    agent: Option<String>,
}

impl About {
    fn record(&self, name: &str, at: &Value, mut members: Value) -> Value {
        let all = members.as_object_mut().unwrap();
        all.retain(|_, value| !value.is_null());
        all.insert("event.name".to_owned(), json!(name));
        all.insert("event.timestamp".to_owned(), at.clone());
        all.insert("session.id".to_owned(), json!(self.session));
        if let Some(agent) = &self.agent {
            all.insert("agent_id".to_owned(), json!(agent));
        }
        export("claude-code", all)
    }
}

fn export(service: &str, members: &Map<String, Value>) -> Value {
    let attributes = members.iter().map(|(key, value)| {
        let kind = if value.is_number() { "intValue" } else { "stringValue" };
        json!({"key": key, "value": { kind: value }})
    });
    let at = members["event.timestamp"].as_str().and_then(Millis::parse).unwrap();
    let record =
        json!({"timeUnixNano": format!("{}000000", at.0), "attributes": attributes.collect::<Value>()});
    let resource = json!({"attributes": [{"key": "service.name", "value": {"stringValue": service}}]});
    json!({"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": [record]}]}]})
}

fn observed(records: &[Value]) -> Vec<Observed> {
    let config = config(agent_tracer_privacy::Level::Actions);
    let rules = Rules { config: &config, hash_key: [7; 16], home_dir: None };
    let read = records.iter().flat_map(|export| read(&rules, Signal::Logs, export, Millis(0)));
    let records = read.filter_map(|record| match record {
        Record::Read { agent, name, reading } => Some((agent, name, reading)),
        Record::Skipped | Record::Foreign => None,
        Record::Malformed => panic!("a record that was made here is malformed"),
    });
    let all = records.map(|(agent, name, reading): (Agent, _, _)| Observed {
        name: format!("otlp:{name}"),
        source: None,
        agent,
        channel: Channel::Otlp,
        arrived: Millis(0),
        verdict: Verdict::Read(reading),
        payload: None,
        kept: None,
    });
    all.collect()
}
