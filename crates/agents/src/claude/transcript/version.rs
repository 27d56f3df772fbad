//! Names the behaviour of single versions of the client.
//!
//! Rows name the version that wrote them. A row without one, or with one that is no version, counts as neither old nor
//! new: each question says what it then assumes.

use super::text::Text;

/// The first version known to name the prompt in every hook.
const HOOKS_NAME_PROMPTS: [u32; 3] = [2, 1, 197];

/// The first version that counts answers that were cut short, and says whether a refused call had begun.
const COUNTS_CUT_ANSWERS: [u32; 3] = [2, 1, 326];

fn parse(version: Text<'_>) -> Option<[u32; 3]> {
    let text = version.head(40);
    let mut parts = text.split(['.', '-', '+']).map(str::parse::<u32>);
    let mut next = || parts.next()?.ok();
    Some([next()?, next()?, next()?])
}

/// Returns whether hooks of this version may lack the id of their prompt.
pub(super) fn may_lack_prompt_ids(version: Text<'_>) -> bool {
    parse(version).is_some_and(|version| version < HOOKS_NAME_PROMPTS)
}

/// Returns whether this version counts an answer that was cut short.
pub(super) fn counts_cut_answers(version: Text<'_>) -> bool {
    parse(version).is_some_and(|version| version >= COUNTS_CUT_ANSWERS)
}

/// Returns whether this version marks a call that was refused before it began.
pub(super) fn marks_denials_before_run(version: Text<'_>) -> bool {
    parse(version).is_some_and(|version| version >= COUNTS_CUT_ANSWERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        for (version, is_old, is_new) in [
            ("2.1.150", true, false),
            ("2.1.197", false, false),
            ("2.1.99", true, false),
            ("2.1.325", false, false),
            ("2.1.326", false, true),
            ("2.1.1000-beta.1", false, true),
            ("3.0.0", false, true),
            ("", false, false),
            ("two", false, false),
            ("2.1", false, false),
        ] {
            let text = Text::new(version.as_bytes());
            assert_eq!(may_lack_prompt_ids(text), is_old, "{version}");
            assert_eq!(counts_cut_answers(text), is_new, "{version}");
            assert_eq!(marks_denials_before_run(text), is_new, "{version}");
        }
    }
}
