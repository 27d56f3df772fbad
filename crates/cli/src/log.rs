//! The log of long-running commands: one line per event on standard error, as text or as JSON.
//!
//! Law: no line holds a payload, a prompt, a token or what a client sent. Only this project's events are logged: libraries
//! put addresses and statements into theirs.

use std::fmt;
use std::io;
use std::sync::Arc;

use agent_tracer_intake::Clock;
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

use crate::arguments::{LogFormatName, LogLevelName, LogOptions};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::printable;

/// The variable with the level where the command line has none.
const VARIABLE: &str = "AGENT_TRACER_LOG";

/// The beginning of the targets of this project's events.
const OWN: &str = "agent_tracer";

/// Starts the log of this process.
pub(crate) fn start(options: &LogOptions, environment: &Environment, clock: &Clock) -> Result<(), Failure> {
    let level = match options.log_level {
        Some(level) => level,
        None => level_of(environment)?,
    };
    let filter = Targets::new().with_target(OWN, filter(level));
    let timer = Timer(Arc::clone(clock));
    // A log without a reader must not end the server, and the library would print that it has none.
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).log_internal_errors(false);
    let lines = match options.log_format {
        LogFormatName::Text => lines.event_format(TextLine(timer)).boxed(),
        LogFormatName::Json => {
            let lines = lines.json().flatten_event(true).with_timer(timer);
            lines.with_current_span(false).with_span_list(false).boxed()
        }
    };
    let subscriber = tracing_subscriber::registry().with(lines.with_filter(filter));
    tracing::subscriber::set_global_default(subscriber)
        .map_err(|_| Failure::new("cannot start the log: it was started before"))
}

/// Returns `true` if the environment names a level.
pub(crate) fn is_level_set(environment: &Environment) -> bool {
    environment.variable(VARIABLE).is_some()
}

/// Returns the level that the environment names.
fn level_of(environment: &Environment) -> Result<LogLevelName, Failure> {
    let Some(value) = environment.variable(VARIABLE) else { return Ok(LogLevelName::Info) };
    let value = value.to_string_lossy();
    <LogLevelName as clap::ValueEnum>::from_str(&value, true).map_err(|_| {
        Failure::usage(format!("invalid log level `{value}` in `${VARIABLE}`"))
            .hint("use `off`, `error`, `warn`, `info`, `debug` or `trace`")
    })
}

fn filter(level: LogLevelName) -> LevelFilter {
    match level {
        LogLevelName::Off => LevelFilter::OFF,
        LogLevelName::Error => LevelFilter::ERROR,
        LogLevelName::Warn => LevelFilter::WARN,
        LogLevelName::Info => LevelFilter::INFO,
        LogLevelName::Debug => LevelFilter::DEBUG,
        LogLevelName::Trace => LevelFilter::TRACE,
    }
}

/// Writes the time of a line.
struct Timer(Clock);

impl FormatTime for Timer {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{}", (self.0)())
    }
}

/// Writes an event as `<time> <level>: <message> <field>=<value> …`.
struct TextLine(Timer);

impl<S, N> FormatEvent<S, N> for TextLine
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = String::new();
        context.format_fields(Writer::new(&mut fields), event)?;
        self.0.format_time(&mut writer)?;
        let line = printable(&fields).replace('\n', " ");
        writeln!(writer, " {}: {line}", name(*event.metadata().level()))
    }
}

fn name(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warning",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}
