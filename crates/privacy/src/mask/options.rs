//! Options of commands: `--password value`, `"--token", "value"`, and the short ones that a few programs have.

use super::names::{self, Name};
use super::{Span, part, proximity, stems, values, words};
use crate::table::Table;

/// Returns `true` if a secret may follow the option at `at` (the last of its leading hyphens), whose first letter is
/// `letter`. This cheap check excludes most options.
#[inline(always)]
pub(super) fn may_follow(text: &[u8], at: usize, letter: u8) -> bool {
    let long = at > 0 && text.get(at - 1) == Some(&b'-');
    if long {
        return letter.is_ascii_alphanumeric() || letter == b'_';
    }
    is_short(letter)
        || (letter.is_ascii_alphabetic() && text.get(at + 2).is_some_and(u8::is_ascii_alphabetic))
}

/// Returns `true` if some program takes a secret behind this letter.
#[inline(always)]
fn is_short(letter: u8) -> bool {
    matches!(letter, b'p' | b'P' | b'a' | b'u' | b'w' | b'b' | b'k' | b'N' | b'S' | b'U' | b'E')
}

/// Returns the form in which a long option takes a secret that its name does not suggest.
fn special(text: &[u8], at: usize, name: &[u8]) -> Option<ShortOption> {
    match name {
        b"user" | b"proxy-user" if !takes_user(text, at) => Some(ShortOption::Pair),
        b"creds" | b"src-creds" | b"dest-creds" | b"cert" => Some(ShortOption::Pair),
        b"stdin" => Some(ShortOption::Fed),
        b"cookie" => Some(ShortOption::Cookie),
        b"oauth2-bearer" => Some(ShortOption::Either),
        b"body" if sets_secret(text, at) => Some(ShortOption::Either),
        _ => None,
    }
}

fn long_name(text: &[u8], at: usize) -> &[u8] {
    let rest = part(text, at + 1, at + 2 + names::MOST);
    let length =
        rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')).count();
    part(rest, 0, length)
}

/// Returns the secret that follows the option at `at`.
#[inline(never)]
pub(super) fn secret(text: &[u8], at: usize) -> Option<Span> {
    match part(text, at.saturating_sub(1), at) {
        b"-" => long(text, at),
        _ => short(text, at),
    }
}

fn long(text: &[u8], at: usize) -> Option<Span> {
    let name = long_name(text, at);
    let after = at + 1 + name.len();
    if let Some(how) = special(text, at, name) {
        if how == ShortOption::Fed {
            return proximity::fed(text, at);
        }
        let joined = text.get(after) == Some(&b'=');
        let start = if joined { after + 1 } else { after + separator(text.get(after..)?)? };
        return behind(text, start, how);
    }
    if !stems::within(name) {
        return None;
    }
    // With `=` or `:` the pair has been seen already.
    let start = after + separator(text.get(after..)?)?;
    let found = values::value_near(text, start)?;
    let value = part(text, found.start, found.end);
    if value.starts_with(b"-") || values::refers(value, found.quoted) {
        return None;
    }
    let secret = match names::judge(name) {
        Name::Password | Name::Bare | Name::Key => {
            // `--secret id=npm,src=.npmrc` of docker build names a file.
            !values::is_path(value)
                && !value.starts_with(b"id=")
                && !value.starts_with(b"type=")
                && !words::listed(words::PROSE, value)
        }
        Name::Weak => value.len() >= names::LONG && !values::is_path(value) && values::random(value),
        Name::Plain | Name::Header | Name::Cookie => false,
    };
    if !secret {
        return None;
    }
    let whole = values::value(text, start)?;
    Some(Span { start: whole.start, end: whole.end, kind: "option" })
}

/// Returns the length of the blanks, or of the quotes and comma of a list, between an option and its value.
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

/// The form in which a program takes a password by a short option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShortOption {
    /// `-pSECRET`
    Attached,
    /// `-p SECRET` or `-pSECRET`
    Either,
    /// `-k SECRET`, while `-key` is another option
    Apart,
    /// `-u name:SECRET`
    Pair,
    /// `-U name%SECRET`
    Percent,
    /// `-b name=SECRET`
    Cookie,
    /// `echo SECRET | command -S`
    Fed,
}

/// The options of a program that take secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Program {
    /// The short options that take a password.
    shorts: &'static [(u8, ShortOption)],
    /// True if it has a `login` that takes `-p SECRET`.
    logs_in: bool,
    /// True if its `-u` and `--user` take a user, a user and a group, or nothing.
    takes_user: bool,
}

const fn takes(shorts: &'static [(u8, ShortOption)]) -> Program {
    Program { shorts, logs_in: false, takes_user: false }
}

const ATTACHED: Program = takes(&[(b'p', ShortOption::Attached)]);
const EITHER: Program = takes(&[(b'p', ShortOption::Either)]);
const LOGIN: Program = Program { shorts: &[], logs_in: true, takes_user: false };
const USER: Program = Program { shorts: &[], logs_in: false, takes_user: true };
const LOGIN_AND_USER: Program = Program { shorts: &[], logs_in: true, takes_user: true };

static PROGRAMS: Table<Program, 77> = Table::new([
    (b"mysql", ATTACHED),
    (b"mysqldump", ATTACHED),
    (b"mysqladmin", ATTACHED),
    (b"mysqlimport", ATTACHED),
    (b"mysqlsh", ATTACHED),
    (b"mariadb", ATTACHED),
    (b"mariadb-dump", ATTACHED),
    (b"mariadb-admin", ATTACHED),
    (b"7z", ATTACHED),
    (b"sshpass", EITHER),
    (b"mongo", EITHER),
    (b"mongosh", EITHER),
    (b"mongodump", EITHER),
    (b"redis-cli", takes(&[(b'a', ShortOption::Either)])),
    (b"sqlcmd", takes(&[(b'P', ShortOption::Either)])),
    (b"ipmitool", takes(&[(b'P', ShortOption::Either)])),
    (b"useradd", takes(&[(b'p', ShortOption::Apart)])),
    (b"usermod", takes(&[(b'p', ShortOption::Apart)])),
    (b"zip", takes(&[(b'P', ShortOption::Either)])),
    (b"unzip", takes(&[(b'P', ShortOption::Either)])),
    (b"ldapsearch", takes(&[(b'w', ShortOption::Either)])),
    (b"ldapmodify", takes(&[(b'w', ShortOption::Either)])),
    (
        b"curl",
        takes(&[
            (b'u', ShortOption::Pair),
            (b'b', ShortOption::Cookie),
            (b'U', ShortOption::Pair),
            (b'E', ShortOption::Pair),
        ]),
    ),
    (b"twine", EITHER),
    (b"poetry", EITHER),
    (b"mongoexport", EITHER),
    (b"mongoimport", EITHER),
    (b"mongorestore", EITHER),
    (b"cqlsh", EITHER),
    (b"rabbitmqadmin", EITHER),
    (b"rdesktop", EITHER),
    (b"unrar", ATTACHED),
    (b"rar", ATTACHED),
    (b"ssh-keygen", takes(&[(b'N', ShortOption::Apart), (b'P', ShortOption::Apart)])),
    (b"openssl", takes(&[(b'k', ShortOption::Apart)])),
    (b"nuget", takes(&[(b'k', ShortOption::Apart)])),
    (b"mosquitto_pub", takes(&[(b'P', ShortOption::Either)])),
    (b"mosquitto_sub", takes(&[(b'P', ShortOption::Either)])),
    (b"smbclient", takes(&[(b'U', ShortOption::Percent)])),
    (b"ldapadd", takes(&[(b'w', ShortOption::Either)])),
    (b"http", takes(&[(b'a', ShortOption::Pair)])),
    (b"https", takes(&[(b'a', ShortOption::Pair)])),
    (b"docker", LOGIN_AND_USER),
    (b"podman", LOGIN_AND_USER),
    (b"nerdctl", LOGIN_AND_USER),
    (b"buildah", LOGIN_AND_USER),
    (b"oc", LOGIN_AND_USER),
    (b"helm", LOGIN),
    (b"az", EITHER),
    (b"skopeo", LOGIN),
    (b"cf", LOGIN),
    (b"kubectl", USER),
    (b"chroot", USER),
    (b"sudo", Program { shorts: &[(b'S', ShortOption::Fed)], logs_in: false, takes_user: true }),
    (b"setpriv", USER),
    (b"su", USER),
    (b"runuser", USER),
    (b"ps", USER),
    (b"rsync", USER),
    (b"scp", USER),
    (b"cp", USER),
    (b"mv", USER),
    (b"git", USER),
    (b"date", USER),
    (b"diff", USER),
    (b"sort", USER),
    (b"touch", USER),
    (b"install", USER),
    (b"docker-compose", USER),
    (b"systemd-run", USER),
    (b"systemctl", USER),
    (b"pip", USER),
    (b"pip3", USER),
    (b"python", USER),
    (b"python3", USER),
    (b"grep", USER),
    (b"tar", USER),
]);

/// Returns the short option by which a program takes a password.
pub(super) fn short_of(program: &[u8]) -> Option<(u8, ShortOption)> {
    PROGRAMS.get(program)?.shorts.first().copied()
}

/// Returns `true` if a program has a `login` that takes a password.
pub(super) fn logs_in(program: &[u8]) -> bool {
    PROGRAMS.get(program).is_some_and(|program| program.logs_in)
}

/// Returns the start of the password in `name:password`; `None` for two numbers, an address or a folder.
pub(super) fn pair(value: &[u8]) -> Option<usize> {
    let colon = value.iter().position(|byte| *byte == b':')?;
    let (name, password) = (value.get(..colon)?, value.get(colon + 1..)?);
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'/';
    let numbers = password.iter().all(u8::is_ascii_digit) && name.iter().all(u8::is_ascii_digit);
    let plain = !numbers && !name.iter().any(blank) && !matches!(password.first(), None | Some(b'/'));
    let format = matches!(name.first(), Some(b'+' | b'%')) || name.contains(&b'[');
    (plain && !format).then_some(colon + 1)
}

/// Returns the form in which the short option at `at` takes a secret, and the first place where that may begin.
fn short_option(text: &[u8], at: usize) -> Option<(ShortOption, usize)> {
    let letter = *text.get(at + 1)?;
    if is_short(letter)
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
        b"u" => (!takes_user(text, at)).then_some((ShortOption::Pair, end)),
        b"b" => sets_secret(text, at).then_some((ShortOption::Either, end)),
        // `-su`: several in one, of which the last takes the value.
        [_, .., b'u'] => program(text, at, b'u').map(|how| (how, end)),
        _ => None,
    }
}

fn short(text: &[u8], at: usize) -> Option<Span> {
    if part(text, at + 1, at + 12) == b"AsPlainText" {
        return before_option(text, at);
    }
    let (how, start) = short_option(text, at)?;
    if how == ShortOption::Fed {
        return proximity::fed(text, at);
    }
    let attached = !matches!(text.get(start), None | Some(b' ' | b'\t' | b'\n'));
    if (how == ShortOption::Attached && !attached) || (how == ShortOption::Apart && attached) {
        return None;
    }
    behind(text, start, how)
}

/// Returns the quoted value before the option at `at`: `ConvertTo-SecureString "…" -AsPlainText`.
fn before_option(text: &[u8], at: usize) -> Option<Span> {
    let from = at.saturating_sub(REACH);
    let before = part(text, from, at).trim_ascii_end();
    let quote = *before.last().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let end = before.len() - 1;
    let start = part(before, 0, end).iter().rposition(|byte| *byte == quote)? + 1;
    let value = part(before, start, end);
    let secret = !value.is_empty() && !values::refers(value, true);
    secret.then_some(Span { start: from + start, end: from + end, kind: "password" })
}

/// Returns the secret in the value that begins at or behind `at`.
fn behind(text: &[u8], at: usize, how: ShortOption) -> Option<Span> {
    let found = values::value_near(text, at)?;
    let value = part(text, found.start, found.end);
    let within = match how {
        ShortOption::Attached | ShortOption::Either | ShortOption::Apart => 0,
        ShortOption::Fed => return None,
        ShortOption::Percent => value.iter().position(|byte| *byte == b'%')? + 1,
        ShortOption::Pair => pair(value)?,
        ShortOption::Cookie => value.iter().position(|byte| *byte == b'=')? + 1,
    };
    let secret = value.get(within..)?;
    if secret.is_empty() || value.starts_with(b"-") || values::refers(secret, found.quoted) {
        return None;
    }
    Some(Span { start: found.start + within, end: values::value(text, at)?.end, kind: "option" })
}

/// Returns `true` if the command of the option at `at` takes users there, and no passwords.
fn takes_user(text: &[u8], at: usize) -> bool {
    let (mut curl, mut user) = (false, false);
    each_word(command(text, at), |name| {
        curl |= name == b"curl";
        user |= PROGRAMS.get(name).is_some_and(|program| program.takes_user);
        false
    });
    user && !curl
}

/// Returns `true` if the option at `at` belongs to `gh secret set`.
fn sets_secret(text: &[u8], at: usize) -> bool {
    command(text, at).windows(12).any(|part| part == b" secret set ")
}

/// The distance back within which the program of an option is searched.
const REACH: usize = 256;

/// Returns the command of the option at `at`, up to the option.
fn command(text: &[u8], at: usize) -> &[u8] {
    let before = part(text, at.saturating_sub(REACH), at);
    let mut rest = before;
    while let [head @ .., last] = rest {
        match last {
            b'\n' | b';' | b'|' | b'&' | b'(' | b'`' => break,
            // A line break may be spelled. Its letter is left out by [`each_word`], which sees the backslash.
            b'n' if head.ends_with(b"\\") => {
                return part(before, head.len() - 1, before.len());
            }
            _ => rest = head,
        }
    }
    part(before, rest.len(), before.len())
}

/// Calls `on` with the words of a command, without folders and quotes, until it returns `true`. Returns `false` if it
/// never did.
fn each_word(command: &[u8], mut on: impl FnMut(&[u8]) -> bool) -> bool {
    // The start of the word, and of its last part, after the folders.
    let (mut word, mut name) = (0, 0);
    for (at, byte) in command.iter().chain(b" ").enumerate() {
        match byte {
            b'/' => name = at + 1,
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' | b'"' | b'\'' | b'\\' => {
                if name < at && on(unescaped(command, word, part(command, name, at))) {
                    return true;
                }
                (word, name) = (at + 1, at + 1);
            }
            _ => {}
        }
    }
    false
}

/// Returns the name at the end of the word that begins at `start`: behind the backslash of white space that is spelled
/// `\n`, `\r` or `\t` it begins one letter later.
#[inline(always)]
fn unescaped<'t>(command: &[u8], start: usize, name: &'t [u8]) -> &'t [u8] {
    let escaped = matches!(part(command, start.saturating_sub(1), start + 1), [b'\\', b'n' | b'r' | b't']);
    let rest = part(name, 1, name.len());
    if escaped && PROGRAMS.get(name).is_none() && PROGRAMS.get(rest).is_some() { rest } else { name }
}

/// Returns the form in which the program of the option at `at` takes its password.
#[inline(never)]
fn program(text: &[u8], at: usize, letter: u8) -> Option<ShortOption> {
    let command = command(text, at);
    let (mut login, mut how) = (false, None);
    each_word(command, |name| {
        let Some(program) = PROGRAMS.get(name) else { return false };
        login |= program.logs_in;
        how = program.shorts.iter().find(|(option, _)| *option == letter).map(|(_, how)| *how);
        how.is_some()
    });
    let logs_in = || login && letter == b'p' && command.windows(7).any(|part| part == b" login ");
    how.or_else(|| logs_in().then_some(ShortOption::Either))
}
