//! The reader of a rollout: one row in, what it says out.

use std::borrow::Cow;

use agent_tracer_event::{Millis, Reading, Unrecognised};

use super::name::RolloutName;
use super::state::RolloutState;
use super::writer::RolloutWriter;
use super::{context, events, head, meta, responses, usage};
use crate::codex::wire::Members;
use crate::files::Rules;

/// Holds the result of reading a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    /// It is of a known type and says nothing new: it does not count as received.
    Skipped,
    /// It is a copy of a row of another thread: that thread's own file tells it.
    Copied,
    /// Nothing may be recorded of what happens in its working directory.
    Excluded,
    /// It is not a JSON object.
    Malformed,
    /// It says this.
    Read(Reading),
}

/// Reads the rows of one rollout in their order.
#[derive(Clone, Debug)]
pub struct RolloutReader {
    stem: String,
    state: RolloutState,
}

impl RolloutReader {
    /// Starts at the beginning of a file, which is known by its path or name.
    #[must_use]
    pub fn new(path: &str) -> Self {
        Self::resume(path, RolloutState::default())
    }

    /// Goes on where another reader of the same file stopped.
    #[must_use]
    pub fn resume(path: &str, mut state: RolloutState) -> Self {
        let stem = match RolloutName::parse(path) {
            Some(name) => {
                // After a revert the name holds two ids; the first one is the thread's.
                state.thread_id.get_or_insert_with(|| name.thread_id.to_owned());
                name.stem.to_owned()
            }
            None => {
                let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
                name.split('.').next().unwrap_or(name).to_owned()
            }
        };
        state.thread_id.get_or_insert_with(|| stem.clone());
        Self { stem, state }
    }

    /// Returns what to store beside the offset.
    #[must_use]
    pub fn state(&self) -> &RolloutState {
        &self.state
    }

    /// Returns the name of the row at an offset: the same wherever the file is moved, and for its compressed form.
    #[must_use]
    pub fn observation(&self, offset: u64) -> String {
        format!("{}@{offset}", self.stem)
    }

    /// Reads the next row. `arrived` is used only where the row has no time of its own and none came before it.
    pub fn read(&mut self, rules: &Rules<'_>, row: &[u8], offset: u64, arrived: Millis) -> Row {
        // Most bytes of a rollout are texts and results, and their type stands in front: such rows are not parsed at
        // all.
        if let Some(head) = head::head(row)
            && head::says_nothing(head.row, head.payload)
        {
            return if self.state.excluded { Row::Excluded } else { Row::Skipped };
        }
        let row = row.strip_prefix(b"\xef\xbb\xbf").unwrap_or(row);
        // Checking first is much cheaper than mending, and almost nothing needs mending.
        let text = std::str::from_utf8(row).map_or_else(|_| String::from_utf8_lossy(row), Cow::Borrowed);
        let Some(members) = Members::parse(&text) else { return Row::Malformed };
        let kind = members.word("type").unwrap_or_default();
        let payload = members.members("payload").unwrap_or_default();
        let written = members.text("timestamp").and_then(|time| Millis::parse(&time));
        let at = written.or(self.state.last_at).unwrap_or(arrived);
        self.state.first_at.get_or_insert(at);
        let row = self.write_row(rules, &kind, members.count("ordinal"), &payload, at, offset);
        self.state.last_at = Some(at);
        row
    }

    fn write_row(
        &mut self,
        rules: &Rules<'_>,
        kind: &str,
        ordinal: Option<u64>,
        payload: &Members<'_>,
        at: Millis,
        offset: u64,
    ) -> Row {
        if let (Some(start), Some(ordinal)) = (self.state.start_ordinal, ordinal)
            && self.state.named
            && ordinal < start
        {
            // A child of the second generation begins with its parent's rows, which the parent's own file tells.
            return Row::Copied;
        }
        if matches!(kind, "session_meta" | "turn_context")
            // A later `session_meta` is another thread's, whose directory must not decide about this one.
            && !(kind == "session_meta" && self.state.named)
            && let Some(cwd) = payload.word("cwd")
        {
            self.state.excluded = rules.excludes(&cwd);
        }
        let own = self.state.thread_id.clone().unwrap_or_default();
        let thread = payload.word("thread_id").map_or(own, |thread| rules.word(&thread));
        let turn = payload.word("turn_id").map(|turn| rules.word(&turn)).or_else(|| self.state.turn.clone());
        let mut writer = RolloutWriter {
            rules,
            observation: format!("{}@{offset}", self.stem),
            state: &mut self.state,
            thread,
            turn,
            at,
            offset,
            reading: Reading::default(),
        };
        if writer.state.copying {
            if meta::still_copying(&writer, kind, payload) {
                if let Some(info) = payload.members("info") {
                    // A copied total is where this thread's own begins, so it is remembered although the row is not
                    // read.
                    usage::difference(&mut writer, &info);
                }
                return Row::Copied;
            }
            writer.state.copying = false;
        }
        match kind {
            "session_meta" => meta::session_meta(&mut writer, payload),
            "turn_context" => meta::turn_context(&mut writer, payload),
            "event_msg" => events::event(&mut writer, payload),
            "response_item" => responses::response(&mut writer, payload),
            "token_usage_record" => usage::record(&mut writer, payload),
            "compacted" => context::compacted(&mut writer, payload),
            "retained_context" => context::retained(&mut writer, payload),
            other if head::says_nothing(other, None) => {}
            other => {
                let other = rules.word(other);
                writer.unknown(Unrecognised::Row(other));
            }
        }
        let reading = writer.reading;
        if self.state.excluded {
            return Row::Excluded;
        }
        if reading.entries.is_empty() && reading.unrecognised.is_empty() {
            return Row::Skipped;
        }
        Row::Read(reading)
    }
}
