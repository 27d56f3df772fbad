//! What may be recorded of an agent's own files.
//!
//! They hold what hooks never show: whole outputs, contents of files, images, system prompts. So the rules of the hooks
//! hold here too, in memory, before anything is said: a reader asks for a member by name, and that member passes
//! through [`agent_tracer_privacy`] in the words of the hook that tells of the same thing.

use agent_tracer_privacy::{Config, Level, mask};

use crate::text;

/// The most characters of a name, a path or another short text.
const WORD_CHARS: usize = 1024;

/// What may be recorded, and how.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// The user's `privacy.conf`.
    pub config: &'a Config,
    /// The key of this home under which contents of files are hashed.
    pub hash_key: [u8; 16],
    /// The user's home, for patterns that begin with `~/`.
    pub home_dir: Option<&'a [u8]>,
}

impl Rules<'_> {
    /// The level at which texts are kept.
    pub(crate) fn level(&self) -> Level {
        self.config.level
    }

    /// Whether nothing of what happens in this directory may be recorded.
    pub(crate) fn excludes(&self, directory: &str) -> bool {
        self.config.excludes(directory.as_bytes(), self.home_dir)
    }

    /// A name, path, branch or another short text that stays at every level, masked.
    pub(crate) fn word(&self, text: &str) -> String {
        text::cut(&mask(text), WORD_CHARS).into_owned()
    }
}
