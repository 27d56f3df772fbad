//! Describes words and metadata in the OpenAPI document: the values of our enums and the declared attributes.
//!
//! The types themselves live in `event`, which knows no OpenAPI; their members are described here, by schema and name.

use agent_tracer_event::attributes::{self, Attribute, ValueType};
use agent_tracer_event::{CallState, Certainty, Channel, ErrorClass, Kind, Lane};
use serde_json::{Value, json};
use utoipa::openapi::schema::{AdditionalProperties, ArrayBuilder, Object, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::openapi::Schemas;

/// The name of the schema of the metadata.
const METADATA: &str = "EventMetadata";

/// Members whose values are words of one set.
fn enums() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let states: Vec<_> = CallState::ALL.iter().map(|it| it.as_str()).collect();
    let kinds: Vec<_> = Kind::ALL.iter().map(|it| it.as_str()).collect();
    let lanes: Vec<_> = Lane::ALL.iter().map(|it| it.as_str()).collect();
    let channels: Vec<_> = Channel::ALL.iter().map(|it| it.as_str()).collect();
    vec![
        ("Row", "kind", kinds),
        ("Row", "lane", lanes),
        ("Row", "state", states.clone()),
        ("Row", "channels", channels.clone()),
        ("Row", "certainty", Certainty::ALL.iter().map(|it| it.as_str()).collect()),
        ("ToolCall", "state", states),
        ("ToolCall", "channels", channels),
        ("ToolCall", "errorClass", ErrorClass::ALL.iter().map(|it| it.as_str()).collect()),
    ]
}

/// Writes the values of enums and the attributes into the schemas that have such members.
pub(crate) fn describe(schemas: &mut Schemas) {
    for (schema, member, words) in enums() {
        if let Some(found) = member_of(schemas, schema, member) {
            set_words(found, &words);
        }
    }
    if let Some(RefOr::T(Schema::Object(row))) = schemas.get_mut("Row")
        && row.properties.contains_key("metadata")
    {
        let reference = utoipa::openapi::Ref::builder()
            .ref_location_from_schema_name(METADATA)
            .description(Some("The attributes of the event."))
            .build();
        row.properties.insert("metadata".to_owned(), reference.into());
        schemas.insert(METADATA.to_owned(), metadata());
    }
}

fn member_of<'s>(schemas: &'s mut Schemas, schema: &str, member: &str) -> Option<&'s mut Schema> {
    let Some(RefOr::T(Schema::Object(object))) = schemas.get_mut(schema) else { return None };
    match object.properties.get_mut(member) {
        Some(RefOr::T(found)) => Some(found),
        _ => None,
    }
}

fn set_words(schema: &mut Schema, words: &[&'static str]) {
    match schema {
        Schema::Object(object) => {
            let nullable =
                matches!(&object.schema_type, SchemaType::Array(types) if types.contains(&Type::Null));
            let mut values: Vec<Value> = words.iter().map(|word| json!(word)).collect();
            // A list of values holds for null too.
            values.extend(nullable.then_some(Value::Null));
            object.enum_values = Some(values);
        }
        Schema::Array(list) => {
            let items = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words.to_vec()));
            *schema = ArrayBuilder::new().items(items).description(list.description.clone()).build().into();
        }
        _ => {}
    }
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
