//! The ledger from outside: what is brought, and what is answered.

mod lives;
mod orders;
mod queries;
mod queries_world;
mod upkeep;
mod world;
