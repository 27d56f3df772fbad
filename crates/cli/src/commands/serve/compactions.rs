//! Answers questions about compactions from the agents' own files.

use std::sync::Arc;

use agent_tracer_intake::PrivacyFile;
use agent_tracer_intake::files::{Root, open};
use agent_tracer_jobs::compaction::{ScanRequest, file, scan};
use agent_tracer_server::ReadCompactions;

use crate::failure::plain;

pub(super) fn reader(roots: Vec<Root>, privacy: &Arc<PrivacyFile>) -> ReadCompactions {
    let privacy = Arc::clone(privacy);
    Arc::new(move |task, seen, items| {
        let Some(found) = file::of_task(&roots, task) else { return Ok(None) };
        let privacy = privacy.current().map_err(|error| error.to_string())?;
        let level = privacy.config.level;
        let ask = ScanRequest { agent: task.agent, level, seen, items };
        let scanned = open(&found.path, found.file.form).and_then(|file| scan(file, &ask));
        scanned
            .map(Some)
            .map_err(|cause| format!("cannot read the agent's own file: {}", plain(&cause)).into())
    })
}
