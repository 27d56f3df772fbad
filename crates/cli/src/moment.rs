//! Moments as people write them: a date, a time, or how long ago.

use agent_tracer_event::Millis;

use crate::failure::Failure;

/// Reads a moment as people write it: `2026-11-15`, `2026-11-15T21:10:04Z`, `7d`, `24h`, `30m`.
pub(crate) fn parse(text: &str, now: Millis) -> Result<Millis, Failure> {
    let wrong = || {
        Failure::usage(format!("invalid time `{text}`")).hint(
            "write a date (`2026-11-15`), a time (`2026-11-15T21:10:04Z`) or how long ago (`7d`, `24h`)",
        )
    };
    if let Some(at) = Millis::parse(text).or_else(|| Millis::parse(&format!("{text}T00:00:00Z"))) {
        return Ok(at);
    }
    let ago = text.strip_prefix('-').unwrap_or(text);
    let unit = ago.chars().next_back().ok_or_else(wrong)?;
    let minutes: i64 = match unit {
        'm' => 1,
        'h' => 60,
        'd' => 24 * 60,
        'w' => 7 * 24 * 60,
        _ => return Err(wrong()),
    };
    let digits = ago.strip_suffix(unit).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let count: i64 = digits.and_then(|digits| digits.parse().ok()).ok_or_else(wrong)?;
    let millis = count.checked_mul(minutes * 60_000).ok_or_else(wrong)?;
    Ok(Millis(now.0.saturating_sub(millis)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_times_and_spans_are_understood() {
        let now = Millis(1_794_777_004_001);
        let day = 86_400_000;
        for (text, at) in [
            ("2026-11-15T21:10:04.001Z", now.0),
            ("2026-11-15", now.0 - now.0 % day),
            ("7d", now.0 - 7 * day),
            ("-7d", now.0 - 7 * day),
            ("24h", now.0 - day),
            ("90m", now.0 - 90 * 60_000),
            ("2w", now.0 - 14 * day),
        ] {
            assert_eq!(parse(text, now).expect("a moment"), Millis(at), "{text}");
        }
    }

    #[test]
    fn anything_else_is_said_to_be_none() {
        for text in [
            "",
            "-",
            "d",
            "yesterday",
            "7",
            "7y",
            "+7d",
            "1.5d",
            "99999999999999999999d",
            "9223372036854775807w",
        ] {
            let refused = parse(text, Millis(0)).expect_err("no moment").to_string();
            assert!(refused.contains("\nhint: "), "{refused}");
        }
    }
}
