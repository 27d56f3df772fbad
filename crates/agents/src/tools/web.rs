//! Tools that look at the web.

use agent_tracer_event::attributes;
use agent_tracer_event::semantics::{EntityType, SubtypeKey};
use serde_json::Value;

use super::Meaning;
use super::input::Input;
use super::row::{EXPLORE, Row, text, texts};
use crate::text::{cut, line};

/// The most characters of a query, and of each address.
const QUERY_CHARS: usize = 300;

pub(super) const TABLE: &[Row] = &[
    Row {
        names: &["WebSearch"],
        subtype: SubtypeKey::WebSearch,
        entity: Some((EntityType::Query, &["query"])),
        keep: &[
            text(&["query"], attributes::WEB_QUERY, QUERY_CHARS),
            texts(&["allowed_domains"], attributes::WEB_ALLOWED_DOMAINS, QUERY_CHARS),
            texts(&["blocked_domains"], attributes::WEB_BLOCKED_DOMAINS, QUERY_CHARS),
        ],
        title: |input| search_title(input.text(&["query"])),
        // A search has no address of its own; its query stands there, as the hook specification has it.
        also: Some(|input, meaning| urls(meaning, input.text(&["query"]).into_iter())),
        ..EXPLORE
    },
    Row {
        names: &["WebFetch"],
        subtype: SubtypeKey::WebFetch,
        operation: "fetch",
        entity: Some((EntityType::Url, &["url"])),
        keep: &[
            text(&["url"], attributes::WEB_QUERY, QUERY_CHARS),
            text(&["prompt"], attributes::WEB_PROMPT, 400),
        ],
        title: |input| fetch_title(input.text(&["url"])),
        also: Some(|input, meaning| urls(meaning, input.text(&["url"]).into_iter())),
        ..EXPLORE
    },
    // Codex: the provider searches; the input is the action that it reports, or holds it under `action`.
    Row {
        names: &["web_search", "web_search_call", "web.run"],
        subtype: SubtypeKey::WebSearch,
        title: |input| provider(input).title(),
        also: Some(|input, meaning| provider(input).write(meaning)),
        ..EXPLORE
    },
];

/// Describes what the provider did on the web.
enum Provider<'a> {
    Search(Option<&'a str>),
    Open(Option<&'a str>),
    Find { url: Option<&'a str>, pattern: Option<&'a str> },
}

fn provider<'a>(input: &Input<'a>) -> Provider<'a> {
    let action = input.get(&["action"]).map_or(*input, |action| input.inside(action));
    let query = || {
        let listed = || action.list(&["queries"])?.iter().find_map(Value::as_str);
        action.text(&["query"]).or_else(listed).or_else(|| input.text(&["query"]))
    };
    match action.text(&["type"]) {
        Some("open_page") => Provider::Open(action.text(&["url"])),
        Some("find_in_page" | "find") => {
            Provider::Find { url: action.text(&["url"]), pattern: action.text(&["pattern", "query"]) }
        }
        _ => Provider::Search(query()),
    }
}

impl Provider<'_> {
    fn title(&self) -> String {
        match self {
            Self::Search(query) => search_title(*query),
            Self::Open(url) => fetch_title(*url),
            Self::Find { url, pattern } => {
                let place = url.map_or_else(|| "a page".to_owned(), display_url);
                match pattern {
                    Some(pattern) => format!("Look for \"{}\" in {place}", line(pattern, 60)),
                    None => format!("Look for text in {place}"),
                }
            }
        }
    }

    fn write(&self, meaning: &mut Meaning) {
        let (query, url) = match self {
            Self::Search(query) => (*query, None),
            Self::Open(url) => (*url, *url),
            Self::Find { url, pattern } => (*pattern, *url),
        };
        if let Some(query) = query {
            meaning
                .metadata
                .insert(attributes::WEB_QUERY.to_owned(), Value::from(cut(query, QUERY_CHARS).as_ref()));
        }
        urls(meaning, url.into_iter());
        match self {
            Self::Search(query) => {
                meaning.semantics.entity = query.map(|query| (EntityType::Query, line(query, 300)))
            }
            Self::Open(url) | Self::Find { url, .. } => {
                meaning.semantics.subtype = SubtypeKey::WebFetch;
                meaning.semantics.operation = "fetch".to_owned();
                meaning.semantics.entity = url.map(|url| (EntityType::Url, line(url, 300)));
            }
        }
    }
}

fn search_title(query: Option<&str>) -> String {
    query.map_or_else(
        || "Search the web".to_owned(),
        |query| format!("Search the web for \"{}\"", line(query, 80)),
    )
}

fn fetch_title(url: Option<&str>) -> String {
    url.map_or_else(|| "Fetch a page".to_owned(), |url| format!("Fetch {}", display_url(url)))
}

/// Returns an address as people read it: without its scheme, its query and the last slash.
fn display_url(url: &str) -> String {
    let plain = url.split_once("://").map_or(url, |(_, rest)| rest);
    let plain = plain.split(['?', '#']).next().unwrap_or(plain);
    line(plain.trim_end_matches('/'), 100)
}

fn urls<'a>(meaning: &mut Meaning, urls: impl Iterator<Item = &'a str>) {
    let urls: Vec<Value> = urls.map(|url| Value::from(cut(url, QUERY_CHARS).as_ref())).collect();
    if !urls.is_empty() {
        meaning.metadata.insert(attributes::WEB_URLS.to_owned(), Value::Array(urls));
    }
}
