//! Build drivers and task runners: make, just, cmake, ninja and their like.

use super::Call;
use super::scripts::{self, Purpose};
use super::table::{Operands, Tool, checks, reads, runs, tool, turns, writes};
use crate::draft::Access;
use crate::effect::Effects;
use crate::exposure::Opacity;
use crate::model::{Confidence, TargetType};

pub(super) const TOOLS: &[Tool] = &[
    checks("make gmake bmake", "run_build")
        .values("-C --directory -f --file --makefile -j --jobs -I -o -W -l --load-average")
        .directory("-C --directory")
        .reader(make),
    runs("just task mage mask tusk", "run_script")
        .values("-f --justfile -d --working-directory --dir -t --taskfile --set")
        .directory("-d --working-directory --dir")
        .reader(just),
    runs("mise rtx", "run_script").values("-C --cd").directory("-C --cd").reader(mise),
    checks("ninja samu", "run_build").values("-C -j -f -k -l -d -t").directory("-C").reader(ninja),
    checks("cmake", "run_build")
        .values("-S -B -G -D --preset --target -t --config --install --prefix -j --parallel -P -E")
        .reader(cmake),
    checks("ctest", "run_test")
        .values("-R -E -L -j -C --test-dir --output-on-failure --timeout -T")
        .directory("--test-dir"),
    checks("meson scons waf xmake premake5 tup redo", "run_build")
        .values("-C -j")
        .directory("-C")
        .reader(meson),
    checks("autoreconf autoconf automake aclocal libtoolize", "run_build"),
    checks("configure", "run_build"),
    checks("earthly dagger nix-build", "run_build"),
    runs("nix", "run_command").subcommands(&[
        checks("build", "run_build"),
        checks("flake", "verify").reader(flake),
        tool("fmt", "run_lint", Effects::CHECK.and(Effects::WRITE)),
        reads("eval show-config search path-info log why-depends", "inspect_project"),
        runs("run develop shell", "execute_program"),
        tool("profile", "install_dependency", Effects::WRITE.and(Effects::NETWORK)),
        tool("store-gc", "maintain", Effects::DESTROY),
    ]),
    tool("nix-env nix-channel", "install_dependency", Effects::WRITE.and(Effects::NETWORK)),
    tool("nix-collect-garbage", "maintain", Effects::DESTROY),
    runs("nix-shell", "open_session"),
    tool("act", "verify", Effects::CHECK),
    tool("skaffold tilt garden devspace", "deploy", Effects::WRITE.and(Effects::NETWORK)),
    writes("cookiecutter yeoman yo copier plop hygen", "create_project").operands(Operands::Detail),
    checks("pre-commit lefthook husky lint-staged", "run_lint")
        .cases(&[turns("--fix", "run_lint", Effects::CHECK.and(Effects::WRITE))])
        .reader(pre_commit),
];

fn make(call: &mut Call<'_, '_, '_>) {
    if let Some(file) = call.arguments.value("-f --file --makefile").map(str::to_owned) {
        call.aim_text(&file, TargetType::File, Access::Read);
        call.draft.opaque.add(Opacity::Task);
    }
    let targets: Vec<String> = call
        .arguments
        .operands
        .iter()
        .map(|field| field.text.clone().into_owned())
        .filter(|target| !target.contains('='))
        .collect();
    if call.arguments.has("-n --just-print --dry-run --recon -q --question -p --print-data-base") {
        call.becomes("inspect_project", Effects::READ);
        return;
    }
    if targets.is_empty() {
        return;
    }
    call.draft.subcommand = targets.first().cloned();
    // The most telling of several targets: `make clean test` tests.
    let best =
        targets.iter().map(|target| (rank(scripts::purpose(target)), target)).max_by_key(|(rank, _)| *rank);
    if let Some((_, target)) = best {
        apply_target(target, call);
    }
    // All of them run, also those that the title does not name.
    if targets.iter().any(|target| !names_a_check(target)) {
        call.draft.opaque.add(Opacity::Task);
    }
}

/// Returns `true` if the name of a target is that of a check or a build.
fn names_a_check(target: &str) -> bool {
    matches!(target, "all" | "world" | "check" | "distcheck")
        || target.ends_with(".o")
        || rank(scripts::purpose(target)) >= 5
}

const fn rank(purpose: Purpose) -> u8 {
    match purpose {
        Purpose::Test => 9,
        Purpose::Lint | Purpose::TypeCheck => 8,
        Purpose::Format => 7,
        Purpose::Build => 6,
        Purpose::Check => 5,
        Purpose::Publish => 4,
        Purpose::Install => 3,
        Purpose::Serve => 2,
        Purpose::Other => 1,
        Purpose::Clean => 0,
    }
}

fn apply_target(target: &str, call: &mut Call<'_, '_, '_>) {
    let purpose = match target {
        // By convention `check` runs the tests and `all` builds.
        "check" | "distcheck" => Purpose::Test,
        "all" | "world" => Purpose::Build,
        other => scripts::purpose(other),
    };
    call.draft.effects = Effects::UNKNOWN;
    if target == "install" {
        // Copies what was built into the system.
        call.becomes("copy_file", Effects::WRITE);
        call.draft.opaque.add(Opacity::Task);
        call.draft.at_most(Confidence::Medium);
        return;
    }
    let is_file = target.contains('/')
        || target
            .rsplit_once('.')
            .is_some_and(|(_, ending)| matches!(ending, "o" | "a" | "so" | "out" | "pdf" | "html"));
    if purpose == Purpose::Other && is_file {
        call.becomes("run_build", Effects::CHECK);
        return;
    }
    scripts::apply(purpose, target, call.draft);
    call.draft.detail = Some(target.to_owned());
}

fn just(call: &mut Call<'_, '_, '_>) {
    if call.arguments.has("-l --list --show --summary --dump --evaluate --variables -a --list-all") {
        call.becomes("inspect_project", Effects::READ);
        return;
    }
    if call.arguments.has("--fmt") {
        call.becomes("run_lint", Effects::CHECK.and(Effects::WRITE));
        return;
    }
    let recipe = call
        .arguments
        .operands
        .iter()
        .map(|field| field.text.clone().into_owned())
        .find(|word| !word.contains('='));
    if let Some(recipe) = recipe {
        call.draft.subcommand = Some(recipe.clone());
        apply_target(&recipe, call);
    }
}

fn mise(call: &mut Call<'_, '_, '_>) {
    let second = call.arguments.operand(1).map(str::to_owned);
    match call.arguments.operand(0) {
        Some("run" | "r") => {
            if let Some(task) = second {
                apply_target(&task, call);
            }
        }
        Some("install" | "i" | "use" | "u" | "upgrade" | "up" | "plugins") => {
            call.becomes("install_dependency", Effects::WRITE.and(Effects::NETWORK));
            if let Some(name) = second {
                call.name(TargetType::Package, &name);
            }
        }
        Some(
            "ls" | "list" | "current" | "env" | "which" | "doctor" | "tasks" | "where" | "outdated"
            | "config",
        ) => {
            call.becomes("inspect_version", Effects::READ);
        }
        Some("trust" | "set" | "unset" | "settings") => call.becomes("change_config", Effects::WRITE),
        _ => {}
    }
}

fn ninja(call: &mut Call<'_, '_, '_>) {
    if call.arguments.has("-n -t") {
        call.becomes("inspect_project", Effects::READ);
        return;
    }
    if let Some(target) = call.arguments.operand(0).map(str::to_owned)
        && scripts::purpose(&target) != Purpose::Other
    {
        apply_target(&target, call);
    }
}

fn cmake(call: &mut Call<'_, '_, '_>) {
    if call.arguments.has("--install") {
        call.becomes("copy_file", Effects::WRITE);
    } else if call.arguments.has("-E") {
        call.becomes("run_command", Effects::UNKNOWN);
        call.draft.at_most(Confidence::Medium);
    } else if let Some(target) = call.arguments.value("--target -t").map(str::to_owned)
        && scripts::purpose(&target) != Purpose::Other
    {
        apply_target(&target, call);
    }
}

fn meson(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        Some("test") => call.becomes("run_test", Effects::CHECK),
        Some("install") => call.becomes("copy_file", Effects::WRITE),
        Some("introspect" | "--version") => call.becomes("inspect_project", Effects::READ),
        _ => {}
    }
}

fn flake(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        Some("update" | "lock") => call.becomes("install_dependency", Effects::WRITE.and(Effects::NETWORK)),
        Some("show" | "metadata" | "info") => call.becomes("inspect_project", Effects::READ),
        Some("init" | "new") => call.becomes("create_project", Effects::WRITE),
        _ => {}
    }
}

fn pre_commit(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        Some("install" | "uninstall" | "add" | "init") => call.becomes("change_config", Effects::WRITE),
        Some("autoupdate") => call.becomes("install_dependency", Effects::WRITE.and(Effects::NETWORK)),
        _ => {}
    }
}
