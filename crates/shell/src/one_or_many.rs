//! A list that is nearly always one long.
//!
//! Most words are one piece of text and most pipelines one command. Keeping the first in place saves an
//! allocation for each, which is half of what reading a short command costs.

use std::ops::Deref;

/// None, one or many.
#[derive(Clone, Debug, Default)]
pub(crate) enum OneOrMany<T> {
    #[default]
    None,
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    pub(crate) fn push(&mut self, item: T) {
        match self {
            Self::None => *self = Self::One(item),
            Self::Many(items) => items.push(item),
            Self::One(_) => {
                // Taken out first: an item cannot be moved out of what is only borrowed.
                if let Self::One(first) = std::mem::take(self) {
                    *self = Self::Many(vec![first, item]);
                }
            }
        }
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        match self {
            Self::None => &[],
            Self::One(item) => std::slice::from_ref(item),
            Self::Many(items) => items,
        }
    }
}

impl<T> Deref for OneOrMany<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<'f, T> IntoIterator for &'f OneOrMany<T> {
    type Item = &'f T;
    type IntoIter = std::slice::Iter<'f, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.as_slice().iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_what_was_pushed_in_order() {
        let mut few = OneOrMany::default();
        assert!(few.is_empty());
        for (position, item) in ["a", "b", "c"].into_iter().enumerate() {
            few.push(item);
            assert_eq!(few.len(), position + 1);
        }
        assert_eq!(few.as_slice(), ["a", "b", "c"]);
    }
}
