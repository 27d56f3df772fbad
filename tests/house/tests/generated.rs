//! The check of generated files itself.

use std::fs;

use agent_tracer_house::sync;

#[test]
fn a_stale_file_is_written_only_when_it_is_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("docs/page.md");
    assert!(!sync(&file, "new", false).expect("compared"), "a missing file is stale");
    assert!(!file.exists());
    assert!(sync(&file, "new", true).expect("written"));
    assert_eq!(fs::read_to_string(&file).expect("the page"), "new");
    assert!(sync(&file, "new", false).expect("compared"));
    assert!(!sync(&file, "newer", false).expect("compared"));
    assert_eq!(fs::read_to_string(&file).expect("the page"), "new");
}
