//! Rollouts: the file in which Codex keeps a thread, `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`.
//!
//! One JSON object per line: `{"timestamp", "ordinal"?, "type", "payload", "metadata"?}`. [`RolloutReader`] takes the
//! lines in their order, one at a time, and says what each tells; what it must remember from one to the next is
//! [`RolloutState`], which is small and can be stored. So a file is read while it grows, is never held in memory and
//! need not be read again after a restart.
//!
//! The laws of this room:
//!
//! - The thread is the identity. It is named by the first `session_meta`; later ones belong to threads whose rows
//!   were copied into the file, and those rows are read from their own file.
//! - A fact has the key that hooks give it, wherever hooks tell of it at all.
//! - Nothing of a row is said unless it was asked for by name, and then only after [`Rules`].
//! - Every row ends as one [`Row`]: skipped, copied, excluded, malformed or read. No row is an error.

mod agents;
mod calls;
mod context;
mod ending;
mod events;
mod head;
mod items;
mod messages;
mod meta;
pub(super) mod name;
mod outputs;
mod patches;
mod reader;
mod responses;
mod rules;
mod scan;
mod servers;
mod snapshot;
mod state;
mod turns;
mod usage;
mod writer;

pub use crate::files::Rules;
pub use name::RolloutName;
pub use reader::{RolloutReader, Row};
pub use scan::{RolloutResponse, RolloutScan};
pub use state::{LastMessage, OpenCall, RolloutState, Totals};
