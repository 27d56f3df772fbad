//! Compound commands.

use std::rc::Rc;

use super::{Input, Walker};
use crate::draft::QuoteSource;
use crate::effect::Effects;
use crate::exit::{Node, Options};
use crate::exposure::Opacity;
use crate::model::Operator;
use crate::syntax::ast::{Command, For, Function, If, Part, Redirect, Script, Shape, Word};
use crate::words::{Field, Frame, Value};

/// Most functions that are remembered.
const MAX_FUNCTIONS: usize = 64;

impl Walker {
    pub(super) fn command(&mut self, frame: &Frame<'_>, command: &Command, input: &Input) -> Node {
        if let Shape::Simple(simple) = &command.shape {
            return self.simple(frame, command, simple, input);
        }
        self.branches |= !matches!(command.shape, Shape::Test(_) | Shape::Arithmetic(_));
        let before = self.steps.len();
        let node = self.deeper(|walker| walker.compound(frame, command));
        self.compound_redirects(frame, command, before);
        node
    }

    fn compound(&mut self, frame: &Frame<'_>, command: &Command) -> Node {
        match &command.shape {
            Shape::Simple(_) => Node::Nothing,
            Shape::Group(script) => self.script(frame, script),
            Shape::Subshell(script) => {
                let outside = self.enter_subshell();
                let node = self.script(frame, script);
                self.leave_subshell(outside);
                Node::Subshell(Box::new(node), Options::default())
            }
            Shape::If(it) => self.branches(frame, it),
            Shape::While(it) => {
                let outside = self.enter_subshell();
                let condition = self.script(frame, &it.condition);
                self.operator = Some(Operator::Then);
                let body = self.script(frame, &it.body);
                self.leave_branch(outside);
                Node::Loop { condition: Some(Box::new(condition)), body: Box::new(body) }
            }
            Shape::For(it) => self.for_loop(frame, command, it),
            Shape::Case(it) => {
                self.scripts_as_steps(frame, &it.subject.parts);
                let arms = it.arms.iter().map(|arm| self.branch(frame, arm)).collect();
                Node::OneOf(arms)
            }
            Shape::Function(it) => self.function(frame, it),
            Shape::Test(words) => self.test(frame, command, words),
            Shape::Arithmetic(parts) => self.arithmetic(frame, command, parts),
        }
    }

    fn branch(&mut self, frame: &Frame<'_>, script: &Script) -> Node {
        let outside = self.enter_subshell();
        let node = self.script(frame, script);
        self.leave_branch(outside);
        self.operator.get_or_insert(Operator::Then);
        node
    }

    fn branches(&mut self, frame: &Frame<'_>, it: &If) -> Node {
        let mut branches = Vec::new();
        for (condition, body) in &it.branches {
            let condition = self.script(frame, condition);
            self.operator = Some(Operator::Then);
            branches.push((condition, self.branch(frame, body)));
        }
        let otherwise = it.otherwise.as_ref().map(|body| Box::new(self.branch(frame, body)));
        Node::If(branches, otherwise)
    }

    fn for_loop(&mut self, frame: &Frame<'_>, command: &Command, it: &For) -> Node {
        let operator = self.operator.take();
        let mut fields = Vec::new();
        for word in &it.words {
            self.expand(frame, word, &mut fields);
        }
        let outside = self.enter_subshell();
        let name = it.name.of(frame.text);
        if !name.is_empty() {
            for step in self.set_aside(name, loop_value(&fields)) {
                self.push(step);
            }
        }
        // `for ((n = 0; n < 3; n++))`.
        if name.is_empty() {
            let header = command.span.of(frame.text).split("))").next().unwrap_or_default();
            for step in self.set_by_arithmetic(header) {
                self.push(step);
            }
        }
        self.operator = operator;
        for word in &it.words {
            self.scripts_as_steps(frame, &word.parts);
        }
        self.scripts_as_steps(frame, &it.arithmetic);
        let body = self.script(frame, &it.body);
        self.leave_branch(outside);
        Node::Loop { condition: None, body: Box::new(body) }
    }

    /// Reads the body where it is defined: it is what the function does, wherever it is called.
    fn function(&mut self, frame: &Frame<'_>, it: &Function) -> Node {
        let name = it.name.of(frame.text).to_owned();
        let Some(body) = &it.body else { return Node::Nothing };
        let before = self.steps.len();
        let outside = self.enter_subshell();
        let node = self.command(frame, body, &Input::Inherited);
        self.leave_branch(outside);
        if multiplies(&name, body.span.of(frame.text))
            && let Some(bomb) = self.steps.get_mut(before)
        {
            bomb.operation = "run_command";
            bomb.effects = bomb.effects.and(Effects::DESTROY);
        }
        if self.state.functions.len() < MAX_FUNCTIONS {
            self.state.functions.push((name, Rc::new(node)));
        } else {
            self.opacity.add(Opacity::Limit);
        }
        Node::Nothing
    }

    /// Returns the node of a call of a function that this command line defines.
    pub(super) fn call_function(&self, name: &str) -> Option<Node> {
        // The last definition counts, as in the shell.
        let (_, body) = self.state.functions.iter().rev().find(|(known, _)| known == name)?;
        Some(Node::Call(Rc::clone(body)))
    }

    fn test(&mut self, frame: &Frame<'_>, command: &Command, words: &[Word]) -> Node {
        let mut draft = self.draft(frame.origin.root(command.span));
        "[[".clone_into(&mut draft.name);
        draft.operation = "test";
        draft.effects = draft.effects.and(Effects::READ);
        draft.quote_source = QuoteSource::of(frame, command.span);
        for word in words {
            draft.substitutions.extend(self.scripts_inside(frame, &word.parts));
            let text = word.span.of(frame.text);
            // `[[ -v 'x[$(ls)]' ]]` runs `ls`: a subscript is worked out even where it stood in quotes.
            if text.contains("[$(") || text.contains("[`") {
                draft.opaque.add(Opacity::Code);
            }
        }
        let node = Self::leaf(&draft);
        self.push(draft);
        node
    }

    fn arithmetic(&mut self, frame: &Frame<'_>, command: &Command, parts: &[Part]) -> Node {
        let mut draft = self.draft(frame.origin.root(command.span));
        "((".clone_into(&mut draft.name);
        draft.operation = "compute";
        draft.effects = draft.effects.and(Effects::NEUTRAL);
        draft.quote_source = QuoteSource::of(frame, command.span);
        draft.substitutions = self.scripts_inside(frame, parts);
        draft.substitutions.extend(self.set_by_arithmetic(command.span.of(frame.text)));
        let node = Self::leaf(&draft);
        self.push(draft);
        node
    }

    /// Redirections of a compound apply to all of it; they are shown on its last step.
    fn compound_redirects(&mut self, frame: &Frame<'_>, command: &Command, before: usize) {
        if command.redirects.is_empty() {
            return;
        }
        // Without a step of its own the compound still opens its files.
        if self.steps.len() <= before {
            let mut draft = self.draft(frame.origin.root(command.span));
            draft.operation = "group";
            draft.effects = draft.effects.and(Effects::NEUTRAL);
            self.push(draft);
        }
        let redirects: &[Redirect] = &command.redirects;
        if let Some(mut last) = self.steps.pop() {
            self.redirect(frame, redirects, &mut last);
            self.steps.push(last);
        }
    }
}

/// Returns `true` for a function that is nothing but two of itself, one of them in the background: it takes the
/// machine down.
fn multiplies(name: &str, body: &str) -> bool {
    let tight: String = body.chars().filter(|character| !character.is_whitespace()).take(200).collect();
    tight.strip_prefix('{').is_some_and(|inner| inner.starts_with(&format!("{name}|{name}&")))
}

/// Returns the value of a loop's variable: one of the words, if all of them are known.
fn loop_value(fields: &[Field<'_>]) -> Value {
    if fields.is_empty() || fields.iter().any(|field| field.dynamic) {
        return Value::Unknown;
    }
    Value::OneOf(fields.iter().map(|field| field.text.clone().into_owned()).collect())
}
