//! Schemas of the vocabulary, for the API document. Only with the feature `schema`.

use std::borrow::Cow;

use agent_tracer_agent::Agent;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema, openapi::RefOr};

/// Builds the schema of a string that is one of these words.
#[must_use]
pub fn enumeration(about: &str, words: &[&'static str]) -> RefOr<Schema> {
    let object = ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(about.trim()))
        .enum_values(Some(words.iter().copied()));
    Schema::Object(object.build()).into()
}

/// Describes a set of words as an enumeration of its name.
#[doc(hidden)]
#[macro_export]
macro_rules! schema_of_words {
    ($name:ident, $about:expr) => {
        impl $crate::schema::utoipa::PartialSchema for $name {
            fn schema() -> $crate::schema::utoipa::openapi::RefOr<$crate::schema::utoipa::openapi::Schema> {
                $crate::schema::enumeration($about, $name::WORDS)
            }
        }

        impl $crate::schema::utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed(stringify!($name))
            }
        }
    };
}

#[doc(hidden)]
pub use utoipa;

/// Stands for the id of an agent in schemas: [`Agent`] belongs to a crate that knows no API.
#[derive(Debug)]
pub enum AgentId {}

impl PartialSchema for AgentId {
    fn schema() -> RefOr<Schema> {
        let ids: Vec<&'static str> = Agent::ALL.iter().map(|agent| agent.as_str()).collect();
        enumeration("The id of an agent.", &ids)
    }
}

impl ToSchema for AgentId {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("AgentId")
    }
}
