//! Scripts of `sed`: the shell commands that they run, and the files that they read and write.

use crate::arguments::{Arguments, Style, values_of};
use crate::words::Field;

/// The commands and files in a script.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    /// Shell commands behind `e`.
    pub(crate) commands: Vec<String>,
    /// The script runs its input, or text made of it: `e` alone, `s/…/…/e`.
    pub(crate) runs_text: bool,
    /// Files that it writes.
    pub(crate) writes: Vec<String>,
    /// Files that it reads besides its operands.
    pub(crate) reads: Vec<String>,
    /// It is not in the grammar.
    pub(crate) broken: bool,
}

const VALUES: &str = "-f --file -l --line-length";

/// Returns the script of a call: all that its options give, or the first operand.
pub(crate) fn script(rest: &[Field<'_>]) -> String {
    // `-i` takes what is stuck to it and nothing else: `-ie` is no script.
    let in_place = |field: &&Field<'_>| {
        field.is_option()
            && !field.text.starts_with("--")
            && field.text.trim_start_matches(['-', 'n', 'E', 'r', 's', 'u', 'z']).starts_with('i')
    };
    let own: Vec<Field<'_>> = rest.iter().filter(|field| !in_place(field)).cloned().collect();
    let given = values_of(&own, "-e --expression", VALUES);
    if !given.is_empty() {
        return given.iter().map(|(script, _)| *script).collect::<Vec<_>>().join("\n");
    }
    let arguments = Arguments::read(&own, VALUES, Style::Gnu);
    if arguments.has("-f --file") {
        return String::new();
    }
    arguments.operand(0).unwrap_or_default().to_owned()
}

/// Reads a script command by command.
pub(crate) fn read(script: &str) -> Runs {
    let mut runs = Runs::default();
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ';' | '{' | '}'));
        if rest.is_empty() {
            return runs;
        }
        let Some(behind) = command(rest, &mut runs) else {
            runs.broken = true;
            return runs;
        };
        rest = behind;
    }
}

/// Reads one command with its addresses, and returns what follows it.
fn command<'s>(text: &'s str, runs: &mut Runs) -> Option<&'s str> {
    let mut rest = text;
    if let Some(behind) = address(rest)? {
        rest = behind.trim_start();
        if let Some(second) = rest.strip_prefix(',') {
            let second = second.trim_start().trim_start_matches(['+', '~']);
            rest = address(second)?.unwrap_or(second).trim_start();
        }
    }
    rest = rest.trim_start_matches(|c: char| c == '!' || c.is_whitespace());
    let name = rest.chars().next()?;
    let behind = rest.get(name.len_utf8()..)?;
    // Only where the line is taken: looking for its end at every command would cost the square of the script.
    let to_line_end = || behind.split_once('\n').unwrap_or((behind, ""));
    match name {
        '{' | '}' => Some(behind),
        'e' => {
            let (line, after) = to_line_end();
            match line.trim() {
                "" | "}" => runs.runs_text = true,
                command => runs.commands.push(command.to_owned()),
            }
            Some(after)
        }
        's' | 'y' => {
            let delimiter = behind.chars().next().filter(|c| !matches!(c, '\n' | '\\'))?;
            let first = until(behind.get(delimiter.len_utf8()..)?, delimiter)?;
            let mut flags = until(first, delimiter)?;
            while let Some(flag) = flags.chars().next() {
                match flag {
                    'e' if name == 's' => runs.runs_text = true,
                    'w' => {
                        let (file, after) = flags.split_once('\n').unwrap_or((flags, ""));
                        runs.writes.extend(file.get(1..).map(|file| file.trim().to_owned()));
                        return Some(after);
                    }
                    ';' | '}' | '\n' | '#' => break,
                    _ if flag.is_ascii_alphanumeric() || flag.is_whitespace() => {}
                    _ => return None,
                }
                flags = flags.get(flag.len_utf8()..)?;
            }
            Some(flags)
        }
        // Text to the end of the line, and on where a backslash stands before the end.
        'a' | 'i' | 'c' => {
            let mut after = behind;
            loop {
                let (line, rest) = after.split_once('\n').unwrap_or((after, ""));
                after = rest;
                if !line.ends_with('\\') || rest.is_empty() {
                    return Some(after);
                }
            }
        }
        'w' | 'W' => {
            let (file, after) = to_line_end();
            runs.writes.push(file.trim().to_owned());
            Some(after)
        }
        'r' | 'R' => {
            let (file, after) = to_line_end();
            runs.reads.push(file.trim().to_owned());
            Some(after)
        }
        '#' => Some(to_line_end().1),
        ':' | 'b' | 't' | 'T' => {
            let end = behind.find([';', '\n', '}']).unwrap_or(behind.len());
            behind.get(end..)
        }
        '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'l' | 'L' | 'n' | 'N' | 'p' | 'P' | 'q' | 'Q' | 'v'
        | 'x' | 'z' | 'F' => {
            let behind = behind.trim_start_matches(|c: char| c == ' ' || c == '.' || c.is_ascii_digit());
            (behind.is_empty() || behind.starts_with([';', '\n', '}', '#'])).then_some(behind)
        }
        _ => None,
    }
}

/// Returns the text behind an address: `Some(None)` without an address, `None` if the address has no end.
#[expect(clippy::option_option, reason = "no address and a broken one are two things")]
fn address(text: &str) -> Option<Option<&str>> {
    let first = text.chars().next().unwrap_or(' ');
    let (delimiter, pattern) = match first {
        '$' => return Some(text.get(1..)),
        '/' => ('/', text.get(1..)?),
        '\\' => {
            let delimiter = text.chars().nth(1)?;
            (delimiter, text.get(1 + delimiter.len_utf8()..)?)
        }
        _ if first.is_ascii_digit() => {
            return Some(Some(text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '~')));
        }
        _ => return Some(None),
    };
    let behind = until(pattern, delimiter)?;
    Some(Some(behind.trim_start_matches(['I', 'M'])))
}

/// Returns the text behind the next delimiter that is not escaped.
fn until(text: &str, delimiter: char) -> Option<&str> {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        escaped = character == '\\';
        if character == delimiter {
            return text.get(at + character.len_utf8()..);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_run_a_shell_are_found_behind_any_address() {
        for script in [
            "e ls",
            "1e ls",
            "1els",
            "$e ls",
            "/./e ls",
            "\\,x,e ls",
            "1,3e ls",
            "0,/x/e ls",
            "1~2e ls",
            "/a/,+3 e ls",
            "/a/I!e ls",
            "p;e ls",
            "1{p;e ls\n}",
            "s/a;e/b/;e ls",
            "y/ab/cd/\ne ls",
            "a text\ne ls",
        ] {
            assert_eq!(read(script).commands, ["ls"], "{script}");
        }
        for script in
            ["e", "1e", "s/a/b/e", "/x/s/a/b/ge", "s|a|b|2e", "s/a;b/c/e", "$!s,a,b,e", "s/\\//x/e;p"]
        {
            assert!(read(script).runs_text, "{script}");
        }
    }

    #[test]
    fn files_are_found_with_and_without_a_blank() {
        for script in ["w f", "1w f", "wf", "/x/W f", "s/a/b/w f", "s/a/b/gwf\np"] {
            assert_eq!(read(script).writes, ["f"], "{script}");
        }
        for script in ["r f", "$rf", "1R f\np"] {
            assert_eq!(read(script).reads, ["f"], "{script}");
        }
    }

    #[test]
    fn commands_that_edit_run_nothing() {
        for script in [
            "s/a/b/g",
            "s/e/E/",
            "/^e/d",
            "1,5p",
            "$d",
            "s|/|e|;s/x/y/2",
            "/re/,/ee/{s/a/e/;p}",
            "1i e rm",
            "a\\\n e ls",
            ":e;N;$!be;s/\\n/ /g",
            "/x/!d",
            "1q;",
            "# e ls",
            "y/e/f/",
            "n;d",
            "s/[^e]*$//",
            "5,$p",
            "2~3d",
        ] {
            assert_eq!(read(script), Runs::default(), "{script}");
        }
    }
}
