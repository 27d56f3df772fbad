//! Arguments that make a command, or later ones, mean something else than their words: settings of `git` that hold
//! commands or force a push, and options that come out of a variable.

use crate::arguments::is_listed;
use crate::draft::Draft;
use crate::exposure::Opacity;
use crate::syntax::ast::Part;
use crate::walk::{awk, code, sed};
use crate::words::Field;

/// Programs to which an option more or less makes a great difference.
const SENSITIVE: &str = "git rm mv cp ln find curl wget rsync scp dd tar chmod chown docker kubectl gh npm sed truncate shred ssh psql";

/// Notes what the arguments of a program hide.
pub(crate) fn notice(name: &str, rest: &[Field<'_>], draft: &mut Draft) {
    if is_listed(SENSITIVE, name) && rest.iter().any(may_be_an_option) && !is_harmless(draft.operation) {
        draft.opaque.add(Opacity::Variable);
    }
    if name == "git" {
        git(rest, draft);
    }
    // What is in the file runs later on.
    let given = |field: &Field<'_>| !field.is_option();
    if name == "crontab" && rest.iter().any(given)
        || matches!(name, "at" | "batch") && rest.iter().any(|field| field.text.starts_with("-f"))
    {
        draft.opaque.add(Opacity::Script);
    }
    let texts = || rest.iter().map(|field| &*field.text);
    let given_file =
        |options: &[&str]| texts().any(|text| options.iter().any(|option| text.starts_with(option)));
    let opacity = match name {
        "awk" | "gawk" | "mawk" | "nawk" => {
            if given_file(&["-f", "--file", "-i", "--include", "-l", "--load", "-E", "--exec"]) {
                Some(Opacity::Script)
            } else {
                let whole =
                    |program: &str| rest.iter().any(|field| field.text == program && may_be_any_text(field));
                let hides = |program: &str| awk::hides(program) || whole(program);
                awk::programs(rest).into_iter().any(hides).then_some(Opacity::Code)
            }
        }
        "sed" | "gsed" if given_file(&["-f", "--file"]) => Some(Opacity::Script),
        "sed" | "gsed" => {
            let runs = sed::read(&sed::script(rest));
            (runs.runs_text || runs.broken).then_some(Opacity::Code)
        }
        "dc" if texts().any(|text| !text.starts_with('-'))
            && !texts().any(|text| text.starts_with("-e") || text.starts_with("--e")) =>
        {
            Some(Opacity::Script)
        }
        "cmake" if texts().any(|text| text == "-P") => Some(Opacity::Script),
        "ctest" if given_file(&["-S", "--script"]) => Some(Opacity::Script),
        "sqlite3" | "duckdb" if given_file(&["-init", "--init"]) => Some(Opacity::Script),
        "sqlite3" | "duckdb" => texts().any(database_runs).then_some(Opacity::Code),
        "psql" => {
            let runs = |text: &str| {
                let lower = text.to_ascii_lowercase();
                lower.contains("program") && lower.contains("copy")
                    || text.contains("\\") && text.contains(['!', '|'])
            };
            texts().any(runs).then_some(Opacity::Code)
        }
        "mysql" | "mariadb" => {
            let runs = |text: &str| {
                text.split(';').any(|line| {
                    let line = line.trim_start().to_ascii_lowercase();
                    ["system ", "\\!", "source ", "\\."].iter().any(|word| line.starts_with(word))
                })
            };
            texts().any(runs).then_some(Opacity::Code)
        }
        "redis-cli" if texts().any(|text| text.to_ascii_lowercase().starts_with("eval")) => {
            Some(Opacity::Code)
        }
        // It is run for every file that is searched.
        "rg" | "ripgrep" if texts().any(|text| text == "--pre" || text.starts_with("--pre=")) => {
            Some(Opacity::Input)
        }
        "pdflatex" | "xelatex" | "lualatex" | "latex" | "tex" | "pdftex" | "latexmk"
            if texts().any(|text| text.contains("shell-escape") || text.contains("write18")) =>
        {
            Some(Opacity::Code)
        }
        "gs" if texts().any(|text| matches!(text, "-dNOSAFER" | "-dDELAYSAFER")) => Some(Opacity::Code),
        "nmap" if given_file(&["--script", "-sC", "-A", "--interactive"]) => Some(Opacity::Script),
        "patch" if given_file(&["-e", "--ed"]) => Some(Opacity::Code),
        "ghc" if given_file(&["-e"]) => Some(Opacity::Code),
        "jupyter" if given_file(&["--execute", "--to=notebook"]) => Some(Opacity::Script),
        "mutt" if given_file(&["-e", "-F"]) => Some(Opacity::Code),
        "fzf"
            if texts().any(|text| {
                ["execute", "become", "reload", "transform"].iter().any(|it| text.contains(it))
            }) =>
        {
            Some(Opacity::Code)
        }
        "rename" | "prename" | "file-rename" | "perl-rename" => {
            let code = texts().find(|text| !text.starts_with('-')).unwrap_or_default();
            let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | ' ');
            let renames = code.chars().all(plain) && !code.contains("unlink") || code::only_substitutes(code);
            (!renames || given_file(&["-e", "--expr"])).then_some(Opacity::Code)
        }
        "ssh" | "scp" | "sftp" if given_file(&["-F"]) => Some(Opacity::Setting),
        "sftp" if given_file(&["-b"]) => Some(Opacity::Script),
        "wget" if given_file(&["-e", "--execute", "--config"]) => Some(Opacity::Setting),
        "curl" if given_file(&["-K", "--config"]) => Some(Opacity::Setting),
        "aria2c" if given_file(&["--on-", "--conf-path"]) => Some(Opacity::Script),
        "openssl" if texts().any(|text| matches!(text, "engine" | "-engine" | "-provider-path")) => {
            Some(Opacity::Script)
        }
        "rsync" if given_file(&["--no-n", "--no-dry"]) => Some(Opacity::Setting),
        "cargo" if given_file(&["--config"]) => Some(Opacity::Setting),
        "gcc" | "cc" | "g++" | "c++" | "clang" | "clang++" | "ld" => {
            let loads =
                ["-fplugin", "-fpass-plugin", "-load", "-B", "-specs", "--specs", "@", "--plugin", "-plugin"];
            given_file(&loads).then_some(Opacity::Script)
        }
        "gradle" | "gradlew" if given_file(&["-I", "--init-script"]) => Some(Opacity::Script),
        "gradle" | "gradlew" if given_file(&["-b", "--build-file"]) => Some(Opacity::Task),
        "ant" if given_file(&["-f", "-buildfile", "-file", "-lib"]) => Some(Opacity::Task),
        "mvn" | "mvnw"
            if texts().any(|text| {
                ["exec:", "antrun:", "groovy:", "-Dexec."].iter().any(|it| text.starts_with(it))
            }) =>
        {
            Some(Opacity::Task)
        }
        "ninja" if texts().any(|text| text.starts_with("clean")) => Some(Opacity::Task),
        "pre-commit" if given_file(&["-c", "--config"]) => Some(Opacity::Task),
        "direnv" if texts().any(|text| matches!(text, "allow" | "permit" | "grant")) => {
            Some(Opacity::Setting)
        }
        "gh" if matches!(texts().next(), Some("alias" | "extension" | "ext"))
            && texts().nth(1) != Some("list") =>
        {
            Some(Opacity::Setting)
        }
        "aws" if texts().any(|text| text.contains("credential_process")) => Some(Opacity::Setting),
        "make" | "gmake" if given_file(&["--ev", "-E"]) || texts().any(make_runs) => Some(Opacity::Task),
        "parallel" if !matches!(draft.operation, "delete_file") => Some(Opacity::Input),
        "open" | "xdg-open" | "start" if texts().any(is_runnable) => Some(Opacity::Script),
        "tox" | "nox" => texts().any(names_other_task).then_some(Opacity::Task),
        // The subscript of an array is worked out, and what stands in it runs.
        "test" | "[" | "let" | "read" | "printf" | "declare" | "typeset" | "local" | "export" | "unset" => {
            texts().any(|text| text.contains("[$(") || text.contains("[`")).then_some(Opacity::Code)
        }
        _ => None,
    };
    opacity.into_iter().for_each(|opacity| draft.opaque.add(opacity));
    let sets_shell =
        |field: &Field<'_>| field.text.to_ascii_lowercase().replace('_', "-").contains("script-shell");
    let sets_program = |field: &Field<'_>| matches!(&*field.text, "yarnPath" | "plugins");
    if matches!(name, "npm" | "pnpm" | "yarn")
        && (rest.iter().any(sets_shell) || rest.iter().any(sets_program))
    {
        draft.opaque.add(Opacity::Setting);
    }
}

/// Returns `true` if a variable in the arguments of `make` names a program or contains commands.
fn make_runs(text: &str) -> bool {
    let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.starts_with('-')) else {
        return false;
    };
    let name = name.trim_end_matches([':', '+', '?', '!']);
    let is_program = is_listed("SHELL CC CXX LD AR AS CPP FC MAKE PYTHON NODE RM CP INSTALL", name);
    name == "SHELL" || value.contains([';', '|', '&', '`', '(']) || is_program && value.contains(['/', ' '])
}

/// Returns `true` if a text for a database client runs a program or loads a file: a dot command outside the list of
/// those that only show something, or a function that writes, loads or edits.
fn database_runs(text: &str) -> bool {
    const SHOWS: &str = "bail changes databases dbconfig dbinfo dump echo eqp exit explain fullschema headers header help \
        import indexes indices limit lint mode nullvalue output once parameter print prompt quit scanstats schema \
        separator sha3sum show stats tables timeout timer trace version vfsinfo vfslist width";
    let lower = text.to_ascii_lowercase();
    let functions = ["edit(", "load_extension(", "writefile(", "fts3_tokenizer("];
    functions.iter().any(|it| lower.replace(' ', "").contains(it))
        || lower.lines().map(str::trim_start).filter_map(|line| line.strip_prefix('.')).any(|line| {
            let name = line.split_whitespace().next().unwrap_or_default();
            !line.starts_with('/') && !name.contains('/') && (!is_listed(SHOWS, name) || line.contains('|'))
        })
}

/// Returns `true` if the desktop runs a file of this name instead of showing it.
fn is_runnable(path: &str) -> bool {
    let endings =
        [".bat", ".cmd", ".command", ".sh", ".exe", ".app", ".desktop", ".jar", ".ps1", ".py", ".workflow"];
    endings.iter().any(|ending| path.ends_with(ending))
}

/// Returns `true` if the name of a test runner's session is not that of a check.
fn names_other_task(name: &str) -> bool {
    use super::scripts::{Purpose, purpose};
    !name.starts_with(['-', '.', '/'])
        && !name.starts_with("py")
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && matches!(purpose(name), Purpose::Clean | Purpose::Publish | Purpose::Serve | Purpose::Other)
}

/// Operations that stay what they are with any option.
fn is_harmless(operation: &str) -> bool {
    matches!(
        operation,
        "inspect_diff"
            | "inspect_history"
            | "inspect_refs"
            | "inspect_status"
            | "commit"
            | "list"
            | "stop_container"
            | "stop_process"
            | "switch_branch"
            | "create_branch"
            | "inspect_container"
            | "read_log"
    )
}

/// Returns `true` for a word that is nothing but an expansion, outside quotes: it may be any number of arguments.
fn may_be_an_option(field: &Field<'_>) -> bool {
    if !field.dynamic || !field.alternatives.is_empty() {
        return false;
    }
    match field.word.map(|word| word.parts.as_slice()) {
        Some([Part::Parameter(parameter)]) => !parameter.quoted && !field.text.starts_with("$HOME"),
        Some([Part::Command(command)]) => !command.quoted,
        Some([Part::Backtick(_)]) | None => true,
        Some(_) => false,
    }
}

/// Returns `true` for a word that is nothing but an expansion, in quotes or not.
fn may_be_any_text(field: &Field<'_>) -> bool {
    let parts = field.word.map(|word| word.parts.as_slice());
    field.dynamic
        && field.alternatives.is_empty()
        && matches!(parts, Some([Part::Parameter(_) | Part::Command(_) | Part::Backtick(_)]) | None)
}

fn git(rest: &[Field<'_>], draft: &mut Draft) {
    let texts: Vec<&str> = rest.iter().map(|field| &*field.text).collect();
    for (option, setting) in texts.iter().zip(texts.iter().skip(1)) {
        if matches!(*option, "-c" | "--config-env" | "--config") {
            let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
            if changes_meaning(key, value) {
                draft.opaque.add(Opacity::Setting);
            }
        }
    }
    for setting in texts.iter().filter_map(|text| text.strip_prefix("--config-env=")) {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        if changes_meaning(key, value) {
            draft.opaque.add(Opacity::Setting);
        }
    }
    // Commands of `git` that are programs of their own come from there.
    let loads = |text: &&str| ["--exec-path=", "--templ", "--git-dir"].iter().any(|it| text.starts_with(it));
    if texts.iter().any(loads) {
        draft.opaque.add(Opacity::Setting);
    }
    let words: Vec<&str> = texts.iter().copied().filter(|text| !text.starts_with('-')).collect();
    // The program is given every file that matches.
    let opens = |text: &&str| text.starts_with("-O") || text.starts_with("--open");
    if words.contains(&"grep") && texts.iter().any(opens) {
        draft.opaque.add(Opacity::Input);
    }
    if let Some(at) = words.iter().position(|word| *word == "config") {
        let given = words.get(at + 1..).unwrap_or_default();
        let given = given.strip_prefix(&["set"]).unwrap_or(given);
        if let [key, value, ..] = given
            && !matches!(*key, "get" | "list" | "unset" | "get-all")
            && changes_meaning(key, value)
        {
            draft.opaque.add(Opacity::Setting);
        }
    }
}

/// Settings that hold a command or a file of settings, or make a push force or a fetch go elsewhere.
fn changes_meaning(key: &str, value: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let (section, last) =
        (key.split('.').next().unwrap_or_default(), key.rsplit('.').next().unwrap_or_default());
    match (section, last) {
        ("alias" | "include" | "includeif" | "filter" | "url" | "protocol" | "difftool" | "mergetool", _) => {
            true
        }
        ("core", "hookspath" | "sshcommand" | "fsmonitor" | "gitproxy" | "askpass" | "attributesfile") => {
            true
        }
        ("core", "pager" | "editor") | ("sequence", "editor") | ("pager", _) => {
            !matches!(value.trim(), "cat" | "true" | ":" | "less" | "" | "false" | "delta")
        }
        ("remote", "push") => value.starts_with('+'),
        ("remote", "mirror") => !matches!(value, "false" | "0" | "no"),
        ("remote", "receivepack" | "uploadpack" | "proxy" | "vcs" | "pushurl" | "url") => true,
        ("diff", "external" | "command" | "textconv") | ("merge", "driver") => true,
        ("gpg", "program") | ("credential", "helper") | ("init", "templatedir") | ("uploadpack", _) => true,
        ("http" | "https", "proxy") => true,
        _ => false,
    }
}
