//! Defines the arguments of `upgrade`.

use std::path::PathBuf;

use clap::Args;

/// Tells how to get a newer version, and replaces programs that no package manager owns
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer upgrade                           the version, how it came here, and the way to a newer one
  agent-tracer upgrade --from ~/Downloads        a folder with a release's tarball and its SHA256SUMS
  agent-tracer upgrade --from FILE --check       the version of that tarball, and no change
  agent-tracer upgrade --url ADDRESS             the latest release below this address

The sum of the tarball is checked and the new programs run once before anything is replaced; then both
are, or neither. Without `--from` and `--url` nothing is fetched: no address is built in.")]
pub(crate) struct Upgrade {
    /// A folder with a release, or its tarball with `SHA256SUMS` beside it
    #[arg(long, value_name = "DIR|FILE", conflicts_with = "url")]
    pub(crate) from: Option<PathBuf>,
    /// Address of the releases, below which `latest/download/FILE` is (also `$AGENT_TRACER_RELEASES`)
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) url: Option<String>,
    /// Compare the versions, and change nothing
    #[arg(long)]
    pub(crate) check: bool,
}
