//! `docs/policy.md` says what the code does, and nothing else.

use std::path::Path;

use agent_tracer_policy::legality;
use agent_tracer_policy::schema::SchemaPart;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/policy.md");
const BEGIN: &str = "<!-- table: made by a test, do not edit -->\n";
const END: &str = "<!-- end of table -->";

fn document() -> String {
    std::fs::read_to_string(Path::new(PATH)).expect("docs/policy.md")
}

#[test]
fn the_table_is_the_one_in_the_code() {
    agent_tracer_house::assert_part("docs/policy.md", BEGIN, END, &legality::markdown());
}

#[test]
fn every_key_is_described_in_the_words_of_the_schema_and_no_other() {
    let text = document();
    for part in SchemaPart::ALL {
        let heading = match part {
            SchemaPart::File => "### The file",
            SchemaPart::Rule => "### A rule",
            SchemaPart::Match => "### `match` and `unless`",
            SchemaPart::Command => "### `command`",
            SchemaPart::Time => "### `time`",
            SchemaPart::When => "### `when`",
            SchemaPart::Require => "### `require`",
            SchemaPart::Rewrite => "### `rewrite`",
            SchemaPart::Example => "### An example",
        };
        let (_, section) =
            text.split_once(&format!("{heading}\n")).unwrap_or_else(|| panic!("no `{heading}`"));
        let section = section.split("\n#").next().unwrap();
        let described: Vec<(&str, String)> = section
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |")?.split_once("` | "))
            .map(|(key, means)| (key, means.replace("\\|", "|")))
            .collect();
        let known: Vec<(&str, String)> =
            part.described().map(|(key, means)| (key, means.to_owned())).collect();
        assert_eq!(described, known, "{heading}");
    }
}

#[test]
fn every_example_in_the_document_is_sound() {
    let text = document();
    let mut seen = 0;
    for block in text.split("```toml\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let whole =
            if block.contains("version = ") { block.to_owned() } else { format!("version = 1\n{block}") };
        let file = agent_tracer_policy::read(&whole);
        assert!(file.is_ok(), "{:?}\n{block}", file.unwrap_err());
        seen += 1;
    }
    assert!(seen >= 2);
}
