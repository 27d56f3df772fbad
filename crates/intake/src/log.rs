//! Log lines about files.
//!
//! Law: no line holds the path of a home. A file is named by its session, a folder by its path below the folder of the agent:
//! logs are copied into reports, and a path of a home names its owner.

use std::error::Error;
use std::io;
use std::path::Path;
use std::time::Duration;

use agent_tracer_agents::sessions::recognise;
use tracing::warn;

use crate::files::{ReadError, Root};

/// Logs that a file was not read, and the time until the next attempt.
pub(crate) fn warn_unread(error: &ReadError, pause: Option<Duration>) {
    let (path, attempt, pause) = match error {
        ReadError::Sink { path, .. } => (path, "store", pause),
        ReadError::Parked { path, pause, .. } => (path, "store", Some(*pause)),
        ReadError::File { path, .. } => (path, "read", pause),
    };
    // The session is in the name of the file, so no content is read for a log line.
    let file = recognise(None, path);
    let session = file.as_ref().and_then(|file| file.session.as_deref()).unwrap_or("unknown");
    let agent = file.as_ref().map(|file| file.agent.as_str());
    let cause = error.source().map(chain).unwrap_or_default();
    let retry_ms = pause.map(|pause| u64::try_from(pause.as_millis()).unwrap_or(u64::MAX));
    let retry = retry_ms.map(|ms| format!("; retrying in {ms} ms")).unwrap_or_default();
    warn!(
        session.id = %session,
        agent,
        retry_ms,
        error = %cause,
        "cannot {attempt} a file of session {session}: {cause}{retry}"
    );
}

/// Logs that a folder could not be listed.
pub(crate) fn warn_unlisted(roots: &[Root], folder: &Path, error: &io::Error) {
    let name = folder_name(roots, folder);
    warn!(folder = %name, error = %error, "cannot list folder `{name}`: {error}");
}

/// Returns a folder's path from the followed folder on: `projects/-srv-shop`.
pub(crate) fn folder_name(roots: &[Root], folder: &Path) -> String {
    let root = roots.iter().map(|root| root.folder.as_path()).find(|root| folder.starts_with(root));
    // Without a root only the last part is safe to write.
    let above = root.unwrap_or(folder).parent();
    above.and_then(|above| folder.strip_prefix(above).ok()).unwrap_or(Path::new("/")).display().to_string()
}

/// Returns an error with all of its causes.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use agent_tracer_event::Agent;

    use super::*;

    #[test]
    fn a_folder_is_named_without_the_home_above_it() {
        let roots = [Root::new(Agent::CLAUDE_CODE, "/home/dev/.claude/projects")];
        for (folder, name) in [
            ("/home/dev/.claude/projects", "projects"),
            ("/home/dev/.claude/projects/-srv-shop", "projects/-srv-shop"),
            ("/home/dev/elsewhere", "elsewhere"),
            ("/", "/"),
        ] {
            assert_eq!(folder_name(&roots, Path::new(folder)), name, "{folder}");
        }
    }
}
