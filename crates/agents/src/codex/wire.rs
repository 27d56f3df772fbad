//! Codex's own JSON, looked at without building a tree.
//!
//! A row of a rollout may hold a megabyte of output of which only the length matters. So an object is cut into its
//! members and each member stays the text that it was until it is read. Every question may be answered
//! with nothing: a member that is missing, null or of another type than expected is simply not known, and never an
//! error. Of members with the same name the last counts, as everywhere in JSON.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A value as it was written.
pub(super) type Raw<'a> = &'a RawValue;

/// The members of an object.
#[derive(Clone, Debug, Default)]
// A list and no map: few of the members are asked for, and repeated names and their order stay.
pub(super) struct Members<'a>(Vec<(Cow<'a, str>, Raw<'a>)>);

impl<'a> Members<'a> {
    /// Cuts an object; nothing if the text is not exactly one.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Returns the value of a member, unless it is null.
    pub(super) fn raw(&self, name: &str) -> Option<Raw<'a>> {
        let (_, value) = self.0.iter().rev().find(|(key, _)| key == name)?;
        Some(*value).filter(|value| value.get() != "null")
    }

    /// Reads a text.
    pub(super) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        text(self.raw(name)?)
    }

    /// Reads a text that is not empty.
    pub(super) fn word(&self, name: &str) -> Option<Cow<'a, str>> {
        self.text(name).filter(|text| !text.is_empty())
    }

    /// Reads a whole number.
    pub(super) fn whole(&self, name: &str) -> Option<i64> {
        serde_json::from_str(self.raw(name)?.get()).ok()
    }

    /// Reads a whole number that is not negative.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        serde_json::from_str(self.raw(name)?.get()).ok()
    }

    /// Reads any number.
    pub(super) fn real(&self, name: &str) -> Option<f64> {
        serde_json::from_str(self.raw(name)?.get()).ok()
    }

    /// Reads a truth value.
    pub(super) fn truth(&self, name: &str) -> Option<bool> {
        serde_json::from_str(self.raw(name)?.get()).ok()
    }

    /// Reads an object.
    pub(super) fn members(&self, name: &str) -> Option<Self> {
        Self::parse(self.raw(name)?.get())
    }

    /// Returns the items of an array; none if it is no array.
    pub(super) fn list(&self, name: &str) -> Vec<Raw<'a>> {
        self.raw(name).and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }

    /// Returns names and values in the order in which they were written.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, Raw<'a>)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }
}

/// Returns a value as text, if it is one.
pub(super) fn text(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Text<'_>>(raw.get()).ok().map(|text| text.0)
}

/// A text that is borrowed where it has no escapes; `Cow` by itself would always copy.
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                // Only a text with escapes comes this way: the parser has decoded it into a buffer of its own.
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(8);
                while let Some((name, value)) = map.next_entry::<Text<'de>, Raw<'de>>()? {
                    members.push((name.0, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_known_by_name_and_type_or_not_at_all() {
        let members = Members::parse(
            r#"{"a":"x","b":7,"c":null,"d":{"e":true},"f":[1,"2"],"g":1.5,"h":-3,"i":"","\u006a":"q\n"}"#,
        )
        .unwrap();
        assert_eq!(members.text("a").as_deref(), Some("x"));
        assert_eq!(members.text("b"), None);
        assert_eq!(members.count("b"), Some(7));
        assert_eq!(members.whole("h"), Some(-3));
        assert_eq!(members.count("h"), None);
        assert_eq!(members.real("g"), Some(1.5));
        assert!(members.raw("c").is_none());
        assert_eq!(members.members("d").unwrap().truth("e"), Some(true));
        assert_eq!(members.list("f").len(), 2);
        assert_eq!(members.list("a").len(), 0);
        assert_eq!(members.word("i"), None);
        assert_eq!(members.text("j").as_deref(), Some("q\n"));
    }

    #[test]
    fn the_last_of_equal_names_counts() {
        let members = Members::parse(r#"{"a":1,"a":2,"b":1,"\u0062":null}"#).unwrap();
        assert_eq!(members.count("a"), Some(2));
        assert!(members.raw("b").is_none());
    }

    #[test]
    fn plain_texts_are_borrowed() {
        let members = Members::parse(r#"{"a":"plain","b":"esc\"aped"}"#).unwrap();
        assert!(matches!(members.text("a"), Some(Cow::Borrowed("plain"))));
        assert!(matches!(members.text("b"), Some(Cow::Owned(text)) if text == "esc\"aped"));
    }

    #[test]
    fn what_is_no_object_has_no_members() {
        for text in ["", "[]", "null", "{", "{}x", "\"{}\""] {
            assert!(Members::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn nesting_costs_no_stack() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
        assert!(Members::parse(&deep).unwrap().raw("a").is_some());
    }
}
