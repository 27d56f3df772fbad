//! Holds every dependency to `deny.toml` in a run without network: licences, sources and bans. Advisories need a
//! database and are left to `make audit`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::root;

/// Returns `deny.toml`.
fn rules() -> toml::Table {
    let text = std::fs::read_to_string(root().join("deny.toml")).expect("deny.toml");
    text.parse().expect("TOML")
}

/// Returns a list of texts of the rules, or the `crate` of each entry.
fn list(rules: &toml::Table, section: &str, name: &str) -> BTreeSet<String> {
    let list = rules.get(section).and_then(|section| section.get(name)?.as_array()).expect("a list");
    let text = |entry: &toml::Value| entry.get("crate").unwrap_or(entry).as_str().expect("a text").to_owned();
    list.iter().map(text).collect()
}

/// Returns `true` if an SPDX expression can be met by these licences alone. `/` is how old manifests wrote `OR`.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let met = any(&mut rest, allowed);
    met && rest.is_empty()
}

fn any(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut met = all(words, allowed);
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        met |= all(words, allowed);
    }
    met
}

fn all(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut met = one(words, allowed);
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let met = any(words, allowed);
            match *words {
                [")", rest @ ..] => *words = rest,
                _ => return false,
            }
            met
        }
        [name, "WITH", exception, rest @ ..] => {
            *words = rest;
            allowed.contains(&format!("{name} WITH {exception}"))
        }
        [name, rest @ ..] => {
            *words = rest;
            allowed.contains(*name)
        }
        [] => false,
    }
}

/// Returns what is wrong with a package.
fn complaint(package: &Value, rules: &toml::Table) -> Option<String> {
    // Without a source it is a crate of this workspace.
    let source = package["source"].as_str()?;
    let name = package["name"].as_str().expect("a name");
    let registry = source.strip_prefix("registry+").unwrap_or_default();
    if !list(rules, "sources", "allow-registry").contains(registry) {
        return Some(format!("`{name}` comes from `{source}`"));
    }
    if list(rules, "bans", "deny").contains(name) {
        return Some(format!("`{name}` is banned"));
    }
    let licence = package["license"].as_str().unwrap_or_default();
    let is_allowed = is_met(licence, &list(rules, "licenses", "allow"));
    (!is_allowed).then(|| format!("`{name}` has the licence `{licence}`"))
}

#[test]
fn dependencies_have_known_licences_and_sources_and_none_is_banned() {
    // Without network cargo knows only what a build for this system fetched; `make audit` looks at all systems.
    let packages = super::metadata(&["--filter-platform", "host-tuple"]);
    let packages = packages["packages"].as_array().expect("packages");
    let foreign = packages.iter().filter(|package| !package["source"].is_null()).count();
    assert!(foreign > 100, "{foreign} dependencies were looked at");
    let rules = rules();
    let wrong: Vec<String> = packages.iter().filter_map(|package| complaint(package, &rules)).collect();
    assert!(
        wrong.is_empty(),
        "against deny.toml:\n  {}\nhint: use another crate, or add the licence with the reason",
        wrong.join("\n  ")
    );
    let allowed = list(&rules, "licenses", "allow");
    let expressions: Vec<&str> = packages.iter().filter_map(|package| package["license"].as_str()).collect();
    let unused: Vec<&String> =
        allowed.iter().filter(|name| !expressions.iter().any(|text| text.contains(name.as_str()))).collect();
    assert!(unused.is_empty(), "no dependency has {unused:?}\nhint: remove it from deny.toml");
}

#[test]
fn what_the_rules_refuse_is_found() {
    let rules = rules();
    let package = |name: &str, licence: &str, source: &str| {
        complaint(&serde_json::json!({"name": name, "license": licence, "source": source}), &rules)
    };
    let registry = "registry+https://github.com/rust-lang/crates.io-index";
    for licence in
        ["MIT/GPL-3.0-only", "(MIT OR GPL-2.0-only) AND Unicode-3.0", "Apache-2.0 WITH LLVM-exception"]
    {
        assert_eq!(package("a", licence, registry), None, "{licence}");
    }
    for licence in
        ["", "GPL-3.0-only", "MIT AND GPL-3.0-only", "MIT AND (ISC OR)", "(MIT", "MIT WITH Unknown"]
    {
        assert!(package("a", licence, registry).is_some(), "{licence}");
    }
    assert!(package("openssl-sys", "MIT", registry).is_some_and(|text| text.contains("banned")));
    for source in
        ["git+https://example.org/a", "registry+https://example.org/index", "sparse+https://example.org/"]
    {
        assert!(package("a", "MIT", source).is_some_and(|text| text.contains("comes from")), "{source}");
    }
}
