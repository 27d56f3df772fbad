//! A made-up history for the questions: sessions with subagents, turns, calls of every list, responses, waits.
//!
//! The same seed makes the same history. It is also used by the tests inside the crate, which read the plans of all
//! statements, so it knows only what is public.

use agent_tracer_event::{
    Agent, CallState, Certainty, Channel, Entry, Evidence, Kind, Lane, Millis, Phase, Reading, Subject,
    TaskKey, Tokens,
};
use agent_tracer_ledger::{Observed, Verdict};
use serde_json::{Value, json};

/// The moment at which the history begins.
pub(crate) const BEGIN: i64 = 1_790_000_000_000;

pub(crate) const HOUR_MS: i64 = 3_600_000;

/// Numbers that look drawn and are the same every time.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound.max(1)
    }

    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

const PROJECTS: [&str; 5] = ["/srv/web", "/srv/web/admin", "/srv/api", "/opt/tools", "/home/dev/notes"];
const MODELS: [&str; 3] = ["model-large", "model-small", "model-new"];
const WORDS: [&str; 12] = [
    "parser",
    "retry",
    "timeout",
    "session",
    "getUserName",
    "snake_case_name",
    "検索機能",
    "Größe",
    "cache",
    "index",
    "deploy",
    "flaky",
];

/// Makes a history.
pub(crate) struct HistoryBuilder {
    pub(crate) dice: Dice,
    pub(crate) observed: Vec<Observed>,
    serial: u64,
}

/// One session while it is reported.
pub(crate) struct Session {
    pub(crate) key: TaskKey,
    pub(crate) now: i64,
    agent_type: Option<&'static str>,
}

impl HistoryBuilder {
    pub(crate) fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed), observed: Vec::new(), serial: 0 }
    }

    /// Returns so many sessions, each with some turns and some subagents.
    pub(crate) fn with_sessions(seed: u64, sessions: u64, turns: u64) -> Self {
        let mut story = Self::new(seed);
        for number in 0..sessions {
            let begin = BEGIN + number as i64 * 5 * HOUR_MS + story.dice.below(900_000) as i64;
            let agent = story.dice.pick(Agent::ALL);
            let project = story.dice.pick(&PROJECTS);
            let name = format!("session-{number:04}-{}", story.dice.below(9));
            let mut session = story.session(agent, &name, begin, project);
            let turns = 1 + story.dice.below(turns.max(1) * 2);
            for turn in 0..turns {
                story.turn(&mut session, turn);
                if story.dice.one_in(6) {
                    story.subagent(&mut session, turn);
                }
                if story.dice.one_in(9) {
                    session.now += 2 * HOUR_MS;
                    story.resume(&mut session, turn);
                }
            }
            if !story.dice.one_in(3) {
                story.end(&mut session);
            }
        }
        story
    }

    fn tell(&mut self, agent: Agent, channel: Channel, entries: Vec<Entry>) {
        self.serial += 1;
        let arrived = entries.first().map_or(Millis(BEGIN), |entry| entry.occurred_at);
        self.observed.push(Observed {
            name: format!("observation-{}", self.serial),
            source: None,
            agent,
            channel,
            arrived,
            verdict: Verdict::Read(Reading { entries, ..Reading::default() }),
            payload: None,
            kept: None,
        });
    }

    pub(crate) fn entry(
        &self,
        session: &Session,
        subject: Subject,
        phase: Phase,
        key: String,
        metadata: Value,
    ) -> Entry {
        let evidence = Evidence { certainty: Certainty::Measured, reason: "a story".to_owned() };
        let mut entry = Entry::new(subject, phase, session.key.clone(), key, Millis(session.now), evidence);
        entry.order = self.serial;
        entry.agent_type = session.agent_type.map(str::to_owned);
        if let Value::Object(metadata) = metadata {
            entry.metadata = metadata;
        }
        entry
    }

    pub(crate) fn session(&mut self, agent: Agent, name: &str, now: i64, project: &str) -> Session {
        let session = Session { key: TaskKey::new(agent, name), now, agent_type: None };
        let (one, two) = (self.dice.pick(&WORDS), self.dice.pick(&WORDS));
        let model = self.dice_model();
        let about = self.entry(
            &session,
            Subject::Task,
            Phase::Update,
            "task".to_owned(),
            json!({"title": format!("Look at {one} and {two}"), "titleSource": "prompt", "cwd": project, "project": project,
                "model": model, "gitBranch": "main", "clientVersion": "1.0"}),
        );
        let started = self.entry(
            &session,
            Subject::Event(Kind::SessionStarted),
            Phase::Open,
            "session:started:1".to_owned(),
            json!({"sessionSource": "startup"}),
        );
        self.tell(agent, Channel::Hook, vec![about, started]);
        session
    }

    fn dice_model(&mut self) -> &'static str {
        self.dice.pick(&MODELS)
    }

    fn resume(&mut self, session: &mut Session, turn: u64) {
        let started = self.entry(
            session,
            Subject::Event(Kind::SessionStarted),
            Phase::Open,
            format!("session:resumed:{turn}"),
            json!({"sessionSource": "resume"}),
        );
        self.tell(session.key.agent, Channel::Hook, vec![started]);
        session.now += 1_000;
    }

    fn end(&mut self, session: &mut Session) {
        session.now += 500;
        let ended = self.entry(
            session,
            Subject::Event(Kind::SessionEnded),
            Phase::Close,
            "session:ended:1".to_owned(),
            json!({"completionReason": "explicit_exit"}),
        );
        self.tell(session.key.agent, Channel::Hook, vec![ended]);
    }

    fn subagent(&mut self, parent: &mut Session, turn: u64) {
        let name = format!("{}-{turn}", parent.key.runtime_session);
        let agent_type = self.dice.pick(&["Explore", "reviewer"]);
        let mut child = Session {
            key: TaskKey::subagent(parent.key.agent, &name),
            now: parent.now,
            agent_type: Some(agent_type),
        };
        let about = self.entry(
            &child,
            Subject::Task,
            Phase::Update,
            "task".to_owned(),
            json!({"title": format!("{agent_type} of turn {turn}"), "titleSource": "description",
                "agentType": agent_type, "agentId": name, "parentSession": parent.key.runtime_session,
                "parentToolUseId": format!("use-{turn}"), "cwd": "/srv/api", "project": "/srv/api"}),
        );
        self.tell(child.key.agent, Channel::Hook, vec![about]);
        self.turn(&mut child, 0);
        if self.dice.one_in(4) {
            self.subagent(&mut child, turn + 100);
        }
        parent.now = parent.now.max(child.now);
    }

    /// Adds a prompt, some calls, responses in between, an answer.
    pub(crate) fn turn(&mut self, session: &mut Session, number: u64) {
        let agent = session.key.agent;
        let name = format!("p{number}");
        session.now += 1_000 + self.dice.below(30_000) as i64;
        let word = self.dice.pick(&WORDS);
        let turn = self.entry(
            session,
            Subject::Turn,
            Phase::Open,
            format!("turn:{name}"),
            json!({"promptOrigin": "user"}),
        );
        let mut prompt = self.entry(
            session,
            Subject::Event(Kind::UserMessage),
            Phase::Open,
            format!("prompt:{name}"),
            json!({"promptOrigin": "user"}),
        );
        prompt.title = Some(format!("Fix {word}"));
        prompt.body = Some(format!("Please fix {word} in turn {number}"));
        prompt.turn = Some(name.clone());
        self.tell(agent, Channel::Hook, vec![turn, prompt]);
        let calls = 1 + self.dice.below(12);
        for call in 0..calls {
            session.now += 200 + self.dice.below(3_000) as i64;
            self.call(session, &name, call);
            if self.dice.one_in(2) {
                self.response(session, &name, call);
            }
        }
        session.now += 700;
        let ends = !self.dice.one_in(10);
        if ends {
            let mut said = self.entry(
                session,
                Subject::Event(Kind::AssistantResponse),
                Phase::Close,
                format!("said:{name}"),
                json!({"stopReason": "end_turn"}),
            );
            said.title = Some(format!("Fixed {word}"));
            said.turn = Some(name.clone());
            let mut done =
                self.entry(session, Subject::Turn, Phase::Close, format!("turn:{name}"), json!({}));
            done.state = Some(CallState::Succeeded);
            done.ended_at = Some(Millis(session.now));
            self.tell(agent, Channel::Hook, vec![said, done]);
        }
    }

    fn response(&mut self, session: &Session, turn: &str, number: u64) {
        let mut metadata = serde_json::Map::new();
        metadata.insert("model".to_owned(), json!(self.dice_model()));
        let usage = Tokens {
            input: self.dice.below(900),
            output: 1 + self.dice.below(400),
            cache_read: self.dice.below(20_000),
            cache_write: self.dice.below(500),
            reasoning: None,
        };
        usage.write(&mut metadata);
        if self.dice.one_in(5) {
            metadata.insert("attributionSkill".to_owned(), json!("release"));
        }
        let mut entry = self.entry(
            session,
            Subject::Event(Kind::TokenUsage),
            Phase::Close,
            format!("response:{turn}-{number}"),
            Value::Object(metadata),
        );
        entry.turn = Some(turn.to_owned());
        self.tell(session.key.agent, Channel::Transcript, vec![entry]);
        if self.dice.one_in(6) {
            let used = self.dice.below(100);
            let mut snapshot = self.entry(
                session,
                Subject::Event(Kind::ContextSnapshot),
                Phase::Open,
                format!("snapshot:{turn}-{number}"),
                json!({"contextWindowUsedPct": used, "modelId": "model-large"}),
            );
            snapshot.title = Some(format!("Context {used} %"));
            self.tell(session.key.agent, Channel::Hook, vec![snapshot]);
        }
    }

    pub(crate) fn call(&mut self, session: &mut Session, turn: &str, number: u64) {
        let (kind, lane, tool, metadata, paths) = self.what();
        let id = format!("{}-{turn}-{number}", session.key.runtime_session);
        let mut open = self.entry(session, Subject::Event(kind), Phase::Open, format!("tool:{id}"), metadata);
        open.title = Some(format!("{tool} {}", self.dice.pick(&WORDS)));
        open.lane = Some(lane);
        open.tool_name = Some(tool.to_owned());
        open.tool_use_id = Some(id.clone());
        open.state = Some(CallState::Running);
        open.turn = Some(turn.to_owned());
        open.file_paths = paths;
        let mut close = open.clone();
        close.phase = Phase::Close;
        let state = match self.dice.below(12) {
            0 => CallState::Failed,
            1 => CallState::Denied,
            _ => CallState::Succeeded,
        };
        close.state = Some(state);
        if state == CallState::Failed {
            let class = self.dice.pick(&["timeout", "not_found", "non_zero_exit"]);
            close.metadata.insert("errorClass".to_owned(), json!(class));
        }
        let took = 1 + self.dice.below(20_000) as i64;
        close.occurred_at = Millis(session.now + took);
        close.ended_at = Some(Millis(session.now + took));
        close.metadata.insert("durationMs".to_owned(), json!(took));
        self.tell(session.key.agent, Channel::Hook, vec![open]);
        if !self.dice.one_in(40) {
            self.tell(session.key.agent, Channel::Hook, vec![close]);
        }
        if !self.dice.one_in(3) {
            session.now += took;
        }
    }

    fn what(&mut self) -> (Kind, Lane, &'static str, Value, Vec<String>) {
        let signature = format!("{:016x}", self.dice.below(40));
        let path = format!("{}/src/file{}.rs", self.dice.pick(&PROJECTS), self.dice.below(30));
        match self.dice.below(9) {
            0..=2 => {
                let (program, sub) =
                    self.dice.pick(&[("cargo", Some("test")), ("ls", None), ("git", Some("status"))]);
                let line = format!("{program} {} --flag", sub.unwrap_or_default());
                let mut step = json!({"commandName": program});
                if let Some(sub) = sub {
                    step["subcommand"] = json!(sub);
                }
                let metadata = json!({"command": line, "callSignature": signature, "subtypeKey": "run_command",
                    "commandAnalysis": {"raw": line, "overallEffect": "execute_check", "decisiveStep": 0, "steps": [step]}});
                (Kind::TerminalCommand, Lane::Implementation, "Bash", metadata, Vec::new())
            }
            3 => {
                let metadata = json!({"subtypeKey": "read_file", "callSignature": signature, "readOffset": 10, "readLimit": 20});
                (Kind::ToolUsed, Lane::Exploration, "Read", metadata, vec![path])
            }
            4 => {
                let metadata = json!({"subtypeKey": "modify_file", "callSignature": signature});
                (Kind::ToolUsed, Lane::Implementation, "Edit", metadata, vec![path])
            }
            5 => {
                let metadata = json!({"subtypeKey": "web_search", "webQuery": "rust fts5", "webUrls": ["https://docs.rs/x"]});
                (Kind::ToolUsed, Lane::Exploration, "WebSearch", metadata, Vec::new())
            }
            6 => {
                let metadata = json!({"mcpServer": "db", "mcpTool": "query", "activityType": "mcp_call"});
                (Kind::AgentActivityLogged, Lane::Coordination, "mcp__db__query", metadata, Vec::new())
            }
            7 => {
                let skill = self.dice.pick(&["release", "review"]);
                (
                    Kind::AgentActivityLogged,
                    Lane::Coordination,
                    "Skill",
                    json!({"skillName": skill}),
                    Vec::new(),
                )
            }
            _ => {
                let item = self.dice.below(5);
                let state = self.dice.pick(&["added", "in_progress", "completed"]);
                let metadata = json!({"todoId": format!("{item}"), "todoState": state, "subject": format!("Item {item}")});
                (Kind::TodoLogged, Lane::Todos, "TodoWrite", metadata, Vec::new())
            }
        }
    }

    /// Adds so many equal calls that begin and end at the same moments.
    pub(crate) fn at_once(&mut self, session: &mut Session, calls: u64) {
        for number in 0..calls {
            let key = format!("tool:once-{number}");
            let mut close = self.entry(session, Subject::Event(Kind::ToolUsed), Phase::Close, key, json!({}));
            close.title = Some(format!("Call {number}"));
            close.tool_name = Some("Edit".to_owned());
            close.state = Some(CallState::Succeeded);
            close.ended_at = Some(Millis(session.now + 60_000));
            self.tell(session.key.agent, Channel::Transcript, vec![close]);
        }
        session.now += 90_000;
        let prompt = self.entry(
            session,
            Subject::Event(Kind::UserMessage),
            Phase::Open,
            "prompt:late".to_owned(),
            json!({}),
        );
        self.tell(session.key.agent, Channel::Transcript, vec![prompt]);
    }

    /// Adds a prompt, and a call that ended.
    pub(crate) fn works(&mut self, session: &mut Session) {
        let prompt = self.entry(
            session,
            Subject::Event(Kind::UserMessage),
            Phase::Open,
            "prompt:w".to_owned(),
            json!({}),
        );
        let mut close =
            self.entry(session, Subject::Event(Kind::ToolUsed), Phase::Close, "tool:w".to_owned(), json!({}));
        close.tool_name = Some("Edit".to_owned());
        close.state = Some(CallState::Succeeded);
        close.ended_at = Some(Millis(session.now));
        self.tell(session.key.agent, Channel::Hook, vec![prompt, close]);
    }

    /// Adds a prompt and its answer.
    pub(crate) fn rests(&mut self, session: &mut Session) {
        self.works(session);
        session.now += 1_000;
        let said = self.entry(
            session,
            Subject::Event(Kind::AssistantResponse),
            Phase::Close,
            "said:w".to_owned(),
            json!({}),
        );
        self.tell(session.key.agent, Channel::Hook, vec![said]);
    }

    /// Adds a rule that spoke about a call of a session, a second after whatever was before.
    pub(crate) fn decides(&mut self, session: &mut Session, rule: &str, status: &str, outcome: &str) {
        session.now += 1_000;
        let mut decision = self.entry(
            session,
            Subject::Event(Kind::RuleLogged),
            Phase::Open,
            format!("decision:{}:{rule}", session.now),
            json!({"rulePolicy": "agent_tracer", "ruleId": rule, "ruleStatus": status, "ruleOutcome": outcome,
                "ruleDecision": outcome, "ruleBasis": "applies", "ruleSource": "user", "answeredBy": "server",
                "decisionUs": 300}),
        );
        decision.tool_name = Some("Bash".to_owned());
        decision.tool_use_id = Some("w".to_owned());
        self.tell(session.key.agent, Channel::Hook, vec![decision]);
    }

    /// Returns a session that now waits for a permission.
    pub(crate) fn asks(&mut self, name: &str, now: i64) -> Session {
        let mut session = self.session(Agent::CLAUDE_CODE, name, now, PROJECTS[0]);
        session.now += 1_000;
        let mut ask = self.entry(
            &session,
            Subject::Event(Kind::PermissionRequest),
            Phase::Open,
            "permission:1".to_owned(),
            json!({"toolName": "Bash", "callSignature": "00000000000000ff"}),
        );
        ask.title = Some("Permission asked: rm".to_owned());
        let mut prompt = self.entry(
            &session,
            Subject::Event(Kind::UserMessage),
            Phase::Open,
            "prompt:1".to_owned(),
            json!({}),
        );
        prompt.occurred_at = Millis(session.now - 500);
        self.tell(Agent::CLAUDE_CODE, Channel::Hook, vec![prompt, ask]);
        session
    }
}
