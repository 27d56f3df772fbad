//! Programs that are given a script as text: shells, `eval`, `ssh host '…'`, `su -c '…'`.

use std::sync::OnceLock;

use super::invoke::Outcome;
use super::{Input, Walker};
use crate::arguments::{Arguments, Style, is_listed, values_of};
use crate::context::Dialect;
use crate::draft::{Access, Draft};
use crate::effect::Effects;
use crate::exit::{Node, Options};
use crate::exposure::Opacity;
use crate::index::Index;
use crate::model::{Confidence, TargetType};
use crate::syntax::ast::Part;
use crate::syntax::ast::Span;
use crate::tools::paths;
use crate::words::{Field, Frame, Origin, Value, literal_output};

/// A program whose option holds a script.
struct Holder {
    words: &'static str,
    /// Options of it that take a value.
    values: &'static str,
    /// The option that holds the script.
    script: &'static str,
    effects: Effects,
    elsewhere: bool,
}

const fn holder(words: &'static str, values: &'static str, script: &'static str) -> Holder {
    Holder { words, values, script, effects: Effects::NONE, elsewhere: false }
}

const fn remote(words: &'static str, values: &'static str, script: &'static str) -> Holder {
    Holder { effects: Effects::REMOTE, elsewhere: true, ..holder(words, values, script) }
}

const HOLDERS: &[Holder] = &[
    holder("su", "-c --command -s --shell -g -G", "-c --command"),
    holder("runuser", "-c --command -s --shell -g -G -u", "-c --command"),
    holder("script", "-c --command -E -I -O -B -T -m -o", "-c --command"),
    holder("flock", "-c --command -w --timeout -E", "-c --command"),
    holder("sg", "-c", "-c"),
    holder("npx", "-c --call -p --package", "-c --call"),
    holder("npm exec", "-c --call -p --package", "-c --call"),
    holder("nix-shell", "--run --command -p -I --arg --argstr -A", "--run --command"),
    holder("nodemon", "--exec -x -e --ext -w --watch -i --ignore", "--exec -x"),
    holder("tmux new-session", "-s -n -c -t -x -y -F -e", ""),
    holder("env", "-S --split-string -u --unset -C --chdir -a --argv0", "-S --split-string"),
    holder("nc", "-i -p -q -s -w -x -X", "-e -c"),
    holder("ncat", "-i -p -s -w", "-e -c --exec --sh-exec"),
    remote("vagrant ssh", "-c --command", "-c --command"),
    remote("gcloud compute ssh", "--command --zone --project", "--command"),
    remote("fly ssh console", "-C --command -a --app", "-C --command"),
];

fn holders() -> &'static Index<Vec<&'static Holder>> {
    static INDEX: OnceLock<Index<Vec<&'static Holder>>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index: Index<Vec<&Holder>> = Index::default();
        for holder in HOLDERS {
            index.entry(holder.words.split(' ').next().unwrap_or_default()).or_default().push(holder);
        }
        index
    })
}

/// Most names that are remembered for the beginning of a command.
const MAX_ALIASES: usize = 16;

const SSH_VALUES: &str = "-p -i -l -o -F -J -L -R -D -W -b -c -E -e -I -m -O -Q -S -w -B";

/// A script and where it came from.
struct Text {
    text: String,
    origin: Origin,
    words: Vec<Span>,
}

/// The circumstances in which a script runs.
struct Run {
    label: &'static str,
    effects: Effects,
    elsewhere: bool,
    dialect: Dialect,
    options: Options,
    /// It runs in this shell: its variables and its working directory outlive it.
    same_shell: bool,
}

impl Run {
    const fn plain(label: &'static str) -> Self {
        Self {
            label,
            effects: Effects::NONE,
            elsewhere: false,
            dialect: Dialect::Bash,
            options: Options { errexit: None, pipefail: None },
            same_shell: false,
        }
    }
}

impl Walker {
    /// Reads a command that runs a script which stands in its arguments or its input.
    pub(super) fn script_form<'t>(
        &mut self,
        frame: &Frame<'t>,
        name: &str,
        fields: &[Field<'t>],
        draft: &mut Draft,
        input: &Input,
    ) -> Option<Outcome> {
        let rest = fields.get(1..)?;
        if let Some((script, known)) = self.alias(name, rest) {
            // Inside itself the name is the program.
            let hidden: Vec<_> = self.state.aliases.drain(known..).collect();
            let text = Text { text: script, origin: Origin::Whole(draft.raw), words: Vec::new() };
            let run = Run { same_shell: true, ..Run::plain("alias") };
            let outcome = self.run_script(draft, text, &run);
            self.state.aliases.extend(hidden);
            return Some(outcome);
        }
        if fields.first().is_some_and(|first| first.text.contains('/'))
            && let Some(script) = self.written(&fields.first()?.text)
        {
            let text = Text { text: script, origin: Origin::Whole(draft.raw), words: Vec::new() };
            return Some(self.run_script(draft, text, &Run::plain("script file")));
        }
        match name {
            "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash" | "mksh" | "fish" => {
                self.shell(frame, name, rest, draft, input)
            }
            "pwsh" | "powershell" => self.powershell(frame, rest, draft),
            "eval" if !rest.is_empty() => {
                let text = joined(frame, rest, draft);
                Some(self.run_script(draft, text, &Run { same_shell: true, ..Run::plain("eval") }))
            }
            "source" | "." => {
                let file = rest.first()?;
                let script = printed(frame, file).or_else(|| self.file_or_input(file, input))?;
                let text = Text { text: script, origin: Origin::Whole(draft.raw), words: Vec::new() };
                Some(self.run_script(draft, text, &Run { same_shell: true, ..Run::plain("source") }))
            }
            "alias" => {
                for field in rest {
                    let Some((alias, text)) = field.text.split_once('=') else { continue };
                    // What it stands for, only running it would tell.
                    if field.dynamic {
                        draft.opaque.add(Opacity::Setting);
                        continue;
                    }
                    if self.state.aliases.len() < MAX_ALIASES {
                        self.state.aliases.push((alias.to_owned(), text.to_owned()));
                    } else {
                        self.opacity.add(Opacity::Limit);
                    }
                }
                None
            }
            "trap" => {
                let rest = match rest.split_first() {
                    Some((first, behind)) if first.text == "--" => behind,
                    _ => rest,
                };
                let script =
                    rest.first().filter(|field| !field.text.is_empty() && !field.text.starts_with('-'))?;
                rest.get(1)?;
                let text = joined(frame, std::slice::from_ref(script), draft);
                Some(self.run_script(draft, text, &Run::plain("trap")))
            }
            "watch" => {
                let skip = options_end(rest, "-n --interval -q --equexit");
                let script = rest.get(skip..).filter(|script| !script.is_empty())?;
                let text = joined(frame, script, draft);
                Some(self.run_script(draft, text, &Run::plain("watch")))
            }
            "hyperfine" => self.benchmark(frame, rest, draft),
            "ssh" => self.ssh(frame, rest, draft),
            "cmd" => {
                let at = rest.iter().position(|field| field.text.eq_ignore_ascii_case("/c"))?;
                let script = rest.get(at + 1..).filter(|script| !script.is_empty())?;
                let text = joined(frame, script, draft);
                draft.at_most(Confidence::Low);
                let run = Run { dialect: Dialect::PowerShell, ..Run::plain("cmd /c") };
                Some(self.run_script(draft, text, &run))
            }
            _ => self.held(frame, name, fields, draft),
        }
    }

    fn shell<'t>(
        &mut self,
        frame: &Frame<'t>,
        name: &str,
        rest: &[Field<'t>],
        draft: &mut Draft,
        input: &Input,
    ) -> Option<Outcome> {
        if name == "fish" {
            let scripts = values_of(rest, "-c --command -C --init-command", "-d -o -f -D --features");
            if !scripts.is_empty() {
                let text = scripts.iter().map(|(script, _)| *script).collect::<Vec<_>>().join("\n");
                let text = Text { text, origin: Origin::Whole(draft.raw), words: Vec::new() };
                return Some(self.run_script(draft, text, &Run::plain("fish -c")));
            }
        }
        let mut options = Options::default();
        let mut check_only = false;
        let mut has_script = false;
        let mut reads_input = false;
        let mut at = 0;
        while let Some(field) = rest.get(at) {
            let text = &*field.text;
            if text == "--" || text == "-" {
                at += 1;
                break;
            }
            if !(field.is_option() || text.starts_with('+') && text.len() > 1) {
                break;
            }
            at += 1;
            if let Some(long) = long_option(name, text) {
                if matches!(long, "version" | "help") {
                    return None;
                }
                // A file that is run before anything else.
                if matches!(long, "rcfile" | "init-file") {
                    draft.opaque.add(Opacity::Script);
                    at += 1;
                }
                check_only |= matches!(long, "no-execute" | "noexec" | "no-exec");
                continue;
            }
            let on = text.starts_with('-');
            let mut named = false;
            for letter in text.chars().skip(1) {
                match letter {
                    'e' => options.errexit = Some(on),
                    'c' => has_script = true,
                    'n' => check_only = on,
                    's' => reads_input = true,
                    'o' | 'O' => named = true,
                    _ => {}
                }
            }
            if named {
                match rest.get(at).map(|field| &*field.text) {
                    Some("pipefail") => options.pipefail = Some(on),
                    Some("errexit") => options.errexit = Some(on),
                    Some("noexec") => check_only = on,
                    _ => {}
                }
                at += 1;
            }
        }
        let label = shell_label(name, has_script);
        let run = Run { options, ..Run::plain(label) };
        if check_only {
            name.clone_into(&mut draft.name);
            draft.operation = "run_lint";
            draft.effects = draft.effects.and(Effects::CHECK);
            for field in rest.get(at..).unwrap_or_default() {
                paths::aim(draft, &self.state.place, field, TargetType::File, Access::Read);
            }
            return Some(Outcome::Step(Self::leaf(draft)));
        }
        if has_script {
            let script = rest.get(at)?;
            if script.word.is_none() && script.dynamic {
                // `… | xargs bash -c`: the script is what comes in.
                name.clone_into(&mut draft.name);
                draft.operation = "execute_code";
                let fetched = matches!(input, Input::Stream { fetched: true });
                draft.effects = draft.effects.and(if fetched { Effects::REMOTE } else { Effects::UNKNOWN });
                draft.at_most(Confidence::Low);
                return Some(Outcome::Step(Self::leaf(draft)));
            }
            let text = joined(frame, std::slice::from_ref(script), draft);
            let outside = self.state.variables.mark();
            if let Some((zero, arguments)) = rest.get(at + 1..).and_then(<[Field<'t>]>::split_first) {
                let value =
                    if zero.dynamic { Value::Unknown } else { Value::Text(zero.text.clone().into_owned()) };
                self.state.variables.set("0", value);
                self.positional(arguments);
            }
            let outcome = self.run_script(draft, text, &run);
            self.state.variables.cut_back(outside);
            return Some(outcome);
        }
        if let Some(file) = rest.get(at).filter(|field| !reads_input && !is_input(&field.text)) {
            // A script in a file: what it does is not in the command line, unless the command line wrote it.
            let script = printed(frame, file).or_else(|| self.file_or_input(file, input))?;
            let text = Text { text: script, origin: Origin::Whole(draft.raw), words: Vec::new() };
            return Some(self.run_script(draft, text, &run));
        }
        match input {
            Input::Text(text) => {
                let text = Text { text: text.clone(), origin: Origin::Whole(draft.raw), words: Vec::new() };
                Some(self.run_script(draft, text, &run))
            }
            Input::Inherited | Input::Stream { .. } => None,
        }
    }

    /// Returns a script that the command line wrote, or that comes in.
    fn file_or_input(&self, file: &Field<'_>, input: &Input) -> Option<String> {
        match input {
            Input::Text(text) if is_input(&file.text) => Some(text.clone()),
            _ if file.dynamic => None,
            _ => self.written(&file.text),
        }
    }

    /// Returns the expansion of an alias with the words behind it, and the index of the alias.
    fn alias(&self, name: &str, rest: &[Field<'_>]) -> Option<(String, usize)> {
        let known = self.state.aliases.iter().rposition(|(known, _)| known == name)?;
        let (_, text) = self.state.aliases.get(known)?;
        if text.trim() == name {
            return None;
        }
        let words = rest.iter().map(|field| &*field.text);
        Some((std::iter::once(text.as_str()).chain(words).collect::<Vec<_>>().join(" "), known))
    }

    fn powershell<'t>(
        &mut self,
        frame: &Frame<'t>,
        rest: &[Field<'t>],
        draft: &mut Draft,
    ) -> Option<Outcome> {
        let at = rest.iter().position(|field| {
            ["-c", "-command", "/c"].into_iter().any(|option| field.text.eq_ignore_ascii_case(option))
        })?;
        let script = rest.get(at + 1..).filter(|script| !script.is_empty())?;
        let text = joined(frame, script, draft);
        let run = Run { dialect: Dialect::PowerShell, ..Run::plain("pwsh -Command") };
        Some(self.run_script(draft, text, &run))
    }

    fn ssh<'t>(&mut self, frame: &Frame<'t>, rest: &[Field<'t>], draft: &mut Draft) -> Option<Outcome> {
        let host = options_end(rest, SSH_VALUES);
        rest.get(host)?;
        let after = rest.get(host + 1..)?;
        // Options may also follow the host.
        let skip = options_end(after, SSH_VALUES);
        let script = after.get(skip..).filter(|script| !script.is_empty())?;
        let text = joined(frame, script, draft);
        let run = Run { effects: Effects::REMOTE, elsewhere: true, ..Run::plain("ssh") };
        Some(self.run_script(draft, text, &run))
    }

    /// Reads every operand as a command of its own.
    fn benchmark<'t>(&mut self, frame: &Frame<'t>, rest: &[Field<'t>], draft: &mut Draft) -> Option<Outcome> {
        let values = "-w --warmup -r --runs -m -M -n --export-json --export-markdown --export-csv -L -P -s -p --prepare \
            -c --cleanup -S --shell --setup --conclude -i";
        let arguments = Arguments::read(rest, values, Style::Gnu);
        let mut scripts: Vec<Field<'t>> = arguments.operands.iter().map(|field| (*field).clone()).collect();
        let around = values_of(rest, "-p --prepare -c --cleanup -s --setup --conclude", values);
        scripts.extend(around.into_iter().map(|(script, _)| Field::literal(script.to_owned())));
        if scripts.is_empty() {
            return None;
        }
        let mut nodes = Vec::new();
        let mut consumed = Vec::new();
        for script in &scripts {
            let text = joined(frame, std::slice::from_ref(script), draft);
            match self.run_script(draft, text, &Run::plain("hyperfine")) {
                Outcome::Script(node, words) => {
                    nodes.push((node, false));
                    consumed.extend(words);
                }
                Outcome::Step(node) => {
                    self.push(draft.clone());
                    nodes.push((node, false));
                }
            }
            self.operator = Some(crate::model::Operator::Then);
        }
        self.operator = None;
        Some(Outcome::Script(Node::Sequence(nodes), consumed))
    }

    fn held<'t>(
        &mut self,
        frame: &Frame<'t>,
        name: &str,
        fields: &[Field<'t>],
        draft: &mut Draft,
    ) -> Option<Outcome> {
        let holder = holders().get(name)?.iter().find(|holder| {
            holder.words.split(' ').zip(fields).skip(1).all(|(word, field)| word == field.text)
        })?;
        let rest = fields.get(holder.words.split(' ').count()..)?;
        // Options of `env` stand before its command; elsewhere they may come later, and looking has a price.
        let end = if name == "env" { options_end(rest, holder.values) } else { rest.len() };
        if self.scans < end {
            draft.opaque.add(Opacity::Limit);
            return None;
        }
        self.scans -= end;
        let own = rest.get(..end).unwrap_or_default();
        let run = Run { effects: holder.effects, elsewhere: holder.elsewhere, ..Run::plain(holder.words) };
        let given = values_of(own, holder.script, holder.values);
        let text = match given.as_slice() {
            // `tmux new 'script'`, `sg group 'script'`: an operand.
            [] if holder.script.is_empty() => {
                let at = options_end(rest, holder.values);
                joined(frame, std::slice::from_ref(rest.get(at)?), draft)
            }
            // The other program of this name has subcommands.
            [] if name == "sg" => match rest {
                [group, script] if !group.is_option() && !script.is_option() && script.text.contains(' ') => {
                    joined(frame, std::slice::from_ref(script), draft)
                }
                _ => return None,
            },
            [] => return None,
            // The words behind it are its arguments.
            [(script, _)] if name == "env" => {
                let at = rest.iter().position(|field| field.text.ends_with(script)).unwrap_or(end);
                let words = rest.iter().skip(at + 1).map(|field| &*field.text);
                let text = std::iter::once(*script).chain(words).collect::<Vec<_>>().join(" ");
                Text { text, origin: Origin::Whole(draft.raw), words: Vec::new() }
            }
            [(_, Some(field))] => joined(frame, std::slice::from_ref(*field), draft),
            scripts => {
                let text = scripts.iter().map(|(script, _)| *script).collect::<Vec<_>>().join("\n");
                Text { text, origin: Origin::Whole(draft.raw), words: Vec::new() }
            }
        };
        Some(self.run_script(draft, text, &run))
    }

    /// Reads the script as steps of the line.
    fn run_script(&mut self, draft: &mut Draft, script: Text, run: &Run) -> Outcome {
        let wrappers = std::mem::take(&mut self.wrappers);
        let added = self.added;
        let elsewhere = self.elsewhere;
        draft.wrap(run.label);
        self.wrappers.clone_from(&draft.wrappers);
        self.added = self.added.and(draft.effects).and(run.effects);
        self.elsewhere |= run.elsewhere;
        if run.elsewhere {
            self.opacity.add(Opacity::Elsewhere);
        }
        let outside = (!run.same_shell).then(|| self.enter_subshell());
        if run.elsewhere {
            self.state.place = crate::path::Place::Start;
        }
        let before = self.leaves;
        let node = self.deeper_script(&script, run.dialect);
        if let Some(outside) = outside {
            self.leave_subshell(outside);
        }
        self.wrappers = wrappers;
        self.elsewhere = elsewhere;
        let added = std::mem::replace(&mut self.added, added);
        match node {
            Some(node) if self.leaves > before => {
                let node = if run.same_shell { node } else { Node::Subshell(Box::new(node), run.options) };
                Outcome::Script(node, script.words)
            }
            _ => {
                // Nothing in it, or too much: the step stands for itself.
                run.label.clone_into(&mut draft.name);
                draft.operation = "execute_code";
                draft.effects = added.and(Effects::UNKNOWN);
                draft.at_most(Confidence::Low);
                Outcome::Step(Self::leaf(draft))
            }
        }
    }

    fn deeper_script(&mut self, script: &Text, dialect: Dialect) -> Option<Node> {
        let mut node = None;
        let origin = match &script.origin {
            Origin::At(at) => Origin::At(*at),
            Origin::Map(map) => Origin::Map(map.clone()),
            Origin::Whole(span) => Origin::Whole(*span),
        };
        self.deeper(|walker| {
            node = walker.inner_script(&script.text, origin, dialect);
            Node::Nothing
        });
        node
    }
}

/// Returns the text of `<(…)`, if the command line holds it.
fn printed<'t>(frame: &Frame<'t>, file: &Field<'t>) -> Option<String> {
    match file.word.map(|word| word.parts.as_slice()) {
        Some([Part::Process(process)]) => literal_output(frame, &process.script).map(|it| it.into_owned()),
        _ => None,
    }
}

/// Returns the text of a script given in one or more words.
fn joined<'t>(frame: &Frame<'t>, fields: &[Field<'t>], draft: &Draft) -> Text {
    let words = fields.iter().filter_map(|field| field.word).map(|word| word.span).collect();
    if let [field] = fields
        && let Some(word) = field.word
    {
        let (text, origin) = frame.unquoted(word);
        // Where a variable or a here-document was put in, the text is the field's and has no place of its own.
        if field.dynamic || text == field.text {
            return Text { text, origin, words };
        }
    }
    let text = fields.iter().map(|field| &*field.text).collect::<Vec<_>>().join(" ");
    Text { text, origin: Origin::Whole(draft.raw), words }
}

/// Returns the number of fields that the leading options take.
fn options_end(fields: &[Field<'_>], values: &str) -> usize {
    let mut at = 0;
    while let Some(field) = fields.get(at) {
        if field.text == "--" {
            return at + 1;
        }
        if !field.is_option() {
            break;
        }
        at += if is_listed(values, &field.text) { 2 } else { 1 };
    }
    at.min(fields.len())
}

fn shell_label(name: &str, script: bool) -> &'static str {
    match (name, script) {
        ("sh", true) => "sh -c",
        ("zsh", true) => "zsh -c",
        ("dash", true) => "dash -c",
        ("fish", true) => "fish -c",
        (_, true) => "bash -c",
        ("sh", false) => "sh",
        ("zsh", false) => "zsh",
        (_, false) => "bash",
    }
}

/// Returns the name of a long option of a shell, which one dash will do for too.
fn long_option<'s>(name: &str, text: &'s str) -> Option<&'s str> {
    const ONE_DASH: &[&str] = &[
        "debug",
        "debugger",
        "dump-po-strings",
        "dump-strings",
        "help",
        "init-file",
        "login",
        "noediting",
        "noprofile",
        "norc",
        "posix",
        "pretty-print",
        "protected",
        "rcfile",
        "restricted",
        "verbose",
        "version",
        "wordexp",
    ];
    let short =
        || text.strip_prefix('-').filter(|long| matches!(name, "bash" | "sh") && ONE_DASH.contains(long));
    text.strip_prefix("--").or_else(short)
}

/// Returns `true` for a name of standard input.
fn is_input(path: &str) -> bool {
    matches!(path, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}
