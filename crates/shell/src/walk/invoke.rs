//! The reading of one command: its wrappers are taken off, then the reader of its program is called.

use std::borrow::Cow;

use super::{Input, Walker, builtins, code, wrappers};
use crate::arguments::is_listed;
use crate::decode;
use crate::draft::{Access, Draft, QuoteSource};
use crate::effect::{Effect, Effects};
use crate::exit::Node;
use crate::exposure::{Breadth, FileAccess, FileUse, Opacity};
use crate::model::{Confidence, TargetType};
use crate::path::{Place, base};
use crate::syntax::ast::Span;
use crate::tools::{self, Setting, paths};
use crate::words::{Field, Frame};

/// Longest list on standard input that is taken for arguments, in bytes.
const MAX_LISTED_INPUT: usize = 1024;

/// The result of reading a command.
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
        let mut outer = None;
        let outcome = self.unwrap_and_read(frame, fields, draft, input, &mut outer);
        // `cd` moves the shell, `env -C` only what it runs.
        if let Some(outer) = outer {
            self.state.place = outer;
        }
        outcome
    }

    fn unwrap_and_read<'t>(
        &mut self,
        frame: &Frame<'t>,
        fields: &[Field<'t>],
        draft: &mut Draft,
        input: &Input,
        outer: &mut Option<Place>,
    ) -> Outcome {
        let mut owned: Cow<'_, [Field<'t>]> = Cow::Borrowed(fields);
        // Where the command begins behind the wrappers read so far. Every round takes at least one field, and looks at
        // what it takes and little more: any number of wrappers costs what it is long.
        let mut from = 0;
        let mut elsewhere = false;
        let mut listed = false;
        while let Some(first) = owned.get(from).filter(|first| !first.dynamic) {
            let view = owned.get(from..).unwrap_or_default();
            let name = program(&first.text);
            let here = self.elsewhere;
            self.elsewhere |= elsewhere;
            let script = self.script_form(frame, name, view, draft, input);
            self.elsewhere = here;
            if let Some(outcome) = script {
                self.notice_path(&first.text, draft);
                return outcome;
            }
            let Some(unwrapped) = wrappers::unwrap(name, view) else { break };
            self.notice_path(&first.text, draft);
            let own = view.get(..unwrapped.skip).unwrap_or_default();
            if matches!(unwrapped.label, "env" | "sudo" | "doas") {
                self.notice_settings(own, draft);
            }
            if let Some(inside) = value_of(own, unwrapped.directory) {
                let inside = self.state.place.enter(inside);
                let here = std::mem::replace(&mut self.state.place, inside);
                outer.get_or_insert(here);
            }
            if let Some(file) = value_of(own, unwrapped.output) {
                // `strace -o '|command'`.
                if file.starts_with(['|', '!']) {
                    draft.opaque.add(Opacity::Code);
                }
                let path = Some(self.state.place.locate(file));
                draft.reaches.push(FileUse { path, access: FileAccess::Write, breadth: Breadth::One });
            }
            // What `xargs -a` reads becomes arguments; where `script` stands before a program, it keeps what that prints.
            let (own_file, access) = match unwrapped.label {
                "xargs" => (value_of(own, "-a --arg-file"), FileAccess::Read),
                "script" => {
                    let file = own.iter().skip(1).find(|field| !field.is_option() && !field.dynamic);
                    (file.map(|field| &*field.text), FileAccess::Write)
                }
                _ => (None, FileAccess::Read),
            };
            if let Some(file) = own_file {
                let path = Some(self.state.place.locate(file));
                draft.reaches.push(FileUse { path, access, breadth: Breadth::One });
            }
            draft.wrap(unwrapped.label);
            draft.effects = draft.effects.and(unwrapped.effects);
            if unwrapped.elsewhere {
                elsewhere = true;
                self.opacity.add(Opacity::Elsewhere);
            }
            from += unwrapped.skip.max(1);
            // A second list finds nothing left to read.
            if unwrapped.more_input && !listed {
                listed = true;
                let mut rest: Vec<Field<'t>> = owned.get(from..).unwrap_or_default().to_vec();
                with_input(&mut rest, input, draft);
                owned = Cow::Owned(rest);
                from = 0;
            }
        }
        let fields = owned.get(from..).unwrap_or_default();
        let words = || fields.iter().filter_map(|field| field.word);
        if let (Some(first), Some(last)) = (words().next(), words().next_back()) {
            draft.quote_source =
                QuoteSource::of(frame, Span::new(first.span.start, last.span.end.max(first.span.end)));
        }
        let node = self.read_program(frame, fields, draft, input);
        self.follow(fields, draft, input);
        draft.recursive |= listed && draft.effects.has(Effect::Destructive);
        if elsewhere {
            for aim in &mut draft.aims {
                aim.local = false;
            }
        }
        Outcome::Step(node)
    }

    /// Sets the output of a program where it can be computed, and adds the commands that the program runs.
    fn follow(&mut self, fields: &[Field<'_>], draft: &mut Draft, input: &Input) {
        let Some((first, rest)) = fields.split_first().filter(|(first, _)| !first.dynamic) else { return };
        let name = program(&first.text);
        if name == "echo" && draft.output.is_some() {
            draft.output = Some(echoed(rest));
        }
        if let Input::Text(text) = input
            && draft.output.is_none()
            && rest.iter().all(|field| !field.dynamic)
        {
            let words: Vec<&str> = rest.iter().map(|field| &*field.text).collect();
            draft.output = decode::through(name, &words, text);
        }
        self.add_hidden(name, rest, draft, input);
        tools::hosts::find(name, rest, draft);
        tools::reach::widen(name, rest, &self.state.place, draft);
        tools::settings::notice(name, rest, draft);
        // A net below the tables: words of a deletion, given to a program that may do with them what it likes.
        let found = draft.all_effects().has(Effect::Destructive);
        let names_deletion = || {
            let in_words = |pair: &[Field<'_>]| matches!(pair, [program, option] if base(&program.text) == "rm" && is_recursive(&option.text));
            rest.iter().any(|field| code::names_deletion(&field.text)) || rest.windows(2).any(in_words)
        };
        if !found && !takes_text(name, draft) && names_deletion() {
            draft.opaque.add(Opacity::Code);
        }
        // A session that is fed: what comes in runs there.
        if matches!(name, "ssh" | "mosh" | "telnet" | "rsh") && !matches!(input, Input::Inherited)
            || name == "mosh" && rest.len() > 1
        {
            draft.opaque.add(Opacity::Elsewhere);
        }
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
            draft.opaque.add(Opacity::Variable);
            draft.effects = draft.effects.and(Effects::UNKNOWN);
            draft.at_most(Confidence::Low);
            return Self::leaf(draft);
        }
        let name = program(&first.text);
        name.clone_into(&mut draft.name);
        self.notice_path(&first.text, draft);
        if let Some(node) = self.call_function(name) {
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
        // A module of the project stands before the one of the machine.
        let module = || {
            draft.wrappers.last() == Some(&"python -m")
                && (self.has_made(&format!("{name}.py")) || self.has_made(&format!("{name}/__main__.py")))
        };
        if !first.text.contains('/') && (self.has_made_program(name) || module()) {
            draft.opaque.add(Opacity::Script);
        }
        if code::read(name, rest, &self.state.place, draft, input) {
            let made = |aim: &crate::draft::Aim| aim.access == Access::Run && self.is_made(&aim.value);
            if draft.aims.iter().any(made) {
                draft.opaque.add(Opacity::Script);
            }
            return Self::leaf(draft);
        }
        let setting = Setting { place: &self.state.place, input, dialect: self.dialect };
        if !tools::read(&first.text, name, rest, &setting, draft) {
            unknown(first, rest, &setting, draft);
        }
        if draft.effects.has(Effect::ExecuteCheck) && self.has_made_tasks() {
            draft.opaque.add(Opacity::Task);
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

/// Programs that search for, print, compare, store or send any text that they are given.
const TEXT_TAKERS: &str = "echo printf grep egrep fgrep rg ag ack jq yq cat test [ [[ expr logger notify-send say mail wall \
    sed gsed awk gawk mawk nawk tr cut gh glab curl wget http httpie dc alias trap cd ls mkdir touch diff comm sort uniq \
    head tail wc tee true : export declare typeset local readonly read set git-commit xclip pbcopy wl-copy";

/// Returns `true` if an option makes `rm` recursive.
fn is_recursive(option: &str) -> bool {
    option.starts_with("--rec")
        || option.starts_with('-') && !option.starts_with("--") && option.contains(['r', 'R'])
}

/// Subcommands of `git` that take a message or a pattern.
const GIT_TEXT: &str =
    "commit log tag notes show grep stash merge diff shortlog revert cherry-pick blame branch describe";

/// Returns `true` if a program uses its arguments as text only. The readers of `sed`, `awk` and `git` find their other
/// uses.
fn takes_text(name: &str, draft: &Draft) -> bool {
    is_listed(TEXT_TAKERS, name)
        || name == "git"
            && draft.subcommand.as_deref().is_some_and(|subcommand| is_listed(GIT_TEXT, subcommand))
}

/// Programs that only look at names or count, whatever their arguments are.
const HARMLESS_WITH_ANYTHING: &str =
    "ls wc stat file du basename dirname echo printf md5sum sha1sum sha256sum cksum";

/// Arguments that come from standard input take the place of `{}`, or stand at the end.
fn with_input(fields: &mut Vec<Field<'_>>, input: &Input, draft: &mut Draft) {
    let known = match input {
        Input::Text(text) if text.len() <= MAX_LISTED_INPUT => Some(text),
        Input::Text(_) | Input::Inherited | Input::Stream { .. } => None,
    };
    let harmless = fields.first().is_some_and(|first| is_listed(HARMLESS_WITH_ANYTHING, &first.text));
    if known.is_none() && !harmless {
        draft.opaque.add(Opacity::Input);
    }
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

/// Reads a program that no table knows. One that is named by a path is a program of the project.
fn unknown(first: &Field<'_>, rest: &[Field<'_>], setting: &Setting<'_>, draft: &mut Draft) {
    draft.effects = draft.effects.and(Effects::UNKNOWN);
    let text = &*first.text;
    if text.contains('/') || code::has_script_ending(text) {
        draft.operation = "execute_program";
        draft.opaque.add(Opacity::Script);
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

/// Returns the output of `echo`: its words without the leading options, unchanged.
fn echoed(rest: &[Field<'_>]) -> String {
    let is_option = |field: &&Field<'_>| {
        field.is_option() && field.text.chars().skip(1).all(|letter| matches!(letter, 'n' | 'e' | 'E'))
    };
    let options = rest.iter().take_while(is_option).count();
    let escapes = rest.iter().take(options).any(|field| field.text.contains('e'));
    let words: Vec<&str> = rest.iter().skip(options).map(|field| &*field.text).collect();
    if escapes { decode::escapes(&words.join(" ")) } else { words.join(" ") }
}

/// Returns the value of one of these options among the fields of a wrapper.
fn value_of<'f>(own: &'f [Field<'_>], options: &str) -> Option<&'f str> {
    if options.is_empty() {
        return None;
    }
    own.iter().enumerate().find_map(|(at, field)| {
        let text = &*field.text;
        if is_listed(options, text) {
            return own.get(at + 1).map(|next| &*next.text);
        }
        options.split(' ').find_map(|option| {
            let rest = text.strip_prefix(option)?;
            if option.starts_with("--") { rest.strip_prefix('=') } else { Some(rest) }
        })
    })
}

/// Returns the name of a program without its folder and without the endings of Windows.
pub(super) fn program(text: &str) -> &str {
    let name = if text.ends_with('/') { text } else { base(text) };
    [".exe", ".cmd", ".bat", ".EXE"].into_iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}
