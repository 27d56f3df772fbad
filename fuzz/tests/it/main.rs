//! The harness finds what it should, the targets hold, and both can be repeated.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use agent_tracer_fuzz::harness::{Ending, Plan, Source, fuzz, replay};
use agent_tracer_fuzz::targets::{ALL, Target};
use agent_tracer_fuzz::{corpus, report};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

fn plan(runs: u64) -> Plan {
    Plan { runs: Some(runs), time: None, seed: 1, patience: Duration::from_secs(60) }
}

fn no_seeds() -> Vec<Vec<u8>> {
    Vec::new()
}

fn target(run: fn(&[u8])) -> Target {
    Target { name: "test", run, seeds: no_seeds, dictionary: &[b"needle"] }
}

#[test]
fn every_target_holds_for_some_thousand_runs() {
    let inputs = corpus::read(&[fixtures()]).expect("the fixtures are there");
    assert!(inputs.len() > 50);
    for target in ALL {
        let sample: Vec<Vec<u8>> = inputs.iter().step_by(inputs.len() / 50).cloned().collect();
        match fuzz(target, &sample, &plan(3000)) {
            Ending::Passed { runs, .. } => assert_eq!(runs, 3000),
            ending => panic!("{}", report::text(target.name, 1, &ending)),
        }
    }
}

#[test]
fn target_names_are_unique_and_each_has_inputs_to_begin_with() {
    let mut names: Vec<&str> = ALL.iter().map(|target| target.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ALL.len());
    assert!(ALL.iter().all(|target| !(target.seeds)().is_empty()));
}

#[test]
fn a_broken_law_is_found_and_its_input_made_small() {
    fn breaks(bytes: &[u8]) {
        assert!(!bytes.windows(6).any(|part| part == b"needle"), "found the needle");
    }
    let corpus = vec![vec![b'.'; 1000]];
    let Ending::Panicked(failure) = fuzz(&target(breaks), &corpus, &plan(10_000)) else {
        panic!("the needle is in the dictionary");
    };
    assert_eq!((failure.input.as_slice(), failure.message.as_str()), (&b"needle"[..], "found the needle"));
    assert!(matches!(replay(&target(breaks), failure.input.clone(), &plan(0)), Ending::Panicked(_)));
    assert!(matches!(replay(&target(breaks), b"fine".to_vec(), &plan(0)), Ending::Passed { runs: 1, .. }));
    let again = Source::new(&target(breaks), &corpus, 1).input(failure.run);
    assert!(again.windows(6).any(|part| part == b"needle"), "the run's number gives its input again");
}

#[test]
fn a_run_that_never_returns_is_noticed() {
    fn waits(bytes: &[u8]) {
        if bytes == b"wait" {
            loop {
                std::thread::park();
            }
        }
    }
    let plan = Plan { patience: Duration::from_millis(20), ..plan(1000) };
    let Ending::StoodStill(failure) = fuzz(&target(waits), &[b"go".to_vec(), b"wait".to_vec()], &plan) else {
        panic!("the second input waits for ever");
    };
    assert_eq!((failure.run, failure.input.as_slice()), (1, &b"wait"[..]));
}

#[test]
fn a_large_corpus_does_not_drown_the_seeds() {
    let one_seed =
        Target { seeds: || vec![b"the seed, and long enough to be known again".to_vec()], ..target(|_| {}) };
    let corpus: Vec<Vec<u8>> = (0..500).map(|number| format!("corpus {number}").into_bytes()).collect();
    let source = Source::new(&one_seed, &corpus, 1);
    assert_eq!((source.input(0), source.input(500)), ((one_seed.seeds)().remove(0), b"corpus 499".to_vec()));
    let from_seed = |run: &u64| source.input(*run).windows(4).any(|part| part == b"seed");
    let share = (1000..2000).filter(from_seed).count();
    assert!((300..600).contains(&share), "{share} of 1000");
}

#[test]
fn time_ends_a_plan_without_a_number_of_runs() {
    let plan = Plan { runs: None, time: Some(Duration::ZERO), ..plan(0) };
    assert!(matches!(fuzz(&target(|_| {}), &[], &plan), Ending::Passed { runs: 0, .. }));
}

#[test]
fn a_corpus_is_files_and_lines_in_a_fixed_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, bytes: &[u8]| {
        use std::io::Write;
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::File::create(path).and_then(|mut file| file.write_all(bytes)).expect("a file");
    };
    put("b/rows.jsonl", b"{\"row\":2}\n\n{\"row\":1}\n");
    put("a.json", b"whole\nfile");
    put("empty", b"");
    put("giant", &vec![0; 1 << 20]);
    let expected: Vec<Vec<u8>> =
        [&b"whole\nfile"[..], b"{\"row\":1}", b"{\"row\":2}"].map(<[u8]>::to_vec).into();
    assert_eq!(corpus::read(&[folder.path().to_owned()]).expect("readable"), expected);
    let one = corpus::read(&[folder.path().join("a.json")]).expect("readable");
    assert_eq!(one, [b"whole\nfile"]);
    assert!(corpus::read(&[folder.path().join("missing")]).is_err());
}

#[test]
fn a_failing_input_is_saved_and_shown_in_hexadecimal() {
    let folder = tempfile::tempdir().expect("a folder");
    let Ending::Panicked(failure) = fuzz(&target(|_| panic!("always")), &[b"\x00\xffz".to_vec()], &plan(1))
    else {
        panic!("it always fails");
    };
    let text = report::text("test", 7, &Ending::Panicked(failure.clone()));
    assert_eq!(text, "test: panicked in run 0 with seed 7: always\ninput of 0 bytes: ");
    let failure = agent_tracer_fuzz::harness::Failure { input: b"\x00\xffz".to_vec(), ..failure };
    let text = report::text("test", 7, &Ending::Panicked(failure.clone()));
    assert!(text.ends_with("input of 3 bytes: 00ff7a"), "{text}");
    for _ in 0..2 {
        let path = report::save(&folder.path().join("deep/er"), "test", &failure).expect("saved");
        assert_eq!(fs::read(path).expect("readable"), b"\x00\xffz");
    }
}

fn command(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_agent-tracer-fuzz")).args(arguments).output().expect("it runs")
}

#[test]
fn the_command_says_how_it_went() {
    let output = command(&["all", "--runs", "50", "--seed", "3"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    assert_eq!(text.lines().count(), ALL.len());
    for (line, target) in text.lines().zip(ALL) {
        assert!(line.starts_with(&format!("{}: passed, 50 runs in ", target.name)), "{line}");
        assert!(line.ends_with(" runs/s, seed 3"), "{line}");
    }
    let again = command(&["envelope", "--replay", env!("CARGO_MANIFEST_PATH")]);
    let text = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(again.status.success() && text.starts_with("envelope: passed, 1 runs in "), "{text}");
    for arguments in [&["nothing"][..], &["all", "--corpus", "/nowhere"], &["all", "--replay", "/nowhere"]] {
        let output = command(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
}
