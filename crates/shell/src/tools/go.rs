//! Go.

use super::Call;
use super::table::{Operands, Tool, adds, checks, installs, reads, runs, tool, turns, writes};
use crate::draft::Access;
use crate::effect::Effects;
use crate::model::TargetType;

const BUILD_VALUES: &str = "-o -C -tags -ldflags -gcflags -mod -p -run -bench -count -timeout -cover -coverprofile \
    -coverpkg -cpu -parallel -exec -json -buildmode -modfile -benchtime -fuzz -fuzztime -vet -args";

pub(super) const TOOLS: &[Tool] = &[
    runs("go", "run_command").subcommands(&[
        checks("test", "run_test")
            .one_dash()
            .values(BUILD_VALUES)
            .directory("-C")
            .outputs("-coverprofile -o")
            .operands(Operands::Paths(Access::Read)),
        checks("build", "run_build")
            .one_dash()
            .values(BUILD_VALUES)
            .directory("-C")
            .outputs("-o")
            .operands(Operands::Paths(Access::Read)),
        checks("vet", "run_lint").one_dash().values(BUILD_VALUES).operands(Operands::Paths(Access::Read)),
        tool("fmt fix", "run_lint", Effects::CHECK.and(Effects::WRITE))
            .one_dash()
            .operands(Operands::Paths(Access::Write)),
        runs("run", "execute_program").one_dash().values(BUILD_VALUES).reader(run),
        installs("get install").one_dash().values(BUILD_VALUES),
        tool("mod", "install_dependency", Effects::WRITE.and(Effects::NETWORK)).one_dash().reader(module),
        tool("work", "change_config", Effects::WRITE).one_dash(),
        runs("generate", "generate").one_dash(),
        reads("list env version doc help bug", "inspect_project")
            .one_dash()
            .values("-f -m")
            .cases(&[adds("-w -u", Effects::WRITE)]),
        // What it deletes can be made again.
        writes("clean", "clean").one_dash(),
        runs("tool", "run_command").one_dash(),
    ]),
    checks("gofmt gofumpt goimports", "run_lint")
        .values("-r -local")
        .cases(&[
            adds("-w", Effects::WRITE),
            turns("-l", "run_lint", Effects::CHECK),
            // Once more, because `-l` sets the effects anew: `gofmt -l -w` lists and writes.
            adds("-w", Effects::WRITE),
        ])
        .operands(Operands::Paths(Access::Read))
        .reader(gofmt),
    checks("golangci-lint", "run_lint")
        .values("-c --config -E -D --timeout --out-format")
        .cases(&[adds("--fix", Effects::WRITE)]),
    checks("staticcheck govulncheck revive errcheck golint gosec ineffassign", "run_lint"),
    checks("gotestsum ginkgo richgo", "run_test"),
    tool("mockgen stringer protoc buf sqlc wire", "generate", Effects::WRITE).reader(buf),
    runs("air dlv", "start_server"),
    checks("goreleaser", "run_build"),
];

fn run(call: &mut Call<'_, '_, '_>) {
    if let Some(field) = call.arguments.operands.first().copied() {
        let kind = if field.text.ends_with(".go") { TargetType::File } else { TargetType::Path };
        call.aim(field, kind, Access::Run);
    }
}

fn module(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        Some("init" | "edit") => call.becomes("change_config", Effects::WRITE),
        Some("graph" | "why") => call.becomes("inspect_project", Effects::READ),
        Some("verify") => call.becomes("verify", Effects::CHECK),
        _ => {}
    }
}

fn gofmt(call: &mut Call<'_, '_, '_>) {
    if call.arguments.has("-w") {
        for aim in &mut call.draft.aims {
            aim.access = Access::Write;
        }
    }
}

fn buf(call: &mut Call<'_, '_, '_>) {
    if call.draft.name == "buf" && matches!(call.arguments.operand(0), Some("lint" | "breaking" | "build")) {
        call.becomes("run_lint", Effects::CHECK);
    }
}
