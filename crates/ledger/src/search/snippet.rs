//! The place of a text that answers a question, with the words marked.

use super::Ask;
use super::terms::{Piece, parts, pieces, term_of_word};

/// Characters around the first word that matched.
const BEFORE: usize = 40;
const AFTER: usize = 120;

/// Returns the part of the first of these texts in which a word matches, with every matching word between `⟦` and `⟧`;
/// the beginning of the first text if none does.
pub fn snippet<'text>(ask: &Ask, texts: impl IntoIterator<Item = &'text str>) -> String {
    let mut first = None;
    for text in texts {
        if let Some(found) = mark_words(ask, text) {
            return found;
        }
        first = first.or(Some(text).filter(|text| !text.is_empty()));
    }
    let first = first.unwrap_or_default();
    let end = boundary(first, BEFORE + AFTER);
    tidy(first.get(..end).unwrap_or_default(), false, end < first.len())
}

fn mark_words(ask: &Ask, text: &str) -> Option<String> {
    let start_of = |piece: &str| (piece.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let mut hits = pieces(text).filter(|piece| is_hit(ask, *piece)).map(|piece| {
        let start = start_of(piece.text());
        (start, start + piece.text().len())
    });
    let first = hits.next()?;
    let from = {
        let before = text.get(..first.0).unwrap_or_default();
        before.char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at)
    };
    let rest = text.get(first.1..).unwrap_or_default();
    let to = first.1 + boundary(rest, AFTER);
    let mut shown = String::new();
    let mut at = from;
    for (start, end) in std::iter::once(first).chain(hits).take_while(|(_, end)| *end <= to) {
        shown.push_str(text.get(at..start).unwrap_or_default());
        shown.push('⟦');
        shown.push_str(text.get(start..end).unwrap_or_default());
        shown.push('⟧');
        at = end;
    }
    shown.push_str(text.get(at..to).unwrap_or_default());
    Some(tidy(&shown, from > 0, to < text.len()))
}

/// Returns the byte behind so many characters.
fn boundary(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}

/// Returns one line, with dots where something was left out.
fn tidy(text: &str, is_cut_before: bool, is_cut_behind: bool) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}{line}{}", if is_cut_before { "…" } else { "" }, if is_cut_behind { "…" } else { "" })
}

fn is_hit(ask: &Ask, piece: Piece<'_>) -> bool {
    match piece {
        Piece::Word(word) => {
            let whole = term_of_word(word);
            let parts: Vec<String> = parts(word).into_iter().map(term_of_word).collect();
            ask.needs.iter().any(|need| {
                need.ways.iter().flatten().any(|term| {
                    let is_it = |candidate: &String| {
                        candidate == term || (need.is_open && candidate.starts_with(term.as_str()))
                    };
                    is_it(&whole) || parts.iter().any(is_it)
                })
            })
        }
        Piece::Run(run) => {
            let whole = term_of_word(run);
            ask.needs.iter().any(|need| need.ways.iter().flatten().any(|term| whole.contains(term.as_str())))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn matching_words_are_marked_where_the_first_of_them_is() {
        let ask = Ask::parse("cargo te");
        assert_eq!(
            snippet(&ask, ["nothing here", "run cargo test\n--workspace"]),
            "run ⟦cargo⟧ ⟦test⟧ --workspace"
        );
        let long = format!("{} cargo {}", "word ".repeat(50), "more ".repeat(50));
        let shown = snippet(&ask, [long.as_str()]);
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains("⟦cargo⟧"), "{shown}");
        assert_eq!(snippet(&ask, ["title", ""]), "title");
    }

    proptest! {
        #[test]
        fn any_text_is_cut_between_characters(question in "\\PC{0,20}", text in "\\PC{0,400}") {
            let shown = snippet(&Ask::parse(&question), [text.as_str()]);
            prop_assert!(shown.chars().count() <= 2 * (BEFORE + AFTER) + text.chars().count().min(4 * AFTER) + 4);
        }
    }
}
