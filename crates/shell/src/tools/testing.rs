//! Test runners.

use super::Call;
use super::table::{Operands, Tool, adds, checks, runs, turns};
use crate::draft::Access;
use crate::effect::Effects;

const PATHS: Operands = Operands::Paths(Access::Read);
const PYTEST_VALUES: &str = "-k -m -n --maxfail -p -c --rootdir --cov --cov-report --durations --tb -o --junitxml --timeout \
    --ignore --deselect -W --log-level --log-cli-level --dist --numprocesses --reruns --color --capture -r";
const JEST_VALUES: &str = "-c --config -t --testNamePattern --testPathPattern --maxWorkers -w --reporters --coverageDirectory \
    --project --reporter --environment --outputFile --pool --shard --root --dir --bail --testTimeout --hookTimeout \
    --grep -g --timeout --workers --retries --browser -j --spec -s --env --headed-mode -R --require -r";

pub(super) const TOOLS: &[Tool] = &[
    checks("pytest py.test", "run_test")
        .values(PYTEST_VALUES)
        .outputs("--junitxml")
        .cases(&[turns("--collect-only --co --fixtures --markers", "inspect_project", Effects::READ)])
        .operands(PATHS)
        .reader(node_ids),
    checks("unittest nose nose2 doctest ward behave robot lettuce", "run_test").values("-s -p -t -k"),
    checks("tox nox", "run_test").values("-e -c -s --session -f -p").cases(&[turns(
        "-l --list -a --listenvs --showconfig",
        "inspect_project",
        Effects::READ,
    )]),
    checks("coverage", "run_test").reader(coverage),
    checks(
        "vitest jest mocha ava jasmine karma tap uvu tape c8 nyc web-test-runner wtr testcafe",
        "run_test",
    )
    .values(JEST_VALUES)
    .cases(&[
        turns("--listTests --list --showConfig", "inspect_project", Effects::READ),
        // Rewrites the snapshots that the tests are compared with.
        adds("-u --updateSnapshot --update", Effects::WRITE),
    ])
    .operands(PATHS)
    .reader(subcommand_words),
    checks("playwright", "run_test").values(JEST_VALUES).reader(playwright),
    checks("cypress", "run_test").values(JEST_VALUES).reader(cypress),
    checks("detox maestro appium newman k6 locust artillery autocannon wrk ab hey vegeta", "run_test")
        .values("-c -n -t -d -e -s --config"),
    checks("rspec minitest cucumber", "run_test")
        .values("-f --format -o --out -t --tag -e --example -r --require")
        .operands(PATHS),
    checks("phpunit pest paratest codecept infection", "run_test")
        .values("-c --configuration --filter --testsuite --group --bootstrap")
        .operands(PATHS),
    checks("bats shellspec shunit2 lit FileCheck", "run_test")
        .values("-f --filter -j --jobs -F --formatter")
        .operands(PATHS),
    checks("nextest", "run_test"),
    checks("busted prove hspec", "run_test").operands(PATHS),
    runs("storybook chromatic", "start_server"),
];

/// Reads `tests/test_a.py::TestX::test_y`, which names a test in a file.
fn node_ids(call: &mut Call<'_, '_, '_>) {
    for aim in &mut call.draft.aims {
        if let Some((file, _)) = aim.value.split_once("::") {
            aim.value = file.to_owned();
        }
    }
}

/// Reads the words of `vitest run`, `jest` and so on, which are not paths.
fn subcommand_words(call: &mut Call<'_, '_, '_>) {
    call.draft.aims.retain(|aim| {
        !matches!(aim.value.as_str(), "run" | "watch" | "bench" | "dev" | "related" | "list" | "start")
    });
    if call.arguments.operand(0) == Some("list") {
        call.becomes("inspect_project", Effects::READ);
    }
    // `nyc mocha`, `c8 node test.js`: the words behind are a command.
    if matches!(call.draft.name.as_str(), "nyc" | "c8") {
        call.draft.aims.clear();
    }
}

fn playwright(call: &mut Call<'_, '_, '_>) {
    let fields = call.arguments.operands.clone();
    call.draft.subcommand = fields.first().map(|field| field.text.clone().into_owned());
    match fields.first().map(|field| &*field.text) {
        Some("install" | "install-deps") => {
            call.becomes("install_dependency", Effects::WRITE.and(Effects::NETWORK))
        }
        Some("codegen" | "open" | "show-report" | "show-trace") => {
            call.becomes("open_program", Effects::READ)
        }
        _ => {
            for field in fields.get(1..).unwrap_or_default() {
                call.aim(field, crate::model::TargetType::Path, Access::Read);
            }
        }
    }
    if call.arguments.has("--list") {
        call.becomes("inspect_project", Effects::READ);
    }
}

fn cypress(call: &mut Call<'_, '_, '_>) {
    call.draft.subcommand = call.arguments.operand(0).map(str::to_owned);
    match call.arguments.operand(0) {
        Some("install") => call.becomes("install_dependency", Effects::WRITE.and(Effects::NETWORK)),
        Some("open") => call.becomes("open_program", Effects::READ),
        Some("verify" | "info" | "version" | "cache") => call.becomes("inspect_version", Effects::READ),
        _ => {}
    }
}

fn coverage(call: &mut Call<'_, '_, '_>) {
    if matches!(
        call.arguments.operand(0),
        Some("report" | "annotate" | "debug" | "json" | "xml" | "html" | "combine" | "erase")
    ) {
        // Those two print; the other words make or delete files.
        let writes = !matches!(call.arguments.operand(0), Some("report" | "debug"));
        call.becomes(
            "inspect_project",
            if writes { Effects::READ.and(Effects::WRITE) } else { Effects::READ },
        );
    }
}
