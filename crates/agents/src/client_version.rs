//! The version of a client, as it says it itself: `2.1.197 (Claude Code)`, `codex-cli 0.166.0`, `"version": "2.1.326"`.
//!
//! Law: what is not three numbers is no version. Guessing one would choose settings that the client may refuse.

use std::cmp::Ordering;
use std::fmt;

/// The longest word that is looked at.
const WORD_BYTES_MAX: usize = 64;

/// A version of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientVersion {
    numbers: [u32; 3],
    /// True if something follows the numbers (`-alpha.3`): such a build comes before the release of that number.
    preview: bool,
}

impl ClientVersion {
    /// Returns the release with these numbers.
    pub const fn release(major: u32, minor: u32, patch: u32) -> ClientVersion {
        ClientVersion { numbers: [major, minor, patch], preview: false }
    }

    /// Finds the version in what a client says about itself: in the first word that is one.
    pub fn parse(text: &str) -> Option<ClientVersion> {
        text.split_whitespace().find_map(ClientVersion::of_word)
    }

    fn of_word(word: &str) -> Option<ClientVersion> {
        if word.len() > WORD_BYTES_MAX {
            return None;
        }
        let word = word.strip_prefix('v').unwrap_or(word);
        // Build metadata (`+…`) does not count in the order of versions.
        let word = word.split_once('+').map_or(word, |(version, _)| version);
        let (numbers, suffix) = match word.split_once('-') {
            Some((numbers, suffix)) => (numbers, Some(suffix)),
            None => (word, None),
        };
        if suffix.is_some_and(str::is_empty) {
            return None;
        }
        let mut parts = numbers.split('.').map(number);
        let version = [parts.next()??, parts.next()??, parts.next()??];
        parts.next().is_none().then_some(ClientVersion { numbers: version, preview: suffix.is_some() })
    }
}

/// Reads a number of digits alone: `+1` and the empty text are none.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

impl Ord for ClientVersion {
    fn cmp(&self, other: &ClientVersion) -> Ordering {
        self.numbers.cmp(&other.numbers).then(other.preview.cmp(&self.preview))
    }
}

impl PartialOrd for ClientVersion {
    fn partial_cmp(&self, other: &ClientVersion) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for ClientVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(formatter, "{major}.{minor}.{patch}")?;
        if self.preview { formatter.write_str(" (preview)") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_clients_say_is_understood() {
        let cases = [
            ("2.1.197 (Claude Code)\n", Some((2, 1, 197))),
            ("codex-cli 0.166.0", Some((0, 166, 0))),
            ("codex-cli-exec v0.128.0\n", Some((0, 128, 0))),
            ("2.1.326", Some((2, 1, 326))),
            ("warning: something\n1.0.128 (Claude Code)", Some((1, 0, 128))),
            ("2.1.326+build.7", Some((2, 1, 326))),
            ("", None),
            ("2.1", None),
            ("2.1.3.4", None),
            ("2.1.x", None),
            ("2.1.-3", None),
            ("2.1.3-", None),
            ("2.+1.3", None),
            ("2..3", None),
            ("99999999999.1.1", None),
            ("command not found", None),
        ];
        for (text, expected) in cases {
            let expected = expected.map(|(major, minor, patch)| ClientVersion::release(major, minor, patch));
            assert_eq!(ClientVersion::parse(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_preview_comes_before_its_release_and_after_the_one_before() {
        let version = |text| ClientVersion::parse(text).expect("a version");
        assert!(version("0.170.0-alpha.3") < version("0.170.0"));
        assert!(version("0.170.0-alpha.3") > version("0.169.9"));
        assert!(version("2.1.9") < version("2.1.10"));
        assert_eq!(version("0.170.0-alpha.3").to_string(), "0.170.0 (preview)");
    }

    proptest! {
        #[test]
        fn a_release_is_read_back(major in any::<u32>(), minor in any::<u32>(), patch in any::<u32>()) {
            let version = ClientVersion::release(major, minor, patch);
            prop_assert_eq!(ClientVersion::parse(&version.to_string()), Some(version));
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in any::<String>()) {
            let _version = ClientVersion::parse(&text);
        }
    }
}
