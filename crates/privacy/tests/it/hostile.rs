//! Input that no agent should send: malformed, huge, deep, cut off, ambiguous.

use agent_tracer_agent::Agent;
use agent_tracer_privacy::{FaultKind, Level, Source};
use serde_json::{Value, json};

use crate::fixtures::{reduced, run, variants};

fn fault(input: &[u8]) -> Option<(FaultKind, usize)> {
    let (reduction, out) = run(input, Source::Hook(Agent::CLAUDE_CODE), Level::Actions);
    if reduction.fault.is_some() {
        assert!(out.is_empty(), "nothing is written: {}", String::from_utf8_lossy(&out));
    }
    reduction.fault.map(|fault| (fault.what, fault.at))
}

#[test]
fn input_that_is_no_object_is_refused_with_its_place() {
    for (input, what, at) in [
        (&b""[..], FaultKind::UnexpectedEnd, 0),
        (b"   ", FaultKind::UnexpectedEnd, 3),
        (b"null", FaultKind::NotAnObject, 0),
        (b"[1]", FaultKind::NotAnObject, 0),
        (b"\"text\"", FaultKind::NotAnObject, 0),
        (b"not json", FaultKind::NotAnObject, 0),
        (b"\xff\xfe{\0}\0", FaultKind::NotAnObject, 0),
        (b"{", FaultKind::UnexpectedEnd, 1),
        (b"{]", FaultKind::UnexpectedByte, 1),
        (b"{\"a\"}", FaultKind::UnexpectedByte, 4),
        (b"{\"a\":}", FaultKind::UnexpectedByte, 5),
        (b"{\"a\":1,}", FaultKind::UnexpectedByte, 7),
        (b"{,\"a\":1}", FaultKind::UnexpectedByte, 1),
        (b"{\"a\":1 \"b\":2}", FaultKind::UnexpectedByte, 7),
        (b"{a:1}", FaultKind::UnexpectedByte, 1),
        (b"{'a':1}", FaultKind::UnexpectedByte, 1),
        (b"{\"a\":[1,]}", FaultKind::UnexpectedByte, 8),
        (b"{\"a\":[1 2]}", FaultKind::UnexpectedByte, 8),
        (b"{\"a\":[}", FaultKind::UnexpectedByte, 6),
        (b"{\"a\":01}", FaultKind::BadNumber, 6),
        (b"{\"a\":1.}", FaultKind::BadNumber, 7),
        (b"{\"a\":-}", FaultKind::BadNumber, 6),
        (b"{\"a\":1e}", FaultKind::BadNumber, 7),
        (b"{\"a\":+1}", FaultKind::UnexpectedByte, 5),
        (b"{\"a\":NaN}", FaultKind::UnexpectedByte, 5),
        (b"{\"a\":nul}", FaultKind::BadWord, 8),
        (b"{\"a\":truth}", FaultKind::BadWord, 8),
        (b"{\"a\":\"\n\"}", FaultKind::ControlCharacter, 6),
        (b"{\"a\":\"\0\"}", FaultKind::ControlCharacter, 6),
        (b"{\"a\":\"\\x41\"}", FaultKind::BadEscape, 6),
        (b"{\"a\":\"\\u12g4\"}", FaultKind::BadEscape, 6),
        (b"{\"a\":\"\\u12", FaultKind::UnexpectedEnd, 10),
        (b"{\"a\":\"b", FaultKind::UnexpectedEnd, 7),
        (b"{\"a\":\"b\xff\"}", FaultKind::InvalidUtf8, 7),
        (b"{\"a\":\"\xed\xa0\x80\"}", FaultKind::InvalidUtf8, 6),
        (b"{\"\xc3\":1}", FaultKind::InvalidUtf8, 2),
        (b"{} {}", FaultKind::TrailingBytes, 3),
        (b"{}x", FaultKind::TrailingBytes, 2),
        (b"{}\0", FaultKind::TrailingBytes, 2),
    ] {
        assert_eq!(fault(input), Some((what, at)), "{}", String::from_utf8_lossy(input));
    }
    for fine in [&b"{}"[..], b"\xef\xbb\xbf{}", b" \t\r\n{ } \n", b"{\"a\":-0.5e+10}", b"{\"\":[],\"b\":{}}"]
    {
        assert_eq!(fault(fine), None, "{}", String::from_utf8_lossy(fine));
    }
}

#[test]
fn malformed_bytes_inside_a_body_are_found_too() {
    for body in [
        "[1,]",
        "{\"a\"}",
        "[[[",
        "\"\\q\"",
        "{\"a\":1,}",
        "01",
        "[\"a\" \"b\"]",
        "{\"usage\":{]}",
        "{\"tasks\":[1,]}",
        "tru",
        "{\"task\":{\"id\":}}",
    ] {
        for name in ["tool_response", "error", "content", "compact_summary"] {
            let input = format!(
                "{{\"hook_event_name\":\"ElicitationResult\",\"tool_name\":\"X\",\"{name}\":{body}}}"
            );
            assert!(fault(input.as_bytes()).is_some(), "{input}");
        }
        let input = format!("{{\"tool_input\":{{\"content\":{body}}}}}");
        assert!(fault(input.as_bytes()).is_some(), "{input}");
        let input = format!("{{\"tool_input\":{{\"answers\":{body}}}}}");
        assert!(fault(input.as_bytes()).is_some(), "{input}");
    }
}

#[test]
fn bytes_that_are_dropped_need_not_be_text() {
    let kept = |input: &[u8]| {
        let (reduction, out) = run(input, Source::Hook(Agent::CLAUDE_CODE), Level::Actions);
        assert_eq!(reduction.fault, None);
        serde_json::from_slice::<Value>(&out).expect("JSON")
    };
    let result =
        kept(b"{\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Bash\",\"tool_response\":\"a\xffb\"}");
    assert_eq!(result["tool_response"], json!({"outputBytes": 3}));
    let file = kept(b"{\"tool_input\":{\"content\":\"\xff\xfe\"}}");
    assert_eq!(file["tool_input"]["content"]["bytes"], 2);
    let error = kept(
        b"{\"hook_event_name\":\"PostToolUseFailure\",\"tool_name\":\"Read\",\"error\":\"bad \xff byte\"}",
    );
    assert_eq!(error["error"]["firstLine"], "bad \u{fffd} byte");
    let (_, full) = run(b"{\"tool_response\":\"a\xffb\"}", Source::Hook(Agent::CLAUDE_CODE), Level::Full);
    let full: Value = serde_json::from_slice(&full).expect("JSON");
    assert_eq!(full["tool_response"]["head"], "a\u{fffd}b");
}

#[test]
fn surrogates_and_control_characters_come_through() {
    let kept = |spelling: &str| {
        reduced(
            &format!("{{\"prompt\":\"{spelling}\",\"x\":\"{spelling}\"}}"),
            Source::Hook(Agent::CLAUDE_CODE),
            Level::Actions,
        )
    };
    for (spelling, text) in [
        ("\\ud83d\\ude00", "\u{1f600}"),
        ("a\\ud83db", "a\u{fffd}b"),
        ("\\ude00\\ud83d", "\u{fffd}\u{fffd}"),
        ("\\ud83d\\ud83d\\ude00", "\u{fffd}\u{1f600}"),
        ("\\ud83d\\n", "\u{fffd}\n"),
        ("\\u0000\\u001f\\u007f", "\0\u{1f}\u{7f}"),
        ("\\b\\f\\n\\r\\t\\/\\\\\\\"", "\u{8}\u{c}\n\r\t/\\\""),
        ("\\u20AC \\u00e9", "€ é"),
    ] {
        assert_eq!(kept(spelling), json!({"prompt": text, "x": text}), "{spelling}");
    }
    let bytes = |spelling: &str| {
        let input =
            format!("{{\"tool_name\":\"X\",\"hook_event_name\":\"Y\",\"tool_response\":\"{spelling}\"}}");
        reduced(&input, Source::Hook(Agent::CLAUDE_CODE), Level::Actions)["tool_response"]["outputBytes"]
            .clone()
    };
    for (spelling, length) in [
        ("\\ud83d\\ude00", 4),
        ("\\ud83d", 3),
        ("\\u00e9", 2),
        ("\\u0041", 1),
        ("\\u20ac", 3),
        ("\\n", 1),
        ("é", 2),
    ] {
        assert_eq!(bytes(spelling), json!(length), "{spelling}");
    }
}

#[test]
fn a_million_levels_are_no_danger() {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(1_000_000), close.repeat(1_000_000));
    let nests = [
        deep("[", "]"),
        format!("{}1{}", "{\"a\":".repeat(500_000), "}".repeat(500_000)),
        deep("[[{\"x\":[", "]}]]"),
    ];
    for nest in nests {
        for members in [
            format!("\"tool_response\":{nest}"),
            format!("\"anything\":{nest}"),
            format!("\"tool_input\":{{\"content\":{nest},\"other\":{nest}}}"),
            format!("\"error\":{nest},\"content\":{nest}"),
            format!("\"tool_calls\":{nest}"),
        ] {
            let kept =
                run(format!("{{{members}}}").as_bytes(), Source::Hook(Agent::CLAUDE_CODE), Level::Actions);
            assert_eq!(kept.0.fault, None);
            assert!(kept.1.len() < 2000, "{} bytes", kept.1.len());
        }
    }
    assert!(matches!(
        fault(format!("{{\"tool_response\":{}", "[".repeat(1_000_000)).as_bytes()),
        Some((FaultKind::UnexpectedEnd, _))
    ));
}

#[test]
fn kept_content_is_kept_down_to_sixty_four_levels() {
    let nested = |depth: usize| format!("{{\"x\":{}\"leaf\"{}}}", "[".repeat(depth), "]".repeat(depth));
    let shallow = reduced(&nested(63), Source::Hook(Agent::CLAUDE_CODE), Level::Actions).to_string();
    assert!(shallow.contains("leaf"));
    let deep = reduced(&nested(64), Source::Hook(Agent::CLAUDE_CODE), Level::Actions).to_string();
    assert!(!deep.contains("leaf") && deep.contains(r#"{"reduced":"too_deep","bytes":8}"#), "{deep}");
}

#[test]
fn fifty_megabytes_are_measured() {
    let line = "all work and no play makes \\\"Jack\\\" a dull boy\\n";
    let times = 50 * 1024 * 1024 / line.len();
    let mut input = String::with_capacity(60 << 20);
    input.push_str(
        "{\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Bash\",\"tool_response\":{\"stdout\":\"",
    );
    for _ in 0..times {
        input.push_str(line);
    }
    input.push_str("\",\"interrupted\":false},\"after\":1}");
    let kept = reduced(&input, Source::Hook(Agent::CLAUDE_CODE), Level::Actions);
    assert_eq!(kept["tool_response"]["outputBytes"], json!(times * (line.len() - 3)));
    assert_eq!(kept["after"], 1);
}

#[test]
fn a_list_without_end_is_closed_early() {
    for level in [Level::Metadata, Level::Actions, Level::Full] {
        let many = format!(
            "{{\"list\":[{}\"last\"],\"map\":{{{}\"z\":1}},\"after\":1}}",
            "\"\",".repeat(2_000_000),
            "\"a\":\"b\",".repeat(300_000)
        );
        let (reduction, out) = run(many.as_bytes(), Source::Hook(Agent::CLAUDE_CODE), level);
        assert_eq!(reduction.fault, None);
        assert!(out.len() < 1_200_000, "{} bytes at {level:?}", out.len());
        let kept: Value = serde_json::from_slice(&out).expect("JSON");
        assert_eq!(kept["after"], 1);
        let last = kept["list"].as_array().and_then(|list| list.last()).expect("a list");
        assert_eq!(last["reduced"], "too_big");
        assert_eq!(kept["map"]["reduced"], "too_big");
    }
}

#[test]
fn many_members_that_must_wait_take_no_longer_than_they_should() {
    let input = format!(
        "{{{}\"hook_event_name\":\"PostToolUseFailure\"}}",
        "\"error\":\"x\",\"content\":{\"a\":[1]},".repeat(50_000)
    );
    let (reduction, out) = run(input.as_bytes(), Source::Hook(Agent::CLAUDE_CODE), Level::Actions);
    assert_eq!(reduction.fault, None);
    assert_eq!(out.iter().filter(|byte| **byte == b'{').count(), 100_001);
}

#[test]
fn a_number_without_end_is_not_kept() {
    let kept = reduced(
        &format!("{{\"n\":{},\"m\":12345678901234567890}}", "9".repeat(5000)),
        Source::Hook(Agent::CLAUDE_CODE),
        Level::Actions,
    );
    assert_eq!(kept["n"], json!({"bytes": 5000}));
    assert_eq!(kept["m"], json!(12345678901234567890u64));
}

#[test]
fn every_member_of_a_repeated_name_is_treated_alike() {
    let input = r#"{"prompt":"a","prompt":"password=hunter2","tool_response":"x","tool_response":{"y":"z"},"tool_input":{"content":"c","content":"d"}}"#;
    let (_, out) = run(input.as_bytes(), Source::Hook(Agent::CLAUDE_CODE), Level::Actions);
    let out = String::from_utf8(out).expect("UTF-8");
    assert_eq!(out.matches("\"prompt\"").count(), 2);
    assert_eq!(out.matches("outputBytes").count(), 2);
    assert_eq!(out.matches("\"hash\"").count(), 2);
    assert!(!out.contains("hunter2"));
}

#[test]
fn every_cut_of_every_captured_payload_is_refused() {
    for case in variants() {
        let text = case.payload.to_string();
        for end in 0..text.len() {
            let (reduction, out) = run(&text.as_bytes()[..end], case.source, Level::Actions);
            let fault = reduction.fault.unwrap_or_else(|| panic!("{} cut at {end} was accepted", case.name));
            assert!(fault.at <= end && out.is_empty(), "{} cut at {end}", case.name);
        }
    }
}

#[test]
fn a_second_document_or_a_newline_behind_the_payload() {
    assert_eq!(fault(b"{\"a\":1}\n"), None);
    assert_eq!(fault(b"{\"a\":1}\n{\"b\":2}\n").map(|fault| fault.0), Some(FaultKind::TrailingBytes));
}

#[test]
fn directories_are_returned_only_if_some_are_excluded() {
    let input = br#"{"cwd":"/home/dev/\u0041","workspace":{"project_dir":"/home/dev"},"tool_input":{"project_dir":"/no","cwd":"/no"}}"#;
    let mut out = Vec::new();
    let (excluding, faults) = agent_tracer_privacy::Config::parse(b"exclude /nowhere");
    assert!(faults.is_empty());
    let reduced =
        agent_tracer_privacy::reduce(input, Source::StatusLine, &excluding, &mut || [0; 16], &mut out);
    assert_eq!(reduced.cwd.as_deref(), Some(&b"/home/dev/A"[..]));
    assert_eq!(reduced.project_dir.as_deref(), Some(&b"/home/dev"[..]));
    let (silent, _) = run(input, Source::StatusLine, Level::Actions);
    assert_eq!((silent.cwd, silent.project_dir), (None, None));
}

#[test]
fn no_text_makes_masking_slow() {
    // A search that starts again at every mark and goes on to the end would take minutes for each of these.
    for part in [
        "password=",
        "password=\"",
        "password=a,",
        "password=a(",
        "key=key=",
        "key=\"",
        "token: ",
        "token=\\\"",
        "api_key: a.b.c.",
        "${PASSWORD:-",
        "://a@b ",
        "://a:b@",
        "://",
        "-----BEGIN ",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "-----END RSA PRIVATE KEY-----",
        "eyJ.",
        "eyJhbGciOiJIUzI1NiJ9.",
        "eyJhbGciOiJIUzI1NiJ9 ",
        "a.b.",
        "sk-sk-",
        "-sk-",
        "ghp_",
        "x",
        "x-",
        "aA1",
        "aA1-",
        "Authorization: ",
        "Authorization: Bearer ",
        "Cookie: a=",
        "Cookie: ",
        "--password ",
        "--token x ",
        "mysql -p",
        "mysql -pa ",
        "curl -u ",
        "[masked:",
        "[masked:token]",
        "password=[masked:",
        "https://hooks.slack.com/services/T/B/",
        "Bearer ",
        "1234567890:AA",
        "<task-notification>",
        "<result>",
        "\"password\": \"",
        "-",
        "=",
        ":",
        " -p",
        "\\",
        "é",
        "password=é",
    ] {
        let text = part.repeat(60_000 / part.len());
        let once = agent_tracer_privacy::mask(&text).into_owned();
        assert!(once.len() <= text.len() + 40 * once.matches("[masked:").count(), "{part}");
        let kept =
            reduced(&json!({"prompt": text}).to_string(), Source::Hook(Agent::CLAUDE_CODE), Level::Actions);
        assert!(kept["prompt"].is_string(), "{part}");
    }
}

#[test]
fn addresses_one_inside_another_are_masked_to_the_first_however_many_they_are() {
    for count in [1, 100, 2_000] {
        let text = format!("{}s://u:p@host", "https://user:".repeat(count));
        let once = agent_tracer_privacy::mask(&text).into_owned();
        assert_eq!(agent_tracer_privacy::mask(&once), once, "{count}");
        assert_eq!(once, "https://user:[masked:url-password]@host", "{count}");
    }
}
