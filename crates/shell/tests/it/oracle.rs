//! Comparison of the analysis, which runs nothing, with bash itself.
//!
//! Exit codes: random lines are built from one check and commands that may do either; bash runs each line with
//! every combination of outcomes, and whatever it shows must agree with what the analysis promised. Words:
//! random arguments are given to a function, which prints what it was given. The commands are functions of the
//! test: nothing but bash is started.

use std::process::Command;

use agent_tracer_shell::{Context, TargetType, analyze};

/// A small generator of numbers, so that every run builds the same lines.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick<'p>(&mut self, choices: &[&'p str]) -> &'p str {
        let position = usize::try_from(self.roll(choices.len() as u64)).expect("a small number");
        choices.get(position).copied().expect("a choice")
    }
}

/// Builds lines in which the check stands at most once.
struct Builder {
    dice: Dice,
    placed: bool,
}

impl Builder {
    fn leaf(&mut self) -> String {
        if !self.placed && self.dice.roll(3) == 0 {
            self.placed = true;
            return "cargo test".to_owned();
        }
        let leaves =
            ["ls", "cat x", "ls", "cat x", "true", "false", "echo hi", "exit 0", "exit 1", "exit $?"];
        // Leaving the shell is rare, or nothing would be left to look at.
        let choices = if self.dice.roll(8) == 0 { leaves.as_slice() } else { &leaves[..7] };
        self.dice.pick(choices).to_owned()
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 || self.dice.roll(2) == 0 {
            return self.leaf();
        }
        let depth = depth - 1;
        match self.dice.roll(8) {
            0 => format!("( {} )", self.list(depth)),
            1 => format!("{{ {}; }}", self.list(depth)),
            2 => format!("if {}; then {}; fi", self.chain(depth), self.list(depth)),
            3 => {
                format!("if {}; then {}; else {}; fi", self.chain(depth), self.list(depth), self.list(depth))
            }
            4 => format!("for i in 1; do {}; done", self.list(depth)),
            5 => format!("while {}; do {}; break; done", self.chain(depth), self.list(depth)),
            6 => format!("! {}", self.leaf()),
            _ => format!("{} | {}", self.leaf(), self.leaf()),
        }
    }

    fn chain(&mut self, depth: usize) -> String {
        let mut line = self.command(depth);
        for _ in 0..self.dice.roll(3) {
            line = format!("{line} {} {}", self.dice.pick(&["&&", "||"]), self.command(depth));
        }
        line
    }

    fn list(&mut self, depth: usize) -> String {
        let mut line = self.chain(depth);
        for _ in 0..self.dice.roll(3) {
            line = format!("{line}; {}", self.chain(depth));
        }
        line
    }

    fn line(&mut self) -> String {
        loop {
            self.placed = false;
            let options = ["", "", "set -e; ", "set -o pipefail; ", "set -eo pipefail; "];
            let line = format!("{}{}", self.dice.pick(&options), self.list(2));
            if self.placed {
                return line;
            }
        }
    }
}

/// The result of one run of a line.
struct Run {
    check_passes: bool,
    check_ran: bool,
    succeeded: bool,
}

/// Runs a line with every combination of outcomes.
fn runs(line: &str) -> Vec<Run> {
    const SCRIPT: &str = r#"
        for a in 0 1; do for b in 0 1; do for c in 0 1; do
            cargo() { echo ran >&2; return $a; }; ls() { return $b; }; cat() { return $c; }
            trace=$(eval "$1" 2>&1 >/dev/null </dev/null); echo "$a $? ${trace:+ran}"
        done; done; done
    "#;
    let output = Command::new("bash")
        .args(["-c", SCRIPT, "bash", line])
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("bash runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let runs: Vec<Run> = text
        .lines()
        .map(|line| {
            let mut words = line.split_whitespace();
            let check_passes = words.next() == Some("0");
            let succeeded = words.next() == Some("0");
            Run { check_passes, check_ran: words.next().is_some(), succeeded }
        })
        .collect();
    assert_eq!(runs.len(), 8, "{line}: {text}");
    runs
}

#[test]
fn bash_keeps_what_we_promise_about_exit_codes() {
    let mut builder = Builder { dice: Dice(20), placed: false };
    let (mut masked, mut proven) = (0, 0);
    for _ in 0..200 {
        let line = builder.line();
        let analysis = analyze(&line, &Context::default());
        let check = analysis.checks.first().expect("the check is found");
        for run in runs(&line) {
            let failed = run.check_ran && !run.check_passes;
            if failed && run.succeeded {
                assert!(analysis.failure_masked, "bash hid a failure and we did not see it: {line}");
            }
            if run.succeeded && check.zero_means_passed {
                assert!(run.check_ran && run.check_passes, "zero did not mean that the check passed: {line}");
            }
            if !run.succeeded && check.non_zero_means_failed {
                assert!(failed, "failure did not mean that the check failed: {line}");
            }
        }
        masked += usize::from(analysis.failure_masked);
        proven += usize::from(check.zero_means_passed);
    }
    // Saying "masked" of everything would be safe and useless.
    assert!(masked < 180 && proven > 20, "{masked} masked, {proven} proven");
}

/// Pieces of words that mean something only together with their neighbours.
const PIECES: &[&str] = &[
    "ab",
    "x",
    "'q r'",
    "'$V'",
    "'\"'",
    "'{a,b}'",
    "\"s t\"",
    "\"$V\"",
    "\"${W}\"",
    "\"\\$V\"",
    "\"\\\"\"",
    "\"\\\\\"",
    "\"'\"",
    "\"$(echo k)\"",
    "$'u\\tv'",
    "$'\\x41'",
    "$'\\''",
    "$'\\u00e9'",
    "\\ ",
    "\\;",
    "\\$",
    "\\'",
    "\\{",
    "${V}",
    "${W}",
    "{e,f}",
    "{1..3}",
    "{g}",
    "{}",
    "{h,{i,j}}",
    "{a,'b c'}",
    "$(echo n)",
    "$(echo n o)",
    "=",
    ".",
    "/",
    "%",
    ",",
    "é",
    "日本",
    "\\\n",
];

#[test]
fn bash_is_given_the_arguments_that_we_see() {
    let mut dice = Dice(7);
    let mut compared = 0;
    for _ in 0..300 {
        let words: Vec<String> = (0..1 + dice.roll(3))
            .map(|_| (0..1 + dice.roll(4)).map(|_| dice.pick(PIECES)).collect::<String>())
            .collect();
        let line = format!("V=val; W='two words'; rm -- {}", words.join(" "));
        let script = format!("rm() {{ shift; printf '%s\\0' \"$@\"; }}\n{line}");
        let output =
            Command::new("bash").args(["-c", &script]).env("LC_ALL", "C.UTF-8").output().expect("bash runs");
        let mut given: Vec<String> = Vec::new();
        for argument in String::from_utf8(output.stdout).expect("text").split_terminator('\0') {
            if !argument.is_empty() && !given.iter().any(|known| known == argument) {
                given.push(argument.to_owned());
            }
        }
        let analysis = analyze(&line, &Context::default());
        let step = analysis.steps.last().expect("a step");
        assert_eq!(step.command_name, "rm", "{line}");
        if step.targets.iter().any(|target| target.kind == TargetType::Unknown) {
            continue;
        }
        let seen: Vec<String> = step.targets.iter().map(|target| target.value.clone()).collect();
        assert_eq!(seen, given, "{line}");
        compared += 1;
    }
    assert!(compared > 250, "{compared} lines were compared");
}
