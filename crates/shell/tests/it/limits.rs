//! Every limit of the reader ends in "not understood".
//!
//! A limit is a constant in the source. The table names all of them, found by looking into the source itself, and says
//! for each how a command reaches it, or why reaching it hides nothing from a rule.

use std::collections::BTreeSet;
use std::path::Path;

use agent_tracer_shell::{Context, Opacity, describe};

/// The way to reach a limit, or the reason why it hides nothing.
enum Limit {
    /// By this command: it must not count as understood.
    Reached(fn() -> String),
    /// It only cuts what people read.
    Shown(&'static str),
}

use Limit::{Reached, Shown};

const LIMITS: &[(&str, Limit)] = &[
    ("lib::MAX_COMMAND", Reached(|| format!("# {}\nrm -rf x", "x".repeat(1 << 20)))),
    ("lib::MAX_CHECKS", Shown("lists checks for a criterion at an end; fewer prove less")),
    ("title::MAX_TITLE", Shown("a title")),
    ("title::MAX_QUOTE", Shown("a title")),
    ("draft::MAX_SHOWN", Shown("a title")),
    ("draft::MAX_VALUE", Reached(|| format!("cat {}/../../.env", "a/".repeat(1024)))),
    ("draft::MAX_TARGETS", Reached(|| format!("cat {}", names(101)))),
    (
        "draft::MAX_WRAPPERS",
        Reached(|| "nice nohup setsid stdbuf -o0 env command time unbuffer chronic sudo ls".to_owned()),
    ),
    ("files::MAX_PATHS", Shown("the files of the timeline; rules read what a step reaches")),
    ("files::MAX_LENGTH", Shown("the files of the timeline; rules read what a step reaches")),
    ("path::MAX_PLACE", Reached(|| format!("cd {}; cat x", "a/".repeat(600)))),
    ("decode::MAX_TEXT", Reached(|| format!("echo {} | base64 -d | sh", "YQ==".repeat(5000)))),
    ("walk::MAX_LISTED", Reached(|| "ls; ".repeat(300))),
    ("walk::MAX_SCRIPTS", Reached(|| format!("{}rm -rf x", "eval ".repeat(8)))),
    ("walk::MAX_LEVEL", Reached(|| format!("{}cat{}", "find . -exec ".repeat(40), " {} ;".repeat(40)))),
    ("walk::MAX_MADE", Reached(|| format!("touch {}; node_modules/.bin/jest", names(70)))),
    (
        "walk::simple::MAX_DOWNLOADS",
        Reached(|| (0..40).map(|n| format!("curl -o f{n} https://h.example/{n}; ")).collect()),
    ),
    ("walk::lists::MAX_PIPED_TEXT", Reached(|| format!("echo {} | sh", "a".repeat(17 * 1024)))),
    ("walk::commands::MAX_FUNCTIONS", Reached(|| (0..70).map(|n| format!("f{n}() {{ ls; }}; ")).collect())),
    ("walk::redirects::MAX_DOCUMENT", Reached(|| format!("sh <<'E'\n{}\nE", "true\n".repeat(4000)))),
    ("walk::redirects::MAX_WRITTEN", Reached(|| (0..20).map(|n| format!("echo x > f{n}; ")).collect())),
    (
        "walk::argument_commands::MAX_FOUND",
        Reached(|| format!("awk '{}'", "BEGIN{system(\"ls\")}".repeat(9))),
    ),
    (
        "walk::argument_commands::MAX_SCRIPT",
        Reached(|| format!("tar xf a --to-command='ls {}'", "a ".repeat(3000))),
    ),
    (
        "walk::environment::MAX_NAMED",
        Reached(|| (0..70).map(|n| format!("V{n}=1; ")).collect::<String>() + "ls"),
    ),
    ("walk::scripts::MAX_ALIASES", Reached(|| (0..20).map(|n| format!("alias a{n}=ls; ")).collect())),
    ("walk::invoke::MAX_LISTED_INPUT", Reached(|| format!("echo {} | xargs cat", "a ".repeat(1024)))),
    ("syntax::MAX_DEPTH", Reached(|| format!("{}ls{}", "( ".repeat(30), " )".repeat(30)))),
    ("words::variables::MAX_VALUE", Reached(|| format!("X={}; $X", "a".repeat(300)))),
    (
        "words::variables::MAX_ENTRIES",
        Reached(|| (0..70).map(|_| "V=1; ".to_owned()).collect::<String>() + "ls"),
    ),
    ("words::variables::MAX_ALTERNATIVES", Reached(|| format!("for f in {}; do cat $f; done", names(20)))),
    ("words::brace::MAX_WORD", Reached(|| format!("git push {{--force,{}}}", "x".repeat(600)))),
    ("words::brace::MAX_RESULTS", Reached(|| "git push {1..80}".to_owned())),
    ("words::expand::MAX_GROWN", Reached(|| format!("X={}; cat {}", "a".repeat(250), "$X/".repeat(30)))),
    ("words::literal::MAX_OUTPUT", Reached(|| format!("$(echo {})", "a".repeat(17 * 1024)))),
    ("words::literal::MAX_DEPTH", Reached(|| format!("{}ls{}", "$(echo ".repeat(7), ")".repeat(7)))),
];

fn names(count: usize) -> String {
    (0..count).map(|number| format!("n{number} ")).collect()
}

/// Every `const MAX_…` of the source, by module.
fn limits_in(folder: &Path, module: &str, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the source") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let inner = if stem == "mod" { module.to_owned() } else { format!("{module}::{stem}") };
        if path.is_dir() {
            limits_in(&path, &inner, found);
            continue;
        }
        for line in std::fs::read_to_string(&path).expect("source").lines() {
            let line = line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
            if let Some(rest) = line.strip_prefix("const MAX_") {
                let name = rest.split(':').next().expect("a name");
                found.insert(format!("{inner}::MAX_{name}").trim_start_matches("::").to_owned());
            }
        }
    }
}

#[test]
fn every_limit_of_the_source_is_in_the_table() {
    let mut found = BTreeSet::new();
    limits_in(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), "", &mut found);
    let known: BTreeSet<String> = LIMITS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(known, found);
}

#[test]
fn what_reaches_a_limit_is_not_understood() {
    for (name, limit) in LIMITS {
        match limit {
            Reached(command) => {
                let call = describe(&command(), &Context::default());
                assert!(!call.exposure.is_understood(), "{name}");
            }
            Shown(why) => assert!(!why.is_empty(), "{name}"),
        }
    }
}

#[test]
fn any_number_of_wrappers_is_unwrapped() {
    for wrapper in
        ["env ", "command ", "nice ", "nohup ", "timeout 9 ", "env -u A ", "sudo -u b ", "xargs ", "setsid "]
    {
        for count in [1, 16, 17, 100, 5_000] {
            let call = describe(&format!("{}rm -rf x", wrapper.repeat(count)), &Context::default());
            let step = call.analysis.steps.first().expect("a step");
            assert_eq!((step.command_name.as_str(), step.recursive), ("rm", true), "{wrapper} {count}");
        }
    }
}

#[test]
fn pipes_comments_and_newlines_hide_nothing() {
    for count in [10, 1_000, 5_000] {
        for command in [
            format!("{}rm -rf x", "cat | ".repeat(count)),
            format!("{}rm -rf x", "\n".repeat(count)),
            format!("{}rm -rf x", "true; ".repeat(count)),
            format!("# {}\nrm -rf x", "x".repeat(count)),
        ] {
            let call = describe(&command, &Context::default());
            assert_eq!(call.analysis.overall_effect.as_str(), "destructive", "{}", command.len());
            let listed = call.analysis.steps.iter().any(|step| {
                step.command_name == "rm"
                    || step.pipeline.iter().flatten().any(|member| member.command_name == "rm")
            });
            assert!(listed || call.exposure.opacity.contains(&Opacity::Limit));
        }
    }
}
