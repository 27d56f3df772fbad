//! Ways to hide `rm -rf`, each run for real, and whether the rule about deletions finds it.
//!
//! A case counts only if it really deletes: it is run against files made for it, in a mount namespace in which every
//! file system of the machine is read-only and only a memory file system can be written. What is missed is listed by
//! name in `evasions/misses.txt`, exactly: a case that is found now, or not any more, fails the test.
//! `cargo test -p agent-tracer-policy --test it evasions -- --nocapture` prints the rate.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use agent_tracer_policy::Outcome;

use crate::world::{bash, decide};

const CORPUS: &str = include_str!("evasions/corpus.txt");
const MISSES: &str = include_str!("evasions/misses.txt");
const DRIVER: &str = include_str!("evasions/driver.sh");

const RULE: &str = "[[rule]]\nname = \"r\"\non = \"PreToolUse\"\ndecision = \"deny\"\nreason = \"no\"\n";

struct Case {
    name: &'static str,
    needs: Vec<&'static str>,
    command: String,
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in CORPUS.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            let (name, needs) = title.split_once(" [").unwrap_or((title, ""));
            let needs = needs.trim_end_matches(']').split_whitespace().collect();
            cases.push(Case { name, needs, command: String::new() });
        } else if let Some(case) = cases.last_mut() {
            case.command.push_str(line);
            case.command.push('\n');
        }
    }
    for case in &mut cases {
        case.command.truncate(case.command.trim_end().len());
    }
    cases
}

fn found(case: &Case, matcher: &str) -> bool {
    decide(&format!("{RULE}match.command = {matcher}\n"), &bash(&case.command)).outcome == Outcome::Deny
}

#[test]
fn the_corpus_is_large_and_each_case_is_its_own() {
    let cases = cases();
    assert!(cases.len() >= 150, "{} cases", cases.len());
    let names: std::collections::BTreeSet<&str> = cases.iter().map(|case| case.name).collect();
    let commands: std::collections::BTreeSet<&str> = cases.iter().map(|case| case.command.as_str()).collect();
    assert_eq!((names.len(), commands.len()), (cases.len(), cases.len()));
}

#[test]
fn what_is_missed_is_known_by_name() {
    let mut text = String::new();
    for case in cases().iter().filter(|case| !found(case, "{ effect = \"delete\" }")) {
        writeln!(text, "{}", case.name).unwrap();
    }
    let known: String =
        MISSES.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    assert_eq!(text, known, "change `tests/it/evasions/misses.txt` after reading what changed");
}

#[test]
fn no_deletion_of_a_tree_goes_unnoticed_beside_a_rule_about_what_is_not_understood() {
    let unseen = RULE.replace("name = \"r\"", "name = \"u\"").replace("deny", "ask");
    let text = format!(
        "{RULE}match.command = {{ effect = \"delete\" }}\n{unseen}match.command = {{ understood = false }}\n"
    );
    let mut silent: Vec<&str> = Vec::new();
    let cases = cases();
    for case in &cases {
        if decide(&text, &bash(&case.command)).outcome == Outcome::Silent {
            silent.push(case.name);
        }
    }
    // Each of these puts something in the place of single files that it names, or can be taken back.
    let overwrites = [
        "redirect-empty",
        "redirect-alone",
        "cp-dev-null",
        "tee-empty",
        "sed-empty",
        "mv-over",
        "ln-over",
        "install-over",
        "git-stash",
    ];
    assert_eq!(silent, overwrites);
}

#[test]
fn what_is_harmless_is_not_found() {
    for command in [
        "ls -la victim",
        "echo 'rm -rf victim'",
        "grep -rn 'rm -rf' docs",
        "git commit -m 'stop using rm -rf victim'",
        "cat <<'E'\nrm -rf victim\nE",
        "find victim -name '*.txt'",
        "python3 -c 'print(\"hello\")'",
        "node -e 'console.log(1)'",
        "awk '{ print $1 }' victim/one.txt",
        "sed -n 1,5p victim/one.txt",
        "tar -czf out.tgz victim",
        "git status && git diff",
        "make test",
        "cp -r victim copy",
        "echo x >> victim/one.txt",
        "mv victim elsewhere",
        "for f in victim/*; do cat \"$f\"; done",
        "xargs -a list cat",
        "printf '%s\\n' rm",
        "base64 -d <<< aGVsbG8=",
        "npm run build && npm test",
        "docker ps",
        "ssh host uptime",
    ] {
        let case = Case { name: "harmless", needs: Vec::new(), command: command.to_owned() };
        assert!(!found(&case, "{ effect = \"delete\" }"), "{command}");
    }
}

/// Runs all cases; `None` if this machine does not let us make a place to run them in.
#[expect(clippy::print_stderr, reason = "a case that was not run must not look as if it had been")]
fn run(cases: &[Case]) -> Option<BTreeMap<String, String>> {
    let folder = tempfile::tempdir().unwrap();
    let scripts = folder.path().join("cases");
    std::fs::create_dir(&scripts).unwrap();
    let put = |path: &Path, text: &str| {
        std::io::Write::write_all(&mut std::fs::File::create(path).unwrap(), text.as_bytes()).unwrap();
    };
    for case in cases {
        put(&scripts.join(case.name), &case.command);
        put(&scripts.join(format!("{}.needs", case.name)), &case.needs.join("\n"));
    }
    put(&folder.path().join("driver.sh"), DRIVER);
    std::fs::create_dir(folder.path().join("box")).unwrap();
    let mut command = Command::new("unshare");
    // As root the namespace needs no user of its own.
    let root =
        std::fs::metadata("/proc/self").is_ok_and(|facts| std::os::unix::fs::MetadataExt::uid(&facts) == 0);
    if !root {
        command.args(["--user", "--map-root-user"]);
    }
    let output = command
        .args([
            "--mount",
            "--net",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
            "--propagation",
            "private",
        ])
        .arg("sh")
        .arg(folder.path().join("driver.sh"))
        .arg(folder.path())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !text.starts_with("ready\n") {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains("ready"), "{text}");
        eprintln!("not run: no place to run them in: {}", said.trim());
        return None;
    }
    assert!(text.ends_with("end\n"), "the driver did not come to its end:\n{text}");
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    Some(pairs.map(|(name, outcome)| (name.to_owned(), outcome.to_owned())).collect())
}

#[test]
fn each_case_really_deletes_and_most_are_found() {
    let cases = cases();
    let Some(outcomes) = run(&cases) else { return };
    let outcome = |case: &Case| outcomes.get(case.name).map(String::as_str);
    let harmless: Vec<&str> =
        cases.iter().filter(|case| outcome(case) == Some("kept")).map(|case| case.name).collect();
    assert!(harmless.is_empty(), "these delete nothing: {harmless:?}");
    let deleting: Vec<&Case> = cases.iter().filter(|case| outcome(case) == Some("deleted")).collect();
    let absent: Vec<&str> =
        cases.iter().filter(|case| outcome(case) == Some("absent")).map(|case| case.name).collect();
    assert_eq!(deleting.len() + absent.len(), cases.len());
    assert!(deleting.len() >= 150, "{} cases delete", deleting.len());
    let any = deleting.iter().filter(|case| found(case, "{ effect = \"delete\" }")).count();
    let trees =
        deleting.iter().filter(|case| found(case, "{ effect = \"delete\", recursive = true }")).count();
    let misses: Vec<&str> = deleting
        .iter()
        .filter(|case| !found(case, "{ effect = \"delete\" }"))
        .map(|case| case.name)
        .collect();
    println!(
        "{} ways really delete; found {any} ({:.1} %), as reaching a tree {trees}",
        deleting.len(),
        any as f64 * 100.0 / deleting.len() as f64
    );
    println!("missed: {}", misses.join(" "));
    println!("not run, their programs are not here: {}", absent.join(" "));
    assert!(any * 100 >= deleting.len() * 80, "found {any} of {}", deleting.len());
}
