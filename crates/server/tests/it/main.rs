//! The server as its callers see it: real connections over loopback, every rule with a test that fails without it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test's helpers fail by panicking, and a missing element fails the test"
)]

mod access;
mod assets;
mod backtest;
mod client;
mod compactions;
mod events;
mod hooks;
mod ledger;
mod limits;
mod metrics;
#[cfg(target_os = "linux")]
mod other_users;
mod queries;
mod sessions;
mod store;
mod stream;
mod team;
mod telemetry;
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
