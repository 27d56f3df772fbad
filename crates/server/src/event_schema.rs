//! Describes words and metadata in the OpenAPI document: members whose values are open, and the declared attributes.
//!
//! A member whose Rust type is a set of words describes itself (`event::words`). What stands here is a string in Rust, since a
//! sender, an older store or a client may have written a word of its own: its schema lists our words and allows others.

use agent_tracer_event::attributes::{self, Attribute, ValueType};
use agent_tracer_event::{CompletionReason, ErrorClass, Kind, semantics::SubtypeKey};
use agent_tracer_ledger::project::ruling::{OUTCOMES, STATUSES};
use agent_tracer_policy::{Decision, Mode, Origin, Severity};
use serde_json::{Value, json};
use utoipa::openapi::schema::{
    AdditionalProperties, AnyOf, AnyOfBuilder, ArrayBuilder, Object, ObjectBuilder, SchemaType, Type,
};
use utoipa::openapi::{RefOr, Schema};

use crate::ingest::END_REASONS;
use crate::openapi::Schemas;

/// The name of the schema of the metadata.
const METADATA: &str = "EventMetadata";

/// A string whose values are words of ours.
struct WordMember {
    schema: &'static str,
    member: &'static str,
    words: &'static [&'static str],
}

const fn member(schema: &'static str, member: &'static str, words: &'static [&'static str]) -> WordMember {
    WordMember { schema, member, words }
}

const TODO_STATES: &[&str] = &["added", "in_progress", "completed", "cancelled"];
const SESSION_SOURCES: &[&str] = &["startup", "resume", "clear", "fork", "compact"];

/// Every string of the answers and requests whose values are open.
const OPEN_WORDS: &[WordMember] = &[
    // Posted events may carry a class of their sender.
    member("ToolCall", attributes::ERROR_CLASS, ErrorClass::WORDS),
    member("CommandRun", attributes::ERROR_CLASS, ErrorClass::WORDS),
    member("FailureStat", attributes::ERROR_CLASS, ErrorClass::WORDS),
    member("Exploration", "what", SubtypeKey::WORDS),
    member("WebLookup", "what", &["web_search", "web_fetch"]),
    // Clients name states of their own.
    member("Todo", "state", TODO_STATES),
    member("TodoStep", "state", TODO_STATES),
    member("SessionView", "source", SESSION_SOURCES),
    member("SessionView", attributes::COMPLETION_REASON, CompletionReason::WORDS),
    member("Permission", "decision", &["allowed", "denied"]),
    member("Question", "phase", &["asked", "answered", "declined", "cancelled"]),
    member("ToolCall", attributes::DURATION_SOURCE, &["agent", "tracer"]),
    // Records of older versions lack words, which are then `unknown`; a client's own rule names itself.
    member("RuleDecision", "outcome", &OUTCOMES),
    member("RuleDecision", "status", &STATUSES),
    member("RuleDecision", "decision", Decision::WORDS),
    member("RuleDecision", "origin", Origin::WORDS),
    member("RuleDecision", "severity", Severity::WORDS),
    member("RuleDecision", "basis", &["applies", "outage", "not_possible", "let_go"]),
    member("RuleDecision", attributes::ANSWERED_BY, &["server", "guard", "outage"]),
    // A kind that this version does not know is kept as `unrecognised`.
    member("PostedEvent", "kind", Kind::WORDS),
];

/// Members whose words belong to a crate that the crate of the schema does not know. No other value occurs.
const CLOSED_WORDS: &[WordMember] = &[
    member("RuleDecision", "mode", Mode::WORDS),
    member("EndRequest", attributes::COMPLETION_REASON, END_REASONS),
];

/// Writes the words and the attributes into the schemas that have such members.
pub(crate) fn describe(schemas: &mut Schemas) {
    for open in OPEN_WORDS {
        if let Some(member) = member_of(schemas, open.schema, open.member) {
            open_up(member, open.words);
        }
    }
    for closed in CLOSED_WORDS {
        if let Some(member) = member_of(schemas, closed.schema, closed.member) {
            close(member, closed.words);
        }
    }
    let mut is_carried = false;
    for (schema, about) in [
        ("Row", "The attributes of the event."),
        (
            "PostedEvent",
            "Attributes of the event. One that is declared here and has another type is left out; one that is not \
             declared is kept as it comes. `crossCheck {source, dedupeKey}` merges events of one kind and session.",
        ),
    ] {
        if let Some(member) = member_of(schemas, schema, "metadata") {
            is_carried = true;
            *member = reference(METADATA, about, is_nullable(member));
        }
    }
    if is_carried {
        schemas.insert(METADATA.to_owned(), metadata());
    }
}

fn member_of<'s>(schemas: &'s mut Schemas, schema: &str, member: &str) -> Option<&'s mut RefOr<Schema>> {
    let Some(RefOr::T(Schema::Object(object))) = schemas.get_mut(schema) else { return None };
    object.properties.get_mut(member)
}

fn is_nullable(member: &RefOr<Schema>) -> bool {
    let RefOr::T(Schema::Object(object)) = member else { return false };
    matches!(&object.schema_type, SchemaType::Array(types) if types.contains(&Type::Null))
}

fn reference(name: &str, about: &str, is_nullable: bool) -> RefOr<Schema> {
    let reference =
        utoipa::openapi::Ref::builder().ref_location_from_schema_name(name).description(Some(about)).build();
    if !is_nullable {
        return reference.into();
    }
    // A reference has no type of its own that could be nullable.
    let null = ObjectBuilder::new().schema_type(Type::Null);
    Schema::AnyOf(AnyOfBuilder::new().item(null).item(reference).build()).into()
}

/// Lists words in the schema of a string, and keeps it open: a value is one of them, or another string.
fn open_up(member: &mut RefOr<Schema>, words: &[&'static str]) {
    let RefOr::T(Schema::Object(object)) = &*member else { return };
    let (about, is_nullable) = (object.description.clone(), is_nullable(member));
    *member = Schema::AnyOf(open_string(about, words, is_nullable)).into();
}

/// Lists words in the schema of a string. No other value is valid.
fn close(member: &mut RefOr<Schema>, words: &[&'static str]) {
    let is_nullable = is_nullable(member);
    let RefOr::T(Schema::Object(object)) = member else { return };
    // An enumeration holds for null too, although the type permits it.
    let null = is_nullable.then_some(Value::Null);
    object.enum_values = Some(words.iter().map(|word| json!(word)).chain(null).collect());
}

fn open_string(about: Option<String>, words: &[&'static str], is_nullable: bool) -> AnyOf {
    let known = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words.iter().copied()));
    let other =
        ObjectBuilder::new().schema_type(Type::String).description(Some("A word that is not listed."));
    let mut any = AnyOfBuilder::new().description(about).item(known).item(other);
    if is_nullable {
        any = any.item(ObjectBuilder::new().schema_type(Type::Null));
    }
    any.build()
}

/// Describes the metadata: every attribute that an event may carry; others are allowed.
fn metadata() -> RefOr<Schema> {
    let mut builder = ObjectBuilder::new()
        .description(Some(
            "The attributes of an event, described in `docs/events.md`. Attributes of posted events that are not \
             declared here are kept as they came.",
        ))
        .additional_properties(Some(AdditionalProperties::FreeForm(true)));
    for attribute in attributes::all().filter(|attribute| attribute.carriers.intersects(attributes::EVENTS)) {
        builder = builder.property(attribute.key, value(attribute));
    }
    Schema::Object(builder.build()).into()
}

fn value(attribute: &Attribute) -> Schema {
    let meaning = attribute.meaning.trim();
    let about = match attribute.unit {
        Some(unit) => format!("{meaning} Unit: {unit}."),
        None => meaning.to_owned(),
    };
    let object = |schema_type: SchemaType| -> Object {
        ObjectBuilder::new().schema_type(schema_type).description(Some(about.clone())).build()
    };
    let one = |only: Type| Schema::Object(object(SchemaType::Type(only)));
    if let Some(words) = attribute.words {
        return Schema::AnyOf(open_string(Some(about), words, false));
    }
    match attribute.value {
        ValueType::String => one(Type::String),
        ValueType::Text => Schema::Object(object(SchemaType::Array(vec![Type::String, Type::Object]))),
        ValueType::Integer => one(Type::Integer),
        ValueType::Number => one(Type::Number),
        ValueType::Boolean => one(Type::Boolean),
        ValueType::Object => one(Type::Object),
        ValueType::Open => Schema::Object(object(SchemaType::AnyValue)),
        ValueType::List => {
            let items = ObjectBuilder::new().schema_type(SchemaType::AnyValue);
            ArrayBuilder::new().items(items).description(Some(about.clone())).build().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Members whose values are words, by name.
    const WORD_MEMBERS: &[&str] = &[
        "agent",
        "certainty",
        "channel",
        "channels",
        "completionReason",
        "decision",
        "entityType",
        "errorClass",
        "importance",
        "kind",
        "lane",
        "mode",
        "origin",
        "outcome",
        "phase",
        "severity",
        "state",
        "status",
        "subtypeGroup",
        "subtypeKey",
        "toolFamily",
    ];

    /// Members of these names that hold something else.
    const FREE: &[(&str, &str, &str)] = &[
        ("EventMetadata", "decision", "a word of the client, of another hook or of a rule"),
        ("EventMetadata", "mode", "a mode of the client or of a tool"),
        ("EventMetadata", "outcome", "what the client reports"),
        ("EventMetadata", "severity", "a word of the client"),
        ("EventMetadata", "status", "a word of the tool"),
        ("EnsureRequest", "origin", "a word of the sender"),
        ("Exploration", "mode", "the output mode of the agent's own search tool"),
        ("Problem", "status", "the HTTP status"),
    ];

    fn has_words(document: &Value, schema: &Value) -> bool {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = document.pointer(reference.trim_start_matches('#'));
            return target.is_some_and(|target| has_words(document, target));
        }
        let parts = ["anyOf", "oneOf"].iter().filter_map(|name| schema[*name].as_array()).flatten();
        schema["enum"].is_array()
            || schema["items"].is_object() && has_words(document, &schema["items"])
            || parts.into_iter().any(|part| has_words(document, part))
    }

    #[test]
    fn a_member_that_is_one_of_our_words_lists_them() {
        let document: Value = serde_json::from_str(&crate::openapi::text()).expect("json");
        let mut plain = Vec::new();
        for (name, schema) in document["components"]["schemas"].as_object().expect("schemas") {
            for (member, inner) in schema["properties"].as_object().into_iter().flatten() {
                let is_free = FREE.iter().any(|(schema, free, _)| schema == name && free == member);
                if WORD_MEMBERS.contains(&member.as_str()) && !is_free && !has_words(&document, inner) {
                    plain.push(format!("{name}.{member}"));
                }
            }
        }
        assert!(plain.is_empty(), "plain strings where words are expected: {plain:?}");
    }

    #[test]
    fn every_open_word_belongs_to_a_member() {
        let document: Value = serde_json::from_str(&crate::openapi::text()).expect("json");
        for open in OPEN_WORDS {
            let member = &document["components"]["schemas"][open.schema]["properties"][open.member];
            assert!(member["anyOf"].is_array(), "{}.{} is no string", open.schema, open.member);
        }
    }
}
