//! Every case file, one test each. The files say what commands do; they were written from that, not from what
//! this crate answers.

use crate::notation;

macro_rules! families {
    ($($name:ident)+) => {
        $(#[test]
        fn $name() {
            run(include_str!(concat!("../cases/", stringify!($name), ".txt")));
        })+

        const FAMILIES: &[(&str, &str)] = &[
            $((stringify!($name), include_str!(concat!("../cases/", stringify!($name), ".txt")))),+
        ];
    };
}

families! {
    agents
    build
    chains
    cloud
    containers
    databases
    disguises
    expansion
    files
    forge
    git
    go_jvm_others
    interpreters
    javascript
    kubernetes
    linting
    masking
    network
    packages
    powershell
    python
    remote_code
    rust
    structure
    system
    testing
    text
    titles
    wrappers
}

fn run(text: &str) {
    let cases = notation::read(text).expect("a file in the notation");
    assert!(!cases.is_empty(), "the file has cases");
    let wrong: Vec<String> = cases.iter().flat_map(notation::Case::differences).collect();
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_case_file_is_run_and_no_case_stands_twice() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");
    for entry in std::fs::read_dir(folder).expect("the folder of cases") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let family = name.trim_end_matches(".txt");
        assert!(FAMILIES.iter().any(|(known, _)| *known == family), "no test runs `{name}`");
    }
    let mut seen = std::collections::HashMap::new();
    for (family, text) in FAMILIES {
        for case in notation::read(text).expect("a file in the notation") {
            if let Some(other) = seen.insert((case.command.clone(), family.contains("powershell")), *family) {
                panic!("`{}` stands in `{other}` and `{family}`", case.command);
            }
        }
    }
    assert!(seen.len() >= 400, "{} cases", seen.len());
}
