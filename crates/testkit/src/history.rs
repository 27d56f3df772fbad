//! A history from a seed: the same seed and size give the same observations on every machine.
//!
//! The shape at ten million events: 100,000 tasks in 40 projects over 180 days. One task has 100,000 events, 2,000
//! sessions share most of the rest unevenly, and all others are small; half of the small ones are subagents. Every
//! session has a transcript with what its responses cost, and half of them have hooks that report the same calls.
//! Smaller histories keep the proportions. An event is one observation: a hook's payload or a row of a transcript.

mod dice;
mod session;
mod words;

use std::time::{Duration, Instant};

use agent_tracer_agents::claude::transcript::RowReading;
use agent_tracer_agents::files::Rules;
use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Agent, Channel, Entry, Evidence, Millis, Phase, Reading, Subject, TaskKey};
use agent_tracer_ledger::{Observed, Verdict};
use agent_tracer_privacy::{self as privacy, Config, Level, reduce};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

pub use dice::Dice;
use session::{Raw, Session};
pub use words::{COMMON, MANY, MODELS, SINGLE, rare};

/// The beginning of the history: 2026-05-18.
pub const BEGIN: i64 = 1_779_062_400_000;

/// The length of the history, in milliseconds.
pub const SPAN: i64 = 180 * 86_400_000;

/// Sessions that run at the same time.
const AT_ONCE: usize = 8;

/// Small tasks for each large session.
const SMALL_PER_LARGE: u64 = 49;

/// The time spent on making observations, by step.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepTimes {
    /// Making up bytes, which is no cost of the product.
    pub making: Duration,
    /// Privacy and reading.
    pub reading: Duration,
    /// The same in processor time.
    pub reading_cpu: Duration,
}

/// Observations, in the order in which they would arrive.
pub struct History {
    dice: Dice,
    events: u64,
    made: u64,
    tasks: u64,
    begun: u64,
    open: Vec<Session>,
    /// The session and the project under which the next subagents run.
    above: Option<(String, u64)>,
    config: Config,
    brought: Vec<Observed>,
    /// Processor time of this thread; constantly zero unless [`History::timed`] sets a clock.
    processor: fn() -> Duration,
    /// The time spent so far.
    pub spent: StepTimes,
    /// Bytes that were read.
    pub bytes: u64,
}

impl History {
    /// Creates a history of this many events from a seed.
    #[must_use]
    pub fn new(events: u64, seed: u64) -> Self {
        Self {
            dice: Dice::new(seed),
            events,
            made: 0,
            tasks: (events / 100).max(20),
            begun: 0,
            open: Vec::new(),
            above: None,
            config: Config { level: Level::Actions, ..Config::default() },
            brought: Vec::new(),
            processor: || Duration::ZERO,
            spent: StepTimes::default(),
            bytes: 0,
        }
    }

    /// Measures processor time with this clock of the calling thread.
    #[must_use]
    pub fn timed(mut self, processor: fn() -> Duration) -> Self {
        self.processor = processor;
        self
    }

    /// Returns at most `most` of the next observations; fewer only at the end.
    pub fn batch(&mut self, most: usize) -> Vec<Observed> {
        while self.brought.len() < most && self.made < self.events {
            let begun = Instant::now();
            while self.open.len() < AT_ONCE {
                let session = self.begin();
                self.open.push(session);
            }
            // Sessions take turns by chance: their rows interleave, as they do on a machine where several agents
            // work.
            let place = self.dice.throw() as usize % self.open.len().max(1);
            let mut raw = Vec::new();
            let Some(session) = self.open.get_mut(place) else { break };
            session.turn(&mut self.dice, self.made, &mut raw);
            let (made, before) = (Instant::now(), (self.processor)());
            self.spent.making += made - begun;
            for raw in raw {
                self.bytes += raw.bytes.len() as u64;
                // Rows of which nothing is read are no events, so they do not count towards the size that was asked
                // for.
                if let Some(observed) = observe(session, &raw, &self.config, self.made) {
                    self.brought.push(observed);
                    self.made += 1;
                }
            }
            if session.is_over() {
                // The order of open sessions does not matter, as the next one is drawn.
                self.open.swap_remove(place);
            }
            self.spent.reading += made.elapsed();
            self.spent.reading_cpu += (self.processor)().saturating_sub(before);
        }
        let rest = self.brought.split_off(most.min(self.brought.len()));
        std::mem::replace(&mut self.brought, rest)
    }

    fn begin(&mut self) -> Session {
        let number = self.begun;
        self.begun += 1;
        let share = self.made as f64 / self.events.max(1) as f64;
        // The beginning follows the share that is made, so that any size spans the same days.
        let at = BEGIN + (share * SPAN as f64) as i64;
        let large = self.tasks / (SMALL_PER_LARGE + 1);
        // The one very long task comes early, so that every later read and write has to cope with it.
        let events = if number == 1 {
            (self.events / 10).min(100_000)
        } else if number.is_multiple_of(SMALL_PER_LARGE + 1) {
            let usual = self.events * 6 / 10 / large.max(1);
            self.dice.skewed(usual.max(20) * 4) + 20
        } else {
            self.dice.within(6, 55)
        };
        let below = number > 2 && self.dice.per_mille(500);
        let above = self.above.clone().filter(|_| below);
        let above = above.as_ref().map(|(id, project)| (id.as_str(), *project));
        let session = Session::new(&mut self.dice, at, events, above);
        if session.is_main() {
            self.above = Some((session.id().to_owned(), session.project));
        }
        session
    }
}

/// Reads a row or a payload as the intake does.
fn observe(session: &mut Session, raw: &Raw, config: &Config, number: u64) -> Option<Observed> {
    let agent = Agent::CLAUDE_CODE;
    let arrived = Millis(raw.at);
    let project = format!("/home/dev/project-{}", session.project);
    let (name, source, channel, mut reading, payload, kept) = match raw.offset {
        Some(offset) => {
            let rules = Rules { config, hash_key: [7; 16], home_dir: None };
            let reading = match session.reader.as_mut()?.read(&rules, &raw.bytes, offset, arrived) {
                RowReading::Read(reading) | RowReading::Copied(reading) => reading,
                _ => return None,
            };
            let name = format!("{}@{offset}", session.file);
            (name, Some(session.file.clone()), Channel::Transcript, reading, None, None)
        }
        None => {
            let mut body = Vec::new();
            reduce(&raw.bytes, privacy::Source::Hook(Agent::CLAUDE_CODE), config, &mut || [7; 16], &mut body);
            let name = format!("{:020}-{number}", raw.at);
            let reading = read(&Observation {
                agent,
                channel: Channel::Hook,
                name: &name,
                arrived,
                source: Source::Hook,
                body: &body,
                context: &Context::default(),
            });
            let payload = Some(xxh3_64(&body));
            (name, None, Channel::Hook, reading, payload, Some(body))
        }
    };
    if reading.entries.is_empty() {
        return None;
    }
    if !session.has_project {
        session.has_project = add_project(&mut reading, &project);
    }
    Some(Observed { name, source, agent, channel, arrived, verdict: Verdict::Read(reading), payload, kept })
}

/// Adds the project to the entry that names a working directory, as the intake does. Returns `false` if none does.
fn add_project(reading: &mut Reading, project: &str) -> bool {
    let about = reading
        .entries
        .iter()
        .find(|entry| entry.subject == Subject::Task && entry.metadata.contains_key("cwd"))
        .map(|entry| (entry.task.clone(), entry.occurred_at, entry.order));
    let Some((task, at, order)): Option<(TaskKey, Millis, u64)> = about else { return false };
    let evidence = Evidence::inferred("working directory");
    let mut entry = Entry::new(Subject::Task, Phase::Update, task, "task", at, evidence);
    entry.order = order;
    entry.metadata.insert("project".to_owned(), Value::from(project));
    reading.entries.push(entry);
    true
}
