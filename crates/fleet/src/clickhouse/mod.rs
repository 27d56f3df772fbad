//! Stores the records of many machines in ClickHouse.
//!
//! Every machine derives its tasks and facts itself; here they arrive as versioned records, under the owner that the
//! sender's token names, and the newest version of each counts. So nothing is folded here, nothing has an order in which
//! it must arrive, and the same shipment twice is the same shipment once. Servers keep no state of their own.
//!
//! Entry points: [`Fleet`] is the database, [`Fleet::migrate`] brings it up to date, [`Fleet::write`] takes shipments,
//! [`Reader`] answers queries about the records of some owners, [`Fleet::tokens`] lists the tokens for shipping and
//! reading, [`Fleet::access_log`] reads the access log; [`Fleet::make_days`] makes the sums of closed days;
//! [`Fleet::forget`] and [`Fleet::keep_for`] delete.

mod access_log;
mod checksum;
mod days;
mod deletion;
mod disk;
mod fact_columns;
mod fleet;
mod insert_batcher;
mod read;
pub mod schema;
mod spend_row;
mod token;
mod write;

pub use access_log::AccessEntry;
pub use checksum::Checksum;
pub use days::{RollupDelays, RollupReport};
pub use deletion::{DeletionScope, RowCounts};
pub use disk::DiskUsage;
pub use fleet::{Fleet, FleetError, StoreAddress};
pub use read::Reader;
pub use token::{Token, TokenScope};
