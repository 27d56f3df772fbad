//! The corpus: tables of texts that must be masked, and of texts that must not.

use agent_tracer_privacy::mask;

/// One row of `secrets.txt`: the text, and the expected output.
pub(crate) struct Secret {
    pub(crate) line: usize,
    pub(crate) text: String,
    pub(crate) expected: String,
    /// The secret that must have vanished.
    pub(crate) secrets: Vec<String>,
}

/// Rows of a corpus file with their line numbers, without comments.
pub(crate) fn rows(file: &'static str) -> impl Iterator<Item = (usize, &'static str)> {
    (1..).zip(file.lines()).filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

pub(crate) fn secrets() -> Vec<Secret> {
    rows(include_str!("corpus/secrets.txt"))
        .map(|(line, row)| {
            let (kinds, template) = row.split_once(" | ").expect("a bar");
            let mut kinds = kinds.split(',').map(str::trim).cycle();
            let marked = fill(template, line);
            let mut secret =
                Secret { line, text: String::new(), expected: String::new(), secrets: Vec::new() };
            for (number, part) in marked.split(['«', '»']).enumerate() {
                secret.text.push_str(part);
                if number % 2 == 0 {
                    secret.expected.push_str(part);
                } else {
                    secret.expected.push_str(&format!("[masked:{}]", kinds.next().expect("a kind")));
                    secret.secrets.push(part.to_owned());
                }
            }
            secret
        })
        .collect()
}

pub(crate) fn lookalikes() -> Vec<(usize, String)> {
    rows(include_str!("corpus/lookalikes.txt")).map(|(line, row)| (line, fill(row, line))).collect()
}

/// Replaces the placeholders and escapes of a row. The same row always gives the same text.
pub(crate) fn fill(template: &str, seed: usize) -> String {
    let mut state = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut draw = |alphabet: &[u8]| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        alphabet[(state >> 33) as usize % alphabet.len()] as char
    };
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '\\']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(escaped) = rest.strip_prefix('\\') {
            let (character, length) = match escaped.chars().next() {
                Some('n') => ('\n', 1),
                Some('t') => ('\t', 1),
                Some('\\') => ('\\', 1),
                _ => ('\\', 0),
            };
            text.push(character);
            rest = &escaped[length..];
            continue;
        }
        let end = rest.find('}').unwrap_or(rest.len() - 1) + 1;
        let inside = rest[1..end].trim_end_matches('}');
        let (name, count) = inside.split_once(':').unwrap_or((inside, ""));
        let alphabet: &[u8] = match name {
            "alnum" => b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
            "word" => b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
            "upper" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            "hex" => b"0123456789abcdef",
            "lower" => b"abcdefghijklmnopqrstuvwxyz0123456789",
            "letters" => b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
            "base32" => b"abcdefghijklmnopqrstuvwxyz234567",
            "url64" => b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_",
            "print" => {
                b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&()*+,-./:;<=>?@[]^_{|}~"
            }
            "pct" => {
                let length = text.len() + count.parse::<usize>().unwrap_or_default();
                while text.len() < length {
                    match draw(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/") {
                        '+' => text.push_str("%2B"),
                        '/' => text.push_str("%2F"),
                        other => text.push(other),
                    }
                }
                rest = &rest[end..];
                continue;
            }
            "digits" => b"123456789",
            "b64" => b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/",
            "uuid" => {
                for length in [8, 4, 4, 4, 12] {
                    text.extend((0..length).map(|_| draw(b"0123456789abcdef")));
                    text.push('-');
                }
                text.pop();
                rest = &rest[end..];
                continue;
            }
            _ => b"",
        };
        match count.parse::<usize>() {
            Ok(count) if !alphabet.is_empty() => {
                text.extend((0..count).map(|_| draw(alphabet)));
                rest = &rest[end..];
            }
            _ => {
                text.push('{');
                rest = &rest[1..];
            }
        }
    }
    text.push_str(rest);
    text
}

#[test]
fn the_corpus_is_large_enough_to_mean_something() {
    assert!(secrets().len() >= 120, "{} texts with secrets", secrets().len());
    assert!(lookalikes().len() >= 120, "{} look-alikes", lookalikes().len());
}

#[test]
fn every_secret_is_masked_and_nothing_around_it() {
    let wrong: Vec<String> = secrets()
        .iter()
        .filter(|secret| mask(&secret.text) != secret.expected)
        .map(|secret| {
            format!(
                "line {}: {:?}\n  expected {:?}\n  got      {:?}",
                secret.line,
                secret.text,
                secret.expected,
                mask(&secret.text)
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} wrong\n{}", wrong.len(), secrets().len(), wrong.join("\n"));
}

#[test]
fn a_look_alike_stays_as_it_is() {
    let wrong: Vec<String> = lookalikes()
        .iter()
        .filter(|(_, text)| mask(text) != text.as_str())
        .map(|(line, text)| format!("line {line}: {text:?} became {:?}", mask(text)))
        .collect();
    assert!(wrong.is_empty(), "{} of {} wrong\n{}", wrong.len(), lookalikes().len(), wrong.join("\n"));
}

#[test]
fn masking_twice_changes_nothing_more() {
    for secret in secrets() {
        let once = mask(&secret.text).into_owned();
        assert_eq!(mask(&once), once, "line {}", secret.line);
    }
}

#[test]
fn a_secret_is_found_wherever_it_stands_in_a_text() {
    for secret in secrets() {
        for before in ["", "x ", "a line\n", "twenty characters ok and more\n", "ein Wort – ", "\t"] {
            for after in ["", " and so on", "\nnext line", "\n"] {
                // A key that is not terminated goes on to the end, and a line goes on to its end.
                if !secret.expected.ends_with(']') || !after.starts_with('\n') && !after.is_empty() {
                    continue;
                }
                let masked = mask(&format!("{before}{}{after}", secret.text)).into_owned();
                for gone in &secret.secrets {
                    assert!(
                        !masked.contains(gone.as_str()),
                        "line {} behind {before:?}: {masked:?}",
                        secret.line
                    );
                }
            }
        }
    }
}

#[test]
fn a_password_is_not_masked_again_because_of_a_sign_far_behind_it() {
    for distance in [1, 100, 2000, 2047, 2048, 2100, 5000] {
        let far = format!("{}@", "y".repeat(distance)).repeat(20);
        let once = mask(&format!("scheme://app:hunter2@{far}")).into_owned();
        assert_eq!(mask(&once), once, "{distance}");
        assert!(once.starts_with("scheme://app:[masked:url-password]@"), "{distance}: {once:.80}");
    }
}
