//! The rooms of `answers` from outside.

mod book;
mod table;
mod world;
