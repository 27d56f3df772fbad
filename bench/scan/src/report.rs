//! Turns what was measured into a table, ratios and a verdict.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::contestants::Answer;
use crate::corpus::Facts;
use crate::run::Row;

/// A bar: a measure of one contestant is at most `limit` times that of another.
struct Bar {
    name: &'static str,
    of: &'static str,
    to: &'static str,
    limit: f64,
    measure: Measure,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Measure {
    Cpu,
    Wall,
}

const BARS: &[Bar] = &[
    Bar { name: "S1", of: "usage", to: "usage-pre", limit: 1.0 / 0.6, measure: Measure::Cpu },
    Bar { name: "S1", of: "usage", to: "usage-pre", limit: 1.0 / 0.6, measure: Measure::Wall },
    Bar { name: "S1", of: "usage", to: "ccusage", limit: 0.25, measure: Measure::Cpu },
    Bar { name: "S1", of: "usage", to: "ccusage", limit: 0.25, measure: Measure::Wall },
    Bar { name: "S2", of: "rows", to: "rows-lazy", limit: 1.0 / 0.6, measure: Measure::Cpu },
    Bar { name: "S2", of: "rows", to: "ccusage", limit: 1.0 / 3.0, measure: Measure::Cpu },
    Bar { name: "S5", of: "unchanged", to: "walk", limit: 10.0, measure: Measure::Wall },
];

/// The peak of the resident set that a scan may have, whatever the size of the corpus.
const PEAK_KB: u64 = 64 * 1024;

/// The middle of a sample.
fn median(sample: &[f64]) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Holds the cost of a contestant. Time on the processor repeats well, so its middle counts; time on the wall is stretched by
/// whatever else the machine does and never shortened, so the least counts.
fn measured(row: &Row, measure: Measure) -> f64 {
    match measure {
        Measure::Cpu => median(&row.cpu_s),
        Measure::Wall => row.wall_s.iter().copied().fold(f64::NAN, f64::min),
    }
}

/// Prints the table and the bars; writes the JSON if asked. Says whether every bar that could be checked holds.
pub(crate) fn print(facts: &Facts, rows: &[Row], json: Option<&Path>) -> Result<bool, String> {
    let mut text = format!(
        "corpus: {} MB, {} files, {} rows, {} responses in {} rows\n\n{:<10} {:>8} {:>8} {:>9} {:>8}  {}\n",
        facts.bytes / 1_000_000,
        facts.files,
        facts.rows,
        facts.responses,
        facts.usage_rows,
        "",
        "CPU s",
        "wall s",
        "MB/CPU s",
        "peak MB",
        ""
    );
    let mut table = Vec::new();
    for row in rows {
        let (cpu, wall) = (measured(row, Measure::Cpu), measured(row, Measure::Wall));
        let speed = facts.bytes as f64 / 1e6 / cpu;
        let peak = row.answer.peak_kb as f64 / 1024.0;
        text.push_str(&format!(
            "{:<10} {cpu:>8.3} {wall:>8.3} {speed:>9.0} {peak:>8.1}  {}\n",
            row.name, row.says
        ));
        table.push(json!({
            "name": row.name, "cpuSeconds": cpu, "wallSeconds": wall, "megabytesPerCpuSecond": speed,
            "peakMegabytes": peak, "answer": row.answer,
        }));
    }
    text.push('\n');
    let mut good = true;
    let mut verdicts = Vec::new();
    let mut judge = |text: &mut String, name: &str, what: String, holds: bool| {
        good &= holds;
        text.push_str(&format!("{} {name}: {what}\n", if holds { "ok  " } else { "FAIL" }));
        verdicts.push(json!({ "bar": name, "what": what, "holds": holds }));
    };
    for bar in BARS {
        let find = |name: &str| rows.iter().find(|row| row.name == name);
        let (Some(of), Some(to)) = (find(bar.of), find(bar.to)) else { continue };
        let ratio = measured(of, bar.measure) / measured(to, bar.measure);
        let measure = if bar.measure == Measure::Cpu { "CPU" } else { "wall" };
        let what = format!("{measure} of {} is {ratio:.2} x {} (at most {:.2})", bar.of, bar.to, bar.limit);
        judge(&mut text, bar.name, what, ratio <= bar.limit);
    }
    for row in rows.iter().filter(|row| matches!(row.name, "usage" | "rows" | "entries")) {
        let what = format!("{} held {} MB at its peak (at most 64)", row.name, row.answer.peak_kb / 1024);
        judge(&mut text, "S4", what, row.answer.peak_kb <= PEAK_KB);
    }
    for row in rows.iter().filter(|row| row.answer.tokens != [0; 4]) {
        let what = format!("{} counts {:?} tokens", row.name, row.answer.tokens);
        judge(&mut text, "sum", what, row.answer.tokens == facts.tokens);
    }
    for row in rows.iter().filter(|row| row.answer.responses > 0) {
        let what = format!("{} finds {} responses", row.name, row.answer.responses);
        judge(&mut text, "sum", what, row.answer.responses == facts.responses);
    }
    for row in rows.iter().filter(|row| row.answer.calls > 0) {
        let what = format!("{} finds {} calls", row.name, row.answer.calls);
        judge(&mut text, "sum", what, row.answer.calls == facts.calls);
    }
    say(&text)?;
    if let Some(path) = json {
        let report = json!({ "corpus": facts, "rows": table, "bars": verdicts, "holds": good });
        write_json(path, &report)?;
    }
    Ok(good)
}

fn write_json(path: &Path, report: &Value) -> Result<(), String> {
    let fail = |error: std::io::Error| format!("cannot write `{}`: {error}", path.display());
    let mut file = fs::File::create(path).map_err(fail)?;
    writeln!(file, "{report:#}").map_err(fail)
}

fn say(text: &str) -> Result<(), String> {
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| format!("cannot print: {error}"))
}

/// Prints what a child found, for its parent.
pub(crate) fn answer(outcome: Result<Answer, String>) -> ExitCode {
    let printed = outcome.and_then(|answer| say(&json!(answer).to_string()));
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            complain(&message);
            ExitCode::from(2)
        }
    }
}

/// Says what went wrong, on standard error.
pub(crate) fn complain(message: &str) {
    // There is no other output if this fails too.
    drop(writeln!(std::io::stderr(), "{message}"));
}
