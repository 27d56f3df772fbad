//! Values whose name is apart from them: members of an object, pairs of `name` and `value`.
//!
//! Inside one text a name and its value are found together ([`super::pairs`]). In structured arguments the name is a
//! member and the value a string of its own, so the judgement of the name is passed down to the value, and through
//! lists and objects to every text below.

use super::names::{self, Name};
use super::shapes::Vendor;
use super::{Span, pairs, random, values, vendors};

/// The judgement of a name on the texts under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameJudgement {
    judged: Name,
    kind: &'static str,
    /// A whole collection of secrets: `credentials`, `secrets`.
    collection: bool,
    /// True if the name is neutral, so that a value drawn at random is a secret under it.
    if_random: bool,
    /// The shapes of the keys of the vendor in the name.
    vendor: &'static [Vendor],
}

impl NameJudgement {
    /// The judgement of a name without a meaning.
    pub(crate) const NOTHING: Self =
        Self { judged: Name::Plain, kind: "secret", collection: false, if_random: false, vendor: &[] };

    /// Judges the name of a member; `long` if its value may be a text that was drawn at random.
    pub(crate) fn from_name(name: &[u8], long: bool) -> Self {
        let judged = names::judge(name);
        if judged == Name::Plain {
            // Long texts only: a short one may look drawn by chance.
            let if_random = long && random::may_name(name);
            let vendor = if if_random { vendors::named(name) } else { &[] };
            return Self { if_random, vendor, ..Self::NOTHING };
        }
        // In a collection every text is a secret, whatever its own name says.
        let collection = judged == Name::Weak
            && [&b"credentials"[..], b"creds", b"secrets", b"passwords"]
                .iter()
                .any(|ending| pairs::ends_with(name, ending));
        Self { judged, kind: pairs::kind(name, judged), collection, if_random: false, vendor: &[] }
    }

    /// Returns `true` if no text under the name is a secret because of it.
    pub(crate) fn is_nothing(self) -> bool {
        self.judged == Name::Plain
    }

    /// Returns `true` if no text of this length can be a secret.
    pub(crate) fn spares(self, length: usize) -> bool {
        self.is_nothing() && !(self.if_random && length >= random::LEAST)
    }

    /// Returns the judgement on the texts inside an object or list of this name.
    pub(crate) fn inside(self) -> Self {
        if self.collection { Self { judged: Name::Bare, ..self } } else { self }
    }

    /// Combines the judgement of a name with that of the container around it.
    pub(crate) fn within(self, outer: Self) -> Self {
        match (self.judged, outer.judged) {
            (Name::Plain, Name::Plain) => self,
            (Name::Plain, _) => outer,
            (_, Name::Plain) => self,
            // `credentials.pass` is no outcome of a test.
            (Name::Bare, _) => Self { judged: Name::Key, ..self },
            (Name::Weak, _) => Self { kind: self.kind, ..outer },
            _ => self,
        }
    }

    /// Returns the secret in `value`, the whole text under this name.
    pub(crate) fn secret(self, value: &[u8]) -> Option<Span> {
        let start = match self.judged {
            Name::Plain if self.if_random && random::drawn(value) => {
                return Some(Span { start: 0, end: value.len(), kind: random::KIND });
            }
            Name::Plain => {
                let (length, kind) = vendors::key(self.vendor, value)?;
                return (length == value.len()).then_some(Span { start: 0, end: length, kind });
            }
            Name::Header => pairs::behind_scheme(value),
            _ => 0,
        };
        let held = value.get(start..)?;
        if held.is_empty() || values::refers(held, true) || !fits(self.judged, held) {
            return None;
        }
        Some(Span { start, end: value.len(), kind: self.kind })
    }
}

/// Returns `true` if a value can be the secret of a name of this kind.
pub(super) fn fits(judged: Name, value: &[u8]) -> bool {
    let digits_only = value.iter().all(u8::is_ascii_digit);
    match judged {
        Name::Plain => false,
        Name::Weak => value.len() >= names::LONG && !values::is_path(value) && values::random(value),
        Name::Bare => {
            let folder = matches!(value.first(), Some(b'/' | b'~' | b'.'));
            let mixed = value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic);
            !folder
                && !digits_only
                && !value.contains(&b' ')
                && ((value.len() >= 6 && mixed)
                    || value.len() >= 16
                    || (value.len() >= 12 && values::is_scrambled(value, false)))
        }
        Name::Key => value.len() >= 4 && !(digits_only && value.len() < 10) && !values::is_path(value),
        Name::Password => !values::is_path(value) || !value.ends_with(b"/"),
        Name::Header | Name::Cookie => value.len() >= 4,
    }
}
