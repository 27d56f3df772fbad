//! From the name that a client says to the name that the table knows.
//!
//! Models are reported with a date or without, with the cloud that serves them, as an ARN, with `[1m]` for their window.
//! Names are tried from the most telling to the plainest, so a price for one region of one cloud wins over the list
//! price. Law: only what is known to mean the same model is taken away. A name that is still unknown then stays
//! unknown: `sonnet` or `gpt-9-turbo` get no price rather than another's.

use std::borrow::Cow;

use crate::table::{Model, Table};

/// Longer names belong to no model.
const LONGEST: usize = 512;

/// Prefixes of model names that name only the cloud that serves it, at the list price.
const SERVED_BY: [&str; 14] = [
    "anthropic",
    "azure",
    "azure_ai",
    "bedrock",
    "converse",
    "google",
    "google-vertex",
    "invoke",
    "models",
    "openai",
    "openrouter",
    "responses",
    "vertex",
    "vertex_ai",
];

/// Names that providers gave to a model beside its own.
const ALIASES: [(&str, &str); 2] =
    [("claude-opus-4-0", "claude-opus-4-20250514"), ("claude-sonnet-4-0", "claude-sonnet-4-20250514")];

/// Returns the name as names are compared: in lower case, without spaces around it. Borrowed where it already is so.
pub(crate) fn folded(name: &str) -> Option<Cow<'_, str>> {
    let name = name.trim();
    if name.is_empty() || name.len() > LONGEST {
        return None;
    }
    Some(if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    })
}

/// Returns whether the name asks for the window of a million tokens.
pub(crate) fn has_million_window(name: &str) -> bool {
    name.ends_with("[1m]")
}

/// Finds the row for a folded name.
pub(crate) fn find<'t>(table: &'t Table, name: &str) -> Option<&'t Model> {
    if let Some(model) = table.exact(name) {
        return Some(model);
    }
    let plain = match name.strip_suffix(']').and_then(|name| name.rsplit_once('[')) {
        Some((plain, _)) => plain.trim_end(),
        None => name,
    };
    find_served(table, plain).or_else(|| {
        // Some gateways write `claude-opus-4.5`.
        let dashed = dashed(plain)?;
        find_served(table, &dashed)
    })
}

/// Tries the name, then without what says who serves it, step by step.
fn find_served<'t>(table: &'t Table, name: &str) -> Option<&'t Model> {
    let mut rest = name;
    loop {
        if let Some(model) = find_dated(table, rest) {
            return Some(model);
        }
        rest = without_server(rest)?;
    }
}

fn without_server(name: &str) -> Option<&str> {
    if name.starts_with("arn:") || name.starts_with("projects/") || name.starts_with("publishers/") {
        return name.rsplit_once('/').map(|(_, last)| last);
    }
    if let Some((first, rest)) = name.split_once('/') {
        // Only known clouds: `someone/gpt-5` is a model of someone's, and may cost anything.
        return SERVED_BY.contains(&first).then_some(rest);
    }
    if let Some((first, rest)) = name.split_once('.') {
        // `us.anthropic.claude-…`: first the region goes, then the maker.
        let maker = matches!(first, "anthropic" | "openai");
        let region = rest.starts_with("anthropic.") || rest.starts_with("openai.");
        return (maker || region).then_some(rest);
    }
    None
}

/// Tries the name, then without its version and date, then with any date.
fn find_dated<'t>(table: &'t Table, name: &str) -> Option<&'t Model> {
    let mut rest = name;
    loop {
        if let Some(model) = table.exact(rest) {
            return Some(model);
        }
        match without_version(rest) {
            Some(shorter) => rest = shorter,
            None => break,
        }
    }
    // After the version is gone, so that an alias need not be listed with each of its dates.
    if let Some((_, model)) = ALIASES.iter().find(|(alias, _)| *alias == rest) {
        return table.exact(model);
    }
    // The newest of the dated ones: dates sort as they follow each other. `@` is a cloud's way to write them.
    let dated = table.beginning(rest).filter_map(|model| {
        let ending = model.name.strip_prefix(rest).filter(|ending| is_only_date(ending))?;
        Some((!ending.starts_with('@'), ending, model))
    });
    dated.max_by_key(|(listed, ending, _)| (*listed, *ending)).map(|(_, _, model)| model)
}

/// Takes one ending away: `:0`, `-v1`, `@20250929`, `-latest`, a date.
fn without_version(name: &str) -> Option<&str> {
    let numbered =
        |text: &str| !text.is_empty() && text.len() <= 3 && text.bytes().all(|b| b.is_ascii_digit());
    if let Some((plain, number)) = name.rsplit_once(':')
        && numbered(number)
    {
        return Some(plain);
    }
    if let Some((plain, number)) = name.rsplit_once("-v")
        && numbered(number)
    {
        return Some(plain);
    }
    if let Some((plain, _)) = name.rsplit_once('@') {
        return Some(plain);
    }
    if let Some(plain) = name.strip_suffix("-latest") {
        return Some(plain);
    }
    let (plain, ending) = name.rsplit_once('-')?;
    if is_day(ending) {
        return Some(plain);
    }
    // `-2025-08-07`
    let (head, month) = plain.rsplit_once('-')?;
    let (head, year) = head.rsplit_once('-')?;
    let two = |text: &str| text.len() == 2 && numbered(text);
    (year.starts_with("20") && year.len() == 4 && is_number(year) && two(month) && two(ending))
        .then_some(head)
}

/// Returns whether a rest of a name holds a date and nothing else but a version.
fn is_only_date(rest: &str) -> bool {
    let mut rest = rest;
    while let Some(shorter) = without_version(rest) {
        if shorter.is_empty() {
            return true;
        }
        rest = shorter;
    }
    false
}

/// Returns `true` for a day as in `20250929`.
fn is_day(text: &str) -> bool {
    text.len() == 8 && text.starts_with("20") && is_number(text)
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the name of a Claude model with dashes where dots stand between digits, if there are any.
fn dashed(name: &str) -> Option<String> {
    if !name.contains("claude") || !name.contains('.') {
        return None;
    }
    let mut out = String::with_capacity(name.len());
    let mut letters = name.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let between = before.is_ascii_digit() && letters.peek().is_some_and(char::is_ascii_digit);
        out.push(if letter == '.' && between { '-' } else { letter });
        before = letter;
    }
    (out != name).then_some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::Origin;

    fn table(names: &[&'static str]) -> Table {
        let mut table = Table::default();
        for name in names {
            table.insert(Model::new(Cow::Borrowed(name), Origin::User), &[]);
        }
        table
    }

    fn found(table: &Table, name: &str) -> Option<String> {
        find(table, &folded(name)?).map(|model| model.name.to_string())
    }

    #[test]
    fn names_lead_to_their_model() {
        let table = table(&[
            "anthropic.claude-opus-4-6-v1",
            "azure/gpt-5.5",
            "claude-3-7-sonnet-20250219",
            "claude-haiku-4-5@20251001",
            "claude-opus-4-20250514",
            "claude-opus-4-5",
            "claude-opus-4-5-20251101",
            "claude-opus-4@20250514",
            "claude-opus-4-6",
            "codex-mini-latest",
            "eu.anthropic.claude-opus-4-6-v1",
            "gpt-4o",
            "gpt-4o-2024-05-13",
            "gpt-5.5",
            "gpt-6-luna-2026-09-01",
            "gpt-6-luna-2026-09-22",
            "gpt-6-luna-mini",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ]);
        for (said, row) in [
            // As they are.
            ("claude-opus-4-5", "claude-opus-4-5"),
            (" Claude-Opus-4-5 ", "claude-opus-4-5"),
            ("codex-mini-latest", "codex-mini-latest"),
            // With a window.
            ("claude-opus-4-6[1m]", "claude-opus-4-6"),
            (
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0[1m]",
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            ),
            // With a date that is known, with one that is not, without the one there is.
            ("claude-opus-4-5-20251101", "claude-opus-4-5-20251101"),
            ("claude-opus-4-5-20270101", "claude-opus-4-5"),
            ("gpt-4o-2030-01-31", "gpt-4o"),
            ("claude-3-7-sonnet", "claude-3-7-sonnet-20250219"),
            ("claude-3-7-sonnet-latest", "claude-3-7-sonnet-20250219"),
            ("gpt-6-luna", "gpt-6-luna-2026-09-22"),
            ("us.anthropic.claude-sonnet-4-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
            // By another name of the provider's.
            ("claude-opus-4-0", "claude-opus-4-20250514"),
            ("claude-opus-4", "claude-opus-4-20250514"),
            // With who serves it.
            ("anthropic/claude-opus-4-5", "claude-opus-4-5"),
            ("openrouter/anthropic/claude-opus-4.5", "claude-opus-4-5"),
            ("azure/gpt-5.5", "azure/gpt-5.5"),
            ("azure/gpt-4o", "gpt-4o"),
            ("vertex_ai/claude-haiku-4-5@20251001", "claude-haiku-4-5@20251001"),
            ("claude-opus-4-6@default", "claude-opus-4-6"),
            ("projects/p/locations/l/publishers/anthropic/models/claude-opus-4-6", "claude-opus-4-6"),
            // The price of a region, of the cloud, of the list.
            ("eu.anthropic.claude-opus-4-6-v1", "eu.anthropic.claude-opus-4-6-v1"),
            ("eu.anthropic.claude-opus-4-6-v1:0", "eu.anthropic.claude-opus-4-6-v1"),
            ("bedrock/converse/eu.anthropic.claude-opus-4-6-v1", "eu.anthropic.claude-opus-4-6-v1"),
            ("ca.anthropic.claude-opus-4-6-v1", "anthropic.claude-opus-4-6-v1"),
            ("ca.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5-20251101"),
            (
                "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-opus-4-6-v1",
                "eu.anthropic.claude-opus-4-6-v1",
            ),
        ] {
            assert_eq!(found(&table, said).as_deref(), Some(row), "{said}");
        }
    }

    #[test]
    fn what_is_not_known_to_be_the_same_model_stays_unknown() {
        let table = table(&["claude-opus-4-5", "claude-sonnet-4-5-20250929", "gpt-5.5", "gpt-5.5-pro", "o3"]);
        for said in [
            "",
            "  ",
            "opus",
            "sonnet",
            "default",
            "<synthetic>",
            "claude",
            "claude-opus-4-55",
            "claude-opus-4",
            "claude-opus-4-5-fast",
            "claude-opus-4-5-12345678",
            "claude-sonnet-4-5-2025092",
            "gpt-5.5-1234-01-01",
            "gpt-5.5-2026-1-1",
            "gpt-5",
            "gpt-5.5-codex",
            "gpt-5.5-high",
            "o3-mini",
            "github_copilot/gpt-5.5",
            "someone.else.gpt-5.5",
            "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/x1y2",
            "[1m]",
            "]",
            "@",
            "-latest",
            "-20250929",
        ] {
            assert_eq!(found(&table, said), None, "{said}");
        }
        assert_eq!(found(&table, "o3[1m]").as_deref(), Some("o3"));
        assert_eq!(found(&table, &format!("o3[{}]", "1".repeat(LONGEST))), None);
    }

    #[test]
    fn only_the_name_asks_for_a_million() {
        assert!(has_million_window("claude-sonnet-4-5[1m]"));
        assert!(!has_million_window("claude-sonnet-4-5"));
    }

    proptest! {
        #[test]
        fn any_name_is_answered(name in "[a-z0-9./:@\\[\\]-]{0,40}|\\PC{0,20}") {
            let table = table(&["claude-opus-4-5", "gpt-5.5"]);
            if let Some(row) = found(&table, &name) {
                prop_assert!(table.exact(&row).is_some());
            }
        }

        #[test]
        fn dates_and_clouds_do_not_change_the_model(
            day in 20_000_000..20_999_999_u32,
            cloud in prop::sample::select(&["", "anthropic/", "vertex_ai/", "us.anthropic.", "bedrock/eu.anthropic."][..]),
            version in prop::sample::select(&["", "-v1", "-v1:0", "[1m]"][..]),
        ) {
            let table = table(&["claude-opus-4-5"]);
            prop_assert_eq!(found(&table, &format!("{cloud}claude-opus-4-5-{day}{version}")), Some("claude-opus-4-5".to_owned()));
        }
    }
}
