//! A file that is read while it grows says what it says when it is read at once.

use proptest::prelude::*;

use super::*;

/// Files that hold every type of row there is, small enough to be read often.
fn files() -> Vec<Captured> {
    [
        "2.1.325/interrupt",
        "2.1.325/fork",
        "2.1.325/slash",
        "2.1.325/rc_agent_bg",
        "2.1.325/compact_auto",
        "2.1.197/old_multi",
    ]
    .iter()
    .flat_map(|name| scenario(name))
    .filter(|captured| captured.rows().is_some())
    .collect()
}

#[test]
fn every_line_on_its_own_says_what_the_whole_file_says() {
    for captured in everything().iter().filter(|captured| captured.rows().is_some()) {
        let file = captured.rows().unwrap();
        let ends: Vec<usize> = captured
            .content
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
            .map(|(at, _)| at + 1)
            .collect();
        let whole = read(captured, Level::Actions);
        let line_by_line = read_in_chunks(&file, &captured.content, Level::Actions, &ends);
        assert_eq!(line_by_line.rows, whole.rows, "{}", captured.path.display());
        assert_eq!(line_by_line.state, whole.state);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn chunks_of_any_size_say_the_same(index in 0_usize..64, mut cuts in prop::collection::vec(0_usize..70_000, 0..12)) {
        let files = files();
        let captured = &files[index % files.len()];
        let file = captured.rows().unwrap();
        cuts.iter_mut().for_each(|cut| *cut %= captured.content.len() + 1);
        cuts.sort_unstable();
        let whole = read(captured, Level::Full);
        let torn = read_in_chunks(&file, &captured.content, Level::Full, &cuts);
        prop_assert_eq!(torn.rows, whole.rows);
        prop_assert_eq!(torn.state, whole.state);
    }
}

#[test]
fn a_torn_last_line_is_read_when_it_is_whole() {
    for captured in files() {
        let file = captured.rows().unwrap();
        let cut = captured.content.len() - 20;
        let torn = read_in_chunks(&file, &captured.content[..cut], Level::Actions, &[]);
        assert_eq!(torn.counts().malformed, 0);
        let whole = read(&captured, Level::Actions);
        assert_eq!(torn.rows[..], whole.rows[..whole.rows.len() - 1]);
        // And in place: the rest of the line arrives.
        let both = read_in_chunks(&file, &captured.content, Level::Actions, &[cut]);
        assert_eq!(both.rows, whole.rows);
    }
}
