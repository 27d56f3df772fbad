//! JavaScript: npm, pnpm, yarn, bun, deno and what they run.

use super::Call;
use super::scripts;
use super::table::{Operands, Tool, adds, asks, checks, installs, reads, runs, sends, tool, turns, writes};
use crate::draft::Access;
use crate::effect::Effects;
use crate::exposure::Opacity;
use crate::model::{Confidence, TargetType};

const NPM_VALUES: &str = "-w --workspace --prefix --registry --tag --loglevel --cache --userconfig --access --otp --omit \
    --include --filter -F --filter-prod --dir -C --cwd --reporter --mode --node-options --depth --store-dir --lockfile-dir";

pub(super) const TOOLS: &[Tool] = &[
    runs("npm", "run_command")
        .values(NPM_VALUES)
        .directory("--prefix")
        .subcommands(NPM)
        .reader(script_as_command),
    runs("pnpm", "run_command")
        .values("--filter -F --dir -C --reporter --loglevel")
        .directory("-C --dir")
        .subcommands(PNPM)
        .reader(script_as_command),
    runs("yarn yarnpkg", "run_command")
        .values("--cwd --mutex --registry")
        .directory("--cwd")
        .subcommands(YARN)
        .reader(script_as_command),
    runs("bun", "run_command")
        .values("--cwd --filter -F --preload -r --env-file")
        .directory("--cwd")
        .subcommands(BUN)
        .reader(script_as_command),
    runs("deno", "run_command").subcommands(DENO),
    runs("npx bunx pnpx", "run_command").reader(fetched_package),
    runs("turbo nx lerna rush moon wireit", "run_script")
        .values("--filter -F --scope --projects -p --target -t --parallel")
        .reader(monorepo),
    runs("corepack volta fnm nvm n nodenv", "run_command").reader(version_manager),
    checks("webpack rollup esbuild parcel swc babel tsup unbuild microbundle", "run_build")
        .values("-c --config --outfile --outdir -o --out-dir --mode"),
    runs(
        "vite next nuxt astro remix gatsby ng vue-cli-service react-scripts svelte-kit expo",
        "start_server",
    )
    .reader(framework),
    tool(
        "create-react-app create-next-app create-vite degit",
        "create_project",
        Effects::WRITE.and(Effects::NETWORK),
    )
    .operands(Operands::Detail),
    runs("pm2 forever nodemon serve http-server concurrently", "start_server"),
    runs("prisma", "query_database").reader(prisma),
    reads("size-limit depcheck knip madge npm-check npm-check-updates ncu", "inspect_project")
        .cases(&[adds("-u --upgrade", Effects::WRITE)]),
];

// `rum` and `urn` are aliases that npm itself defines.
const RUN: Tool = runs("run run-script rum urn", "run_script").reader(script);

const NPM: &[Tool] = &[
    RUN,
    checks("test t tst", "run_test").reader(workspace),
    runs("start stop restart", "start_server").reader(workspace),
    // Apart from `install`, because it takes no packages: it installs what the lock file says.
    tool("ci clean-install install-ci-test", "install_dependency", Effects::WRITE.and(Effects::NETWORK))
        .reader(workspace),
    installs("install i add in ins install-test it update up upgrade dedupe ddp").reader(workspace),
    writes("uninstall un remove rm r unlink prune", "remove_dependency").operands(Operands::Packages),
    tool("link rebuild rb", "install_dependency", Effects::WRITE),
    tool("publish", "publish", Effects::NETWORK),
    sends("unpublish deprecate dist-tag access owner team token login logout adduser", "publish"),
    checks("pack", "run_build"),
    writes("version", "change_config").operands(Operands::Detail),
    writes("init create innit", "create_project").operands(Operands::Detail),
    writes("pkg set", "change_config"),
    reads("config c", "inspect_config").reader(config),
    reads(
        "ls list ll la explain why query root prefix bin help doctor get fund sbom completion",
        "inspect_project",
    ),
    asks("view info show v outdated search ping whoami repo docs bugs", "inspect_package")
        .operands(Operands::Detail),
    checks("audit", "verify").reader(audit),
    writes("cache", "maintain"),
];

const PNPM: &[Tool] = &[
    RUN,
    checks("test t", "run_test").reader(workspace),
    runs("start", "start_server"),
    installs("install i add update up upgrade import fetch dedupe").reader(workspace),
    writes("remove rm uninstall un unlink prune", "remove_dependency").operands(Operands::Packages),
    tool("link rebuild rb", "install_dependency", Effects::WRITE),
    tool("publish", "publish", Effects::NETWORK),
    checks("pack deploy", "run_build"),
    writes("init create setup env store patch patch-commit", "change_config"),
    reads("ls list ll why root bin licenses config", "inspect_project"),
    asks("view info outdated", "inspect_package").operands(Operands::Detail),
    checks("audit", "verify"),
    runs("recursive multi", "run_script").reader(script),
];

const YARN: &[Tool] = &[
    RUN,
    checks("test", "run_test"),
    runs("start", "start_server"),
    installs("install add up upgrade upgrade-interactive global dedupe"),
    writes("remove unlink", "remove_dependency").operands(Operands::Packages),
    tool("link", "install_dependency", Effects::WRITE),
    tool("publish", "publish", Effects::NETWORK),
    checks("pack", "run_build"),
    writes("init create set version cache", "change_config"),
    reads("list why config bin dir licenses constraints", "inspect_project"),
    asks("info outdated", "inspect_package").operands(Operands::Detail),
    checks("audit", "verify"),
    runs("workspace", "run_script").reader(yarn_workspace),
    runs("workspaces", "run_script").reader(yarn_workspaces),
    tool("npm", "publish", Effects::NETWORK),
];

const BUN: &[Tool] = &[
    runs("run", "run_script").reader(bun_run),
    checks("test", "run_test").values("--timeout --preload -t --test-name-pattern --coverage-dir"),
    checks("build", "run_build").values("--outdir --outfile --target --format"),
    installs("install i add update upgrade a"),
    writes("remove rm", "remove_dependency").operands(Operands::Packages),
    tool("link patch", "install_dependency", Effects::WRITE),
    tool("publish", "publish", Effects::NETWORK),
    writes("init create", "create_project").operands(Operands::Detail),
    reads("pm outdated why", "inspect_project"),
    runs("repl", "open_session"),
];

const DENO: &[Tool] = &[
    checks("test bench", "run_test").operands(Operands::Paths(Access::Read)),
    checks("lint", "run_lint")
        .cases(&[adds("--fix", Effects::WRITE)])
        .operands(Operands::Paths(Access::Read)),
    checks("check", "run_lint").operands(Operands::Paths(Access::Read)),
    tool("fmt", "run_lint", Effects::CHECK.and(Effects::WRITE))
        .cases(&[turns("--check", "run_lint", Effects::CHECK)])
        .operands(Operands::Paths(Access::Read)),
    checks("compile bundle", "run_build"),
    runs("run serve", "execute_program").values("-c --config --import-map --env-file").reader(first_script),
    runs("task", "run_script").reader(script),
    runs("eval repl", "execute_code").confidence(Confidence::Low),
    installs("install add cache update"),
    writes("remove uninstall clean", "remove_dependency").operands(Operands::Packages),
    writes("init", "create_project"),
    tool("publish", "publish", Effects::NETWORK),
    reads("info doc types outdated", "inspect_project"),
    sends("upgrade", "install_dependency"),
];

/// Reads `-w name` and `--filter name`, which say which part of the workspace.
fn workspace(call: &mut Call<'_, '_, '_>) {
    let names: Vec<String> =
        call.arguments.values("-w --workspace --filter -F").map(|(name, _)| name.to_owned()).collect();
    for name in names {
        // `pnpm -w` takes no value: the next word is the script.
        if !name.starts_with('-') {
            call.name(TargetType::Workspace, &name);
        }
    }
}

/// Reads `npm run name`.
fn script(call: &mut Call<'_, '_, '_>) {
    workspace(call);
    match call.arguments.operand(0).map(str::to_owned) {
        Some(name) => named_script(call, &name),
        None => call.becomes("inspect_project", Effects::READ),
    }
}

fn named_script(call: &mut Call<'_, '_, '_>, name: &str) {
    scripts::apply(scripts::purpose(name), name, call.draft);
    call.draft.detail = Some(name.to_owned());
    call.draft.subcommand = match call.draft.subcommand.take() {
        Some(run) if run != name => Some(format!("{run} {name}").chars().take(64).collect()),
        _ => Some(name.to_owned()),
    };
    if call.arguments.operands.iter().any(|field| field.text == "--fix" || field.text == "--write")
        || call.arguments.has("--fix --write")
    {
        call.also(Effects::WRITE);
    }
}

/// Reads `pnpm lint`, `yarn build`: a word that is no subcommand is a script. Without a word they install.
fn script_as_command(call: &mut Call<'_, '_, '_>) {
    workspace(call);
    let Some(name) = call.arguments.operand(0).map(str::to_owned) else {
        let installs =
            matches!(call.draft.name.as_str(), "yarn" | "yarnpkg") && !call.arguments.has("--version -v");
        if installs {
            call.becomes("install_dependency", Effects::WRITE.and(Effects::NETWORK));
            call.draft.confidence = Confidence::High;
        }
        return;
    };
    // `bun index.ts` runs the file, `bun lint` the script of that name.
    if call.draft.name == "bun" && name.contains(['.', '/']) {
        first_script(call);
        return;
    }
    named_script(call, &name);
}

fn bun_run(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0).map(str::to_owned) {
        Some(name) if name.contains(['.', '/']) => first_script(call),
        _ => script(call),
    }
}

fn first_script(call: &mut Call<'_, '_, '_>) {
    call.becomes("execute_program", Effects::UNKNOWN);
    let Some(field) = call.arguments.operands.first().copied() else { return };
    if field.text.starts_with("npm:") || field.text.starts_with("jsr:") {
        call.name(TargetType::Package, &field.text);
        call.also(Effects::NETWORK);
    } else if super::paths::is_url(&field.text) {
        call.name(TargetType::Url, &field.text);
        // What the address returns is run at once, as `curl … | sh` would.
        call.also(Effects::NETWORK.and(Effects::REMOTE));
    } else {
        call.aim(field, TargetType::File, Access::Run);
        scripts::by_name(&field.text, call.draft);
        call.draft.opaque.add(Opacity::Script);
    }
}

fn yarn_workspace(call: &mut Call<'_, '_, '_>) {
    let words: Vec<String> =
        call.arguments.operands.iter().map(|field| field.text.clone().into_owned()).collect();
    if let Some(name) = words.first() {
        call.name(TargetType::Workspace, name);
    }
    by_words(call, words.get(1..).unwrap_or_default());
}

fn yarn_workspaces(call: &mut Call<'_, '_, '_>) {
    let words: Vec<String> =
        call.arguments.operands.iter().map(|field| field.text.clone().into_owned()).collect();
    if matches!(words.first().map(String::as_str), Some("foreach" | "run")) {
        by_words(call, words.get(1..).unwrap_or_default());
    } else {
        call.becomes("inspect_project", Effects::READ);
    }
}

fn by_words(call: &mut Call<'_, '_, '_>, words: &[String]) {
    let mut words = words.iter().map(String::as_str).filter(|word| *word != "run");
    match words.next() {
        Some("add" | "install" | "up" | "upgrade") => {
            call.becomes("install_dependency", Effects::WRITE.and(Effects::NETWORK));
            for package in words {
                call.name(TargetType::Package, package);
            }
        }
        Some("remove") => call.becomes("remove_dependency", Effects::WRITE),
        Some(name) => named_script(call, name),
        None => {}
    }
}

/// Reads a package that is fetched and run. It is not in the tables, and it comes from another machine.
fn fetched_package(call: &mut Call<'_, '_, '_>) {
    call.also(Effects::NETWORK);
}

fn monorepo(call: &mut Call<'_, '_, '_>) {
    workspace(call);
    let words: Vec<String> =
        call.arguments.operands.iter().map(|field| field.text.clone().into_owned()).collect();
    let mut names = words
        .iter()
        .map(String::as_str)
        .filter(|word| !matches!(*word, "run" | "run-many" | "affected" | "exec"));
    let target = call.arguments.value("-t --target --targets").map(str::to_owned);
    match target.or_else(|| names.next().map(str::to_owned)) {
        Some(name) if matches!(name.as_str(), "list" | "ls" | "graph" | "show" | "report" | "prune") => {
            call.becomes("inspect_project", Effects::READ);
        }
        Some(name) => {
            // `nx run app:build`: the project stands before the task.
            let name = name.rsplit(':').next().unwrap_or(&name).to_owned();
            named_script(call, &name);
        }
        None => {}
    }
}

fn version_manager(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        Some("install" | "prepare" | "up" | "enable") => {
            call.becomes("install_dependency", Effects::WRITE.and(Effects::NETWORK));
        }
        Some("list" | "ls" | "current" | "which" | "version") => {
            call.becomes("inspect_version", Effects::READ)
        }
        Some("use" | "default" | "alias" | "pin" | "local" | "global") => {
            call.becomes("change_config", Effects::WRITE)
        }
        _ => {}
    }
}

fn framework(call: &mut Call<'_, '_, '_>) {
    // Without one of these words they serve, which is what the row says: `vite`, `next dev`.
    match call.arguments.operand(0) {
        Some("build" | "export" | "generate") => call.becomes("run_build", Effects::CHECK),
        Some("test" | "e2e") => call.becomes("run_test", Effects::CHECK),
        Some("lint") => call.becomes("run_lint", Effects::CHECK),
        Some("check" | "sync") => call.becomes("run_lint", Effects::CHECK),
        Some("info" | "telemetry" | "version") => call.becomes("inspect_version", Effects::READ),
        Some("add" | "install") => call.becomes("install_dependency", Effects::WRITE.and(Effects::NETWORK)),
        _ => {}
    }
}

fn prisma(call: &mut Call<'_, '_, '_>) {
    let words = (call.arguments.operand(0), call.arguments.operand(1));
    match words {
        (Some("generate" | "format" | "init"), _) => call.becomes("generate", Effects::WRITE),
        (Some("validate"), _) => call.becomes("verify", Effects::CHECK),
        (Some("migrate"), Some("reset")) => call.becomes("query_database", Effects::DESTROY),
        (Some("migrate"), Some("status" | "diff")) => call.becomes("query_database", Effects::READ),
        (Some("migrate" | "db"), _) => call.becomes("query_database", Effects::WRITE),
        _ => {}
    }
    // `db push` with one of these drops data without asking.
    if call.arguments.has("--force-reset --accept-data-loss") {
        call.also(Effects::DESTROY);
    }
}

fn config(call: &mut Call<'_, '_, '_>) {
    if matches!(call.arguments.operand(0), Some("set" | "delete" | "rm" | "edit" | "fix")) {
        call.becomes("change_config", Effects::WRITE);
    }
}

fn audit(call: &mut Call<'_, '_, '_>) {
    // The list of dependencies is sent to the registry, which answers with what is known about them.
    call.also(Effects::NETWORK);
    if call.arguments.operand(0) == Some("fix") {
        call.becomes("install_dependency", Effects::WRITE.and(Effects::NETWORK));
    }
}
