//! Measures what reading a shell command costs.
//!
//! For every shape the time for 4 KiB is set against a plain pass over the same bytes in the same run, so that
//! a slow or busy machine slows both: the ratio is the result, the microseconds are for people. Growth is the
//! time for sixteen times the length divided by sixteen: about one if the cost grows with the length and
//! nothing else, about sixteen if it grows with its square. Prints a table on standard output and, with
//! `--json FILE`, writes the same as JSON. Ends with 1 if a bar is broken.

mod shapes;

use std::hint::black_box;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use agent_tracer_shell::{Context, describe};
use serde_json::{Value, json};
use shapes::{SHAPES, Shape};

/// Length of a command in the main column, in bytes.
const LENGTH: usize = 4 * 1024;
/// Ratio of the lengths of a shape's two commands.
const FACTOR: usize = 16;
/// Most that reading may cost, in passes over the bytes.
const MOST_PASSES: f64 = 180.0;
/// Most that a byte may cost more in the longer command. Fresh memory costs a few times more than used memory.
const MOST_GROWTH: f64 = 6.0;
/// The shortest of this many runs counts: a disturbance only ever makes a run longer.
const RUNS: usize = 60;

struct Row {
    shape: &'static Shape,
    scan_us: f64,
    read_us: f64,
    growth: f64,
}

impl Row {
    fn passes(&self) -> f64 {
        self.read_us / self.scan_us
    }

    fn holds(&self) -> bool {
        self.passes() <= MOST_PASSES && self.growth <= MOST_GROWTH
    }
}

fn shortest_us(runs: usize, mut run: impl FnMut()) -> f64 {
    let mut shortest = f64::MAX;
    for _ in 0..runs {
        let start = Instant::now();
        run();
        shortest = shortest.min(start.elapsed().as_secs_f64() * 1e6);
    }
    shortest
}

/// A plain pass: every byte is looked at, and the next step needs the one before.
fn scan(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn measure(shape: &'static Shape) -> Row {
    let context = Context::default();
    let short = shape.of_length(LENGTH);
    let long = shape.of_length(LENGTH * FACTOR);
    let read = |text: &str| {
        black_box(describe(black_box(text), &context));
    };
    let read_us = shortest_us(RUNS, || read(&short));
    let long_us = shortest_us(RUNS / 4, || read(&long));
    let scan_us = shortest_us(RUNS, || {
        black_box(scan(black_box(&short)));
    });
    let bytes = |text: &str| f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
    let growth = (long_us / bytes(&long)) / (read_us / bytes(&short));
    Row { shape, scan_us, read_us, growth }
}

fn table(rows: &[Row]) -> String {
    let mut text =
        format!("{:<26} {:>10} {:>10} {:>8} {:>8}\n", "4 KiB of", "pass µs", "read µs", "passes", "growth");
    for row in rows {
        let mark = if row.holds() { "" } else { "  broken" };
        text.push_str(&format!(
            "{:<26} {:>10.2} {:>10.1} {:>8.1} {:>8.2}{mark}\n",
            row.shape.name,
            row.scan_us,
            row.read_us,
            row.passes(),
            row.growth
        ));
    }
    text.push_str(&format!(
        "bars: at most {MOST_PASSES} passes over the bytes, growth at most {MOST_GROWTH}\n"
    ));
    text
}

fn as_json(rows: &[Row]) -> Value {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "shape": row.shape.name,
                "scanUs": row.scan_us,
                "readUs": row.read_us,
                "passes": row.passes(),
                "growth": row.growth,
                "holds": row.holds(),
            })
        })
        .collect();
    json!({ "bytes": LENGTH, "mostPasses": MOST_PASSES, "mostGrowth": MOST_GROWTH, "shapes": rows })
}

fn json_file() -> Result<Option<PathBuf>, String> {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        None => Ok(None),
        Some(option) if option == "--json" => arguments
            .next()
            .map(|file| Some(PathBuf::from(file)))
            .ok_or_else(|| "`--json` needs a file".to_owned()),
        Some(other) => Err(format!("unknown argument `{}`", other.display())),
    }
}

fn run() -> Result<bool, String> {
    let file = json_file()?;
    let rows: Vec<Row> = SHAPES.iter().map(measure).collect();
    std::io::stdout().write_all(table(&rows).as_bytes()).map_err(|error| format!("cannot print: {error}"))?;
    if let Some(file) = file {
        let mut written = std::fs::File::create(&file)
            .map_err(|error| format!("cannot create `{}`: {error}", file.display()))?;
        written
            .write_all(format!("{:#}\n", as_json(&rows)).as_bytes())
            .map_err(|error| format!("cannot write `{}`: {error}", file.display()))?;
    }
    Ok(rows.iter().all(Row::holds))
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let mut stderr = std::io::stderr();
            // Nothing can be done where not even the error can be printed.
            if stderr
                .write_all(format!("bench-shell: {error}\nhint: bench-shell [--json FILE]\n").as_bytes())
                .is_err()
            {
                return ExitCode::from(3);
            }
            ExitCode::from(2)
        }
    }
}
