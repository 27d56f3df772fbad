//! The context chart, in as many points as it can show.

/// A chart has no more points than this.
const MOST_POINTS: usize = 1_500;

/// Leaves out snapshots, evenly, until a chart can show what is left: always the first and the last, and every other
/// mark.
#[must_use]
pub fn thinned<T>(mut marks: Vec<T>, is_snapshot: impl Fn(&T) -> bool) -> Vec<T> {
    let snapshots = marks.iter().filter(|mark| is_snapshot(mark)).count();
    let room = MOST_POINTS.saturating_sub(marks.len() - snapshots).max(MOST_POINTS / 2);
    let every = snapshots.div_ceil(room).max(1);
    let mut seen = 0;
    marks.retain(|mark| {
        if !is_snapshot(mark) {
            return true;
        }
        seen += 1;
        seen == 1 || seen == snapshots || seen % every == 0
    });
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_chart_keeps_its_ends_and_all_marks() {
        let is_snapshot = |at: &u32| !(*at).is_multiple_of(100);
        let marks: Vec<u32> = (1..50_000).collect();
        let kept = thinned(marks.clone(), is_snapshot);
        assert!(kept.len() <= MOST_POINTS + 2, "{}", kept.len());
        assert_eq!(kept.first(), marks.first());
        assert_eq!(kept.last(), marks.last());
        assert_eq!(kept.iter().filter(|mark| !is_snapshot(mark)).count(), 499);
        assert_eq!(thinned(marks[..1_000].to_vec(), is_snapshot).len(), 1_000);
    }
}
