//! Holds the state of a rollout's reader between two rows.
//!
//! Small and serialisable: it is stored beside the offset, so that reading goes on after a restart as if it had
//! never stopped. Everything in it is bounded, whatever the file holds, and nothing in it is content that privacy
//! would not let through.

use agent_tracer_event::semantics::SubtypeKey;
use agent_tracer_event::{Kind, Millis};
use serde::{Deserialize, Serialize};

/// The most calls without an outcome that are remembered.
// A turn has a few calls at once. Those that never end (denied, cut off) have to leave by themselves.
const OPEN_CALLS: usize = 64;
/// The longest id that is remembered; Codex's have at most 45 characters.
const ID_BYTES: usize = 256;

/// Describes what is known of a rollout so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RolloutState {
    /// The thread that the file belongs to, from its first `session_meta`, else from its name.
    pub thread_id: Option<String>,
    /// True if `session_meta` was read: only the first one names the file's thread.
    pub named: bool,
    /// The root of the tree that the thread belongs to.
    pub root_session: Option<String>,
    /// The thread that spawned this one.
    pub parent_thread: Option<String>,
    /// The type of the agent: `main`, or the role of a subagent.
    pub agent_type: Option<String>,
    /// True if the thread is a helper of the client's own, whose prompts quote what tools gave back.
    pub helper: bool,
    /// `paginated` or `legacy`.
    pub history_mode: Option<String>,
    /// Rows before this ordinal are copies of the parent's.
    pub start_ordinal: Option<u64>,
    /// True if the rows being read are copies of another thread's, in a file without ordinals.
    pub copying: bool,
    /// True if the thread began as a fork, so that its totals begin with those of its base.
    pub forked: bool,
    /// The time of the first row.
    pub first_at: Option<Millis>,
    /// The time of the last row that had one.
    pub last_at: Option<Millis>,
    /// True if nothing may be recorded because the working directory is excluded.
    pub excluded: bool,
    /// The working directory.
    pub cwd: Option<String>,
    /// The model of the current turn.
    pub model: Option<String>,
    /// The service that was asked for, unless it is the ordinary one.
    pub service_tier: Option<String>,
    /// Holds the time at which the user is asked: `never`, `on-request`, …
    pub approval_policy: Option<String>,
    /// The generation of agent tools: `v1`, `v2`, `disabled`.
    pub multi_agent_version: Option<String>,
    /// The turn that is running or ended last.
    pub turn: Option<String>,
    /// True if the file tells when turns begin; old ones do not.
    pub tells_turns: bool,
    /// Holds how many prompts the current turn has had: a second one steers.
    pub prompts: u32,
    /// True if a title was given.
    pub titled: bool,
    /// Holds how many times the current turn was compacted.
    pub compactions: u32,
    /// The turn that was cut off last.
    pub aborted_turn: Option<String>,
    /// The turn that ended by itself last.
    pub completed_turn: Option<String>,
    /// True if a `token_usage_record` was seen: from then on the totals are not needed.
    pub has_records: bool,
    /// The thread's cumulative usage as last reported.
    pub totals: Option<Totals>,
    /// A hash of the last context snapshot: equal ones are not repeated.
    pub snapshot: Option<u64>,
    /// Holds what the agent said last: an answer if the turn ends or a hook sends the agent on, else commentary.
    pub said: Option<LastMessage>,
    /// The turn in which a hook sent the agent on last.
    pub sent_on_turn: Option<String>,
    /// Calls that have no outcome yet, oldest first.
    pub calls: Vec<OpenCall>,
}

/// Cumulative usage, as Codex counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Totals {
    /// Input, cached included.
    pub input: u64,
    /// Of which read from a cache.
    pub cached: u64,
    /// Of which written to a cache.
    pub cache_written: u64,
    /// Output, reasoning included.
    pub output: u64,
    /// Of which reasoning.
    pub reasoning: u64,
    /// All of it.
    pub total: u64,
}

/// A message of the agent that may turn out to be commentary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LastMessage {
    /// The agent's id of the message, or the name of the row.
    pub id: String,
    /// The turn in which it was said.
    pub turn: Option<String>,
    /// Holds the time.
    pub at: Option<Millis>,
    /// The text, after privacy, at level `full`: only there may it be commentary.
    pub text: Option<String>,
    /// The key that it has as an answer.
    pub key: String,
    /// Its size.
    pub bytes: u64,
    /// True if the client calls it an answer, so that it is no commentary whatever follows.
    pub is_final: bool,
}

/// A call that has no outcome yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenCall {
    /// The id that the hook, the call and its outcome share.
    pub id: String,
    /// The tool, by the name that hooks have for it.
    pub tool: String,
    /// The kind of its event.
    pub kind: Kind,
    /// Holds what it does, as far as that decides how much its end matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtype: Option<SubtypeKey>,
    /// True if an item reported its outcome: then its output adds nothing.
    #[serde(default, rename = "told")]
    pub is_reported: bool,
    /// The command or script that goes on: of the call that started it, and of a call that polls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// The role of the agent that it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// True if it asks for more than the sandbox allows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalates: bool,
}

impl RolloutState {
    /// Remembers a call until its outcome is known.
    pub(super) fn open(&mut self, call: OpenCall) {
        // Forgotten and not cut: a cut id would join calls that differ.
        if call.id.len() > ID_BYTES {
            return;
        }
        self.calls.retain(|open| open.id != call.id);
        if self.calls.len() >= OPEN_CALLS {
            self.calls.remove(0);
        }
        self.calls.push(call);
    }

    /// Returns the call with this id, if it is remembered.
    pub(super) fn call(&mut self, id: &str) -> Option<&mut OpenCall> {
        self.calls.iter_mut().find(|open| open.id == id)
    }

    /// Forgets a call and says what was known of it.
    pub(super) fn close(&mut self, id: &str) -> Option<OpenCall> {
        let at = self.calls.iter().position(|open| open.id == id)?;
        Some(self.calls.remove(at))
    }

    /// Returns the call whose command runs as this process.
    pub(super) fn process(&mut self, process: &str) -> Option<&mut OpenCall> {
        self.calls.iter_mut().find(|open| open.process.as_deref() == Some(process))
    }

    /// Returns whether a hook sent the agent on in this turn.
    pub(super) fn is_sent_on(&self, turn: &str) -> bool {
        self.sent_on_turn.as_deref() == Some(turn)
    }

    /// Makes a turn the current one; says whether it was not.
    pub(super) fn enter_turn(&mut self, turn: &str) -> bool {
        if self.turn.as_deref() == Some(turn) {
            return false;
        }
        self.turn = Some(turn.to_owned());
        self.prompts = 0;
        self.compactions = 0;
        true
    }
}

impl Totals {
    /// Returns what was used since `earlier`; nothing if the count went back or stood still.
    pub(super) fn since(&self, earlier: &Self) -> Option<Self> {
        let used = Self {
            input: self.input.checked_sub(earlier.input)?,
            cached: self.cached.saturating_sub(earlier.cached),
            cache_written: self.cache_written.saturating_sub(earlier.cache_written),
            output: self.output.checked_sub(earlier.output)?,
            reasoning: self.reasoning.saturating_sub(earlier.reasoning),
            total: self.total.saturating_sub(earlier.total),
        };
        // `token_count` repeats equal rows.
        (used.input > 0 || used.output > 0).then_some(used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> OpenCall {
        OpenCall {
            id: id.into(),
            tool: "Bash".into(),
            kind: Kind::TerminalCommand,
            subtype: None,
            is_reported: false,
            process: None,
            role: None,
            escalates: false,
        }
    }

    #[test]
    fn calls_that_never_end_are_forgotten_oldest_first() {
        let mut state = RolloutState::default();
        for number in 0..1000 {
            state.open(call(&number.to_string()));
        }
        assert_eq!(state.calls.len(), OPEN_CALLS);
        assert_eq!(state.close("935"), None);
        assert_eq!(state.close("999"), Some(call("999")));
        assert_eq!(state.close("999"), None);
        state.open(call(&"x".repeat(ID_BYTES + 1)));
        assert_eq!(state.calls.len(), OPEN_CALLS - 1);
    }

    #[test]
    fn a_call_is_remembered_once() {
        let mut state = RolloutState::default();
        state.open(call("a"));
        state.open(call("a"));
        assert_eq!(state.calls.len(), 1);
    }

    #[test]
    fn a_turn_that_is_announced_again_goes_on_counting() {
        let mut state = RolloutState::default();
        assert!(state.enter_turn("one"));
        state.prompts = 2;
        state.compactions = 1;
        assert!(!state.enter_turn("one"));
        assert_eq!((state.prompts, state.compactions), (2, 1));
        assert!(state.enter_turn("two"));
        assert_eq!((state.prompts, state.compactions), (0, 0));
    }

    #[test]
    fn state_survives_a_restart_and_a_newer_version() {
        let mut state = RolloutState { thread_id: Some("t".into()), prompts: 2, ..RolloutState::default() };
        state.open(call("a"));
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<RolloutState>(&text).unwrap(), state);
        let newer: RolloutState = serde_json::from_str(r#"{"threadId":"t","later":[1]}"#).unwrap();
        assert_eq!(newer.thread_id.as_deref(), Some("t"));
    }

    #[test]
    fn a_count_that_goes_back_is_no_usage() {
        let earlier = Totals { input: 10, output: 5, total: 15, ..Totals::default() };
        let later = Totals { input: 12, output: 5, total: 17, ..Totals::default() };
        assert_eq!(later.since(&earlier), Some(Totals { input: 2, total: 2, ..Totals::default() }));
        assert_eq!(earlier.since(&later), None);
        assert_eq!(earlier.since(&earlier), None);
    }
}
