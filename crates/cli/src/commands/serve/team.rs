//! A team's server: nothing of this machine is read, everything is in the store.

use std::process::ExitCode;
use std::sync::Arc;

use agent_tracer_fleet::team::Team;
use agent_tracer_intake::Clock;
use agent_tracer_server::{Config, Proxy, ServeError, owner_token, serve};
use tracing::{info, warn};

use super::explained;
use crate::arguments::{LogFormatName, Options, Serve};
use crate::commands::token::fleet;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::{dashboard, home, signals};

/// A follower that was away for so long still gets every row: places are milliseconds here.
const CATCH_UP_MS: u64 = 3_600_000;

pub(super) fn run(
    arguments: &Serve,
    address: &str,
    options: &Options,
    environment: &Environment,
    clock: Clock,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (tracer, named) = environment.home(options.home.as_deref())?;
    if let Some(mended) = home::prepare(&tracer, named.is_none())? {
        warn!(repair = "hash key", "{mended}");
    }
    let fleet = fleet(environment, address, arguments.cluster.as_deref())?;
    let team = Team::start(fleet, clock).map_err(|error| explained(&error))?;
    let mut config = Config::new(owner_token(&tracer.token()).map_err(|error| explained(&error))?);
    config.listen = arguments.listen;
    config.names.clone_from(&arguments.name);
    config.time_zone = environment.time_zone();
    config.limits.catch_up_rows = CATCH_UP_MS;
    config.proxy = proxy(arguments, environment)?;
    let deps = team.deps(Arc::new(dashboard::file));
    let server = match serve(config.clone(), deps.clone()) {
        // The system may have a zone that this program does not know. Times in UTC are better than no server.
        Err(ServeError::NoSuchZone(_)) => {
            config.time_zone = None;
            serve(config, deps)
        }
        other => other,
    };
    let server = server.map_err(|error| explained(&error))?;
    match arguments.log.log_format {
        LogFormatName::Json => info!(address = %server.address(), "serving a team at {}", server.address()),
        LogFormatName::Text => output.say(&format!(
            "serving a team at http://{}; `agent-tracer token` manages access",
            server.address()
        ))?,
    }
    let signal = signals::wait()?;
    signals::release();
    info!(signal, "{signal}: stopping");
    server.stop();
    team.stop();
    Ok(ExitCode::SUCCESS)
}

/// The fewest characters of a secret that a proxy and the server share.
const FEWEST: usize = 24;

/// Returns the trusted proxy and whom it may name, if there is one.
fn proxy(arguments: &Serve, environment: &Environment) -> Result<Option<Proxy>, Failure> {
    let Some(header) = &arguments.proxy_header else { return Ok(None) };
    let is_name = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-' || letter == b'_';
    if header.is_empty() || !header.bytes().all(is_name) {
        return Err(Failure::usage(format!("`{header}` is not a header name")));
    }
    let secret =
        environment.variable("AGENT_TRACER_PROXY_SECRET").and_then(|secret| secret.into_string().ok());
    let secret =
        secret.filter(|secret| secret.len() >= FEWEST && secret.bytes().all(|byte| byte.is_ascii_graphic()));
    let Some(secret) = secret else {
        return Err(Failure::usage("`--proxy-header` needs a secret that only the proxy knows").hint(format!(
            "put {FEWEST} or more random letters into `$AGENT_TRACER_PROXY_SECRET`, and let the proxy send them as `X-Agent-Tracer-Proxy-Secret`"
        )));
    };
    Ok(Some(Proxy {
        header: header.clone(),
        secret,
        from: arguments.proxy_from.clone(),
        admins: arguments.admin.clone(),
    }))
}
