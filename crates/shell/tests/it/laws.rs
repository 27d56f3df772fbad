//! Laws that hold for any text.

use agent_tracer_shell::{Context, Dialect, Effect, Step, analyze, describe};
use proptest::prelude::*;

/// Pieces of shell, so that random text is often almost right.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "rm", "-rf", "ls", "cat", "a.txt", "src/", "git", "push", "--force", "npm", "test", "echo", "cd", "x",
            "sudo", "bash", "-c", "eval", "xargs", "find", ".", "-exec", "{}", "\\;", "curl", "https://h.example/s",
            "for", "f", "in", "do", "done", "if", "then", "else", "fi", "while", "case", "esac", ";;", "function",
            "python3", "true", "set", "-e", "exit", "1", "FOO=bar", "$FOO", "${FOO:-x}", "$(", "$((", "))", "`",
            "<(", ">(", "<<EOF", "EOF", "<<-'E'", "<<<", "é", "日本", "🦀", "[[", "]]", "((", "{", "}", "ssh", "h",
        ]).prop_map(str::to_owned),
        3 => prop::sample::select(vec![
            " ", "\n", "\t", ";", "&&", "||", "|", "|&", "&", "(", ")", "'", "\"", "\\", ">", ">>", "2>&1", "&>",
            "<", "#", "!", "$", "=", "*", "?", "~", "\r\n", "\u{0}", ",", ":", "-", "+", "@", "%",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,6}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| {
        let mut text = String::new();
        for (position, piece) in pieces.into_iter().enumerate() {
            if position % 3 != 0 {
                text.push(' ');
            }
            text.push_str(&piece);
        }
        text
    })
}

fn contexts() -> impl Strategy<Value = Context<'static>> {
    prop_oneof![
        Just(Context::default()),
        Just(Context {
            dialect: Dialect::PowerShell,
            cwd: Some("/w"),
            home: Some("/h"),
            rule_patterns: &["x"]
        }),
    ]
}

fn every<'s>(steps: &'s [Step], visit: &mut impl FnMut(&'s Step)) {
    for step in steps {
        visit(step);
        every(step.pipeline.as_deref().unwrap_or_default(), visit);
        every(&step.substitutions, visit);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_an_answer_and_always_the_same(text in "\\PC{0,200}", context in contexts()) {
        prop_assert_eq!(describe(&text, &context), describe(&text, &context));
    }

    #[test]
    fn almost_shell_has_an_answer_and_always_the_same(text in pieces(), context in contexts()) {
        prop_assert_eq!(describe(&text, &context), describe(&text, &context));
    }

    #[test]
    fn every_step_was_read_from_the_command(text in pieces(), context in contexts()) {
        let analysis = analyze(&text, &context);
        let mut wrong = Vec::new();
        every(&analysis.steps, &mut |step| if !text.contains(&step.raw) { wrong.push(step.raw.clone()); });
        prop_assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn the_whole_is_as_grave_as_its_gravest_step_and_as_sure_as_its_least_sure(text in pieces(), context in contexts()) {
        let analysis = analyze(&text, &context);
        let gravest = analysis.steps.iter().map(|step| step.effect).max().unwrap_or(Effect::Unknown);
        prop_assert!(analysis.overall_effect >= gravest);
        let least = analysis.steps.iter().map(|step| step.confidence).min();
        prop_assert!(least.is_none_or(|least| analysis.confidence <= least));
        for step in &analysis.steps {
            prop_assert_eq!(step.effects.first().copied().unwrap_or(Effect::Unknown), step.effect);
            prop_assert!(step.effects.is_sorted_by(|left, right| left > right));
        }
        prop_assert!(analysis.decisive_step.is_none_or(|step| step < analysis.steps.len()));
    }

    #[test]
    fn titles_are_short_and_on_one_line(text in pieces(), context in contexts()) {
        let title = describe(&text, &context).title;
        prop_assert!(!title.is_empty() && title.chars().count() <= 100 && !title.contains('\n'), "{title:?}");
    }

    /// A simple step read again on its own says the same. Steps that depend on what ran before them (a
    /// directory, a variable, a function, a download, a pipe) and those inside wrappers are not on their own.
    #[test]
    fn a_simple_step_read_again_says_the_same(
        name in prop::sample::select(vec!["ls", "rm", "cat", "git push", "npm test", "cargo build", "echo", "mv", "curl", "unknown"]),
        arguments in prop::collection::vec(
            prop::sample::select(vec!["-f", "--force", "a.txt", "'b c'", "\"d\"", "e\\ f", "*.rs", "{g,h}", "> out", "2>/dev/null", "日本"]),
            0..5,
        ),
    ) {
        let command = format!("{name} {}", arguments.join(" "));
        let first = analyze(&command, &Context::default());
        for step in &first.steps {
            let again = analyze(&step.raw, &Context::default());
            prop_assert_eq!(&again.steps, std::slice::from_ref(step));
        }
    }

    #[test]
    fn what_follows_never_makes_a_command_less_grave(head in pieces(), effect in prop::sample::select(vec!["rm -rf x", "git push --force", "curl h | sh"])) {
        // Unless the head swallows it: an open quote or here-document makes it text.
        let with = format!("{effect}\n{head}");
        prop_assert!(analyze(&with, &Context::default()).overall_effect >= Effect::Destructive, "{with}");
    }
}

#[test]
fn a_title_is_one_line_also_where_a_substitution_never_ends() {
    let title = describe(
        "sudo ssh rmrm rm rm\" ' rmrm rm rm' rm rmrm rm   rmrm rm ;;eval $( \n",
        &Context::default(),
    )
    .title;
    assert!(!title.contains('\n'), "{title:?}");
}
