//! Shows what is kept of a payload: `reduce [metadata|actions|full] [claude|codex|statusline] [--repeat N] < payload`.
//!
//! `--repeat` reduces the payload N times and prints the best speed instead.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use agent_tracer_privacy::{Config, Level, Source, reduce};

fn main() -> ExitCode {
    let mut config = Config::default();
    let mut source = Source::ClaudeHook;
    let mut repeat = 0u32;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "metadata" => config.level = Level::Metadata,
            "actions" => config.level = Level::Actions,
            "full" => config.level = Level::Full,
            "claude" => source = Source::ClaudeHook,
            "codex" => source = Source::CodexHook,
            "statusline" => source = Source::StatusLine,
            "--repeat" => repeat = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(1),
            _ => return ExitCode::from(2),
        }
    }
    let mut input = Vec::new();
    if std::io::stdin().read_to_end(&mut input).is_err() {
        return ExitCode::FAILURE;
    }
    let mut out = Vec::with_capacity(input.len() + 64);
    if repeat > 0 {
        // The fastest of all: whatever else runs on the machine only makes it slower.
        let mut each = Duration::MAX;
        for _ in 0..repeat {
            out.clear();
            let begin = Instant::now();
            reduce(&input, source, &config, &mut || [7; 16], &mut out);
            each = each.min(begin.elapsed());
        }
        let speed = input.len() as f64 / each.as_secs_f64() / 1e6;
        return answer(
            format!("{} bytes in, {} out, {each:?}, {speed:.0} MB/s\n", input.len(), out.len()).as_bytes(),
        );
    }
    match reduce(&input, source, &config, &mut || [7; 16], &mut out).fault {
        None => {
            out.push(b'\n');
            answer(&out)
        }
        Some(fault) => answer(format!("{fault}\n").as_bytes()),
    }
}

fn answer(text: &[u8]) -> ExitCode {
    match std::io::stdout().write_all(text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
