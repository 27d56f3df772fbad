//! Tests of the effects of commands, as tables of cases and as laws.

mod acceptance;
mod bounds;
mod captured;
mod cases;
mod contract;
mod exits;
mod laws;
mod limits;
mod notation;
mod opacity;
mod oracle;
mod recursion;
