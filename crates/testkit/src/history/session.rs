//! One session: its turns, as rows of its transcript and, in every second session, as hooks too.

use agent_tracer_agents::claude::transcript::{Place, TranscriptReader};
use agent_tracer_event::Millis;

use super::dice::Dice;
use super::words::{self, Call};

/// A row or a payload that no reader has seen.
pub(crate) struct Raw {
    /// The bytes: a row of the transcript, or a hook's payload.
    pub(crate) bytes: Vec<u8>,
    /// The time of the event, in milliseconds since 1970.
    pub(crate) at: i64,
    /// The offset of the row in its file; `None` for a hook.
    pub(crate) offset: Option<u64>,
}

/// A running session.
pub(crate) struct Session {
    pub(crate) reader: Option<TranscriptReader>,
    pub(crate) file: String,
    /// Its own id, or that of the session that started it.
    id: String,
    agent: Option<(String, &'static str)>,
    pub(crate) project: u64,
    model: &'static str,
    hooked: bool,
    at: i64,
    offset: u64,
    parent: String,
    prompt: String,
    /// Events that are still to come.
    left: u64,
    begun: bool,
    /// The project was already added to an observation.
    pub(crate) has_project: bool,
}

impl Session {
    pub(crate) fn new(dice: &mut Dice, at: i64, events: u64, above: Option<(&str, u64)>) -> Self {
        let (id, project) = match above {
            Some((id, project)) => (id.to_owned(), project),
            None => (dice.uuid(), dice.skewed(40)),
        };
        let agent = above.map(|_| (format!("a{}", dice.hex()), dice.pick(words::AGENT_TYPES)));
        let folder = format!("/home/dev/.claude/projects/-home-dev-project-{project}");
        let file = match &agent {
            Some((agent, _)) => format!("{folder}/{id}/subagents/agent-{agent}.jsonl"),
            None => format!("{folder}/{id}.jsonl"),
        };
        let reader = match Place::of(&file) {
            Place::Rows(file) => Some(TranscriptReader::new(file)),
            Place::Meta(_) | Place::Other => None,
        };
        Self {
            reader,
            file,
            id,
            agent,
            project,
            model: dice.pick(words::MODELS),
            hooked: dice.per_mille(500),
            at,
            offset: 0,
            parent: dice.uuid(),
            prompt: String::new(),
            left: events.max(1),
            begun: false,
            has_project: false,
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn is_main(&self) -> bool {
        self.agent.is_none()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Makes one turn, or as much of it as is left.
    pub(crate) fn turn(&mut self, dice: &mut Dice, count: u64, out: &mut Vec<Raw>) {
        if !self.begun {
            self.begun = true;
            let members = match self.agent {
                Some(_) => String::new(),
                None => format!(r#","source":"startup","model":"{}""#, self.model),
            };
            self.hook(dice, "SessionStart", &members, out);
        }
        self.prompt = dice.uuid();
        let mut said = words::text(dice, 3);
        // One event in some thousands holds a rare word, for searches that find little.
        if dice.per_mille(4) {
            said.push_str(&words::rare(count / 250_000));
        }
        self.hook(
            dice,
            "UserPromptSubmit",
            &format!(r#","permission_mode":"default","prompt":"{said}""#),
            out,
        );
        let more = r#""permissionMode":"default","promptSource":"typed","#;
        self.user(dice, &format!("\"{said}\""), more, out);
        let steps = dice.within(1, 14);
        for _ in 0..steps {
            if self.left == 0 {
                break;
            }
            self.step(dice, out);
        }
        let said = words::text(dice, 2);
        self.response(dice, &format!(r#"{{"type":"text","text":"{said}"}}"#), "end_turn", out);
        let stop =
            format!(r#","stop_hook_active":false,"last_assistant_message":"{said}","background_tasks":[]"#);
        self.hook(dice, "Stop", &stop, out);
        if self.left <= 2 {
            self.left = 2;
            self.hook(dice, "SessionEnd", r#","reason":"other""#, out);
            self.left = 0;
        }
        // The pause in which people read and think.
        self.at += dice.within(2_000, 240_000) as i64;
    }

    /// Makes a tool call and its result.
    fn step(&mut self, dice: &mut Dice, out: &mut Vec<Raw>) {
        let serial = dice.throw();
        let id = format!("toolu_01{serial:016x}{}", dice.within(100, 999));
        let Call { tool, input, result, failing } = words::call(dice, self.project, serial);
        let failed = dice.per_mille(failing);
        let content = format!(r#"{{"type":"tool_use","id":"{id}","name":"{tool}","input":{input}}}"#);
        self.response(dice, &content, "tool_use", out);
        let about = format!(r#","tool_name":"{tool}","tool_input":{input}"#);
        self.hook(dice, "PreToolUse", &format!(r#"{about},"tool_use_id":"{id}""#), out);
        if dice.per_mille(20) {
            self.hook(dice, "PermissionRequest", &about, out);
            self.at += dice.within(900, 40_000) as i64;
        }
        let took = dice.duration();
        self.at += took as i64;
        let tail = format!(r#""tool_use_id":"{id}","duration_ms":{took}"#);
        if failed {
            let error = r#""error":"Exit code 1","is_interrupt":false"#;
            self.hook(dice, "PostToolUseFailure", &format!("{about},{error},{tail}"), out);
        } else {
            self.hook(dice, "PostToolUse", &format!(r#"{about},"tool_response":{result},{tail}"#), out);
        }
        let content = if failed { "Exit code 1" } else { "done" };
        let content = format!(
            r#"[{{"tool_use_id":"{id}","type":"tool_result","content":"{content}","is_error":{failed}}}]"#
        );
        let result = if failed { r#""Error: Exit code 1""#.to_owned() } else { result };
        let more = format!(r#""toolUseResult":{result},"sourceToolAssistantUUID":"{}","#, self.parent);
        self.user(dice, &content, &more, out);
    }

    /// Makes a response with its token usage.
    fn response(&mut self, dice: &mut Dice, content: &str, reason: &str, out: &mut Vec<Raw>) {
        let (id, request) = (dice.hex(), dice.hex());
        let (input, output) = (dice.within(1, 60), dice.within(5, 2_500));
        let (read, written) = (dice.within(9_000, 180_000), dice.within(0, 9_000));
        let usage = format!(
            r#"{{"input_tokens":{input},"cache_creation_input_tokens":{written},"cache_read_input_tokens":{read},"output_tokens":{output},"service_tier":"standard","cache_creation":{{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":{written}}}}}"#
        );
        let model = self.model;
        let message = format!(
            r#""message":{{"id":"msg_01{id}{id}","type":"message","role":"assistant","model":"{model}","content":[{content}],"stop_reason":"{reason}","stop_sequence":null,"usage":{usage}}},"requestId":"req_011C{request}","type":"assistant""#
        );
        self.row(dice, &message, out);
    }

    fn user(&mut self, dice: &mut Dice, content: &str, more: &str, out: &mut Vec<Raw>) {
        let prompt = &self.prompt;
        let message = format!(
            r#""promptId":"{prompt}","type":"user",{more}"message":{{"role":"user","content":{content}}}"#
        );
        self.row(dice, &message, out);
    }

    /// Adds a row of the transcript.
    fn row(&mut self, dice: &mut Dice, members: &str, out: &mut Vec<Raw>) {
        self.at += dice.within(20, 4_000) as i64;
        let side = match &self.agent {
            Some((agent, _)) => format!(r#""isSidechain":true,"agentId":"{agent}""#),
            None => r#""isSidechain":false"#.to_owned(),
        };
        let uuid = dice.uuid();
        let (parent, id, project, at) = (&self.parent, &self.id, self.project, Millis(self.at));
        let row = format!(
            r#"{{"parentUuid":"{parent}",{side},{members},"uuid":"{uuid}","timestamp":"{at}","userType":"external","entrypoint":"cli","cwd":"/home/dev/project-{project}","sessionId":"{id}","version":"2.1.325","gitBranch":"main"}}"#
        );
        self.parent = uuid;
        let offset = self.offset;
        self.offset += row.len() as u64 + 1;
        self.bring(Raw { bytes: row.into_bytes(), at: self.at, offset: Some(offset) }, out);
    }

    /// Adds a hook payload, in sessions that have hooks.
    fn hook(&mut self, dice: &mut Dice, event: &str, members: &str, out: &mut Vec<Raw>) {
        if !self.hooked {
            return;
        }
        self.at += dice.within(1, 40) as i64;
        let (id, project, prompt) = (&self.id, self.project, &self.prompt);
        let agent = match &self.agent {
            Some((agent, kind)) => format!(r#","agent_id":"{agent}","agent_type":"{kind}""#),
            None => String::new(),
        };
        // A subagent has its own events for its beginning and its end.
        let event = match (event, self.agent.is_some()) {
            ("SessionStart", true) => "SubagentStart",
            ("Stop", true) => "SubagentStop",
            ("UserPromptSubmit" | "SessionEnd", true) => return,
            (event, _) => event,
        };
        let payload = format!(
            r#"{{"session_id":"{id}","transcript_path":"{}","cwd":"/home/dev/project-{project}","prompt_id":"{prompt}"{agent},"hook_event_name":"{event}"{members}}}"#,
            self.file
        );
        self.bring(Raw { bytes: payload.into_bytes(), at: self.at, offset: None }, out);
    }

    fn bring(&mut self, raw: Raw, out: &mut Vec<Raw>) {
        self.left = self.left.saturating_sub(1);
        out.push(raw);
    }
}
