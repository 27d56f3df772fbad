//! Numbers as people read them: short, with their unit.

use agent_tracer_ledger::view::{Residual, Task, UsageView};

/// Returns a number: `950`, `12.3k`, `4.5M`.
pub(crate) fn count(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..999_500 => scaled(number, 1e3, "k"),
        999_500..999_500_000 => scaled(number, 1e6, "M"),
        _ => scaled(number, 1e9, "G"),
    }
}

fn scaled(number: u64, unit: f64, letter: &str) -> String {
    let value = number as f64 / unit;
    let digits = usize::from(value < 99.95);
    format!("{value:.digits$}{letter}")
}

/// Returns a number, or a dash if there is nothing.
pub(crate) fn some(number: u64) -> String {
    if number == 0 { "-".to_owned() } else { count(number) }
}

/// Formats a duration: `120ms`, `1.2s`, `3m12s`, `2h05m`, `3d04h`.
pub(crate) fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..9_950 => format!("{:.1}s", ms as f64 / 1000.0),
        // Rounded, but never to `60s`: the next line writes that as `1m00s`.
        9_950..60_000 => format!("{}s", ((ms + 500) / 1000).min(59)),
        60_000..3_600_000 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3_600_000..86_400_000 => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// Formats an age: `5s`, `3m`, `2h`, `4d`.
pub(crate) fn age(ms: i64) -> String {
    let seconds = u64::try_from(ms / 1000).unwrap_or(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Returns all tokens of a usage.
pub(crate) fn tokens(usage: &UsageView) -> u64 {
    let parts = [usage.tokens.input, usage.tokens.output, usage.tokens.cache_read, usage.tokens.cache_write];
    parts.into_iter().fold(0, u64::saturating_add)
}

/// Returns all tokens of a residual.
pub(crate) fn residual(residual: &Residual) -> u64 {
    [residual.tokens.output, residual.tokens.cache_read, residual.tokens.cache_write]
        .into_iter()
        .fold(residual.tokens.input, u64::saturating_add)
}

/// Formats a cost: `$1.20`; `≥$1.20` if a part of it has no price, `no price` if no part has one.
pub(crate) fn cost(usage: &UsageView) -> String {
    let dollars = usage.cost_usd;
    let is_partial = usage.provenance.unpriced > 0;
    if dollars <= 0.0 {
        // Nothing was added up: with responses that have no price the cost is unknown and not zero.
        return if is_partial { "no price" } else { "-" }.to_owned();
    }
    match (is_partial, dollars < 0.01) {
        (false, true) => "<$0.01".to_owned(),
        (false, false) => format!("${dollars:.2}"),
        (true, true) => ">$0.00".to_owned(),
        (true, false) => format!("≥${dollars:.2}"),
    }
}

/// Returns the cost of a usage as far as prices are known; none if it has responses without a price and nothing else.
pub(crate) fn known_cost(usage: &UsageView) -> Option<f64> {
    (usage.cost_usd > 0.0 || usage.provenance.unpriced == 0).then_some(usage.cost_usd)
}

/// Returns the beginning of a task's id: long enough to be the only one in any real history.
pub(crate) fn short_id(id: &str) -> &str {
    id.get(..9).unwrap_or(id)
}

/// Returns the project of a task as people call it: the last part of its path.
pub(crate) fn project(task: &Task) -> &str {
    let path = task.project.trim_end_matches('/');
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1.0k"),
            (12_345, "12.3k"),
            (99_949, "99.9k"),
            (999_499, "999k"),
            (999_500, "1.0M"),
            (4_500_000, "4.5M"),
            (1_200_000_000, "1.2G"),
            (u64::MAX, "18446744074G"),
        ] {
            assert_eq!(count(number), text, "{number}");
        }
    }

    #[test]
    fn times_are_short() {
        for (ms, text) in [
            (0, "0ms"),
            (999, "999ms"),
            (1_234, "1.2s"),
            (9_949, "9.9s"),
            (9_950, "10s"),
            (59_999, "59s"),
            (60_000, "1m00s"),
            (192_000, "3m12s"),
            (7_500_000, "2h05m"),
            (273_600_000, "3d04h"),
        ] {
            assert_eq!(duration(ms), text, "{ms}");
        }
        for (ms, text) in
            [(-5, "0s"), (59_000, "59s"), (60_000, "1m"), (7_200_000, "2h"), (172_800_000, "2d")]
        {
            assert_eq!(age(ms), text, "{ms}");
        }
    }

    #[test]
    fn a_cost_says_what_it_does_not_know() {
        let usage = |cost_usd: f64, unpriced: u64| {
            let mut usage = UsageView { cost_usd, ..UsageView::default() };
            usage.provenance.unpriced = unpriced;
            usage
        };
        for (dollars, unpriced, text) in [
            (0.0, 0, "-"),
            (0.0, 1, "no price"),
            (0.004, 0, "<$0.01"),
            (0.004, 1, ">$0.00"),
            (1.2, 0, "$1.20"),
            (1.2, 3, "≥$1.20"),
        ] {
            assert_eq!(cost(&usage(dollars, unpriced)), text);
        }
    }
}
