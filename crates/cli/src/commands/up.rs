//! `agent-tracer up`: the server, the history and the dashboard by one word.
//!
//! Law: one server per home. If one runs, this only opens its dashboard. Else this process is `serve`, with a browser and a
//! line of progress in front of it.

mod progress;

use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use agent_tracer_event::Agent;
use agent_tracer_intake::Stop;
use agent_tracer_server::LINK_MINUTES;
use agent_tracer_spool::Home;

use super::serve;
use crate::arguments::{LogFormatName, LogLevelName, LogOptions, Options, Serve, Up};
use crate::browser::{self, NoBrowser};
use crate::connection::Connection;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::instance::Instance;
use crate::local_server;
use crate::log;
use crate::output::Output;

/// Time limit for a server that is starting to listen. Its store may have to be brought up to date first.
const START_LIMIT: Duration = Duration::from_secs(15);
/// Pause between two looks for its address.
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub(super) fn run(
    arguments: &Up,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (tracer, _) = environment.home(options.home.as_deref())?;
    if let Some(address) = running(&tracer) {
        let link = local_server::login_link(address, &tracer)?;
        let opened = open(&link, arguments, environment);
        output.say("Agent Tracer runs already")?;
        output.say("")?;
        return dashboard(&link, address, opened)
            .iter()
            .try_for_each(|line| output.say(line))
            .map(|()| ExitCode::SUCCESS);
    }
    let served = Serve::at(arguments.listen, log_options(&arguments.log, environment));
    let stop = Stop::new();
    let outcome = serve::run_reporting(&served, options, environment, output, &mut |ready, output| {
        let opened = open(ready.link, arguments, environment);
        for line in greeting(ready.link, ready.address, opened, environment) {
            output.say(&line)?;
        }
        progress::start(ready.history(), &stop)
    });
    stop.request();
    let code = outcome?;
    output.say("stopped; new events wait in the spool")?;
    Ok(code)
}

/// Returns the address of the server of a home. One that is starting is waited for.
fn running(home: &Home) -> Option<SocketAddr> {
    let begun = Instant::now();
    loop {
        let address = Instance::address(home);
        // Held without an address: a server is starting, so its address is waited for.
        if address.is_some() || !Instance::is_held(home) || begun.elapsed() > START_LIMIT {
            return address;
        }
        Stop::new().wait(LOOK_EVERY);
    }
}

/// Returns the log of the server: on a terminal problems alone, because the line of progress shows the rest.
fn log_options(given: &LogOptions, environment: &Environment) -> LogOptions {
    let is_chosen = given.log_level.is_some() || log::is_level_set(environment);
    let is_shown = io::stderr().is_terminal() && given.log_format == LogFormatName::Text;
    // On a terminal the lines of progress are the report; a log between them would tear them apart.
    let log_level = if is_shown && !is_chosen { Some(LogLevelName::Warn) } else { given.log_level };
    LogOptions { log_format: given.log_format, log_level }
}

fn open(link: &str, arguments: &Up, environment: &Environment) -> Result<(), NoBrowser> {
    if arguments.no_browser {
        return Err(NoBrowser::Unwanted);
    }
    if !io::stderr().is_terminal() {
        return Err(NoBrowser::Unattended);
    }
    browser::open(link, environment)
}

/// Returns the lines about the dashboard.
fn dashboard(link: &str, address: SocketAddr, opened: Result<(), NoBrowser>) -> Vec<String> {
    let mut lines = vec![format!("  dashboard  {link}")];
    match opened {
        Ok(()) => lines.push("             opened in your browser".to_owned()),
        Err(why) => {
            let reason = why.reason().map(|reason| format!("             {reason}: open the link yourself"));
            lines.extend(reason);
        }
    }
    lines.push(format!(
        "             the link works once, for {LINK_MINUTES} minutes; afterwards http://{address}/"
    ));
    lines
}

fn greeting(
    link: &str,
    address: SocketAddr,
    opened: Result<(), NoBrowser>,
    environment: &Environment,
) -> Vec<String> {
    let program = environment.program();
    let mut lines = vec!["Agent Tracer is running".to_owned(), String::new()];
    lines.extend(dashboard(link, address, opened));
    let unconnected =
        Agent::ALL.iter().filter(|agent| Connection::of(**agent, environment) == Connection::Absent);
    for (place, agent) in unconnected.enumerate() {
        let heading = if place == 0 { "connect" } else { "" };
        lines.push(format!("  {heading:<11}{program} install {}", agent.spec().word));
    }
    lines.extend([
        format!("  always     {program} service install"),
        "  stop       Ctrl-C; while it is off nothing is lost".to_owned(),
        String::new(),
    ]);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_comes_first_and_a_missing_browser_has_its_reason() {
        let address: SocketAddr = "127.0.0.1:4747".parse().expect("an address");
        let second = |opened| dashboard("http://127.0.0.1:4747/login?code=x", address, opened);
        assert_eq!(
            second(Err(NoBrowser::Remote)),
            [
                "  dashboard  http://127.0.0.1:4747/login?code=x",
                "             this shell is on another machine than your browser: open the link yourself",
                "             the link works once, for 10 minutes; afterwards http://127.0.0.1:4747/",
            ]
        );
        assert_eq!(second(Ok(())).get(1).map(|line| line.trim()), Some("opened in your browser"));
        assert_eq!(second(Err(NoBrowser::Unwanted)).len(), 2);
    }

    #[test]
    fn without_a_server_none_is_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        assert_eq!(running(&home), None);
    }
}
