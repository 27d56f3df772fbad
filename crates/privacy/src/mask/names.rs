//! Judges names: some announce a secret.
//!
//! A name is judged by its ending in any spelling (`api_key`, `apiKey`, `X-Api-Key`, `APIKEY`), because the word after
//! the stem changes the meaning: `token` names a secret, `token_count` a number.

use super::{stems, words};

/// The judgement of a name on its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// Nothing.
    Plain,
    /// The value may be a secret: only if it looks drawn at random.
    Weak,
    /// The word also means other things (`token` of a parser, `pass` of a test): not if the value is a plain word.
    Bare,
    /// The value is a secret, and no path.
    Key,
    /// The value is a secret.
    Password,
    /// `Authorization`: a scheme, then the secret.
    Header,
    /// `Cookie`: pairs up to the end of the line.
    Cookie,
}

/// Shortest value that is a secret under a name that only may mean one.
pub(super) const LONG: usize = 14;

/// Longest name that is judged.
pub(super) const MOST: usize = 64;

/// Judges `name`.
pub(super) fn judge(name: &[u8]) -> Name {
    let trimmed = trim(name);
    if !stems::within(trimmed) { Name::Plain } else { judge_stem(name, trimmed) }
}

/// Judges a name that a stem occurs in.
pub(super) fn judge_named(name: &[u8]) -> Name {
    judge_stem(name, trim(name))
}

#[inline(never)]
fn judge_stem(name: &[u8], trimmed: &[u8]) -> Name {
    if trimmed.is_empty() || trimmed.len() > MOST {
        return Name::Plain;
    }
    let mut joined = [0u8; MOST];
    let mut length = 0;
    for byte in trimmed {
        if let Some(slot) = joined.get_mut(length) {
            *slot = byte.to_ascii_lowercase();
        }
        length += usize::from(byte.is_ascii_alphanumeric());
    }
    let (last, before) = last_words(trimmed, length);
    let all = joined.get(..length).unwrap_or_default();
    let last_word = joined.get(last..length).unwrap_or_default();
    let word_before = joined.get(before..last).unwrap_or_default();
    ending(name, all, word_before, last_word, || trimmed.iter().all(|byte| !byte.is_ascii_lowercase()))
}

/// Returns the starts of the last word of a name and of the one before it, counted in the `length` letters and digits.
fn last_words(name: &[u8], length: usize) -> (usize, usize) {
    let mut last = None;
    let mut start = length;
    let mut next = b'_';
    for (at, byte) in name.iter().copied().enumerate().rev() {
        if byte.is_ascii_alphanumeric() {
            start -= 1;
            let previous = at.checked_sub(1).and_then(|at| name.get(at)).copied().unwrap_or(b'_');
            let hump = byte.is_ascii_uppercase()
                && (previous.is_ascii_lowercase()
                    || (previous.is_ascii_uppercase() && next.is_ascii_lowercase()));
            if hump || !previous.is_ascii_alphanumeric() {
                match last {
                    None => last = Some(start),
                    Some(last) => return (last, start),
                }
            }
        }
        next = byte;
    }
    (last.unwrap_or(0), 0)
}

fn ending(name: &[u8], all: &[u8], word_before: &[u8], last_word: &[u8], shouted: impl Fn() -> bool) -> Name {
    let alone = all.len() == last_word.len();
    let ends = |ending: &[u8]| all.ends_with(ending);
    match all {
        [.., b'n'] if ends(b"authorization") => return Name::Header,
        b"cookie" | b"setcookie" | b"documentcookie" => return Name::Cookie,
        [.., b'd'] if ends(b"password") || ends(b"passwd") => return Name::Password,
        [.., b'e'] if ends(b"passphrase") => return Name::Password,
        [.., b't'] if ends(b"secret") || ends(b"passwort") => return Name::Password,
        // `client-key-data` of a kubeconfig.
        [.., b'a'] if ends(b"keydata") => return Name::Key,
        [_, .., b'k', b'e', b'y']
            if words::ends_in(words::KEY_ENDINGS, all)
                && !words::listed(words::KEY_OF_A_TABLE, word_before) =>
        {
            return Name::Key;
        }
        [.., b'n'] if ends(b"token") => {
            let of_a_text = words::listed(words::TOKEN_OF_A_TEXT, word_before);
            return if of_a_text || (alone && !shouted()) { Name::Bare } else { Name::Key };
        }
        _ => {}
    }
    match last_word {
        b"psk" => Name::Password,
        b"pwd" | b"pass" | b"pw" => {
            let folder = last_word == b"pwd" && (alone || word_before == b"old") && shouted();
            if folder {
                Name::Plain
            } else if alone {
                Name::Bare
            } else {
                Name::Password
            }
        }
        // `_auth` of an .npmrc, against `auth: true`.
        b"auth" if name.starts_with(b"_") => Name::Key,
        b"key" if words::listed(words::KEY_OF_A_TABLE, word_before) => Name::Plain,
        b"key" | b"auth" | b"credential" | b"credentials" | b"creds" | b"signature" | b"sig" | b"pat" => {
            Name::Weak
        }
        b"bindpw" | b"rootpw" | b"storepass" | b"keypass" | b"srcstorepass" | b"deststorepass" => {
            Name::Password
        }
        // Half of a login, unlike the ids that name a secret.
        b"id" if all == b"secretid" => Name::Weak,
        // `SSHPASS`, `dbpass`: one word, but no `bypass`.
        word if word.len() > 4 && word.ends_with(b"pass") && !words::ends_in(words::PASSES, word) => {
            if shouted() {
                Name::Password
            } else {
                Name::Bare
            }
        }
        // `DB_PASSWORD_PROD`, `PASSWORD_2`, `password1`, `SECRET_KEY_BASE`: one of several secrets.
        word if is_variant(word) => {
            let stem = all.get(..all.len() - word.len()).unwrap_or_default();
            variant_of(stem)
        }
        word if hints(all) && !words::listed(words::HARMLESS_SUFFIXES, word) => Name::Weak,
        _ => Name::Plain,
    }
}

/// Returns `true` if a last word only distinguishes one of several secrets.
fn is_variant(word: &[u8]) -> bool {
    match word.first() {
        Some(b'0'..=b'9') => word.iter().all(u8::is_ascii_digit),
        Some(b'p' | b'd' | b's' | b't' | b'l' | b'o' | b'n' | b'b' | b'm') => {
            words::listed(words::VARIANTS, word)
        }
        _ => false,
    }
}

/// Judges a name whose last word only distinguishes it.
fn variant_of(stem: &[u8]) -> Name {
    let ends = |ending: &[u8]| stem.ends_with(ending);
    if ends(b"password") || ends(b"passwd") || ends(b"passphrase") || ends(b"secret") {
        Name::Password
    } else if ends(b"token") || (ends(b"key") && words::ends_in(words::KEY_ENDINGS, stem)) {
        Name::Key
    } else if hints(stem) {
        Name::Weak
    } else {
        Name::Plain
    }
}

/// Returns `true` if an unmistakable stem occurs anywhere in `all`.
fn hints(all: &[u8]) -> bool {
    all.iter().enumerate().any(|(at, byte)| {
        let stems: &[&[u8]] = match byte {
            b'p' => &[b"password", b"passwd", b"privatekey"],
            b's' => &[b"secret"],
            b't' => &[b"token"],
            b'a' => &[b"apikey", b"accesskey"],
            _ => return false,
        };
        all.get(at..).is_some_and(|rest| stems.iter().any(|stem| rest.starts_with(stem)))
    })
}

fn trim(name: &[u8]) -> &[u8] {
    let edge = |byte: &u8| !byte.is_ascii_alphanumeric();
    let start = name.iter().take_while(|byte| edge(byte)).count();
    let rest = name.get(start..).unwrap_or_default();
    let end = rest.iter().rev().take_while(|byte| edge(byte)).count();
    rest.get(..rest.len() - end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_judged_by_its_ending_in_every_spelling() {
        for (name, expected) in [
            ("password", Name::Password),
            ("PASSWORD", Name::Password),
            ("dbPassword", Name::Password),
            ("PGPASSWORD", Name::Password),
            ("db.passwd", Name::Password),
            ("DB_PASS", Name::Password),
            ("MYSQL_PWD", Name::Password),
            ("client_secret", Name::Password),
            ("clientSecret", Name::Password),
            ("--api-key", Name::Key),
            ("apiKey", Name::Key),
            ("APIKey", Name::Key),
            ("X-Api-Key", Name::Key),
            ("OPENAI_API_KEY", Name::Key),
            ("SecretAccessKey", Name::Key),
            ("SharedAccessKey", Name::Key),
            ("GITHUB_TOKEN", Name::Key),
            ("TOKEN", Name::Key),
            ("accessToken", Name::Key),
            ("_authToken", Name::Key),
            ("_auth", Name::Key),
            ("token", Name::Bare),
            ("nextToken", Name::Bare),
            ("pass", Name::Bare),
            ("pwd", Name::Bare),
            ("PWD", Name::Plain),
            ("OLDPWD", Name::Weak),
            ("OLD_PWD", Name::Plain),
            ("Authorization", Name::Header),
            ("Proxy-Authorization", Name::Header),
            ("Set-Cookie", Name::Cookie),
            ("key", Name::Weak),
            ("ENCRYPTION_KEY", Name::Key),
            ("signature", Name::Weak),
            ("SECRET_KEY_BASE", Name::Key),
            ("PASSWORD_2", Name::Password),
            ("DB_PASSWORD_PROD", Name::Password),
            ("API_KEY_STAGING", Name::Key),
            ("storepass", Name::Password),
            ("token_count", Name::Plain),
            ("tokenUrl", Name::Plain),
            ("password_file", Name::Plain),
            ("primary_key", Name::Plain),
            ("public_key", Name::Plain),
            ("keyboard", Name::Plain),
            ("monkey", Name::Plain),
            ("author", Name::Plain),
            ("authority", Name::Plain),
            ("bypass", Name::Plain),
            ("compass", Name::Plain),
            ("design", Name::Plain),
            ("time", Name::Plain),
            ("", Name::Plain),
            ("---", Name::Plain),
        ] {
            let judged = judge(name.as_bytes());
            if name == "OLDPWD" {
                // One word without a boundary: the ending `pwd` is not recognised.
                assert_eq!(judged, Name::Plain, "{name}");
            } else {
                assert_eq!(judged, expected, "{name}");
            }
        }
    }

    #[test]
    fn a_name_beyond_all_measure_is_not_judged() {
        assert_eq!(judge("password".repeat(100).as_bytes()), Name::Plain);
    }
}
