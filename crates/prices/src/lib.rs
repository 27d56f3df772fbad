//! Describes what a response costs.
//!
//! A price table that was taken from a pinned release of a public source is built in; users put their own prices before
//! it. Laws:
//! - Pure: no files, no clock, no network. `scripts/refresh-prices` is what takes a newer table.
//! - Exact: a cost is a whole number of trillionths of a dollar, so sums do not drift; it is rounded when it is shown.
//! - An unknown model has no price. It is never taken for another one that merely looks like it.
//! - Every price says where it comes from.

mod money;
mod name;
mod overrides;
mod prices;
mod rates;
mod table;
mod usage;

pub use money::{MicroDollars, PicoDollars};
pub use overrides::{EntryError, OverrideError, Overrides};
pub use prices::{About, Price, Prices, Source};
pub use rates::Rates;
pub use usage::{BilledUsage, Prompt, Region, Tier};
