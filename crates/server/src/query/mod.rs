//! Queries: every path of the query API is one row of a table.
//!
//! A row names the path, its parameters, the shape of its answer and the store's method. Reading parameters, the
//! OpenAPI document and the routes all come from that table, so they cannot tell different stories.

mod agents;
mod answer;
mod compactions;
mod diagnostics;
mod insights;
mod params;
mod policies;
mod tasks;

pub(crate) use answer::{Question, ask};
pub(crate) use params::{OWNER, Param, ParamType, QueryParams, TIME_ZONE, agents, kinds, lanes, optional};

use crate::app::App;
use crate::openapi::Shape;
use crate::problem::Problem;

/// The conditions under which an answer stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CachePolicy {
    /// The ledger alone: the same as long as nothing was added.
    WithLedger,
    /// The ledger and the clock: a task becomes stale or abandoned by waiting.
    WithTime,
    /// More than that: never the same.
    Always,
}

/// One path of the query API.
pub(crate) struct Endpoint {
    /// Its path below `/api/v1`.
    pub(crate) path: &'static str,
    /// Its name in the OpenAPI document.
    pub(crate) operation: &'static str,
    /// A one-line description of the answer.
    pub(crate) summary: &'static str,
    /// Its parameters.
    pub(crate) params: &'static [&'static [Param]],
    /// The shape of its answer.
    pub(crate) shape: Shape,
    /// The conditions under which an answer stays the same.
    pub(crate) cache: CachePolicy,
    /// Asks the store. Runs where waiting is allowed.
    pub(crate) ask: fn(&App, &QueryParams) -> Result<Vec<u8>, Problem>,
}

/// Returns every query.
pub(crate) fn endpoints() -> impl Iterator<Item = &'static Endpoint> {
    [
        tasks::ENDPOINTS,
        compactions::ENDPOINTS,
        insights::ENDPOINTS,
        policies::ENDPOINTS,
        diagnostics::ENDPOINTS,
        agents::ENDPOINTS,
    ]
    .into_iter()
    .flatten()
}

/// The root of the query API.
pub(crate) const ROOT: &str = "/api/v1";

/// Serializes an answer of the store.
fn json<T: serde::Serialize>(answer: agent_tracer_ledger::Answer<T>) -> Result<Vec<u8>, Problem> {
    write(&answer?)
}

fn write<T: serde::Serialize>(answer: &T) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(answer).map_err(|error| {
        Problem::new(
            axum::http::StatusCode::INTERNAL_SERVER_ERROR,
            format!("cannot write the answer: {error}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_path_and_no_name_is_there_twice() {
        let (mut paths, mut names) = (BTreeSet::new(), BTreeSet::new());
        for endpoint in endpoints() {
            assert!(paths.insert(endpoint.path), "{}", endpoint.path);
            assert!(names.insert(endpoint.operation), "{}", endpoint.operation);
            let mut params = BTreeSet::new();
            for param in endpoint.params.iter().copied().flatten() {
                assert!(params.insert(param.name), "{} {}", endpoint.path, param.name);
            }
        }
    }

    #[test]
    fn every_path_of_the_contract_is_there() {
        let there: BTreeSet<&str> = endpoints().map(|endpoint| endpoint.path).collect();
        for path in [
            "/tasks",
            "/tasks/{id}",
            "/tasks/{id}/tree",
            "/tasks/{id}/timeline",
            "/tasks/{id}/turns",
            "/tasks/{id}/tool-calls",
            "/tasks/{id}/context",
            "/tasks/{id}/files",
            "/tasks/{id}/commands",
            "/tasks/{id}/exploration",
            "/tasks/{id}/web",
            "/tasks/{id}/permissions",
            "/tasks/{id}/todos",
            "/tasks/{id}/questions",
            "/tasks/{id}/summary",
            "/tasks/{id}/lanes",
            "/tasks/{id}/compactions",
            "/tasks/{id}/compaction-items",
            "/events/{id}",
            "/tools",
            "/failures",
            "/usage",
            "/files",
            "/skills",
            "/search",
            "/attention",
            "/health",
            "/activity",
            "/commands",
            "/mcp",
            "/agents",
            "/loops",
            "/policies",
            "/policies/decisions",
            "/settings",
            "/supported-agents",
        ] {
            assert!(there.contains(path), "{path}");
        }
    }
}
