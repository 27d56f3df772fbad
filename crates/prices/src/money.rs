//! Amounts of money. Law: sums are exact, rounding happens once, at the end.
//!
//! Providers price a token down to 5.5 billionths of a dollar, and a factor for a region makes fractions of that; the
//! smallest unit that holds every price of the table as a whole number is the trillionth of a dollar. So costs are
//! counted in those, and a thousand responses in any order give the same sum to the last digit. In 64 bits with a sign
//! it reaches to nine million dollars, in the 128 bits used here to more than there is.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// An exact amount in trillionths of a US dollar. Adding saturates instead of overflowing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PicoDollars(pub u128);

/// An amount in millionths of a US dollar, rounded: for showing and comparing, not for adding up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MicroDollars(pub u64);

impl PicoDollars {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// Rounds to millionths of a dollar, half to even.
    #[must_use]
    pub fn micro(self) -> MicroDollars {
        MicroDollars(u64::try_from(divide_half_even(self.0, 1_000_000)).unwrap_or(u64::MAX))
    }

    /// Returns the amount in dollars, as near as a float gets.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a float is what is asked for")]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / DOLLAR
    }

    /// Returns the difference, or nothing if `other` is more.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }
}

const DOLLAR: f64 = 1_000_000_000_000.0;

/// Divides and rounds half to even.
pub(crate) fn divide_half_even(number: u128, by: u128) -> u128 {
    let (whole, rest) = (number / by, number % by);
    match rest.cmp(&(by - rest)) {
        std::cmp::Ordering::Less => whole,
        std::cmp::Ordering::Equal => whole + whole % 2,
        std::cmp::Ordering::Greater => whole + 1,
    }
}

impl Add for PicoDollars {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for PicoDollars {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for PicoDollars {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl MicroDollars {
    /// Returns the amount in dollars, as near as a float gets.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a float is what is asked for")]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1_000_000.0
    }
}

impl fmt::Display for MicroDollars {
    /// Writes dollars with all six decimals: `$0.010026`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "${}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn halves_round_to_the_even_neighbour() {
        for (pico, micro) in [
            (0, 0),
            (499_999, 0),
            (500_000, 0),
            (500_001, 1),
            (1_499_999, 1),
            (1_500_000, 2),
            (2_500_000, 2),
            (2_500_001, 3),
        ] {
            assert_eq!(PicoDollars(pico).micro(), MicroDollars(micro), "{pico}");
        }
    }

    #[test]
    fn amounts_are_shown_in_dollars() {
        assert_eq!(MicroDollars(10_026).to_string(), "$0.010026");
        assert_eq!(MicroDollars(12_000_000).to_string(), "$12.000000");
        assert_eq!(PicoDollars(10_026_000_000).dollars().to_string(), "0.010026");
        assert_eq!(PicoDollars(1_360_000_000_000).dollars().to_string(), "1.36");
        assert_eq!(MicroDollars(1_500_000).dollars().to_string(), "1.5");
    }

    #[test]
    fn too_much_money_saturates() {
        let all = PicoDollars(u128::MAX);
        assert_eq!(all + PicoDollars(1), all);
        assert_eq!(all.micro(), MicroDollars(u64::MAX));
        assert_eq!([all, all].into_iter().sum::<PicoDollars>(), all);
        assert_eq!(PicoDollars(1).checked_sub(PicoDollars(2)), None);
        assert_eq!(PicoDollars(3).checked_sub(PicoDollars(1)), Some(PicoDollars(2)));
    }

    proptest! {
        #[test]
        fn sums_do_not_depend_on_their_order(amounts in prop::collection::vec(any::<u64>(), 0..40)) {
            let forward: PicoDollars = amounts.iter().map(|amount| PicoDollars(u128::from(*amount))).sum();
            let backward: PicoDollars = amounts.iter().rev().map(|amount| PicoDollars(u128::from(*amount))).sum();
            prop_assert_eq!(forward, backward);
            prop_assert_eq!(forward.0, amounts.iter().map(|amount| u128::from(*amount)).sum::<u128>());
        }

        #[test]
        fn rounding_moves_by_half_a_unit_at_most(number in any::<u64>(), by in 1..5_000_u64) {
            let (number, by) = (u128::from(number), u128::from(by));
            let rounded = divide_half_even(number, by) * by;
            prop_assert!(rounded.abs_diff(number) * 2 <= by);
        }
    }
}
