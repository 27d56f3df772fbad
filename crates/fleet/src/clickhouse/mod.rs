//! What many machines recorded, in ClickHouse.
//!
//! Every machine derives its tasks and facts itself; here they arrive as versioned records, under the owner that the
//! sender's token names, and the newest version of each counts. So nothing is folded here, nothing has an order in which
//! it must arrive, and the same shipment twice is the same shipment once. Servers keep no state of their own.
//!
//! Doors: [`Fleet`] is the database, [`Fleet::migrate`] brings it up to date, [`Fleet::write`] takes shipments,
//! [`Reader`] answers questions about what some owners recorded, [`Fleet::tokens`] says who may ship and read,
//! [`Fleet::visits`] who read whose sessions; [`Fleet::make_days`] makes the sums of closed days; [`Fleet::forget`] and
//! [`Fleet::keep_for`] let go.

mod days;
mod disk;
mod fleet;
mod gather;
mod read;
pub mod schema;
mod tend;
mod token;
mod verify;
mod visit;
mod write;

pub use days::{RollupDelays, RollupReport};
pub use disk::OnDisk;
pub use fleet::{Fleet, FleetError, Place};
pub use read::Reader;
pub use tend::{Forget, Rows};
pub use token::{Token, TokenScope};
pub use verify::Checksum;
pub use visit::Visit;
