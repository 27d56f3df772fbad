//! Programs we know, as tables: one file per family.
//!
//! A row says what a program does by default; its cases say what options change; its subcommands are rows of
//! their own. What a table cannot say is a reader: a small function beside the row. A row tells what the
//! program really does to the world, not what it is called.

mod build;
mod cloud;
mod containers;
mod database;
mod files;
mod forge;
mod git;
mod go;
pub(crate) mod hosts;
mod javascript;
mod jvm;
mod kubernetes;
mod languages;
mod linting;
mod network;
mod packages;
pub(crate) mod paths;
mod powershell;
mod python;
pub(crate) mod reach;
mod rust;
pub(crate) mod scripts;
pub(crate) mod settings;
mod shell;
mod sql;
mod system;
mod table;
mod testing;
mod text;

use std::sync::OnceLock;

use crate::arguments::{Arguments, is_listed};
use crate::context::Dialect;
use crate::draft::{Access, Draft};
use crate::effect::{Effect, Effects};
use crate::exit::Ends;
use crate::index::Index;
use crate::model::{Confidence, TargetType};
use crate::path::Place;
use crate::walk::Input;
use crate::words::Field;
use table::{Operands, Tool};

/// The working directory, input and dialect of a call.
pub(crate) struct Setting<'a> {
    pub(crate) place: &'a Place,
    pub(crate) input: &'a Input,
    pub(crate) dialect: Dialect,
}

/// One call, as a reader sees it.
pub(crate) struct Call<'a, 'f, 't> {
    pub(crate) arguments: Arguments<'f, 't>,
    pub(crate) draft: &'a mut Draft,
    /// The directory in which the program works, after its `-C`.
    pub(crate) place: &'a Place,
    pub(crate) input: &'a Input,
}

impl Call<'_, '_, '_> {
    /// Sets what is done.
    fn becomes(&mut self, operation: &'static str, effects: Effects) {
        self.draft.operation = operation;
        self.draft.effects = effects;
    }

    fn also(&mut self, effects: Effects) {
        self.draft.effects = self.draft.effects.and(effects);
    }

    fn aim(&mut self, field: &Field<'_>, expected: TargetType, access: Access) {
        paths::aim(self.draft, self.place, field, expected, access);
    }

    /// Adds a path that is not a field of its own, such as `--output=x`.
    fn aim_text(&mut self, text: &str, expected: TargetType, access: Access) {
        let dynamic = text.contains(['$', '`']);
        let glob = text.contains('*');
        self.aim(&Field { dynamic, glob, ..Field::literal(text) }, expected, access);
    }

    fn name(&mut self, kind: TargetType, value: &str) {
        self.draft.aim(kind, value, Access::Mention);
    }
}

const FAMILIES: &[&[Tool]] = &[
    build::TOOLS,
    cloud::TOOLS,
    containers::TOOLS,
    database::TOOLS,
    files::TOOLS,
    forge::TOOLS,
    git::TOOLS,
    go::TOOLS,
    javascript::TOOLS,
    jvm::TOOLS,
    kubernetes::TOOLS,
    languages::TOOLS,
    linting::TOOLS,
    network::TOOLS,
    packages::TOOLS,
    python::TOOLS,
    rust::TOOLS,
    shell::TOOLS,
    system::TOOLS,
    testing::TOOLS,
    text::TOOLS,
];

fn index() -> &'static Index<&'static Tool> {
    static INDEX: OnceLock<Index<&'static Tool>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index = Index::default();
        for tool in FAMILIES.iter().flat_map(|family| family.iter()) {
            for name in tool.names.split_ascii_whitespace() {
                index.insert(name, tool);
            }
        }
        index
    })
}

/// Returns the row of a program.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    index().get(name).copied()
}

/// Reads a call by the tables; false if no row knows the program.
pub(crate) fn read(
    written: &str,
    name: &str,
    fields: &[Field<'_>],
    setting: &Setting<'_>,
    draft: &mut Draft,
) -> bool {
    // Before the other tables: `ls`, `cat` and `rm` are aliases of cmdlets here and take the options of those.
    if setting.dialect == Dialect::PowerShell
        && let Some(tool) = powershell::find(name)
    {
        read_tool(tool, fields, setting, draft);
        return true;
    }
    // `./gradlew` and `vendor/bin/phpunit` are the tools they are named after; `./test` is not `test`.
    let by_path = written.contains('/') && !crate::walk::environment::is_of_system(written);
    let tool = find(name).filter(|tool| !(by_path && tool.builtin));
    let Some(tool) = tool else {
        // What is fetched or belongs to the project runs, whatever it is asked.
        let foreign = draft.wrappers.iter().any(|wrapper| FETCHES.contains(wrapper));
        if !foreign && asks_about_itself(fields, &[]) {
            draft.operation = "inspect_version";
            draft.effects = draft.effects.and(Effects::READ);
            draft.at_most(Confidence::Medium);
            return true;
        }
        return false;
    };
    if asks_about_itself(fields, tool.subcommands) && !tool.builtin {
        draft.operation = "inspect_version";
        draft.effects = draft.effects.and(Effects::READ);
        return true;
    }
    read_tool(tool, fields, setting, draft);
    true
}

/// Wrappers that run a program which they fetch, or a module of the project.
const FETCHES: &[&str] = &[
    "npx",
    "pnpx",
    "bunx",
    "bun x",
    "npm exec",
    "npm x",
    "pnpm dlx",
    "yarn dlx",
    "uvx",
    "uv tool run",
    "pipx run",
    "python -m",
];

/// Returns `true` for `--help`, `--version` and nothing that would act. Short forms mean other things to many
/// programs; to those with subcommands they mean this. Behind an operand `--help` is one more of them to some
/// systems.
fn asks_about_itself(fields: &[Field<'_>], subcommands: &[Tool]) -> bool {
    if let [only] = fields {
        return match &*only.text {
            "--version" | "-V" | "--help" | "-version" => true,
            "version" | "help" | "-v" | "-h" => !subcommands.is_empty(),
            _ => false,
        };
    }
    let mut subcommands = subcommands;
    for field in fields {
        match &*field.text {
            "--" => return false,
            "--help" => return true,
            _ if field.is_option() => {}
            word => match subcommands.iter().find(|known| is_listed(known.names, word)) {
                Some(known) => subcommands = known.subcommands,
                None => return false,
            },
        }
    }
    false
}

/// Programs that have `--dry-run` or its like and obey it wherever it stands. To any other it is an unknown option, or
/// the name of a file.
const DRY_RUNS: &str = "git kubectl oc helm cargo rsync apt apt-get brew pip pip3 uv make gmake aws gcloud docker podman \
    docker-compose npm pnpm yarn bun rclone patch terraform ansible-playbook poetry semantic-release lerna changeset \
    goreleaser gem composer nix dnf yum pacman zypper flyway alembic snakemake dvc eksctl skaffold kustomize argocd flux \
    twine vsce ovsx wrangler fly flyctl vercel netlify serverless sls cdk pulumi heroku gh glab hub svn stow \
    restic borg duplicity certbot php-cs-fixer rector phpcbf pint turbo nx release-it np bumpversion bump2version bump-my-version commitizen cz \
    standard-version clang-format";

fn is_dry(arguments: &Arguments<'_, '_>, draft: &Draft) -> bool {
    let options = "--dry-run --dry_run --dryrun --what-if -WhatIf";
    let cmdlet = draft.name.contains('-') && arguments.has("-WhatIf");
    (is_listed(DRY_RUNS, &draft.name) || cmdlet)
        && arguments.has(options)
        && !arguments.has("--no-dry-run --no-n")
        && arguments.values(options).all(|(value, _)| matches!(value, "client" | "server" | "true" | "all"))
        // What is run is not known to obey it.
        && !draft.effects.has(Effect::Unknown)
}

fn read_tool(tool: &'static Tool, fields: &[Field<'_>], setting: &Setting<'_>, draft: &mut Draft) {
    let outer = draft.effects;
    let mut tool = tool;
    let mut fields = fields;
    let mut values = String::new();
    take_values(tool, &mut values);
    let mut place = setting.place.clone();
    // `cargo +nightly test`.
    if let Some((first, rest)) = fields.split_first()
        && first.text.starts_with('+')
        && !tool.subcommands.is_empty()
    {
        fields = rest;
    }
    // Options before a subcommand are options all the same: `pnpm --filter x test`, `git -C dir status`.
    let mut gathered: Vec<Field<'_>> = Vec::new();
    let mut directory = tool.directory.to_owned();
    let (mut outputs, mut inputs) = (tool.outputs.to_owned(), tool.inputs.to_owned());
    while !tool.subcommands.is_empty() {
        let Some(at) = first_operand(fields, &values) else { break };
        let (before, from) = fields.split_at(at);
        let Some((sub, rest)) = from.split_first() else { break };
        let found = tool.subcommands.iter().find(|known| is_listed(known.names, &sub.text));
        let name = match draft.subcommand.take() {
            Some(outer) => format!("{outer} {}", sub.text),
            None => sub.text.clone().into_owned(),
        };
        if found.is_some() || !sub.dynamic && !sub.text.contains('/') {
            draft.subcommand = Some(name.chars().take(64).collect());
        }
        let Some(found) = found else { break };
        gathered.extend_from_slice(before);
        take_values(found, &mut values);
        for (all, own) in
            [(&mut directory, found.directory), (&mut outputs, found.outputs), (&mut inputs, found.inputs)]
        {
            all.push(' ');
            all.push_str(own);
        }
        tool = found;
        fields = rest;
    }
    if !gathered.is_empty() {
        gathered.extend_from_slice(fields);
        fields = &gathered;
    }
    let arguments = Arguments::read(fields, &values, tool.style);
    for (inside, field) in arguments.values(&directory) {
        let field = field.cloned().unwrap_or_else(|| Field::literal(inside));
        paths::aim(draft, &place, &field, TargetType::Workspace, Access::Mention);
        place = place.enter(inside);
    }
    draft.operation = tool.operation;
    draft.effects = tool.effects;
    draft.at_most(tool.confidence);
    let mut call = Call { arguments, draft, place: &place, input: setting.input };
    apply_cases(tool, &mut call);
    apply_operands(tool.operands, &mut call);
    for (access, names) in [(Access::Write, &outputs), (Access::Read, &inputs)] {
        let mut given: Vec<_> = call.arguments.values(names).collect();
        // Also by a beginning of the name: a rule that permits reading would otherwise permit `--outp=file`.
        given.extend(call.arguments.values_by_beginning(names));
        for (value, field) in given {
            match field {
                Some(field) => call.aim(field, TargetType::File, access),
                None => call.aim_text(value, TargetType::File, access),
            }
        }
    }
    if let Some(reader) = tool.reader {
        reader(&mut call);
    }
    let dry = is_dry(&call.arguments, call.draft);
    if dry {
        draft.operation = "dry_run";
        draft.effects = if draft.effects.has(Effect::Network) {
            Effects::NETWORK.and(Effects::READ)
        } else {
            Effects::READ
        };
    }
    if draft.effects.gravest() == Effect::Unknown {
        draft.at_most(Confidence::Medium);
    }
    let vague = draft.aims.iter().any(|aim| aim.kind == TargetType::Unknown && aim.access != Access::Mention);
    if vague && draft.effects.gravest() >= Effect::Write {
        draft.at_most(Confidence::Medium);
    }
    // The effects of wrappers around the call: the row has replaced them.
    draft.effects = draft.effects.and(outer);
}

/// Adds the options of a row that take a value.
fn take_values(tool: &Tool, values: &mut String) {
    for list in [tool.values, tool.directory, tool.outputs, tool.inputs] {
        if !list.is_empty() {
            values.push(' ');
            values.push_str(list);
        }
    }
}

/// Returns the index of the subcommand: the first field that is neither an option nor the value of one.
fn first_operand(fields: &[Field<'_>], values: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(field) = fields.get(at) {
        if !field.is_option() {
            return Some(at);
        }
        at += if is_listed(values, &field.text) { 2 } else { 1 };
    }
    None
}

fn apply_cases(tool: &Tool, call: &mut Call<'_, '_, '_>) {
    for case in tool.cases {
        // GNU programs take a long option by any beginning that fits one (`--delet`). What makes a call graver is
        // looked for that way; what makes it harmless must be written out.
        let graver = case.adds && case.effects.has(Effect::Destructive);
        let given = if graver {
            call.arguments.has_beginning(case.options)
        } else {
            call.arguments.has(case.options)
        };
        if !given {
            continue;
        }
        if !case.operation.is_empty() {
            call.draft.operation = case.operation;
        }
        call.draft.effects = if case.adds { call.draft.effects.and(case.effects) } else { case.effects };
    }
}

fn apply_operands(operands: Operands, call: &mut Call<'_, '_, '_>) {
    let fields = call.arguments.operands.clone();
    match operands {
        Operands::Ignored => {}
        Operands::Files(access) => each(call, &fields, TargetType::File, access),
        Operands::Paths(Access::Read) => each_read(call, &fields),
        Operands::Paths(access) => each(call, &fields, TargetType::Path, access),
        Operands::Directories(access) => each(call, &fields, TargetType::Directory, access),
        Operands::PathsOrHere(access) => {
            if fields.is_empty() {
                call.aim_text(".", TargetType::Directory, access);
            }
            each(call, &fields, TargetType::Path, access);
        }
        Operands::PatternThenPaths(patterns) => {
            let given = call.arguments.value(patterns).map(str::to_owned);
            // With `-f` the patterns stand in a file, and the first operand is searched like the others.
            let from_file = call.arguments.has("-f --file");
            let skip = usize::from(given.is_none() && !from_file);
            let pattern = given.or_else(|| {
                fields.first().filter(|_| skip == 1).map(|field| field.text.clone().into_owned())
            });
            call.draft.selectors.pattern = pattern.map(|pattern| pattern.chars().take(300).collect());
            each_read(call, fields.get(skip..).unwrap_or_default());
        }
        Operands::SkipThenPaths(skip, access) => {
            // `chmod --reference=a b` takes the mode from a file and has none in front.
            let reference = usize::from(call.arguments.has("--reference"));
            each(
                call,
                fields.get(skip - reference.min(skip)..).unwrap_or_default(),
                TargetType::Path,
                access,
            );
        }
        Operands::SourceThenTarget(access) => {
            let into = call.arguments.value("-t --target-directory").map(str::to_owned);
            let (target, sources) = match (&into, fields.split_last()) {
                (None, Some((target, sources))) if !sources.is_empty() => (Some(target), sources),
                _ => (None, fields.as_slice()),
            };
            each(call, sources, TargetType::Path, access);
            if let Some(target) = target {
                call.aim(target, TargetType::Path, Access::Write);
            }
            if let Some(into) = into {
                call.aim_text(&into, TargetType::Directory, Access::Write);
            }
        }
        Operands::Packages => {
            for field in &fields {
                if field.dynamic {
                    call.name(TargetType::Unknown, &field.text);
                } else if matches!(&*field.text, "." | "..")
                    || field.text.starts_with("./")
                    || field.text.starts_with('/')
                {
                    call.aim(field, TargetType::Path, Access::Read);
                } else if paths::is_url(&field.text) {
                    call.name(TargetType::Url, &field.text);
                } else {
                    call.name(TargetType::Package, &field.text);
                }
            }
        }
        Operands::Urls => {
            for field in fields.iter().filter(|field| field.text.contains(['.', ':', '$'])) {
                let kind = if field.dynamic && !paths::is_url(&field.text) {
                    TargetType::Unknown
                } else {
                    TargetType::Url
                };
                call.name(kind, &field.text);
            }
        }
        Operands::Detail => {
            call.draft.detail = fields.first().map(|field| field.text.chars().take(120).collect());
        }
    }
}

/// Files or folders to be searched, tested or checked: a folder is looked through, a file is read.
fn each_read(call: &mut Call<'_, '_, '_>, fields: &[&Field<'_>]) {
    for field in fields {
        let access = if has_ending(&field.text) { Access::Read } else { Access::Look };
        call.aim(field, TargetType::Path, access);
    }
}

/// Returns `true` if a path has an ending: `a.rs` and `Dockerfile.dev` have one; `src`, `./...` and `.` have none.
fn has_ending(path: &str) -> bool {
    crate::path::base(path)
        .rsplit_once('.')
        .is_some_and(|(stem, ending)| !stem.is_empty() && !ending.is_empty() && !stem.ends_with('.'))
}

fn each(call: &mut Call<'_, '_, '_>, fields: &[&Field<'_>], expected: TargetType, access: Access) {
    for field in fields {
        call.aim(field, expected, access);
    }
}

/// Returns the effect of a program on the status, as far as its name decides it.
pub(crate) fn ends(operation: &str, name: &str) -> Ends {
    match (operation, name) {
        ("print", _) | (_, "true" | ":") => Ends::Well,
        (_, "false") => Ends::Badly,
        _ => Ends::Anyhow,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Collects names that stand in more than one row of a list: only one of the rows would ever be read.
    fn repeated(list: &[Tool], place: &str, wrong: &mut Vec<String>) {
        let mut seen: Vec<&str> = Vec::new();
        for tool in list {
            for name in tool.names.split_ascii_whitespace() {
                if seen.contains(&name) {
                    wrong.push(format!("{place} {name}"));
                }
                seen.push(name);
            }
            repeated(tool.subcommands, tool.names, wrong);
        }
    }

    #[test]
    fn no_program_has_two_rows() {
        let mut wrong = Vec::new();
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (family, tools) in FAMILIES.iter().enumerate() {
            repeated(tools, "", &mut wrong);
            for name in tools.iter().flat_map(|tool| tool.names.split_ascii_whitespace()) {
                if seen.insert(name, family).is_some_and(|other| other != family) {
                    wrong.push(name.to_owned());
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn options_in_tables_are_written_as_options() {
        fn check(tools: &[Tool], wrong: &mut Vec<String>) {
            for tool in tools {
                let lists = [tool.values, tool.directory, tool.outputs, tool.inputs];
                let cases = tool.cases.iter().map(|case| case.options);
                for option in lists.into_iter().chain(cases).flat_map(str::split_ascii_whitespace) {
                    if !option.starts_with('-') {
                        wrong.push(format!("{}: {option}", tool.names));
                    }
                }
                check(tool.subcommands, wrong);
            }
        }
        let mut wrong = Vec::new();
        FAMILIES.iter().for_each(|family| check(family, &mut wrong));
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
