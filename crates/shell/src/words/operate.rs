//! `${name…}`: what is made of a variable that the command line set.

use super::{Value, Variables};

/// Returns the text of a parameter expansion with an operator, if it can be worked out. `inside` is what stands
/// between the braces, without anything in it that would have to be expanded first.
pub(super) fn operate(inside: &str, variables: &Variables) -> Option<String> {
    if inside.contains(['$', '`', '\\', '"', '\'']) {
        return None;
    }
    if let Some(other) = inside.strip_prefix('!') {
        let name = known(other, variables)?;
        return known(&name, variables);
    }
    let end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    let (name, operator) = inside.split_at_checked(end)?;
    if name.is_empty() {
        return None;
    }
    let value = known(name, variables);
    let is_set = value.as_ref().is_some_and(|value| !value.is_empty());
    // A variable that the line does not set may be set outside it; then its value is not the default.
    let replaced = |prefix: &str| operator.strip_prefix(prefix).map(str::to_owned);
    if let Some(default) = replaced(":-").or_else(|| replaced(":=")) {
        return if is_set { value } else { Some(default) };
    }
    if let Some(alternative) = replaced(":+") {
        return is_set.then_some(alternative);
    }
    let value = value?;
    if let Some(range) = operator.strip_prefix(':') {
        return part(&value, range);
    }
    if let Some(rest) = operator.strip_prefix('/') {
        return replace(&value, rest);
    }
    match operator {
        ",," => return Some(value.to_lowercase()),
        "^^" => return Some(value.to_uppercase()),
        _ => {}
    }
    let plain = |pattern: &str| !pattern.contains(['*', '?', '[']);
    if let Some(tail) =
        operator.strip_prefix("%%").or_else(|| operator.strip_prefix('%')).filter(|it| plain(it))
    {
        return Some(value.strip_suffix(tail).unwrap_or(&value).to_owned());
    }
    if let Some(head) =
        operator.strip_prefix("##").or_else(|| operator.strip_prefix('#')).filter(|it| plain(it))
    {
        return Some(value.strip_prefix(head).unwrap_or(&value).to_owned());
    }
    None
}

fn known(name: &str, variables: &Variables) -> Option<String> {
    match variables.get(name) {
        Value::Text(text) => Some(text.clone()),
        Value::OneOf(_) | Value::Unknown => None,
    }
}

/// Reads `offset:length` of a text, in characters.
fn part(value: &str, range: &str) -> Option<String> {
    let (offset, length) = range.split_once(':').unwrap_or((range, ""));
    let offset: usize = offset.trim().parse().ok()?;
    let tail = value.chars().skip(offset);
    match length.trim() {
        "" => Some(tail.collect()),
        length => Some(tail.take(length.parse().ok()?).collect()),
    }
}

/// Reads `pattern/text`, for patterns that are plain text.
fn replace(value: &str, rest: &str) -> Option<String> {
    let (all, rest) = match rest.strip_prefix('/') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let (pattern, text) = rest.split_once('/').unwrap_or((rest, ""));
    if pattern.is_empty() || pattern.contains(['*', '?', '[', '#', '%']) {
        return None;
    }
    Some(if all { value.replace(pattern, text) } else { value.replacen(pattern, text, 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_on_known_values_are_worked_out_and_others_are_not() {
        let mut variables = Variables::default();
        variables.set("X", Value::Text("xxrmxx".to_owned()));
        variables.set("Y", Value::Text("X".to_owned()));
        for (inside, expected) in [
            ("X:2:2", Some("rm")),
            ("X:4", Some("xx")),
            ("X/xx/", Some("rmxx")),
            ("X//xx/", Some("rm")),
            ("X%xx", Some("xxrm")),
            ("X#xx", Some("rmxx")),
            ("X^^", Some("XXRMXX")),
            ("!Y", Some("xxrmxx")),
            ("X:-other", Some("xxrmxx")),
            ("Z:-other", Some("other")),
            ("X:+set", Some("set")),
            ("Z:+set", None),
            ("Z:2", None),
            ("X:-$(date)", None),
            ("X%x*", None),
            ("#X", None),
            ("X[@]", None),
        ] {
            assert_eq!(operate(inside, &variables).as_deref(), expected, "{inside}");
        }
    }
}
