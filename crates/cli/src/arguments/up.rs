//! Defines the arguments of `up`.

use clap::Args;

use super::LogOptions;

/// Starts the server or finds the running one, and opens the dashboard
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer up                  record, read your history, and open the browser
  agent-tracer up --no-browser     print the link only
  agent-tracer up --listen 127.0.0.1:8080

The server runs until Ctrl-C. A second `up` opens the dashboard of the first and ends. The history is
read in the background, newest sessions first; it is read once, and a stop loses nothing. To have the
server always: `agent-tracer service install`.")]
pub(crate) struct Up {
    /// Address to listen on, unless a server runs already
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4747")]
    pub(crate) listen: std::net::SocketAddr,
    /// Print the link and open no browser
    #[arg(long)]
    pub(crate) no_browser: bool,
    #[command(flatten)]
    pub(crate) log: LogOptions,
}
