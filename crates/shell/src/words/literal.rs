//! Command substitutions whose output the command line itself holds.

use std::borrow::Cow;

use super::Frame;
use crate::decode;
use crate::syntax::ast::{Command, Part, RedirectKind, Script, Shape, Span, Word};

/// Longest output that is worked out, in bytes, and how deep one may stand in another.
const MAX_OUTPUT: usize = 16 * 1024;
const MAX_DEPTH: usize = 4;

/// Returns the output of a script that contains its own text: `cat` of a here-document, `echo` of plain text, and such
/// text through filters like `base64 -d`. Agents write commit messages and patches this way.
pub(crate) fn literal_output<'t>(frame: &Frame<'t>, script: &Script) -> Option<Cow<'t, str>> {
    output(frame, script, 0)
}

fn output<'t>(frame: &Frame<'t>, script: &Script, depth: usize) -> Option<Cow<'t, str>> {
    let [item] = script.items.as_slice() else { return None };
    if !item.chain.rest.is_empty() || item.background || item.chain.first.negated || depth > MAX_DEPTH {
        return None;
    }
    let mut printed: Option<Cow<'t, str>> = None;
    for command in item.chain.first.commands.as_slice() {
        printed = Some(run(frame, command, printed, depth)?);
    }
    printed.filter(|printed| printed.len() <= MAX_OUTPUT)
}

/// Returns the output of one command for an input.
fn run<'t>(
    frame: &Frame<'t>,
    command: &Command,
    input: Option<Cow<'t, str>>,
    depth: usize,
) -> Option<Cow<'t, str>> {
    let Shape::Simple(simple) = &command.shape else { return None };
    let (name, rest) = simple.words.split_first()?;
    let name = name.span.of(frame.text);
    match (name, input) {
        ("cat", None) if rest.is_empty() => {
            // A substitution drops the line ends at the end of what it prints.
            Some(Cow::Borrowed(document(frame, command)?.trim_end_matches('\n')))
        }
        ("echo", None) if command.redirects.is_empty() => match rest {
            [word] => text_of(frame, word, depth),
            words => {
                let words: Vec<Cow<'_, str>> =
                    words.iter().map(|word| text_of(frame, word, depth)).collect::<Option<_>>()?;
                match words.split_first() {
                    Some((first, rest)) if first == "-e" => {
                        Some(Cow::Owned(decode::escapes(&rest.join(" "))))
                    }
                    _ => Some(Cow::Owned(words.join(" "))),
                }
            }
        },
        ("printf", None) if command.redirects.is_empty() => {
            let words: Vec<Cow<'_, str>> =
                rest.iter().map(|word| text_of(frame, word, depth)).collect::<Option<_>>()?;
            let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
            let (format, arguments) = words.split_first()?;
            // `printf -v name …` sets a variable and prints nothing.
            (!format.starts_with('-')).then(|| Cow::Owned(decode::formatted(format, arguments)))
        }
        (_, input) => {
            let words: Vec<Cow<'_, str>> =
                rest.iter().map(|word| text_of(frame, word, depth)).collect::<Option<_>>()?;
            let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
            let input = match input {
                Some(input) if command.redirects.is_empty() => input,
                None => here_string(frame, command, depth)?,
                Some(_) => return None,
            };
            decode::through(name, &words, &input).map(Cow::Owned)
        }
    }
}

/// Returns the here-document that a command reads, if nothing in it is expanded.
fn document<'t>(frame: &Frame<'t>, command: &Command) -> Option<&'t str> {
    let [redirect] = command.redirects.as_slice() else { return None };
    if redirect.kind != RedirectKind::HereDocument {
        return None;
    }
    let heredoc = frame.parsed.heredocs.get(redirect.heredoc?)?;
    // With an expansion in it, the text as written would not be the text that is printed.
    heredoc.parts.is_empty().then(|| heredoc.body.of(frame.text))
}

fn here_string<'t>(frame: &Frame<'t>, command: &Command, depth: usize) -> Option<Cow<'t, str>> {
    let [redirect] = command.redirects.as_slice() else { return None };
    (redirect.kind == RedirectKind::HereString).then(|| text_of(frame, &redirect.target, depth))?
}

/// Returns a word that is one piece of text, or the output of such a script.
fn text_of<'t>(frame: &Frame<'t>, word: &Word, depth: usize) -> Option<Cow<'t, str>> {
    match word.parts.as_slice() {
        [Part::Plain(span) | Part::Quoted(span)] => Some(Cow::Borrowed(Span::of(*span, frame.text))),
        [Part::Command(inner)] => output(frame, &inner.script, depth + 1),
        _ => None,
    }
}
