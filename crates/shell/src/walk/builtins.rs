//! Builtins that change the shell itself.

use super::Walker;
use crate::arguments::{Arguments, Style};
use crate::decode;
use crate::draft::{Access, Draft};
use crate::effect::Effects;
use crate::exit::{Ends, Leaves, Options};
use crate::exposure::Opacity;
use crate::model::{Confidence, TargetType};
use crate::path::Place;
use crate::tools::paths;
use crate::words::{Field, Frame, Value};

/// Reads a builtin; nothing if the name is not one.
pub(super) fn read(
    walker: &mut Walker,
    _frame: &Frame<'_>,
    name: &str,
    rest: &[Field<'_>],
    draft: &mut Draft,
) -> Option<Ends> {
    let operand = rest.iter().find(|field| !field.is_option() && field.text != "--");
    let mut ends = Ends::Anyhow;
    match name {
        "cd" | "chdir" | "pushd" => change_directory(walker, operand, draft),
        "popd" => {
            draft.operation = "change_directory";
            walker.state.place = std::mem::replace(&mut walker.state.previous, Place::Unknown);
        }
        "exit" | "return" | "logout" => {
            draft.operation = "exit";
            ends = Ends::Shell(leaves(operand));
        }
        "set" | "shopt" | "setopt" | "unsetopt" => {
            draft.operation = "set_option";
            ends = Ends::Options(options(rest));
            // Patterns would match hidden names.
            if rest.iter().any(|field| matches!(&*field.text, "dotglob" | "globdots" | "glob_dots")) {
                draft.opaque.add(Opacity::Setting);
            }
            if let Some(place) = rest.iter().position(|field| field.text == "--").filter(|_| name == "set") {
                walker.positional(rest.get(place + 1..).unwrap_or_default());
            }
        }
        "printf" if rest.first().is_some_and(|field| field.text.starts_with("-v")) => {
            draft.operation = "assign";
            // `-v NAME` or `-vNAME`.
            let stuck = rest.first().and_then(|field| field.text.strip_prefix("-v")).unwrap_or_default();
            let (variable, skip) =
                if stuck.is_empty() { (rest.get(1).map(|it| &*it.text), 2) } else { (Some(stuck), 1) };
            let words: Vec<&str> = rest.iter().skip(skip).map(|field| &*field.text).collect();
            if let (Some(variable), Some((format, arguments))) = (variable, words.split_first()) {
                let known = rest.iter().all(|field| !field.dynamic);
                let value = decode::formatted(format, arguments);
                walker.set_variable(variable, if known { Value::Text(value) } else { Value::Unknown }, draft);
            }
            ends = Ends::Well;
        }
        "export" | "declare" | "typeset" | "local" | "readonly" => {
            draft.operation = "assign";
            declare(walker, rest, draft);
            ends = Ends::Well;
        }
        "unset" | "read" | "mapfile" | "readarray" | "getopts" | "let" => {
            draft.operation = if name == "unset" { "assign" } else { "read_input" };
            take_values(walker, name, rest, draft);
        }
        "source" | "." => {
            draft.operation = "execute_program";
            draft.effects = draft.effects.and(Effects::UNKNOWN);
            draft.at_most(Confidence::Medium);
            if let Some(field) = operand {
                paths::aim(draft, &walker.state.place, field, TargetType::File, Access::Run);
            }
            // What every virtual environment of Python holds, unless the line itself wrote it.
            let is_activation = |field: &&Field<'_>| {
                field.text.ends_with("venv/bin/activate") && !field.dynamic && !walker.has_made(&field.text)
            };
            if operand.filter(is_activation).is_some() {
                draft.effects = draft.effects.without(Effects::UNKNOWN).and(Effects::NEUTRAL);
            } else {
                draft.opaque.add(Opacity::Script);
            }
            walker.state.variables.forget();
            return Some(Ends::Anyhow);
        }
        "alias" | "unalias" | "shift" | "break" | "continue" | "umask" | "ulimit" | "hash" | "enable"
        | "complete" | "compgen" | "bind" | "disown" | "jobs" | "fg" | "bg" | "times" | "trap" | "wait"
        | "emulate" | "autoload" => {
            draft.operation = if matches!(name, "wait" | "fg") { "wait" } else { "set_option" };
            let loads = match name {
                "hash" => Some("-p"),
                "enable" => Some("-f"),
                "bind" => Some("-x"),
                "complete" | "compgen" => Some("-C"),
                "autoload" | "emulate" => Some(""),
                _ => None,
            };
            if loads.is_some_and(|option| rest.iter().any(|field| field.text.starts_with(option))) {
                draft.opaque.add(Opacity::Setting);
            }
            if name == "wait" {
                for (variable, _) in Arguments::read(rest, "-p", Style::Gnu).values("-p") {
                    walker.set_variable(variable, Value::Unknown, draft);
                }
            }
            if matches!(name, "break" | "continue" | "trap" | "shift" | "alias") {
                ends = Ends::Well;
            }
        }
        _ => return None,
    }
    draft.effects = draft.effects.and(Effects::NEUTRAL);
    Some(ends)
}

impl Walker {
    /// Remembers the arguments of a script: `$1`, `$2`, and all of them.
    pub(super) fn positional(&mut self, fields: &[Field<'_>]) {
        let known = fields.iter().all(|field| !field.dynamic);
        let value = |text: String| if known { Value::Text(text) } else { Value::Unknown };
        for (place, field) in fields.iter().take(9).enumerate() {
            self.state.variables.set(&(place + 1).to_string(), value(field.text.clone().into_owned()));
        }
        let all: Vec<&str> = fields.iter().map(|field| &*field.text).collect();
        for name in ["@", "*"] {
            self.state.variables.set(name, value(all.join(" ")));
        }
    }
}

fn change_directory(walker: &mut Walker, operand: Option<&Field<'_>>, draft: &mut Draft) {
    draft.operation = "change_directory";
    let here = walker.state.place.clone();
    let there = match operand {
        None => Place::At("~".into()),
        Some(field) if field.text == "-" => walker.state.previous.clone(),
        // `cd $DIR` can be followed as text; the output of a command cannot.
        Some(field) if field.dynamic && (field.text.contains('(') || field.text.contains('`')) => {
            Place::Unknown
        }
        Some(field) if field.text.is_empty() => Place::Unknown,
        Some(field) => here.enter(&field.text),
    };
    if let Some(field) = operand.filter(|field| field.text != "-") {
        paths::aim(draft, &here, field, TargetType::Directory, Access::Mention);
    }
    walker.state.previous = here;
    walker.state.place = there;
}

/// Variables that are set to what comes in, are counted, or taken away.
fn take_values(walker: &mut Walker, name: &str, rest: &[Field<'_>], draft: &mut Draft) {
    if name == "let" {
        for field in rest {
            draft.substitutions.extend(walker.set_by_arithmetic(&field.text));
        }
        return;
    }
    let values = match name {
        "read" => "-a -d -i -n -N -p -t -u",
        "mapfile" | "readarray" => "-d -n -O -s -u -C -c",
        _ => "",
    };
    let arguments = Arguments::read(rest, values, Style::Gnu);
    let mut names: Vec<&str> = arguments.operands.iter().map(|field| &*field.text).collect();
    match name {
        "unset" => {
            for name in names {
                walker.name_variable(name);
                walker.state.variables.set(name, Value::Unknown);
            }
            return;
        }
        "getopts" => {
            names = names.get(1).copied().into_iter().chain(["OPTARG", "OPTIND"]).collect();
        }
        "read" => {
            names.extend(arguments.values("-a").map(|(variable, _)| variable));
            if names.is_empty() {
                names.push("REPLY");
            }
        }
        _ if names.is_empty() => names.push("MAPFILE"),
        _ => {}
    }
    for name in names {
        walker.set_variable(name, Value::Unknown, draft);
    }
}

fn declare(walker: &mut Walker, rest: &[Field<'_>], draft: &mut Draft) {
    // A name that stands for another: what is set by it later is not followed.
    if rest.iter().any(|field| field.is_option() && field.text.contains('n') && !field.text.starts_with("--"))
    {
        draft.opaque.add(Opacity::Variable);
    }
    for field in rest.iter().filter(|field| !field.is_option()) {
        match field.text.split_once('=') {
            Some((name, value)) => {
                let name = name.trim_end_matches('+').split('[').next().unwrap_or_default();
                walker.notice_setting(name, value, field.dynamic, draft);
                let value = if field.dynamic { Value::Unknown } else { Value::Text(value.to_owned()) };
                walker.state.variables.set(name, value);
            }
            // It goes to programs from here on; what it holds counted where it was set.
            None if field.dynamic => draft.opaque.add(Opacity::Environment),
            None => walker.name_variable(&field.text),
        }
    }
}

fn leaves(operand: Option<&Field<'_>>) -> Leaves {
    match operand {
        None => Leaves::AsItWas,
        Some(field) if field.text == "0" => Leaves::Well,
        Some(field) if field.text == "$?" => Leaves::AsItWas,
        // A number other than zero, or a status that was saved: written to pass a failure on.
        Some(_) => Leaves::Badly,
    }
}

fn options(rest: &[Field<'_>]) -> Options {
    let mut options = Options::default();
    let mut names = rest.iter().map(|field| &*field.text);
    while let Some(text) = names.next() {
        let Some(on) = text.starts_with(['-', '+']).then(|| text.starts_with('-')) else { continue };
        for letter in text.chars().skip(1) {
            match letter {
                'e' => options.errexit = Some(on),
                'o' => match names.next() {
                    Some("pipefail") => options.pipefail = Some(on),
                    Some("errexit") => options.errexit = Some(on),
                    _ => {}
                },
                _ => {}
            }
        }
    }
    options
}
