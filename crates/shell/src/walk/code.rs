//! Interpreters: a script in a file, code in an argument, or code on standard input.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::Input;
use crate::arguments::{Arguments, Style, is_listed};
use crate::decode;
use crate::draft::{Access, Draft};
use crate::effect::Effects;
use crate::exposure::Opacity;
use crate::index::Index;
use crate::model::{Confidence, TargetType};
use crate::path::{Place, base};
use crate::tools::{paths, scripts};
use crate::words::Field;

/// An interpreter and its options: those that hold code, all that take a value, those that load a file or a module
/// before anything else, and those that do nothing but show the version.
struct Interpreter {
    names: &'static str,
    code: &'static str,
    values: &'static str,
    loads: &'static str,
    version: &'static str,
}

const fn interpreter(names: &'static str, code: &'static str, values: &'static str) -> Interpreter {
    Interpreter { names, code, values, loads: "", version: "--version --help" }
}

impl Interpreter {
    const fn loads(mut self, options: &'static str) -> Self {
        self.loads = options;
        self
    }

    const fn version(mut self, options: &'static str) -> Self {
        self.version = options;
        self
    }
}

const INTERPRETERS: &[Interpreter] = &[
    interpreter("python", "-c", "-c -W -X -m --check-hash-based-pycs").version("--version -V -VV --help -h"),
    interpreter(
        "node nodejs tsx ts-node esno",
        "-e --eval -p --print",
        "-e --eval -p --print -r --require --import --loader --experimental-loader --env-file -C --conditions --tsconfig",
    )
    .loads("-r --require --import --loader --experimental-loader --env-file")
    .version("--version -v --help -h"),
    interpreter("ruby jruby", "-e", "-e -I -r -C -E").loads("-r -I").version("--version -v --help -h"),
    interpreter("perl", "-e -E", "-e -E -I -M -m").loads("-M -m -I -d").version("--version -v -V --help -h"),
    interpreter("php", "-r", "-r -c -d -f -B -R -F -E -S -t -z").loads("-d -z").version("--version -v -i -m --help -h"),
    interpreter("lua luajit", "-e", "-e -l").loads("-l").version("-v"),
    interpreter("julia", "-e -E --eval", "-e -E --eval -t --project -L --load -J --sysimage")
        .loads("-L --load -J --sysimage")
        .version("--version -v --help -h"),
    interpreter("elixir", "-e --eval", "-e --eval -r -S -pa -pr").loads("-r -pr -S").version("--version -v"),
    interpreter("Rscript", "-e", "-e"),
    interpreter("tclsh wish expect", "-c", "-c").version(""),
    interpreter("osascript", "-e", "-e -l").version(""),
    interpreter("groovy", "-e", "-e").version("--version -v --help -h"),
    interpreter("bash sh zsh dash ksh ash mksh fish", "", "-o -O --rcfile --init-file"),
    interpreter("pwsh powershell", "", "-File -ExecutionPolicy -WorkingDirectory").version("--version -v -Version --help"),
];

/// Words in inline code that give away what it does. Code is not parsed; a word that is not there proves nothing.
const HINTS: &[(&str, Effects)] = &[
    ("rm -r", Effects::DESTROY),
    ("rm -f", Effects::DESTROY),
    ("unlink", Effects::DESTROY),
    ("Remove-Item", Effects::DESTROY),
    ("removeSync", Effects::DESTROY),
    ("removeAll", Effects::DESTROY),
    ("RemoveAll(", Effects::DESTROY),
    ("remove_dir_all", Effects::DESTROY),
    ("rimraf", Effects::DESTROY),
    ("rm_rf", Effects::DESTROY),
    ("rmtree", Effects::DESTROY),
    ("remove_tree", Effects::DESTROY),
    ("file delete", Effects::DESTROY),
    (").rm(", Effects::DESTROY),
    ("os.remove(", Effects::DESTROY),
    ("os.rmdir(", Effects::DESTROY),
    ("fs.rm(", Effects::DESTROY),
    ("rmSync(", Effects::DESTROY),
    ("unlinkSync(", Effects::DESTROY),
    ("rmdirSync(", Effects::DESTROY),
    ("File.delete", Effects::DESTROY),
    ("FileUtils.rm", Effects::DESTROY),
    (".write_text(", Effects::WRITE),
    (".write_bytes(", Effects::WRITE),
    ("writeFile", Effects::WRITE),
    ("appendFile", Effects::WRITE),
    ("mkdirSync(", Effects::WRITE),
    ("File.write", Effects::WRITE),
    ("file_put_contents", Effects::WRITE),
    ("os.rename(", Effects::WRITE),
    ("os.makedirs(", Effects::WRITE),
    (".mkdir(", Effects::WRITE),
    ("shutil.copy", Effects::WRITE),
    ("shutil.move", Effects::WRITE),
    (", 'w'", Effects::WRITE),
    (",'w'", Effects::WRITE),
    (", \"w\"", Effects::WRITE),
    (",\"w\"", Effects::WRITE),
    (", 'a'", Effects::WRITE),
    (", \"a\"", Effects::WRITE),
    ("'wb'", Effects::WRITE),
    ("\"wb\"", Effects::WRITE),
    ("urllib", Effects::NETWORK),
    ("requests.", Effects::NETWORK),
    ("httpx.", Effects::NETWORK),
    ("fetch(", Effects::NETWORK),
    ("axios", Effects::NETWORK),
    ("http.get", Effects::NETWORK),
    ("https.get", Effects::NETWORK),
];

/// Those of them that take a whole tree.
const RECURSIVE: &[&str] = &[
    "rm -r",
    "rm -f",
    "rmtree",
    "remove_tree",
    "fs.rm(",
    ").rm(",
    "rmSync(",
    "FileUtils.rm_r",
    "rm_rf",
    "rimraf",
    "removeSync",
    "RemoveAll(",
    "remove_dir_all",
    "Remove-Item",
    "file delete",
];

/// Endings of files that are run by naming them.
const ENDINGS: [&str; 12] =
    [".sh", ".bash", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".ps1", ".bats"];

pub(super) fn has_script_ending(text: &str) -> bool {
    ENDINGS.into_iter().any(|ending| text.ends_with(ending))
}

/// Returns `true` for `python`, `python3`, `python3.12`, `py` and `pypy3`.
pub(super) fn is_python(name: &str) -> bool {
    let version =
        name.strip_prefix("python").or_else(|| name.strip_prefix("pypy")).or_else(|| name.strip_prefix("py"));
    version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

fn find(name: &str) -> Option<&'static Interpreter> {
    static INDEX: OnceLock<Index<&'static Interpreter>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let names = |interpreter: &'static Interpreter| {
            interpreter.names.split(' ').map(move |name| (name, interpreter))
        };
        INTERPRETERS.iter().flat_map(names).collect()
    });
    let name = if is_python(name) { "python" } else { name };
    index.get(name).copied()
}

/// Reads a call of an interpreter; false for any other program.
pub(super) fn read(name: &str, rest: &[Field<'_>], place: &Place, draft: &mut Draft, input: &Input) -> bool {
    let Some(interpreter) = find(name) else { return false };
    let arguments = Arguments::read(rest, interpreter.values, Style::Gnu);
    // Tests load what they like: they are the project's code.
    if arguments.has(interpreter.loads) && !arguments.has("--test") {
        draft.opaque.add(Opacity::Script);
    }
    if name == "perl" && perl_in_place(rest, place, draft) {
        return true;
    }
    // Beside anything else it shows the version and goes on: `python3 -v -c …`, `curl … | sh -v`.
    if let [only] = rest
        && is_listed(interpreter.version, &only.text)
    {
        draft.operation = "inspect_version";
        draft.effects = draft.effects.and(Effects::READ);
        return true;
    }
    if matches!(name, "node" | "nodejs") && arguments.has("--test") {
        draft.operation = "run_test";
        draft.effects = draft.effects.and(Effects::CHECK);
        return true;
    }
    let checks_syntax = match name {
        "node" | "nodejs" => arguments.has("--check -c"),
        // Blocks that run while it is read: code in an argument is not checked, it is run.
        "perl" => arguments.has("-c") && arguments.value(interpreter.code).is_none(),
        "ruby" => arguments.has("-c"),
        "php" => arguments.has("-l"),
        _ => false,
    };
    if checks_syntax {
        draft.operation = "run_lint";
        draft.effects = draft.effects.and(Effects::CHECK);
        for field in &arguments.operands {
            paths::aim(draft, place, field, TargetType::File, Access::Read);
        }
        return true;
    }
    if let Some(code) = arguments.value(interpreter.code) {
        inline(code, draft);
        return true;
    }
    // `bash -s` reads its script from the input; the operands are for the script.
    let from_input = interpreter.code.is_empty() && arguments.has("-s");
    match arguments.operands.first().filter(|field| field.text != "-" && !from_input) {
        Some(script) => {
            draft.operation = "execute_program";
            draft.effects = draft.effects.and(Effects::UNKNOWN);
            draft.at_most(Confidence::Medium);
            paths::aim(draft, place, script, TargetType::File, Access::Run);
            let following = arguments.operand(1).unwrap_or_default();
            if !framework_script(base(&script.text), following, draft) {
                scripts::by_name(&script.text, draft);
                draft.opaque.add(Opacity::Script);
            }
        }
        None => match input {
            Input::Text(code) => inline(code, draft),
            Input::Stream { fetched: true } => {
                draft.operation = "execute_code";
                draft.effects = draft.effects.and(Effects::REMOTE).and(Effects::UNKNOWN);
            }
            Input::Stream { fetched: false } | Input::Inherited => {
                draft.operation = "execute_code";
                draft.effects = draft.effects.and(Effects::UNKNOWN);
                draft.at_most(Confidence::Low);
            }
        },
    }
    true
}

/// Reads code that stands in the command line. It may do anything; what it names is a hint.
fn inline(code: &str, draft: &mut Draft) {
    draft.operation = "execute_code";
    draft.opaque.add(Opacity::Code);
    draft.effects = draft.effects.and(Effects::UNKNOWN);
    for form in forms(code) {
        for (word, effects) in HINTS {
            if form.contains(word) {
                draft.effects = draft.effects.and(*effects);
            }
        }
        draft.recursive |= RECURSIVE.iter().any(|word| form.contains(word));
    }
    draft.at_most(Confidence::Low);
}

/// Returns `true` if a text contains calls that delete a directory tree.
pub(super) fn names_deletion(text: &str) -> bool {
    // A plain name is none.
    text.contains([' ', '(', ',', ':'])
        && forms(text).iter().any(|form| RECURSIVE.iter().any(|word| form.contains(word)))
}

/// Returns code as it stands, and as it reads once its texts are put together: a list of words as a command, and what is added
/// up or picked by name as one word.
fn forms(code: &str) -> Vec<Cow<'_, str>> {
    let is_quote = |character: &char| matches!(character, '"' | '\'' | '`');
    let mut forms = vec![Cow::Borrowed(code)];
    if code.contains(|character| is_quote(&character)) {
        let spaced: String = code
            .chars()
            .filter(|c| !is_quote(c))
            .map(|c| if matches!(c, ',' | '[' | ']' | '(' | ')') { ' ' } else { c })
            .collect();
        forms.push(Cow::Owned(spaced.split_whitespace().collect::<Vec<_>>().join(" ")));
        let is_glue = |c: &char| c.is_whitespace() || matches!(c, '+' | '[' | ']');
        forms.push(Cow::Owned(code.chars().filter(|c| !is_quote(c) && !is_glue(c)).collect()));
    }
    if code.contains("b64") || code.contains("atob") || code.contains("base64") {
        let texts = code.split(['"', '\'']).filter(|text| text.len() >= 8);
        forms.extend(texts.filter_map(decode::base64).map(Cow::Owned));
    }
    forms
}

/// Reads `perl -pi -e`, `perl -i.bak -pe`: an edit of the files named, if the code is nothing but substitutions.
fn perl_in_place(rest: &[Field<'_>], place: &Place, draft: &mut Draft) -> bool {
    let mut in_place = false;
    let mut code_next = false;
    let mut codes: Vec<&str> = Vec::new();
    let mut files = Vec::new();
    for field in rest {
        let text = &*field.text;
        if std::mem::take(&mut code_next) {
            codes.push(text);
            continue;
        }
        if field.is_option() {
            let letters = text.trim_start_matches('-');
            in_place |= letters.bytes().take_while(u8::is_ascii_alphanumeric).any(|byte| byte == b'i')
                && !letters.starts_with(['I', 'M', 'm']);
            code_next = letters.ends_with(['e', 'E']) && !letters.starts_with(['I', 'M', 'm']);
        } else {
            files.push(field);
        }
    }
    if !in_place || codes.is_empty() {
        return false;
    }
    let plain = codes.iter().all(|code| only_substitutes(code));
    for code in codes.iter().filter(|_| !plain) {
        inline(code, draft);
    }
    draft.operation = "edit_in_place";
    draft.effects = draft.effects.and(Effects::WRITE);
    for file in files {
        paths::aim(draft, place, file, TargetType::File, Access::Write);
    }
    true
}

/// Returns `true` if code of `perl` consists of `s/a/b/g`, `tr/a/b/` and `y/a/b/` only, none of which runs code.
pub(crate) fn only_substitutes(code: &str) -> bool {
    let mut rest = code.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
    while !rest.is_empty() {
        let translates = rest.starts_with("tr") || rest.starts_with('y');
        let Some(from) = ["tr", "y", "s"].iter().find_map(|name| rest.strip_prefix(name)) else {
            return false;
        };
        let Some((bodies, behind)) = delimited(from) else { return false };
        let length = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (flags, behind) = behind.split_at(length);
        if (!translates && flags.contains('e')) || runs_inside(bodies) {
            return false;
        }
        let behind = behind.trim_start();
        if !(behind.is_empty() || behind.starts_with(';')) {
            return false;
        }
        rest = behind.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
    }
    true
}

/// Returns the text between three delimiters, and the rest behind them.
fn delimited(text: &str) -> Option<(&str, &str)> {
    let open = text.chars().next().filter(|c| c.is_ascii_punctuation() && *c != ',' && *c != ';')?;
    // Brackets nest, which this reader does not follow. `None` makes the code count as not understood.
    if matches!(open, '(' | '[' | '{' | '<') {
        return None;
    }
    let body = text.get(1..)?;
    let mut seen = 0;
    let mut escaped = false;
    for (at, character) in body.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        escaped = character == '\\';
        if character == open {
            seen += 1;
            if seen == 2 {
                return Some((body.get(..at)?, body.get(at + 1..)?));
            }
        }
    }
    None
}

/// Returns `true` if a pattern or a replacement contains code: `(?{…})`, `@{[…]}`, `$x[…]`, `$x{…}`.
fn runs_inside(bodies: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    bodies.contains("(?{")
        || bodies.contains("(??{")
        || bodies.split(['$', '@']).skip(1).any(|behind| match behind.strip_prefix('{') {
            Some(inside) => !inside.trim_start_matches(word).starts_with('}'),
            None => {
                let after = behind.trim_start_matches(word);
                after.len() < behind.len() && (after.starts_with(['[', '{']) || after.starts_with("->"))
            }
        })
}

/// Scripts that frameworks put into every project, with commands of their own.
pub(super) fn framework_script(script: &str, command: &str, draft: &mut Draft) -> bool {
    let (operation, effects) = match (script, command) {
        ("manage.py" | "artisan", "test") => ("run_test", Effects::CHECK),
        ("manage.py", "check") => ("verify", Effects::CHECK),
        ("manage.py" | "artisan", "migrate") => ("query_database", Effects::WRITE),
        ("manage.py", "flush") | ("artisan", "migrate:fresh" | "migrate:reset" | "db:wipe") => {
            ("query_database", Effects::DESTROY)
        }
        ("manage.py", "makemigrations" | "collectstatic" | "startapp") => ("generate", Effects::WRITE),
        ("manage.py", "showmigrations" | "diffsettings")
        | ("artisan", "list" | "route:list" | "migrate:status") => ("inspect_project", Effects::READ),
        ("manage.py", "runserver") | ("artisan", "serve") => ("start_server", Effects::UNKNOWN),
        _ => return false,
    };
    draft.operation = operation;
    draft.effects = draft.effects.without(Effects::UNKNOWN).and(effects);
    draft.subcommand = Some(command.to_owned());
    true
}
