//! The ledger from outside: what is brought, and what is answered.

mod lives;
mod orders;
mod upkeep;
mod world;
