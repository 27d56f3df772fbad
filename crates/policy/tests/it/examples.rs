//! The rules to begin with are sound, and do what they say.

use agent_tracer_policy::{EXAMPLES, Surroundings, read, template, try_examples};

use crate::world::{around, rules};

#[test]
fn each_example_is_sound_and_does_what_it_says() {
    for (name, text) in EXAMPLES {
        let file = rules(text);
        assert!(
            file.notes.iter().all(|note| note.what.contains("does nothing at")),
            "{name}: {:?}",
            file.notes
        );
        let failed: Vec<_> =
            try_examples(&file, &around()).into_iter().filter(|trial| !trial.holds()).collect();
        assert!(failed.is_empty(), "{name}: {failed:#?}");
        assert!(
            file.rules.iter().any(|rule| !rule.examples.is_empty()) || *name == "budget",
            "{name} has no example"
        );
    }
}

#[test]
fn the_folder_holds_no_other() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let files = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(files, EXAMPLES.len());
}

#[test]
fn the_template_is_sound_as_it_is_and_with_every_comment_taken_away() {
    assert!(read(&template()).expect("sound").rules.is_empty());
    // What is taken away is `# `, as an editor would; what was a comment before stays one.
    let (head, rest) =
        template().split_once("version = 1\n").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let uncommented: String = rest
        .lines()
        .map(|line| {
            line.strip_prefix("# ").or_else(|| line.strip_prefix('#')).unwrap_or(line).to_owned() + "\n"
        })
        .collect();
    let file = read(&format!("{head}version = 1\n{uncommented}")).expect("sound");
    assert!(file.rules.len() >= EXAMPLES.len());
    assert!(try_examples(&file, &around()).iter().all(agent_tracer_policy::Trial::holds));
}

#[test]
fn a_failed_example_is_reported_with_its_decision() {
    let file = rules(
        "[[rule]]\nname = \"r\"\non = \"PreToolUse\"\ndecision = \"deny\"\nreason = \"no\"\nmatch.tool = \"Bash\"\n[[rule.example]]\ntool = \"Bash\"\nexpect = \"nothing\"\n",
    );
    let trials = try_examples(&file, &Surroundings::default());
    assert_eq!(trials.len(), 1);
    assert!(!trials[0].holds());
    assert_eq!(
        (trials[0].got.map(|it| it.as_str()), trials[0].by.as_slice()),
        (Some("deny"), &["r".to_owned()][..])
    );
}
