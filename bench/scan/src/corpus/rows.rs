//! Rows in the form of the real client: its members, in its order.

use super::Facts;
use super::dice::Dice;

/// Pieces of text, spelled as JSON spells them: code, prose, paths, output.
const PIECES: &[&str] = &[
    "let value = self.next().ok_or(Error::Missing)?;\\n",
    "        if line.starts_with(\\\"#\\\") {\\n            continue;\\n        }\\n",
    "error[E0308]: mismatched types\\n  --> src/main.rs:12:5\\n   |\\n",
    "The function reads the file once and keeps nothing of it. ",
    "drwxr-xr-x  2 dev dev 4096 Nov 15 21:09 src\\n",
    "export const handler = async (event: Event): Promise<Result> => {\\n\\t",
    "{\\\"name\\\": \\\"value\\\", \\\"items\\\": [1, 2, 3]}\\n",
    "running 214 tests\\n.......................................................\\n",
    "/home/dev/project/crates/agents/src/claude/transcript/mod.rs\\n",
    "Größe und Länge – schöne Grüße aus dem Test. ",
    "    return Math.max(0, Math.min(limit, offset + 1));\\n}\\n\\n",
    "https://docs.example.org/reference/api/v2/objects#fields ",
];

const MODELS: &[&str] =
    &["claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"];

/// Writes the rows of one file.
pub(crate) struct Writer<'d> {
    dice: &'d mut Dice,
    pub(crate) out: Vec<u8>,
    session: String,
    agent: Option<String>,
    project: usize,
    /// Milliseconds since 1970.
    at: i64,
    parent: String,
    prompt: String,
    model: &'static str,
}

impl<'d> Writer<'d> {
    pub(crate) fn new(dice: &'d mut Dice, session: &str, number: usize) -> Self {
        let at = 1_764_000_000_000 + number as i64 * 3_600_000;
        let model = dice.pick(MODELS);
        let (parent, prompt) = (dice.uuid(), dice.uuid());
        Self {
            dice,
            out: Vec::new(),
            session: session.to_owned(),
            agent: None,
            project: number % 40,
            at,
            parent,
            prompt,
            model,
        }
    }

    /// Begins with rows of another session, under this one's name.
    pub(crate) fn copy(&mut self, rows: &[u8]) {
        let key = b"\"sessionId\":\"";
        let mut from = 0;
        for at in memchr::memmem::find_iter(rows, key) {
            let end = at + key.len();
            self.out.extend_from_slice(rows.get(from..end).unwrap_or_default());
            self.out.extend_from_slice(self.session.as_bytes());
            from = end + 36;
        }
        self.out.extend_from_slice(rows.get(from..).unwrap_or_default());
    }

    /// A session of some hundred messages; says which subagents it started.
    pub(crate) fn session(&mut self, facts: &mut Facts) -> Vec<String> {
        let mut agents = Vec::new();
        let turns = self.dice.within(5, 55);
        for _ in 0..turns {
            self.prompt = self.dice.uuid();
            let text = self.text(200);
            self.user(&format!("\"{text}\""), "\"permissionMode\":\"default\",\"promptSource\":\"typed\",");
            let steps = self.dice.within(1, 18);
            for _ in 0..steps {
                let agent = self.dice.percent(1).then(|| format!("a{}", self.dice.hex(16)));
                self.step(facts, agent.as_deref());
                agents.extend(agent);
            }
            self.message(facts, &["text"], None);
            let (head, took, tail) = (self.head(), self.dice.within(1000, 90_000), self.tail());
            self.line(&format!(
                r#"{head},"type":"system","subtype":"turn_duration","durationMs":{took},{tail}"#
            ));
        }
        agents
    }

    /// A subagent of some dozen messages.
    pub(crate) fn agent(&mut self, agent: &str, facts: &mut Facts) {
        self.agent = Some(agent.to_owned());
        let text = self.text(600);
        self.user(&format!("\"{text}\""), "");
        let steps = self.dice.within(4, 60);
        for _ in 0..steps {
            self.step(facts, None);
        }
        self.message(facts, &["text"], None);
    }

    /// The model asks for something, and gets it.
    fn step(&mut self, facts: &mut Facts, agent: Option<&str>) {
        let blocks: &[&str] = match self.dice.within(0, 10) {
            0 => &["tool_use"],
            1..6 => &["text", "tool_use"],
            6..9 => &["thinking", "tool_use"],
            _ => &["thinking", "text", "tool_use"],
        };
        let call = format!("toolu_01{}", self.dice.hex(22));
        self.message(facts, blocks, Some((&call, agent)));
        self.result(&call, agent);
    }

    /// Common members that stand at the end of a row of the conversation.
    fn tail(&mut self) -> String {
        self.at += self.dice.within(20, 9000) as i64;
        let uuid = self.dice.uuid();
        let tail = format!(
            r#""uuid":"{uuid}","timestamp":"{}","userType":"external","entrypoint":"cli","cwd":"/home/dev/project-{}","sessionId":"{}","version":"2.1.325","gitBranch":"main"}}"#,
            agent_tracer_event::Millis(self.at),
            self.project,
            self.session
        );
        self.parent = uuid;
        tail
    }

    fn head(&self) -> String {
        let side = match &self.agent {
            Some(agent) => format!(r#""isSidechain":true,"agentId":"{agent}""#),
            None => r#""isSidechain":false"#.to_owned(),
        };
        format!(r#"{{"parentUuid":"{}",{side}"#, self.parent)
    }

    fn line(&mut self, line: &str) {
        self.out.extend_from_slice(line.as_bytes());
        self.out.push(b'\n');
    }

    fn user(&mut self, content: &str, more: &str) {
        let (head, tail) = (self.head(), self.tail());
        let prompt = &self.prompt;
        let message =
            format!(r#""promptId":"{prompt}","type":"user","message":{{"role":"user","content":{content}}}"#);
        self.line(&format!("{head},{message},{more}{tail}"));
    }

    /// One response, on a row per block, each with the usage of the whole.
    fn message(&mut self, facts: &mut Facts, blocks: &[&str], call: Option<(&str, Option<&str>)>) {
        let id = format!("msg_01{}", self.dice.hex(22));
        let request = format!("req_011C{}", self.dice.hex(20));
        let (input, output) = (self.dice.within(1, 60), self.dice.within(5, 2500));
        let (read, written) = (self.dice.within(9000, 180_000), self.dice.within(0, 9000));
        let reason = if call.is_some() { "tool_use" } else { "end_turn" };
        for (place, sum) in facts.tokens.iter_mut().zip([input, output, read, written]) {
            *place += sum;
        }
        facts.responses += 1;
        let usage = format!(
            r#"{{"input_tokens":{input},"cache_creation_input_tokens":{written},"cache_read_input_tokens":{read},"output_tokens":{output},"output_tokens_details":{{"thinking_tokens":0}},"server_tool_use":{{"web_search_requests":0,"web_fetch_requests":0}},"service_tier":"standard","cache_creation":{{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":{written}}},"inference_geo":"","iterations":[],"speed":"standard"}}"#
        );
        for block in blocks {
            let content = match (*block, call) {
                ("thinking", _) => {
                    let (text, signature) = (self.text(300), self.dice.hex(400));
                    format!(r#"{{"type":"thinking","thinking":"{text}","signature":"{signature}"}}"#)
                }
                ("tool_use", Some((call, agent))) => self.call(call, agent),
                _ => format!(r#"{{"type":"text","text":"{}"}}"#, self.text(250)),
            };
            let (head, tail, model) = (self.head(), self.tail(), self.model);
            let message = format!(
                r#""message":{{"id":"{id}","type":"message","role":"assistant","model":"{model}","content":[{content}],"stop_reason":"{reason}","stop_sequence":null,"usage":{usage},"stop_details":null}}"#
            );
            self.line(&format!(r#"{head},{message},"requestId":"{request}","type":"assistant",{tail}"#));
        }
    }

    fn call(&mut self, call: &str, agent: Option<&str>) -> String {
        let file = format!("/home/dev/project-{}/src/file_{}.rs", self.project, self.dice.within(0, 900));
        let (name, input) = match (agent, self.dice.within(0, 10)) {
            (Some(_), _) => {
                let prompt = self.text(500);
                (
                    "Agent",
                    format!(
                        r#"{{"description":"Look around","prompt":"{prompt}","subagent_type":"Explore"}}"#
                    ),
                )
            }
            (None, 0..4) => {
                let (number, lines) = (self.dice.within(0, 40), self.dice.within(5, 90));
                let command = format!("cargo test -p crate-{number} 2>&1 | tail -{lines}");
                ("Bash", format!(r#"{{"command":"{command}","description":"Run the tests"}}"#))
            }
            (None, 4..7) => ("Read", format!(r#"{{"file_path":"{file}"}}"#)),
            (None, 7..8) => ("Grep", format!(r#"{{"pattern":"fn {}","path":"src"}}"#, self.dice.hex(6))),
            (None, _) => {
                let (old, new) = (self.text(300), self.text(400));
                ("Edit", format!(r#"{{"file_path":"{file}","old_string":"{old}","new_string":"{new}"}}"#))
            }
        };
        format!(r#"{{"type":"tool_use","id":"{call}","name":"{name}","input":{input}}}"#)
    }

    /// Writes a result: for the model, and once more for the client.
    fn result(&mut self, call: &str, agent: Option<&str>) {
        let text = self.text(1950);
        let result = match agent {
            Some(agent) => format!(
                r#"{{"status":"completed","agentId":"{agent}","content":[{{"type":"text","text":"{text}"}}],"totalDurationMs":{},"totalTokens":100,"totalToolUseCount":3}}"#,
                self.dice.within(900, 90_000)
            ),
            None => format!(
                r#"{{"stdout":"{text}","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}}"#
            ),
        };
        let content = format!(
            r#"[{{"tool_use_id":"{call}","type":"tool_result","content":"{text}","is_error":false}}]"#
        );
        let more = format!(r#""toolUseResult":{result},"sourceToolAssistantUUID":"{}","#, self.parent);
        self.user(&content, &more);
    }

    /// A text of about a length, spelled as JSON.
    fn text(&mut self, usual: u64) -> String {
        let length = self.dice.length(usual);
        let mut text = String::with_capacity(length + 80);
        while text.len() < length {
            text.push_str(self.dice.pick(PIECES));
        }
        text
    }
}
