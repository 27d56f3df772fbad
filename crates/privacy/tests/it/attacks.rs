//! Rates of masking for issued and pasted secrets, and for harmless values. A rate must not get worse.
//!
//! The values are drawn anew from several seeds, so that no rule fits only the values that it was written for.

use crate::corpus::{fill, rows};
use agent_tracer_privacy::mask;

/// The values for the templates.
const SEEDS: [usize; 5] = [1, 7_919, 104_729, 1_299_709, 15_485_863];

/// The length of a leak: a secret leaks if so many consecutive bytes of it are left.
const LEAK: usize = 10;

/// Returns `true` if a stretch of `secret` is left in `masked`.
fn leaks(masked: &str, secret: &str) -> bool {
    // A marker names the kind, and a kind may be spelled like the prefix.
    let masked: String =
        masked.split("[masked:").map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect();
    let (masked, secret) = (masked.as_bytes(), secret.as_bytes());
    if secret.len() <= LEAK {
        return !secret.is_empty() && masked.windows(secret.len()).any(|part| part == secret);
    }
    secret.windows(LEAK).any(|part| masked.windows(LEAK).any(|left| left == part))
}

/// Holds at least `least` of `all`, both counted over all seeds, and prints the rate.
#[expect(clippy::print_stdout, reason = "the rates are what this test is for")]
fn hold(what: &str, least: f64, all: usize, missed: &[String]) {
    let rate = 100.0 * (all - missed.len()) as f64 / all as f64;
    println!("{what}: {} of {all} masked ({rate:.1} %)", all - missed.len());
    for miss in missed {
        println!("  missed {miss}");
    }
    assert!(rate >= least, "{what}: {rate:.1} % is below {least} %\n{}", missed.join("\n"));
}

#[test]
fn tokens_of_providers_are_masked_where_they_stand_bare() {
    let kinds: Vec<(usize, &str)> = rows(include_str!("corpus/tokens.txt")).collect();
    assert!(kinds.len() >= 180, "{} kinds", kinds.len());
    let mut missed = Vec::new();
    let mut all = 0;
    for (line, row) in &kinds {
        let (name, template) = row.split_once(" | ").expect("a bar");
        for seed in SEEDS {
            let token = fill(template, seed.wrapping_mul(31).wrapping_add(*line));
            // Of an address only the last part is secret.
            let secret = if token.starts_with("https://") {
                token.rsplit('/').next().unwrap_or_default()
            } else {
                &token
            };
            for text in [
                token.clone(),
                format!("please use {token} for the deployment"),
                format!("first line\n{token}\nlast line\n"),
                format!("see ({token}), it is new."),
            ] {
                all += 1;
                let masked = mask(&text);
                if leaks(&masked, secret) {
                    missed.push(format!("{name}: {text:?} became {masked:?}"));
                }
            }
        }
    }
    hold("tokens of providers, bare", 95.0, all, &missed);
}

#[test]
fn secrets_are_masked_where_only_their_place_tells_of_them() {
    let placements: Vec<(usize, &str)> = rows(include_str!("corpus/placements.txt")).collect();
    assert!(placements.len() >= 250, "{} placements", placements.len());
    let mut missed = Vec::new();
    let mut all = 0;
    for (line, template) in &placements {
        for seed in SEEDS {
            let marked = fill(template, seed.wrapping_mul(37).wrapping_add(*line));
            let text = marked.replace(['«', '»'], "");
            let masked = mask(&text);
            all += 1;
            if marked.split(['«', '»']).skip(1).step_by(2).any(|secret| leaks(&masked, secret)) {
                missed.push(format!("line {line}: {text:?} became {masked:?}"));
            }
        }
    }
    hold("secrets by their placement", 95.0, all, &missed);
}

#[test]
fn harmless_lines_stay_as_they_are() {
    let lines: Vec<(usize, &str)> = rows(include_str!("corpus/benign.txt")).collect();
    assert!(lines.len() >= 600, "{} lines", lines.len());
    let mut changed = Vec::new();
    for (line, template) in &lines {
        for seed in SEEDS {
            let text = fill(template, seed.wrapping_mul(41).wrapping_add(*line));
            let masked = mask(&text);
            if masked != text.as_str() {
                changed.push(format!("line {line}: {text:?} became {masked:?}"));
            }
        }
    }
    let all = lines.len() * SEEDS.len();
    println!("harmless lines: {} of {all} changed", changed.len());
    for change in &changed {
        println!("  {change}");
    }
    assert!(changed.len() * 300 <= all, "{} of {all} changed\n{}", changed.len(), changed.join("\n"));
}

#[test]
fn a_drawn_password_is_masked_with_any_sign_at_its_start() {
    let mut missed = Vec::new();
    let mut all = 0;
    for seed in 0..300 {
        let quoted = fill("export DB_PASSWORD='«{print:16}»'", seed);
        let bare = fill("DB_PASSWORD=«{print:16}»", seed);
        let key = fill("AWS_SECRET_ACCESS_KEY=«{b64:40}»", seed);
        let signature = fill("https://x.example/c?sv=2022&sig=«%2F{pct:40}%3D»", seed);
        for marked in [quoted, bare, key, signature] {
            let text = marked.replace(['«', '»'], "");
            let masked = mask(&text);
            all += 1;
            if marked.split(['«', '»']).nth(1).is_some_and(|secret| leaks(&masked, secret)) {
                missed.push(format!("{text:?} became {masked:?}"));
            }
        }
    }
    hold("drawn values under a telling name", 98.0, all, &missed);
}
