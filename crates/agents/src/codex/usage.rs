//! The usage of rollouts behind the common door.

use std::any::Any;
use std::collections::HashSet;
use std::io::{self, Read};
use std::path::Path;

use super::rollout::{RolloutResponse, RolloutScan};
use crate::sessions::SessionFile;
use crate::usage::{BilledTokens, ScannedResponse, UsageCollection, read_parts};

/// The usage of any number of rollouts.
#[derive(Default)]
pub(super) struct RolloutUsage {
    responses: Vec<RolloutResponse>,
}

impl UsageCollection for RolloutUsage {
    fn read(
        &mut self,
        path: &Path,
        _file: &SessionFile,
        bytes: &mut dyn Read,
        buffer: &mut [u8],
    ) -> io::Result<()> {
        let mut scan = RolloutScan::new(&path.to_string_lossy());
        let mut add = |response| self.responses.push(response);
        read_parts(bytes, buffer, |part| scan.push(part, &mut add))?;
        scan.finish(&mut add);
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn UsageCollection>) {
        let other: Box<dyn Any> = other;
        if let Ok(other) = other.downcast::<Self>() {
            self.responses.extend(other.responses);
        }
    }

    // A thread is in two files after it was archived while a copy stayed: its responses have the same keys there.
    fn responses(&self) -> Box<dyn Iterator<Item = ScannedResponse<'_>> + '_> {
        let mut seen: HashSet<(&str, &str)> = HashSet::new();
        let distinct =
            self.responses.iter().filter(move |response| seen.insert((&response.thread, &response.key)));
        Box::new(distinct.map(|response| ScannedResponse {
            session: &response.root,
            subagent: (response.thread != response.root).then_some(response.thread.as_str()),
            model: &response.model,
            project: Some(&response.cwd),
            at: Some(response.at),
            billed: BilledTokens { tokens: response.usage, ..BilledTokens::default() },
            cost_usd: None,
            service_tier: response.service_tier.as_deref(),
        }))
    }
}
