//! One-time codes: a link that a person opens once, soon, to let the browser change things.

use std::sync::{Mutex, PoisonError};

use agent_tracer_event::Millis;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::secret::{Secret, random};

/// The minutes for which a one-time link is valid. Every text that names the time takes it from here.
pub const LINK_MINUTES: i64 = 10;

const GOOD_MS: i64 = LINK_MINUTES * 60_000;

/// The most codes that are good at once; the oldest gives way.
const CODES: usize = 16;

/// A link that lets a browser change things, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoginCode {
    /// The path to open on this server.
    pub(crate) path: String,
    /// Until when it is good.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) expires_at: Millis,
}

/// The codes that have been made and not spent.
#[derive(Default)]
pub(crate) struct Codes(Mutex<Vec<(Secret, Millis)>>);

impl Codes {
    /// Makes one.
    pub(crate) fn make(&self, now: Millis) -> Result<LoginCode, getrandom::Error> {
        let code = random()?;
        let expires_at = Millis(now.0.saturating_add(GOOD_MS));
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|(_, until)| *until > now);
        // The oldest goes: refusing a new one would let a client that asks often lock the owner out.
        if codes.len() >= CODES {
            codes.remove(0);
        }
        codes.push((Secret::new(&code), expires_at));
        Ok(LoginCode { path: format!("/login?code={code}"), expires_at })
    }

    /// Spends a code: returns whether it was valid. It no longer is afterwards.
    pub(super) fn spend(&self, code: &str, now: Millis) -> bool {
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|(_, until)| *until > now);
        let before = codes.len();
        codes.retain(|(known, _)| !known.is(code));
        codes.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1_794_777_004_001);

    fn code(codes: &Codes) -> String {
        codes.make(NOW).unwrap().path.strip_prefix("/login?code=").unwrap().to_owned()
    }

    #[test]
    fn a_code_is_good_once() {
        let codes = Codes::default();
        let (one, two) = (code(&codes), code(&codes));
        assert!(!codes.spend("guess", NOW));
        assert!(codes.spend(&one, NOW));
        assert!(!codes.spend(&one, NOW));
        assert!(codes.spend(&two, NOW));
    }

    #[test]
    fn a_code_is_good_for_a_while() {
        let codes = Codes::default();
        let one = code(&codes);
        assert!(!codes.spend(&one, Millis(NOW.0 + GOOD_MS)));
    }

    #[test]
    fn the_page_on_security_names_the_time_that_holds() {
        let page = include_str!("../../../../SECURITY.md");
        assert!(page.contains(&format!("a one-time link ends with its use or after {LINK_MINUTES} minutes")));
    }

    #[test]
    fn making_many_does_not_fill_the_memory() {
        let codes = Codes::default();
        let first = code(&codes);
        for _ in 0..CODES {
            code(&codes);
        }
        assert!(!codes.spend(&first, NOW));
        assert_eq!(codes.0.lock().unwrap().len(), CODES);
    }
}
