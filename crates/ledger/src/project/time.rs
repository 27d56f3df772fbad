//! Stretches of time that sums are kept for: quarter-hours, days and months, all UTC.

const QUARTER_MS: i64 = 900_000;
const DAY_MS: i64 = 86_400_000;

/// The length of a sum's stretches of time. The numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Quarters of an hour.
    Quarter = 0,
    /// Days.
    Day = 1,
    /// Months.
    Month = 2,
}

impl Level {
    /// All of them, finest first.
    pub const ALL: [Self; 3] = [Self::Quarter, Self::Day, Self::Month];

    /// Returns its stored number.
    #[must_use]
    pub const fn code(self) -> i64 {
        self as i64
    }

    /// Returns where the stretch that holds this moment begins.
    #[must_use]
    pub const fn start(self, at: i64) -> i64 {
        match self {
            Self::Quarter => at.div_euclid(QUARTER_MS) * QUARTER_MS,
            Self::Day => at.div_euclid(DAY_MS) * DAY_MS,
            Self::Month => month_start(at),
        }
    }

    /// Returns where the stretch that holds this moment ends.
    #[must_use]
    pub const fn end(self, at: i64) -> i64 {
        match self {
            Self::Quarter => self.start(at) + QUARTER_MS,
            Self::Day => self.start(at) + DAY_MS,
            // Every month is shorter than 32 days, and its next begins within 32 days of its own beginning.
            Self::Month => month_start(month_start(at) + 32 * DAY_MS),
        }
    }

    /// Returns the span rounded outwards to whole stretches.
    #[must_use]
    pub const fn around(self, (from, to): (i64, i64)) -> (i64, i64) {
        (self.start(from), if self.start(to) == to { to } else { self.end(to) })
    }
}

/// Returns the beginning of the UTC month that holds this moment.
const fn month_start(at: i64) -> i64 {
    let days = at.div_euclid(DAY_MS);
    // Days since 1 March 0000, in 400-year eras, each of 146,097 days; years that begin in March put the leap day last.
    let shifted = days + 719_468;
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5;
    (days - day_of_month) * DAY_MS
}

/// A piece of a range that one level answers: from its first stretch's beginning to its last stretch's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The level.
    pub level: Level,
    /// The beginning of the first stretch.
    pub from: i64,
    /// The end of the last stretch.
    pub to: i64,
}

/// Splits a range into as few stretches as can be: months inside, days around them, then the finest at the edges.
/// The edges are rounded outwards to the finest level.
#[must_use]
pub fn pieces(from: i64, to: i64, finest: Level) -> Vec<Piece> {
    let (from, to) = finest.around((from, to));
    let mut pieces: Vec<Piece> = Vec::new();
    let mut at = from;
    while at < to {
        let level = [Level::Month, Level::Day, Level::Quarter]
            .into_iter()
            .filter(|level| *level >= finest)
            // The longest stretch that fits, because one row of a month replaces thirty of days.
            .find(|level| level.start(at) == at && level.end(at) <= to)
            .unwrap_or(finest);
        let end = level.end(at);
        match pieces.last_mut() {
            Some(last) if last.level == level => last.to = end,
            _ => pieces.push(Piece { level, from: at, to: end }),
        }
        at = end;
    }
    pieces
}

/// Splits a range into as few stretches as can be, of which some are taken away again (-1): from the 2nd to the 30th is
/// a month without two days. Since sums can be taken away, no edge costs more than half of the next longer stretch. The
/// edges are rounded outwards to the finest level.
#[must_use]
pub fn signed_pieces(from: i64, to: i64, finest: Level) -> Vec<(Piece, i64)> {
    let (from, to) = finest.around((from, to));
    let mut pieces = Vec::new();
    if from >= to {
        return pieces;
    }
    let mut middle = (from, to);
    for (fine, width, coarse) in
        [(Level::Quarter, QUARTER_MS, Level::Day), (Level::Day, DAY_MS, Level::Month)]
    {
        if fine < finest {
            continue;
        }
        let (from, to) = middle;
        let (first, last) = (nearest(from, coarse), nearest(to, coarse));
        let count = |one: i64, other: i64| one.abs_diff(other) / width.unsigned_abs();
        // Subtraction pays only where it reads fewer stretches than adding up does.
        if first >= last || count(from, to) <= count(from, first) + count(to, last) {
            pieces.push((Piece { level: fine, from, to }, 1));
            return pieces;
        }
        for (from, to, sign) in [(from, first, 1), (first, from, -1), (last, to, 1), (to, last, -1)] {
            if from < to {
                pieces.push((Piece { level: fine, from, to }, sign));
            }
        }
        middle = (first, last);
    }
    let (from, to) = middle;
    pieces.push((Piece { level: Level::Month, from, to }, 1));
    pieces
}

/// Returns the beginning of a stretch that is nearest to a moment.
fn nearest(at: i64, level: Level) -> i64 {
    let (before, behind) = (level.start(at), level.end(at));
    if at.abs_diff(before) <= at.abs_diff(behind) { before } else { behind }
}

#[cfg(test)]
mod tests {
    use agent_tracer_event::Millis;
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> i64 {
        Millis::parse(text).unwrap().0
    }

    #[test]
    fn months_begin_on_their_first_day() {
        for (inside, start, end) in [
            ("2024-02-29T23:59:59.999Z", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"),
            ("2026-12-31T12:00:00Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "1970-02-01T00:00:00Z"),
            ("2000-03-01T00:00:00Z", "2000-03-01T00:00:00Z", "2000-04-01T00:00:00Z"),
        ] {
            assert_eq!(Level::Month.start(at(inside)), at(start), "{inside}");
            assert_eq!(Level::Month.end(at(inside)), at(end), "{inside}");
        }
    }

    #[test]
    fn a_year_costs_a_few_pieces() {
        let year = pieces(at("2025-11-16T00:20:00Z"), at("2026-11-16T00:20:00Z"), Level::Quarter);
        assert_eq!(year.len(), 5, "{year:?}");
    }

    #[test]
    fn most_of_a_month_is_the_month_without_the_rest() {
        let pieces = signed_pieces(at("2026-10-03T00:00:00Z"), at("2026-10-31T00:00:00Z"), Level::Day);
        let reported: Vec<(Level, i64, i64)> = pieces
            .iter()
            .map(|(piece, sign)| (piece.level, (piece.to - piece.from) / DAY_MS, *sign))
            .collect();
        assert_eq!(reported, [(Level::Day, 2, -1), (Level::Day, 1, -1), (Level::Month, 31, 1)]);
        assert_eq!(signed_pieces(0, 0, Level::Month), []);
    }

    fn stretches(piece: &Piece) -> usize {
        std::iter::successors(Some(piece.from), |at| Some(piece.level.end(*at)).filter(|at| *at < piece.to))
            .count()
    }

    proptest! {
        #[test]
        fn signed_pieces_count_every_moment_of_the_range_once_and_no_other(
            from in -1_000_000_000_000_i64..4_000_000_000_000, length in 1_i64..100_000_000_000,
            moments in proptest::collection::vec(-5_000_000_000_i64..105_000_000_000, 40),
        ) {
            for finest in Level::ALL {
                let signed = signed_pieces(from, from + length, finest);
                let (first, last) = (finest.start(from), finest.end(from + length - 1));
                let edges = [first, first - 1, last - 1, last];
                for moment in moments.iter().map(|moment| from + moment).chain(edges) {
                    let times: i64 = signed
                        .iter()
                        .filter(|(piece, _)| (piece.from..piece.to).contains(&moment))
                        .map(|(_, sign)| sign)
                        .sum();
                    prop_assert_eq!(times, i64::from((first..last).contains(&moment)), "{} in {:?}", moment, signed);
                }
                for (piece, _) in &signed {
                    prop_assert_eq!(piece.level.start(piece.from), piece.from);
                    prop_assert_eq!(piece.level.start(piece.to), piece.to);
                }
                let count: usize = signed.iter().map(|(piece, _)| stretches(piece)).sum();
                let plain: usize = pieces(from, from + length, finest).iter().map(stretches).sum();
                prop_assert!(count <= plain + 2, "{} against {}", count, plain);
            }
        }

        #[test]
        fn pieces_cover_the_range_without_gap_or_overlap(from in -1_000_000_000_000_i64..4_000_000_000_000, length in 0_i64..100_000_000_000) {
            for finest in [Level::Quarter, Level::Day] {
                let pieces = pieces(from, from + length, finest);
                let mut expected = finest.start(from);
                for piece in &pieces {
                    prop_assert_eq!(piece.from, expected);
                    prop_assert_eq!(piece.level.start(piece.from), piece.from);
                    prop_assert_eq!(piece.level.start(piece.to), piece.to);
                    expected = piece.to;
                }
                prop_assert!(length == 0 || expected >= from + length);
                prop_assert!(expected < from + length + finest.end(0));
            }
        }
    }
}
