//! What the words of a question ask for.

use super::terms::{Piece, is_letter, pairs, parts, pieces, singles, term_of_word};

/// A question has no more words than this; the rest is left out.
const MOST_WORDS: usize = 16;

/// Something that must be in a document: one of several ways, each a set of terms that must all be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The ways. Of the last term of each, the beginning is enough if `is_open`.
    pub ways: Vec<Vec<String>>,
    /// The word may go on.
    pub is_open: bool,
}

/// All that must be in a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// One for each word.
    pub needs: Vec<Need>,
}

impl Ask {
    /// Reads the words of a question. The last may be the beginning of a word, unless something follows it.
    pub fn of(question: &str) -> Self {
        let found: Vec<Piece<'_>> = pieces(question).take(MOST_WORDS).collect();
        let goes_on = question.chars().next_back().is_some_and(|letter| !letter.is_whitespace());
        let last = found.len().saturating_sub(1);
        let needs = found.iter().enumerate().map(|(index, piece)| match piece {
            Piece::Word(word) => Need::of_word(word, goes_on && index == last),
            Piece::Run(run) => {
                let mut all: Vec<String> = pairs(run).collect();
                if all.is_empty() {
                    all.extend(singles(run));
                }
                Need { ways: vec![all], is_open: false }
            }
        });
        Self { needs: needs.collect() }
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }

    /// Whether a document with these terms is an answer.
    #[cfg(test)]
    fn is_met_by(&self, terms: &super::Terms) -> bool {
        let has = |term: &str| terms.words().any(|word| word == term);
        let begins = |term: &str| terms.words().any(|word| word.starts_with(term));
        self.needs.iter().all(|need| {
            need.ways.iter().any(|way| match way.split_last() {
                Some((last, others)) => {
                    others.iter().all(|term| has(term)) && if need.is_open { begins(last) } else { has(last) }
                }
                None => true,
            })
        })
    }
}

impl Need {
    fn of_word(word: &str, is_open: bool) -> Self {
        let mut ways = vec![vec![term_of_word(word)]];
        // `userName` is also in `getUserName`, whose whole word is another: there its parts are.
        let parts: Vec<&str> =
            parts(word).into_iter().filter(|part| *part != word && !is_letter(part)).collect();
        if !parts.is_empty() {
            ways.push(parts.into_iter().map(term_of_word).collect());
        }
        Self { ways, is_open }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Terms;
    use super::*;

    fn finds(question: &str, text: &str) -> bool {
        let mut terms = Terms::default();
        terms.add(text);
        Ask::of(question).is_met_by(&terms)
    }

    #[test]
    fn all_words_must_be_there_and_the_last_may_be_a_beginning() {
        assert!(finds("cargo te", "cargo test --workspace"));
        assert!(!finds("te cargo", "cargo test --workspace"));
        assert!(!finds("cargo te ", "cargo test --workspace"));
        assert!(!finds("cargo bench", "cargo test"));
    }

    #[test]
    fn names_are_found_by_a_part_of_them() {
        assert!(finds("userName", "fn getUserName()"));
        assert!(finds("user", "get_user_name"));
        assert!(finds("getUserN", "getUserName"));
        assert!(finds("src/lib.rs", "/home/dev/src/lib.rs"));
        assert!(finds("ok", "is_ok"));
    }

    #[test]
    fn scripts_without_spaces_are_found_anywhere() {
        assert!(finds("索", "全文検索"));
        assert!(finds("文検", "全文検索"));
        assert!(!finds("検文", "全文検索"));
        assert!(finds("검색", "전체검색기"));
    }

    proptest! {
        #[test]
        fn every_word_of_a_text_finds_it(words in proptest::collection::vec("\\PC{1,10}", 1..5), pick in any::<proptest::sample::Index>()) {
            let text = words.join(" ");
            let word = pick.get(&words);
            prop_assert!(finds(word, &text), "{} in {}", word, text);
        }

        #[test]
        fn every_beginning_of_a_plain_word_finds_it(word in "[a-z]{1,12}", length in 1_usize..12) {
            let length = length.min(word.len());
            prop_assert!(finds(word.get(..length).unwrap(), &word));
        }

        #[test]
        fn any_question_is_read(question in "\\PC{0,200}") {
            prop_assert!(Ask::of(&question).needs.len() <= MOST_WORDS);
        }
    }
}
