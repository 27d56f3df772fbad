//! Programs of `awk`: what they give to a shell.

use crate::arguments::{Arguments, Style, values_of};
use crate::exposure::FileAccess;
use crate::words::Field;

const VALUES: &str = "-f --file -F --field-separator -v --assign -i --include -l --load -E --exec";

/// Returns the programs of a call: all that its options give, or the first operand.
pub(crate) fn programs<'f>(rest: &'f [Field<'_>]) -> Vec<&'f str> {
    let given = values_of(rest, "-e --source", VALUES);
    if !given.is_empty() {
        return given.into_iter().map(|(program, _)| program).collect();
    }
    let arguments = Arguments::read(rest, VALUES, Style::Gnu);
    if arguments.has("-f --file -E --exec") {
        return Vec::new();
    }
    arguments.operand(0).into_iter().collect()
}

/// A piece of a program: enough to tell a pipe from a pattern that holds one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Pattern,
    Word(String),
    Sign(char),
    Pipe,
    LineEnd,
}

/// Returns the texts that a program runs: `system("…")`, `"…" | getline`, `print | "…"`.
pub(crate) fn commands(program: &str) -> Vec<String> {
    let pieces = pieces(program);
    let at = |place: usize| pieces.get(place);
    let mut found = Vec::new();
    for (place, piece) in pieces.iter().enumerate() {
        let Piece::Text(text) = piece else { continue };
        let before = |back: usize| place.checked_sub(back).and_then(at);
        let called =
            before(1) == Some(&Piece::Sign('(')) && before(2) == Some(&Piece::Word("system".to_owned()));
        let piped = before(1) == Some(&Piece::Pipe) || at(place + 1) == Some(&Piece::Pipe);
        if called || piped {
            found.push(text.clone());
        }
    }
    found
}

/// Returns `true` if a program runs a command that is not a literal text in it, and so cannot be read here.
pub(crate) fn hides(program: &str) -> bool {
    let pieces = pieces(program);
    let at = |place: usize| pieces.get(place);
    let ends =
        |piece: Option<&Piece>| matches!(piece, None | Some(Piece::LineEnd | Piece::Sign(';' | '}' | ')')));
    pieces.iter().enumerate().any(|(place, piece)| match piece {
        Piece::Word(word) if word == "system" => {
            let whole = at(place + 1) == Some(&Piece::Sign('('))
                && matches!(at(place + 2), Some(Piece::Text(_)))
                && at(place + 3) == Some(&Piece::Sign(')'));
            !whole
        }
        Piece::Pipe => {
            let to = matches!(at(place + 1), Some(Piece::Text(_))) && ends(at(place + 2));
            // What is read comes from a command; only a text by itself is one that can be read here.
            let from = at(place + 1) == Some(&Piece::Word("getline".to_owned()))
                && matches!(place.checked_sub(1).and_then(at), Some(Piece::Text(_)))
                && place.checked_sub(2).is_none_or(|back| {
                    matches!(at(back), Some(Piece::Sign('{' | ';' | '(' | '}') | Piece::LineEnd))
                });
            !(to || from)
        }
        // A function by its name, an extension, a file.
        Piece::Sign('@') => true,
        _ => false,
    })
}

/// Returns the files that a program writes (`print > "f"`) and reads (`getline < "f"`); one that is no text has no
/// name.
pub(crate) fn files(program: &str) -> Vec<(Option<String>, FileAccess)> {
    let pieces = pieces(program);
    let mut found = Vec::new();
    let (mut prints, mut gets, mut depth) = (false, false, 0_usize);
    for (place, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Word(word) => {
                prints |= matches!(word.as_str(), "print" | "printf");
                gets |= word == "getline";
                if matches!(word.as_str(), "print" | "printf") {
                    depth = 0;
                }
            }
            Piece::LineEnd | Piece::Sign(';' | '{' | '}') => (prints, gets) = (false, false),
            Piece::Sign('(' | '[') => depth += 1,
            Piece::Sign(')' | ']') => depth = depth.saturating_sub(1),
            Piece::Sign(sign @ ('>' | '<')) => {
                let access = match sign {
                    // In brackets it compares, even behind `print`: `print ($1 > 3)`.
                    '>' if prints && depth == 0 => FileAccess::Write,
                    '<' if gets => FileAccess::Read,
                    _ => continue,
                };
                let next =
                    pieces.get(place + 1..).and_then(|rest| rest.iter().find(|it| **it != Piece::Sign('>')));
                let name = match next {
                    Some(Piece::Text(text)) => Some(text.clone()),
                    _ => None,
                };
                found.push((name, access));
                (prints, gets) = (false, false);
            }
            Piece::Text(_) | Piece::Pattern | Piece::Sign(_) | Piece::Pipe => {}
        }
    }
    found
}

fn pieces(program: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut rest = program;
    while let Some(first) = rest.chars().next() {
        let behind = rest.get(first.len_utf8()..).unwrap_or_default();
        rest = match first {
            '"' => {
                let (text, behind) = quoted(behind, '"');
                pieces.push(Piece::Text(text.replace("\\\"", "\"").replace("\\\\", "\\")));
                behind
            }
            // A pattern may hold `|` and quotes, which are no pipe and no text; behind a value a slash divides.
            '/' if begins_pattern(pieces.last()) => {
                let (_, behind) = quoted(behind, '/');
                pieces.push(Piece::Pattern);
                behind
            }
            '#' => behind.find('\n').and_then(|end| behind.get(end..)).unwrap_or_default(),
            '\n' => {
                pieces.push(Piece::LineEnd);
                behind
            }
            '|' if behind.starts_with('|') => {
                pieces.push(Piece::Sign('|'));
                behind.get(1..).unwrap_or_default()
            }
            '|' => {
                pieces.push(Piece::Pipe);
                behind.strip_prefix('&').unwrap_or(behind)
            }
            _ if first.is_ascii_alphanumeric() || first == '_' => {
                let length =
                    rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
                let (word, behind) = rest.split_at(length);
                pieces.push(Piece::Word(word.to_owned()));
                behind
            }
            _ if first.is_whitespace() => behind,
            _ => {
                pieces.push(Piece::Sign(first));
                behind
            }
        };
    }
    pieces
}

/// Returns `true` if a slash after `before` begins a pattern; after a value it divides.
fn begins_pattern(before: Option<&Piece>) -> bool {
    match before {
        None | Some(Piece::LineEnd | Piece::Pipe) => true,
        Some(Piece::Sign(sign)) => !matches!(sign, ')' | ']' | '$'),
        Some(Piece::Word(word)) => {
            matches!(word.as_str(), "return" | "print" | "printf" | "in" | "case" | "else" | "do")
        }
        Some(Piece::Text(_) | Piece::Pattern) => false,
    }
}

/// Splits a text at the next delimiter that is not escaped.
fn quoted(text: &str, delimiter: char) -> (&str, &str) {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        escaped = character == '\\';
        if character == delimiter {
            return (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_gives_to_a_shell_is_found() {
        for (program, expected) in [
            ("BEGIN{system(\"ls\")}", "ls"),
            ("BEGIN { system (\"ls\") }", "ls"),
            ("{print | \"ls\"}", "ls"),
            ("{print $1 | \"sort -n\"}", "sort -n"),
            ("BEGIN{\"ls\" | getline x; print x}", "ls"),
        ] {
            assert_eq!(commands(program), [expected], "{program}");
            assert!(!hides(program), "{program}");
        }
        for program in [
            "BEGIN{system(c)}",
            "BEGIN{system(\"r\" \"m\")}",
            "BEGIN{c=\"ls\"; print | c}",
            "BEGIN{c=\"ls\"; c | getline}",
            "BEGIN{print \"x\" |& c}",
            "BEGIN{print | \"r\" \"m\"}",
            "BEGIN{x \"m\" | getline}",
            "BEGIN{f=\"system\"; @f(\"ls\")}",
            "@load \"x\"",
        ] {
            assert!(hides(program), "{program}");
        }
    }

    #[test]
    fn files_are_distinguished_from_comparisons() {
        use FileAccess::{Read, Write};
        let named = |name: &str, access| vec![(Some(name.to_owned()), access)];
        assert_eq!(files("{print > \"f\"}"), named("f", Write));
        assert_eq!(files("{printf \"x\" >> \"f\"}"), named("f", Write));
        assert_eq!(files("{print $1 > F}"), [(None, Write)]);
        assert_eq!(files("BEGIN{while ((getline l < \"f\") > 0) print l}"), named("f", Read));
        for program in ["$1 > 3", "{print ($1 > 3)}", "$1 < 3 {print}", "{if (a > b) print a; c = d > e}"] {
            assert!(files(program).is_empty(), "{program}");
        }
    }

    #[test]
    fn patterns_texts_and_conditions_hold_no_pipe() {
        for program in [
            "/a|b/ {print}",
            "$1 ~ /a|b/",
            "BEGIN{FS=\"|\"} {print $2}",
            "$1 || $2",
            "{print $1/2 \"|\" $3/4}",
            "{gsub(/x|y/, \"\"); print}",
            "!/a|b/",
            "NR>1 && /a|b/{n++} END{print n/2}",
            "{ print $1 } # a | b",
            "{split($0,a,/[|]/)}",
        ] {
            assert!(commands(program).is_empty() && !hides(program), "{program}");
        }
    }
}
