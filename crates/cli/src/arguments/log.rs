//! Defines the options of the log.

use clap::{Args, ValueEnum};

/// Chooses what a long-running command logs, and how.
#[derive(Debug, Args)]
pub(crate) struct LogOptions {
    /// Format of the log on standard error
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormatName,
    /// Least severe level to log; by default that of `$AGENT_TRACER_LOG`, else `info`
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log_level: Option<LogLevelName>,
}

/// Lists the formats of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormatName {
    /// A line for people
    Text,
    /// A JSON object per line
    Json,
}

/// Lists the levels of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevelName {
    /// Nothing
    Off,
    /// Failures of the server
    Error,
    /// Problems and slow requests as well
    Warn,
    /// Normal operation as well
    Info,
    /// Refused requests as well
    Debug,
    /// Everything
    Trace,
}
