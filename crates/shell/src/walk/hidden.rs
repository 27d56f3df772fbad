//! Commands inside the arguments of programs that are something else: `tar --to-command`, `vim -c '!…'`, `awk`'s
//! `system`, an alias of `git`.
//!
//! The program stays what it is; what it runs besides is added to it like a substitution.

use super::{Input, Walker};
use crate::draft::Draft;
use crate::exit::Node;
use crate::exposure::Opacity;
use crate::words::{Field, Origin};

/// Most scripts that are looked for in one command, and the longest.
const MAX_FOUND: usize = 8;
const MAX_SCRIPT: usize = 4 * 1024;

impl Walker {
    /// Adds what a program is told to run to the step that it is.
    pub(super) fn add_hidden(&mut self, name: &str, rest: &[Field<'_>], draft: &mut Draft, input: &Input) {
        let mut found = Vec::new();
        arguments(name, rest, &mut found);
        if matches!(name, "make" | "gmake") {
            let makefile =
                ["GNUmakefile", "makefile", "Makefile"].into_iter().find_map(|file| self.written(file));
            recipes(&makefile.unwrap_or_default(), &mut |script| found.push(script.to_owned()));
        }
        if let Input::Text(text) = input {
            lines(name, rest, text, &mut found);
        }
        if matches!(name, "at" | "batch") && !matches!(input, Input::Text(_)) {
            draft.opaque.add(Opacity::Script);
        }
        if found.len() > MAX_FOUND || found.iter().any(|script| script.len() > MAX_SCRIPT) {
            draft.opaque.add(Opacity::Limit);
        }
        for script in found.into_iter().filter(|script| script.len() <= MAX_SCRIPT).take(MAX_FOUND) {
            let (origin, dialect) = (Origin::Whole(draft.raw), self.dialect);
            let steps = self
                .inside_word(|walker| walker.inner_script(&script, origin, dialect).unwrap_or(Node::Nothing));
            draft.substitutions.extend(steps);
        }
    }
}

/// What stands behind one of these beginnings.
fn behind<'s>(text: &'s str, beginnings: &[&str]) -> Option<&'s str> {
    beginnings.iter().find_map(|beginning| text.trim_start().strip_prefix(beginning))
}

fn arguments(name: &str, rest: &[Field<'_>], found: &mut Vec<String>) {
    let texts = || rest.iter().map(|field| &*field.text);
    let after = |options: &'static [&'static str]| {
        texts()
            .zip(texts().skip(1))
            .filter(move |(option, _)| options.contains(option))
            .map(|(_, value)| value)
    };
    let mut add = |script: &str| found.push(script.to_owned());
    match name {
        "tar" | "bsdtar" | "gtar" => {
            for text in texts() {
                let given =
                    behind(text, &["--to-command=", "--checkpoint-action=exec=", "--use-compress-program="]);
                given.into_iter().for_each(&mut add);
            }
            after(&["--to-command", "--use-compress-program", "-I"]).for_each(&mut add);
        }
        "rg" | "ripgrep" => {
            after(&["--pre"]).for_each(&mut add);
            texts().filter_map(|text| behind(text, &["--pre="])).for_each(&mut add);
        }
        "rsync" => {
            after(&["-e", "--rsh", "--rsync-path"]).for_each(&mut add);
            texts().filter_map(|text| behind(text, &["--rsh=", "--rsync-path="])).for_each(&mut add);
        }
        "zip" => after(&["-TT", "--unzip-command"]).for_each(&mut add),
        "man" => after(&["-P", "--pager", "-H"]).for_each(&mut add),
        "split" => texts().filter_map(|text| behind(text, &["--filter="])).for_each(&mut add),
        "sort" => texts().filter_map(|text| behind(text, &["--compress-program="])).for_each(&mut add),
        "ssh" | "scp" | "sftp" => {
            let settings = after(&["-o"]).chain(texts().filter_map(|text| behind(text, &["-o"])));
            for setting in settings {
                let command =
                    behind(setting, &["ProxyCommand=", "ProxyCommand ", "LocalCommand=", "LocalCommand "]);
                command.into_iter().for_each(&mut add);
            }
        }
        "gdb" | "lldb" => {
            let commands = after(&["-ex", "-iex", "--eval-command", "-o"]);
            commands.filter_map(|text| behind(text, &["shell ", "!", "platform shell "])).for_each(&mut add);
        }
        "vim" | "vi" | "nvim" | "ex" | "view" | "ed" => {
            let given = after(&["-c", "--cmd"]).chain(texts().filter_map(|text| text.strip_prefix('+')));
            given.filter_map(editor_command).for_each(&mut add);
        }
        "sqlite3" => texts().filter_map(|text| behind(text, &[".shell ", ".system "])).for_each(&mut add),
        "psql" | "mysql" => texts().filter_map(|text| behind(text, &["\\! ", "\\!"])).for_each(&mut add),
        "mapfile" | "readarray" => after(&["-C"]).for_each(&mut add),
        "git" => {
            for setting in after(&["-c"]) {
                let Some((key, value)) = setting.split_once('=') else { continue };
                let key = key.to_ascii_lowercase();
                let is_command = matches!(
                    key.as_str(),
                    "core.pager" | "core.editor" | "core.sshcommand" | "core.fsmonitor" | "sequence.editor"
                ) || key.starts_with("pager.");
                match value.strip_prefix('!') {
                    Some(command) if key.starts_with("alias.") => add(command),
                    None if key.starts_with("alias.") => add(&format!("git {value}")),
                    None if is_command => add(value),
                    _ => {}
                }
            }
            texts()
                .filter_map(|text| {
                    behind(
                        text,
                        &["--upload-pack=", "--receive-pack=", "--exec=", "--open-files-in-pager=", "ext::"],
                    )
                })
                .for_each(&mut add);
            let words: Vec<&str> = texts().filter(|text| !text.starts_with('-')).collect();
            if words.contains(&"rebase") || words.contains(&"difftool") {
                after(&["-x", "--exec", "--extcmd"]).for_each(&mut add);
                texts().filter_map(|text| behind(text, &["--extcmd="])).for_each(&mut add);
            }
            if words.contains(&"grep") {
                texts().filter_map(|text| behind(text, &["-O"])).for_each(&mut add);
            }
            // The alias, and what a setting will run, count where they are set.
            let setting = words.iter().position(|word| *word == "config");
            if let Some([key, value]) = setting
                .map(|at| words.get(at + 1..).unwrap_or_default())
                .map(|rest| rest.strip_prefix(&["set"]).unwrap_or(rest))
                .and_then(|rest| rest.get(..2))
                && key.to_ascii_lowercase().starts_with("alias.")
            {
                match value.strip_prefix('!') {
                    Some(command) => add(command),
                    None => add(&format!("git {value}")),
                }
            }
            if let Some(at) = texts().position(|text| text == "bisect")
                && texts().nth(at + 1) == Some("run")
            {
                add(&texts().skip(at + 2).collect::<Vec<_>>().join(" "));
            }
        }
        "gcc" | "cc" | "g++" | "clang" => {
            after(&["-wrapper"]).for_each(|words| add(&words.replacen("sh,-c,", "", 1)));
        }
        "make" | "gmake" => {
            for rule in texts().filter_map(|text| behind(text, &["--eval="])).chain(after(&["--eval"])) {
                recipes(rule, &mut add);
            }
        }
        "awk" | "gawk" | "mawk" | "nawk" => texts().for_each(|text| quoted_commands(text, &mut add)),
        "sed" | "gsed" => {
            for script in texts().filter(|text| !text.starts_with('-')) {
                // `1e command` and `e command`; an address may stand before it.
                let command =
                    script.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ','));
                command.strip_prefix("e ").into_iter().for_each(&mut add);
            }
        }
        _ => {}
    }
}

/// `!command`, `:!command`, `silent !command`, `r !command`.
fn editor_command(text: &str) -> Option<&str> {
    let text = text.trim_start().trim_start_matches(':');
    let text = behind(text, &["silent! ", "silent ", "sil ", "exe ", "r ", "read "]).unwrap_or(text);
    text.trim_start().strip_prefix('!')
}

/// What comes in on standard input of a program that runs lines of it.
fn lines(name: &str, rest: &[Field<'_>], input: &str, found: &mut Vec<String>) {
    let mut add = |script: &str| found.push(script.to_owned());
    match name {
        "ed" | "ex" | "vim" | "vi" | "nvim" => {
            input.lines().filter_map(editor_command).for_each(&mut add);
        }
        "sqlite3" => {
            input.lines().filter_map(|line| behind(line, &[".shell ", ".system "])).for_each(&mut add)
        }
        "gdb" => input.lines().filter_map(|line| behind(line, &["shell ", "!"])).for_each(&mut add),
        "make" | "gmake" if rest.iter().any(|field| matches!(&*field.text, "-" | "-f-" | "/dev/stdin")) => {
            recipes(input, &mut add);
        }
        "sed" if rest.iter().any(|field| field.text.starts_with("s/") && field.text.ends_with("/e")) => {
            add(input)
        }
        "at" | "batch" => add(input),
        _ => {}
    }
}

/// The recipes of a makefile: what stands behind a tab, or behind the semicolon of a rule.
fn recipes(makefile: &str, add: &mut impl FnMut(&str)) {
    for line in makefile.lines() {
        let recipe =
            line.strip_prefix('\t').or_else(|| line.split_once(':')?.1.split_once(';').map(|(_, it)| it));
        if let Some(recipe) = recipe {
            add(recipe.trim_start().trim_start_matches(['@', '-', '+']));
        }
    }
}

/// Texts of an `awk` program that it runs: `system("…")`, `"…" | getline`, `print | "…"`.
fn quoted_commands(program: &str, add: &mut impl FnMut(&str)) {
    if !program.contains("system") && !program.contains('|') {
        return;
    }
    let pieces: Vec<&str> = program.split('"').collect();
    for (place, piece) in pieces.iter().enumerate().skip(1).step_by(2) {
        let before = pieces.get(place - 1).map_or("", |text| text.trim_end());
        let after = pieces.get(place + 1).map_or("", |text| text.trim_start());
        if before.ends_with("system(") || before.ends_with('|') || after.starts_with('|') {
            add(piece);
        }
    }
}
