//! Command substitutions whose output the command line itself holds.

use std::borrow::Cow;

use super::Frame;
use crate::syntax::ast::{Command, Part, RedirectKind, Script, Shape, Span, Word};

/// Longest output that is worked out, in bytes.
const MAX_OUTPUT: usize = 16 * 1024;

/// What a script prints, if the text of it is in the script: `cat` of a here-document, `echo` of plain text.
/// Agents write commit messages and patches this way.
pub(crate) fn literal_output<'t>(frame: &Frame<'t>, script: &Script) -> Option<Cow<'t, str>> {
    let [item] = script.items.as_slice() else { return None };
    let [command] = item.chain.first.commands.as_slice() else { return None };
    if !item.chain.rest.is_empty() || item.background || item.chain.first.negated {
        return None;
    }
    let Shape::Simple(simple) = &command.shape else { return None };
    let (name, rest) = simple.words.split_first()?;
    let output = match name.span.of(frame.text) {
        "cat" if rest.is_empty() => Cow::Borrowed(document(frame, command)?.trim_end_matches('\n')),
        "echo" if command.redirects.is_empty() => match rest {
            [word] => Cow::Borrowed(single_text(frame, word)?),
            words => Cow::Owned(
                words.iter().map(|word| single_text(frame, word)).collect::<Option<Vec<_>>>()?.join(" "),
            ),
        },
        _ => return None,
    };
    (output.len() <= MAX_OUTPUT).then_some(output)
}

/// The here-document that a command reads, if nothing in it is expanded.
fn document<'t>(frame: &Frame<'t>, command: &Command) -> Option<&'t str> {
    let [redirect] = command.redirects.as_slice() else { return None };
    if redirect.kind != RedirectKind::HereDocument {
        return None;
    }
    let heredoc = frame.parsed.heredocs.get(redirect.heredoc?)?;
    heredoc.parts.is_empty().then(|| heredoc.body.of(frame.text))
}

/// A word that is one piece of text.
fn single_text<'t>(frame: &Frame<'t>, word: &Word) -> Option<&'t str> {
    match word.parts.as_slice() {
        [Part::Plain(span) | Part::Quoted(span)] => Some(Span::of(*span, frame.text)),
        _ => None,
    }
}
