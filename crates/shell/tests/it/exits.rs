//! Conclusions from the exit code of a line to each check in it.

use agent_tracer_shell::{Context, Verdict, analyze};

fn verdicts(command: &str, code: i32) -> Vec<Verdict> {
    analyze(command, &Context::default()).checks.iter().map(|check| check.verdict(code)).collect()
}

#[test]
fn a_single_check_is_decided_by_the_code() {
    assert_eq!(verdicts("cargo test", 0), [Verdict::Passed]);
    assert_eq!(verdicts("cargo test", 101), [Verdict::Failed]);
    assert_eq!(verdicts("cd x && cargo test", 1), [Verdict::Undecided], "the directory may be missing");
    assert_eq!(verdicts("cd x; cargo test", 1), [Verdict::Failed]);
    assert_eq!(verdicts("cd x && cargo test", 0), [Verdict::Passed]);
}

#[test]
fn a_masked_check_is_never_decided_by_success() {
    for command in ["cargo test || true", "cargo test | tail", "cargo test; echo done", "cargo test &"] {
        assert_eq!(verdicts(command, 0), [Verdict::Undecided], "{command}");
    }
}

#[test]
fn a_check_that_may_not_have_run_is_not_proven() {
    assert_eq!(verdicts("[ -f a ] || cargo test", 0), [Verdict::Undecided]);
    assert_eq!(verdicts("if [ -f a ]; then cargo test; fi", 0), [Verdict::Undecided]);
    assert_eq!(verdicts("for p in $LIST; do cargo test -p $p || exit 1; done", 0), [Verdict::Undecided]);
    assert_eq!(verdicts("case $x in a) cargo test ;; esac", 0), [Verdict::Undecided]);
}

#[test]
fn in_a_sequence_only_the_last_check_is_decided() {
    assert_eq!(verdicts("tsc; eslint .", 0), [Verdict::Undecided, Verdict::Passed]);
    assert_eq!(verdicts("tsc; eslint .", 1), [Verdict::Undecided, Verdict::Failed]);
    assert_eq!(verdicts("set -e; tsc; eslint .", 0), [Verdict::Passed, Verdict::Passed]);
}

#[test]
fn members_of_a_pipeline_count_under_pipefail() {
    assert_eq!(verdicts("set -o pipefail; cargo test | tail", 0), [Verdict::Passed]);
    assert_eq!(verdicts("set -o pipefail; cargo test | tail", 1), [Verdict::Undecided]);
    assert_eq!(verdicts("bash -eo pipefail -c 'cargo test | tail; echo done'", 0), [Verdict::Passed]);
}

#[test]
fn an_inverted_check_says_the_opposite_and_so_nothing() {
    assert_eq!(verdicts("! cargo test", 0), [Verdict::Undecided]);
    assert_eq!(verdicts("! cargo test", 1), [Verdict::Undecided]);
}
