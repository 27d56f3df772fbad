//! Rust: cargo, rustc, rustup and their plugins.

use super::Call;
use super::table::{Operands, Tool, adds, asks, checks, installs, reads, runs, sends, tool, turns, writes};
use crate::draft::Access;
use crate::effect::Effects;
use crate::model::TargetType;

const CARGO_VALUES: &str = "-p --package --manifest-path --target --target-dir --features -F --profile -j --jobs --bin \
    --example --test --bench --exclude --color --message-format --config -Z -C --registry --index --lockfile-path";

pub(super) const TOOLS: &[Tool] = &[
    runs("cargo", "run_command").values(CARGO_VALUES).directory("-C").subcommands(CARGO),
    tool("cross", "run_command", Effects::UNKNOWN).values(CARGO_VALUES).subcommands(CARGO),
    checks("rustc", "run_build")
        .values("-o --edition --crate-type --crate-name --emit -L -l --target -C --out-dir --cfg")
        .outputs("-o")
        .reader(rustc),
    checks("rustfmt", "run_lint").values("--edition --config --config-path --emit").reader(rustfmt),
    reads("rustup", "inspect_version").subcommands(&[
        sends("install update self", "install_dependency").operands(Operands::Packages),
        sends("toolchain component target", "install_dependency").reader(rustup_part),
        writes("default override set", "change_config").operands(Operands::Detail),
        reads("show which check doc", "inspect_version"),
    ]),
    checks("wasm-pack trunk maturin", "run_build").subcommands(&[
        checks("test", "run_test"),
        checks("build develop", "run_build"),
        runs("serve", "start_server"),
        tool("publish", "publish", Effects::NETWORK),
    ]),
    checks("bindgen cbindgen", "generate")
        .values("-o --output")
        .outputs("-o --output")
        .cases(&[adds("-o --output", Effects::WRITE)]),
];

const CARGO: &[Tool] = &[
    checks("test t nextest", "run_test").values("--test-threads -E --filter-expr --retries").reader(members),
    checks("bench criterion", "run_test").reader(members),
    checks("miri", "run_test").reader(members),
    checks("build b rustc", "run_build").reader(members),
    checks("check c", "run_build").reader(members),
    checks("doc rustdoc", "run_build").reader(members),
    checks("clippy", "run_lint").cases(&[adds("--fix", Effects::WRITE)]).reader(members),
    tool("fmt", "run_lint", Effects::CHECK.and(Effects::WRITE)).cases(&[turns("--check", "run_lint", Effects::CHECK)]).reader(fmt),
    tool("fix", "run_lint", Effects::CHECK.and(Effects::WRITE)).reader(members),
    checks("deny audit machete udeps outdated hack semver-checks msrv", "verify"),
    checks("llvm-cov tarpaulin mutants insta", "run_test").reader(members),
    runs("run r", "execute_program").values("--bin --example").reader(run),
    sends("add", "install_dependency")
        .values("--features -F --rename --git --branch --tag --rev --path --registry --target")
        .operands(Operands::Packages),
    writes("remove rm", "remove_dependency").operands(Operands::Packages),
    installs("install binstall").values("--version --git --branch --tag --rev --path --root --index --registry --bin"),
    writes("uninstall", "remove_dependency").operands(Operands::Packages),
    sends("update upgrade", "install_dependency").values("--precise").operands(Operands::Packages),
    tool("fetch vendor generate-lockfile", "install_dependency", Effects::NETWORK.and(Effects::WRITE)),
    writes("new init", "create_project").values("--name --edition --vcs").operands(Operands::Directories(Access::Write)),
    // What it deletes can be built again.
    writes("clean", "clean").reader(members),
    tool("publish", "publish", Effects::NETWORK),
    sends("yank owner login logout", "publish"),
    checks("package", "run_build"),
    reads("metadata tree pkgid locate-project verify-project version help config read-manifest expand asm bloat", "inspect_project").reader(members),
    asks("search info", "inspect_package").operands(Operands::Detail),
    runs("watch", "run_command").values("-x -w -i -s").reader(watch),
    runs("xtask make", "run_script").operands(Operands::Detail),
];

/// Reads `-p name` and `--manifest-path`, which say which part of the workspace.
fn members(call: &mut Call<'_, '_, '_>) {
    let packages: Vec<String> =
        call.arguments.values("-p --package").map(|(name, _)| name.to_owned()).collect();
    for package in packages {
        call.name(TargetType::Workspace, &package);
    }
    if let Some(manifest) = call.arguments.value("--manifest-path").map(str::to_owned) {
        call.aim_text(&manifest, TargetType::File, Access::Look);
    }
    if call.arguments.has("--no-run") && call.draft.operation == "run_test" {
        call.draft.operation = "run_build";
    }
    if matches!(call.draft.subcommand.as_deref(), Some("nextest"))
        && matches!(call.arguments.operand(0), Some("list"))
    {
        call.becomes("inspect_project", Effects::CHECK);
    }
}

/// Reads `cargo watch -x 'test --lib'`, which runs that subcommand again and again.
fn watch(call: &mut Call<'_, '_, '_>) {
    let command = call.arguments.value("-x").and_then(|command| command.split_whitespace().next());
    match command {
        Some("test" | "t" | "nextest") => call.becomes("run_test", Effects::CHECK),
        Some("clippy") => call.becomes("run_lint", Effects::CHECK),
        Some("check" | "c" | "build" | "b") | None => call.becomes("run_build", Effects::CHECK),
        Some(_) => {}
    }
}

fn fmt(call: &mut Call<'_, '_, '_>) {
    // `cargo fmt -- --check`.
    if call.arguments.operands.iter().any(|field| field.text == "--check") {
        call.becomes("run_lint", Effects::CHECK);
    }
    members(call);
}

fn run(call: &mut Call<'_, '_, '_>) {
    let program = call.arguments.value("--bin --example -p --package").map(str::to_owned);
    if let Some(program) = program {
        call.name(TargetType::Workspace, &program);
    } else {
        call.aim_text(".", TargetType::Directory, Access::Run);
    }
}

fn rustc(call: &mut Call<'_, '_, '_>) {
    if call.arguments.has("--print --explain") {
        call.becomes("inspect_version", Effects::READ);
    }
    for field in call.arguments.operands.clone() {
        call.aim(field, TargetType::File, Access::Read);
    }
}

fn rustfmt(call: &mut Call<'_, '_, '_>) {
    let check = call.arguments.has("--check");
    if !check {
        call.also(Effects::WRITE);
    }
    for field in call.arguments.operands.clone() {
        call.aim(field, TargetType::File, if check { Access::Read } else { Access::Write });
    }
}

fn rustup_part(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        Some("list") => call.becomes("inspect_version", Effects::READ),
        Some("remove" | "uninstall") => call.becomes("remove_dependency", Effects::WRITE),
        _ => {}
    }
    for field in call.arguments.operands.get(1..).unwrap_or_default().to_vec() {
        call.name(TargetType::Package, &field.text);
    }
}
