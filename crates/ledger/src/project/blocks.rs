//! Windows of five hours, as the clients count them.
//!
//! A window opens with the first response after the last one closed, at the full hour before it, and closes five hours
//! later. What is spent in it counts together; a pause opens nothing.

use crate::view::BlockForecast;

/// The length of a window, in milliseconds.
pub const BLOCK_MS: i64 = 5 * 3_600_000;

const HOUR_MS: i64 = 3_600_000;

/// A window, and the pieces that fall into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block<T> {
    /// The moment when it opened.
    pub from: i64,
    /// The moment when it closes.
    pub to: i64,
    /// The moment when its first piece was.
    pub first: i64,
    /// The moment when its last piece was.
    pub last: i64,
    /// Its pieces, oldest first.
    pub pieces: Vec<T>,
}

/// Puts pieces, oldest first, into windows.
pub fn blocks<T>(pieces: impl IntoIterator<Item = (i64, T)>) -> Vec<Block<T>> {
    let mut all: Vec<Block<T>> = Vec::new();
    for (at, piece) in pieces {
        match all.last_mut().filter(|block| at < block.to) {
            Some(block) => {
                block.last = at;
                block.pieces.push(piece);
            }
            None => {
                // Rounded down and not towards zero: moments before 1970 occur in wrong clocks, and a window must not
                // begin after its first response.
                let from = at.div_euclid(HOUR_MS) * HOUR_MS;
                all.push(Block { from, to: from + BLOCK_MS, first: at, last: at, pieces: vec![piece] });
            }
        }
    }
    all
}

/// The rate at which an open window fills, and its projected total.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// The usage per minute since the first response.
    pub per_minute: f64,
    /// The projected usage when the window closes.
    pub at_end: f64,
}

/// Returns the pace of a window that was opened by its first piece and holds so much now.
#[must_use]
pub fn pace(first: i64, to: i64, now: i64, amount: f64) -> Option<Pace> {
    if now >= to || now < first {
        return None;
    }
    // In the first minute a rate would be anything.
    let minutes = ((now - first) as f64 / 60_000.0).max(1.0);
    let per_minute = amount / minutes;
    Some(Pace { per_minute, at_end: amount + per_minute * (to - now) as f64 / 60_000.0 })
}

impl BlockForecast {
    /// Returns the forecast of a window by its paces in tokens and in dollars, of which so many responses have no price.
    #[must_use]
    pub fn new(tokens: Pace, dollars: Pace, unpriced: u64) -> Self {
        let dollars = (unpriced == 0).then_some(dollars);
        Self {
            tokens_per_minute: tokens.per_minute,
            cost_per_hour_usd: dollars.map(|dollars| dollars.per_minute * 60.0),
            tokens: tokens.at_end.round() as u64,
            cost_usd: dollars.map(|dollars| dollars.at_end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUARTER: i64 = 900_000;

    #[test]
    fn a_window_opens_at_the_full_hour_and_the_next_with_the_first_piece_after_it() {
        let at = |hours: i64, quarters: i64| hours * HOUR_MS + quarters * QUARTER;
        let pieces = [(at(8, 2), 'a'), (at(12, 3), 'b'), (at(13, 0), 'c'), (at(30, 1), 'd')];
        let blocks = blocks(pieces);
        let shown: Vec<(i64, i64, &[char])> =
            blocks.iter().map(|block| (block.from / HOUR_MS, block.last, block.pieces.as_slice())).collect();
        assert_eq!(
            shown,
            [
                (8, at(12, 3), ['a', 'b'].as_slice()),
                (13, at(13, 0), ['c'].as_slice()),
                (30, at(30, 1), ['d'].as_slice()),
            ]
        );
    }

    #[test]
    fn a_pace_is_known_only_while_the_window_is_open() {
        assert_eq!(pace(0, BLOCK_MS, BLOCK_MS, 10.0), None);
        assert_eq!(pace(60_000, BLOCK_MS, 0, 10.0), None);
        let pace = pace(0, BLOCK_MS, HOUR_MS, 60.0).unwrap();
        assert_eq!((pace.per_minute, pace.at_end), (1.0, 300.0));
        assert_eq!(super::pace(0, BLOCK_MS, 1, 60.0).unwrap().per_minute, 60.0);
    }

    #[test]
    fn what_has_no_price_is_not_forecast_to_cost_nothing() {
        let pace = |amount: f64| pace(0, BLOCK_MS, 60 * 60_000, amount).unwrap();
        let all = BlockForecast::new(pace(600.0), pace(2.0), 0);
        assert_eq!((all.tokens, all.cost_per_hour_usd, all.cost_usd), (3_000, Some(2.0), Some(10.0)));
        let some = BlockForecast::new(pace(600.0), pace(2.0), 1);
        assert_eq!((some.tokens, some.cost_per_hour_usd, some.cost_usd), (3_000, None, None));
    }
}
