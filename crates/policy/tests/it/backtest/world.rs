//! A ledger with what was captured, or with what a test makes up, and a back-test over it.

use std::sync::Arc;

use agent_tracer_event::{Agent, Millis};
use agent_tracer_ledger::project::tally::Pricer;
use agent_tracer_ledger::{Batch, Ledger, Observed, Options};
use agent_tracer_policy::backtest::{Backtest, LocalMoment, ReplayRequest, RuleReport, Setting, run};
use agent_tracer_policy::{Policy, RuleFile, read};
use agent_tracer_prices::Prices;
use serde_json::Value;

/// After everything that was captured.
pub(crate) const NOW: Millis = Millis(1_900_000_000_000);

pub(crate) struct World {
    pub(crate) ledger: Ledger,
    _folder: tempfile::TempDir,
    sent: u64,
}

impl World {
    pub(crate) fn new() -> Self {
        let memory = std::path::Path::new("/dev/shm");
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let options = Options { pricer: Arc::new(Prices::embedded()), ..Options::default() };
        let ledger = Ledger::open(&folder.path().join("ledger.db"), options).unwrap();
        Self { ledger, _folder: folder, sent: 0 }
    }

    pub(crate) fn with(observed: Vec<Observed>) -> Self {
        let world = Self::new();
        world.ledger.append(Batch { observed, ..Batch::default() }).unwrap();
        world
    }

    /// Sends one payload of Claude Code, at a second of its own.
    pub(crate) fn hook(&mut self, at_s: i64, mut payload: Value) {
        self.sent += 1;
        let fields = payload.as_object_mut().unwrap();
        for (name, value) in [("session_id", "s1"), ("cwd", "/code"), ("transcript_path", "/t/s1.jsonl")] {
            fields.entry(name).or_insert_with(|| value.into());
        }
        let name = format!("made-{}", self.sent);
        let body = serde_json::to_vec(&payload).unwrap();
        let observed =
            agent_tracer_testkit::hook(Agent::CLAUDE_CODE, &name, Millis(at_s * 1000), false, &body);
        self.ledger.append(Batch { observed: vec![observed], ..Batch::default() }).unwrap();
    }

    pub(crate) fn backtest(&self, rules: &str) -> Backtest {
        self.since(rules, Millis(0))
    }

    pub(crate) fn since(&self, rules: &str, since: Millis) -> Backtest {
        self.run(&Policy::of_user(file(rules)), since)
    }

    pub(crate) fn run(&self, policy: &Policy, since: Millis) -> Backtest {
        let setting = setting();
        let ask = ReplayRequest { policy, since, now: NOW, project: None, setting: &setting };
        run(self.ledger.store().as_ref(), &ask, |_| None).unwrap()
    }
}

pub(crate) fn setting() -> Setting {
    let prices = Prices::embedded();
    Setting {
        user_home: Some("/home/dev".to_owned()),
        local: Arc::new(|at| LocalMoment { local: None, midnight: Millis(at.0 - at.0 % 86_400_000) }),
        cost_pico: Arc::new(move |row| {
            let model = row.metadata.get("model").and_then(Value::as_str)?;
            u64::try_from(Pricer::cost(&prices, model, &row.metadata)?).ok()
        }),
    }
}

pub(crate) fn file(rules: &str) -> RuleFile {
    read(&format!("version = 1\n{rules}")).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// Returns a rule that denies at an event, and whatever else it says.
pub(crate) fn deny(name: &str, event: &str, more: &str) -> String {
    format!("[[rule]]\nname = \"{name}\"\non = \"{event}\"\ndecision = \"deny\"\nreason = \"no\"\n{more}\n")
}

pub(crate) fn rule<'b>(found: &'b Backtest, name: &str) -> &'b RuleReport {
    found.rules.iter().find(|rule| rule.name == name).unwrap()
}
