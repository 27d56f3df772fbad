//! Brace expansion: `{a,b}` and `{1..3}`, within bounds.

/// Longest word that is expanded, in bytes, and most words it may become. Past either the word stays as it is.
const MAX_WORD: usize = 512;
const MAX_RESULTS: usize = 64;

/// A character and whether it is free of quotes: only free braces and commas count.
pub(super) type Mark = (char, bool);

/// Returns the words that a word with braces stands for; just itself if there is nothing to expand. `None` if they
/// are too many, or the word is too long to look.
pub(super) fn expand(word: &[Mark]) -> Option<Vec<String>> {
    let plain = |marks: &[Mark]| marks.iter().map(|mark| mark.0).collect::<String>();
    if !word.contains(&('{', true)) {
        return Some(vec![plain(word)]);
    }
    if word.len() > MAX_WORD {
        return None;
    }
    let mut open = vec![word.to_vec()];
    let mut done = Vec::new();
    while let Some(next) = open.pop() {
        match alternatives(&next) {
            Some(more) if open.len() + done.len() + more.len() <= MAX_RESULTS => {
                open.extend(more.into_iter().rev())
            }
            Some(_) => return None,
            None => done.push(plain(&next)),
        }
    }
    Some(done)
}

/// Expands the first group that is one.
fn alternatives(word: &[Mark]) -> Option<Vec<Vec<Mark>>> {
    for (start, _) in word.iter().enumerate().filter(|(_, mark)| **mark == ('{', true)) {
        let before = word.get(..start)?;
        // `${…}` is not a group.
        if before.last() == Some(&('$', true)) {
            continue;
        }
        let Some((inside, after)) = group(word.get(start + 1..)?) else { continue };
        let choices = match list(inside) {
            Some(choices) => choices,
            None => match range(inside) {
                Some(choices) => choices,
                None => continue,
            },
        };
        return Some(choices.into_iter().map(|choice| [before, &choice, after].concat()).collect());
    }
    None
}

/// Splits at the brace that closes the group.
fn group(rest: &[Mark]) -> Option<(&[Mark], &[Mark])> {
    let mut depth = 1_usize;
    for (position, mark) in rest.iter().enumerate() {
        match mark {
            ('{', true) => depth += 1,
            ('}', true) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((rest.get(..position)?, rest.get(position + 1..)?));
        }
    }
    None
}

fn list(inside: &[Mark]) -> Option<Vec<Vec<Mark>>> {
    let mut depth = 0_usize;
    let mut choices = vec![Vec::new()];
    for mark in inside {
        match mark {
            (',', true) if depth == 0 => {
                choices.push(Vec::new());
                continue;
            }
            ('{', true) => depth += 1,
            ('}', true) => depth = depth.saturating_sub(1),
            _ => {}
        }
        choices.last_mut()?.push(*mark);
    }
    (choices.len() > 1).then_some(choices)
}

fn range(inside: &[Mark]) -> Option<Vec<Vec<Mark>>> {
    let text: String = inside.iter().map(|mark| mark.0).collect();
    let (from, to) = text.split_once("..")?;
    let step = |word: String| word.chars().map(|character| (character, false)).collect::<Vec<Mark>>();
    if let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>()) {
        // One more than there may be is enough for the caller to see that they are too many.
        let most = MAX_RESULTS + 1;
        let numbers: Vec<i64> = if from <= to {
            (from..=to).take(most).collect()
        } else {
            (to..=from).rev().take(most).collect()
        };
        return Some(numbers.into_iter().map(|number| step(number.to_string())).collect());
    }
    let letter = |word: &str| {
        let mut characters = word.chars();
        characters.next().filter(|first| first.is_ascii_alphabetic() && characters.next().is_none())
    };
    let (from, to) = (letter(from)?, letter(to)?);
    (from <= to).then(|| (from..=to).map(|letter| step(letter.to_string())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(word: &str, free: bool) -> Vec<Mark> {
        word.chars().map(|character| (character, free)).collect()
    }

    fn free(word: &str) -> Vec<String> {
        expand(&marks(word, true)).expect("within the limits")
    }

    #[test]
    fn groups_and_ranges_become_words_in_order() {
        assert_eq!(free("{a,b}.rs"), ["a.rs", "b.rs"]);
        assert_eq!(free("x{1..3}"), ["x1", "x2", "x3"]);
        assert_eq!(free("{c..a}"), ["{c..a}"]);
        assert_eq!(free("{a,{b,c}d}{1,2}"), ["a1", "a2", "bd1", "bd2", "cd1", "cd2"]);
    }

    #[test]
    fn what_is_no_group_stays() {
        for word in ["{}", "{a}", "a{b", "{1..x}", "${a,b}", "}{"] {
            assert_eq!(free(word), [word]);
        }
        assert_eq!(expand(&marks("{a,b}", false)), Some(vec!["{a,b}".to_owned()]));
    }

    #[test]
    fn doubling_does_not_explode() {
        assert_eq!(expand(&marks(&"{a,b}".repeat(40), true)), None);
        assert_eq!(expand(&marks(&format!("{{a,b}}{}", "x".repeat(MAX_WORD)), true)), None);
        assert_eq!(expand(&marks("{1..99999999}", true)), None);
    }
}
