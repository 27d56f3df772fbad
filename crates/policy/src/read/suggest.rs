//! The word that was probably meant.

/// Returns the nearest of some words, if one is near enough to be worth saying.
pub(super) fn nearest<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let folded = word.to_lowercase().replace('-', "_");
    let near = |candidate: &str| {
        let other = candidate.to_lowercase();
        let far = distance(&folded, &other);
        // A third of the word may be wrong, or one is the beginning of the other.
        let limit = (other.chars().count() / 3).max(1);
        if far <= limit {
            Some(far)
        } else if folded.len() > 2 && (other.starts_with(&folded) || folded.starts_with(&other)) {
            Some(limit + 1)
        } else {
            None
        }
    };
    words
        .into_iter()
        .filter_map(|candidate| near(candidate).map(|far| (far, candidate)))
        .min_by_key(|(far, _)| *far)
        .map(|(_, candidate)| candidate)
}

/// Returns the number of characters to change, add, remove or swap with their neighbour. Long words are not
/// compared: they are not typing errors.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    if left.len() > 64 || right.len() > 64 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (row, a) in left.iter().enumerate() {
        let mut here = vec![row + 1];
        for (column, b) in right.iter().enumerate() {
            let at = |line: &[usize], place: usize| line.get(place).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&above, column) + usize::from(a != b))
                .min(at(&above, column + 1) + 1)
                .min(at(&here, column) + 1);
            let swapped =
                row > 0 && column > 0 && left.get(row - 1) == Some(b) && right.get(column - 1) == Some(a);
            if swapped {
                best = best.min(at(&before, column - 1) + 1);
            }
            here.push(best);
        }
        before = std::mem::replace(&mut above, here);
    }
    above.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let words = ["decision", "description", "reason", "on_outage"];
        assert_eq!(nearest("desicion", words), Some("decision"));
        assert_eq!(nearest("on-outage", words), Some("on_outage"));
        assert_eq!(nearest("Reason", words), Some("reason"));
        assert_eq!(nearest("reasno", words), Some("reason"));
        assert_eq!(nearest("webhook", words), None);
        assert_eq!(nearest(&"x".repeat(10_000), words), None);
        assert_eq!(nearest("PretoolUse", ["PreToolUse", "PostToolUse"]), Some("PreToolUse"));
    }
}
