//! Hostile input: huge, deep, unfinished. It costs what it is long, and it is never read as harmless.

use agent_tracer_shell::{Confidence, Context, Dialect, Effect, analyze, describe};

/// Shapes that broke other parsers: each is repeated until it is 64 KiB long.
const SHAPES: &[&str] = &[
    "(",
    "$(",
    "\"$(",
    "{ ",
    "if ",
    "${a:-",
    "`",
    "\\`",
    "<<A ",
    "a && ",
    "a|",
    "$((",
    "((",
    "! ",
    "case x in a) ",
    "a ",
    "\\",
    "<(",
    "[[ ",
    "f() ",
    "for x in ",
    "while ",
    "'",
    "\"",
    "$'",
    "a;",
    "a&",
    "\n",
    "a\n",
    "#",
    ">",
    "> a ",
    "2>&1 ",
    "x=(",
    "x[",
    "@(",
    "{a,",
    "{a,b}",
    "*",
    "sudo ",
    "env A=1 ",
    "bash -c ",
    "eval ",
    "find . -exec ",
    "xargs ",
    "time ",
    "coproc ",
    "function f ",
    "select x in ",
    "until ",
    "elif ",
    "then ",
    "fi ",
    "done ",
    "esac ",
    ";; ",
    ") ",
    "} ",
    "]] ",
    "<<<a ",
    "<<'A'\n",
    "<<-A\n",
    "é",
    "日本 ",
    "🦀;",
    "$x ",
    "${x} ",
    "`a` ",
    "$(a) ",
    "a=b ",
    "a=$a$a; ",
    "cat <<A\n$(cat <<B\n",
    "trap 'a' b; ",
    "sed p;",
    "sed -e p ",
    "awk {print} ",
    "alias a=a; a ",
    "env -S a ",
    "let a=1 ",
    "${a:=b} ",
    "((a=1)) ",
    "read a ",
    "ssh h ",
    "\r\n",
    "\u{0}",
];

fn repeated(shape: &str, bytes: usize) -> String {
    shape.repeat(bytes / shape.len() + 1)
}

/// Runs on a stack of 512 KiB, a quarter of what a thread usually has.
fn on_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(512 * 1024).spawn(run).expect("a thread");
    thread.join().expect("no panic and no overflow");
}

#[test]
fn sixty_four_kilobytes_of_anything_have_an_answer() {
    on_small_stack(|| {
        for shape in SHAPES {
            let text = repeated(shape, 64 * 1024);
            for dialect in [Dialect::Bash, Dialect::PowerShell] {
                let call = describe(&text, &Context { dialect, ..Context::default() });
                assert_eq!(call.analysis.raw.len(), text.len());
                assert!(call.analysis.steps.len() <= 300, "{shape}: {} steps", call.analysis.steps.len());
            }
        }
    });
}

#[test]
fn ten_thousand_levels_are_too_deep_and_said_to_be() {
    on_small_stack(|| {
        for (open, close) in
            [("(", ")"), ("$(", ")"), ("\"$(", ")\""), ("{ ", "; }"), ("${a:-", "}"), ("if a; then ", "; fi")]
        {
            let text = format!("echo {}ls{}", open.repeat(10_000), close.repeat(10_000));
            let analysis = analyze(&text, &Context::default());
            assert_eq!(analysis.confidence, Confidence::Low, "{open}");
            assert!(analysis.overall_effect >= Effect::Unknown, "{open}");
        }
    });
}

#[test]
fn a_deletion_below_the_deepest_level_is_still_found() {
    for (open, close) in [("( ", " )"), ("{ ", "; }"), ("if a; then ", "; fi"), ("while a; do ", "; done")] {
        let text = format!("{}rm -rf x{}", open.repeat(500), close.repeat(500));
        assert_eq!(analyze(&text, &Context::default()).overall_effect, Effect::Destructive, "{open}");
    }
}

#[test]
fn scripts_in_scripts_end_somewhere() {
    let mut text = "rm x".to_owned();
    for _ in 0..5 {
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
        text = format!("bash -c \"{escaped}\"");
    }
    assert_eq!(analyze(&text, &Context::default()).overall_effect, Effect::Destructive);
    for _ in 0..4 {
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
        text = format!("bash -c \"{escaped}\"");
    }
    let deep = analyze(&text, &Context::default());
    assert_eq!((deep.overall_effect, deep.confidence), (Effect::Unknown, Confidence::Low));
}

#[test]
fn the_gravest_of_thousands_of_steps_is_listed() {
    let text = format!("{}rm -rf x; {}", "ls; ".repeat(5_000), "ls; ".repeat(5_000));
    let analysis = analyze(&text, &Context::default());
    assert_eq!(analysis.overall_effect, Effect::Destructive);
    let decisive = &analysis.steps[analysis.decisive_step.expect("a step")];
    assert_eq!(decisive.raw, "rm -rf x");
    assert_eq!(analysis.steps.len() + analysis.omitted_steps, 10_001);
    assert!(analysis.steps.len() < 300);
}

#[test]
fn a_megabyte_and_more_is_read_as_far_as_it_goes() {
    let text = format!("echo {}; rm x", "é".repeat(1024 * 1024));
    let analysis = analyze(&text, &Context::default());
    assert_eq!(analysis.confidence, Confidence::Low);
    assert!(analysis.overall_effect >= Effect::Unknown);
}

#[test]
fn doubling_variables_and_braces_do_not_grow() {
    let doubling = (0..200).map(|n| format!("V{}=$V{n}$V{n}; ", n + 1)).collect::<String>();
    let text = format!("V0=aaaaaaaaaaaaaaaa; {doubling} echo $V200; eval $V200");
    assert!(analyze(&text, &Context::default()).steps.len() < 300);
    let braces = format!("touch {}", "{a,b}".repeat(2_000));
    assert_eq!(analyze(&braces, &Context::default()).overall_effect, Effect::Write);
}
