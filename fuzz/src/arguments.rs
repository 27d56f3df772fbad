//! The command line: `<target|all> [--runs N] [--seconds S] [--seed S] [--corpus DIR]... [--save DIR] [--replay FILE]`.

use std::path::PathBuf;
use std::time::Duration;

use crate::harness::Plan;
use crate::targets::{ALL, Target, find};

/// Runs per target if neither runs nor seconds are named.
const RUNS_DEFAULT: u64 = 100_000;

/// Holds the command.
#[derive(Debug)]
pub struct Arguments {
    /// Targets, in order.
    pub targets: Vec<&'static Target>,
    /// For how long, each of them.
    pub plan: Plan,
    /// Folders or files with real inputs.
    pub corpus: Vec<PathBuf>,
    /// Folder for failing inputs.
    pub save: PathBuf,
    /// A saved input to try again, and nothing else.
    pub replay: Option<PathBuf>,
}

/// Reads the words after the program's name; the error is for the user.
pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Arguments, String> {
    let mut words = words.into_iter();
    let mut plan = Plan { runs: None, time: None, seed: 1, patience: Duration::from_secs(30) };
    let mut arguments = Arguments {
        targets: Vec::new(),
        plan: plan.clone(),
        corpus: Vec::new(),
        save: "target/fuzz".into(),
        replay: None,
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value\n{}", usage()));
        match word.as_str() {
            "--runs" => plan.runs = Some(number(&word, &value()?)?),
            "--seconds" => plan.time = Some(Duration::from_secs(number(&word, &value()?)?)),
            "--seed" => plan.seed = number(&word, &value()?)?,
            "--corpus" => arguments.corpus.push(value()?.into()),
            "--replay" => arguments.replay = Some(value()?.into()),
            "--save" => arguments.save = value()?.into(),
            "all" => arguments.targets.extend(ALL),
            name => match find(name) {
                Some(target) => arguments.targets.push(target),
                None => return Err(format!("no target or option is called `{name}`\n{}", usage())),
            },
        }
    }
    if arguments.targets.is_empty() {
        return Err(format!("no target was named\n{}", usage()));
    }
    if plan.runs.is_none() && plan.time.is_none() {
        plan.runs = Some(RUNS_DEFAULT);
    }
    arguments.plan = plan;
    Ok(arguments)
}

fn number(option: &str, value: &str) -> Result<u64, String> {
    value.parse().map_err(|_| format!("`{option}` needs a whole number, not `{value}`\n{}", usage()))
}

fn usage() -> String {
    let names: Vec<&str> = ALL.iter().map(|target| target.name).collect();
    format!(
        "usage: agent-tracer-fuzz <target|all> [--runs N] [--seconds S] [--seed S] [--corpus DIR]... [--save DIR] [--replay FILE]\n\
         hint: the targets are {}",
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Arguments, String> {
        parse(words.iter().map(ToString::to_string))
    }

    #[test]
    fn all_means_every_target_and_a_bounded_number_of_runs() {
        let arguments = parsed(&["all"]).unwrap();
        assert_eq!(arguments.targets.len(), ALL.len());
        assert_eq!(
            (arguments.plan.runs, arguments.plan.time, arguments.plan.seed),
            (Some(RUNS_DEFAULT), None, 1)
        );
    }

    #[test]
    fn every_option_is_read() {
        let words =
            ["envelope", "--runs", "7", "--seconds", "2", "--seed", "9", "--corpus", "a", "--corpus", "b"];
        let arguments = parsed(&words).unwrap();
        assert_eq!(arguments.targets.iter().map(|target| target.name).collect::<Vec<_>>(), ["envelope"]);
        assert_eq!(arguments.plan.runs, Some(7));
        assert_eq!(arguments.plan.time, Some(Duration::from_secs(2)));
        assert_eq!((arguments.plan.seed, arguments.corpus), (9, vec!["a".into(), "b".into()]));
        let again = parsed(&["all", "--replay", "x.bin", "--save", "here"]).unwrap();
        assert_eq!((again.replay, again.save), (Some("x.bin".into()), "here".into()));
        assert_eq!(parsed(&["all", "--seconds", "1"]).unwrap().plan.runs, None);
    }

    #[test]
    fn a_wrong_word_is_named_and_the_targets_are_listed() {
        for (words, text) in [
            (&[][..], "no target was named\n"),
            (&["nonsense"], "no target or option is called `nonsense`\n"),
            (&["all", "--runs"], "`--runs` needs a value\n"),
            (&["all", "--runs", "many"], "`--runs` needs a whole number, not `many`\n"),
        ] {
            let error = parsed(words).unwrap_err();
            assert!(
                error.starts_with(text)
                    && error.contains("hint: the targets are ")
                    && error.contains("envelope"),
                "{error}"
            );
        }
    }
}
