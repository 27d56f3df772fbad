//! Applies the rules of privacy to an agent's own files.
//!
//! They hold what hooks never show: whole outputs, contents of files, images, system prompts. So the rules of the hooks
//! hold here too, in memory, before anything is said: a reader asks for a member by name, and that member passes
//! through [`agent_tracer_privacy`] in the words of the hook that tells of the same thing.

use agent_tracer_privacy::{Config, Level, mask};

use crate::text;

/// The most characters of a name, a path or another short text.
const WORD_CHARS: usize = 1024;

/// The most bytes of an id or a code word.
const CODE_BYTES: usize = 128;

/// Returns whether a text is one word, or a path, which may hold blanks.
fn is_name(text: &str) -> bool {
    let path = text.starts_with(['/', '~', '.']) || text.as_bytes().get(1..3) == Some(b":\\");
    !text.chars().any(char::is_control) && (path || !text.contains(char::is_whitespace))
}

/// Describes what may be recorded, and how.
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
    /// Returns the level at which texts are kept.
    pub(crate) fn level(&self) -> Level {
        self.config.level
    }

    /// Returns whether nothing of what happens in this directory may be recorded.
    pub(crate) fn excludes(&self, directory: &str) -> bool {
        self.config.excludes(directory.as_bytes(), self.home_dir)
    }

    /// Returns a name, path, branch or another short text, masked. At level `metadata` only a path and a single word stay;
    /// of a sentence its length does.
    pub(crate) fn word(&self, text: &str) -> String {
        if self.level() == Level::Metadata && !is_name(text) {
            return format!("[text of {} bytes]", text.len());
        }
        text::cut(&mask(text), WORD_CHARS).into_owned()
    }

    /// Returns an id or a code word of the client, masked; nothing of a text that is none.
    pub(crate) fn code(&self, text: &str) -> Option<String> {
        let of_code = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
        let is_code = (1..=CODE_BYTES).contains(&text.len()) && text.bytes().all(of_code);
        is_code.then(|| mask(text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_no_word_at_level_metadata_and_no_code_at_any() {
        let mut config = Config::default();
        for level in [Level::Metadata, Level::Actions, Level::Full] {
            config.level = level;
            let rules = Rules { config: &config, hash_key: [0; 16], home_dir: None };
            assert_eq!(rules.word("/srv/my files/a b"), "/srv/my files/a b");
            assert_eq!(rules.word("feature/x"), "feature/x");
            assert_eq!(rules.code("req_011CUabc").as_deref(), Some("req_011CUabc"));
            assert_eq!(rules.code("ECONNRESET").as_deref(), Some("ECONNRESET"));
            assert_eq!(rules.code("the customer is called Smith"), None);
            let kept = rules.word("the customer is called Smith");
            assert_eq!(kept.contains("Smith"), level != Level::Metadata, "{kept}");
        }
    }
}
