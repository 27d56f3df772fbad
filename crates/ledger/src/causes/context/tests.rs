//! Sums, prices and calibration of divided conversations.

use proptest::prelude::*;

use super::super::history::Mark;
use super::*;
use agent_tracer_prices::{BilledUsage, Rates};

const RATES: Rates =
    Rates { input: 5_000, cache_read: 500, cache_write_5m: 6_250, cache_write_1h: 10_000, output: 25_000 };

fn response(id: i64, at: i64, cache_read: u64, cache_write_5m: u64, output: u64) -> PricedResponse {
    let usage = BilledUsage { input: 3, cache_read, cache_write_5m, output, ..BilledUsage::default() };
    PricedResponse {
        id,
        at,
        turn: Some(1),
        in_conversation: true,
        model: "m".to_owned(),
        usage,
        cost: u64::try_from(RATES.total(&usage).0).ok(),
        rates: Some(RATES),
        ..PricedResponse::default()
    }
}

fn addition(id: i64, at: i64, source: Source, bytes: u64) -> Addition {
    Addition { id, at, asked_by: None, turn: Some(1), source, bytes }
}

fn result(path: &str) -> Source {
    Source::Result { tool: "Read".to_owned(), path: Some(path.to_owned()) }
}

fn part<'c>(cost: &'c ContextCost, source: &Source) -> &'c PartCost {
    cost.parts.iter().find(|part| part.source == *source).unwrap()
}

#[test]
fn result_is_paid_for_again_with_every_response_that_follows() {
    let history = History {
        responses: vec![
            response(1, 10, 0, 10_000, 50),
            response(2, 30, 10_000, 1_150, 20),
            response(3, 50, 11_150, 40, 20),
            response(4, 70, 11_190, 40, 20),
        ],
        additions: vec![
            addition(100, 5, Source::Prompt, 40),
            Addition { asked_by: Some(1), ..addition(101, 20, result("big.rs"), 4_300) },
        ],
        ..History::default()
    };
    let cost = ContextCost::divide(&history);
    let big = part(&cost, &result("big.rs"));
    assert_eq!((big.tokens, big.responses, big.read_tokens), (1_100, 3, 3_300));
    // Three of its tokens were the plain input at the end of the second prompt.
    assert_eq!(big.entry, Amount::of(1_097 * 6_250 + 3 * 5_000));
    assert_eq!(big.carried.priced, 2 * 1_100 * 500 + 3 * (6_250 - 500));
    let system = part(&cost, &Source::System);
    assert_eq!(system.tokens, 10_003 - part(&cost, &Source::Prompt).tokens);
    assert_eq!(part(&cost, &Source::Reply).tokens, 50);
}

#[test]
fn growth_beyond_what_a_size_explains_is_unexplained() {
    let history = History {
        responses: vec![response(1, 10, 0, 10_000, 5), response(2, 30, 10_000, 5_000, 5)],
        additions: vec![addition(101, 20, result("small.rs"), 60)],
        ..History::default()
    };
    let cost = ContextCost::divide(&history);
    assert_eq!(part(&cost, &result("small.rs")).tokens, 40 + 48);
    assert!(part(&cost, &Source::Unexplained).tokens > 4_800);
}

#[test]
fn compaction_ends_what_it_replaces() {
    let history = History {
        responses: vec![
            response(1, 10, 0, 10_000, 50),
            response(2, 30, 10_000, 1_100, 20),
            response(3, 50, 0, 10_400, 20),
        ],
        additions: vec![addition(101, 20, result("a.rs"), 4_000)],
        marks: vec![Mark { id: 7, at: 40, kind: MarkKind::Compaction { summary_bytes: 1_600 } }],
        ..History::default()
    };
    let cost = ContextCost::divide(&history);
    assert_eq!(part(&cost, &result("a.rs")).responses, 1);
    let last = cost.slices.last().unwrap();
    assert_eq!(last.groups.get(&SourceGroup::Results), None);
    assert_eq!(last.groups[&SourceGroup::System], 10_003);
    assert_eq!(part(&cost, &Source::Summary).tokens, 400);
}

#[test]
fn conversation_that_begins_with_a_copy_has_no_larger_system_prompt() {
    let mut history = History {
        responses: vec![response(1, 10, 9_000, 500, 5)],
        begins_with_copy: true,
        ..History::default()
    };
    assert_eq!(ContextCost::divide(&history).parts[0].source, Source::Copy);
    history.begins_with_copy = false;
    assert_eq!(ContextCost::divide(&history).parts[0].source, Source::System);
}

#[test]
fn servers_and_skills_that_no_call_names_have_a_price() {
    let tools = |server: &str| Source::Tools { server: Some(server.to_owned()) };
    let skill = |name: &str| Source::Skill { name: Some(name.to_owned()) };
    let history = History {
        responses: vec![response(1, 10, 0, 3_000, 5), response(2, 20, 3_003, 8, 5)],
        additions: vec![
            addition(1, 1, tools("used"), 4_000),
            addition(2, 1, tools("idle"), 4_000),
            addition(3, 1, skill("greet"), 1_000),
            addition(4, 1, skill("idle"), 1_000),
        ],
        ..History::default()
    };
    let cost = ContextCost::divide(&history);
    let unused = cost.unused(&["used"], &["greet"]);
    assert_eq!(unused.keys().cloned().collect::<Vec<_>>(), [tools("idle"), skill("idle")]);
    let idle = unused[&tools("idle")];
    assert!(
        idle.entry.priced > 0 && idle.carried.priced > 0 && idle.read_tokens == 2 * idle.tokens,
        "{idle:?}"
    );
}

#[test]
fn new_tools_replace_the_old_ones_at_the_beginning() {
    let tools = || Source::Tools { server: None };
    let history = History {
        responses: vec![
            response(1, 10, 0, 1_000, 0),
            response(2, 30, 0, 1_500, 0),
            response(3, 40, 1_503, 20, 0),
        ],
        additions: vec![
            addition(1, 1, tools(), 2_000),
            addition(2, 2, Source::Prompt, 1_900),
            addition(3, 20, tools(), 4_000),
        ],
        ..History::default()
    };
    let cost = ContextCost::divide(&history);
    let [old, prompt, new] =
        [1, 2, 3].map(|id| cost.parts.iter().find(|part| part.fact == Some(id)).unwrap());
    assert_eq!((old.responses, prompt.responses, new.responses), (1, 3, 2));
    assert_eq!(
        new.entry,
        Amount::of(new.tokens * 6_250),
        "the three tokens of plain input are the end of the prompt"
    );
    assert_eq!(cost.slices[1].groups[&SourceGroup::System], new.tokens);
}

#[test]
fn what_has_no_price_stays_unpriced() {
    let mut first = response(1, 10, 0, 1_000, 50);
    first.cost = None;
    let history = History { responses: vec![first, response(2, 30, 1_000, 55, 20)], ..History::default() };
    let cost = ContextCost::divide(&history);
    let system = part(&cost, &Source::System);
    assert_eq!(system.entry, Amount::unpriced(1_003));
    assert_eq!(system.entry.known(), None);
    assert_eq!(system.carried, Amount::of(1_000 * 500 + 3 * 6_250));
    assert_eq!(cost.total().unpriced_tokens, 1_053);
}

fn any_source() -> impl Strategy<Value = Source> {
    prop_oneof![
        Just(Source::Prompt),
        Just(Source::System),
        (0..3_u8).prop_map(|file| result(&format!("{file}.rs"))),
        (0..2_u8).prop_map(|file| Source::Instructions { path: format!("{file}.md") }),
        Just(Source::Tools { server: Some("s".to_owned()) }),
    ]
}

fn any_response(id: i64) -> impl Strategy<Value = PricedResponse> {
    let tokens = (0_u64..900, 0_u64..900, 0_u64..900, 0_u64..90, 0_u64..200, 0_u64..100);
    let rates = proptest::option::of((0_u64..9_000, 0_u64..900, 0_u64..9_999));
    (tokens, 0..200_i64, rates, 0..5_u8, proptest::option::weighted(0.8, 0_u64..9_000_000), 0..3_u8).prop_map(
        move |((cache_read, write, hour, input, output, reasoning), at, rates, form, cost, model)| {
            let usage = BilledUsage {
                input,
                output,
                cache_read,
                cache_write_5m: write,
                cache_write_1h: hour,
                ..BilledUsage::default()
            };
            let rates = rates.map(|(input, cache_read, cache_write_5m)| Rates {
                input,
                cache_read,
                cache_write_5m,
                cache_write_1h: 2 * input,
                output: 5 * input,
            });
            let exact = rates.and_then(|rates| u64::try_from(rates.total(&usage).0).ok());
            PricedResponse {
                id,
                at,
                turn: Some(at / 40),
                in_conversation: form > 0,
                model: format!("m{}", model / 2),
                usage,
                reasoning_tokens: reasoning,
                cost: if form > 2 { exact } else { cost },
                rates,
                ..PricedResponse::default()
            }
        },
    )
}

fn any_history() -> impl Strategy<Value = History> {
    let responses = (0..14_usize).prop_flat_map(|count| {
        (0..count).map(|id| any_response(i64::try_from(id).unwrap())).collect::<Vec<_>>()
    });
    let additions = proptest::collection::vec(
        (0..200_i64, any_source(), 0_u64..3_000, proptest::option::of(0..14_i64)),
        0..25,
    );
    let marks = proptest::collection::vec((0..200_i64, 0_u64..900), 0..3);
    (responses, additions, marks).prop_map(|(mut responses, additions, marks)| {
        responses.sort_by_key(|response| response.at);
        let mut additions: Vec<Addition> = (1_000..)
            .zip(additions)
            .map(|(id, (at, source, bytes, asked_by))| Addition {
                asked_by,
                ..addition(id, at, source, bytes)
            })
            .collect();
        additions.sort_by_key(|addition| addition.at);
        let mut marks: Vec<Mark> = marks
            .into_iter()
            .map(|(at, summary_bytes)| Mark { id: at, at, kind: MarkKind::Compaction { summary_bytes } })
            .collect();
        marks.sort_by_key(|mark| mark.at);
        History { responses, additions, marks, ..History::default() }
    })
}

proptest! {
    #[test]
    fn parts_of_every_prompt_and_of_the_cost_add_up(history in any_history()) {
        let cost = ContextCost::divide(&history);
        for slice in &cost.slices {
            prop_assert_eq!(slice.groups.values().sum::<u64>(), slice.tokens);
        }
        let prompts: Amount = cost.responses.iter().map(|response| response.prompt).sum();
        prop_assert_eq!(cost.parts.iter().map(PartCost::cost).sum::<Amount>(), prompts);
        let recorded: Amount = history.responses.iter().map(whole).sum();
        prop_assert_eq!(cost.total(), recorded);
        let by_source: Amount =
            cost.by(|part| Some(part.source.clone())).values().map(|sums| sums.entry + sums.carried).sum();
        prop_assert_eq!(by_source, prompts);
    }

    #[test]
    fn prices_of_parts_equal_those_of_a_walk_over_every_prompt(history in any_history()) {
        let mut expected: HashMap<usize, (Amount, u64, u64, Amount)> = HashMap::new();
        let mut builder = Builder::new(&history);
        for response in &history.responses {
            builder.respond(response);
            if !response.in_conversation {
                continue;
            }
            let usage = &response.usage;
            let rates = response.cost.map(|cost| fit_rates(response.rates, usage, cost));
            let price = |position: u64| {
                let rate = rates.map(|rates| {
                    let written = position - usage.cache_read.min(position);
                    match position {
                        position if position < usage.cache_read => rates.cache_read,
                        _ if written < usage.cache_write_1h => rates.cache_write_1h,
                        _ if written < usage.cache_write_tokens() => rates.cache_write_5m,
                        _ => rates.input,
                    }
                });
                rate.map_or(Amount::unpriced(1), Amount::of)
            };
            let mut position = 0;
            for place in &builder.places {
                let sums = expected.entry(place.part).or_default();
                sums.1 += place.tokens;
                sums.2 += u64::from(place.tokens > 0);
                let is_new = builder.done.parts[place.part].entered == response.id;
                for _ in 0..place.tokens {
                    sums.0 += price(position);
                    if is_new {
                        sums.3 += price(position);
                    }
                    position += 1;
                }
            }
            prop_assert_eq!(position, usage.prompt_tokens());
        }
        let cost = builder.finish();
        for (index, part) in cost.parts.iter().enumerate() {
            let (price, read_tokens, responses, entry) = expected.get(&index).copied().unwrap_or_default();
            prop_assert_eq!((part.cost(), part.entry), (price, entry), "{:?}", part);
            prop_assert_eq!((part.read_tokens, part.responses), (read_tokens, responses));
        }
    }
}
