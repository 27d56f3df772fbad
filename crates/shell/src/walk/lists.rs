//! Scripts, chains and pipelines.

use super::{Input, Walker};
use crate::decide;
use crate::draft::Draft;
use crate::exit::Node;
use crate::model::Operator;
use crate::syntax::ast::{Chain, Link, Pipeline, Script, Span};
use crate::words::Frame;

/// Longest text that is passed on through a pipe, in bytes.
const MAX_PIPED_TEXT: usize = 16 * 1024;

impl Walker {
    pub(super) fn script(&mut self, frame: &Frame<'_>, script: &Script) -> Node {
        let mut items = Vec::with_capacity(script.items.len());
        for (position, item) in script.items.iter().enumerate() {
            if position > 0 {
                let before = script.items.get(position - 1).is_some_and(|before| before.background);
                self.operator = Some(if before { Operator::Background } else { Operator::Then });
            }
            // A background job runs in a shell of its own.
            let outside = item.background.then(|| self.enter_subshell());
            let node = self.chain(frame, &item.chain);
            if let Some(outside) = outside {
                self.leave_subshell(outside);
            }
            items.push((node, item.background));
        }
        match items.len() {
            0 => Node::Nothing,
            _ => Node::Sequence(items),
        }
    }

    fn chain(&mut self, frame: &Frame<'_>, chain: &Chain) -> Node {
        let first = self.pipeline(frame, &chain.first);
        if chain.rest.is_empty() {
            return first;
        }
        let mut rest = Vec::with_capacity(chain.rest.len());
        for (link, pipeline) in &chain.rest {
            self.operator = Some(match link {
                Link::And => Operator::And,
                Link::Or => Operator::Or,
            });
            rest.push((*link, self.pipeline(frame, pipeline)));
        }
        Node::Chain(Box::new(first), rest)
    }

    fn pipeline(&mut self, frame: &Frame<'_>, pipeline: &Pipeline) -> Node {
        if pipeline.timed {
            self.wrappers.push("time");
        }
        let node = match pipeline.commands.as_slice() {
            [] => Node::Nothing,
            [command] => self.command(frame, command, &Input::Inherited),
            _ => self.piped(frame, pipeline),
        };
        if pipeline.timed {
            self.wrappers.pop();
        }
        if pipeline.negated { Node::Not(Box::new(node)) } else { node }
    }

    fn piped(&mut self, frame: &Frame<'_>, pipeline: &Pipeline) -> Node {
        let mut nodes = Vec::with_capacity(pipeline.commands.len());
        let members = self.apart(|walker| {
            let mut input = Input::Inherited;
            let mut end = None;
            for command in &pipeline.commands {
                if let Some(end) = end {
                    let between = Span::new(end, command.span.start).of(frame.text);
                    let all = between.contains("|&");
                    walker.operator = Some(if all { Operator::PipeAll } else { Operator::Pipe });
                }
                let before = walker.steps.len();
                let outside = walker.enter_subshell();
                nodes.push(walker.command(frame, command, &input));
                walker.leave_subshell(outside);
                input = output_of(walker.steps.get(before..).unwrap_or_default(), &input);
                end = Some(command.span.end);
            }
        });
        if let Some(draft) = self.pipeline_step(frame, pipeline, members) {
            self.push(draft);
        }
        Node::Pipeline(nodes)
    }

    /// Returns the step that stands for a whole pipeline.
    fn pipeline_step(
        &mut self,
        frame: &Frame<'_>,
        pipeline: &Pipeline,
        members: Vec<Draft>,
    ) -> Option<Draft> {
        let decisive = decide::decisive(&members)?;
        let mut draft = self.draft(frame.origin.root(pipeline.span));
        let main = members.get(decisive)?;
        draft.name.clone_from(&main.name);
        draft.subcommand.clone_from(&main.subcommand);
        draft.operation = "pipeline";
        for member in &members {
            draft.effects = draft.effects.and(member.all_effects());
            draft.at_most(member.least_confidence());
            for aim in &member.aims {
                draft.take_aim(aim);
            }
        }
        draft.members = members;
        // The members are already counted; the pipeline itself takes no second place.
        self.listed = self.listed.saturating_sub(1);
        Some(draft)
    }
}

/// Returns the output of a command as the input of the next in the pipeline.
fn output_of(steps: &[Draft], input: &Input) -> Input {
    let from_network = matches!(input, Input::Stream { fetched: true });
    if let [only] = steps
        && let Some(output) = &only.output
        && output.len() <= MAX_PIPED_TEXT
    {
        return Input::Text(output.clone());
    }
    let fetches = steps.iter().any(|step| matches!(step.operation, "fetch_url" | "download"));
    Input::Stream { fetched: from_network || fetches }
}
