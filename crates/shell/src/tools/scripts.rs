//! Scripts and tasks of a project, recognised by their names.
//!
//! The effects of `npm run ci` cannot be known without the project. Most names are honest, though: the purpose comes
//! from the name, and the lower confidence says that it was only a name.

use crate::draft::Draft;
use crate::effect::Effects;
use crate::exposure::Opacity;
use crate::model::Confidence;
use crate::path::base;

/// The purpose of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Test,
    Lint,
    TypeCheck,
    Format,
    Build,
    Check,
    Install,
    Clean,
    Publish,
    Serve,
    Other,
}

/// Returns the purpose of a script by the words in its name.
pub(crate) fn purpose(name: &str) -> Purpose {
    let lower = name.to_ascii_lowercase();
    let mut words: Vec<&str> = Vec::new();
    let mut start = 0;
    for (position, byte) in lower.bytes().enumerate() {
        // Bytes of longer characters belong to their word: a cut inside one would leave no text on either side.
        if !byte.is_ascii_alphanumeric() && byte < 0x80 {
            words.push(lower.get(start..position).unwrap_or_default());
            start = position + 1;
        }
    }
    words.push(lower.get(start..).unwrap_or_default());
    let any = |known: &[&str]| words.iter().any(|word| known.contains(word));
    let joined = words.concat();
    // The telling word wins over the general one: `check-types`, `format:check` and `build:ci` hold a word of `Check`
    // too, which therefore comes late.
    if any(&["typecheck", "types", "tsc", "typing", "mypy", "pyright"])
        || joined.contains("typecheck")
        || joined.contains("checktypes")
    {
        return Purpose::TypeCheck;
    }
    if any(&[
        "test",
        "tests",
        "spec",
        "specs",
        "e2e",
        "unittest",
        "unit",
        "integration",
        "coverage",
        "cov",
        "jest",
        "vitest",
        "pytest",
        "cypress",
        "playwright",
    ]) || words.iter().any(|word| {
        (word.starts_with("test") || word.ends_with("test") || word.ends_with("tests"))
            && !matches!(*word, "latest" | "contest" | "attest" | "testbed" | "testdata")
    }) {
        return Purpose::Test;
    }
    if any(&["lint", "linter", "linting", "eslint", "stylelint", "clippy", "ruff", "vet"])
        || words.iter().any(|word| word.starts_with("lint"))
    {
        return Purpose::Lint;
    }
    if any(&["format", "fmt", "prettier", "formatting", "style"]) {
        return Purpose::Format;
    }
    if any(&["build", "compile", "bundle", "dist", "rebuild", "webpack", "prebuild"])
        || words.iter().any(|word| word.starts_with("build"))
    {
        return Purpose::Build;
    }
    if any(&["check", "checks", "verify", "validate", "ci", "audit", "precommit"]) {
        return Purpose::Check;
    }
    if any(&["install", "bootstrap", "deps", "dependencies", "setup"]) {
        return Purpose::Install;
    }
    if any(&["clean", "clobber", "distclean", "reset"]) {
        return Purpose::Clean;
    }
    if any(&["deploy", "publish", "release", "ship", "upload"]) {
        return Purpose::Publish;
    }
    if any(&["start", "serve", "dev", "server", "watch", "preview", "storybook", "develop"]) {
        return Purpose::Serve;
    }
    Purpose::Other
}

/// Sets what a script does, by its name.
pub(crate) fn apply(purpose: Purpose, name: &str, draft: &mut Draft) {
    let lower = name.to_ascii_lowercase();
    let fixes = lower.contains("fix") || lower.contains("write");
    let (operation, effects, confidence) = match purpose {
        Purpose::Test => ("run_test", Effects::CHECK, Confidence::High),
        Purpose::Lint | Purpose::TypeCheck => (
            "run_lint",
            if fixes { Effects::CHECK.and(Effects::WRITE) } else { Effects::CHECK },
            Confidence::High,
        ),
        Purpose::Format => {
            let only_checks = lower.contains("check");
            (
                "run_lint",
                if only_checks { Effects::CHECK } else { Effects::CHECK.and(Effects::WRITE) },
                Confidence::High,
            )
        }
        Purpose::Build => ("run_build", Effects::CHECK, Confidence::High),
        Purpose::Check => ("verify", Effects::CHECK, Confidence::Medium),
        Purpose::Install => ("install_dependency", Effects::WRITE.and(Effects::NETWORK), Confidence::Medium),
        // What a clean target deletes can be made again.
        Purpose::Clean => ("clean", Effects::WRITE, Confidence::Medium),
        Purpose::Publish => ("publish", Effects::NETWORK.and(Effects::UNKNOWN), Confidence::Medium),
        Purpose::Serve => ("start_server", Effects::UNKNOWN, Confidence::Medium),
        Purpose::Other => ("run_script", Effects::UNKNOWN, Confidence::Medium),
    };
    draft.operation = operation;
    draft.effects = draft.effects.without(Effects::UNKNOWN).and(effects);
    draft.confidence = confidence;
    match purpose {
        Purpose::Test
        | Purpose::Lint
        | Purpose::TypeCheck
        | Purpose::Format
        | Purpose::Build
        | Purpose::Check => {}
        Purpose::Install | Purpose::Clean | Purpose::Publish | Purpose::Serve | Purpose::Other => {
            draft.opaque.add(Opacity::Task);
        }
    }
}

/// Reads a script by its file: its name is a weaker sign than that of a task, but checks are worth finding.
pub(crate) fn by_name(path: &str, draft: &mut Draft) {
    let name = base(path);
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let purpose = purpose(stem);
    // Only the meaning profits: the callers add `Opacity::Script`, because the file runs, whatever it is called.
    if matches!(purpose, Purpose::Test | Purpose::Lint | Purpose::TypeCheck | Purpose::Build) {
        apply(purpose, stem, draft);
        draft.at_most(Confidence::Medium);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_scripts_are_for() {
        for (name, expected) in [
            ("test", Purpose::Test),
            ("test:unit", Purpose::Test),
            ("e2e", Purpose::Test),
            ("unittests", Purpose::Test),
            ("latest", Purpose::Other),
            ("lint:fix", Purpose::Lint),
            ("typecheck", Purpose::TypeCheck),
            ("type-check", Purpose::TypeCheck),
            ("check-types", Purpose::TypeCheck),
            ("format:check", Purpose::Format),
            ("build:prod", Purpose::Build),
            ("ci", Purpose::Check),
            ("dev", Purpose::Serve),
            ("migrate", Purpose::Other),
            ("größe", Purpose::Other),
            ("", Purpose::Other),
        ] {
            assert_eq!(purpose(name), expected, "{name}");
        }
    }
}
