//! `find` and `fd`: what they look for, and what they do with it.

use super::invoke::Outcome;
use super::{Input, Walker};
use crate::draft::{Access, Draft};
use crate::effect::{Effect, Effects};
use crate::exit::Node;
use crate::exposure::{Breadth, FileAccess, FileUse};
use crate::model::TargetType;
use crate::tools::paths;
use crate::words::{Field, Frame};

/// Tests of `find` whose value says what is looked for.
const NAMES: &[&str] = &["-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"];
/// Actions that run a command for what was found.
const RUNS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];
/// Actions that write a file.
const WRITES: &[&str] = &["-fprint", "-fprint0", "-fls", "-fprintf"];

impl Walker {
    /// Reads `find` and `fd`; nothing for any other program.
    pub(super) fn find<'t>(
        &mut self,
        frame: &Frame<'t>,
        name: &str,
        rest: &[Field<'t>],
        draft: &mut Draft,
        input: &Input,
    ) -> Option<Node> {
        match name {
            "find" | "gfind" => self.find_tests(frame, rest, draft, input),
            "fd" | "fdfind" => self.fd(frame, rest, draft, input),
            _ => return None,
        }
        Some(Self::leaf(draft))
    }

    fn find_tests<'t>(&mut self, frame: &Frame<'t>, rest: &[Field<'t>], draft: &mut Draft, input: &Input) {
        draft.operation = "search";
        draft.effects = draft.effects.and(Effects::READ);
        let first_test = rest
            .iter()
            .position(|field| {
                field.text.starts_with('-') && !matches!(&*field.text, "-L" | "-H" | "-P" | "-O3")
                    || matches!(&*field.text, "(" | "!" | "\\(")
            })
            .unwrap_or(rest.len());
        let roots: Vec<&Field<'t>> =
            rest.iter().take(first_test).filter(|field| !field.is_option()).collect();
        let mut at = first_test;
        let mut names: Vec<String> = Vec::new();
        let mut found = Vec::new();
        while let Some(field) = rest.get(at) {
            at += 1;
            let text = &*field.text;
            if NAMES.contains(&text) {
                // `! -name x` and `-name x -prune` leave x out: it is not what is looked for.
                let negated =
                    at >= 2 && rest.get(at - 2).is_some_and(|before| matches!(&*before.text, "!" | "-not"));
                let pruned = rest.get(at + 1).is_some_and(|after| after.text == "-prune");
                if let Some(pattern) = rest.get(at).filter(|_| !negated && !pruned) {
                    draft.selectors.pattern.get_or_insert_with(|| pattern.text.clone().into_owned());
                    names.extend(name_pattern(text, &pattern.text));
                }
                at += 1;
            } else if text == "-delete" {
                draft.operation = "delete_file";
                draft.effects = draft.effects.and(Effects::DESTROY);
                draft.recursive = true;
            } else if WRITES.contains(&text) {
                draft.operation = "write_file";
                draft.effects = draft.effects.and(Effects::WRITE);
                if let Some(file) = rest.get(at) {
                    paths::aim(draft, &self.state.place, file, TargetType::File, Access::Write);
                }
                at += 1;
            } else if RUNS.contains(&text) {
                let tail = rest.get(at..).unwrap_or_default();
                let length = tail
                    .iter()
                    .enumerate()
                    .position(|(index, field)| {
                        field.text == ";"
                            || field.text == "+"
                                && index > 0
                                && tail.get(index - 1).is_some_and(|last| last.text == "{}")
                    })
                    .unwrap_or(tail.len());
                let command = tail.get(..length).unwrap_or_default();
                found.extend(self.run_found(frame, command, draft, input, "find -exec"));
                at += length + 1;
            }
        }
        if roots.is_empty() {
            draft.aim(TargetType::Directory, self.state.place.locate("."), Access::Look);
        }
        for root in roots {
            paths::aim(draft, &self.state.place, root, TargetType::Path, Access::Look);
        }
        reach(draft, &names, &found);
    }

    fn fd<'t>(&mut self, frame: &Frame<'t>, rest: &[Field<'t>], draft: &mut Draft, input: &Input) {
        const VALUES: &str = "-e --extension -t --type -E --exclude -d --max-depth --min-depth -S --size -c --color -j \
            --threads --changed-within --changed-before -o --owner --base-directory";
        draft.operation = "search";
        draft.effects = draft.effects.and(Effects::READ);
        let run = rest.iter().position(|field| {
            field.text.starts_with("--exec")
                || field.text.starts_with('-')
                    && !field.text.starts_with("--")
                    && field.text.contains(['x', 'X'])
        });
        let own = rest.get(..run.unwrap_or(rest.len())).unwrap_or_default();
        let mut command: Vec<Field<'t>> = Vec::new();
        if let Some((option, behind)) = run.and_then(|at| rest.get(at..)).and_then(<[Field<'t>]>::split_first)
        {
            // `-xrm` and `--exec=rm`: the program is stuck to its option.
            let stuck = match option.text.split_once('=') {
                Some((long, stuck)) if long.starts_with("--") => stuck,
                _ if option.text.starts_with("--") => "",
                _ => option.text.split_once(['x', 'X']).map_or("", |(_, stuck)| stuck),
            };
            command.extend((!stuck.is_empty()).then(|| Field::literal(stuck.to_owned())));
            command.extend_from_slice(behind);
        }
        let command = command.as_slice();
        let mut found = self.run_found(frame, command, draft, input, "fd --exec");
        // Without a place for it, what was found stands at the end.
        if !command.is_empty() && command.iter().all(|field| !field.text.contains("{}")) {
            found.push(FileAccess::Read);
        }
        let arguments = crate::arguments::Arguments::read(own, VALUES, crate::arguments::Style::Gnu);
        draft.selectors.pattern = arguments.operand(0).filter(|pattern| *pattern != ".").map(str::to_owned);
        let roots = arguments.operands.get(1..).unwrap_or_default();
        if roots.is_empty() {
            draft.aim(TargetType::Directory, self.state.place.locate("."), Access::Look);
        }
        for root in roots {
            paths::aim(draft, &self.state.place, root, TargetType::Path, Access::Look);
        }
        reach(draft, &[], &found);
    }

    /// Reads the command that is run for what was found. The places that are searched are not what it works on.
    fn run_found<'t>(
        &mut self,
        frame: &Frame<'t>,
        command: &[Field<'t>],
        draft: &mut Draft,
        input: &Input,
        label: &'static str,
    ) -> Vec<FileAccess> {
        let mut found = Vec::new();
        if command.is_empty() {
            return found;
        }
        let raw = draft.raw;
        let steps = self.apart(|walker| {
            let mut inner = walker.draft(raw);
            walker.deeper(|walker| match walker.invoke(frame, command, &mut inner, input) {
                Outcome::Step(node) => {
                    walker.push(inner);
                    node
                }
                Outcome::Script(node, _) => node,
            });
        });
        draft.wrap(label);
        for step in &steps {
            draft.opaque.join(step.opacities());
            draft.effects = draft.effects.and(step.all_effects());
            draft.at_most(step.least_confidence());
            draft.recursive |= step.all_effects().has(Effect::Destructive);
            let looks = matches!(step.all_effects().gravest(), Effect::ReadOnly | Effect::Neutral);
            if !looks {
                draft.operation = step.operation;
            } else if step.operation == "search" && step.selectors.pattern.is_some() {
                draft.selectors.pattern.clone_from(&step.selectors.pattern);
            }
            step.each_simple(&mut |simple| {
                for aim in simple.aims.iter().filter(|aim| aim.value.contains("{}")) {
                    found.push(match aim.access {
                        Access::Read | Access::Run => FileAccess::Read,
                        Access::Write => FileAccess::Write,
                        Access::Delete => FileAccess::Delete,
                        // A search shows lines of what it is given.
                        Access::Look if simple.operation == "search" => FileAccess::Read,
                        Access::Look | Access::Mention => continue,
                    });
                }
            });
            for aim in step.aims.iter().filter(|aim| !aim.value.contains("{}")) {
                draft.take_aim(aim);
            }
        }
        found
    }
}

/// Returns a pattern for the path of what a test lets through, seen from where the search begins.
fn name_pattern(test: &str, pattern: &str) -> Option<String> {
    match test {
        "-name" => Some(pattern.to_owned()),
        "-path" | "-wholename" => Some(pattern.trim_start_matches("./").replace('*', "**")),
        _ => None,
    }
}

/// Adds the files that a command run for what was found reaches.
fn reach(draft: &mut Draft, names: &[String], found: &[FileAccess]) {
    let roots: Vec<String> = draft
        .aims
        .iter()
        .filter(|aim| aim.access == Access::Look && aim.kind != TargetType::Unknown)
        .map(|aim| aim.value.clone())
        .collect();
    for access in found {
        for root in &roots {
            let patterns = names.iter().map(|name| (format!("{root}/**/{name}"), Breadth::Pattern));
            let whole = names.is_empty().then(|| (root.clone(), Breadth::Below));
            for (path, breadth) in patterns.chain(whole) {
                let reached = FileUse { path: Some(path), access: *access, breadth };
                if !draft.reaches.contains(&reached) {
                    draft.reaches.push(reached);
                }
            }
        }
    }
}
