//! The user unit of systemd: that of the packages, with this program in it.

use super::{Definition, MADE, MARK};

/// The unit that packages carry.
const PACKAGED: &str = include_str!("../../../../packaging/systemd/agent-tracer.service");
/// The line of it that starts the program.
const PACKAGED_START: &str = "ExecStart=/usr/bin/agent-tracer serve";
const START: &str = "ExecStart=";

/// Returns the unit for a server.
pub(super) fn text(definition: &Definition) -> String {
    let mut head = format!(
        "# {MARK}, which writes it anew; `agent-tracer service remove` removes it.\n\
         # Changes of your own: `systemctl --user edit agent-tracer`.\n"
    );
    if let Some(folder) = &definition.made_folder {
        head.push_str(&format!("# {MADE}{}\n", folder.display()));
    }
    let mut start = format!("{START}{}", quoted(&definition.program, Dollars::AsTheyAre));
    for argument in &definition.arguments {
        start.push(' ');
        // systemd expands dollars in arguments, but not in the path of the program.
        start.push_str(&quoted(argument, Dollars::Doubled));
    }
    for (name, value) in &definition.variables {
        start.push_str(&format!("\nEnvironment={}", quoted(&format!("{name}={value}"), Dollars::AsTheyAre)));
    }
    // Its first line is advice for the package's own unit.
    let body = PACKAGED.split_once('\n').map_or(PACKAGED, |(_, body)| body);
    head + &body.replace(PACKAGED_START, &start)
}

/// Returns the program that a unit starts.
pub(super) fn program_of(text: &str) -> Option<String> {
    // From the end: where there are several, the last one counts.
    let line = text.lines().rev().find_map(|line| line.trim().strip_prefix(START))?;
    let line = line.trim_start_matches(['@', '-', ':', '+', '!']);
    let mut program = String::new();
    let mut is_quoted = false;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => is_quoted = !is_quoted,
            '\\' => program.push(characters.next()?),
            // A specifier: only an escaped percent sign has a meaning without the manager.
            '%' => match characters.next()? {
                '%' => program.push('%'),
                _ => return None,
            },
            ' ' | '\t' if !is_quoted => break,
            other => program.push(other),
        }
    }
    (!program.is_empty()).then_some(program)
}

/// Lists the forms of a dollar sign: systemd expands variables in arguments alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dollars {
    AsTheyAre,
    Doubled,
}

/// Returns a word as systemd reads it: plain where nothing in it has a meaning.
fn quoted(word: &str, dollars: Dollars) -> String {
    let mut text = String::new();
    for character in word.chars() {
        match character {
            '%' => text.push_str("%%"),
            '$' if dollars == Dollars::Doubled => text.push_str("$$"),
            '"' | '\\' => text.extend(['\\', character]),
            other => text.push(other),
        }
    }
    let is_plain =
        text.chars().all(|character| character.is_ascii_alphanumeric() || "/._-:=@%$".contains(character));
    if is_plain { text } else { format!("\"{text}\"") }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::service::{is_ours, made_folder};

    fn definition(program: &str) -> Definition {
        Definition {
            program: program.to_owned(),
            arguments: vec!["serve".to_owned(), "--home".to_owned(), "/a b/$HOME/50%".to_owned()],
            variables: vec![("AGENT_HOME".to_owned(), "/x y".to_owned())],
            made_folder: Some(PathBuf::from("/home/dev/.config/systemd")),
        }
    }

    #[test]
    fn the_unit_is_that_of_the_packages_with_this_program() {
        assert_eq!(PACKAGED.matches(PACKAGED_START).count(), 1);
        let text = text(&definition("/home/dev/.local/bin/agent-tracer"));
        let start = "ExecStart=/home/dev/.local/bin/agent-tracer serve --home \"/a b/$$HOME/50%%\"\n\
                     Environment=\"AGENT_HOME=/x y\"\nRestart=on-failure\n";
        assert!(text.contains(start), "{text}");
        for line in PACKAGED.lines().skip(1).filter(|line| *line != PACKAGED_START) {
            assert!(text.lines().any(|own| own == line), "{line}");
        }
        assert!(is_ours(&text) && !is_ours(PACKAGED));
        assert_eq!(made_folder(&text), Some(PathBuf::from("/home/dev/.config/systemd")));
        assert_eq!(made_folder(PACKAGED), None);
    }

    #[test]
    fn the_program_of_a_unit_is_read_as_it_was_written() {
        for program in
            ["/usr/bin/agent-tracer", "/a b/agent-tracer", "/50%/\"q\"/b\\s/$HOME/agent-tracer", "/日本/x"]
        {
            assert_eq!(program_of(&text(&definition(program))).as_deref(), Some(program));
        }
        assert_eq!(program_of(PACKAGED).as_deref(), Some("/usr/bin/agent-tracer"));
        for text in ["", "ExecStart=", "ExecStart=%h/bin/agent-tracer serve", "[Service]\nType=exec\n"] {
            assert_eq!(program_of(text), None, "{text}");
        }
    }
}
