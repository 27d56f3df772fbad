//! Turns what was measured into a table, ratios and a verdict.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::run::Row;

/// A bar: the hook with this payload costs at most `limit` times the reference, in wait and in CPU.
struct Bar {
    name: &'static str,
    payload: &'static str,
    reference: (&'static str, &'static str),
    limit: f64,
    measures: &'static [Measure],
}

#[derive(Clone, Copy)]
enum Measure {
    Wait,
    Cpu,
}

const BOTH: &[Measure] = &[Measure::Wait, Measure::Cpu];
const HOOK: &str = "agent-tracer-hook";

const BARS: &[Bar] = &[
    Bar {
        name: "H1",
        payload: "result 2 KB",
        reference: ("floor", "result 2 KB"),
        limit: 1.3,
        measures: BOTH,
    },
    Bar { name: "H1", payload: "Write 2 KB", reference: ("floor", "Write 2 KB"), limit: 1.3, measures: BOTH },
    Bar {
        name: "H1",
        payload: "prompt 2 KB",
        reference: ("floor", "prompt 2 KB"),
        limit: 1.3,
        measures: BOTH,
    },
    Bar {
        name: "H1",
        payload: "result 1 MB",
        reference: ("floor", "result 1 MB"),
        limit: 1.5,
        measures: BOTH,
    },
    Bar {
        name: "H2",
        payload: "result 2 KB",
        reference: ("sh + curl", "result 2 KB"),
        limit: 1.0 / 9.0,
        measures: &[Measure::Cpu],
    },
    Bar {
        name: "H4",
        payload: "result 2 KB, 10 MB transcript",
        reference: (HOOK, "result 2 KB"),
        limit: 1.05,
        measures: BOTH,
    },
];

/// The value below which `share` of the sample lies.
fn quantile(sample: &[f64], share: f64) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = ((sorted.len().saturating_sub(1)) as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

fn median(row: &Row, measure: Measure) -> f64 {
    match measure {
        Measure::Wait => quantile(&row.wait_us, 0.5),
        Measure::Cpu => quantile(&row.cpu_us, 0.5),
    }
}

fn find<'a>(rows: &'a [Row], name: &str, payload: &str) -> Option<&'a Row> {
    rows.iter().find(|row| row.name == name && row.payload == payload)
}

fn ratio(rows: &[Row], row: &Row, measure: Measure) -> Option<f64> {
    find(rows, "floor", row.payload)
        .or_else(|| find(rows, "floor", "result 2 KB"))
        .map(|floor| median(row, measure) / median(floor, measure))
}

/// Prints the table and the bars; writes the JSON if asked. Returns whether every bar that could be
/// checked holds.
pub(crate) fn print(rows: &[Row], json: Option<&Path>) -> Result<bool, String> {
    let mut text = format!(
        "{:<20} {:<30} {:>9} {:>9} {:>9} {:>7} {:>7}\n",
        "program", "payload", "wait p50", "wait p95", "CPU p50", "x wait", "x CPU"
    );
    let mut table = Vec::new();
    for row in rows {
        let wait = quantile(&row.wait_us, 0.5);
        let (x_wait, x_cpu) = (ratio(rows, row, Measure::Wait), ratio(rows, row, Measure::Cpu));
        text.push_str(&format!(
            "{:<20} {:<30} {:>6.0} us {:>6.0} us {:>6.0} us {:>7.2} {:>7.2}\n",
            row.name,
            row.payload,
            wait,
            quantile(&row.wait_us, 0.95),
            median(row, Measure::Cpu),
            x_wait.unwrap_or(f64::NAN),
            x_cpu.unwrap_or(f64::NAN),
        ));
        table.push(json!({
            "program": row.name,
            "payload": row.payload,
            "repetitions": row.wait_us.len(),
            "waitP50Us": wait,
            "waitP95Us": quantile(&row.wait_us, 0.95),
            "cpuP50Us": median(row, Measure::Cpu),
            "cpuP95Us": quantile(&row.cpu_us, 0.95),
            "waitRatio": x_wait,
            "cpuRatio": x_cpu,
        }));
    }
    let (lines, bars, holds) = judge(rows);
    text.push('\n');
    text.push_str(&lines);
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| format!("cannot print: {error}"))?;
    if let Some(path) = json {
        let whole = json!({"rows": table, "bars": bars});
        fs::File::create(path)
            .and_then(|mut file| file.write_all(format!("{whole:#}\n").as_bytes()))
            .map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
    }
    Ok(holds)
}

fn judge(rows: &[Row]) -> (String, Vec<Value>, bool) {
    let (mut lines, mut bars, mut holds) = (String::new(), Vec::new(), true);
    for bar in BARS {
        let (Some(own), Some(reference)) =
            (find(rows, HOOK, bar.payload), find(rows, bar.reference.0, bar.reference.1))
        else {
            lines.push_str(&format!(
                "{}  {}: not measured, `{}` is missing\n",
                bar.name, bar.payload, bar.reference.0
            ));
            continue;
        };
        for measure in bar.measures {
            let ratio = median(own, *measure) / median(reference, *measure);
            let kept = ratio <= bar.limit;
            holds &= kept;
            let what = match measure {
                Measure::Wait => "wait",
                Measure::Cpu => "CPU",
            };
            lines.push_str(&format!(
                "{}  {}: {what} {ratio:.2}x {} (bar {:.2}x)  {}\n",
                bar.name,
                bar.payload,
                bar.reference.0,
                bar.limit,
                if kept { "holds" } else { "MISSED" },
            ));
            bars.push(json!({
                "bar": bar.name, "payload": bar.payload, "measure": what, "against": bar.reference.0,
                "ratio": ratio, "limit": bar.limit, "holds": kept,
            }));
        }
    }
    (lines, bars, holds)
}

/// Says on standard error why there is no result.
pub(crate) fn complain(message: &str) {
    // Nothing is left to tell the user with if standard error is gone.
    drop(writeln!(std::io::stderr(), "bench-hook: {message}"));
}
