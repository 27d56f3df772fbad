//! The host of an address, as a browser would see it.
//!
//! A rule about hosts is worth what this function is: `https://good.example@evil.example/` goes to `evil.example`, a
//! backslash counts as a slash, the port, the case and the last dot do not matter.

use serde_json::Value;

use crate::touch;

/// Returns the host of an address in lower case; `None` if it names none.
#[must_use]
pub(crate) fn host_of(address: &str) -> Option<String> {
    // Tabs and line ends inside an address are dropped by those who open it.
    let address: String = address.trim().chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let rest = match address.find(':') {
        Some(colon) if is_scheme(address.get(..colon)?) => {
            let rest = address.get(colon + 1..)?;
            let opened = rest.trim_start_matches(['/', '\\']);
            // `mailto:x` and `host:port` have no slashes; the second is a host.
            if opened.len() == rest.len() && !opened.starts_with(|c: char| c.is_ascii_digit()) {
                return None;
            }
            if opened.len() == rest.len() { address.as_str() } else { opened }
        }
        _ => address.trim_start_matches(['/', '\\']),
    };
    let authority = rest.split(['/', '\\', '?', '#']).next()?;
    // The last `@` and not the first: what stands before it is a user, whatever it looks like.
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(six) => six.split(']').next()?,
        None => host.split(':').next()?,
    };
    let host = host.trim_end_matches('.').to_lowercase();
    let plausible = !host.is_empty() && !host.contains(char::is_whitespace);
    plausible.then_some(host)
}

/// The names under which tools take an address.
const ADDRESS_KEYS: &[&str] =
    &["url", "urls", "uri", "uris", "host", "hosts", "hostname", "address", "endpoint"];

/// Returns the hosts that an input names, and whether they are all of them.
#[must_use]
pub(crate) fn hosts_of_input(tool: &str, input: &Value) -> (Vec<String>, bool) {
    let mut hosts = Vec::new();
    let complete = touch::visit_named(tool, input, ADDRESS_KEYS, &mut |address| {
        hosts.extend(host_of(address).filter(|host| !hosts.contains(host)));
    });
    (hosts, complete)
}

/// Returns the hosts that a step talks to; one that only running it would tell has no name.
#[must_use]
pub(crate) fn hosts_of_step(step: &agent_tracer_shell::Step) -> Vec<String> {
    let name = |host: &Option<String>| match host {
        Some(address) => host_of(address),
        None => Some(touch::UNNAMED.to_owned()),
    };
    step.uses.hosts.iter().filter_map(name).collect()
}

/// Returns whether a host is this machine itself.
#[must_use]
pub(crate) fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost") || host == "::1" || host.starts_with("127.")
}

fn is_scheme(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && characters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_what_a_browser_would_open() {
        for (address, host) in [
            ("https://example.com/a?b#c", Some("example.com")),
            ("HTTPS://Example.COM.", Some("example.com")),
            ("https://good.example@evil.example/x", Some("evil.example")),
            ("https://user:pass@host.example:8443/", Some("host.example")),
            ("https:\\\\evil.example\\good.example", Some("evil.example")),
            ("https://evil.example\\@good.example/", Some("evil.example")),
            ("ht\ntps://evil.example/", Some("evil.example")),
            ("https:///evil.example", Some("evil.example")),
            ("//cdn.example/x", Some("cdn.example")),
            ("localhost:8080/x", Some("localhost")),
            ("example.com/path", Some("example.com")),
            ("http://[::1]:80/", Some("::1")),
            ("mailto:someone@example.com", None),
            ("", None),
            ("https://", None),
        ] {
            assert_eq!(host_of(address).as_deref(), host, "{address:?}");
        }
    }
}
