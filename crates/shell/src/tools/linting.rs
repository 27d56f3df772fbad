//! Linters, formatters and type checkers. Those that fix also write; that is part of what they say.

use super::Call;
use super::table::{Operands, Tool, adds, checks, tool, turns};
use crate::draft::Access;
use crate::effect::Effects;

const PATHS: Operands = Operands::Paths(Access::Read);
// For formatters that rewrite what they are given unless an option makes them only check.
const FORMATS: Effects = Effects::CHECK.and(Effects::WRITE);

pub(super) const TOOLS: &[Tool] = &[
    checks("eslint oxlint xo standard tslint jshint", "run_lint")
        .values("-c --config --ext --ignore-path --ignore-pattern --format -f --max-warnings --rule --parser --plugin --cache-location -o --output-file --rulesdir --resolve-plugins-relative-to")
        .outputs("-o --output-file")
        .cases(&[adds("--fix --fix-type", Effects::WRITE)])
        .operands(PATHS)
        .reader(fixes),
    checks("stylelint htmlhint markdownlint markdownlint-cli2 remark textlint commitlint cspell alex vale", "run_lint")
        .values("-c --config -f --formatter -i --ignore -p")
        .cases(&[adds("--fix -o --output", Effects::WRITE)])
        .operands(PATHS)
        .reader(fixes),
    // Without `--write` it prints the result and leaves the file alone.
    checks("prettier", "run_lint")
        .values("--config --ignore-path --parser --plugin --log-level --tab-width --print-width")
        .cases(&[adds("-w --write", Effects::WRITE)])
        .operands(PATHS)
        .reader(fixes),
    checks("biome dprint rome", "run_lint")
        .values("--config-path -c --config --reporter --max-diagnostics")
        .cases(&[adds("--write --apply --apply-unsafe --fix", Effects::WRITE)])
        .reader(biome),
    checks("ruff", "run_lint")
        .values("--config --select --ignore --extend-select --exclude --output-format --target-version --line-length --cache-dir")
        .cases(&[adds("--fix --fix-only --unsafe-fixes --add-noqa", Effects::WRITE)])
        .reader(ruff),
    tool("black isort autopep8 yapf autoflake pyupgrade docformatter blue", "run_lint", Effects::CHECK)
        .values("-l --line-length -t --target-version --config --exclude --include --extend-exclude --profile --sp -c --code")
        .operands(PATHS)
        .reader(python_formatter),
    checks("flake8 pylint pydocstyle pycodestyle pyflakes bandit vulture radon xenon interrogate deptry safety pip-audit", "run_lint")
        .values("--config --max-line-length --select --ignore --exclude --rcfile --disable --enable -r -f -o")
        .operands(PATHS),
    checks("mypy pyright basedpyright pytype pyre ty pyrefly", "run_lint")
        .values("--config-file -p --project -m --module --python-version --cache-dir --pythonversion")
        .operands(PATHS),
    checks("tsc vue-tsc svelte-check tsd attw flow glint", "run_build")
        .values("-p --project --outDir --target -t --module -m --lib --tsBuildInfoFile --rootDir --tsconfig")
        .reader(typescript),
    checks("shellcheck", "run_lint").values("-e -i -s -f -S -W --exclude --shell --format --severity -P").operands(PATHS),
    checks("shfmt", "run_lint")
        .values("-i -ln -bn -sr")
        .cases(&[adds("-w --write", Effects::WRITE)])
        .operands(PATHS)
        .reader(fixes),
    checks("hadolint yamllint actionlint jsonlint ajv spectral tflint tfsec checkov kubeval kubeconform kube-linter trivy grype snyk gitleaks trufflehog detect-secrets", "run_lint")
        .values("-c --config -f --format -o --output --severity -d --config-file")
        .reader(scanner),
    checks("rubocop standardrb reek brakeman", "run_lint")
        .values("-c --config -f --format -o --out --only --except")
        .cases(&[adds("-a -A --autocorrect --autocorrect-all --auto-correct --fix", Effects::WRITE)])
        .operands(PATHS)
        .reader(fixes),
    checks("phpstan psalm phpcs phan phpmd", "run_lint").values("-c --configuration -l --level --standard --memory-limit"),
    tool("php-cs-fixer phpcbf pint rector", "run_lint", FORMATS).cases(&[turns("--dry-run --test", "run_lint", Effects::CHECK)]),
    checks("clang-tidy cppcheck cpplint include-what-you-use scan-build infer", "run_lint")
        .values("-p --checks --config -I -D --enable --suppress")
        .cases(&[adds("--fix -fix --fix-errors", Effects::WRITE)])
        .operands(PATHS),
    tool("clang-format astyle uncrustify", "run_lint", Effects::CHECK)
        .values("--style -style --assume-filename")
        .cases(&[adds("-i", Effects::WRITE)])
        .operands(PATHS)
        .reader(fixes),
    tool("taplo stylua nixfmt alejandra nixpkgs-fmt buildifier google-java-format ktfmt scalafmt elm-format purs-tidy dfmt csharpier sqlfluff sql-formatter pgformatter pg_format xmlformat tidy djlint mdformat", "run_lint", FORMATS)
        .cases(&[turns("--check -check --dry-run --test", "run_lint", Effects::CHECK)])
        .reader(subcommand),
    checks("dialyzer credo sobelow elvis", "run_lint"),
    checks("editorconfig-checker ec lychee muffet linkchecker proselint codespell typos ls-lint", "run_lint")
        .cases(&[adds("-w --write-changes -i", Effects::WRITE)]),
    checks("bundlesize lighthouse pa11y axe", "verify"),
];

/// Adds the writing of files if a fix is asked for.
fn fixes(call: &mut Call<'_, '_, '_>) {
    // Rules about files read the targets and not the effects: a fix must appear in both.
    if call.draft.effects.has(crate::effect::Effect::Write) {
        for aim in call.draft.aims.iter_mut().filter(|aim| aim.access == Access::Read) {
            aim.access = Access::Write;
        }
    }
}

fn biome(call: &mut Call<'_, '_, '_>) {
    let fields = call.arguments.operands.clone();
    call.draft.subcommand = fields.first().map(|field| field.text.clone().into_owned());
    let command = fields.first().map(|field| &*field.text).unwrap_or_default();
    // `dprint fmt` rewrites by itself; `biome format` does so only with `--write`.
    if command == "fmt" {
        call.also(Effects::WRITE);
    }
    super::each_read(call, fields.get(1..).unwrap_or_default());
    fixes(call);
}

fn ruff(call: &mut Call<'_, '_, '_>) {
    let fields = call.arguments.operands.clone();
    let command = fields.first().map(|field| &*field.text).unwrap_or_default();
    // Earlier versions had no subcommand: in `ruff --fix src` the first word is a path.
    let known = matches!(
        command,
        "check" | "format" | "rule" | "config" | "linter" | "clean" | "version" | "analyze"
    );
    if known {
        call.draft.subcommand = Some(command.to_owned());
    }
    match command {
        "format" if !call.arguments.has("--check --diff") => call.also(Effects::WRITE),
        "rule" | "config" | "linter" | "version" => call.becomes("inspect_version", Effects::READ),
        "clean" => call.becomes("clean", Effects::WRITE),
        _ => {}
    }
    super::each_read(call, fields.get(usize::from(known)..).unwrap_or_default());
    fixes(call);
}

/// Reads a formatter that rewrites by default: only a check leaves the files alone.
fn python_formatter(call: &mut Call<'_, '_, '_>) {
    let in_place_by_default = matches!(call.draft.name.as_str(), "black" | "isort" | "pyupgrade" | "blue");
    // `-c` checks for isort and takes code as text for black: neither writes a file.
    let looks_only = call.arguments.has("--check --diff -c --check-only --check-diff");
    let asked = call.arguments.has("-i --in-place");
    if (in_place_by_default || asked) && !looks_only {
        call.also(Effects::WRITE);
    }
    fixes(call);
}

/// Reads a compiler call: emitting is building, only looking at the types is checking.
fn typescript(call: &mut Call<'_, '_, '_>) {
    if call.arguments.has("--showConfig --listFilesOnly -v --version --init") {
        let makes = call.arguments.has("--init");
        call.becomes("inspect_project", if makes { Effects::WRITE } else { Effects::READ });
    } else if call.arguments.has("--noEmit") || call.draft.name != "tsc" {
        call.draft.operation = "run_lint";
    }
    for field in call.arguments.operands.clone() {
        // `--strict false`: the value of a switch is no file.
        if field.text != "false" && field.text != "true" {
            call.aim(field, crate::model::TargetType::File, Access::Read);
        }
    }
}

fn scanner(call: &mut Call<'_, '_, '_>) {
    // Without this list `trivy fs .` would read a file named `fs`.
    let subcommands = [
        "fs",
        "image",
        "config",
        "dir",
        "detect",
        "protect",
        "filesystem",
        "git",
        "test",
        "scan",
        "lint",
        "validate",
        "repo",
        "k8s",
    ];
    for field in call.arguments.operands.clone() {
        if !subcommands.contains(&&*field.text) {
            call.aim(field, crate::model::TargetType::Path, Access::Read);
        }
    }
}

fn subcommand(call: &mut Call<'_, '_, '_>) {
    if matches!(call.arguments.operand(0), Some("lint" | "check")) {
        call.becomes("run_lint", Effects::CHECK);
    }
}
