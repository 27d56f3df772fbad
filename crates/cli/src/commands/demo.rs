//! `agent-tracer demo`: a server of its own, and recorded sessions that happen again in front of it.
//!
//! Law: starts in a folder of its own and leaves nothing behind, whatever ends it: the tellers end first, then the server,
//! then the folder goes.

mod host;

use std::process::ExitCode;

use agent_tracer_event::Agent;
use agent_tracer_intake::Stop;
use agent_tracer_server::LINK_MINUTES;

use crate::arguments::{Demo, Options};
use crate::demo::{Player, Stage, Tally, lay_down_history, lay_down_rules, stories};
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::output::Output;
use crate::{files, signals};
use host::Host;

/// The pause between two rounds, in milliseconds of the recording.
const PAUSE_MS: f64 = 8_000.0;

pub(super) fn run(
    arguments: &Demo,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    if options.home.is_some() {
        return Err(Failure::usage("`demo` makes its own home").hint("remove `--home`"));
    }
    let hook = environment.hook();
    if !files::is_executable(&hook) {
        return Err(Failure::new(format!("no hook binary at `{}`", hook.display()))
            .hint("the demo calls the real hook; put `agent-tracer-hook` beside `agent-tracer`, or run `make build`"));
    }
    let stories = stories()?;
    let stop = Stop::new();
    signals::request_on_end(&stop)?;
    let folder = tempfile::Builder::new()
        .prefix("agent-tracer-demo-")
        .tempdir()
        .map_err(|cause| Failure::new(format!("cannot make a folder for the demo: {}", plain(&cause))))?;
    // Links resolved: the server tells files of the agents by their real names.
    let real = folder.path().canonicalize().map_err(|cause| Failure::file("find", folder.path(), &cause))?;
    let stage = Stage::in_folder(&real);
    lay_down_rules(&stage)?;
    lay_down_history(&stories, &stage, environment.now(), arguments.days)?;
    let host = Host::start(&stage, arguments.listen)?;
    for line in greeting(&host, arguments, &real.display().to_string()) {
        output.say(&line)?;
    }
    let tally = Tally::default();
    let now = || environment.now();
    let player =
        Player { hook: &hook, stage: &stage, speed: arguments.speed, stop: &stop, now: &now, tally: &tally };
    let played = tell(&player, &stories, arguments.once, &host, output);
    let ended = host.end();
    folder
        .close()
        .map_err(|cause| Failure::new(format!("cannot remove `{}`: {}", real.display(), plain(&cause))))?;
    played?;
    ended?;
    output.say(&format!("stopped after {}; nothing is left behind", tally.words()))?;
    Ok(ExitCode::SUCCESS)
}

fn tell(
    player: &Player<'_>,
    stories: &[crate::demo::Story],
    once: bool,
    host: &Host,
    output: &mut Output,
) -> Result<(), Failure> {
    std::thread::scope(|scope| {
        // A server that ends by itself ends the demo.
        scope.spawn(|| host.watch(player.stop));
        let played = (1..).try_for_each(|round| {
            let last = player.round(stories, round).map(|()| once || player.pause(PAUSE_MS));
            match last {
                Ok(false) => Ok(()),
                Ok(true) => Err(None),
                Err(failure) => Err(Some(failure)),
            }
        });
        let mut result = match played {
            Err(Some(failure)) => Err(failure),
            Err(None) | Ok(()) => Ok(()),
        };
        if result.is_ok() && !player.stop.is_requested() {
            result = output.say(&format!("played once: {}; running until Ctrl-C", player.tally.words()));
            while result.is_ok() && !player.stop.wait(std::time::Duration::from_secs(3600)) {}
        }
        player.stop.request();
        result
    })
}

fn greeting(host: &Host, arguments: &Demo, folder: &str) -> Vec<String> {
    let pace = if arguments.speed == 1.0 {
        "as recorded".to_owned()
    } else {
        format!("{} times as fast as recorded", arguments.speed)
    };
    let until = if arguments.once { "once" } else { "again and again" };
    let agents: Vec<&str> = Agent::ALL.iter().map(|agent| agent.name()).collect();
    vec![
        format!("Agent Tracer demo: recorded sessions of {}, as if they happened now", agents.join(" and ")),
        String::new(),
        format!("  dashboard  {}", host.link()),
        format!(
            "             the link works once, for {LINK_MINUTES} minutes; afterwards {}/",
            host.origin()
        ),
        format!("  pace       {pace}, {until}"),
        format!("  data       {folder}, removed at the end"),
        "  stop       Ctrl-C".to_owned(),
        String::new(),
    ]
}
