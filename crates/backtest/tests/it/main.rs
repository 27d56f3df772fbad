//! Rules over captured history: what a back-test says is what a live hook would have been told.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test's helpers fail by panicking, and a missing element fails the test"
)]

mod history;
mod live;
mod walking;
mod world;

#[test]
fn no_file_of_this_folder_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(module == "main" || main.contains(&format!("\nmod {module};\n")), "`{name}` is not compiled");
    }
}
