//! Other languages, each with the few words its tools share: Ruby, PHP, .NET, Swift, Dart, Elixir, Haskell, C.

use super::Call;
use super::scripts;
use super::table::{Operands, Tool, adds, asks, checks, installs, reads, runs, sends, tool, turns, writes};
use crate::draft::Access;
use crate::effect::Effects;

pub(super) const TOOLS: &[Tool] = &[
    runs("gem", "run_command").subcommands(&[
        installs("install update fetch").values("-v --version"),
        writes("uninstall cleanup", "remove_dependency").operands(Operands::Packages),
        reads("list info which environment contents dependency", "inspect_package"),
        asks("search outdated query", "inspect_package"),
        checks("build", "run_build"),
        tool("push yank", "publish", Effects::NETWORK),
    ]),
    installs("bundle bundler").subcommands(&[
        tool("install update lock cache", "install_dependency", Effects::WRITE.and(Effects::NETWORK)),
        installs("add"),
        writes("remove clean", "remove_dependency").operands(Operands::Packages),
        reads("list show info check outdated config platform doctor", "inspect_project"),
    ]),
    runs("rake rails", "run_script").reader(rails),
    runs("composer", "run_command")
        .values("-d --working-dir")
        .directory("-d --working-dir")
        .subcommands(&[
            installs("require"),
            tool("install update dump-autoload", "install_dependency", Effects::WRITE.and(Effects::NETWORK)),
            writes("remove", "remove_dependency").operands(Operands::Packages),
            installs("global create-project"),
            reads("show info depends why licenses status diagnose", "inspect_project"),
            asks("outdated search", "inspect_package"),
            checks("validate audit", "verify"),
            runs("run run-script exec", "run_script").reader(task),
        ])
        .reader(task),
    runs("dotnet", "run_command").subcommands(&[
        checks("test vstest", "run_test")
            .values("--filter -c --configuration -f --framework -l --logger -s --settings")
            .operands(Operands::Paths(Access::Read)),
        // `publish` puts the build into a folder of this machine; `nuget push` sends it away.
        checks("build msbuild publish pack", "run_build")
            .values("-c --configuration -f --framework -o --output -r --runtime")
            .operands(Operands::Paths(Access::Read)),
        tool("format", "run_lint", Effects::CHECK.and(Effects::WRITE)).cases(&[turns(
            "--verify-no-changes",
            "run_lint",
            Effects::CHECK,
        )]),
        runs("run watch", "execute_program").values("--project -c --configuration"),
        tool("restore", "install_dependency", Effects::WRITE.and(Effects::NETWORK)),
        sends("add tool workload", "install_dependency"),
        writes("remove clean new sln", "change_config"),
        reads("list --info --list-sdks --list-runtimes --version", "inspect_version"),
        sends("nuget", "publish"),
        runs("ef", "query_database"),
    ]),
    checks("msbuild xbuild", "run_build"),
    runs("swift", "execute_program").subcommands(&[
        checks("test", "run_test"),
        checks("build", "run_build").values("-c --configuration --product --target"),
        runs("run", "execute_program"),
        tool("package", "install_dependency", Effects::WRITE.and(Effects::NETWORK)),
    ]),
    // Long options with one dash: read letter by letter, `-scheme` would be six options.
    checks("xcodebuild", "run_build")
        .one_dash()
        .values("-scheme -project -workspace -destination -configuration -sdk -derivedDataPath")
        .reader(xcode),
    runs("xcrun simctl", "run_command"),
    checks("swiftlint swiftformat", "run_lint").cases(&[adds("--fix --autocorrect", Effects::WRITE)]),
    installs("pod carthage").reader(pod),
    runs("dart flutter", "run_command").subcommands(&[
        checks("test drive", "run_test"),
        checks("analyze", "run_lint"),
        tool("format fix", "run_lint", Effects::CHECK.and(Effects::WRITE)),
        checks("build compile", "run_build"),
        runs("run", "execute_program"),
        sends("pub", "install_dependency"),
        reads("doctor devices --version info", "inspect_version"),
        writes("create clean", "create_project"),
    ]),
    runs("mix", "run_script").subcommands(&[
        checks("test", "run_test"),
        checks("compile", "run_build"),
        tool("format", "run_lint", Effects::CHECK.and(Effects::WRITE)).cases(&[turns(
            "--check-formatted",
            "run_lint",
            Effects::CHECK,
        )]),
        checks("credo dialyzer", "run_lint"),
        tool(
            "deps.get deps.update local.hex local.rebar archive.install",
            "install_dependency",
            Effects::WRITE.and(Effects::NETWORK),
        ),
        writes("ecto.migrate ecto.create ecto.setup", "query_database"),
        tool("ecto.drop ecto.reset", "query_database", Effects::DESTROY),
        reads("help deps hex.info phx.routes", "inspect_project"),
    ]),
    runs("rebar3 lein clj stack cabal dune opam zig nim crystal", "run_command").reader(words),
    checks("ghc ghci ocamlc ocamlopt gfortran fpc", "run_build"),
    checks("hlint ormolu fourmolu", "run_lint"),
    checks("gcc g++ cc c++ clang clang++ tcc nasm as ld ar nvcc emcc musl-gcc", "run_build")
        .values("-o -I -L -l -D -std -x -include -isystem -MF -MT -Xlinker -T")
        .outputs("-o")
        .operands(Operands::Files(Access::Read)),
    reads("nm objdump readelf ldd otool size addr2line c++filt", "read_file")
        .operands(Operands::Files(Access::Read)),
    // They change the file in place where no other is named.
    writes("strip objcopy ranlib patchelf install_name_tool codesign", "modify_file")
        .operands(Operands::Files(Access::Write)),
    tool(
        "latex pdflatex xelatex lualatex latexmk tectonic typst mdbook hugo jekyll mkdocs sphinx-build",
        "run_build",
        Effects::CHECK,
    ),
    tool("convert magick wkhtmltopdf", "generate", Effects::WRITE)
        .one_dash()
        .operands(Operands::SourceThenTarget(Access::Read)),
    // Its inputs stand behind `-i`; a bare word is a file that it writes.
    tool("ffmpeg", "generate", Effects::WRITE)
        .values(
            "-i -f -c -vf -af -r -s -t -ss -to -b -q -crf -map -filter_complex -loglevel -preset -pix_fmt",
        )
        .one_dash()
        .inputs("-i")
        .operands(Operands::Files(Access::Write)),
    tool("gs dot plantuml mmdc qrencode", "generate", Effects::WRITE)
        .values("-o -i -T -K")
        .one_dash()
        .inputs("-i")
        .outputs("-o"),
    tool("pdftk", "generate", Effects::WRITE),
    reads("identify ffprobe exiftool pdftotext pdfinfo mediainfo", "read_file")
        .operands(Operands::Files(Access::Read)),
];

fn task(call: &mut Call<'_, '_, '_>) {
    let name = call
        .arguments
        .operands
        .iter()
        .map(|field| field.text.clone().into_owned())
        .find(|word| word != "exec");
    let Some(name) = name else { return };
    match name.as_str() {
        "run" => call.becomes("execute_program", Effects::UNKNOWN),
        "deps" | "update" | "install" | "fetch" => {
            call.becomes("install_dependency", Effects::WRITE.and(Effects::NETWORK));
        }
        "list" | "info" | "version" | "env" => call.becomes("inspect_project", Effects::READ),
        _ => scripts::apply(scripts::purpose(&name), &name, call.draft),
    }
    call.draft.detail = Some(name.clone());
    call.draft.subcommand.get_or_insert(name);
}

/// Reads `zig build test`: the most telling of the words counts.
fn words(call: &mut Call<'_, '_, '_>) {
    if call.arguments.operands.iter().any(|field| scripts::purpose(&field.text) == scripts::Purpose::Test) {
        call.becomes("run_test", Effects::CHECK);
        call.draft.subcommand = call.arguments.operand(0).map(str::to_owned);
    } else {
        task(call);
    }
}

fn rails(call: &mut Call<'_, '_, '_>) {
    let Some(name) = call.arguments.operand(0).map(str::to_owned) else { return };
    call.draft.detail = Some(name.clone());
    match name.as_str() {
        "db:migrate" | "db:seed" | "db:setup" | "db:create" | "db:schema:load" => {
            call.becomes("query_database", Effects::WRITE)
        }
        // A rollback runs a migration backwards, which drops the columns and tables that it had made.
        "db:drop" | "db:reset" | "db:rollback" | "db:purge" | "db:migrate:reset" => {
            call.becomes("query_database", Effects::DESTROY);
        }
        "db:migrate:status" | "routes" | "about" | "stats" | "notes" | "-T" => {
            call.becomes("inspect_project", Effects::READ);
        }
        "generate" | "g" | "new" | "destroy" | "d" => call.becomes("generate", Effects::WRITE),
        "server" | "s" => call.becomes("start_server", Effects::UNKNOWN),
        "console" | "c" | "runner" | "r" => call.becomes("execute_code", Effects::UNKNOWN),
        _ => scripts::apply(scripts::purpose(&name), &name, call.draft),
    }
}

fn xcode(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        Some("test" | "test-without-building") => call.becomes("run_test", Effects::CHECK),
        Some("clean") => call.becomes("clean", Effects::WRITE),
        Some("analyze") => call.becomes("run_lint", Effects::CHECK),
        _ if call.arguments.has("-list -version -showsdks -showBuildSettings") => {
            call.becomes("inspect_project", Effects::READ);
        }
        _ => {}
    }
}

fn pod(call: &mut Call<'_, '_, '_>) {
    // The row of `installs` has taken the subcommand for a package.
    call.draft.aims.clear();
    if matches!(call.arguments.operand(0), Some("list" | "search" | "outdated" | "env")) {
        call.becomes("inspect_package", Effects::READ);
    }
}
