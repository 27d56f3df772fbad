//! Simple commands: words to fields, fields to a step, and everything around them.

use super::invoke::Outcome;
use super::{Input, Walker, code};
use crate::draft::{Access, Draft, QuoteSource};
use crate::effect::{Effect, Effects};
use crate::exit::{Ends, Node};
use crate::exposure::Opacity;
use crate::model::{Confidence, TargetType};
use crate::path::tidy;
use crate::syntax::ast::{Assignment, Command, Part, Simple, Span, Word};
use crate::words::{Frame, Inner, Value, scripts_in};

/// Most downloads that are remembered.
const MAX_DOWNLOADS: usize = 32;

impl Walker {
    pub(super) fn simple<'t>(
        &mut self,
        frame: &Frame<'t>,
        command: &'t Command,
        simple: &'t Simple,
        input: &Input,
    ) -> Node {
        let mut fields = Vec::with_capacity(simple.words.len());
        for word in &simple.words {
            self.expand(frame, word, &mut fields);
        }
        if fields.is_empty() {
            return self.without_command(frame, command, simple);
        }
        let own_input = self.input_of(frame, &command.redirects);
        let input = own_input.as_ref().unwrap_or(input);
        let mut draft = self.draft(frame.origin.root(command.span));
        let before = self.steps.len();
        // `X=… command`: the command's own words are expanded already; what it runs sees the variable.
        let outside = self.state.variables.mark();
        let first = simple.words.first().map_or(0, |word| word.span.start);
        for assignment in simple.assignments.iter().filter(|assignment| assignment.name.start < first) {
            self.assign(frame, assignment);
            self.notice_variable(frame, assignment, &mut draft);
            let value = assignment.values.iter().any(|word| code::names_deletion(word.span.of(frame.text)));
            if value {
                draft.opaque.add(Opacity::Environment);
            }
        }
        let assigned = self.state.variables.mark() > outside;
        let outcome = self.invoke(frame, &fields, &mut draft, input);
        if assigned {
            self.state.variables.cut_back(outside);
        }
        if !simple.assignments.is_empty() {
            self.note_arrays(frame, &simple.assignments, &simple.words);
        }
        match outcome {
            Outcome::Step(node) => {
                self.surround(frame, command, simple, &[], &mut draft);
                self.push(draft);
                node
            }
            // Redirections and substitutions belong to the last of the steps it was unwrapped to.
            Outcome::Script(node, consumed) => {
                self.opacity.join(draft.opaque);
                if self.steps.len() > before
                    && let Some(mut last) = self.steps.pop()
                {
                    // What the variables before the command bring along.
                    last.substitutions.append(&mut draft.substitutions);
                    last.hosts.append(&mut draft.hosts);
                    last.reaches.append(&mut draft.reaches);
                    self.surround(frame, command, simple, &consumed, &mut last);
                    self.steps.push(last);
                }
                node
            }
        }
    }

    /// Adds what stands around a command: redirections, and what runs inside its words.
    fn surround(
        &mut self,
        frame: &Frame<'_>,
        command: &Command,
        simple: &Simple,
        consumed: &[Span],
        draft: &mut Draft,
    ) {
        self.redirect(frame, &command.redirects, draft);
        for word in &simple.words {
            // Named in order, so that looking one up stays cheap however many there are.
            if consumed.binary_search_by_key(&word.span.start, |span| span.start).is_err() {
                self.add_scripts(frame, &word.parts, draft);
            }
        }
        for value in simple.assignments.iter().flat_map(|assignment| &assignment.values) {
            self.add_scripts(frame, &value.parts, draft);
        }
        if !draft.substitutions.is_empty() {
            notice_fetched_code(draft);
        }
        self.notice_downloads(draft);
    }

    /// Adds the steps that run inside a word to the step that the word belongs to.
    fn add_scripts(&mut self, frame: &Frame<'_>, parts: &[Part], draft: &mut Draft) {
        let is_text = |part: &Part| matches!(part, Part::Plain(_) | Part::Quoted(_));
        if !parts.iter().all(is_text) {
            draft.substitutions.extend(self.scripts_inside(frame, parts));
        }
    }

    /// Assignments or redirections alone.
    fn without_command<'t>(&mut self, frame: &Frame<'t>, command: &'t Command, simple: &'t Simple) -> Node {
        let raw = frame.origin.root(command.span);
        let before = self.steps.len();
        for assignment in &simple.assignments {
            self.assign(frame, assignment);
        }
        // `x=$(command)` is that command: it is the step, and its status counts.
        let mut inner = Node::Nothing;
        for value in simple.assignments.iter().flat_map(|assignment| &assignment.values) {
            if let Some(node) = self.scripts_as_steps(frame, &value.parts) {
                inner = node;
            }
        }
        if self.steps.len() == before {
            let mut draft = self.draft(raw);
            draft.operation = if simple.assignments.is_empty() { "redirect" } else { "assign" };
            draft.name = match simple.assignments.first() {
                Some(first) => first.name.of(frame.text).to_owned(),
                None => ">".to_owned(),
            };
            draft.effects = draft.effects.and(Effects::NEUTRAL);
            draft.quote_source = QuoteSource::of(frame, command.span);
            inner = Node::Step { leaf: draft.leaf, ends: Ends::Well };
            self.push(draft);
        }
        if let Some(mut last) = self.steps.pop() {
            for assignment in &simple.assignments {
                self.notice_variable(frame, assignment, &mut last);
            }
            self.redirect(frame, &command.redirects, &mut last);
            self.notice_downloads(&mut last);
            self.steps.push(last);
        }
        inner
    }

    /// Remembers what a variable is set to, if that is plain text.
    pub(super) fn assign(&mut self, frame: &Frame<'_>, assignment: &Assignment) {
        let name = assignment.name.of(frame.text);
        let mut fields = Vec::new();
        if let [value] = assignment.values.as_slice() {
            self.expand(frame, value, &mut fields);
        }
        let appended = frame.text.get(assignment.name.end..).is_some_and(|rest| rest.starts_with("+="));
        let value = match fields.as_slice() {
            [field] if appended && !field.dynamic => match self.state.variables.get(name) {
                Value::Text(before) => Value::Text(format!("{before}{}", field.text)),
                Value::OneOf(_) | Value::Unknown => Value::Unknown,
            },
            [field] if assignment.whole && !field.dynamic => Value::Text(field.text.clone().into_owned()),
            [] if assignment.whole => Value::Text(String::new()),
            _ => Value::Unknown,
        };
        self.state.variables.set(name, value);
    }

    /// Reads `declare -a x=(…)`: after the command, the array is set to something that is not followed.
    fn note_arrays(&mut self, frame: &Frame<'_>, assignments: &[Assignment], words: &[Word]) {
        let first = words.first().map_or(0, |word| word.span.start);
        for assignment in assignments.iter().filter(|assignment| assignment.name.start > first) {
            self.state.variables.set(assignment.name.of(frame.text), Value::Unknown);
        }
    }

    /// Reads the steps that run inside a word, apart from the others.
    pub(super) fn scripts_inside(&mut self, frame: &Frame<'_>, parts: &[Part]) -> Vec<Draft> {
        let mut found = Vec::new();
        scripts_in(frame, parts, &mut found);
        let mut steps = self.set_by_words(frame, parts);
        for inner in found {
            match inner {
                Inner::Printed => self.printed = true,
                Inner::Command(script) | Inner::Process(script) => {
                    steps.extend(self.inside_word(|walker| walker.script(frame, script)));
                }
                Inner::Backtick(span) => {
                    let (text, origin) = frame.backtick_script(span);
                    let dialect = self.dialect;
                    steps.extend(self.inside_word(|walker| {
                        walker.inner_script(&text, origin, dialect).unwrap_or(Node::Nothing)
                    }));
                }
            }
        }
        steps
    }

    /// Reads the steps that run inside a word, as steps of the line itself. Returns the tree of the last one.
    pub(super) fn scripts_as_steps(&mut self, frame: &Frame<'_>, parts: &[Part]) -> Option<Node> {
        let mut found = Vec::new();
        scripts_in(frame, parts, &mut found);
        for step in self.set_by_words(frame, parts) {
            self.push(step);
        }
        let mut last = None;
        for inner in found {
            if matches!(inner, Inner::Printed) {
                self.printed = true;
                continue;
            }
            let outside = self.enter_subshell();
            last = Some(match inner {
                Inner::Printed => Node::Nothing,
                Inner::Command(script) | Inner::Process(script) => {
                    self.deeper(|walker| walker.script(frame, script))
                }
                Inner::Backtick(span) => {
                    let (text, origin) = frame.backtick_script(span);
                    let dialect = self.dialect;
                    self.deeper(|walker| walker.inner_script(&text, origin, dialect).unwrap_or(Node::Nothing))
                }
            });
            self.leave_subshell(outside);
            self.operator.get_or_insert(crate::model::Operator::Then);
        }
        if last.is_some() {
            self.operator = None;
        }
        last
    }

    /// Remembers what came from another machine, and notices when it is run.
    fn notice_downloads(&mut self, draft: &mut Draft) {
        let runs_download = draft.aims.iter().any(|aim| {
            aim.access == Access::Run && self.state.downloads.iter().any(|known| *known == tidy(&aim.value))
        });
        if runs_download {
            draft.effects = draft.effects.and(Effects::REMOTE);
        }
        if !matches!(draft.operation, "fetch_url" | "download" | "send_request") {
            return;
        }
        for aim in &draft.aims {
            let written = aim.access == Access::Write && aim.kind == TargetType::File;
            if written && self.state.downloads.len() < MAX_DOWNLOADS {
                self.state.downloads.push(tidy(&aim.value));
            } else if written {
                draft.opaque.add(Opacity::Limit);
            }
        }
    }
}

/// Marks a step that runs what its own words fetched: `bash <(curl …)`, `eval "$(wget -O- …)"`.
fn notice_fetched_code(draft: &mut Draft) {
    let runs_words = matches!(draft.operation, "execute_program" | "execute_code" | "unknown_command");
    let fetched = || {
        draft
            .substitutions
            .iter()
            .any(|inner| matches!(inner.operation, "fetch_url" | "download") || has_fetching_member(inner))
    };
    if runs_words && fetched() {
        draft.effects = draft.effects.and(Effects::REMOTE);
        draft.confidence = Confidence::High;
    }
}

fn has_fetching_member(draft: &Draft) -> bool {
    draft.members.iter().any(|member| {
        matches!(member.operation, "fetch_url" | "download") && member.effects.has(Effect::Network)
    })
}
