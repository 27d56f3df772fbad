//! A tool's input, looked at without trusting it: any key may be missing and any value may have any type.

use serde_json::{Map, Value};

use super::{Call, Place};
use crate::text;

/// A view of one call's input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a> {
    /// The tool's name, without any namespace.
    pub(super) tool: &'a str,
    pub(super) place: Place<'a>,
    pub(super) value: &'a Value,
}

impl<'a> Input<'a> {
    pub(super) fn new(call: &Call<'a>, tool: &'a str) -> Self {
        Self { tool, place: call.place, value: call.input }
    }

    /// Returns the members, if it is an object.
    pub(super) fn members(&self) -> Option<&'a Map<String, Value>> {
        self.value.as_object()
    }

    /// Returns the first of these keys that is there and not null.
    pub(super) fn get(&self, keys: &[&str]) -> Option<&'a Value> {
        let members = self.members()?;
        keys.iter().find_map(|key| members.get(*key)).filter(|value| !value.is_null())
    }

    /// Returns the first of these keys that holds a text with something in it.
    pub(super) fn text(&self, keys: &[&str]) -> Option<&'a str> {
        let members = self.members()?;
        keys.iter().find_map(|key| members.get(*key)?.as_str().filter(|text| !text.trim().is_empty()))
    }

    /// Returns the first of these keys that holds a text or a number, as text: ids are sometimes numbers.
    pub(super) fn id(&self, keys: &[&str]) -> Option<String> {
        let members = self.members()?;
        keys.iter().find_map(|key| match members.get(*key)? {
            Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
        })
    }

    /// Returns the first of these keys that holds a whole number, also if it was written as text.
    pub(super) fn number(&self, keys: &[&str]) -> Option<i64> {
        let members = self.members()?;
        keys.iter().find_map(|key| integer(members.get(*key)?))
    }

    /// Returns the first of these keys that holds a truth value.
    pub(super) fn flag(&self, keys: &[&str]) -> Option<bool> {
        let members = self.members()?;
        keys.iter().find_map(|key| members.get(*key)?.as_bool())
    }

    /// Returns the first of these keys that holds a list.
    pub(super) fn list(&self, keys: &[&str]) -> Option<&'a [Value]> {
        let members = self.members()?;
        keys.iter().find_map(|key| members.get(*key)?.as_array()).map(Vec::as_slice)
    }

    /// Returns the same view of a member.
    pub(super) fn inside(&self, value: &'a Value) -> Self {
        Self { value, ..*self }
    }

    /// Returns a path as people read it here.
    pub(super) fn display_path<'p>(&self, path: &'p str) -> &'p str {
        text::relative(path, &[self.place.cwd, self.place.project])
    }

    /// Returns a path as it is kept.
    pub(super) fn stored_path(&self, path: &str) -> String {
        text::cut(&text::absolute(path, self.place.cwd), PATH_CHARS).into_owned()
    }
}

/// The most characters of a path that is kept.
pub(super) const PATH_CHARS: usize = 1024;
/// The most paths that one call keeps.
pub(super) const PATHS: usize = 100;

/// Reads a whole number, written as a number or as its digits.
pub(super) fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            let real = number.as_f64()?;
            // Exact up to 2^53; anything else in a tool's input is no line number.
            (real.fract() == 0.0 && real.abs() < 9e15).then_some(real as i64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
