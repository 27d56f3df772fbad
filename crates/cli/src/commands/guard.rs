//! `guard`: answers one hook by the rules, without looking at the past.
//!
//! Law: what cannot be decided is said on standard error and ends with 1, which both agents take as a failure that
//! blocks nothing; but where a hook called, what `policy.tbl` says of an outage is said instead. Standard output is the
//! answer and nothing else, because agents read it.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use agent_tracer_answers::decision::{self, By, Decision, Spent};
use agent_tracer_answers::table::{known_projects, refresh};
use agent_tracer_answers::{InForce, PROJECT_FILE, Question, in_force};
use agent_tracer_event::Agent;
use agent_tracer_policy::{Answer, NoHistory, Surroundings, answer};
use agent_tracer_policy_table as table;
use agent_tracer_spool::Home;

use crate::arguments::{Guard, Options};
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::local_time::LocalTime;
use crate::output::Output;
use crate::reading::agent_of;

/// The longest payload that is read. The largest that was ever seen has a few hundred kilobytes.
const BYTES_MAX: u64 = 64 << 20;

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
    let question = Question::read(agent, &payload)
        .map_err(|cause| Failure::new(format!("cannot read the event: {cause}")))?;
    let Some(question) = question else { return Ok(ExitCode::SUCCESS) };
    let named = environment.path_variable("CLAUDE_PROJECT_DIR");
    let root = question.root(named.as_deref(), &environment.directory);
    let in_force = in_force(&home, &root);
    let in_force = match (in_force, &arguments.for_hook) {
        (Ok(in_force), _) => in_force,
        (Err(error), None) => return Err(error.into()),
        // The rules are broken, and the agent waits: what was in force says what holds now.
        (Err(error), Some(_)) => match outage(&home, agent, &question, named.as_deref()) {
            Some(answer) => return say(&answer, output),
            None => return Err(error.into()),
        },
    };
    let InForce { policy, broken } = in_force;
    if let Some(broken) = broken {
        output.failure(&Failure::from(broken));
    }
    let around = Surroundings {
        project: root.to_str().map(str::to_owned),
        home: environment.user_home().ok().and_then(|home| home.to_str().map(str::to_owned)),
        now: LocalTime::of(environment).of_week(environment.now()),
    };
    let whose = question.whose().clone();
    let call = question.into_call(around);
    let verdict = policy.decide(&call, &NoHistory);
    let said = say(&answer(&call, &verdict), output)?;
    if arguments.for_hook.as_ref().is_some_and(|envelope| !envelope.is_empty()) {
        let (by, took) = (By::Guard, began.elapsed());
        let decision =
            Decision { whose: &whose, root: &root, verdict: &verdict, by, took, spent: Spent::default() };
        let nanos = u64::try_from(environment.now().0).unwrap_or(0).saturating_mul(1_000_000);
        decision::write_down(&decision, agent, &home, nanos);
    }
    if arguments.for_hook.is_some() && is_news(&home, &root) {
        // The next event is asked about because the table says so. What is wrong was told, and stays as it was.
        drop(refresh(&home, &environment.main_program(), &[root]));
    }
    Ok(said)
}

/// Whether the table does not know of the rules of a project, or cannot be read.
fn is_news(home: &Home, root: &Path) -> bool {
    match table::load(&home.policy_table()) {
        Ok(Some(bytes)) if table::Table::open(&bytes).is_err() => true,
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

/// What the table says of an outage; `None` if that is nothing.
fn outage(home: &Home, agent: Agent, question: &Question, named: Option<&Path>) -> Option<Answer> {
    let bytes = table::load(&home.policy_table()).ok()??;
    let table = table::Table::open(&bytes).ok()?;
    let told =
        |name: &str| question.whose().get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
    let named = named.map(|named| named.as_os_str().as_encoded_bytes()).unwrap_or_default();
    let asked = table.ask(&table::Question {
        agent: agent.as_str().as_bytes(),
        event: told("hook_event_name").as_bytes(),
        tool: told("tool_name").as_bytes(),
        directories: [named, told("cwd").as_bytes()],
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let row = asked.row;
    (row.outage > table::Outage::Allow).then(|| Answer {
        stdout: text(row.stdout),
        stderr: text(row.stderr),
        exit: row.exit,
    })
}
