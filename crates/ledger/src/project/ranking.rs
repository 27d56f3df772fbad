//! The choice of the files of a long history that are ranked. The rule is the same in every store and depends on the
//! uses alone.
//!
//! A busy month touches hundreds of thousands of files, too many to add up for a list of the first hundred. Instead:
//!
//! 1. A range consists of days and months ([`super::time::signed_pieces`]). In each of them the uses of a file by one
//!    type of agent are one entry. If there are at most [`BEST`] entries, all are the best. Otherwise the best are
//!    those with more uses than the first one after [`BEST`]. If these are fewer than [`FEW`], those with as many uses
//!    as that one are added, unless that makes more than [`MOST`].
//! 2. The uses in these lists are added up for each file, and those of days outside the range subtracted. The
//!    [`RANKED`] files with the most uses are ranked ([`RANKED_OF_ALL`] if every entry is among the best), ties by
//!    path.
//! 3. For each ranked file all uses in the range are counted, in the lists or not.
//!
//! Nothing here depends on the order of arrival. A file that was used a little on many days and never much in any month
//! may be missing; every listed file has exact numbers.

use std::collections::HashMap;
use std::hash::Hash;

/// The usual number of best entries of a day or a month.
pub const BEST: usize = 200;

/// The number of best entries below which ties are added.
pub const FEW: usize = 50;

/// The most best entries with ties.
pub const MOST: usize = 1_000;

/// The number of ranked files. Deeper ranks mean little.
pub const RANKED: usize = 100;

/// The number of ranked files if no stretch left an entry out, because the lists are then complete.
pub const RANKED_OF_ALL: usize = 150;

/// Returns `true` if more than [`BEST`] and one entries are needed to find the best of a stretch. Takes the uses of
/// these entries.
#[must_use]
pub fn needs_more(uses: &[i64]) -> bool {
    uses.get(BEST).is_some_and(|next| uses.partition_point(|more| more > next) < FEW)
}

/// Returns the number of best entries of a stretch. Takes the uses of all entries, most first, or of [`BEST`] and one,
/// or of [`MOST`] and one if it [needs more](needs_more).
#[must_use]
pub fn best(uses: &[i64]) -> usize {
    let Some(next) = uses.get(BEST) else { return uses.len() };
    let more = uses.partition_point(|more| more > next);
    let with_equals = uses.partition_point(|more| more >= next);
    if more < FEW && with_equals <= MOST { with_equals } else { more }
}

/// The best of a day or a month.
#[derive(Clone, Debug, Default)]
pub struct TopList<P> {
    /// 1, or -1 if it is subtracted.
    pub sign: i64,
    /// Nothing was left out.
    pub is_all: bool,
    /// Files, with their uses by the selected agents. A file may appear more than once.
    pub used: Vec<(P, i64)>,
}

/// A ranked file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<P> {
    /// The file.
    pub path: P,
    /// The index of the stretch in which it was used most; among ties the first.
    pub stretch: usize,
}

/// The uses of a file in the lists.
struct Sum {
    uses: i64,
    /// The index of the stretch in which it was used most, and its uses there.
    most: Option<(usize, i64)>,
}

/// Returns the ranked files, in any order. The name of a file is looked up only to break a tie.
///
/// # Errors
/// If a name is unknown.
pub fn candidates<P: Copy + Eq + Hash, E>(
    stretches: &[TopList<P>],
    mut name: impl FnMut(P) -> Result<String, E>,
) -> Result<Vec<Candidate<P>>, E> {
    let mut sums: HashMap<P, Sum> = HashMap::new();
    for (place, stretch) in stretches.iter().enumerate() {
        // A file that several types of agents used has several entries in one stretch, and it is the sum that counts.
        let mut used: HashMap<P, i64> = HashMap::with_capacity(stretch.used.len());
        for (path, uses) in &stretch.used {
            *used.entry(*path).or_default() += uses;
        }
        for (path, uses) in used {
            let sum = sums.entry(path).or_insert(Sum { uses: 0, most: None });
            sum.uses += stretch.sign * uses;
            // A stretch that is subtracted lies outside of the range and cannot be where a file was used most in it.
            if stretch.sign > 0 && sum.most.is_none_or(|(_, most)| uses > most) {
                sum.most = Some((place, uses));
            }
        }
    }
    let mut ranked: Vec<(i64, Candidate<P>)> = sums
        .into_iter()
        .filter_map(|(path, sum)| Some((sum.uses, Candidate { path, stretch: sum.most?.0 })))
        .collect();
    ranked.sort_unstable_by_key(|(uses, _)| std::cmp::Reverse(*uses));
    let most = if stretches.iter().all(|stretch| stretch.is_all) { RANKED_OF_ALL } else { RANKED };
    if let Some((last, _)) = ranked.get(most - 1).filter(|_| ranked.len() > most) {
        let first = ranked.partition_point(|(uses, _)| uses > last);
        let end = ranked.partition_point(|(uses, _)| uses >= last);
        let mut equals = Vec::with_capacity(end - first);
        for (_, file) in ranked.drain(first..).take(end - first) {
            equals.push((name(file.path)?, file));
        }
        // Names are looked up for the files at the cut alone. Their numbers would not do: they depend on the order of
        // arrival.
        equals.sort_unstable_by(|(one, _), (two, _)| one.cmp(two));
        equals.truncate(most - first);
        ranked.extend(equals.into_iter().map(|(_, file)| (0, file)));
    }
    Ok(ranked.into_iter().map(|(_, file)| file).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    fn name(number: i64) -> Result<String, Infallible> {
        Ok(format!("/{number:05}"))
    }

    fn places(stretches: &[TopList<i64>]) -> Vec<(i64, usize)> {
        let Ok(found) = candidates(stretches, name);
        let mut found: Vec<(i64, usize)> = found.into_iter().map(|file| (file.path, file.stretch)).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn the_best_of_a_short_list_are_all_of_it() {
        assert_eq!(best(&[]), 0);
        assert_eq!(best(&[3, 1, 1]), 3);
        assert_eq!(best(&vec![1; BEST]), BEST);
    }

    #[test]
    fn those_that_are_used_as_often_as_the_next_are_left_out_unless_few_are_left() {
        let list =
            |more: usize, equal: usize, less: usize| [vec![9; more], vec![5; equal], vec![1; less]].concat();
        assert_eq!(best(&list(BEST, 0, 70)), BEST);
        assert_eq!(best(&list(BEST - 1, 2, 70)), BEST - 1);
        assert_eq!(best(&list(FEW, MOST, 0)), FEW);
        assert_eq!(best(&list(FEW - 1, MOST - FEW, 70)), MOST - 1);
        assert_eq!(best(&list(10, MOST - 10, 70)), MOST);
        assert_eq!(best(&list(10, MOST - 9, 0)), 10);
        assert_eq!(best(&list(0, MOST + 1, 0)), 0);
    }

    #[test]
    fn what_is_read_first_decides_wherever_it_says_so() {
        for more in [0, 1, FEW - 1, FEW, 120, BEST, BEST + 1] {
            for equal in [0, 1, 150, BEST, MOST - more.min(MOST), MOST] {
                let all = [vec![9; more], vec![5; equal], vec![1; 2_000]].concat();
                let first = &all[..=BEST];
                if !needs_more(first) {
                    assert_eq!(best(first), best(&all), "{more} and {equal}");
                }
                assert_eq!(best(&all[..=MOST]), best(&all), "{more} and {equal}");
            }
        }
    }

    #[test]
    fn a_file_belongs_to_the_first_stretch_in_which_it_was_used_most() {
        let stretches = [
            TopList { sign: 1, is_all: false, used: vec![(1, 2), (2, 5)] },
            TopList { sign: -1, is_all: false, used: vec![(1, 9), (3, 1)] },
            TopList { sign: 1, is_all: false, used: vec![(1, 1), (1, 3), (2, 5)] },
        ];
        assert_eq!(places(&stretches), [(1, 2), (2, 0)], "what is only taken away was not used");
    }

    #[test]
    fn of_equals_at_the_end_those_whose_names_come_first_are_ranked() {
        let used: Vec<(i64, i64)> =
            (0..500).rev().map(|path| (path, if path == 499 { 7 } else { 2 })).collect();
        let found = places(&[TopList { sign: 1, is_all: false, used }]);
        let paths: Vec<i64> = found.iter().map(|(path, _)| *path).collect();
        let first: Vec<i64> = (0..99).chain([499]).collect();
        assert_eq!(paths, first);
    }

    proptest! {
        #[test]
        fn the_order_of_entries_changes_nothing(
            mut stretches in proptest::collection::vec(
                (prop_oneof![Just(1_i64), Just(-1)], proptest::collection::vec((0_i64..300, 1_i64..4), 0..400)), 1..5),
        ) {
            let of = |stretches: &[(i64, Vec<(i64, i64)>)]| {
                let best: Vec<TopList<i64>> =
                    stretches.iter().map(|(sign, used)| TopList { sign: *sign, is_all: false, used: used.clone() }).collect();
                places(&best)
            };
            let found = of(&stretches);
            prop_assert!(found.len() <= RANKED);
            prop_assert_eq!(found.iter().map(|(path, _)| path).collect::<BTreeSet<_>>().len(), found.len());
            for (_, used) in &mut stretches {
                used.reverse();
            }
            prop_assert_eq!(of(&stretches), found);
        }
    }
}
