//! The log of long-running commands: one line per event on standard error, as text or as JSON.
//!
//! Law: no line holds a payload, a prompt, a token, what a client sent or the path of a home. Only this project's events are
//! logged: libraries put addresses and statements into theirs. Each event is a sentence and, for queries, its values in
//! fields.

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
    let writer = LogWriter {
        home: environment.user_home().ok().and_then(|home| home.into_os_string().into_string().ok()),
    };
    let lines =
        tracing_subscriber::fmt::layer().with_writer(move || writer.clone()).log_internal_errors(false);
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

/// Writes lines to standard error, with `~` in place of the user's home.
///
/// Messages of other rooms name files by their whole path, which suits a terminal. A log is copied into reports, and the
/// path of a home names its owner.
#[derive(Clone)]
struct LogWriter {
    home: Option<String>,
}

impl io::Write for LogWriter {
    // The library passes each line in one call, so no path is split between two.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let text = match &self.home {
            Some(home) => abbreviate(&text, home),
            None => text.into_owned(),
        };
        io::stderr().lock().write_all(text.as_bytes()).map(|()| line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Returns a text with `~` for a home, wherever a path begins with it.
fn abbreviate(text: &str, home: &str) -> String {
    let home = home.trim_end_matches('/');
    if home.is_empty() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(home) {
        // `/home/dev` is neither in `/home/device` nor in `/mnt/home/dev`.
        let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
        let is_inside = before.ends_with(is_name) || after.starts_with(is_name);
        out.push_str(before);
        out.push_str(if is_inside { home } else { "~" });
        rest = after;
    }
    out.push_str(rest);
    out
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_home_is_abbreviated_and_other_paths_stay() {
        for (text, short) in [
            ("cannot read `/home/dev/.config/x`", "cannot read `~/.config/x`"),
            ("at /home/dev", "at ~"),
            ("\"/home/dev\",\"/home/dev/a\"", "\"~\",\"~/a\""),
            ("/home/device /mnt/home/dev /home/dev-2", "/home/device /mnt/home/dev /home/dev-2"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(abbreviate(text, "/home/dev"), short, "{text}");
            assert_eq!(abbreviate(text, "/home/dev/"), short, "{text}");
        }
        assert_eq!(abbreviate("/srv", "/"), "/srv");
    }
}
