//! Options of commands: `--password value`, `"--token", "value"`, and the short ones that a few programs have.

use super::names::{self, Name};
use super::{Span, part, values};

/// Whether an option at `at` (the last of its leading hyphens) may be followed by a secret.
pub(super) fn named(text: &[u8], at: usize) -> bool {
    match part(text, at.saturating_sub(1), at) {
        b"-" => {
            matches!(names::judge(long_name(text, at)), Name::Key | Name::Password | Name::Bare | Name::Weak)
        }
        _ => match text.get(at + 1) {
            Some(letter @ (b'p' | b'P' | b'a' | b'u' | b'w')) => program(text, at, *letter).is_some(),
            _ => false,
        },
    }
}

fn long_name(text: &[u8], at: usize) -> &[u8] {
    let rest = part(text, at + 1, at + 2 + names::MOST);
    let length =
        rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')).count();
    part(rest, 0, length)
}

/// The secret that follows the option at `at`.
pub(super) fn secret(text: &[u8], at: usize) -> Option<Span> {
    match part(text, at.saturating_sub(1), at) {
        b"-" => long(text, at),
        _ => short(text, at),
    }
}

fn long(text: &[u8], at: usize) -> Option<Span> {
    let name = long_name(text, at);
    let judged = names::judge(name);
    let after = at + 1 + name.len();
    // With `=` or `:` the pair has been seen already.
    let start = after + separator(text.get(after..)?)?;
    let found = values::value_near(text, start)?;
    let value = part(text, found.start, found.end);
    if value.starts_with(b"-") || values::refers(value, found.quoted) {
        return None;
    }
    let secret = match judged {
        Name::Password | Name::Bare | Name::Key => {
            // `--secret id=npm,src=.npmrc` of docker build names a file.
            !values::is_path(value) && !value.starts_with(b"id=") && !value.starts_with(b"type=")
        }
        Name::Weak => value.len() >= 20 && !values::is_path(value) && values::random(value),
        Name::Plain | Name::Header | Name::Cookie => false,
    };
    if !secret {
        return None;
    }
    let whole = values::value(text, start)?;
    Some(Span { start: whole.start, end: whole.end, kind: "option" })
}

/// Length of what separates an option from its value: blanks, or the quotes and comma of a list.
fn separator(rest: &[u8]) -> Option<usize> {
    let quote = matches!(rest.first(), Some(b'"' | b'\''));
    let mut length = usize::from(quote);
    if quote && rest.get(length) == Some(&b',') {
        length += 1;
    } else if quote {
        return None;
    }
    let blanks =
        part(rest, length, rest.len()).iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (quote || blanks > 0).then_some(length + blanks)
}

/// How a program takes a password behind a short option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Short {
    /// `-pSECRET`
    Attached,
    /// `-p SECRET` or `-pSECRET`
    Either,
    /// `-u name:SECRET`
    Pair,
}

const PROGRAMS: &[(&[u8], u8, Short)] = &[
    (b"mysql", b'p', Short::Attached),
    (b"mysqldump", b'p', Short::Attached),
    (b"mysqladmin", b'p', Short::Attached),
    (b"mysqlimport", b'p', Short::Attached),
    (b"mysqlsh", b'p', Short::Attached),
    (b"mariadb", b'p', Short::Attached),
    (b"mariadb-dump", b'p', Short::Attached),
    (b"mariadb-admin", b'p', Short::Attached),
    (b"sshpass", b'p', Short::Either),
    (b"mongo", b'p', Short::Either),
    (b"mongosh", b'p', Short::Either),
    (b"mongodump", b'p', Short::Either),
    (b"redis-cli", b'a', Short::Either),
    (b"sqlcmd", b'P', Short::Either),
    (b"zip", b'P', Short::Either),
    (b"unzip", b'P', Short::Either),
    (b"7z", b'p', Short::Attached),
    (b"ldapsearch", b'w', Short::Either),
    (b"ldapmodify", b'w', Short::Either),
    (b"curl", b'u', Short::Pair),
    (b"http", b'a', Short::Pair),
    (b"https", b'a', Short::Pair),
];

/// Programs whose `login` takes `-p SECRET`.
const LOGINS: &[&[u8]] =
    &[b"docker", b"podman", b"nerdctl", b"oc", b"helm", b"az", b"buildah", b"skopeo", b"cf"];

/// The short option behind which a program takes a password.
pub(super) fn short_of(program: &[u8]) -> Option<(u8, Short)> {
    PROGRAMS.iter().find(|(name, _, _)| *name == program).map(|(_, letter, how)| (*letter, *how))
}

/// Whether a program has a `login` that takes a password.
pub(super) fn logs_in(program: &[u8]) -> bool {
    LOGINS.contains(&program)
}

/// Where the password of `name:password` begins; not of two numbers, an address or a folder.
pub(super) fn pair(value: &[u8]) -> Option<usize> {
    let colon = value.iter().position(|byte| *byte == b':')?;
    let (name, password) = (value.get(..colon)?, value.get(colon + 1..)?);
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'/';
    let numbers = password.iter().all(u8::is_ascii_digit) && name.iter().all(u8::is_ascii_digit);
    let plain = !numbers && !name.iter().any(blank) && !password.starts_with(b"//");
    plain.then_some(colon + 1)
}

fn short(text: &[u8], at: usize) -> Option<Span> {
    let letter = *text.get(at + 1)?;
    let how = program(text, at, letter)?;
    let attached = !matches!(text.get(at + 2), None | Some(b' ' | b'\t' | b'\n'));
    if how == Short::Attached && !attached {
        return None;
    }
    let found = values::value_near(text, at + 2)?;
    let value = part(text, found.start, found.end);
    let (start, value) = match how {
        Short::Attached | Short::Either => (found.start, value),
        Short::Pair => {
            let colon = value.iter().position(|byte| *byte == b':')?;
            (found.start + colon + 1, value.get(colon + 1..)?)
        }
    };
    let harmless = value.starts_with(b"-") || values::refers(value, found.quoted);
    if harmless {
        return None;
    }
    Some(Span { start, end: values::value(text, at + 2)?.end, kind: "option" })
}

fn is_program(name: &[u8]) -> bool {
    LOGINS.contains(&name) || PROGRAMS.iter().any(|(program, _, _)| *program == name)
}

/// How far back the program of an option is looked for.
const REACH: usize = 256;

/// How the program that the option at `at` belongs to takes its password.
fn program(text: &[u8], at: usize, letter: u8) -> Option<Short> {
    let before = part(text, at.saturating_sub(REACH), at);
    let begin = before.iter().rposition(|byte| matches!(byte, b'\n' | b';' | b'|' | b'&' | b'(' | b'`'));
    let command = part(before, begin.map_or(0, |place| place + 1), before.len());
    let mut words = command.split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\'));
    let mut login = false;
    let how = words.find_map(|word| {
        // Behind the backslash of white space that is spelled `\n`, `\r` or `\t` the word begins one letter later.
        let escaped = command.len() > word.len() && matches!(word.first(), Some(b'n' | b'r' | b't'));
        let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let name = if escaped && !is_program(name) { part(name, 1, name.len()) } else { name };
        if LOGINS.contains(&name) {
            login = true;
        }
        PROGRAMS
            .iter()
            .find(|(program, option, _)| *program == name && *option == letter)
            .map(|(_, _, how)| *how)
    });
    match how {
        Some(how) => Some(how),
        None if login && letter == b'p' && command.windows(7).any(|part| part == b" login ") => {
            Some(Short::Either)
        }
        None => None,
    }
}
