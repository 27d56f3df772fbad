//! Rules as people write them, calls as agents make them, answers as agents take them.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test's helpers fail by panicking, and a missing element fails the test"
)]

mod answers;
mod attacks;
mod captured;
mod criteria;
mod deciding;
mod document;
mod evasions;
mod examples;
mod foreign_words;
mod granting;
mod inputs;
mod laws;
mod reading;
mod schema;
mod tables;
mod verifying;
mod world;

#[test]
fn every_file_of_this_folder_is_part_of_the_binary() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    let own = include_str!("main.rs");
    for entry in std::fs::read_dir(folder).expect("the folder of this file") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let module = name.trim_end_matches(".rs");
        assert!(
            module == "main" || own.contains(&format!("mod {module};")),
            "`{name}` is not a module of `main.rs`"
        );
    }
}
