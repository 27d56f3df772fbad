//! Measurements, for people and as JSON, compared with the limits.

use std::path::Path;

use serde_json::{Value, json};

use crate::backtest::Tried;
use crate::hooks::Row;
use crate::server::Decided;

/// A decision in the middle takes no longer, in microseconds.
const P50_US: f64 = 2_000.0;
/// And 99 of 100 no longer than this.
const P99_US: f64 = 10_000.0;

/// One part of what a decision took.
type Part = fn(&Decided) -> f64;

/// Everything of one run.
pub(crate) struct Run {
    pub(crate) rows: Vec<Row>,
    /// Durations of decisions by the server's own account.
    pub(crate) decided: Vec<Decided>,
    /// Cost of a back-test.
    pub(crate) tried: Tried,
    pub(crate) rules: usize,
    pub(crate) history: u64,
}

/// The value below which this part of the values is.
fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = ((sorted.len() as f64 * part).ceil() as usize).saturating_sub(1);
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

#[expect(clippy::print_stdout, reason = "the report is what the program is for")]
pub(crate) fn print(run: &Run, json_file: Option<&Path>) -> Result<bool, String> {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("unknown");
    println!("{} rules, {} events of history, load {load}\n", run.rules, run.history);
    println!("{:<18} {:>10} {:>10} {:>10} {:>8}", "hook", "p50 us", "p95 us", "p99 us", "ratio");
    let bare = run.rows.first().map_or(f64::NAN, |row| quantile(&row.wait_us, 0.5));
    let mut hooks: Vec<Value> = Vec::new();
    for row in &run.rows {
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|part| quantile(&row.wait_us, part));
        println!("{:<18} {p50:>10.0} {p95:>10.0} {p99:>10.0} {:>8.2}", row.name, p50 / bare);
        hooks.push(json!({"name": row.name, "p50Us": p50, "p95Us": p95, "p99Us": p99, "ratio": p50 / bare}));
    }
    let asked = run
        .rows
        .iter()
        .find(|row| row.name == "server")
        .map(|row| row.wait_us.as_slice())
        .unwrap_or_default();
    let more: Vec<f64> = asked.iter().map(|wait| wait - bare).collect();
    let (p50, p99) = (quantile(&more, 0.5), quantile(&more, 0.99));
    println!("\nthe server's own account of {} decisions", run.decided.len());
    println!("{:<18} {:>10} {:>10} {:>10}", "part", "p50 us", "p95 us", "p99 us");
    let mut stages: Vec<Value> = Vec::new();
    let parts: [(&str, Part); 4] = [
        ("wait for earlier", |decided| decided.waited),
        ("look up the past", |decided| decided.looked),
        ("rules and answer", |decided| decided.rules),
        ("all of it", |decided| decided.all),
    ];
    for (name, part) in parts {
        let values: Vec<f64> = run.decided.iter().map(part).collect();
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|part| quantile(&values, part));
        println!("{name:<18} {p50:>10.0} {p95:>10.0} {p99:>10.0}");
        stages.push(json!({"name": name, "p50Us": p50, "p95Us": p95, "p99Us": p99}));
    }
    let inside: Vec<f64> = run.decided.iter().map(|decided| decided.all).collect();
    let around = quantile(&more, 0.5) - quantile(&inside, 0.5);
    println!("{:<18} {around:>10.0}   (the hook: table, socket, answer)\n", "around it");
    let mut is_kept = true;
    for (what, is, most) in [("p50", p50, P50_US), ("p99", p99, P99_US)] {
        let verdict = if is <= most { "ok" } else { "MISSED" };
        println!("a decision inside the hook, {what}: {is:.0} us (at most {most:.0}): {verdict}");
        is_kept &= is <= most;
    }
    let Tried { calls, wall_s, cpu_s, peak_mb } = run.tried;
    println!(
        "\na back-test of all rules on all {calls} calls: {wall_s:.1} s, {cpu_s:.1} s on the processor ({:.0} us per call), at most {peak_mb:.0} MB",
        cpu_s * 1e6 / (calls.max(1) as f64)
    );
    if let Some(path) = json_file {
        let all = json!({
            "rules": run.rules, "events": run.history, "load": load, "hooks": hooks,
            "decision": {"p50Us": p50, "p99Us": p99}, "server": stages,
            "backtest": {"calls": calls, "wallS": wall_s, "cpuS": cpu_s, "peakMb": peak_mb},
        });
        let text = format!("{all:#}\n");
        std::fs::File::create(path)
            .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()))
            .map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
    }
    Ok(is_kept)
}

#[expect(clippy::print_stderr, reason = "the program's own voice")]
pub(crate) fn complain(message: &str) {
    eprintln!("bench-guard: {message}");
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(
            [quantile(&values, 0.5), quantile(&values, 0.99), quantile(&values, 1.0)],
            [50.0, 99.0, 100.0]
        );
        assert!(quantile(&[], 0.5).is_nan());
    }
}
