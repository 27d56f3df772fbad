//! The usage of transcripts behind the common door.

use std::any::Any;
use std::io::{self, Read};
use std::path::Path;

use agent_tracer_event::Millis;

use super::transcript::usage::{ResponseSet, UsageScan, is_counted_cut_short};
use crate::sessions::SessionFile;
use crate::usage::{AccountCauses, ScannedAccount, ScannedResponse, UsageCollection, read_parts};

/// The usage of any number of transcripts.
#[derive(Default)]
pub(super) struct TranscriptUsage {
    responses: ResponseSet,
    unreadable: u64,
}

impl UsageCollection for TranscriptUsage {
    fn read(
        &mut self,
        _path: &Path,
        file: &SessionFile,
        bytes: &mut dyn Read,
        buffer: &mut [u8],
    ) -> io::Result<()> {
        let mut scan = UsageScan::new(file.into());
        read_parts(bytes, buffer, |part| scan.push(part, &mut self.responses))?;
        let counts = scan.finish(&mut self.responses);
        self.unreadable += counts.unreadable + counts.malformed;
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn UsageCollection>) {
        let other: Box<dyn Any> = other;
        if let Ok(other) = other.downcast::<Self>() {
            self.responses.merge(&other.responses);
            self.unreadable += other.unreadable;
        }
    }

    fn responses(&self) -> Box<dyn Iterator<Item = ScannedResponse<'_>> + '_> {
        Box::new(self.responses.responses())
    }

    fn unreadable(&self) -> u64 {
        self.unreadable
    }

    fn accounts(&self) -> Box<dyn Iterator<Item = (&str, &[ScannedAccount])> + '_> {
        Box::new(self.responses.accounts())
    }

    fn began(&self, session: &str) -> Option<Millis> {
        self.responses.began(session)
    }

    // Not noted while scanning: the scan skips these lines, and few sessions have an account that holds more.
    fn account_causes(&self, content: &[u8]) -> AccountCauses {
        let has = |needle: &[u8]| memchr::memmem::find(content, needle).is_some();
        AccountCauses {
            compacted: has(b"\"compact_boundary\""),
            searched: has(b"\"name\":\"WebSearch\""),
            cut_short: content.split(|byte| *byte == b'\n').any(is_counted_cut_short),
        }
    }
}
