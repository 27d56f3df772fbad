//! Small damage to real inputs.
//!
//! Each mutation is one that readers are known to trip over: flipped bits, cut and doubled parts, two
//! inputs grown together, numbers at the edges of their types, tokens of the format in odd places, and
//! one token many times over (depth).

use crate::random::Random;

/// The longest input that is grown.
pub const LENGTH_MAX: usize = 256 * 1024;

/// Numbers at the edges of types, as text.
const NUMBERS: &[&[u8]] = &[
    b"0",
    b"-0",
    b"-1",
    b"1",
    b"00",
    b"127",
    b"128",
    b"255",
    b"256",
    b"65535",
    b"65536",
    b"2147483647",
    b"2147483648",
    b"4294967295",
    b"4294967296",
    b"9007199254740993",
    b"9223372036854775807",
    b"9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"1e999",
    b"1e-999",
    b"0.1",
    b"99999999999999999999999999999999",
];

/// Bytes that formats give a meaning to, or that text cannot hold.
const BYTES: &[u8] =
    b"\0\t\n\r \"%',/:;<=>?@[\\]^`{|}~-+.0aA\x1b\x7f\x80\xbf\xc0\xc2\xe2\xed\xf0\xf4\xfe\xff";

/// Sequences that readers of text trip over.
const SEQUENCES: &[&[u8]] = &[
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\xc0\x80",
    b"\xf4\x90\x80\x80",
    b"\xe2\x80\xa8",
    b"\xc2\x85",
    b"\r\n",
    b"\\u0000",
    b"\\ud800",
    b"\\udc00\\ud800",
    b"\\u005f",
    b"%00",
    b"%",
    b"\\",
    b"\"",
    b"null",
    b"true",
    b"NaN",
    b"{}",
    b"[]",
    b"\n\n",
];

/// Damages an input between one and eight times.
pub fn mutate(random: &mut Random, input: &mut Vec<u8>, corpus: &[Vec<u8>], dictionary: &[&[u8]]) {
    for _ in 0..=random.below(8) {
        mutate_once(random, input, corpus, dictionary);
    }
    input.truncate(LENGTH_MAX);
}

fn mutate_once(random: &mut Random, input: &mut Vec<u8>, corpus: &[Vec<u8>], dictionary: &[&[u8]]) {
    let place = random.below(input.len() + 1);
    match random.below(14) {
        0 => change_byte(random, input, |random, byte| byte ^ (1 << random.below(8))),
        1 => change_byte(random, input, |random, _| random.byte()),
        2 => change_byte(random, input, |random, byte| random.pick(BYTES).copied().unwrap_or(byte)),
        3 => change_byte(random, input, |random, byte| byte.wrapping_add(random.byte() % 5).wrapping_sub(2)),
        4 => {
            let range = some_range(random, input.len());
            input.drain(range);
        }
        5 => input.truncate(place),
        6 => {
            let copy = part(random, input);
            insert(input, place, &copy);
        }
        7 => {
            let token = token(random, dictionary);
            let times = 1 << random.below(13);
            let room = LENGTH_MAX.saturating_sub(input.len());
            let repeated = token.repeat(times.min(room / token.len().max(1)));
            insert(input, place, &repeated);
        }
        8 | 9 => {
            let token = token(random, dictionary);
            insert(input, place, &token);
        }
        10 => {
            let token = token(random, dictionary);
            let end = (place + token.len()).min(input.len());
            input.splice(place..end, token);
        }
        11 => {
            let number = random.pick(NUMBERS).copied().unwrap_or_default();
            replace_number(random, input, number);
        }
        12 => {
            let other = random.pick(corpus).map(|other| part(random, other)).unwrap_or_default();
            insert(input, place, &other);
        }
        _ => {
            // Two inputs grown together: the head of this one, the tail of another.
            if let Some(other) = random.pick(corpus) {
                let from = random.below(other.len() + 1);
                input.truncate(place);
                input.extend(other.iter().skip(from));
            }
        }
    }
}

fn change_byte(random: &mut Random, input: &mut [u8], change: impl Fn(&mut Random, u8) -> u8) {
    let place = random.below(input.len());
    if let Some(byte) = input.get_mut(place) {
        *byte = change(random, *byte);
    }
}

/// Replaces a run of digits, if the first one after a random place is near.
fn replace_number(random: &mut Random, input: &mut Vec<u8>, number: &[u8]) {
    let from = random.below(input.len() + 1);
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let Some(start) = input.iter().skip(from).position(is_digit).map(|offset| from + offset) else {
        return insert(input, from, number);
    };
    let digits = input.iter().skip(start).take_while(|byte| is_digit(byte)).count();
    input.splice(start..start + digits, number.iter().copied());
}

fn some_range(random: &mut Random, length: usize) -> std::ops::Range<usize> {
    let start = random.below(length + 1);
    // Mostly short parts: long ones leave nothing of the input.
    let most = if random.below(4) == 0 { length } else { length.min(16) };
    start..(start + random.below(most + 1)).min(length)
}

fn part(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let range = some_range(random, bytes.len());
    bytes.get(range).unwrap_or_default().to_vec()
}

fn insert(input: &mut Vec<u8>, place: usize, bytes: &[u8]) {
    let place = place.min(input.len());
    input.splice(place..place, bytes.iter().copied());
}

fn token(random: &mut Random, dictionary: &[&[u8]]) -> Vec<u8> {
    let from = match random.below(4) {
        0 => NUMBERS,
        1 => SEQUENCES,
        _ if dictionary.is_empty() => SEQUENCES,
        _ => dictionary,
    };
    if random.below(16) == 0 {
        return (0..random.below(64)).map(|_| random.byte()).collect();
    }
    random.pick(from).copied().unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_sequence_does_the_same_damage() {
        let corpus = vec![b"{\"a\":1}".to_vec(), b"other".to_vec()];
        for run in 0..500 {
            let damaged = || {
                let mut input = corpus[0].clone();
                mutate(&mut Random::of_run(3, "t", run), &mut input, &corpus, &[b"word"]);
                input
            };
            assert_eq!(damaged(), damaged());
        }
    }

    #[test]
    fn every_kind_of_input_survives_being_damaged_and_stays_within_the_limit() {
        for input in [Vec::new(), vec![0], vec![b'x'; LENGTH_MAX]] {
            for run in 0..2000 {
                let mut damaged = input.clone();
                mutate(&mut Random::of_run(1, "t", run), &mut damaged, &[], &[]);
                assert!(damaged.len() <= LENGTH_MAX);
            }
        }
    }

    #[test]
    fn damage_is_varied() {
        let corpus = vec![b"second input".to_vec()];
        let original = b"{\"count\":12}".to_vec();
        let results: std::collections::BTreeSet<Vec<u8>> = (0..2000)
            .map(|run| {
                let mut input = original.clone();
                mutate(&mut Random::of_run(1, "t", run), &mut input, &corpus, &[b"word"]);
                input
            })
            .collect();
        assert!(results.len() > 1500, "{} different results", results.len());
        let any = |wanted: &[u8]| {
            results.iter().any(|found| found.windows(wanted.len()).any(|part| part == wanted))
        };
        assert!(any(b"word") && any(b"wordwordwordword") && any(b"second") && any(b"18446744073709551616"));
        assert!(results.iter().any(Vec::is_empty), "everything was cut away at least once");
    }
}
