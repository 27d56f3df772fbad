//! Terms of a text.

use std::collections::BTreeSet;
use std::ops::Bound;

/// Longer words are cut: no one types more, and hashes and encoded data would fill the index.
pub(crate) const LONGEST: usize = 64;

/// A document has no more terms than this.
const MOST_TERMS: usize = 1_200;

/// Bytes of one text that are indexed.
const MOST_BYTES: usize = 48 * 1024;

/// The terms of a document, each once.
#[derive(Debug, Default)]
pub struct Terms {
    terms: BTreeSet<String>,
}

impl Terms {
    /// Adds the terms of a text.
    pub fn add(&mut self, text: &str) {
        let text = text.get(..text.floor_char_boundary(MOST_BYTES)).unwrap_or(text);
        for piece in pieces(text) {
            match piece {
                Piece::Word(word) => {
                    self.put(term_of_word(word));
                    // Parts of one letter would have lists as long as the history, and no one looks for them.
                    for part in parts(word).into_iter().filter(|part| *part != word && !is_letter(part)) {
                        self.put(term_of_word(part));
                    }
                }
                Piece::Run(run) => {
                    // Scripts without spaces have no words to split at, and a dictionary would be one for each
                    // language. Pairs keep the order of the letters.
                    for term in characters(run).chain(pairs(run)) {
                        self.put(term);
                    }
                }
            }
        }
    }

    /// Adds a mark.
    pub fn add_mark(&mut self, mark: String) {
        self.terms.insert(mark);
    }

    fn put(&mut self, term: String) {
        // One pasted log must not fill the index; the first terms of a text tell most of it.
        if self.terms.len() < MOST_TERMS && !term.is_empty() {
            self.terms.insert(term);
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns whether this is one of them.
    pub fn has(&self, term: &str) -> bool {
        self.terms.contains(term)
    }

    /// Returns whether one of them begins like this.
    pub fn has_beginning(&self, beginning: &str) -> bool {
        let mut behind = self.terms.range::<str, _>((Bound::Included(beginning), Bound::Unbounded));
        behind.next().is_some_and(|term| term.starts_with(beginning))
    }

    /// Returns all terms that are made of text.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(String::as_str).filter(|term| !term.starts_with("__"))
    }

    /// Returns all of them, as a store takes them.
    pub fn document(&self) -> String {
        let mut document = String::with_capacity(self.terms.iter().map(|term| term.len() + 1).sum());
        for term in &self.terms {
            document.push_str(term);
            document.push(' ');
        }
        document
    }
}

/// Returns a term that is not made of text: a letter that says what it is about, and a value.
pub fn mark(about: char, value: impl std::fmt::Display) -> String {
    format!("__{about}{}", term_of_word(&value.to_string()))
}

/// A piece of a text: a word, or a run of a script without spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'text> {
    Word(&'text str),
    Run(&'text str),
}

impl<'text> Piece<'text> {
    pub(super) fn text(self) -> &'text str {
        match self {
            Self::Word(text) | Self::Run(text) => text,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Run,
    Other,
}

fn class(letter: char) -> Class {
    match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => Class::Word,
        '\0'..='\x7f' => Class::Other,
        letter if is_unspaced(letter) => Class::Run,
        letter if letter.is_alphanumeric() => Class::Word,
        _ => Class::Other,
    }
}

/// Returns whether a letter is of a script that is written without spaces, or one that joins words like Korean.
fn is_unspaced(letter: char) -> bool {
    matches!(u32::from(letter),
        0x1100..=0x11ff | 0x2e80..=0x2fdf | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3031..=0x3035 | 0x3041..=0x318f
        | 0x31a0..=0x31bf | 0x31f0..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xa960..=0xa97f
        | 0xac00..=0xd7ff | 0xf900..=0xfaff | 0xff66..=0xff9f | 0x1b000..=0x1b16f | 0x20000..=0x3ffff)
}

/// Returns the pieces of a text, in order.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut letters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        loop {
            let (start, first) = letters.next()?;
            let kind = class(first);
            let mut end = start + first.len_utf8();
            while let Some((at, letter)) = letters.next_if(|(_, letter)| class(*letter) == kind) {
                end = at + letter.len_utf8();
            }
            let piece = text.get(start..end).unwrap_or_default();
            match kind {
                Class::Word => return Some(Piece::Word(piece)),
                Class::Run => return Some(Piece::Run(piece)),
                Class::Other => {}
            }
        }
    })
}

/// Returns the term of a whole word.
pub fn term_of_word(word: &str) -> String {
    let mut term = String::with_capacity(word.len());
    for letter in word.chars().flat_map(char::to_lowercase) {
        if term.len() >= LONGEST {
            break;
        }
        // Marks begin with two underscores, so no word does, also not one whose second letter is spelled out.
        if term == "_" && (letter == '_' || !letter.is_ascii_alphanumeric()) {
            term.clear();
        }
        put_letter(&mut term, letter);
    }
    term
}

fn put_letter(term: &mut String, letter: char) {
    if letter.is_ascii_alphanumeric() || letter == '_' {
        term.push(letter);
    } else {
        // Spelled out, so that a term is plain ASCII: the tokenizer of the index then has no opinion on where it
        // ends.
        term.push_str(&format!("_x{:x}_", u32::from(letter)));
    }
}

/// Returns the parts of a word: between underscores, where a capital follows a small letter or begins a capitalised
/// word behind capitals (`HTTPServer`), and where digits end.
pub(super) fn parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for piece in word.split('_') {
        let letters: Vec<(usize, char)> = piece.char_indices().collect();
        let mut start = 0;
        for (index, (at, letter)) in letters.iter().enumerate().skip(1) {
            let before = letters.get(index - 1).map_or(' ', |(_, letter)| *letter);
            let behind = letters.get(index + 1).map(|(_, letter)| *letter);
            let begins = (letter.is_uppercase() && !before.is_uppercase())
                || (letter.is_uppercase() && before.is_uppercase() && behind.is_some_and(char::is_lowercase))
                || (letter.is_alphabetic() && before.is_numeric());
            if begins {
                parts.extend(piece.get(start..*at));
                start = *at;
            }
        }
        parts.extend(piece.get(start..));
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns whether a part is a single letter, which is not worth a term.
pub(super) fn is_letter(part: &str) -> bool {
    part.chars().nth(1).is_none()
}

/// Returns each character of a run.
pub(super) fn characters(run: &str) -> impl Iterator<Item = String> {
    run.chars().map(|letter| term_of_word(letter.encode_utf8(&mut [0; 4])))
}

/// Returns each pair of neighbours of a run.
pub(super) fn pairs(run: &str) -> impl Iterator<Item = String> {
    run.chars().zip(run.chars().skip(1)).map(|(one, two)| term_of_word(&format!("{one}{two}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut terms = Terms::default();
        terms.add(text);
        terms.words().map(str::to_owned).collect()
    }

    #[test]
    fn words_paths_and_names_are_found_by_their_parts() {
        assert_eq!(
            terms("crates/ledger/src/HTTPServer.rs getUserName is_ok"),
            [
                "crates",
                "get",
                "getusername",
                "http",
                "httpserver",
                "is",
                "is_ok",
                "ledger",
                "name",
                "ok",
                "rs",
                "server",
                "src",
                "user"
            ]
        );
        assert_eq!(terms("go ls -l C"), ["c", "go", "l", "ls"]);
        assert_eq!(terms("utf8Text v2"), ["text", "utf8", "utf8text", "v2"]);
    }

    #[test]
    fn scripts_without_spaces_give_characters_and_pairs() {
        let mut expected: Vec<String> =
            ["検", "索", "す", "検索", "索す"].iter().map(|text| term_of_word(text)).collect();
        expected.sort();
        assert_eq!(terms("検索す"), expected);
    }

    #[test]
    fn letters_of_other_scripts_are_one_word_in_any_case() {
        assert_eq!(terms("Grün"), terms("GRÜN"));
        assert_eq!(terms("Grün").len(), 1);
        assert_eq!(terms("नमस्ते").len(), terms("नमस्ते नमस्ते").len());
    }

    #[test]
    fn no_text_makes_a_mark() {
        assert_eq!(terms("__k5 ___init__"), ["_init__", "_k5", "init", "k5"]);
        assert_eq!(mark('k', 5), "__k5");
        assert_eq!(mark('t', "mcp__a__b"), "__tmcp__a__b");
    }

    proptest! {
        #[test]
        fn terms_are_plain_and_never_marks(text in "\\PC{0,80}") {
            for term in terms(&text) {
                prop_assert!(term.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')), "{}", term);
                prop_assert!(!term.starts_with("__"));
                prop_assert!(term.len() <= LONGEST + 10);
            }
        }

        #[test]
        fn a_text_has_the_terms_of_each_of_its_words(words in proptest::collection::vec("\\PC{1,12}", 1..6)) {
            let all = terms(&words.join(" "));
            for word in &words {
                for term in terms(word) {
                    prop_assert!(all.contains(&term), "{} of {}", term, word);
                }
            }
        }

        #[test]
        fn parts_together_are_the_word(word in "[a-zA-Z0-9_äÄß]{0,20}") {
            prop_assert_eq!(parts(&word).concat(), word.replace('_', ""));
        }
    }
}
