//! The law of `uninstall`: it undoes `install` to the byte, and what others changed in between stays.

use agent_tracer_agents::claude;
use agent_tracer_agents::codex;
use agent_tracer_agents::hooks::{Undo, own_hooks, own_verifiers, verified_rule};
use agent_tracer_agents::settings::Settings;
use proptest::prelude::*;

use crate::claude_install::{install, options};
use crate::codex_install::{install as install_codex, options as options_codex};
use crate::files::{CLAUDE, CODEX};

fn undo(text: &str, undo: &Undo) -> String {
    claude::install::withdraw(text, undo, None).expect("a readable file").text
}

#[test]
fn every_file_comes_back_to_the_byte() {
    for (name, text) in CLAUDE {
        let installed = install(text);
        assert_ne!(installed.text, *text, "{name}");
        assert_eq!(undo(&installed.text, &installed.undo), *text, "{name}: after\n{}", installed.text);
    }
    for (name, text) in CODEX {
        let installed = install_codex(text);
        let back = codex::install::withdraw(&installed.text, &installed.undo).expect("a readable file").text;
        assert_eq!(back, *text, "{name}: after\n{}", installed.text);
    }
}

#[test]
fn without_notes_our_entries_still_go_and_nothing_foreign_does() {
    for (name, text) in CLAUDE {
        let installed = install(text);
        let back = undo(&installed.text, &Undo::default());
        let after = Settings::parse(&back).expect("JSON");
        assert!(own_hooks(&after).is_empty(), "{name}");
        assert!(!back.contains("agent-tracer-hook\""), "{name}: {back}");
        let before = Settings::parse(text).expect("JSON").value();
        for (key, content) in before.as_object().expect("an object") {
            if !matches!(key.as_str(), "hooks" | "statusLine") {
                assert_eq!(after.value().get(key), Some(content), "{name}: {key}");
            }
        }
    }
}

#[test]
fn without_notes_the_chained_status_line_comes_back_from_the_chain() {
    let text = "{\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"line --x\",\n    \"padding\": 1\n  }\n}\n";
    let installed = install(text);
    let back =
        claude::install::withdraw(&installed.text, &Undo::default(), Some("line --x")).expect("a plan");
    assert_eq!(back.text, text);
}

#[test]
fn a_status_line_that_the_user_changed_since_stays() {
    let installed = install("{\"a\":1}");
    let theirs = options().status_line_command();
    let changed = installed.text.replace(&theirs, "my new line");
    assert_ne!(changed, installed.text);
    let back = undo(&changed, &installed.undo);
    let line = Settings::parse(&back).expect("JSON").value()["statusLine"]["command"].clone();
    assert_eq!(line, "my new line");
}

#[test]
fn groups_that_the_user_added_to_what_we_made_stay() {
    let installed = install("{}\n");
    let theirs = r#"[
      {"hooks": [{"type": "command", "command": "theirs"}]},"#;
    let changed = installed.text.replacen("\"Stop\": [", &format!("\"Stop\": {theirs}"), 1);
    let back = Settings::parse(&undo(&changed, &installed.undo)).expect("JSON").value();
    assert_eq!(
        back,
        serde_json::json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}})
    );
}

#[test]
fn a_file_that_the_agent_has_written_anew_loses_exactly_our_entries() {
    let text = "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"x\"\n          }\n        ]\n      }\n    ]\n  }\n}";
    let installed = install(text);
    let mut value = Settings::parse(&installed.text).expect("JSON").value();
    value["model"] = "opus".into();
    let rewritten = serde_json::to_string_pretty(&value).expect("JSON");
    let mut expected = Settings::parse(text).expect("JSON").value();
    expected["model"] = "opus".into();
    assert_eq!(undo(&rewritten, &installed.undo), serde_json::to_string_pretty(&expected).expect("JSON"));
}

#[test]
fn removal_says_which_foreign_groups_changed_their_number() {
    let installed = install_codex("{}");
    let changed = installed.text.replacen(
        "\"Stop\": [\n",
        "\"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"before\"}]},\n",
        1,
    );
    let none = codex::install::withdraw(&changed, &installed.undo).expect("a plan");
    assert!(none.changes.shifted.is_empty(), "ours was the last group");
    let settings = Settings::parse(&installed.text).expect("JSON").value();
    let mut behind = settings.clone();
    behind["hooks"]["Stop"]
        .as_array_mut()
        .expect("groups")
        .push(serde_json::json!({"hooks": [{"type": "command", "command": "behind"}]}));
    let some = codex::install::withdraw(&behind.to_string(), &installed.undo).expect("a plan");
    assert_eq!(some.changes.shifted, ["Stop"]);
}

/// A way to write white space between tokens.
fn gap(comments: bool) -> BoxedStrategy<String> {
    let plain = prop_oneof![
        4 => Just(String::new()),
        3 => Just(" ".to_owned()),
        2 => Just("\n".to_owned()),
        2 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just("  \n\n    ".to_owned()),
    ];
    if comments {
        prop_oneof![
            8 => plain,
            1 => Just(" /* c */ ".to_owned()),
            1 => Just(" // c, {\"[\n".to_owned()),
        ]
        .boxed()
    } else {
        plain.boxed()
    }
}

fn scalar() -> BoxedStrategy<String> {
    prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i32>().prop_map(|number| number.to_string()),
        "[a-zA-Z0-9 ,:{}\\[\\]/*é]{0,12}".prop_map(|text| serde_json::Value::String(text).to_string()),
    ]
    .boxed()
}

/// Joins children with random white space, and perhaps a trailing comma, between two brackets.
fn container(
    open: char,
    close: char,
    entry: BoxedStrategy<String>,
    loose: bool,
    most: usize,
) -> BoxedStrategy<String> {
    let entries = proptest::collection::vec((gap(loose), entry, gap(loose)), 0..=most);
    (entries, gap(loose), any::<bool>())
        .prop_map(move |(entries, tail, trailing)| {
            let trailing = trailing && loose && !entries.is_empty();
            let body: Vec<String> =
                entries.into_iter().map(|(before, entry, after)| format!("{before}{entry}{after}")).collect();
            format!("{open}{}{}{tail}{close}", body.join(","), if trailing { "," } else { "" })
        })
        .boxed()
}

fn member(name: BoxedStrategy<String>, value: BoxedStrategy<String>, loose: bool) -> BoxedStrategy<String> {
    (name, gap(loose), gap(loose), value)
        .prop_map(|(name, before, after, value)| format!("\"{name}\"{before}:{after}{value}"))
        .boxed()
}

fn any_value(loose: bool) -> BoxedStrategy<String> {
    scalar()
        .prop_recursive(3, 16, 4, move |inner| {
            let names = "[a-z]{1,6}".boxed();
            prop_oneof![
                container('[', ']', inner.clone().boxed(), loose, 3),
                container('{', '}', member(names, inner.boxed(), loose), loose, 3),
            ]
        })
        .boxed()
}

fn one_of(names: &'static [&'static str]) -> BoxedStrategy<String> {
    proptest::sample::select(names).prop_map(str::to_owned).boxed()
}

/// A settings file: foreign members, foreign hooks of known and unknown events, status lines, all in random dress.
fn file(loose: bool) -> BoxedStrategy<String> {
    let command = one_of(&["\"x\"", "\"~/bin/a b.sh\"", "\"echo agent-tracer-hook\""]);
    let handler = container(
        '{',
        '}',
        prop_oneof![
            Just("\"type\": \"command\"".to_owned()),
            member(Just("command".to_owned()).boxed(), command.clone(), loose),
        ]
        .boxed(),
        loose,
        2,
    );
    let handlers = member(Just("hooks".to_owned()).boxed(), container('[', ']', handler, loose, 2), loose);
    let group = container('{', '}', handlers, loose, 1);
    let groups = container('[', ']', group, loose, 2);
    // Each event once: agents differ in what they make of a name that occurs twice.
    let events = [one_of(&["Stop", "Setup"]), one_of(&["PreToolUse", "SessionEnd"]), one_of(&["Unknown"])];
    let events = events.map(|name| member(name, groups.clone(), loose));
    let hooks = proptest::sample::subsequence(events.to_vec(), 0..=3)
        .prop_flat_map(|events| events)
        .prop_flat_map(move |events| (Just(events), gap(loose), any::<bool>()))
        .prop_map(move |(events, tail, trailing)| {
            let trailing = trailing && loose && !events.is_empty();
            format!("{{{}{}{tail}}}", events.join(", "), if trailing { "," } else { "" })
        })
        .boxed();
    let line = container('{', '}', member(Just("command".to_owned()).boxed(), command, loose), loose, 1);
    let members = vec![
        member(Just("model".to_owned()).boxed(), scalar(), loose),
        member(Just("hooks".to_owned()).boxed(), hooks, loose),
        member(Just("statusLine".to_owned()).boxed(), line, loose),
        member(Just("env".to_owned()).boxed(), any_value(loose), loose),
        member(Just("other".to_owned()).boxed(), any_value(loose), loose),
    ];
    let members = proptest::sample::subsequence(members, 0..=5).prop_shuffle();
    (gap(loose), members.prop_flat_map(|members| members), gap(loose), gap(loose), any::<bool>())
        .prop_flat_map(move |(before, members, tail, after, trailing)| {
            let gaps = proptest::collection::vec((gap(loose), gap(loose)), members.len());
            (Just((before, members, tail, after, trailing)), gaps)
        })
        .prop_map(move |((before, members, tail, after, trailing), gaps)| {
            let trailing = trailing && loose && !members.is_empty();
            let body: Vec<String> = members
                .into_iter()
                .zip(gaps)
                .map(|(member, (front, back))| format!("{front}{member}{back}"))
                .collect();
            format!("{before}{{{}{}{tail}}}{after}", body.join(","), if trailing { "," } else { "" })
        })
        .boxed()
}

fn cases() -> ProptestConfig {
    ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn install_then_uninstall_is_nothing(text in file(true)) {
        let installed = install(&text);
        let again = claude::install::plan(&installed.text, &options(), installed.undo.clone()).expect("a plan");
        prop_assert_eq!(&again.text, &installed.text, "idempotent");
        prop_assert_eq!(own_hooks(&Settings::parse(&installed.text).expect("JSON")).len(), 31);
        prop_assert_eq!(undo(&installed.text, &installed.undo), text);
    }

    #[test]
    fn the_same_holds_for_codex(text in file(true)) {
        let installed = install_codex(&text);
        let again = codex::install::plan(&installed.text, &options_codex(), installed.undo.clone()).expect("a plan");
        prop_assert_eq!(&again.text, &installed.text, "idempotent");
        let back = codex::install::withdraw(&installed.text, &installed.undo).expect("a plan").text;
        prop_assert_eq!(back, text);
    }

    #[test]
    fn strict_files_stay_strict(text in file(false)) {
        let installed = install(&text);
        serde_json::from_str::<serde_json::Value>(&installed.text).expect("strict JSON");
        prop_assert_eq!(undo(&installed.text, &installed.undo), text);
    }

    #[test]
    fn a_foreign_member_added_in_front_meanwhile_stays(text in file(true)) {
        prop_assume!(Settings::parse(&text).expect("JSON").value().as_object().is_some_and(|root| !root.is_empty()));
        let add = |text: &str| text.replacen('{', "{ \"added\" : [ 1 , 2 ],", 1);
        // The first brace may stand in a comment; then the "member" is no member but still foreign text.
        let installed = install(&text);
        prop_assert_eq!(undo(&add(&installed.text), &installed.undo), add(&text));
    }

    #[test]
    fn a_foreign_value_changed_meanwhile_stays(text in file(true), value in any::<u16>()) {
        let change = |text: &str| text.replacen("\"model\"", &format!("\"m{value}\""), 1);
        let installed = install(&text);
        prop_assert_eq!(undo(&change(&installed.text), &installed.undo), change(&text));
    }

    #[test]
    fn a_foreign_member_added_behind_ours_meanwhile_stays(text in file(false)) {
        let add = |text: &str| {
            let (front, back) = text.rsplit_once('}').expect("an end");
            let last = front.trim_end();
            let gap = front.strip_prefix(last).expect("its own start");
            format!("{last},\n \"added\": true{gap}}}{back}")
        };
        prop_assume!(Settings::parse(&text).expect("JSON").value().as_object().is_some_and(|root| !root.is_empty()));
        let installed = install(&text);
        prop_assert_eq!(undo(&add(&installed.text), &installed.undo), add(&text));
    }

    #[test]
    fn verifiers_come_and_go_and_everything_else_stays(text in file(true)) {
        let installed = install(&text);
        let ask = |words: &str| claude::install::verifier("prompt", &format!("[Agent Tracer rule `{words}`] {words}"));
        let one = [ask("a"), ask("b")];
        let first = claude::install::verify(&installed.text, &one, installed.undo.clone()).expect("a plan");
        let same = claude::install::verify(&first.text, &one, first.undo.clone()).expect("a plan");
        prop_assert_eq!(&same.text, &first.text, "idempotent");
        prop_assert!(same.changes.is_empty());
        let again = claude::install::plan(&first.text, &options(), first.undo.clone()).expect("a plan");
        prop_assert_eq!(&again.text, &first.text, "an installation leaves them alone");
        let other = claude::install::verify(&first.text, &[ask("b"), ask("c")], first.undo.clone()).expect("a plan");
        let held = own_verifiers(&Settings::parse(&other.text).expect("JSON"));
        let rules: Vec<_> = held.iter().filter_map(|own| verified_rule(own.value["prompt"].as_str()?)).collect();
        prop_assert_eq!(rules, ["b", "c"]);
        let none = claude::install::verify(&other.text, &[], other.undo.clone()).expect("a plan");
        prop_assert_eq!(&none.text, &installed.text, "they leave no trace");
        prop_assert_eq!(undo(&other.text, &other.undo), text, "and go with everything else");
    }

    #[test]
    fn any_text_is_a_plan_or_an_error(text in any::<String>()) {
        if let Ok(installed) = claude::install::plan(&text, &options(), Undo::default()) {
            prop_assert_eq!(undo(&installed.text, &installed.undo), text);
        }
    }
}
