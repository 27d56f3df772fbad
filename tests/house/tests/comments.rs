//! Comments that argue why do not get fewer while code grows.
//!
//! Counted are lines that begin with `//` and are no documentation, per hundred lines of code, in `crates/*/src` without
//! tests. That a comment says something is for people to judge; that a room lost its reasons can be counted.

use std::fs;
use std::path::Path;

use super::root;

/// The least density of each crate in comment lines per thousand lines of code: what it had when it was last raised.
const FLOORS: &[(&str, usize)] = &[
    ("agent", 0),
    ("agents", 22),
    ("cli", 22),
    ("event", 1),
    ("fleet", 23),
    ("hook", 34),
    ("intake", 22),
    ("jobs", 9),
    ("ledger", 12),
    ("policy", 27),
    ("policy-abi", 26),
    ("prices", 16),
    ("privacy", 21),
    ("server", 13),
    ("shell", 22),
    ("spool", 22),
    ("testkit", 7),
];

#[test]
fn reasons_grow_with_the_code() {
    let mut failures = String::new();
    let mut known = 0;
    for entry in fs::read_dir(root().join("crates")).expect("a readable folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let mut count = Count::default();
        count_folder(&entry.path().join("src"), &mut count);
        let floor = FLOORS.iter().find(|(room, _)| *room == name).map(|(_, floor)| *floor);
        known += usize::from(floor.is_some());
        match floor {
            None => failures.push_str(&format!("`crates/{name}` has no floor: give it one\n")),
            Some(floor) if count.comments * 1000 < floor * count.code => failures.push_str(&format!(
                "`crates/{name}` has {} lines of comments on {} lines of code: fewer than {floor} on a thousand\n",
                count.comments, count.code
            )),
            Some(_) => {}
        }
    }
    assert_eq!(known, FLOORS.len(), "every crate with a floor is there");
    assert!(
        failures.is_empty(),
        "{failures}hint: say where a reader stumbles why it is so: the refused alternative, the cost, the trap"
    );
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    comments: usize,
    code: usize,
}

/// Counts the files of a folder, those of tests left out.
fn count_folder(folder: &Path, count: &mut Count) {
    for entry in fs::read_dir(folder).expect("a readable folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            if name != "tests" {
                count_folder(&path, count);
            }
        } else if name.ends_with(".rs") && name != "tests.rs" {
            count_text(&fs::read_to_string(&path).expect("text"), count);
        }
    }
}

/// Counts the lines of a file up to its tests.
fn count_text(text: &str, count: &mut Count) {
    for line in text.lines().map(str::trim).take_while(|line| !line.starts_with("#[cfg(test)]")) {
        match line {
            "" => {}
            _ if line.starts_with("///") || line.starts_with("//!") => {}
            _ if line.starts_with("//") => count.comments += 1,
            _ => count.code += 1,
        }
    }
}

#[test]
fn documentation_and_tests_are_not_counted() {
    let text = "//! A room.\n\n/// A function.\n// Because.\nfn one() {}\n    // And because.\n#[cfg(test)]\n// Not.\nmod tests {}\n";
    let mut count = Count::default();
    count_text(text, &mut count);
    assert_eq!(count, Count { comments: 2, code: 1 });
}
