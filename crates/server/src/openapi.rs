//! The OpenAPI document: made of the tables that the routes are made of, and the document that clients are made of.

use std::collections::BTreeMap;

use agent_tracer_event::Agent;
use agent_tracer_ledger::view::Row;
use serde_json::json;
use utoipa::openapi::path::{OperationBuilder, ParameterBuilder, ParameterIn, PathItemBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, HttpMethod, InfoBuilder, OpenApi, OpenApiBuilder, PathsBuilder, Ref,
    RefOr, Required, ResponseBuilder, Schema,
};
use utoipa::{PartialSchema, ToSchema};

use crate::backtest;
use crate::event_schema;
use crate::ingest;
use crate::problem::Problem;
use crate::query::{self, Param, ParamType};
use crate::security::LoginCode;
use crate::stream;

/// The schemas that the document names.
pub(crate) type Schemas = BTreeMap<String, RefOr<Schema>>;

/// Adds what an answer needs to the schemas, and gives its own.
pub(crate) type Shape = fn(&mut Schemas) -> RefOr<Schema>;

/// Adds the schema of a value, and returns a reference to it.
pub(crate) fn one<T: ToSchema>(schemas: &mut Schemas) -> RefOr<Schema> {
    let mut inner = Vec::new();
    T::schemas(&mut inner);
    schemas.extend(inner);
    schemas.insert(T::name().into_owned(), <T as PartialSchema>::schema());
    Ref::from_schema_name(T::name()).into()
}

/// Adds the schema of a page of values, and returns a reference to it.
pub(crate) fn page<T: ToSchema>(schemas: &mut Schemas) -> RefOr<Schema> {
    let item = one::<T>(schemas);
    let name = format!("{}Page", T::name());
    let items =
        ArrayBuilder::new().items(item).description(Some("The items of this part, in the list's order."));
    let cursor = ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("Cursor of the next part, to pass as `cursor`. Absent at the end."));
    let page = ObjectBuilder::new()
        .property("items", items)
        .property("nextCursor", cursor)
        .required("items")
        .description(Some("A part of a list, with the cursor of the next part."));
    schemas.insert(name.clone(), Schema::Object(page.build()).into());
    Ref::from_schema_name(name).into()
}

/// Describes a path that is not part of the query API.
pub(crate) struct Call<'a> {
    /// The path.
    pub(crate) path: &'a str,
    /// The method.
    pub(crate) method: HttpMethod,
    /// The name.
    pub(crate) operation: &'a str,
    /// The group.
    pub(crate) tag: &'static str,
    /// A one-line description.
    pub(crate) summary: &'static str,
    /// Its parameters.
    pub(crate) params: &'static [&'static [Param]],
    /// Types and shape of its body.
    pub(crate) body: Option<(&'static [&'static str], Option<Shape>)>,
    /// Status, words, type and shape of its answer.
    pub(crate) answer: (&'static str, &'static str, Option<(&'static str, Option<Shape>)>),
    /// Statuses of its problems.
    pub(crate) problems: &'static [&'static str],
}

const OWN_CALLS: &[Call<'static>] = &[
    Call {
        path: "/api/v1/stream",
        method: HttpMethod::Get,
        operation: "stream",
        tag: "stream",
        summary: "Streams rows as they change, as server-sent events. `data` is the row, `id` a growing number: the epoch \
                  of the server and the row's `seq` in 16 digits. There is no `event` field. Clients insert or replace \
                  rows by their id. The stream starts after `Last-Event-ID` (or `after`, which may be a bare `seq`), \
                  otherwise now. An event `missed` with `{from, to}` reports that rows in between were left out or may \
                  have changed: load again. It comes first if the id belongs to another epoch, because the server was \
                  restarted, perhaps with an older copy of its store. An event `removed` with `{ids}` names rows that \
                  no longer exist, because they were merged into another row or purged: drop them. Every follower gets \
                  it, whatever its filters, also after a reconnect.",
        params: &[stream::PARAMS],
        body: None,
        answer: ("200", "Rows, until the client disconnects.", Some(("text/event-stream", Some(one::<Row>)))),
        problems: &["400", "403", "429"],
    },
    Call {
        path: "/api/v1/login-codes",
        method: HttpMethod::Post,
        operation: "makeLoginCode",
        tag: "access",
        summary: "Creates a one-time link that lets a browser change things.",
        params: &[],
        body: None,
        answer: ("200", "The link.", Some(("application/json", Some(one::<LoginCode>)))),
        problems: &["401", "403"],
    },
    Call {
        path: "/api/v1/dead-letters/{name}/requeue",
        method: HttpMethod::Post,
        operation: "requeueDeadLetter",
        tag: "health",
        summary: "Queues a dead letter again. One that still cannot be read returns to the dead letters.",
        params: &[],
        body: None,
        answer: ("204", "Queued.", None),
        problems: &["401", "403", "404", "503"],
    },
    Call {
        path: "/api/v1/policies/backtest",
        method: HttpMethod::Post,
        operation: "backtestPolicy",
        tag: "policies",
        summary: "Replays draft rules over the recorded history and reports what each would have done. Newest tasks first; \
                  an answer that ran out of time says so and holds what it found. Errors of the draft are reported \
                  with `policy:LINE:COLUMN` as their place.",
        params: &[backtest::PARAMS],
        body: Some((&["application/json"], Some(one::<backtest::BacktestRequest>))),
        answer: (
            "200",
            "The report.",
            Some(("application/json", Some(one::<agent_tracer_policy::backtest::Backtest>))),
        ),
        problems: &["400", "401", "403", "404", "413", "415", "422", "429", "503", "504"],
    },
    Call {
        path: "/health",
        method: HttpMethod::Get,
        operation: "getLiveness",
        tag: "health",
        summary: "Liveness of the server.",
        params: &[],
        body: None,
        answer: (
            "200",
            "The server and its store answer.",
            Some(("application/json", Some(one::<crate::health::Liveness>))),
        ),
        problems: &["503"],
    },
    Call {
        path: "/metrics",
        method: HttpMethod::Get,
        operation: "getMetrics",
        tag: "health",
        summary: "Metrics for Prometheus.",
        params: &[],
        body: None,
        answer: ("200", "The metrics.", Some(("text/plain", None))),
        problems: &["403", "503"],
    },
];

/// Builds the document.
pub(crate) fn document() -> OpenApi {
    let mut schemas = Schemas::new();
    let problem = one::<Problem>(&mut schemas);
    let mut paths = PathsBuilder::new();
    for endpoint in query::endpoints() {
        let mut operation = OperationBuilder::new()
            .operation_id(Some(endpoint.operation))
            .summary(Some(endpoint.summary))
            .tag("query");
        if endpoint.path.contains("{id}") {
            operation = operation.parameter(in_path("id", "The id."));
        }
        for param in endpoint.params.iter().copied().flatten() {
            operation = operation.parameter(parameter(param));
        }
        let shape = (endpoint.shape)(&mut schemas);
        let answer = ResponseBuilder::new()
            .description("The answer.")
            .content("application/json", ContentBuilder::new().schema(Some(shape)).build());
        operation = operation.response("200", answer);
        for status in ["400", "401", "403", "404", "503", "504"] {
            operation = operation.response(status, problem_response(status, &problem));
        }
        let item = PathItemBuilder::new().operation(HttpMethod::Get, operation).build();
        paths = paths.path(format!("{}{}", query::ROOT, endpoint.path), item);
    }
    for call in OWN_CALLS.iter().chain(ingest::CALLS) {
        paths = paths.path(call.path, path_item(call, &problem, &mut schemas));
    }
    for agent in Agent::ALL {
        let path = ingest::hook_path(*agent);
        let operation = format!("post{}Hook", capitalised(agent.spec().word));
        let call = Call { path: &path, operation: &operation, ..ingest::hook(*agent) };
        paths = paths.path(&path, path_item(&call, &problem, &mut schemas));
    }
    event_schema::describe(&mut schemas);
    let info = InfoBuilder::new().title("Agent Tracer").version(env!("CARGO_PKG_VERSION")).description(Some(
        "Records of what coding agents do. Names are camelCase, times RFC 3339 in UTC with milliseconds, ids \
             opaque. Every error is `application/problem+json`. Calls that change anything need the token.",
    ));
    let components = ComponentsBuilder::new().schemas_from_iter(schemas);
    OpenApiBuilder::new().info(info).paths(paths).components(Some(components.build())).build()
}

/// Returns the document as it is served and as it stands beside this crate.
pub(crate) fn text() -> String {
    let mut text = document().to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
}

/// Returns a word with a capital letter.
fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

fn path_item(call: &Call<'_>, problem: &RefOr<Schema>, schemas: &mut Schemas) -> utoipa::openapi::PathItem {
    let mut operation =
        OperationBuilder::new().operation_id(Some(call.operation)).summary(Some(call.summary)).tag(call.tag);
    if call.path.contains("{name}") {
        operation = operation.parameter(in_path("name", "The name."));
    }
    for param in call.params.iter().copied().flatten() {
        operation = operation.parameter(parameter(param));
    }
    if let Some((types, shape)) = call.body {
        let shape = shape.map(|shape| shape(schemas));
        let mut body = RequestBodyBuilder::new().required(Some(Required::True));
        for name in types {
            body = body.content(*name, ContentBuilder::new().schema(shape.clone()).build());
        }
        operation = operation.request_body(Some(body.build()));
    }
    let (status, words, content) = call.answer;
    let mut answer = ResponseBuilder::new().description(words);
    if let Some((name, shape)) = content {
        let shape = shape.map(|shape| shape(schemas));
        answer = answer.content(name, ContentBuilder::new().schema(shape).build());
    }
    operation = operation.response(status, answer);
    for status in call.problems {
        operation = operation.response(*status, problem_response(status, problem));
    }
    PathItemBuilder::new().operation(call.method.clone(), operation).build()
}

/// Describes a part of a path that stands for a string.
fn in_path(name: &str, words: &str) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(words))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
}

fn problem_response(status: &str, problem: &RefOr<Schema>) -> ResponseBuilder {
    let words = match status {
        "400" => "Bad request.",
        "401" => "Token required.",
        "403" => "Forbidden: wrong host, origin, user or scope.",
        "404" => "Not found.",
        "409" => "Conflicts with recorded data.",
        "413" => "Body too large.",
        "415" => "Unsupported content type.",
        "422" => "Invalid body.",
        "429" => "Too many requests; see `Retry-After`.",
        "504" => "Answer timed out.",
        _ => "Service unavailable.",
    };
    let content = ContentBuilder::new().schema(Some(problem.clone())).build();
    ResponseBuilder::new().description(words).content("application/problem+json", content)
}

fn parameter(param: &Param) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(param.name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(param.about))
        .schema(Some(schema(param.reads)))
}

fn schema(reads: ParamType) -> RefOr<Schema> {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let object = match reads {
        ParamType::Text | ParamType::Task => text(),
        ParamType::Time => text().examples([
            json!("-24h"),
            json!("yesterday"),
            json!("2026-11-15"),
            json!("2026-11-15T21:10:04.001Z"),
        ]),
        ParamType::Zone => text().examples([json!("Europe/Berlin"), json!("+02:00")]),
        ParamType::Flag => ObjectBuilder::new().schema_type(Type::Boolean),
        ParamType::One(words) => text().enum_values(Some(words())),
        ParamType::Many(words) => {
            return ArrayBuilder::new().items(text().enum_values(Some(words()))).build().into();
        }
        ParamType::Integer(least, most) => ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .minimum(Some(least as f64))
            .maximum(Some(most as f64)),
    };
    Schema::Object(object.build()).into()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_document_beside_this_crate_is_the_one_that_is_served() {
        agent_tracer_house::assert_file("crates/server/openapi.json", &super::text());
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document: serde_json::Value = serde_json::from_str(&super::text()).expect("json");
        let mut references = Vec::new();
        collect(&document, &mut references);
        assert!(references.len() > 50);
        for reference in references {
            let pointer = reference.strip_prefix('#').expect("local");
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
    }

    fn collect(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(members) => {
                for (name, inner) in members {
                    match inner.as_str() {
                        Some(text) if name == "$ref" => found.push(text.to_owned()),
                        _ => collect(inner, found),
                    }
                }
            }
            serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
            _ => {}
        }
    }
}
