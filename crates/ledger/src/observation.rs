//! The input of the ledger: observations that a reader has read.
//!
//! An observation has a name that stays the same however often it is appended, so that appending it twice changes
//! nothing. Sources that are read in parts (transcripts, rollouts) bring their new position in the same batch as the
//! rows before it: both are written, or neither.

use agent_tracer_event::{Agent, Channel, Millis, Outcome, Reading, TaskId};

/// Carries the result of reading an observation.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It was understood, at least in part.
    Read(Reading),
    /// It was not well-formed; why.
    Malformed(String),
    /// It was not allowed in; why.
    Refused(String),
}

/// One observation and what it says.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// Its name: the envelope's, or of a row the file and the offset. Never the same for two different observations.
    pub name: String,
    /// The source that it is a part of, if that can be read again as a whole: a file's name in [`Cursor::source`].
    pub source: Option<String>,
    /// The agent.
    pub agent: Agent,
    /// The channel that brought it.
    pub channel: Channel,
    /// The moment when it reached us.
    pub arrived: Millis,
    /// The content.
    pub verdict: Verdict,
    /// A hash of its bytes, where the same bytes within five seconds in one session are one event that came twice, and
    /// within twenty if both were posted over HTTP (Claude Code's hooks). Codex sends equal bytes for distinct calls,
    /// so its hooks have none.
    pub payload: Option<u64>,
    /// Its bytes after privacy, and what else reading it again would need. Kept for a while, compressed.
    pub kept: Option<Vec<u8>>,
}

/// The position up to which a source has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The source's name: for a file its path and what tells it from another file at the same path.
    pub source: String,
    /// The agent.
    pub agent: Agent,
    /// The number of bytes that have been read and reported.
    pub offset: u64,
    /// The state from which the reader resumes, opaque to the ledger.
    pub state: Vec<u8>,
    /// The state that is stored instead if all entries were deleted on purpose. It contains no text of the source.
    pub bare: Vec<u8>,
}

/// Observations and cursors that are written together or not at all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Observations, in the order of their source.
    pub observed: Vec<Observed>,
    /// New positions of sources.
    pub cursors: Vec<Cursor>,
    /// Rows of known types that say nothing: not received, only counted.
    pub skipped: u64,
    /// The observations are notes of our own about what is known already: nothing arrived, so nothing is counted.
    pub own: bool,
    /// The observations were brought before and are read anew: what they say now replaces what they said then.
    pub reread: bool,
}

/// The last moment that anything can be reported about: the beginning of 2100.
const LATEST: Millis = Millis(4_102_444_800_000);

impl Batch {
    /// Returns the same batch, with everything in a time that can be: from 1970 to 2100.
    ///
    /// Some clocks are wrong, and some who tell are hostile. One event in the year 1 would make every list of days
    /// begin there; so what cannot be is taken to have happened when it reached us.
    #[must_use]
    pub(crate) fn in_time(mut self) -> Self {
        for observed in &mut self.observed {
            let arrived = observed.arrived.clamp(Millis(0), LATEST);
            let Verdict::Read(reading) = &mut observed.verdict else { continue };
            for entry in &mut reading.entries {
                if !(Millis(0)..=LATEST).contains(&entry.occurred_at) {
                    // When it reached us is the best that is known. A moment far in the future would stand above
                    // everything else for ever.
                    entry.occurred_at = arrived;
                }
                entry.ended_at = entry.ended_at.filter(|at| (Millis(0)..=LATEST).contains(at));
            }
        }
        self
    }
}

/// Reports the outcome of a batch, which is on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// The outcome of each observation, in the batch's order; one that was not written is refused.
    pub outcomes: Vec<Outcome>,
    /// Observations that the store refused although it takes others: their indexes in the batch, and the reasons.
    /// Nothing of them is in the ledger, and the caller still has them.
    pub unwritten: Vec<(usize, String)>,
    /// Tasks that were seen for the first time.
    pub created: Vec<TaskId>,
    /// The newest place in the order of delivery.
    pub seq: u64,
}

#[cfg(test)]
mod tests {
    use agent_tracer_event::{Entry, Evidence, Kind, Phase, Subject, TaskKey};

    use super::*;

    #[test]
    fn what_happened_in_a_time_that_cannot_be_happened_when_it_reached_us() {
        let reported = |at: i64, ended: i64, arrived: i64| {
            let task = TaskKey::new(Agent::CODEX, "s");
            let subject = Subject::Event(Kind::UserMessage);
            let mut entry =
                Entry::new(subject, Phase::Open, task, "e", Millis(at), Evidence::measured("test"));
            entry.ended_at = Some(Millis(ended));
            let observed = Observed {
                name: "o".to_owned(),
                source: None,
                agent: Agent::CODEX,
                channel: Channel::Http,
                arrived: Millis(arrived),
                verdict: Verdict::Read(Reading { entries: vec![entry], ..Reading::default() }),
                payload: None,
                kept: None,
            };
            let batch = Batch { observed: vec![observed], ..Batch::default() }.in_time();
            match &batch.observed[0].verdict {
                Verdict::Read(reading) => (reading.entries[0].occurred_at.0, reading.entries[0].ended_at),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(reported(7, 8, 9), (7, Some(Millis(8))));
        assert_eq!(reported(-1, -1, 9), (9, None));
        assert_eq!(reported(LATEST.0 + 1, i64::MAX, 9), (9, None));
        assert_eq!(reported(i64::MIN, 8, -5), (0, Some(Millis(8))));
        assert_eq!(reported(i64::MAX, 8, i64::MAX), (LATEST.0, Some(Millis(8))));
    }
}
