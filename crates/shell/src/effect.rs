//! Effects: what a step may do to the world, and which of two is graver.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A possible effect of a step, ordered by gravity: the greater of two is the graver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    // `Ord` is derived: the order of the lines is the order of gravity, and moving one changes verdicts.
    /// Changes nothing and looks at nothing but the shell itself: `cd`, `echo`, `true`.
    Neutral,
    /// Looks at files, processes or services and leaves them as they are.
    ReadOnly,
    /// The command line does not show it.
    Unknown,
    /// Runs a check or a build: what it leaves behind can be made again.
    ExecuteCheck,
    /// Talks to other machines.
    Network,
    /// Changes files, repositories, services or settings.
    Write,
    /// Deletes or overwrites what may not come back.
    Destructive,
    /// Runs code that comes from, or runs on, another machine.
    RemoteExecution,
}

impl Effect {
    /// Every effect, gravest first.
    pub const GRAVEST_FIRST: [Self; 8] = [
        Self::RemoteExecution,
        Self::Destructive,
        Self::Write,
        Self::Network,
        Self::ExecuteCheck,
        Self::Unknown,
        Self::ReadOnly,
        Self::Neutral,
    ];

    /// Returns the spelling on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Neutral => "neutral",
            Self::ReadOnly => "read_only",
            Self::Unknown => "unknown",
            Self::ExecuteCheck => "execute_check",
            Self::Network => "network",
            Self::Write => "write",
            Self::Destructive => "destructive",
            Self::RemoteExecution => "remote_execution",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of effects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects(u8);

impl Effects {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NEUTRAL: Self = Self::of(Effect::Neutral);
    pub(crate) const READ: Self = Self::of(Effect::ReadOnly);
    pub(crate) const UNKNOWN: Self = Self::of(Effect::Unknown);
    pub(crate) const CHECK: Self = Self::of(Effect::ExecuteCheck);
    pub(crate) const NETWORK: Self = Self::of(Effect::Network);
    pub(crate) const WRITE: Self = Self::of(Effect::Write);
    pub(crate) const DESTROY: Self = Self::of(Effect::Destructive);
    pub(crate) const REMOTE: Self = Self::of(Effect::RemoteExecution);

    pub(crate) const fn of(effect: Effect) -> Self {
        // Eight effects fill the byte; a ninth needs a wider type.
        Self(1 << effect as u8)
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn has(self, effect: Effect) -> bool {
        self.0 & (1 << effect as u8) != 0
    }

    /// Returns `true` if nothing is in this set that is not in the other.
    pub(crate) const fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the gravest member; a step of which nothing is known is `unknown`.
    pub(crate) fn gravest(self) -> Effect {
        Effect::GRAVEST_FIRST.into_iter().find(|&effect| self.has(effect)).unwrap_or(Effect::Unknown)
    }

    /// Returns the members, gravest first.
    pub(crate) fn list(self) -> Vec<Effect> {
        Effect::GRAVEST_FIRST.into_iter().filter(|&effect| self.has(effect)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_graveness_is_the_one_that_is_written_down() {
        let names: Vec<&str> = Effect::GRAVEST_FIRST.into_iter().map(Effect::as_str).collect();
        assert_eq!(
            names,
            [
                "remote_execution",
                "destructive",
                "write",
                "network",
                "execute_check",
                "unknown",
                "read_only",
                "neutral"
            ]
        );
        assert!(Effect::GRAVEST_FIRST.is_sorted_by(|left, right| left > right));
    }

    #[test]
    fn a_set_lists_the_gravest_first_and_an_empty_set_is_unknown() {
        let set = Effects::READ.and(Effects::NETWORK).and(Effects::WRITE);
        assert_eq!(set.list(), [Effect::Write, Effect::Network, Effect::ReadOnly]);
        assert_eq!(set.gravest(), Effect::Write);
        assert_eq!(Effects::NONE.gravest(), Effect::Unknown);
        assert_eq!(set.without(Effects::WRITE).gravest(), Effect::Network);
        assert!(Effects::READ.within(set) && !set.within(Effects::READ));
    }
}
