//! Python: pip, uv, poetry and the modules that are run as programs.

use super::Call;
use super::scripts;
use super::table::{Operands, Tool, asks, checks, installs, reads, runs, sends, tool, turns, writes};
use crate::draft::Access;
use crate::effect::Effects;
use crate::model::{Confidence, TargetType};

const PIP_VALUES: &str = "-r --requirement -c --constraint -e --editable -t --target -i --index-url --extra-index-url \
    --prefix --root --python -p --platform --python-version --proxy --cache-dir --find-links -f -d --dest --group";

// `uv pip` takes the same words as `pip`, so both share these rows.
const PIP: &[Tool] = &[
    installs("install download wheel sync").values(PIP_VALUES).reader(requirements),
    writes("uninstall", "remove_dependency").values("-r --requirement").operands(Operands::Packages),
    reads("list freeze show check inspect config debug cache hash tree", "inspect_package")
        .operands(Operands::Detail),
    asks("index search", "inspect_package").operands(Operands::Detail),
    tool("compile", "install_dependency", Effects::WRITE.and(Effects::NETWORK))
        .values("-o --output-file")
        .outputs("-o --output-file"),
];

pub(super) const TOOLS: &[Tool] = &[
    runs("pip pip3 pip3.10 pip3.11 pip3.12 pip3.13", "run_command")
        .values("--python --proxy --cache-dir")
        .subcommands(PIP),
    runs("uv", "run_command")
        .values("--directory --project --python -p --config-file --cache-dir")
        .directory("--directory --project")
        .subcommands(&[
            runs("pip", "run_command").subcommands(PIP),
            installs("add")
                .values("--group --extra --index --tag --branch --rev -r --requirements --optional"),
            tool("sync lock", "install_dependency", Effects::WRITE.and(Effects::NETWORK))
                .values("--group --extra --package"),
            writes("remove", "remove_dependency").values("--group").operands(Operands::Packages),
            writes("venv", "create_environment")
                .values("--prompt")
                .operands(Operands::Directories(Access::Write)),
            writes("init", "create_project").operands(Operands::Directories(Access::Write)),
            checks("build", "run_build"),
            tool("publish", "publish", Effects::NETWORK),
            reads("tree version export help", "inspect_project"),
            reads("cache", "maintain"),
            sends("python tool self", "install_dependency").reader(uv_part),
            tool("format", "run_lint", Effects::CHECK.and(Effects::WRITE)),
            runs("run", "execute_program").reader(module),
        ]),
    runs("poetry pdm rye hatch", "run_command")
        .values("-C --directory -P --project -p")
        .directory("-C --directory")
        .subcommands(&[
            installs("add").values("-G --group --source --extras -E --optional --python"),
            tool("install sync lock update self", "install_dependency", Effects::WRITE.and(Effects::NETWORK))
                .values("--with --without --only -E --extras"),
            writes("remove", "remove_dependency").values("-G --group").operands(Operands::Packages),
            checks("build", "run_build"),
            checks("check test", "verify").reader(hatch_test),
            tool("fmt lint", "run_lint", Effects::CHECK.and(Effects::WRITE)),
            tool("publish", "publish", Effects::NETWORK),
            writes("new init version config env shell", "change_config").reader(poetry_reads),
            reads("show search about export list info", "inspect_project"),
            runs("run", "run_script").reader(task),
        ]),
    runs("pipenv", "run_command").subcommands(&[
        installs("install update sync lock"),
        writes("uninstall", "remove_dependency").operands(Operands::Packages),
        reads("graph check verify requirements", "inspect_project"),
        runs("shell", "open_session"),
    ]),
    installs("pipx").reader(pipx),
    runs("conda mamba micromamba pixi", "run_command")
        .values("-n --name -p --prefix -c --channel -f --file")
        .subcommands(&[
            installs("install create update upgrade add"),
            writes("remove uninstall", "remove_dependency").operands(Operands::Packages),
            reads("list info search env config", "inspect_package"),
            tool("activate deactivate init", "set_option", Effects::NEUTRAL),
            runs("run task", "run_script").reader(task),
        ]),
    installs("pip-sync pip-compile easy_install"),
    writes("venv virtualenv", "create_environment")
        .values("-p --python --prompt")
        .operands(Operands::Directories(Access::Write)),
    reads("json.tool", "transform").operands(Operands::Files(Access::Read)),
    runs("http.server SimpleHTTPServer", "start_server"),
    checks("py_compile compileall", "run_build").operands(Operands::Paths(Access::Read)),
    // Modules behind `python -m` among others: `./build` is a program of the project and not this one.
    checks("build setup.py flit cibuildwheel", "run_build").builtin(),
    tool("twine", "publish", Effects::NETWORK),
    runs("timeit cProfile pdb trace profile", "execute_program").operands(Operands::Files(Access::Run)),
    reads("site sysconfig pydoc tokenize dis calendar this", "inspect_version").builtin(),
    reads("zipfile tarfile", "list")
        .cases(&[turns("-e --extract -c --create", "unpack", Effects::WRITE)])
        .operands(Operands::Paths(Access::Write))
        .builtin(),
    // It brings its own copy of pip along: nothing is fetched.
    tool("ensurepip", "install_dependency", Effects::WRITE),
    runs("jupyter ipython streamlit gunicorn uvicorn hypercorn fastapi flask celery", "start_server")
        .reader(server),
    runs("alembic", "query_database").reader(alembic),
    runs("django-admin", "run_command"),
    runs("ansible ansible-playbook fab", "deploy").reader(ansible),
    runs("invoke inv doit pyinvoke", "run_script").reader(task),
];

fn requirements(call: &mut Call<'_, '_, '_>) {
    let files: Vec<String> = call
        .arguments
        .values("-r --requirement -c --constraint -e --editable")
        .map(|(file, _)| file.to_owned())
        .collect();
    for file in files {
        // `.[dev]` is the folder with some of its extras.
        let path = file.split('[').next().unwrap_or_default();
        call.aim_text(path, TargetType::Path, Access::Read);
    }
}

fn uv_part(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        Some("list" | "find" | "dir") => call.becomes("inspect_version", Effects::READ),
        Some("uninstall") => call.becomes("remove_dependency", Effects::WRITE),
        Some("pin" | "update-shell") => call.becomes("change_config", Effects::WRITE),
        _ => {}
    }
    for field in call.arguments.operands.get(1..).unwrap_or_default().to_vec() {
        call.name(TargetType::Package, &field.text);
    }
}

fn module(call: &mut Call<'_, '_, '_>) {
    if let Some(field) = call.arguments.operands.first().copied() {
        call.aim(field, TargetType::File, Access::Run);
    }
}

fn hatch_test(call: &mut Call<'_, '_, '_>) {
    if call.draft.subcommand.as_deref() == Some("test") {
        call.draft.operation = "run_test";
    }
}

fn poetry_reads(call: &mut Call<'_, '_, '_>) {
    // These words show a value, and set it where one is given.
    let reads = match call.draft.subcommand.as_deref() {
        Some("version") => call.arguments.operands.is_empty(),
        Some("config") => call.arguments.has("--list") || call.arguments.operands.len() < 2,
        Some("env") => matches!(call.arguments.operand(0), Some("list" | "info")),
        _ => false,
    };
    if reads {
        call.becomes("inspect_project", Effects::READ);
    }
}

fn task(call: &mut Call<'_, '_, '_>) {
    if let Some(name) = call.arguments.operand(0).map(str::to_owned) {
        scripts::apply(scripts::purpose(&name), &name, call.draft);
        call.draft.detail = Some(name);
    }
}

fn pipx(call: &mut Call<'_, '_, '_>) {
    let words = call.arguments.operands.clone();
    // The row of `installs` has taken the subcommand for a package.
    call.draft.aims.clear();
    match words.first().map(|field| &*field.text) {
        Some("list" | "environment") => call.becomes("inspect_package", Effects::READ),
        Some("uninstall" | "uninstall-all") => call.becomes("remove_dependency", Effects::WRITE),
        _ => {}
    }
    for field in words.get(1..).unwrap_or_default() {
        call.name(TargetType::Package, &field.text);
    }
}

fn server(call: &mut Call<'_, '_, '_>) {
    if call.draft.name == "jupyter" && call.arguments.operand(0) == Some("nbconvert") {
        call.becomes("generate", Effects::WRITE);
    }
}

fn alembic(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        Some("history" | "current" | "heads" | "show" | "branches" | "check") => {
            call.becomes("query_database", Effects::READ);
        }
        Some("downgrade") => call.becomes("query_database", Effects::DESTROY),
        Some("upgrade" | "stamp") => call.becomes("query_database", Effects::WRITE),
        Some("revision" | "init" | "merge") => call.becomes("generate", Effects::WRITE),
        _ => {}
    }
}

fn ansible(call: &mut Call<'_, '_, '_>) {
    if call.arguments.has("--check --syntax-check --list-tasks --list-hosts -C") {
        call.becomes("verify", Effects::CHECK.and(Effects::NETWORK));
        return;
    }
    // A playbook runs on the hosts of its inventory: both are files, and the line shows no host and no command.
    call.becomes("deploy", Effects::REMOTE.and(Effects::WRITE).and(Effects::NETWORK));
    call.draft.opaque.add(crate::exposure::Opacity::Elsewhere);
    call.draft.at_most(Confidence::Medium);
}
