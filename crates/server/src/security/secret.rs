//! Secrets: compared without telling how much of them was right, and drawn from the system.

use std::hint::black_box;

use sha2::{Digest, Sha256};

/// A secret that is compared with what callers show.
pub(super) struct Secret([u8; 32]);

impl Secret {
    pub(super) fn new(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Compares in a time that depends on neither text: both are hashed, and all bytes are compared.
    pub(super) fn is(&self, text: &str) -> bool {
        let other: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let differs = self.0.iter().zip(other).fold(0_u8, |differs, (one, two)| differs | (one ^ two));
        black_box(differs) == 0
    }
}

/// HMAC-SHA-256 (RFC 2104).
pub(super) fn mac(key: &str, text: &str) -> String {
    let key: [u8; 32] = Sha256::digest(key.as_bytes()).into();
    let padded = |with: u8| -> [u8; 64] {
        let mut block = [with; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text).finalize();
    let outer = Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize();
    hex(&outer)
}

/// Draws 256 random bits.
pub(crate) fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)?;
    Ok(hex(&bytes))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a text cannot fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_text_is_the_secret() {
        let secret = Secret::new("abc");
        assert!(secret.is("abc"));
        for other in ["", "ab", "abcd", "abC"] {
            assert!(!secret.is(other), "{other}");
        }
    }

    #[test]
    fn a_mac_depends_on_key_and_text() {
        assert_eq!(mac("key", "text"), mac("key", "text"));
        assert_ne!(mac("key", "text"), mac("key2", "text"));
        assert_ne!(mac("key", "text"), mac("key", "text2"));
    }

    #[test]
    fn what_is_drawn_is_long_and_never_the_same() {
        let (one, two) = (random().unwrap(), random().unwrap());
        assert_eq!(one.len(), 64);
        assert_ne!(one, two);
    }
}
