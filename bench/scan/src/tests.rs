//! The bench itself: its corpus is the same every time, and everybody finds the same in it.

use crate::contestants::{Mode, run};
use crate::corpus::ensure;

#[test]
fn a_seed_gives_the_same_corpus_and_another_one_another() {
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [one, two, other] = &folders;
    let first = ensure(one.path(), 2, 7).unwrap();
    assert_eq!(ensure(two.path(), 2, 7).unwrap(), first);
    assert_ne!(ensure(other.path(), 2, 8).unwrap().tokens, first.tokens);
    // It is there, so it is used again; but never mistaken for another one.
    assert_eq!(ensure(one.path(), 2, 7).unwrap(), first);
    assert!(ensure(one.path(), 3, 7).unwrap_err().contains("hint: "));
}

#[test]
fn every_contestant_finds_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    // Large enough for a fork: its copies must not count twice.
    let facts = ensure(folder.path(), 14, 1).unwrap();
    assert!(facts.usage_rows > facts.responses && facts.files > 8, "{facts:?}");
    for mode in Mode::ALL {
        for threads in [1, 2] {
            let answer = run(*mode, folder.path(), threads).unwrap();
            assert_eq!(answer.bytes, facts.bytes, "{mode:?}");
            if answer.tokens != [0; 4] {
                assert_eq!((answer.tokens, answer.responses), (facts.tokens, facts.responses), "{mode:?}");
            }
            if answer.calls > 0 {
                assert_eq!(answer.calls, facts.calls, "{mode:?}");
            }
            if answer.rows > 0 {
                assert_eq!(answer.rows, facts.rows, "{mode:?}");
            }
        }
    }
    let entries = run(Mode::Entries, folder.path(), 2).unwrap();
    assert_eq!(entries.responses, facts.responses);
    assert!(entries.entries > facts.responses);
}
