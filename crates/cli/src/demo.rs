//! Replays recorded sessions of the real agents as if they happened now.
//!
//! Law: every replayed event went through the real clients and goes through the real hook; only ids, times and places
//! are new, because the same session cannot happen twice, and the limits of an account, because the recorded one had
//! none. Its rules rehearse and change nothing. Nothing is written outside the demo's own folder.

mod account;
mod player;
mod recording;
mod rewrite;

pub(crate) use player::{Player, Stage, Tally, lay_down_history, lay_down_rules};
pub(crate) use recording::{Story, stories};
