//! The rooms of `answers` from outside.

mod book;
mod desk;
mod put_off;
mod table;
mod world;
