//! The cookie of a browser that opened the one-time link.
//!
//! Its value is the time at which it ends and a MAC of that under the owner's token, so the server remembers nothing
//! and a new token ends every session. Browsers send cookies to every port of a host: the name holds the port, so that
//! two servers do not overwrite each other's.

use agent_tracer_event::Millis;
use axum::http::{HeaderMap, header};

use super::secret::{Secret, mac};

/// The days a browser stays logged in.
const SESSION_DAYS: i64 = 30;

const DAY_MS: i64 = 86_400_000;

pub(super) struct Cookies {
    name: String,
    key: String,
}

impl Cookies {
    pub(super) fn new(owner_token: &str, port: u16) -> Self {
        Self { name: format!("agent_tracer_{port}"), key: owner_token.to_owned() }
    }

    /// Creates a cookie for one session.
    pub(super) fn make(&self, now: Millis) -> String {
        let ends = now.0.saturating_add(SESSION_DAYS * DAY_MS);
        let age = SESSION_DAYS * DAY_MS / 1000;
        format!(
            // Not `Secure`: the server speaks HTTP, over which not every browser keeps such a cookie.
            "{}={ends}.{}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age}",
            self.name,
            mac(&self.key, &format!("browser session until {ends}"))
        )
    }

    /// Returns whether the request carries a cookie of ours that has not expired.
    pub(super) fn is_session(&self, headers: &HeaderMap, now: Millis) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        cookies.flat_map(|value| value.split(';')).any(|cookie| {
            let Some((name, value)) = cookie.trim().split_once('=') else { return false };
            name == self.name && self.is_good(value, now)
        })
    }

    fn is_good(&self, value: &str, now: Millis) -> bool {
        let Some((ends, given)) = value.split_once('.') else { return false };
        let Ok(until) = ends.parse::<i64>() else { return false };
        // The text names its purpose, so that no other MAC under this token passes for a session.
        let wanted = mac(&self.key, &format!("browser session until {ends}"));
        Secret::new(&wanted).is(given) && now.0 < until
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const NOW: Millis = Millis(1_794_777_004_001);

    fn carries(cookies: &Cookies, value: &str, now: Millis) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::try_from(value).unwrap());
        cookies.is_session(&headers, now)
    }

    #[test]
    fn a_cookie_is_good_until_it_ends_and_only_under_its_token() {
        let cookies = Cookies::new("token", 4747);
        let made = cookies.make(NOW);
        let value = made.split(';').next().unwrap();
        assert!(carries(&cookies, value, NOW));
        assert!(carries(&cookies, &format!("a=b; {value}; c=d"), NOW));
        assert!(!carries(&cookies, value, Millis(NOW.0 + SESSION_DAYS * DAY_MS)));
        assert!(!carries(&Cookies::new("another", 4747), value, NOW));
        assert!(!carries(&Cookies::new("token", 4748), value, NOW));
        let longer = value.replace(&(NOW.0 + SESSION_DAYS * DAY_MS).to_string(), "9994777004001");
        assert_ne!(longer, value);
        assert!(!carries(&cookies, &longer, NOW));
    }

    #[test]
    fn a_script_cannot_read_it_and_another_site_cannot_send_it() {
        let made = Cookies::new("token", 4747).make(NOW);
        assert!(
            made.contains("; HttpOnly") && made.contains("; SameSite=Strict") && made.contains("; Path=/")
        );
    }
}
