//! What commands really do, as data and as laws. One binary; a file that is forgotten here is an error.

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
