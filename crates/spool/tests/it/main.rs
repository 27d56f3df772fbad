//! The spool from outside: formats, files and promises, on a real file system.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail by panicking")]

mod accept;
mod doorbell;
mod drain;
mod envelope;
mod full_disk;
mod no_handles;
mod purge;
mod refusals;
mod sweep;
mod threads;
mod world;

#[test]
fn no_file_of_this_folder_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap_or(&name);
        assert!(module == "main" || main.contains(&format!("mod {module};")), "`{name}` is not run");
    }
}
