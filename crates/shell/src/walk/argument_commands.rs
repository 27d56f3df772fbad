//! Commands inside the arguments of programs that are something else: `tar --to-command`, `vim -c '!…'`, `awk`'s
//! `system`, an alias of `git`.
//!
//! The program stays what it is; what it runs besides is added to it like a substitution.

use super::{Input, Walker, awk, sed};
use crate::arguments::{is_listed, values_of};
use crate::draft::Draft;
use crate::exit::Node;
use crate::exposure::Opacity;
use crate::words::{Field, Origin};

/// Most scripts that are looked for in one command, and the longest.
const MAX_FOUND: usize = 8;
const MAX_SCRIPT: usize = 4 * 1024;

impl Walker {
    /// Adds the commands in the arguments and the input of a program to its step, as substitutions.
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

/// Returns the text behind the first of `beginnings` that it has.
fn behind<'s>(text: &'s str, beginnings: &[&str]) -> Option<&'s str> {
    beginnings.iter().find_map(|beginning| text.trim_start().strip_prefix(beginning))
}

/// Programs, or subcommands of `git`, with the options of theirs that hold a command, and the others that take a value.
struct Holding {
    names: &'static str,
    commands: &'static str,
    values: &'static str,
}

const fn holding(names: &'static str, commands: &'static str, values: &'static str) -> Holding {
    Holding { names, commands, values }
}

const PROGRAMS: &[Holding] = &[
    holding(
        "tar bsdtar gtar",
        "--to-command --use-compress-program -I --info-script --new-volume-script -F --rsh-command --rmt-command",
        "-f -C -b -T -X -g -L -H -K -N -V --file --directory --exclude --transform --checkpoint --strip-components",
    ),
    holding("cpio", "--rsh-command", "-F -D -E -R -M -I -O"),
    holding("rg ripgrep", "--pre --hostname-bin", "-e -f -g -t -T -A -B -C -m -j -r -E -d"),
    holding("rsync", "-e --rsh --rsync-path", "-f -B -T -M --exclude --include --filter"),
    holding("zip", "-TT --unzip-command", ""),
    holding("man", "-P --pager -H --html", "-C -M -m -S -s -e -L -E -p -R -r"),
    holding("split", "--filter", "-a -b -C -l -n -t"),
    holding("sort", "--compress-program", "-k -o -S -t -T"),
    holding("scp sftp", "-S", "-c -F -i -J -l -o -P -D -X -b -B -R -s"),
    holding("ssh", "", "-p -i -l -o -F -J -L -R -D -W -b -c -E -e -I -m -O -Q -S -w -B"),
    holding("tcpdump", "-z", "-B -c -C -D -E -F -G -i -M -m -r -s -T -V -w -W -y"),
    holding("go", "-exec -toolexec -vettool", "-o -run -bench -count -timeout -tags -ldflags -gcflags"),
    holding("meson", "--wrapper --wrap", "-C"),
    holding("bazel bazelisk", "--run_under", ""),
    holding("helm", "--post-renderer", "-n -f"),
    holding("wget", "--use-askpass", "-O -o -a -i -B -t -T -w -Q -P -U -l -A -R -D -I -X -e"),
    holding("fzf", "--preview --become", "-q -f -d -n"),
    holding("mapfile readarray", "-C", "-d -n -O -s -u -c"),
    holding("gcc cc g++ clang c++ clang++", "-wrapper", "-o -I -L -D -l -x"),
    holding("less more", "", "-b -h -j -k -o -O -p -P -t -T -x -y -z"),
    holding("make gmake", "", "-C -f -I -j -l -o -W"),
];

const GIT: &[Holding] = &[
    holding(
        "clone",
        "-u --upload-pack",
        "-b --branch -o --origin -c --config --depth --reference -j --jobs --filter",
    ),
    holding(
        "fetch pull ls-remote fetch-pack",
        "--upload-pack --exec",
        "-j --jobs --depth -s -X -o --server-option",
    ),
    holding("push send-pack", "--receive-pack --exec", "-o --push-option --repo"),
    holding("archive", "--exec", "-o --output --format --prefix --remote"),
    holding("rebase", "-x --exec", "-s -X -C --onto"),
    holding("difftool", "-x --extcmd", "-t --tool"),
    holding(
        "filter-branch",
        "--setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter",
        "-d --subdirectory-filter --original",
    ),
    holding("send-email", "--sendmail-cmd --smtp-server --to-cmd --cc-cmd --header-cmd", ""),
    holding("daemon", "--access-hook", ""),
    holding("instaweb", "-d --httpd -b --browser", ""),
];

/// Adds every command that stands in an argument.
fn arguments(name: &str, rest: &[Field<'_>], found: &mut Vec<String>) {
    let texts = || rest.iter().map(|field| &*field.text);
    let known = PROGRAMS.iter().find(|known| is_listed(known.names, name));
    if let Some(known) = known {
        found.extend(
            values_of(rest, known.commands, known.values).iter().map(|(value, _)| (*value).to_owned()),
        );
    }
    let given = |options: &str| values_of(rest, options, known.map_or("", |known| known.values));
    let mut add = |script: &str| found.push(script.to_owned());
    match name {
        "tar" | "bsdtar" | "gtar" => {
            for (action, _) in given("--checkpoint-action") {
                action.strip_prefix("exec=").into_iter().for_each(&mut add);
            }
            bundled(rest).into_iter().for_each(&mut add);
        }
        "ssh" | "scp" | "sftp" => {
            for (setting, _) in given("-o") {
                let (key, value) = setting.trim().split_once(['=', ' ', '\t']).unwrap_or((setting, ""));
                let key = key.to_ascii_lowercase();
                // `ProxyCommand`, `LocalCommand` and `KnownHostsCommand` run on this machine; `RemoteCommand` does not,
                // and `PermitLocalCommand` is a switch.
                if key.ends_with("command") && key != "permitlocalcommand" && key != "remotecommand" {
                    add(value.trim_start_matches(['=', ' ']));
                }
            }
        }
        "gdb" | "lldb" => {
            let commands =
                "-ex -iex --ex --iex --eval-command -eval-command -o -O --one-line --one-line-before-file";
            let commands = values_of(rest, commands, "");
            let inner = |(text, _): &(&str, _)| {
                behind(text, &["shell ", "!", "platform shell ", "make "]).map(str::to_owned)
            };
            commands.iter().filter_map(inner).for_each(|script| add(&script));
        }
        "vim" | "vi" | "nvim" | "ex" | "view" | "ed" => {
            let plus = texts().filter_map(|text| text.strip_prefix('+'));
            let given = values_of(rest, "-c --cmd", "-u -U -i -S -s -t -T -w -W -r");
            given.into_iter().map(|(text, _)| text).chain(plus).filter_map(editor_command).for_each(&mut add);
        }
        // `+!command` and `++!command`.
        "less" | "more" => {
            let commands = texts().filter_map(|text| text.strip_prefix('+'));
            commands
                .filter_map(|text| text.trim_start_matches('+').strip_prefix(['!', '|']))
                .for_each(&mut add);
        }
        "sqlite3" | "duckdb" => texts().filter_map(dot_command).for_each(&mut add),
        "psql" | "mysql" | "mariadb" => {
            texts().filter_map(|text| text.split_once("\\!").map(|(_, script)| script)).for_each(&mut add);
        }
        "git" => git_arguments(rest, &mut add),
        "make" | "gmake" => {
            for (rule, _) in given("--eval -E") {
                recipes(rule, &mut add);
            }
        }
        "dc" => texts().for_each(|text| bang_lines(text, &mut add)),
        "awk" | "gawk" | "mawk" | "nawk" => {
            for program in awk::programs(rest) {
                awk::commands(program).into_iter().for_each(|script| add(&script));
            }
        }
        "sed" | "gsed" => {
            let script = sed::script(rest);
            sed::read(&script).commands.iter().for_each(|script| add(script));
        }
        "gcc" | "cc" | "g++" | "clang" => {
            // `-wrapper` takes the words of its command with commas between them.
            for script in found.iter_mut() {
                *script = script.replacen("sh,-c,", "", 1).replace(',', " ");
            }
        }
        _ => {}
    }
}

/// Commands behind the letters of `tar cIf program file`, which take their values in turn.
fn bundled<'f>(rest: &'f [Field<'_>]) -> Vec<&'f str> {
    let Some(first) = rest.first().filter(|first| !first.text.starts_with('-')) else { return Vec::new() };
    let letters = first.text.chars().filter(|letter| "fCbTXgLHKNVIF".contains(*letter));
    let valued = letters.zip(rest.iter().skip(1));
    valued.filter(|(letter, _)| matches!(letter, 'I' | 'F')).map(|(_, field)| &*field.text).collect()
}

/// Reads `.shell command` and `.system command`, also by their beginning.
fn dot_command(text: &str) -> Option<&str> {
    let (name, script) = text.trim_start().strip_prefix('.')?.split_once(char::is_whitespace)?;
    let runs = name.len() > 1 && ["shell", "system"].iter().any(|known| known.starts_with(name));
    runs.then_some(script)
}

/// Lines of `dc` that a shell runs.
fn bang_lines(text: &str, add: &mut impl FnMut(&str)) {
    for line in text.lines() {
        // `!<`, `!>` and `!=` compare in `dc`.
        if let Some((_, script)) = line.split_once('!')
            && !script.starts_with(['<', '>', '='])
        {
            add(script);
        }
    }
}

fn git_arguments(rest: &[Field<'_>], add: &mut impl FnMut(&str)) {
    let texts = || rest.iter().map(|field| &*field.text);
    let words: Vec<&str> = texts().filter(|text| !text.starts_with('-')).collect();
    for known in GIT.iter().filter(|known| words.iter().any(|word| is_listed(known.names, word))) {
        for (script, _) in values_of(rest, known.commands, known.values) {
            add(script);
        }
    }
    // The transport `ext` runs its address as a command.
    texts().filter_map(|text| behind(text, &["ext::"])).for_each(&mut *add);
    for (setting, _) in values_of(rest, "-c --config", "-C --git-dir --work-tree") {
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
    if words.contains(&"grep") {
        let pagers = |text: &&str| text.starts_with("-O") || text.starts_with("--o") && text.contains('=');
        for text in texts().filter(pagers) {
            let script = text.split_once('=').map(|(_, script)| script).or_else(|| text.strip_prefix("-O"));
            script.filter(|script| !script.is_empty()).into_iter().for_each(&mut *add);
        }
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
    // Words that are a command: one alone may be a script.
    for (outer, inner) in [("bisect", "run"), ("submodule", "foreach")] {
        if let Some(at) = texts().position(|text| text == outer)
            && let Some(run) = texts().skip(at).position(|text| text == inner)
        {
            let command: Vec<&str> =
                texts().skip(at + run + 1).skip_while(|text| text.starts_with('-')).collect();
            match command.as_slice() {
                [] => {}
                [script] => add(script),
                words => add(&words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
            }
        }
    }
}

/// Returns a word as a shell would have to be given it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%~*?$".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Reads `!command`, `:!command`, `silent !command`, `r !command`.
fn editor_command(text: &str) -> Option<&str> {
    let text = text.trim_start().trim_start_matches(':');
    let text = behind(text, &["silent! ", "silent ", "sil ", "exe ", "r ", "read "]).unwrap_or(text);
    text.trim_start().strip_prefix('!')
}

/// Adds the commands that a program runs from its standard input.
fn lines(name: &str, rest: &[Field<'_>], input: &str, found: &mut Vec<String>) {
    let mut add = |script: &str| found.push(script.to_owned());
    match name {
        "ed" | "ex" | "vim" | "vi" | "nvim" => {
            input.lines().filter_map(editor_command).for_each(&mut add);
        }
        "sqlite3" | "duckdb" => input.lines().filter_map(dot_command).for_each(&mut add),
        "dc" => bang_lines(input, &mut add),
        "gdb" => input.lines().filter_map(|line| behind(line, &["shell ", "!"])).for_each(&mut add),
        "make" | "gmake" if rest.iter().any(|field| matches!(&*field.text, "-" | "-f-" | "/dev/stdin")) => {
            recipes(input, &mut add);
        }
        "sed" | "gsed" if sed::read(&sed::script(rest)).runs_text => add(input),
        "at" | "batch" => add(input),
        _ => {}
    }
}

/// Reads the recipes of a makefile: what stands behind a tab, or behind the semicolon of a rule.
fn recipes(makefile: &str, add: &mut impl FnMut(&str)) {
    for line in makefile.lines() {
        let recipe =
            line.strip_prefix('\t').or_else(|| line.split_once(':')?.1.split_once(';').map(|(_, it)| it));
        if let Some(recipe) = recipe {
            // Marks of make before a command: be silent, go on after a failure, run even in a dry run.
            add(recipe.trim_start().trim_start_matches(['@', '-', '+']));
        }
    }
}
