//! The words of an error that its author chose. Quotations, paths and repeated text after an introduction are not
//! among them.

use super::{ErrorClass, contains};

/// Phrases of errors. The one that stands first in the text decides; of two at the same place the first listed.
const WORDS: &[(&[u8], ErrorClass)] = &[
    (b"request interrupted", ErrorClass::Interrupt),
    (b"interrupted by user", ErrorClass::Interrupt),
    (b"cancelled by user", ErrorClass::Interrupt),
    (b"canceled by user", ErrorClass::Interrupt),
    (b"user rejected", ErrorClass::Permission),
    (b"user doesn't want to proceed", ErrorClass::Permission),
    (b"policy", ErrorClass::PolicyDenied),
    (b"hook error", ErrorClass::HookBlocked),
    (b"hook failed", ErrorClass::HookBlocked),
    (b"blocked by hook", ErrorClass::HookBlocked),
    (b"permission to use", ErrorClass::Permission),
    (b"permission denied", ErrorClass::Permission),
    (b"permission for this action", ErrorClass::Permission),
    (b"requested permissions", ErrorClass::Permission),
    (b"operation not permitted", ErrorClass::Permission),
    (b"eacces", ErrorClass::Permission),
    (b"eperm", ErrorClass::Permission),
    (b"needs approval", ErrorClass::Permission),
    (b"requires approval", ErrorClass::Permission),
    (b"auto-denied", ErrorClass::Permission),
    (b"denied by your permission settings", ErrorClass::Permission),
    (b"was blocked", ErrorClass::Permission),
    (b"not allowed", ErrorClass::Permission),
    (b"access denied", ErrorClass::Permission),
    (b"timed out", ErrorClass::Timeout),
    (b"timeout", ErrorClass::Timeout),
    (b"etimedout", ErrorClass::Timeout),
    (b"deadline exceeded", ErrorClass::Timeout),
    (b"no such file", ErrorClass::NotFound),
    (b"does not exist", ErrorClass::NotFound),
    (b"doesn't exist", ErrorClass::NotFound),
    (b"enoent", ErrorClass::NotFound),
    (b"file not found", ErrorClass::NotFound),
    (b"not found in file", ErrorClass::InvalidInput),
    (b"econnrefused", ErrorClass::Network),
    (b"econnreset", ErrorClass::Network),
    (b"enotfound", ErrorClass::Network),
    (b"getaddrinfo", ErrorClass::Network),
    (b"connection refused", ErrorClass::Network),
    (b"connection reset", ErrorClass::Network),
    (b"connection closed", ErrorClass::Network),
    (b"connection error", ErrorClass::Network),
    (b"socket hang up", ErrorClass::Network),
    (b"network", ErrorClass::Network),
    (b"dns", ErrorClass::Network),
    (b"could not resolve", ErrorClass::Network),
    (b"unable to connect", ErrorClass::Network),
    (b"fetch failed", ErrorClass::Network),
    (b"status code 4", ErrorClass::Network),
    (b"status code 5", ErrorClass::Network),
    (b"http 429", ErrorClass::Network),
    (b"http 5", ErrorClass::Network),
    (b"api error: 429", ErrorClass::Network),
    (b"api error: 5", ErrorClass::Network),
    (b"overloaded", ErrorClass::Network),
    (b"rate limit", ErrorClass::Network),
    (b"exceeds maximum", ErrorClass::InvalidInput),
    (b"eisdir", ErrorClass::InvalidInput),
    (b"matches of the string to replace", ErrorClass::InvalidInput),
    (b"string to replace not found", ErrorClass::InvalidInput),
    (b"unknown skill", ErrorClass::InvalidInput),
    (b"inputvalidationerror", ErrorClass::InvalidInput),
    (b"no such tool available", ErrorClass::InvalidInput),
    (b"invalid", ErrorClass::InvalidInput),
    (b"must be", ErrorClass::InvalidInput),
    (b"is required", ErrorClass::InvalidInput),
    (b"missing required", ErrorClass::InvalidInput),
    (b"has not been read yet", ErrorClass::InvalidInput),
    (b"not found", ErrorClass::NotFound),
];

/// Returns the class by the words of an error's head.
pub(super) fn class(head: &[u8]) -> ErrorClass {
    // The safety of a domain could not be checked "due to network restrictions or enterprise security policies".
    if contains(head, b"unable to verify if domain") {
        return ErrorClass::Network;
    }
    let mut said = quoted_away(head);
    said.make_ascii_lowercase();
    let place = |word: &[u8]| said.windows(word.len()).position(|part| part == word);
    let earliest = WORDS.iter().filter_map(|(word, class)| Some((place(word)?, *class)));
    earliest.min_by_key(|(place, _)| *place).map_or(ErrorClass::Unknown, |(_, class)| class)
}

/// Introductions of text that the author of an error only repeats.
const INTRODUCTIONS: [&[u8]; 4] =
    [b"current working directory is", b"cwd is", b"\nstring:", b"\nstring to replace:"];

/// Returns the text without its quotations: up to an introduction, without quoted parts, without paths.
pub(super) fn quoted_away(text: &[u8]) -> Vec<u8> {
    let end = INTRODUCTIONS
        .iter()
        .filter_map(|start| text.windows(start.len()).position(|part| part.eq_ignore_ascii_case(start)))
        .min()
        .unwrap_or(text.len());
    let mut rest = text.get(..end).unwrap_or_default();
    let mut said = Vec::with_capacity(rest.len());
    while let Some((first, after)) = rest.split_first() {
        let opens =
            matches!(first, b'\'' | b'"' | b'`') && !said.last().is_some_and(u8::is_ascii_alphanumeric);
        let closes = |(at, byte): (usize, &u8)| {
            (byte == first && !after.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)).then_some(at)
        };
        match if opens { after.iter().enumerate().find_map(closes) } else { None } {
            Some(length) => {
                said.extend([*first, *first]);
                rest = after.get(length + 1..).unwrap_or_default();
            }
            None => {
                said.push(*first);
                rest = after;
            }
        }
    }
    // A word with a slash in it is a path; the tags of the client are not.
    let is_path = |word: &[u8]| word.contains(&b'/') && !word.contains(&b'<');
    said.split(|byte| byte.is_ascii_whitespace())
        .filter(|word| !is_path(word))
        .collect::<Vec<_>>()
        .join(&b' ')
}
