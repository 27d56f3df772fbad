//! The promises of `privacy`, tested from outside.

#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test's helpers fail by panicking, and a missing element fails the test"
)]

mod arguments;
mod attacks;
mod canary;
mod corpus;
mod fixtures;
mod hostile;
mod levels;
mod masked_payloads;
mod outcomes;
mod properties;
mod reference_rules;
mod spellings;
mod structured_arguments;

/// A file that is not named above would not be compiled, and its tests would not run.
#[test]
fn every_file_of_this_folder_is_part_of_the_suite() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let here = include_str!("main.rs");
    for entry in std::fs::read_dir(folder).expect("the folder of the suite") {
        let name = entry.expect("an entry").file_name().into_string().expect("a name");
        if let Some(module) = name.strip_suffix(".rs")
            && module != "main"
        {
            assert!(here.contains(&format!("mod {module};")), "`{name}` is not part of the suite");
        }
    }
}
