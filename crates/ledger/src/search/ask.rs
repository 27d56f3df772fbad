//! The conditions that the words of a question set.

use super::terms::{Piece, Terms, characters, is_letter, pairs, parts, pieces, term_of_word};

/// A question has no more words than this; the rest is left out.
const MOST_WORDS: usize = 16;

/// Something that must be in a document: one of several ways, each a set of terms that must all be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The ways. Of the last term of each, the beginning is enough if `is_open` (see [`Need::asked_by`]).
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
    pub fn parse(question: &str) -> Self {
        let found: Vec<Piece<'_>> = pieces(question).take(MOST_WORDS).collect();
        let goes_on = question.chars().next_back().is_some_and(|letter| !letter.is_whitespace());
        let last = found.len().saturating_sub(1);
        let needs = found.iter().enumerate().map(|(index, piece)| match piece {
            Piece::Word(word) => Need::of_word(word, goes_on && index == last),
            Piece::Run(run) => {
                let mut all: Vec<String> = pairs(run).collect();
                if all.is_empty() {
                    all.extend(characters(run));
                }
                Need { ways: vec![all], is_open: false }
            }
        });
        Self { needs: needs.collect() }
    }

    /// Returns whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }

    /// Returns whether a document with these terms is an answer.
    pub fn is_met_by(&self, terms: &Terms) -> bool {
        self.needs.iter().all(|need| need.is_met_by(terms))
    }

    /// Returns whether a document of these texts may be an answer: most that are none are known by the letters that are
    /// not there, without being taken apart.
    pub fn may_be_met_by(&self, texts: &[&str]) -> bool {
        self.needs.iter().all(|need| {
            need.ways.iter().any(|way| {
                let (_, beginning) = need.asked_by(way);
                beginning.is_none_or(|beginning| texts.iter().any(|text| may_hold(text, beginning)))
            })
        })
    }
}

/// Returns whether a text may have a term that begins like this: where no other letters become plain ones, a term is a
/// stretch of the text in small letters. An underscore may be part of how another letter is written.
fn may_hold(text: &str, beginning: &str) -> bool {
    let Some((first, others)) = beginning.as_bytes().split_first() else { return true };
    let text_bytes = text.as_bytes();
    let is_it = |at: usize| {
        let behind = text_bytes.get(at + 1..at + 1 + others.len());
        behind.is_some_and(|behind| behind.eq_ignore_ascii_case(others))
    };
    let mut places = text_bytes.iter().enumerate().filter(|(_, byte)| byte.to_ascii_lowercase() == *first);
    places.any(|(at, _)| is_it(at))
        || (!text.is_ascii() && (beginning.contains('_') || text.contains(BECOME_PLAIN)))
}

/// The letters beyond ASCII of whose small ones a part is plain: that of Turkish, and the sign of Kelvin.
const BECOME_PLAIN: [char; 2] = ['\u{130}', '\u{212a}'];

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

    /// Returns the terms that a way requires as they are, and the prefix of one more.
    ///
    /// A prefix of one letter is taken as a whole word, because it begins a large part of all terms.
    pub fn asked_by<'way>(&self, way: &'way [String]) -> (&'way [String], Option<&'way str>) {
        match way.split_last() {
            Some((last, others)) if self.is_open && last.len() > 1 => (others, Some(last)),
            _ => (way, None),
        }
    }

    fn is_met_by(&self, terms: &Terms) -> bool {
        self.ways.iter().any(|way| {
            let (whole, beginning) = self.asked_by(way);
            whole.iter().all(|term| terms.has(term))
                && beginning.is_none_or(|beginning| terms.has_beginning(beginning))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn finds(question: &str, text: &str) -> bool {
        let mut terms = Terms::default();
        terms.add(text);
        let ask = Ask::parse(question);
        let is_met = ask.is_met_by(&terms);
        assert!(!is_met || ask.may_be_met_by(&["nothing", text]), "{question} in {text}");
        is_met
    }

    #[test]
    fn all_words_must_be_there_and_the_last_may_be_a_beginning() {
        assert!(finds("cargo te", "cargo test --workspace"));
        assert!(!finds("te cargo", "cargo test --workspace"));
        assert!(!finds("cargo te ", "cargo test --workspace"));
        assert!(!finds("cargo bench", "cargo test"));
        assert!(!finds("cargo t", "cargo test"), "one letter is a word");
        assert!(finds("cargo t", "cargo t"));
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

    #[test]
    fn what_lacks_the_letters_of_a_beginning_is_not_taken_apart() {
        let ask = Ask::parse("cargo get_UserN");
        assert!(ask.may_be_met_by(&["cargo", "fn getUserName"]), "by its parts");
        assert!(ask.may_be_met_by(&["cargo", "größer"]), "an underscore may be written for `ö`");
        assert!(!ask.may_be_met_by(&["cargo", "get the name"]));
        assert!(Ask::parse("GR").may_be_met_by(&["eine Größe"]));
        assert!(!Ask::parse("gro").may_be_met_by(&["eine Größe"]));
    }

    #[test]
    fn no_other_letters_become_plain_ones() {
        let becomes = |letter: &char| letter.to_lowercase().any(|small| small.is_ascii_alphanumeric());
        let found: Vec<char> = ('\u{80}'..=char::MAX).filter(becomes).collect();
        assert_eq!(found, BECOME_PLAIN);
    }

    proptest! {
        #[test]
        fn every_word_of_a_text_finds_it(words in proptest::collection::vec("\\PC{1,10}", 1..5), pick in any::<proptest::sample::Index>()) {
            let text = words.join(" ");
            let word = pick.get(&words);
            prop_assert!(finds(word, &text), "{} in {}", word, text);
        }

        #[test]
        fn every_beginning_of_a_plain_word_finds_it(word in "[a-z]{1,12}", length in 2_usize..12) {
            let length = length.min(word.len());
            prop_assert!(finds(word.get(..length).unwrap(), &word));
        }

        #[test]
        fn whatever_answers_has_the_letters(question in "[aAk1_]{2,4}", text in "[aAk1_ ä\u{212a}\u{130}]{0,12}") {
            finds(&question, &text);
        }

        #[test]
        fn any_question_is_read(question in "\\PC{0,200}") {
            prop_assert!(Ask::parse(&question).needs.len() <= MOST_WORDS);
        }
    }
}
