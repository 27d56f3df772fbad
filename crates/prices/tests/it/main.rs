//! The price table as it is built in, held against what the clients themselves say that they spent.

mod accounts;
mod laws;
mod table;
