//! `guard`: answers one hook by the rules, without looking at the past.
//!
//! Law: where a hook called, a call that cannot be judged (the rules are refused or broken, the event cannot be read, or
//! judging takes longer than [`LIMIT`]) is left to the human, as strictly as `policy.tbl` asks; an agent that cannot ask
//! is refused. Called by anybody else, it is said on standard error and ends with 1, which both agents take as a failure
//! that blocks nothing. Standard output is the answer and nothing else, because agents read it.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agent_tracer_event::Agent;
use agent_tracer_policy::daemon::decision::{self, Decider, Decision, LookupTimes};
use agent_tracer_policy::daemon::table::{self, known_projects, refresh};
use agent_tracer_policy::daemon::{EffectivePolicy, PROJECT_FILE, Question, Sender, load_effective};
use agent_tracer_policy::{Answer, Event, NoHistory, Surroundings, answer, answer_unjudged};
use agent_tracer_policy_abi::{Outage, Question as TableQuery, Table};
use agent_tracer_spool::Home;

use crate::arguments::{Guard, Options};
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::local_time::LocalTime;
use crate::output::Output;
use crate::reading::agent_of;

/// The longest payload that is read. The largest that was ever seen has a few hundred kilobytes.
const BYTES_MAX: u64 = 64 << 20;
/// Time limit for a decision. A hook has waited for `deadline_ms` before; both together stay far below the minute after
/// which agents go on without an answer.
const LIMIT: Duration = Duration::from_secs(10);

pub(super) fn run(
    arguments: &Guard,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let began = Instant::now();
    let (home, _) = environment.home(options.home.as_deref())?;
    let payload = payload()?;
    let agent = agent_of(arguments.agent);
    // Of every agent, as the hook does it: both have to find the same project.
    let variables = Agent::ALL.iter().filter_map(|agent| agent.spec().project_variable);
    let named = variables.into_iter().find_map(|variable| environment.path_variable(variable));
    let fallback = arguments.for_hook.is_some().then(|| Fallback {
        home: home.clone(),
        agent,
        sender: Sender::read(&payload).unwrap_or_default(),
        named: named.clone(),
    });
    let turn = Turn::default();
    if let Some(fallback) = &fallback {
        fallback.clone().watch(turn.clone());
    }
    let unjudged = |failure: Failure, output: &mut Output| match &fallback {
        // An event that rules cannot stop passes in silence: a hook never fails its agent.
        Some(fallback) if turn.take() => say(&fallback.answer(failure.message()), output),
        _ => Err(failure),
    };
    let question = match Question::read(agent, &payload) {
        Ok(Some(question)) => question,
        Ok(None) => return Ok(ExitCode::SUCCESS),
        Err(cause) => return unjudged(Failure::new(format!("cannot read the event: {cause}")), output),
    };
    let root = question.root(named.as_deref(), &environment.directory);
    let in_force = match load_effective(&home, &root) {
        Ok(in_force) => in_force,
        Err(error) => return unjudged(error.into(), output),
    };
    let EffectivePolicy { policy, broken } = in_force;
    if let Some(broken) = broken {
        output.failure(&Failure::from(broken));
    }
    let around = Surroundings {
        project: root.to_str().map(str::to_owned),
        home: environment.user_home().ok().and_then(|home| home.to_str().map(str::to_owned)),
        now: LocalTime::of(environment).of_week(environment.now()),
    };
    let asker = question.identity().clone();
    let call = question.into_call(around);
    let verdict = policy.decide(&call, &NoHistory);
    if !turn.take() {
        // The answer was given without us, and the process ends by it.
        return Ok(ExitCode::SUCCESS);
    }
    let said = say(&answer(&call, &verdict), output)?;
    if let Some(envelope) = arguments.for_hook.as_deref().filter(|envelope| !envelope.is_empty()) {
        let decision = Decision {
            identity: &asker,
            event: Some(envelope),
            root: &root,
            verdict: &verdict,
            by: Decider::Guard,
            took: began.elapsed(),
            times: LookupTimes::default(),
        };
        let nanos = u64::try_from(environment.now().0).unwrap_or(0).saturating_mul(1_000_000);
        decision::record(&decision, agent, &home, nanos);
    }
    if arguments.for_hook.is_some() && is_news(&home, &root) {
        // The table asks about the next event too. The fault was reported, and its state stays.
        drop(refresh(&home, &environment.main_program(), &[root]));
    }
    Ok(said)
}

/// Returns whether the table lacks the rules of a project, or is unreadable, or is missing while the user has rules.
fn is_news(home: &Home, root: &Path) -> bool {
    match table::load(home) {
        Ok(Some(bytes)) if Table::open(&bytes).is_err() => true,
        Ok(None) if home.policy_file().exists() => true,
        Ok(_) => root.join(PROJECT_FILE).exists() && !known_projects(home).contains(root),
        Err(_) => true,
    }
}

fn payload() -> Result<Vec<u8>, Failure> {
    let mut payload = Vec::new();
    io::stdin()
        .lock()
        .take(BYTES_MAX + 1)
        .read_to_end(&mut payload)
        .map_err(|cause| Failure::new(format!("cannot read the event: {}", plain(&cause))))?;
    if payload.len() as u64 > BYTES_MAX {
        return Err(Failure::new(format!("cannot read the event: it is over {BYTES_MAX} bytes")));
    }
    Ok(payload)
}

fn say(answer: &Answer, output: &mut Output) -> Result<ExitCode, Failure> {
    output.data(&answer.stdout)?;
    if !answer.stderr.is_empty() {
        io::stderr().lock().write_all(answer.stderr.as_bytes()).map_err(|cause| Failure::output(&cause))?;
    }
    Ok(ExitCode::from(answer.exit))
}

/// The right to answer, which is given once.
#[derive(Clone, Default)]
struct Turn(Arc<Mutex<bool>>);

impl Turn {
    /// Takes it. Returns whether it was still there.
    fn take(&self) -> bool {
        !std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), true)
    }
}

/// Holds the answer for a call that cannot be judged.
#[derive(Clone)]
struct Fallback {
    home: Home,
    agent: Agent,
    sender: Sender,
    /// The project, as the agent names it.
    named: Option<PathBuf>,
}

impl Fallback {
    /// Says it after [`LIMIT`], if nothing was said by then, and ends the process. Without a thread there is no limit.
    fn watch(self, turn: Turn) {
        let wait = move || {
            #[expect(clippy::disallowed_methods, reason = "a limit on time is what is waited for")]
            std::thread::sleep(LIMIT);
            if !turn.take() {
                return;
            }
            let answer = self.answer("the rules took too long to be read");
            drop(io::stdout().lock().write_all(answer.stdout.as_bytes()));
            drop(io::stderr().lock().write_all(answer.stderr.as_bytes()));
            // The thread that judges may never come back.
            std::process::exit(i32::from(answer.exit));
        };
        drop(std::thread::Builder::new().name("limit".to_owned()).spawn(wait));
    }

    /// Returns the table's answer for an outage; without a valid table, the person decides.
    fn answer(&self, why: &str) -> Answer {
        let bytes = table::load(&self.home).ok().flatten();
        let Some(table) = bytes.as_deref().and_then(|bytes| Table::open(bytes).ok()) else {
            let Some(event) = Event::parse(&self.sender.event) else { return Answer::default() };
            return answer_unjudged(
                self.agent,
                event,
                &format!("{why} (run `agent-tracer doctor` for details)"),
            );
        };
        let named = self.named.as_ref().map(|named| named.as_os_str().as_encoded_bytes()).unwrap_or_default();
        let asked = table.ask(&TableQuery {
            agent: self.agent.as_str().as_bytes(),
            event: self.sender.event.as_bytes(),
            tool: self.sender.tool.as_bytes(),
            directories: [named, self.sender.cwd.as_bytes()],
        });
        let Some(row) = asked.map(|asked| asked.row).filter(|row| row.outage > Outage::Allow) else {
            return Answer::default();
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Answer { stdout: text(row.stdout), stderr: text(row.stderr), exit: row.exit }
    }
}
