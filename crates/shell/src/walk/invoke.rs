//! One command: wrappers off, then whoever knows the program.

use std::borrow::Cow;

use super::{Input, Walker, builtins, code, wrappers};
use crate::decode;
use crate::draft::{Access, Draft, Shown};
use crate::effect::{Effect, Effects};
use crate::exit::Node;
use crate::model::{Confidence, TargetType};
use crate::path::base;
use crate::syntax::ast::Span;
use crate::tools::{self, Setting, paths};
use crate::words::{Field, Frame};

/// Most wrappers around one command.
const MAX_UNWRAPPED: usize = 16;

/// Longest list on standard input that is taken for arguments, in bytes.
const MAX_LISTED_INPUT: usize = 1024;

/// What became of a command.
pub(super) enum Outcome {
    /// It is the step that was given.
    Step(Node),
    /// It was a script, whose steps are already taken in. The words that held it are named.
    Script(Node, Vec<Span>),
}

impl Walker {
    /// Reads a command from its fields.
    pub(super) fn invoke<'t>(
        &mut self,
        frame: &Frame<'t>,
        fields: &[Field<'t>],
        draft: &mut Draft,
        input: &Input,
    ) -> Outcome {
        let mut fields: Cow<'_, [Field<'t>]> = Cow::Borrowed(fields);
        let mut elsewhere = false;
        let mut listed = false;
        for _ in 0..MAX_UNWRAPPED {
            let Some(first) = fields.first() else { break };
            if first.dynamic {
                break;
            }
            let name = program(&first.text);
            let here = self.elsewhere;
            self.elsewhere |= elsewhere;
            let script = self.script_form(frame, name, &fields, draft, input);
            self.elsewhere = here;
            if let Some(outcome) = script {
                return outcome;
            }
            let Some(unwrapped) = wrappers::unwrap(name, &fields) else { break };
            draft.wrap(unwrapped.label);
            draft.effects = draft.effects.and(unwrapped.effects);
            elsewhere |= unwrapped.elsewhere;
            listed |= unwrapped.more_input;
            fields = match fields {
                Cow::Borrowed(all) if !unwrapped.more_input => {
                    Cow::Borrowed(all.get(unwrapped.skip..).unwrap_or_default())
                }
                all => {
                    let mut rest: Vec<Field<'t>> = all.into_owned();
                    rest.drain(..unwrapped.skip.min(rest.len()));
                    if unwrapped.more_input {
                        with_input(&mut rest, input);
                    }
                    Cow::Owned(rest)
                }
            };
        }
        let words = || fields.iter().filter_map(|field| field.word);
        if let (Some(first), Some(last)) = (words().next(), words().next_back()) {
            draft.shown = Shown::of(frame, Span::new(first.span.start, last.span.end.max(first.span.end)));
        }
        let node = self.read_program(frame, &fields, draft, input);
        self.follow(&fields, draft, input);
        draft.recursive |= listed && draft.effects.has(Effect::Destructive);
        if elsewhere {
            for aim in &mut draft.aims {
                aim.local = false;
            }
        }
        Outcome::Step(node)
    }

    /// What a program hands on, and what it runs besides.
    fn follow(&mut self, fields: &[Field<'_>], draft: &mut Draft, input: &Input) {
        let Some((first, rest)) = fields.split_first().filter(|(first, _)| !first.dynamic) else { return };
        let name = program(&first.text);
        if let Input::Text(text) = input
            && draft.output.is_none()
            && rest.iter().all(|field| !field.dynamic)
        {
            let words: Vec<&str> = rest.iter().map(|field| &*field.text).collect();
            draft.output = decode::through(name, &words, text);
        }
        self.add_hidden(name, rest, draft, input);
    }

    fn read_program<'t>(
        &mut self,
        frame: &Frame<'t>,
        fields: &[Field<'t>],
        draft: &mut Draft,
        input: &Input,
    ) -> Node {
        let Some((first, rest)) = fields.split_first() else {
            // A wrapper and nothing in it.
            draft.at_most(Confidence::Low);
            draft.effects = draft.effects.and(Effects::UNKNOWN);
            draft.name = draft.wrappers.last().copied().unwrap_or_default().to_owned();
            return Self::leaf(draft);
        };
        if first.dynamic {
            draft.name = first.text.chars().take(120).collect();
            draft.operation = "unknown_command";
            draft.effects = draft.effects.and(Effects::UNKNOWN);
            draft.at_most(Confidence::Low);
            return Self::leaf(draft);
        }
        let name = program(&first.text);
        name.clone_into(&mut draft.name);
        if let Some(node) = self.called(name) {
            draft.operation = "call_function";
            draft.effects = draft.effects.and(Effects::NEUTRAL);
            return node;
        }
        if let Some(ends) = builtins::read(self, frame, name, rest, draft) {
            return Node::Step { leaf: draft.leaf, ends };
        }
        if let Some(node) = self.find(frame, name, rest, draft, input) {
            return node;
        }
        if code::read(name, rest, &self.state.place, draft, input) {
            return Self::leaf(draft);
        }
        let setting = Setting { place: &self.state.place, input, dialect: self.dialect };
        if !tools::read(&first.text, name, rest, &setting, draft) {
            unknown(first, rest, &setting, draft);
        }
        let ends = if rest.iter().any(|field| field.text.contains("PIPESTATUS")) && draft.operation != "print"
        {
            crate::exit::Ends::Badly
        } else {
            tools::ends(draft.operation, name)
        };
        Node::Step { leaf: draft.leaf, ends }
    }
}

/// Arguments that come from standard input take the place of `{}`, or stand at the end.
fn with_input(fields: &mut Vec<Field<'_>>, input: &Input) {
    let known = match input {
        Input::Text(text) if text.len() <= MAX_LISTED_INPUT => Some(text),
        Input::Text(_) | Input::Inherited | Input::Stream { .. } => None,
    };
    let mut placed = false;
    for field in fields.iter_mut().filter(|field| field.text.contains("{}")) {
        match known {
            Some(text) => {
                *field = Field::literal(field.text.replace("{}", text.trim_end()));
            }
            None => field.dynamic = true,
        }
        placed = true;
    }
    if !placed {
        match known {
            Some(text) => fields.extend(text.split_whitespace().map(|word| Field::literal(word.to_owned()))),
            None => fields.push(Field::unknown()),
        }
    }
}

/// A program that no table knows. One that is named by a path is a program of the project.
fn unknown(first: &Field<'_>, rest: &[Field<'_>], setting: &Setting<'_>, draft: &mut Draft) {
    draft.effects = draft.effects.and(Effects::UNKNOWN);
    let text = &*first.text;
    if text.contains('/') || code::has_script_ending(text) {
        draft.operation = "execute_program";
        draft.at_most(Confidence::Medium);
        let (kind, value) = paths::typed(first, setting.place, TargetType::File);
        draft.aim(kind, value, Access::Run);
        let following = rest.first().map(|field| &*field.text).unwrap_or_default();
        if !code::framework_script(base(text), following, draft) {
            tools::scripts::by_name(text, draft);
        }
        return;
    }
    draft.operation = "run_command";
    draft.at_most(Confidence::Low);
}

/// The name of a program without its folder and without the endings of Windows.
pub(super) fn program(text: &str) -> &str {
    let name = if text.ends_with('/') { text } else { base(text) };
    [".exe", ".cmd", ".bat", ".EXE"].into_iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}
