//! Options of commands: `--password value`, `"--token", "value"`, and the short ones that a few programs have.

use super::names::{self, Name};
use super::{Span, part, values};

/// Whether an option at `at` (the last of its leading hyphens) may be followed by a secret.
pub(super) fn named(text: &[u8], at: usize) -> bool {
    match part(text, at.saturating_sub(1), at) {
        b"-" => {
            let name = long_name(text, at);
            matches!(names::judge(name), Name::Key | Name::Password | Name::Bare | Name::Weak)
                || special(text, at, name).is_some()
        }
        _ => short_option(text, at).is_some(),
    }
}

/// How a long option takes a secret that its name does not tell of.
fn special(text: &[u8], at: usize, name: &[u8]) -> Option<Short> {
    match name {
        b"user" | b"proxy-user" if !takes_user(text, at) => Some(Short::Pair),
        b"cookie" => Some(Short::Cookie),
        b"oauth2-bearer" => Some(Short::Either),
        b"body" if sets_secret(text, at) => Some(Short::Either),
        _ => None,
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
    if let Some(how) = special(text, at, name) {
        let joined = text.get(after) == Some(&b'=');
        let start = if joined { after + 1 } else { after + separator(text.get(after..)?)? };
        return behind(text, start, how);
    }
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
    /// `-b name=SECRET`
    Cookie,
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
    (b"curl", b'b', Short::Cookie),
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
    let plain = !numbers && !name.iter().any(blank) && !matches!(password.first(), None | Some(b'/'));
    let format = matches!(name.first(), Some(b'+' | b'%')) || name.contains(&b'[');
    (plain && !format).then_some(colon + 1)
}

/// How the short option at `at` takes a secret, and where that may begin.
fn short_option(text: &[u8], at: usize) -> Option<(Short, usize)> {
    let letter = *text.get(at + 1)?;
    if matches!(letter, b'p' | b'P' | b'a' | b'u' | b'w' | b'b')
        && let Some(how) = program(text, at, letter)
    {
        return Some((how, at + 2));
    }
    let letters = part(text, at + 1, at + 9).iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let end = at + 1 + letters;
    // A tab may be spelled.
    if !matches!(text.get(end), Some(b' ' | b'\t' | b'\\')) {
        return None;
    }
    match part(text, at + 1, end) {
        b"u" => (!takes_user(text, at)).then_some((Short::Pair, end)),
        b"b" => sets_secret(text, at).then_some((Short::Either, end)),
        // `-su`: several in one, of which the last takes the value.
        [_, .., b'u'] => program(text, at, b'u').map(|how| (how, end)),
        _ => None,
    }
}

fn short(text: &[u8], at: usize) -> Option<Span> {
    let (how, start) = short_option(text, at)?;
    let attached = !matches!(text.get(start), None | Some(b' ' | b'\t' | b'\n'));
    if how == Short::Attached && !attached {
        return None;
    }
    behind(text, start, how)
}

/// The secret in the value that begins at or behind `at`.
fn behind(text: &[u8], at: usize, how: Short) -> Option<Span> {
    let found = values::value_near(text, at)?;
    let value = part(text, found.start, found.end);
    let within = match how {
        Short::Attached | Short::Either => 0,
        Short::Pair => pair(value)?,
        Short::Cookie => value.iter().position(|byte| *byte == b'=')? + 1,
    };
    let secret = value.get(within..)?;
    if secret.is_empty() || value.starts_with(b"-") || values::refers(secret, found.quoted) {
        return None;
    }
    Some(Span { start: found.start + within, end: values::value(text, at)?.end, kind: "option" })
}

/// Programs whose `-u` and `--user` take a user, a user and a group, or nothing.
const USERS: &[&[u8]] = &[
    b"docker",
    b"podman",
    b"nerdctl",
    b"buildah",
    b"kubectl",
    b"oc",
    b"chroot",
    b"sudo",
    b"setpriv",
    b"su",
    b"runuser",
    b"ps",
    b"rsync",
    b"scp",
    b"cp",
    b"mv",
    b"git",
    b"date",
    b"diff",
    b"sort",
    b"touch",
    b"install",
    b"docker-compose",
    b"systemd-run",
    b"systemctl",
    b"pip",
    b"pip3",
    b"python",
    b"python3",
    b"grep",
    b"tar",
];

/// Whether the command that the option at `at` belongs to takes users there, and no passwords.
fn takes_user(text: &[u8], at: usize) -> bool {
    let command = command(text, at);
    let mut words = words(command);
    !words.clone().any(|word| word == b"curl") && words.any(|word| USERS.contains(&word))
}

/// Whether the option at `at` belongs to `gh secret set`.
fn sets_secret(text: &[u8], at: usize) -> bool {
    command(text, at).windows(12).any(|part| part == b" secret set ")
}

fn is_program(name: &[u8]) -> bool {
    LOGINS.contains(&name) || USERS.contains(&name) || PROGRAMS.iter().any(|(program, _, _)| *program == name)
}

/// How far back the program of an option is looked for.
const REACH: usize = 256;

/// The command that the option at `at` belongs to, up to it.
fn command(text: &[u8], at: usize) -> &[u8] {
    let before = part(text, at.saturating_sub(REACH), at);
    let ends = |place: &usize| match part(before, *place, *place + 2) {
        [b'\n' | b';' | b'|' | b'&' | b'(' | b'`', ..] => true,
        // A line break may be spelled.
        pair => pair == b"\\n",
    };
    let begin = (0..before.len()).rev().find(ends);
    // Behind a spelled line break its letter is left out by [`words`], which sees the backslash.
    part(
        before,
        begin.map_or(0, |place| place + usize::from(before.get(place) != Some(&b'\\'))),
        before.len(),
    )
}

/// The words of a command, without folders and quotes.
fn words(command: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    let words = command.split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\'));
    let mut start: usize = 0;
    words.map(move |word| {
        let before = start.checked_sub(1).and_then(|place| command.get(place));
        start += word.len() + 1;
        // Behind the backslash of white space that is spelled `\n`, `\r` or `\t` the word begins one letter later.
        let escaped = before == Some(&b'\\') && matches!(word.first(), Some(b'n' | b'r' | b't'));
        let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        if escaped && !is_program(name) && is_program(part(name, 1, name.len())) {
            part(name, 1, name.len())
        } else {
            name
        }
    })
}

/// Whether three letters are in the name of a program that takes a password, or in `login`: the quick look before its
/// words are compared.
fn is_trace(three: &[u8]) -> bool {
    match three {
        [b'7', b'z', _] => true,
        _ => [&b"sql"[..], b"mar", b"ssh", b"mon", b"red", b"zip", b"lda", b"cur", b"htt", b"log"]
            .contains(&three),
    }
}

/// How the program that the option at `at` belongs to takes its password.
fn program(text: &[u8], at: usize, letter: u8) -> Option<Short> {
    let command = command(text, at);
    if !command.windows(3).any(is_trace) {
        return None;
    }
    let mut words = words(command);
    let mut login = false;
    let how = words.find_map(|name| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_leaves_a_trace() {
        // The blank is the one before its option.
        for (name, _, _) in PROGRAMS {
            let command = [name, &b" "[..]].concat();
            assert!(command.windows(3).any(is_trace), "{}", String::from_utf8_lossy(name));
        }
        assert!(b" login ".windows(3).any(is_trace));
    }
}
