//! Files in, numbers out.

use super::super::Place;
use super::*;

fn scan(files: &[(&str, &str)]) -> (ResponseSet, ScanCounts) {
    scan_in_chunks(files, usize::MAX)
}

fn scan_in_chunks(files: &[(&str, &str)], size: usize) -> (ResponseSet, ScanCounts) {
    let mut set = ResponseSet::default();
    let mut counts = ScanCounts::default();
    for (path, content) in files {
        let Place::Rows(file) = Place::of(path) else { panic!("{path} is no transcript") };
        let mut scan = UsageScan::new(file);
        for chunk in content.as_bytes().chunks(size) {
            scan.push(chunk, &mut set);
        }
        counts = counts.plus(&scan.finish(&mut set));
    }
    (set, counts)
}

fn response(id: &str, output: u64) -> String {
    format!(
        r#"{{"message":{{"id":"{id}","role":"assistant","model":"m","content":[{{"type":"text","text":"the \"usage\": {{ of words"}}],"usage":{{"input_tokens":1,"output_tokens":{output}}}}},"type":"assistant","sessionId":"s","timestamp":"2026-11-15T21:32:27.000Z"}}"#
    ) + "\n"
}

#[test]
fn the_blocks_of_one_message_count_once() {
    let rows = response("msg_1", 5) + &response("msg_1", 5) + &response("msg_2", 7);
    let (set, counts) = scan(&[("s.jsonl", &rows)]);
    assert_eq!((set.len(), set.total().tokens.output, counts.rows), (2, 12, 3));
}

#[test]
fn rows_that_were_written_while_the_answer_arrived_count_by_their_last_numbers() {
    let rows = response("msg_1", 1) + &response("msg_1", 9) + &response("msg_1", 1);
    let (set, _) = scan(&[("s.jsonl", &rows)]);
    assert_eq!((set.len(), set.total().tokens.output), (1, 9));
}

#[test]
fn a_fork_counts_nothing_twice_and_keeps_to_the_session_that_asked() {
    let began = |session: &str, time: &str| {
        format!(
            r#"{{"type":"queue-operation","sessionId":"{session}","timestamp":"2026-11-15T21:32:{time}Z"}}"#
        ) + "\n"
    };
    let parent = began("zz", "20.000") + &response("msg_1", 5).replace("\"s\"", "\"zz\"");
    let fork = began("aa", "28.000")
        + &response("msg_1", 5).replace("\"s\"", "\"aa\"")
        + &response("msg_2", 7).replace("\"s\"", "\"aa\"");
    for files in
        [[("zz.jsonl", &*parent), ("aa.jsonl", &*fork)], [("aa.jsonl", &*fork), ("zz.jsonl", &*parent)]]
    {
        let (set, _) = scan(&files);
        let mut owners: Vec<_> =
            set.responses().map(|counted| (counted.billed.tokens.output, counted.session)).collect();
        owners.sort_unstable();
        assert_eq!(owners, [(5, "zz"), (7, "aa")]);
    }
}

#[test]
fn what_the_client_made_up_and_what_was_cut_off_is_not_counted() {
    let error =
        response("x", 9).replace(r#""type":"assistant""#, r#""isApiErrorMessage":true,"type":"assistant""#);
    let synthetic = response("y", 9).replace(r#""model":"m""#, r#""model":"<synthetic>""#);
    let cut = response("msg_1", 1)
        .replace(r#""type":"assistant""#, r#""isAbortedMidStream":true,"type":"assistant""#);
    let user = r#"{"type":"user","toolUseResult":{"usage":{"output_tokens":99}}}"#;
    let (set, counts) = scan(&[("s.jsonl", &format!("{error}{synthetic}{cut}{user}\n"))]);
    assert!(set.is_empty());
    assert_eq!((counts.synthetic, counts.cut_short, counts.unreadable), (2, 1, 0));
}

#[test]
fn an_answer_that_was_cut_short_counts_where_its_client_counts_it() {
    let cut = |version: &str| {
        response("msg_1", 1).replace(
            r#""type":"assistant""#,
            &format!(r#""isAbortedMidStream":true,"version":"{version}","type":"assistant""#),
        )
    };
    for (version, output, cut_short) in [("2.1.325", 0, 1), ("2.1.326", 1, 0)] {
        let (set, counts) = scan(&[("s.jsonl", &cut(version))]);
        assert_eq!((set.total().tokens.output, counts.cut_short), (output, cut_short), "{version}");
        assert_eq!(is_counted_cut_short(cut(version).trim_end().as_bytes()), output > 0, "{version}");
    }
}

#[test]
fn what_stands_before_the_order_of_a_forked_agent_is_its_parents() {
    let parent = response("msg_1", 5);
    let fork = format!(
        "{}\n{parent}{}\n{}",
        r#"{"type":"fork-context-ref","agentId":"a1","parentSessionId":"s"}"#,
        r#"{"type":"user","agentId":"a1","message":{"content":"Go."}}"#,
        response("msg_2", 7)
    );
    for files in [
        [("s.jsonl", parent.as_str()), ("s/subagents/agent-a1.jsonl", fork.as_str())],
        [("s/subagents/agent-a1.jsonl", fork.as_str()), ("s.jsonl", parent.as_str())],
    ] {
        let (set, _) = scan(&files);
        let mut counted: Vec<(u64, bool)> = set
            .responses()
            .map(|response| (response.billed.tokens.output, response.subagent.is_some()))
            .collect();
        counted.sort_unstable();
        assert_eq!(counted, [(5, false), (7, true)]);
    }
}

#[test]
fn other_spacing_and_other_orders_are_read_and_nothing_is_a_silent_zero() {
    let spaced = r#" { "usage" : { "output_tokens" : 3 } , "cost_usd" : 0.5 , "type" : "api_response" , "model" : "m" } "#;
    let odd = r#"{"type":"assistant","message":{"id":"msg_9","model":"m","usage":{"tokens":3}}}"#;
    let null = r#"{"type":"assistant","message":{"id":"msg_8","model":"m","usage":null}}"#;
    let torn = r#"{"type":"assistant","message":{"id":"msg_7","usage":{"output_tokens":3}"#;
    let (set, counts) = scan(&[("s.jsonl", &format!("{spaced}\n{odd}\n{null}\n{torn}\n"))]);
    assert_eq!((set.total().tokens.output, counts.unreadable, counts.malformed), (3, 2, 1));
    assert_eq!(set.responses().next().unwrap().cost_usd, Some(0.5));
}

#[test]
fn a_last_line_without_an_ending_counts_if_it_is_whole() {
    let rows = response("msg_1", 5);
    let (set, counts) = scan(&[("s.jsonl", rows.trim_end())]);
    assert_eq!((set.len(), counts.malformed), (1, 0));
    let (set, counts) = scan(&[("s.jsonl", rows.split_at(rows.len() - 9).0)]);
    assert_eq!((set.len(), counts.malformed), (0, 0));
}

#[test]
fn subagents_and_their_echo_in_the_session_are_one() {
    let own =
        response("msg_1", 5).replace(r#""sessionId""#, r#""isSidechain":true,"agentId":"a1","sessionId""#);
    let echo = format!(
        r#"{{"type":"progress","sessionId":"s","data":{{"type":"agent_progress","agentId":"a1","message":{}}}}}"#,
        response("msg_1", 1).trim_end()
    ) + "\n";
    let helper = response("msg_2", 3);
    let (set, _) = scan(&[
        ("s/subagents/agent-a1.jsonl", &own),
        ("s.jsonl", &echo),
        ("s/subagents/agent-acompact-1.jsonl", &helper),
    ]);
    let mut owners: Vec<_> = set
        .responses()
        .map(|counted| (counted.billed.tokens.output, counted.session, counted.subagent))
        .collect();
    owners.sort_unstable();
    assert_eq!(owners, [(3, "s", None), (5, "s", Some("a1"))]);
}

#[test]
fn a_line_of_a_hundred_megabytes_still_says_what_it_cost() {
    let film = "x".repeat(LONGEST_LINE + 1000);
    let long = response("msg_1", 5).replace("of words", &film);
    let result = r#"{"parentUuid":null,"type":"user","message":{"content":[{"type":"tool_result","content":"FILM"}]},"uuid":"u"}"#.replace("FILM", &film);
    for size in [usize::MAX, 1 << 20, 65_537] {
        let (set, counts) =
            scan_in_chunks(&[("s.jsonl", &format!("{long}{result}\n{}", response("msg_2", 7)))], size);
        assert_eq!((set.len(), set.total().tokens.output, counts.too_long), (2, 12, 2));
        assert!(set.responses().all(|counted| counted.session == "s" && counted.at.is_some()));
    }
}

#[test]
fn rows_without_any_id_are_each_themselves() {
    let row = |cost: &str| {
        format!(r#"{{"type":"api_response","usage":{{"output_tokens":1}},"cost_usd":{cost}}}"#) + "\n"
    };
    let (set, _) = scan(&[("s.jsonl", &(row("1") + &row("2") + &row("2")))]);
    assert_eq!(set.len(), 2);
}

#[test]
fn books_of_several_readers_come_to_one() {
    let one = response("msg_1", 5) + &response("msg_2", 7);
    let two = response("msg_2", 7).replace("\"m\"", "\"n\"") + &response("msg_3", 11);
    let (mut left, _) = scan(&[("a.jsonl", &one)]);
    let (right, _) = scan(&[("b.jsonl", &two)]);
    let mut reverse = right.clone();
    reverse.merge(&left);
    left.merge(&right);
    assert_eq!((left.len(), left.total()), (3, reverse.total()));
    assert_eq!(left.total().tokens.output, 23);
    left.merge(&right);
    assert_eq!(left.total().tokens.output, 23);
}
