//! Describes what prices cost in time: the first question, then questions by name and by a price that was found before.
//!
//! `cargo run --release -p agent-tracer-prices --example speed`

use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use agent_tracer_prices::{BilledUsage, Prices};

const ROUNDS: u32 = 1_000_000;

fn each(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..ROUNDS {
        work();
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(ROUNDS)
}

fn main() -> std::io::Result<()> {
    let spent = BilledUsage {
        input: 14,
        output: 111,
        cache_read: 28_600,
        cache_write_5m: 406,
        ..BilledUsage::default()
    };
    let start = Instant::now();
    let prices = Prices::embedded();
    black_box(prices.cost("claude-opus-5-5", &spent));
    let first: Duration = start.elapsed();
    let mut out = std::io::stdout().lock();
    writeln!(out, "first answer, table read: {:.0} µs", first.as_secs_f64() * 1e6)?;
    for name in [
        "claude-opus-5-5",
        "gpt-6.1-sol",
        "claude-opus-5-5-20261101",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "CLAUDE-OPUS-5-5[1m]",
        "unlisted/no-such-model-20260101",
    ] {
        let nanos = each(|| {
            black_box(prices.cost(black_box(name), black_box(&spent)));
        });
        writeln!(out, "cost by name: {nanos:.0} ns  {name}")?;
    }
    if let Some(price) = prices.find("gpt-6.1-sol") {
        let nanos = each(|| {
            black_box(price.cost(black_box(&spent)));
        });
        writeln!(out, "cost by price: {nanos:.0} ns")?;
    }
    Ok(())
}
