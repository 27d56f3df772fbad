//! Secrets: compared in constant time, and drawn from the system.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// A secret that is compared with what callers show.
pub(super) struct Secret([u8; 32]);

impl Secret {
    pub(super) fn new(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Compares in a time that depends on neither text: both are hashed, and all bytes are compared.
    pub(super) fn is(&self, text: &str) -> bool {
        let other: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        self.0.ct_eq(&other).into()
    }
}

/// Returns the HMAC-SHA-256 of a text under the digest of a key, in hexadecimal.
pub(super) fn mac(key: &str, text: &str) -> String {
    hex(&hmac_sha256(&Sha256::digest(key.as_bytes()), text.as_bytes()))
}

fn hmac_sha256(key: &[u8], text: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(text);
    mac.finalize().into_bytes().into()
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
    fn macs_are_those_of_rfc_4231() {
        let counting: Vec<u8> = (1..=25).collect();
        let long = b"This is a test using a larger than block-size key and a larger than block-size data. \
                     The key needs to be hashed before being used by the HMAC algorithm.";
        // Case 5 of the RFC tests truncation, which is not used here.
        let cases: [(&[u8], &[u8], &str); 6] = [
            (&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (&[0xaa; 20], &[0xdd; 50], "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
            (&counting, &[0xcd; 50], "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
            (
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
            (&[0xaa; 131], long, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
        ];
        for (key, text, expected) in cases {
            assert_eq!(hex(&hmac_sha256(key, text)), expected);
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
