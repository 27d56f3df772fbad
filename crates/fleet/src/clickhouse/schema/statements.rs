//! Makes statements of the definitions, for one server or for a cluster.

use std::fmt::Write;

use agent_tracer_ledger::project::tally::Dim;

use super::tables::USUAL_GRANULE;
use super::{AGING, Column, Index, TABLES, Table, VIEWS, View};

/// Lists the places where the tables can live: one server or a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// On one server.
    #[default]
    Single,
    /// On every server of a cluster: replicated within a shard, owners spread over the shards.
    Cluster {
        /// The cluster's name in the servers' configuration.
        name: String,
    },
}

impl Layout {
    fn on_cluster(&self) -> String {
        match self {
            Self::Single => String::new(),
            Self::Cluster { name } => format!(" ON CLUSTER {}", quoted(name)),
        }
    }

    /// Returns the settings that every statement is sent with.
    pub(crate) const fn settings(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Single => &[],
            Self::Cluster { .. } => &[
                // Owners are not split between shards: what is joined on a shard is joined completely.
                ("distributed_product_mode", "local"),
                // A question that names owners is asked where they are.
                ("optimize_skip_unused_shards", "1"),
                // By default an insert is acknowledged when the server that was asked has it in a queue for the shards.
                ("distributed_foreground_insert", "1"),
                // What is read of all shards and inserted is spread by its owners.
                ("parallel_distributed_insert_select", "0"),
            ],
        }
    }

    /// Names a table of the server about itself: of one server, or of one replica of every shard.
    pub(crate) fn about_itself(&self, table: &str) -> String {
        match self {
            Self::Single => format!("system.{table}"),
            Self::Cluster { name } => format!("cluster({}, system.{table})", literal(name)),
        }
    }
}

/// Builds the statement that makes the database.
#[must_use]
pub fn database(name: &str, layout: &Layout) -> String {
    format!("CREATE DATABASE IF NOT EXISTS {}{}", quoted(name), layout.on_cluster())
}

/// Quotes a name for a statement, whatever is in it.
fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`"))
}

/// Quotes a text for a statement.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Builds the statements that make everything, each of which may be run again.
#[must_use]
pub fn create(layout: &Layout) -> Vec<String> {
    let mut statements = vec![steps(layout), closed_days(layout)];
    for table in TABLES {
        statements.extend(tables(table, layout));
    }
    statements.extend(VIEWS.iter().map(|view| view_statement(view, layout)));
    statements
}

/// Returns the name under which the rows themselves are kept.
fn own_name(table: &str, layout: &Layout) -> String {
    match layout {
        Layout::Single => table.to_owned(),
        Layout::Cluster { .. } => format!("{table}_local"),
    }
}

/// Adds indexes that earlier versions did not have.
pub(super) fn add_indexes(layout: &Layout) -> Vec<String> {
    of_indexes(layout, |(name, expression, kind)| {
        format!("ADD INDEX IF NOT EXISTS {name} {expression} TYPE {kind} GRANULARITY 1")
    })
}

/// Fills indexes for rows that are older than the index. The engine does so beside its other work.
pub(super) fn fill_indexes(layout: &Layout) -> Vec<String> {
    of_indexes(layout, |(name, ..)| format!("MATERIALIZE INDEX IF EXISTS {name}"))
}

/// Takes an index away, so that it can be made in another way.
pub(super) fn drop_index(table: &str, index: &str, layout: &Layout) -> String {
    let (name, cluster) = (quoted(&own_name(table, layout)), layout.on_cluster());
    format!("ALTER TABLE {name}{cluster} DROP INDEX IF EXISTS {index}")
}

/// Adds a column of [`TABLES`] that an earlier version did not have, behind the column that stands before it there. A
/// column of the key is appended to the order of the rows, which is possible only for a column that is new.
pub(super) fn add_column(table: &str, column: &str, layout: &Layout) -> Vec<String> {
    let Some(table) = TABLES.iter().find(|known| known.name == table) else { return Vec::new() };
    let Some(place) = table.columns.iter().position(|known| known.name == column) else {
        return Vec::new();
    };
    let mut add = String::new();
    if let Some([before, column]) = place.checked_sub(1).and_then(|before| table.columns.get(before..=place))
    {
        let line = column_line(column);
        add = format!("ADD COLUMN IF NOT EXISTS {} AFTER `{}`", line.trim(), before.name);
    }
    let order = match table.key.contains(&column) {
        true => format!(", MODIFY ORDER BY ({})", table.key.join(", ")),
        false => String::new(),
    };
    let (own, cluster) = (quoted(&own_name(table.name, layout)), layout.on_cluster());
    let mut statements = vec![format!("ALTER TABLE {own}{cluster} {add}{order}")];
    if *layout != Layout::Single {
        statements.push(format!("ALTER TABLE {}{cluster} {add}", quoted(table.name)));
    }
    statements
}

fn of_indexes(layout: &Layout, what: impl Fn(&Index) -> String) -> Vec<String> {
    let mut statements = Vec::new();
    for table in TABLES {
        let (name, cluster) = (quoted(&own_name(table.name, layout)), layout.on_cluster());
        let alters = table.indexes.iter().map(|index| format!("ALTER TABLE {name}{cluster} {}", what(index)));
        statements.extend(alters);
    }
    statements
}

/// Builds the statements that let rows go so many days after they happened; none keeps them for ever.
#[must_use]
pub fn keep_for(days: Option<u32>, layout: &Layout) -> Vec<String> {
    let one = |(table, column): &(&str, &str)| {
        let (table, cluster) = (quoted(&own_name(table, layout)), layout.on_cluster());
        match days {
            // Whatever a client says that the time is, the sum is a date.
            Some(days) => format!(
                "ALTER TABLE {table}{cluster} MODIFY TTL toDateTime(least(greatest(intDiv({column}, 1000), 0), 4000000000)) \
                 + toIntervalDay({days})"
            ),
            None => format!("ALTER TABLE {table}{cluster} REMOVE TTL"),
        }
    };
    AGING.iter().map(one).collect()
}

/// Builds the statement that deletes rows for good and waits until they are gone, every version of them.
#[must_use]
pub fn delete(table: &str, condition: &str, layout: &Layout) -> String {
    format!(
        "ALTER TABLE {}{} DELETE WHERE {condition} SETTINGS mutations_sync = 2",
        quoted(&own_name(table, layout)),
        layout.on_cluster()
    )
}

/// Returns the table of the steps that were taken.
fn steps(layout: &Layout) -> String {
    everywhere(
        "schema_step",
        "`version` UInt32 COMMENT 'the version that the step led to'",
        "version",
        layout,
    )
}

/// Returns the table of the ends of closed days.
fn closed_days(layout: &Layout) -> String {
    let until = "`until` Int64 COMMENT 'days before this one are closed; in milliseconds since 1970'";
    everywhere("closed_day", until, "until", layout)
}

/// Builds a small table that is the same on every server of a cluster, whichever shard is away.
fn everywhere(name: &str, column: &str, key: &str, layout: &Layout) -> String {
    let engine = match layout {
        Layout::Single => "MergeTree".to_owned(),
        Layout::Cluster { .. } => {
            // One path for all shards, so that every server of the cluster is a replica of the same few rows.
            format!("ReplicatedMergeTree('/clickhouse/tables/{{database}}/{name}', '{{shard}}-{{replica}}')")
        }
    };
    format!(
        "CREATE TABLE IF NOT EXISTS {name}{}\n(\n    {column},\n    \
         `at` DateTime DEFAULT now() COMMENT 'when'\n)\nENGINE = {engine}\nORDER BY {key}",
        layout.on_cluster()
    )
}

/// Says of facts that were there before in which days they are.
pub(super) fn fill_days() -> String {
    "INSERT INTO task_day (owner, day, task, version, gone) \
     SELECT DISTINCT owner, occurred - positiveModulo(occurred, 86400000) AS day, task, 1 AS version, 0 AS gone FROM fact"
        .to_owned()
}

fn tables(table: &Table, layout: &Layout) -> Vec<String> {
    match layout {
        Layout::Single => vec![local(table, table.name, "ReplacingMergeTree(version, gone)", layout)],
        Layout::Cluster { name } => {
            let own = format!("{}_local", table.name);
            let engine = format!(
                "ReplicatedReplacingMergeTree('/clickhouse/tables/{{shard}}/{{database}}/{own}', '{{replica}}', version, gone)"
            );
            vec![
                local(table, &own, &engine, layout),
                // A replicated table drops an insert that it has had before. What was deleted in between would stay so,
                // although it was sent again and acknowledged; what is there twice is replaced in any case.
                format!(
                    "ALTER TABLE {}{} MODIFY SETTING replicated_deduplication_window = 0",
                    quoted(&own),
                    layout.on_cluster()
                ),
                // All versions of a row, and all tasks of a family, are on one shard: what is deduplicated and joined
                // there is deduplicated and joined.
                format!(
                    "CREATE TABLE IF NOT EXISTS {}{} AS {}\nENGINE = Distributed({}, currentDatabase(), {}, cityHash64(owner))\nCOMMENT {}",
                    quoted(table.name),
                    layout.on_cluster(),
                    quoted(&own),
                    quoted(name),
                    quoted(&own),
                    literal(table.about)
                ),
            ]
        }
    }
}

fn local(table: &Table, name: &str, engine: &str, layout: &Layout) -> String {
    let mut lines: Vec<String> = table.columns.iter().map(column_line).collect();
    lines.extend(
        table.indexes.iter().map(|(name, expression, kind)| {
            format!("    INDEX {name} {expression} TYPE {kind} GRANULARITY 1")
        }),
    );
    let settings = match table.granule {
        USUAL_GRANULE => String::new(),
        rows => format!("\nSETTINGS index_granularity = {rows}"),
    };
    format!(
        "CREATE TABLE IF NOT EXISTS {}{}\n(\n{}\n)\nENGINE = {engine}\nORDER BY ({}){settings}\nCOMMENT {}",
        quoted(name),
        layout.on_cluster(),
        lines.join(",\n"),
        table.key.join(", "),
        literal(table.about)
    )
}

fn column_line(column: &Column) -> String {
    let mut line = format!("    `{}` {} COMMENT {}", column.name, column.kind, literal(column.about));
    if !column.codec.is_empty() {
        write!(line, " CODEC({})", column.codec).ok();
    }
    line
}

fn view_statement(view: &View, layout: &Layout) -> String {
    let columns: Vec<String> =
        view.columns.iter().map(|column| format!("    {} AS `{}`", column.kind, column.name)).collect();
    let from = view.from.replace("{skills}", &Dim::Skill.code().to_string());
    let from = TABLES
        .iter()
        .fold(from, |from, table| from.replace(&format!("{{{}}}", table.name), &quoted(table.name)));
    format!(
        "CREATE OR REPLACE VIEW {}{} AS\nSELECT\n{}\nFROM {from}",
        quoted(view.name),
        layout.on_cluster(),
        columns.join(",\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_under_the_owner_and_every_row_has_a_version() {
        for table in TABLES {
            assert_eq!(table.key.first(), Some(&"owner"), "{}", table.name);
            for name in table.key.iter().chain(&["version", "gone"]) {
                assert!(table.columns.iter().any(|column| column.name == *name), "{}.{name}", table.name);
            }
        }
    }

    #[test]
    fn names_and_texts_cannot_end_early() {
        assert_eq!(quoted("a`b\\"), "`a\\`b\\\\`");
        assert_eq!(literal("it's \\"), "'it\\'s \\\\'");
    }
}
