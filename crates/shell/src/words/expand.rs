//! Expansion of one word into fields.

use std::borrow::Cow;

use super::brace::{self, Mark};
use super::operate::operate;
use super::{Field, Frame, Value, Variables, literal_output};
use crate::syntax::ast::{Part, RedirectKind, Script, Span, Word};

/// Longest text, in bytes, into which values of variables are put.
const MAX_GROWN: usize = 4096;

/// Appends the fields that a word stands for.
pub(crate) fn expand<'t>(
    frame: &Frame<'t>,
    word: &'t Word,
    variables: &Variables,
    fields: &mut Vec<Field<'t>>,
) {
    match word.parts.as_slice() {
        [] => {}
        [Part::Quoted(span)] => fields.push(simple(word, span.of(frame.text))),
        [Part::Plain(span)] if !has_braces(span.of(frame.text)) => {
            let text = span.of(frame.text);
            fields.push(Field { glob: is_glob(text), ..simple(word, text) });
        }
        // `"$@"` falls apart although it is quoted.
        [Part::Parameter(parameter)]
            if parameter.plain && (!parameter.quoted || parameter.name.of(frame.text) == "@") =>
        {
            match variables.get(parameter.name.of(frame.text)) {
                // Unquoted, a value falls apart at blanks.
                Value::Text(value) => {
                    for piece in value.split_whitespace() {
                        let glob = is_glob(piece);
                        fields.push(Field { word: Some(word), glob, ..Field::literal(piece.to_owned()) });
                    }
                }
                Value::OneOf(values) => fields.push(Field {
                    dynamic: true,
                    alternatives: values.clone(),
                    ..simple(word, parameter.span.of(frame.text))
                }),
                Value::Unknown => {
                    fields.push(Field { dynamic: true, ..simple(word, parameter.span.of(frame.text)) })
                }
            }
        }
        _ => assemble(frame, word, variables, fields),
    }
}

fn simple<'t>(word: &'t Word, text: &'t str) -> Field<'t> {
    Field { word: Some(word), ..Field::literal(text) }
}

/// A text under construction: how it reads, and what is special about it.
#[derive(Default)]
struct Build {
    text: String,
    /// Kept only while there may be braces to expand.
    marks: Option<Vec<Mark>>,
    dynamic: bool,
    glob: bool,
    cut: bool,
    alternatives: Vec<String>,
}

impl Build {
    fn push(&mut self, text: &str, free: bool) {
        self.text.push_str(text);
        for alternative in &mut self.alternatives {
            alternative.push_str(text);
        }
        if let Some(marks) = &mut self.marks {
            marks.extend(text.chars().map(|character| (character, free)));
        }
        self.glob |= free && is_glob(text);
    }

    /// Adds a value that falls apart at blanks, unless it is quoted.
    fn push_value(&mut self, text: &str, quoted: bool) {
        if quoted || !text.contains(char::is_whitespace) {
            self.push(text, false);
            return;
        }
        let broken: String =
            text.chars().map(|character| if character.is_whitespace() { BREAK } else { character }).collect();
        self.push(&broken, false);
    }
}

/// Marks a place at which a word is split. No argument can contain this character, so it is never part of the text.
const BREAK: char = '\0';

fn assemble<'t>(frame: &Frame<'t>, word: &'t Word, variables: &Variables, fields: &mut Vec<Field<'t>>) {
    let plain_has = |brace: char| {
        word.parts.iter().any(|part| matches!(part, Part::Plain(span) if span.of(frame.text).contains(brace)))
    };
    let braces = plain_has('{') && plain_has('}');
    let nothing = Variables::default();
    let mut build = Build { marks: braces.then(Vec::new), ..Build::default() };
    for (position, part) in word.parts.iter().enumerate() {
        // Braces are expanded before variables: `$V{a,b}` is `$Va $Vb`, which are other variables.
        let runs_on = braces
            && matches!(part, Part::Parameter(it) if !it.span.of(frame.text).starts_with("${"))
            && matches!(word.parts.get(position + 1), Some(Part::Plain(next)) if next.of(frame.text).starts_with('{'));
        add(frame, part, if runs_on { &nothing } else { variables }, &mut build);
    }
    let texts = match build.marks.take() {
        Some(marks) => brace::expand(&marks).unwrap_or_else(|| {
            // Too many words: which ones is not known.
            build.dynamic = true;
            build.cut = true;
            vec![std::mem::take(&mut build.text)]
        }),
        None => vec![std::mem::take(&mut build.text)],
    };
    for text in texts {
        let broken = text.contains(BREAK);
        for piece in text.split(BREAK).filter(|piece| !broken || !piece.is_empty()) {
            fields.push(Field {
                text: Cow::Owned(piece.to_owned()),
                word: Some(word),
                dynamic: build.dynamic,
                glob: build.glob,
                alternatives: build.alternatives.clone(),
                cut: build.cut,
            });
        }
    }
}

fn add(frame: &Frame<'_>, part: &Part, variables: &Variables, build: &mut Build) {
    let unknown = |span: Span, build: &mut Build| {
        build.dynamic = true;
        build.push(span.of(frame.text), false);
    };
    match part {
        Part::Plain(span) => build.push(span.of(frame.text), true),
        Part::Quoted(span) => build.push(span.of(frame.text), false),
        Part::Decoded(decoded) => build.push(&decoded.1, false),
        Part::Opaque(span) => unknown(*span, build),
        Part::Arithmetic(arithmetic) => unknown(arithmetic.0, build),
        Part::Process(process) => unknown(process.span, build),
        Part::Backtick(inner) => unknown(*inner, build),
        Part::Command(command) => match literal_output(frame, &command.script) {
            Some(text) => build.push_value(&text, command.quoted),
            None => unknown(command.span, build),
        },
        // The line does not set `IFS`, so an unquoted `$IFS` splits the word as a blank does.
        Part::Parameter(parameter)
            if parameter.plain
                && !parameter.quoted
                && parameter.name.of(frame.text) == "IFS"
                && variables.get("IFS") == &Value::Unknown =>
        {
            build.push_value(" ", false);
        }
        Part::Parameter(parameter) if parameter.plain => match variables.get(parameter.name.of(frame.text)) {
            // Past this length a word is not a path or a name, and repeating a variable must not make it grow.
            Value::Text(text) if build.text.len() < MAX_GROWN => build.push_value(text, parameter.quoted),
            Value::OneOf(values) if build.alternatives.is_empty() => {
                build.dynamic = true;
                let before = build.text.clone();
                build.push(parameter.span.of(frame.text), false);
                build.alternatives = values.iter().map(|value| format!("{before}{value}")).collect();
            }
            Value::Text(_) => {
                build.cut = true;
                unknown(parameter.span, build);
            }
            Value::OneOf(_) | Value::Unknown => unknown(parameter.span, build),
        },
        Part::Parameter(parameter) => {
            let inside = parameter.span.of(frame.text).strip_prefix("${").and_then(|it| it.strip_suffix('}'));
            match inside.and_then(|inside| operate(inside, variables)) {
                Some(text) if build.text.len() < MAX_GROWN => build.push_value(&text, parameter.quoted),
                _ => unknown(parameter.span, build),
            }
        }
    }
}

fn has_braces(text: &str) -> bool {
    text.contains('{') && text.contains('}')
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?'])
        || text.find('[').is_some_and(|open| text.get(open..).is_some_and(|rest| rest.contains(']')))
}

/// Returns `true` for `cat <<'E'`: nothing but a text that stands there.
fn is_document(script: &Script) -> bool {
    let [item] = script.items.as_slice() else { return false };
    let [command] = item.chain.first.commands.as_slice() else { return false };
    command.redirects.iter().any(|redirect| redirect.kind == RedirectKind::HereDocument)
}

/// A script that runs to produce a part of a word.
pub(crate) enum Inner<'t> {
    /// `$(…)`.
    Command(&'t Script),
    /// `<(…)` and `>(…)`.
    Process(&'t Script),
    /// The inside of backticks.
    Backtick(Span),
    /// A command whose output the line itself holds.
    Printed,
}

/// Calls back for every script inside a word, unless its output is already known.
pub(crate) fn scripts_in<'t>(frame: &Frame<'t>, parts: &'t [Part], found: &mut Vec<Inner<'t>>) {
    for part in parts {
        match part {
            Part::Plain(_) | Part::Quoted(_) | Part::Decoded(_) | Part::Opaque(_) => {}
            Part::Parameter(parameter) => scripts_in(frame, &parameter.operand, found),
            Part::Arithmetic(arithmetic) => scripts_in(frame, &arithmetic.1, found),
            Part::Command(command) => {
                if literal_output(frame, &command.script).is_none() {
                    found.push(Inner::Command(&command.script));
                } else if !is_document(&command.script) {
                    found.push(Inner::Printed);
                }
            }
            Part::Process(process) => found.push(Inner::Process(&process.script)),
            Part::Backtick(inner) => found.push(Inner::Backtick(*inner)),
        }
    }
}
