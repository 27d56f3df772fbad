//! Secrets in structured arguments, where the name is a member and the value a text of its own.

use agent_tracer_agent::Agent;
use agent_tracer_privacy::{Level, Source};
use serde_json::{Value, json};

use crate::fixtures::{claude, reduced, run};

const SECRET: &str = "hunter2secret";

fn input(arguments: Value) -> Value {
    claude(&json!({"hook_event_name": "PreToolUse", "tool_name": "mcp__x__y", "tool_input": arguments}))["tool_input"].clone()
}

#[test]
fn a_text_under_a_telling_name_is_masked() {
    let kept = input(json!({
        "password": SECRET, "env": {"API_KEY": SECRET, "PATH": "/usr/bin"}, "user": "admin",
        "headers": {"Authorization": format!("Basic {SECRET}"), "X-Api-Key": SECRET, "Accept": "text/plain", "Cookie": "a=b; c=d"},
        "secret": [SECRET, {"deep": [SECRET]}], "credentials": {"pass": SECRET, "other": SECRET, "user": "administrator"},
        "secrets": {"DB": SECRET}, "clientSecret": "abc",
    }));
    assert_eq!(
        kept,
        json!({
            "password": "[masked:password]", "env": {"API_KEY": "[masked:key]", "PATH": "/usr/bin"}, "user": "admin",
            "headers": {"Authorization": "Basic [masked:authorization]", "X-Api-Key": "[masked:key]",
                "Accept": "text/plain", "Cookie": "[masked:cookie]"},
            "secret": ["[masked:secret]", {"deep": ["[masked:secret]"]}],
            "credentials": {"pass": "[masked:password]", "other": "[masked:secret]", "user": "administrator"},
            "secrets": {"DB": "[masked:secret]"}, "clientSecret": "[masked:secret]",
        })
    );
}

#[test]
fn an_option_in_a_list_tells_of_the_argument_behind_it() {
    for (list, masked) in [
        (json!(["x", "--password", SECRET, "y"]), json!(["x", "--password", "[masked:option]", "y"])),
        (json!(["-u", format!("admin:{SECRET}")]), json!(["-u", "admin:[masked:option]"])),
        (json!(["curl", "-su", "me:pw"]), json!(["curl", "-su", "me:[masked:option]"])),
        (json!(["--user", "me:pw"]), json!(["--user", "me:[masked:option]"])),
        (json!(["mysql", "-phunter2", "db"]), json!(["mysql", "-p[masked:option]", "db"])),
        (
            json!(["/usr/bin/sshpass", "-p", "abc", "ssh"]),
            json!(["/usr/bin/sshpass", "-p", "[masked:option]", "ssh"]),
        ),
        (json!(["docker", "login", "-p", "abc"]), json!(["docker", "login", "-p", "[masked:option]"])),
        (json!(["--oauth2-bearer", "abc"]), json!(["--oauth2-bearer", "[masked:option]"])),
        (json!(["--cookie", "sid=abc"]), json!(["--cookie", "[masked:option]"])),
        (
            json!(["-H", "Authorization: Bearer abcdefgh"]),
            json!(["-H", "Authorization: Bearer [masked:authorization]"]),
        ),
    ] {
        let text = list.to_string();
        let kept = input(json!({"args": list}))["args"].clone();
        let kinds = kept.to_string().replace("[masked:password]", "[masked:option]");
        assert_eq!(kinds, masked.to_string(), "{text}");
        assert!(!kept.to_string().contains(SECRET), "{kept}");
    }
    for list in [
        json!(["docker", "run", "-u", "1000:1000"]),
        json!(["mkdir", "-p", "src/main"]),
        json!(["--token", "$TOKEN"]),
        json!(["--password", "--verbose", "word"]),
        json!(["--password-file", "/run/secret"]),
        json!(["psql", "-U", "app"]),
        json!(["--cookie", "jar.txt"]),
        json!(["-u", "https://example.com"]),
        json!(["--max-tokens", "4096"]),
    ] {
        assert_eq!(input(json!({"args": list.clone()}))["args"], list);
    }
}

#[test]
fn a_name_beside_a_value_tells_of_it_in_either_order() {
    for name in ["name", "key", "Name", "header"] {
        let kept = input(
            json!({"headers": [{name: "Authorization", "value": "Bearer abcd"}, {name: "Accept", "value": "abcd"}]}),
        );
        assert_eq!(kept["headers"][0]["value"], "Bearer [masked:authorization]", "{name}");
        assert_eq!(kept["headers"][1]["value"], "abcd", "{name}");
    }
    let text = format!(
        r#"{{"tool_input":{{"env":[{{"value":"{SECRET}","name":"DB_PASSWORD"}},{{"value":"x","name":"HOME"}}]}}}}"#
    );
    let kept = reduced(&text, Source::Hook(Agent::CLAUDE_CODE), Level::Actions);
    assert_eq!(kept["tool_input"]["env"][0], json!({"name": "DB_PASSWORD", "value": "[masked:password]"}));
    assert_eq!(kept["tool_input"]["env"][1], json!({"name": "HOME", "value": "x"}));
}

#[test]
fn references_to_secrets_and_descriptions_of_them_stay() {
    let arguments = json!({
        "password": "$DB_PASSWORD", "token": "${{ secrets.X }}", "api_key": "<your-key>", "secret": "",
        "max_tokens": "4096", "tokens": ["a", "list", "of", "words"], "token_count": "twelve", "key": "Enter",
        "primary_key": "id", "password_file": "/run/secrets/db", "credentials": "include",
        "schema": {"password": {"type": "string", "title": "Your own password", "description": "Choose a long one"}},
        "passed": "all of them", "author": "someone here", "value": "alone",
    });
    assert_eq!(input(arguments.clone()), arguments);
    let top = json!({
        "session_id": "5a133364-48e1-40c2-b568-cfba1112cbce", "prompt_id": "a1b2c3d4e5f6a7b8c9d0", "tool_use_id": "toolu_01A2b3C4d5E6f7G8",
        "token_usage": {"input_tokens": 12, "tokens": 4}, "max_tokens": 4096, "api_key_source": "ANTHROPIC_API_KEY",
    });
    assert_eq!(claude(&top), top);
}

#[test]
fn an_escaped_name_tells_as_much_as_a_plain_one_at_every_level() {
    let text = format!(
        r#"{{"p\u0061ssword":"{SECRET}","tool_input":{{"api\u005fkey":["{SECRET}"],"token":{{"id":"x","v":"{SECRET}"}},"args":["--p\u0061ssword","{SECRET}"]}}}}"#
    );
    for level in [Level::Metadata, Level::Actions, Level::Full] {
        let (_, out) = run(text.as_bytes(), Source::Hook(Agent::CODEX), level);
        let out = String::from_utf8(out).expect("UTF-8");
        assert!(!out.contains(SECRET), "{level:?}: {out}");
    }
}

#[test]
fn the_program_beside_its_arguments_tells_which_of_them_is_a_password() {
    for (arguments, masked) in [
        (
            json!({"command": "mysql", "args": ["-phunter2", "db"]}),
            json!({"command": "mysql", "args": ["-p[masked:option]", "db"]}),
        ),
        (
            json!({"args": ["-p", "abc", "ssh"], "cmd": "/usr/bin/sshpass"}),
            json!({"cmd": "/usr/bin/sshpass", "args": ["-p", "[masked:option]", "ssh"]}),
        ),
        (
            json!({"servers": {"db": {"command": "mysql", "args": ["-phunter2"]}}}),
            json!({"servers": {"db": {"command": "mysql", "args": ["-p[masked:option]"]}}}),
        ),
    ] {
        assert_eq!(input(arguments), masked);
    }
    for plain in [
        json!({"command": "mkdir", "args": ["-phunter2", "db"]}),
        json!({"command": "cargo", "args": ["test", "-p", "privacy"]}),
        json!({"args": ["-phunter2", "db"]}),
    ] {
        assert_eq!(input(plain.clone()), plain);
    }
}

#[test]
fn a_value_is_known_by_the_name_beside_it_however_either_is_spelled() {
    for pair in [
        r#"{"name":"DB_PASSWORD","value":"hunter2"}"#,
        r#"{"name":"DB_PASSWORD","v\u0061lue":"hunter2"}"#,
        r#"{"\u0076\u0061\u006c\u0075\u0065":"hunter2","n\u0061me":"DB_PASSWORD"}"#,
        r#"{"VALU\u0045":"hunter2","k\u0065y":"DB_P\u0041SSWORD"}"#,
    ] {
        let payload = format!(r#"{{"tool_name":"mcp__x__y","tool_input":{{"env":[{pair}]}}}}"#);
        let (_, out) = run(payload.as_bytes(), Source::Hook(Agent::CLAUDE_CODE), Level::Actions);
        let out = String::from_utf8(out).expect("UTF-8");
        assert!(out.contains("[masked:password]") && !out.contains("hunter2"), "{pair}: {out}");
    }
}

#[test]
fn a_random_value_is_masked_under_any_name_but_that_of_an_id_or_of_data() {
    let drawn = ["Zx81Kq0PvT3mWb7L", "r2YcNd5H"].concat();
    let kept = input(json!({"foo": drawn, "deep": {"bar": drawn}}));
    assert_eq!(kept, json!({"foo": "[masked:random]", "deep": {"bar": "[masked:random]"}}));
    let plain = json!({
        "id": drawn, "userId": drawn, "sha": drawn, "file_path": format!("/srv/{drawn}"), "cursor": drawn,
        "foo": "0123456789abcdef0123456789abcdef01234567", "uuid": "5a133364-48e1-40c2-b568-cfba1112cbce",
        "bar": "a sentence of a few words with 2 numbers 3", "call": format!("toolu_{drawn}"),
        "baz": "ThisIsAVeryLongClassNameWithManyWordsInItForTheTest",
    });
    assert_eq!(input(plain.clone()), plain);
}

#[test]
fn the_name_of_a_member_may_itself_hold_a_secret_however_short_it_is() {
    for (name, kept) in [
        ("password=hunter2", "password=[masked:password]"),
        ("pw=hunter22", "pw=[masked:password]"),
        ("a\nDB_PASS=hunter2", "a\nDB_PASS=[masked:password]"),
        ("Content-Type", "Content-Type"),
    ] {
        let payload = json!({"tool_input": {name: 1}}).to_string();
        let reduced = reduced(&payload, Source::Hook(Agent::CLAUDE_CODE), Level::Actions);
        assert_eq!(reduced, json!({"tool_input": {kept: 1}}));
    }
}
