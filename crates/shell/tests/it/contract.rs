//! The shape on the wire: names, order and what is left out.

use agent_tracer_shell::{Context, Dialect, ShellCall, analyze, describe};
use serde_json::{Value, json};

#[test]
fn an_analysis_has_the_names_that_others_rely_on() {
    let analysis = analyze("cd web && sudo npm test 2>&1 | tail -5 || true", &Context::default());
    assert_eq!(
        serde_json::to_value(&analysis).expect("an analysis"),
        json!({
            "raw": "cd web && sudo npm test 2>&1 | tail -5 || true",
            "structure": "compound",
            "overallEffect": "execute_check",
            "confidence": "high",
            "failureMasked": true,
            "decisiveStep": 1,
            "steps": [
                {
                    "raw": "cd web",
                    "commandName": "cd",
                    "operation": "change_directory",
                    "targets": [{"type": "directory", "value": "web"}],
                    "effects": ["neutral"],
                    "effect": "neutral",
                    "confidence": "high",
                    "redirects": [],
                    "wrappers": []
                },
                {
                    "raw": "sudo npm test 2>&1 | tail -5",
                    "commandName": "npm",
                    "subcommand": "test",
                    "operation": "pipeline",
                    "targets": [],
                    "effects": ["execute_check", "read_only"],
                    "effect": "execute_check",
                    "confidence": "high",
                    "operatorFromPrevious": "&&",
                    "redirects": [],
                    "wrappers": [],
                    "pipeline": [
                        {
                            "raw": "sudo npm test 2>&1",
                            "commandName": "npm",
                            "subcommand": "test",
                            "operation": "run_test",
                            "targets": [],
                            "effects": ["execute_check"],
                            "effect": "execute_check",
                            "confidence": "high",
                            "redirects": [{"operator": "2>", "target": {"type": "stream", "value": "&1"}}],
                            "wrappers": ["sudo"]
                        },
                        {
                            "raw": "tail -5",
                            "commandName": "tail",
                            "operation": "limit_output",
                            "targets": [],
                            "effects": ["read_only"],
                            "effect": "read_only",
                            "confidence": "high",
                            "operatorFromPrevious": "|",
                            "redirects": [],
                            "wrappers": []
                        }
                    ]
                },
                {
                    "raw": "true",
                    "commandName": "true",
                    "operation": "nothing",
                    "targets": [],
                    "effects": ["neutral"],
                    "effect": "neutral",
                    "confidence": "high",
                    "operatorFromPrevious": "||",
                    "redirects": [],
                    "wrappers": []
                }
            ],
            "checks": [
                {
                    "step": 1,
                    "commandName": "npm",
                    "operation": "run_test",
                    "zeroMeansPassed": false,
                    "nonZeroMeansFailed": false
                }
            ]
        })
    );
}

#[test]
fn the_semantic_fields_have_their_fixed_names() {
    let call = describe("rg -n parse src", &Context::default());
    assert_eq!(
        serde_json::to_value(&call.semantics).expect("semantics"),
        json!({
            "subtypeKey": "shell_probe",
            "subtypeLabel": "Shell probe",
            "subtypeGroup": "shell",
            "toolFamily": "terminal",
            "operation": "search",
            "entityType": "command",
            "entityName": "rg",
            "importance": "minor",
            "probeKey": "grep_code"
        })
    );
    assert_eq!(serde_json::to_value(call.lane).expect("a lane"), "exploration");
}

#[test]
fn everything_reads_back_as_it_was_written() {
    for command in ["", "ls", "a | b && c & d", "echo $(rm x) > y; f() { g; }; f", "bash -c 'x'"] {
        let call = describe(command, &Context::default());
        let text = serde_json::to_string(&call).expect("a call");
        // What its steps reach is for rules in the same process and is not written.
        let again = serde_json::from_str::<ShellCall>(&text).expect("the same call");
        assert_eq!(serde_json::to_string(&again).expect("a call"), text);
        assert_eq!((again.exposure, again.files, again.title), (call.exposure, call.files, call.title));
    }
}

#[test]
fn an_empty_command_has_no_steps_and_nothing_is_known_of_it() {
    for command in ["", "   ", "\n\n", "# only a comment"] {
        let analysis = serde_json::to_value(analyze(command, &Context::default())).expect("an analysis");
        assert_eq!(
            analysis,
            json!({
                "raw": command,
                "structure": "simple",
                "overallEffect": "unknown",
                "confidence": "low",
                "failureMasked": false,
                "decisiveStep": null,
                "steps": []
            })
        );
    }
}

#[test]
fn operators_are_spelled_as_in_the_shell() {
    let analysis = analyze("a && b || c; d & e | f |& g\nh", &Context::default());
    let value = serde_json::to_value(&analysis).expect("an analysis");
    let steps = value["steps"].as_array().expect("steps");
    let operators: Vec<&Value> = steps.iter().map(|step| &step["operatorFromPrevious"]).collect();
    assert_eq!(operators, [&Value::Null, &json!("&&"), &json!("||"), &json!(";"), &json!("&"), &json!(";")]);
    let members = steps[4]["pipeline"].as_array().expect("a pipeline");
    let inner: Vec<&Value> = members.iter().map(|step| &step["operatorFromPrevious"]).collect();
    assert_eq!(inner, [&Value::Null, &json!("|"), &json!("|&")]);
}

#[test]
fn the_context_makes_paths_absolute() {
    let context = Context { cwd: Some("/repo"), home: Some("/home/dev"), ..Context::default() };
    let call = describe("cd sub && cat ../a.txt ~/b.txt > ./c.txt && rm -r /tmp/x", &context);
    assert_eq!(call.files.read, ["/repo/a.txt", "/home/dev/b.txt"]);
    assert_eq!(call.files.written, ["/repo/sub/c.txt"]);
    assert_eq!(call.files.deleted, ["/tmp/x"]);
    assert_eq!(call.files.all(), ["/repo/sub/c.txt", "/tmp/x", "/repo/a.txt", "/home/dev/b.txt"]);
}

#[test]
fn a_configured_pattern_makes_a_command_the_check_of_a_rule() {
    let context = Context { rule_patterns: &["npm run verify"], ..Context::default() };
    let call = describe("cd x && npm run verify --all", &context);
    assert_eq!(serde_json::to_value(call.semantics.subtype_key).expect("a key"), "rule_check");
    assert_eq!(serde_json::to_value(call.lane).expect("a lane"), "rule");
    let other =
        describe("npm test", &Context { rule_patterns: &["", "npm run verify"], ..Context::default() });
    assert_eq!(serde_json::to_value(other.semantics.subtype_key).expect("a key"), "run_test");
}

#[test]
fn the_dialect_decides_what_a_word_means() {
    let powershell = Context { dialect: Dialect::PowerShell, ..Context::default() };
    assert_eq!(describe("del a.txt", &powershell).files.deleted, ["a.txt"]);
    assert!(describe("del a.txt", &Context::default()).files.deleted.is_empty());
}
