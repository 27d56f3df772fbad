//! `statusline.conf`: what our status line shows, and the user's own that it runs.
//!
//! Lines of `key value`, the value up to the end of the line, with `\n` for a line break and `\\` for a backslash:
//!
//! ```text
//! prefix [monitor]
//! chain ~/bin/my-line.sh --short
//! ```
//!
//! Law: only the `chain` line is ours to write; every other line is the user's and stays. The hook has its own small
//! reader of this format.

/// Returns the command that is chained.
pub(crate) fn chain(text: &str) -> Option<String> {
    text.lines()
        .rev()
        .find_map(|line| line.strip_prefix("chain "))
        .filter(|value| !value.is_empty())
        .map(unescaped)
}

/// Returns the text with this command chained, or none.
pub(crate) fn with_chain(text: &str, command: Option<&str>) -> String {
    let mut lines: Vec<String> = text
        .lines()
        .filter(|line| *line != "chain" && !line.starts_with("chain "))
        .map(str::to_owned)
        .collect();
    lines.extend(command.map(|command| format!("chain {}", escaped(command))));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "")
}

fn unescaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => out.push('\n'),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn other_lines_stay_as_they_are() {
        let text = "prefix tr\n# mine\nchain old\n";
        let new = with_chain(text, Some("printf 'a\\nb'\nsecond"));
        assert_eq!(new, "prefix tr\n# mine\nchain printf 'a\\\\nb'\\nsecond\n");
        assert_eq!(chain(&new).as_deref(), Some("printf 'a\\nb'\nsecond"));
        assert_eq!(with_chain(&new, None), "prefix tr\n# mine\n");
        assert_eq!(chain(&with_chain(&new, None)), None);
    }

    proptest! {
        #[test]
        fn any_command_comes_back(command in "[^\r]{1,40}") {
            prop_assert_eq!(chain(&with_chain("prefix x\n", Some(&command))), Some(command));
        }
    }
}
