//! Variables that the command line itself sets.
//!
//! Values are short and few, so that text which is built by doubling cannot grow: past the limits nothing is
//! known any more, which is always a safe answer.

/// Longest value that is remembered, in bytes.
const MAX_VALUE: usize = 256;
/// Most assignments that are remembered before everything is forgotten.
const MAX_ENTRIES: usize = 64;
/// Most values of a loop variable.
const MAX_ALTERNATIVES: usize = 16;

/// The known value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    /// One of these, in turn.
    OneOf(Vec<String>),
    Unknown,
}

/// All that is known, newest last. Leaving a subshell is cutting the list back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    entries: Vec<(String, Value)>,
    overflowed: bool,
    /// It was a limit that made everything be forgotten.
    limited: bool,
}

impl Variables {
    pub(crate) fn get(&self, name: &str) -> &Value {
        self.entries
            .iter()
            // From the end: an assignment is appended and never replaces an older one, which a subshell may have to
            // bring back.
            .rev()
            .find_map(|(known, value)| (known == name).then_some(value))
            .unwrap_or(&Value::Unknown)
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        if self.overflowed {
            return;
        }
        let fits = match &value {
            Value::Text(text) => text.len() <= MAX_VALUE,
            Value::OneOf(texts) => {
                texts.len() <= MAX_ALTERNATIVES && texts.iter().all(|text| text.len() <= MAX_VALUE)
            }
            Value::Unknown => true,
        };
        // Remembered as unknown and not left out, or the value before it would count.
        let value = if fits { value } else { Value::Unknown };
        if self.entries.len() >= MAX_ENTRIES {
            // Dropping one assignment would leave an older value in its place. Dropping all is honest.
            self.entries.clear();
            self.overflowed = true;
            self.limited = true;
            return;
        }
        self.entries.push((name.to_owned(), value));
    }

    /// Forgets everything, for commands that may set anything: `source`, `eval` of unknown text.
    pub(crate) fn forget(&mut self) {
        self.entries.clear();
        self.overflowed = true;
    }

    /// Returns `true` if the line set more variables than are remembered.
    pub(crate) const fn has_overflowed(&self) -> bool {
        self.limited
    }

    pub(crate) fn mark(&self) -> usize {
        self.entries.len()
    }

    /// Leaves a subshell: what was set since the mark never happened out here.
    pub(crate) fn cut_back(&mut self, mark: usize) {
        self.entries.truncate(mark);
    }

    /// Leaves a branch or a loop: what was set since the mark may or may not have happened.
    pub(crate) fn doubt(&mut self, mark: usize) {
        for (_, value) in self.entries.iter_mut().skip(mark) {
            *value = Value::Unknown;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Value {
        Value::Text(value.to_owned())
    }

    #[test]
    fn the_newest_value_counts_and_a_subshell_leaves_no_trace() {
        let mut variables = Variables::default();
        variables.set("A", text("1"));
        let mark = variables.mark();
        variables.set("A", text("2"));
        assert_eq!(variables.get("A"), &text("2"));
        variables.cut_back(mark);
        assert_eq!(variables.get("A"), &text("1"));
        assert_eq!(variables.get("B"), &Value::Unknown);
    }

    #[test]
    fn a_branch_leaves_doubt() {
        let mut variables = Variables::default();
        variables.set("A", text("1"));
        let mark = variables.mark();
        variables.set("A", text("2"));
        variables.doubt(mark);
        assert_eq!(variables.get("A"), &Value::Unknown);
    }

    #[test]
    fn too_many_or_too_long_is_not_known_rather_than_wrong() {
        let mut variables = Variables::default();
        variables.set("L", text(&"x".repeat(MAX_VALUE + 1)));
        assert_eq!(variables.get("L"), &Value::Unknown);
        for number in 0..MAX_ENTRIES + 1 {
            variables.set("A", text(&number.to_string()));
        }
        assert_eq!(variables.get("A"), &Value::Unknown);
    }
}
