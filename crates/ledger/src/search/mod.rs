//! The terms of search: texts become terms, and the words of a question become conditions on terms.
//!
//! A term is made of `a-z`, `0-9` and `_`, so that no tokeniser of a store takes it apart differently than we do: any
//! other letter is written as `_x<hex>_`. Of a word there is the whole word, lower-cased, and its parts: `camelCase`,
//! `snake_case` and digits behind letters. Scripts without spaces (Chinese, Japanese, Korean) give single characters
//! and pairs. Terms that begin with two underscores are not made of any text: they are marks, such as a kind or a day.

mod ask;
mod snippet;
mod terms;

pub use ask::{Ask, Need};
pub use snippet::snippet;
pub use terms::{Terms, mark, term_of_word};
