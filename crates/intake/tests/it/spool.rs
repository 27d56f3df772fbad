//! Envelopes in a real spool, brought to the sink.

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Agent, Channel, Millis};
use agent_tracer_intake::spool::{SpoolIntake, Step, StepError, run, wake};
use agent_tracer_intake::{Projects, Sink, Stop};
use agent_tracer_ledger::{AppendError, Verdict};
use agent_tracer_privacy::{Config, reduce};
use agent_tracer_spool::envelope::{self, Header};
use agent_tracer_spool::{Spool, doorbell};
use serde_json::Value;

use crate::fixtures::fixtures;
use crate::world::{Log, Recorder, World, without_projects};

const T0: u64 = 1_790_000_000_000_000_000;

fn spool(world: &World) -> Spool {
    Spool::at(&world.home().spool())
}

fn intake(world: &World) -> SpoolIntake {
    let sink: Arc<dyn Sink> = Arc::<Recorder>::clone(&world.sink);
    SpoolIntake::open(&spool(world), sink, Arc::new(Projects::new())).unwrap()
}

fn hook(agent: Agent, nanos: u64) -> Header<'static> {
    Header::new(agent, envelope::Channel::Hook, nanos)
}

fn accept(world: &World, header: &Header<'_>, body: &[u8]) {
    spool(world).prepare().unwrap();
    spool(world).accept(header, body, header.arrived_nanos, 812).unwrap();
}

fn waiting(world: &World) -> u64 {
    spool(world).stats().unwrap().waiting
}

fn claude(event: &str) -> Vec<u8> {
    format!(r#"{{"session_id":"5a13","hook_event_name":"{event}","cwd":"/nowhere/shop"}}"#).into_bytes()
}

fn drain(intake: &mut SpoolIntake) -> usize {
    let mut sum = 0;
    loop {
        let step = intake.step().unwrap();
        sum += step.envelopes;
        if step.is_empty {
            return sum;
        }
    }
}

#[test]
fn every_captured_hook_comes_through_the_spool_as_the_reader_reads_it() {
    let world = World::new();
    let mut paths = Vec::new();
    for version in
        ["claude-code/2.1.150", "claude-code/2.1.197", "claude-code/2.1.325", "claude-code/2.1.326"]
    {
        for folder in fs::read_dir(fixtures().join(version)).unwrap() {
            let path = folder.unwrap().path().join("hooks.jsonl");
            if path.exists() {
                paths.push((Agent::CLAUDE_CODE, path));
            }
        }
    }
    for version in ["codex/0.166.0/hooks", "codex/0.169.0/hooks"] {
        for path in fs::read_dir(fixtures().join(version)).unwrap() {
            paths.push((Agent::CODEX, path.unwrap().path()));
        }
    }
    assert!(paths.len() > 150, "{}", paths.len());
    let mut nanos = T0;
    let mut expected = Vec::new();
    for (agent, path) in paths {
        for line in fs::read_to_string(path).unwrap().lines() {
            nanos += 1_000_000;
            expected.push(send(&world, agent, nanos, line));
        }
    }
    let mut intake = intake(&world);
    assert_eq!(drain(&mut intake), expected.len());
    assert_eq!(waiting(&world), 0);
    for batch in world.sink.batches() {
        assert!(batch.observed.len() <= 1_024);
    }
    let verdicts: Vec<Verdict> =
        world.sink.observed().into_iter().map(|observed| without_projects(observed).1).collect();
    assert_eq!(verdicts.len(), expected.len());
    for (verdict, expected) in verdicts.into_iter().zip(expected) {
        assert_eq!(verdict, Verdict::Read(expected));
    }
}

/// Puts a captured payload into the spool as the hook would, and reads it as the reader does.
fn send(world: &World, agent: Agent, nanos: u64, line: &str) -> agent_tracer_event::Reading {
    let row: Value = serde_json::from_str(line).unwrap();
    let is_status_line = row.get("channel").is_some_and(|channel| channel == "statusline");
    let (source, privacy) = if is_status_line {
        (Source::StatusLine, agent_tracer_privacy::Source::StatusLine)
    } else {
        (Source::Hook, agent_tracer_privacy::Source::Hook(agent))
    };
    let mut body = Vec::new();
    let whole = serde_json::to_vec(&row["payload"]).unwrap();
    reduce(&whole, privacy, &Config::default(), &mut || [7; 16], &mut body);
    let mut header = hook(agent, nanos);
    if is_status_line {
        header.channel = envelope::Channel::Statusline;
    }
    header.pid = Some(4711);
    header.pid_start = Some(99);
    header.pid_namespace = Some(7);
    header.cwd = Some(Cow::Borrowed(b"/nowhere/shop"));
    header.env.push((Cow::Borrowed("CLAUDE_PROJECT_DIR"), Cow::Borrowed(b"/nowhere/shop")));
    let name = spool_name(world, &header, &body);
    let context = Context {
        cwd: Some("/nowhere/shop".into()),
        env: vec![("CLAUDE_PROJECT_DIR".into(), "/nowhere/shop".into())],
        pid: Some(4711),
        pid_start: Some(99),
        pid_namespace: Some(7),
        parent_pid: None,
        transcript: None,
    };
    read(&Observation {
        agent,
        channel: Channel::Hook,
        name: &name,
        arrived: Millis::from_nanos(nanos),
        source,
        body: &body,
        context: &context,
    })
}

fn spool_name(world: &World, header: &Header<'_>, body: &[u8]) -> String {
    spool(world).prepare().unwrap();
    spool(world).accept(header, body, header.arrived_nanos, 812).unwrap().name.to_string()
}

#[test]
fn a_crash_between_commit_and_acknowledgement_brings_the_same_names_again() {
    let world = World::new();
    let name = spool_name(&world, &hook(Agent::CLAUDE_CODE, T0), &claude("Stop"));
    let file = spool(&world).root().join("new").join(name);
    fs::hard_link(&file, world.path("as it was")).unwrap();
    assert_eq!(drain(&mut intake(&world)), 1);
    // The unlink was lost in a power cut.
    fs::rename(world.path("as it was"), &file).unwrap();
    assert_eq!(drain(&mut intake(&world)), 1);
    let observed = world.sink.observed();
    assert_eq!(observed[0], observed[1]);
    assert_eq!(waiting(&world), 0);
}

#[test]
fn unacknowledged_envelopes_are_delivered_again() {
    let world = World::new();
    accept(&world, &hook(Agent::CLAUDE_CODE, T0), &claude("Stop"));
    let mut dying = agent_tracer_spool::Drain::open(&spool(&world)).unwrap();
    assert_eq!(dying.next_batch(10, 1 << 20).unwrap().envelopes.len(), 1);
    drop(dying);
    assert_eq!(drain(&mut intake(&world)), 1);
}

#[test]
fn a_sink_that_takes_nothing_leaves_everything_in_the_spool() {
    let world = World::new();
    for number in 0..3 {
        accept(&world, &hook(Agent::CLAUDE_CODE, T0 + number), &claude("Stop"));
    }
    let mut intake = intake(&world);
    for error in [AppendError::DiskFull, AppendError::Closed, AppendError::Store("odd".into())] {
        world.sink.refuse(error.clone());
        match intake.step() {
            Err(StepError::Sink(refused)) => assert_eq!(refused, error),
            other => panic!("{other:?}"),
        }
        assert_eq!(waiting(&world), 3);
        assert_eq!(world.sink.observed(), []);
    }
    assert_eq!(intake.counts().failures(), 3);
    assert_eq!(drain(&mut intake), 3);
    assert_eq!(waiting(&world), 0);
    let projects: Vec<bool> = world
        .sink
        .observed()
        .iter()
        .map(|observed| format!("{:?}", observed.verdict).contains("\"project\""))
        .collect();
    assert_eq!(projects, [true, true, true], "what was refused is not believed to be known");
    accept(&world, &hook(Agent::CLAUDE_CODE, T0 + 9), &claude("Stop"));
    assert_eq!(drain(&mut intake), 1);
    assert!(!format!("{:?}", world.sink.observed()[3].verdict).contains("\"project\""));
}

#[test]
fn bytes_that_are_no_json_are_malformed_and_files_that_are_no_envelope_are_put_aside() {
    let world = World::new();
    accept(&world, &hook(Agent::CLAUDE_CODE, T0), b"{not json");
    accept(&world, &hook(Agent::CODEX, T0 + 1), b"");
    let mut fault = hook(Agent::CLAUDE_CODE, T0 + 2);
    fault.fault = Some(envelope::Fault { what: "oversize".into(), at: 77 });
    accept(&world, &fault, b"");
    accept(&world, &hook(Agent::CLAUDE_CODE, T0 + 3), b"[1, 2]");
    accept(&world, &hook(Agent::CLAUDE_CODE, T0 + 4), br#"{"hook_event_name":"FromTheFuture"}"#);
    let torn = spool(&world).root().join("new").join(format!("{:020}-1-0", T0 + 5));
    world.put("torn", b"agent-tracer-envelope 1\nagent: claude");
    fs::set_permissions(world.path("torn"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    fs::rename(world.path("torn"), torn).unwrap();
    let mut intake = intake(&world);
    let step = intake.step().unwrap();
    assert_eq!(step, Step { envelopes: 5, refused: 1, unwritten: 0, is_empty: true });
    assert_eq!(intake.counts().refused(), 1);
    assert_eq!(spool(&world).stats().unwrap().quarantined, 1);
    let verdicts: Vec<Verdict> = world.sink.observed().into_iter().map(|observed| observed.verdict).collect();
    assert_eq!(verdicts[0], Verdict::Malformed("not JSON".into()));
    assert_eq!(verdicts[1], Verdict::Malformed("not JSON".into()));
    assert_eq!(verdicts[2], Verdict::Malformed("oversize at byte 77".into()));
    for kept in &verdicts[3..] {
        assert!(matches!(kept, Verdict::Read(reading) if !reading.entries.is_empty()), "{kept:?}");
    }
}

#[test]
fn only_hooks_of_claude_code_have_a_hash_and_everything_can_be_read_again() {
    let world = World::new();
    accept(&world, &hook(Agent::CLAUDE_CODE, T0), &claude("Stop"));
    accept(&world, &hook(Agent::CLAUDE_CODE, T0 + 1), &claude("Stop"));
    accept(&world, &hook(Agent::CLAUDE_CODE, T0 + 2), &claude("Setup"));
    accept(&world, &hook(Agent::CODEX, T0 + 3), &claude("Stop"));
    let mut line = hook(Agent::CLAUDE_CODE, T0 + 4);
    line.channel = envelope::Channel::Statusline;
    accept(&world, &line, br#"{"session_id":"5a13"}"#);
    drain(&mut intake(&world));
    let observed = world.sink.observed();
    assert!(observed[0].payload.is_some());
    assert_eq!(observed[0].payload, observed[1].payload);
    assert_ne!(observed[0].payload, observed[2].payload);
    assert_eq!((observed[3].payload, observed[4].payload), (None, None));
    for observed in &observed {
        let kept = envelope::parse(observed.kept.as_deref().unwrap()).unwrap();
        assert_eq!(Millis::from_nanos(kept.header.arrived_nanos), observed.arrived);
        assert!(kept.body.starts_with(b"{\"session_id\""));
    }
}

#[test]
fn a_running_intake_answers_the_bell_survives_a_full_disk_and_drains_before_it_ends() {
    let world = World::new();
    world.sink.refuse(AppendError::DiskFull);
    let stop = Stop::new();
    let log = Log::of_process();
    let thread = {
        let (intake, home, clock, stop) = (intake(&world), world.home(), world.clock(), stop.clone());
        std::thread::spawn(move || run(intake, &home, &clock, &stop))
    };
    accept(&world, &hook(Agent::CLAUDE_CODE, T0), &claude("Stop"));
    doorbell::ring(&world.home());
    world.sink.wait_until("the first after a refusal", |batches| batches.len() == 1);
    let refusals = log.lines("the disk is full; retrying in ");
    let has_fields = |line: &Value| {
        line["retry_ms"].is_u64()
            && line["error"].as_str().is_some_and(|text| text.ends_with("the disk is full"))
    };
    assert!(!refusals.is_empty() && refusals.iter().all(has_fields), "{}", log.text());
    accept(&world, &hook(Agent::CLAUDE_CODE, T0 + 1), &claude("Stop"));
    stop.request();
    wake(&world.home());
    thread.join().unwrap();
    assert_eq!(world.sink.observed().len(), 2);
    assert_eq!(waiting(&world), 0);
    assert!(!Path::new(&world.home().doorbell()).exists());
}

#[test]
fn a_spool_has_one_drain() {
    let world = World::new();
    let first = intake(&world);
    let sink: Arc<dyn Sink> = Arc::<Recorder>::clone(&world.sink);
    assert!(SpoolIntake::open(&spool(&world), sink, Arc::new(Projects::new())).is_err());
    drop(first);
    intake(&world);
}

#[test]
fn the_processes_of_sessions_are_known_until_the_sessions_end() {
    let world = World::new();
    let mut intake = intake(&world);
    let mut nanos = T0;
    let mut send = |intake: &mut SpoolIntake, body: String, pid: u32| {
        nanos += 1;
        let mut header = hook(Agent::CLAUDE_CODE, nanos);
        (header.pid, header.pid_start, header.pid_namespace) = (Some(pid), Some(9), Some(7));
        accept(&world, &header, body.as_bytes());
        drain(intake);
        let mut running: Vec<String> = intake
            .processes()
            .list()
            .into_iter()
            .map(|it| format!("{} {}", it.task.runtime_session, it.pid))
            .collect();
        running.sort();
        running
    };
    let event = |session: &str, event: &str, more: &str| {
        format!(r#"{{"session_id":"{session}","hook_event_name":"{event}"{more}}}"#)
    };
    send(&mut intake, event("one", "SessionStart", ""), 10);
    send(&mut intake, event("one", "SubagentStart", r#","agent_id":"a1","agent_type":"Explore""#), 10);
    let both = send(&mut intake, event("two", "SessionStart", ""), 11);
    assert_eq!(both, ["one 10", "sub--a1 10", "two 11"]);
    let resumed = send(&mut intake, event("two", "SessionStart", ""), 12);
    assert_eq!(resumed, ["one 10", "sub--a1 10", "two 12"]);
    assert_eq!(send(&mut intake, event("one", "SessionEnd", ""), 10), ["two 12"]);
}

#[test]
fn an_envelope_that_the_sink_does_not_take_is_put_aside_and_the_others_go_on() {
    let world = World::new();
    for number in 0..3 {
        accept(&world, &hook(Agent::CLAUDE_CODE, T0 + number), &claude("SessionStart"));
    }
    let poison = (T0 + 1).to_string();
    world.sink.poison(Some(&poison));
    let mut intake = intake(&world);
    let step = intake.step().unwrap();
    assert_eq!((step.envelopes, step.unwritten), (3, 1));
    assert_eq!((intake.counts().unwritten(), intake.counts().failures()), (1, 0));
    assert_eq!((waiting(&world), world.sink.observed().len()), (0, 2));
    let letters = spool(&world).dead_letters(9).unwrap();
    assert!(letters.len() == 1 && letters[0].reason.ends_with("a page is damaged"), "{letters:?}");

    // The next start tries it again, when the cause is gone.
    world.sink.poison(None);
    let stop = Stop::new();
    stop.request();
    run(intake, &world.home(), &world.clock(), &stop);
    assert_eq!(world.sink.observed().len(), 3);
    assert!(spool(&world).dead_letters(9).unwrap().is_empty());
}

#[test]
fn a_sink_that_takes_nothing_leaves_the_spool_as_it_is() {
    for error in [AppendError::DiskFull, AppendError::ReadOnly, AppendError::Store("disk I/O error".into())] {
        let world = World::new();
        accept(&world, &hook(Agent::CLAUDE_CODE, T0), &claude("SessionStart"));
        world.sink.refuse(error.clone());
        let mut intake = intake(&world);
        assert!(matches!(intake.step(), Err(StepError::Sink(said)) if said == error));
        assert_eq!((waiting(&world), spool(&world).stats().unwrap().quarantined), (1, 0));
    }
}

#[test]
fn a_backlog_is_brought_in_larger_batches() {
    let world = World::new();
    let mut intake = intake(&world);
    let fill = |from: u64, count: u64| {
        for number in from..from + count {
            accept(&world, &hook(Agent::CLAUDE_CODE, T0 + number), &claude("SessionStart"));
        }
    };
    let sizes = |intake: &mut SpoolIntake| {
        let mut sizes = Vec::new();
        loop {
            let step = intake.step().unwrap();
            sizes.push(step.envelopes);
            if step.is_empty {
                return sizes;
            }
        }
    };
    fill(0, 3_000);
    assert_eq!(sizes(&mut intake), [256, 512, 1_024, 1_024, 184]);
    fill(3_000, 300);
    assert_eq!(sizes(&mut intake), [256, 44]);
    assert_eq!(waiting(&world), 0);
}
