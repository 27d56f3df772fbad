//! Databases: their clients, with the statements they are given, and their dumps.

use super::table::{Operands, Tool, destroys, reads, runs, tool, writes};
use super::{Call, sql};
use crate::draft::Access;
use crate::effect::Effects;
use crate::model::{Confidence, TargetType};
use crate::walk::Input;

pub(super) const TOOLS: &[Tool] = &[
    runs("psql pgcli", "query_database")
        .values("-c --command -f --file -d --dbname -h --host -p --port -U --username -v --set -F -o --output -P")
        .reader(psql),
    runs("mysql mariadb mycli", "query_database")
        .values("-e --execute -h --host -P --port -u --user -D --database -S --socket")
        .reader(mysql),
    runs("sqlite3 sqlite litecli duckdb", "query_database")
        .one_dash()
        .values("-cmd -separator -nullvalue -init -c")
        .reader(sqlite),
    runs("clickhouse-client clickhouse", "query_database").values("-q --query --host -h --port -u --user --password -d --database").reader(clickhouse),
    runs("redis-cli valkey-cli keydb-cli", "query_database").values("-h -p -a -n -u -s --user --pass -r -i --pattern").reader(redis),
    runs("mongosh mongo", "query_database").values("--eval --host --port -u -p -f --file").reader(mongo),
    runs("sqlcmd sqlplus usql snowsql cqlsh influx arangosh", "query_database").values("-Q -q -e -S -U -P -d -i -f").reader(other_sql),
    tool("pg_dump pg_dumpall mysqldump mongodump", "dump_database", Effects::READ).values("-f --file -d --dbname -h -p -U -u -t -n --host -o --out").outputs("-f --file -o --out").reader(dump),
    writes("pg_restore mongorestore mysqlimport mongoimport", "query_database").values("-d --dbname -h -p -U").operands(Operands::Files(Access::Read)),
    destroys("dropdb dropuser", "query_database").operands(Operands::Detail),
    writes("createdb createuser initdb pg_ctl pg_ctlcluster", "query_database").operands(Operands::Detail),
    reads("pg_isready pg_config pgbench mysqladmin mongostat", "inspect_database").reader(admin),
    runs("flyway liquibase dbmate goose migrate sqlx diesel sea-orm-cli atlas knex typeorm sequelize drizzle-kit", "query_database").reader(migrate),
];

fn set(call: &mut Call<'_, '_, '_>, text: &str) {
    let effects = sql::effects(text);
    call.becomes("query_database", effects);
    // The statement says it, whatever the client: only one that is not recognised leaves the doubt of the row.
    if effects != Effects::UNKNOWN {
        call.draft.confidence = Confidence::High;
    }
    call.draft.detail =
        Some(text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(120).collect());
}

/// Statements on standard input, if the command line has them.
fn piped(call: &mut Call<'_, '_, '_>) {
    if let Input::Text(text) = call.input {
        let text = text.clone();
        set(call, &text);
    }
}

fn psql(call: &mut Call<'_, '_, '_>) {
    let statements: Vec<String> =
        call.arguments.values("-c --command").map(|(text, _)| text.to_owned()).collect();
    if call.arguments.has("-l --list") {
        call.becomes("query_database", Effects::READ);
    } else if !statements.is_empty() {
        // `-c` may be given several times, and all of them run.
        set(call, &statements.join(";\n"));
    } else if let Some(file) = call.arguments.value("-f --file").map(str::to_owned) {
        call.aim_text(&file, TargetType::File, Access::Read);
    } else {
        piped(call);
    }
}

fn mysql(call: &mut Call<'_, '_, '_>) {
    match call.arguments.value("-e --execute").map(str::to_owned) {
        Some(statement) => set(call, &statement),
        None => piped(call),
    }
}

fn sqlite(call: &mut Call<'_, '_, '_>) {
    let statement = call.arguments.value("-c").or(call.arguments.operand(1)).map(str::to_owned);
    match statement {
        Some(statement) => set(call, &statement),
        None => piped(call),
    }
    if let Some(field) = call.arguments.operands.first().copied() {
        // Anything but plain reading counts as writing, a statement that is not recognised too.
        let access = if call.draft.effects == Effects::READ { Access::Read } else { Access::Write };
        call.aim(field, TargetType::File, access);
    }
}

fn clickhouse(call: &mut Call<'_, '_, '_>) {
    match call.arguments.value("-q --query").map(str::to_owned) {
        Some(statement) => set(call, &statement),
        None => piped(call),
    }
}

fn other_sql(call: &mut Call<'_, '_, '_>) {
    match call.arguments.value("-Q -q -e").map(str::to_owned) {
        Some(statement) => set(call, &statement),
        None => piped(call),
    }
}

fn redis(call: &mut Call<'_, '_, '_>) {
    if call.arguments.has("--scan --bigkeys --memkeys --hotkeys --stat --latency --latency-history") {
        call.becomes("query_database", Effects::READ);
        call.draft.confidence = Confidence::High;
        return;
    }
    let command = call.arguments.operand(0).map(str::to_ascii_uppercase);
    let effects = match command.as_deref() {
        None => return,
        Some(
            "FLUSHALL" | "FLUSHDB" | "DEL" | "UNLINK" | "SHUTDOWN" | "HDEL" | "ZREM" | "SREM" | "LREM"
            | "XDEL",
        ) => Effects::DESTROY,
        Some(
            "GET" | "MGET" | "HGET" | "HGETALL" | "HMGET" | "KEYS" | "SCAN" | "TTL" | "PTTL" | "TYPE"
            | "EXISTS" | "INFO" | "PING" | "LRANGE" | "LLEN" | "SMEMBERS" | "SCARD" | "ZRANGE" | "ZCARD"
            | "DBSIZE" | "MONITOR" | "STRLEN" | "XRANGE" | "XINFO" | "XLEN" | "MEMORY" | "SLOWLOG" | "CLIENT"
            | "LATENCY" | "OBJECT" | "ECHO" | "TIME" | "ROLE",
        ) => Effects::READ,
        Some("CONFIG") if call.arguments.operand(1).is_some_and(|word| word.eq_ignore_ascii_case("get")) => {
            Effects::READ
        }
        // What reads is listed and not what writes: a command that is missing above is taken for graver than it is.
        Some(_) => Effects::WRITE,
    };
    call.becomes("query_database", effects);
    call.draft.confidence = Confidence::High;
    let words: Vec<&str> = call.arguments.operands.iter().map(|field| &*field.text).collect();
    call.draft.detail = Some(words.join(" ").trim_end().chars().take(120).collect());
}

fn mongo(call: &mut Call<'_, '_, '_>) {
    let script = match (call.arguments.value("--eval"), call.input) {
        (Some(script), _) => script.to_owned(),
        (None, Input::Text(script)) => script.clone(),
        (None, Input::Inherited | Input::Stream { .. }) => return,
    };
    // The gravest words are looked for first: a script may find something and then drop it.
    let has = |words: &[&str]| words.iter().any(|word| script.contains(word));
    let effects = if has(&["drop(", "dropDatabase", "deleteMany", "deleteOne", "remove(", "findOneAndDelete"])
    {
        Effects::DESTROY
    } else if has(&[
        "insert",
        "update",
        "replaceOne",
        "createIndex",
        "createCollection",
        "bulkWrite",
        "renameCollection",
        "$out",
        "$merge",
    ]) {
        Effects::WRITE
    } else if has(&[
        "find",
        "count",
        "aggregate",
        "show ",
        "getCollectionNames",
        "stats(",
        "distinct",
        "listDatabases",
        "ping",
        "serverStatus",
    ]) {
        Effects::READ
    } else {
        Effects::UNKNOWN
    };
    call.becomes("query_database", effects);
    call.draft.detail = Some(script.chars().take(120).collect());
}

fn dump(call: &mut Call<'_, '_, '_>) {
    // The others print where no file is named; `mongodump` then makes a folder `dump`.
    if call.draft.aims.iter().any(|aim| aim.access == Access::Write) || call.draft.name == "mongodump" {
        call.also(Effects::WRITE);
    }
}

fn admin(call: &mut Call<'_, '_, '_>) {
    if call.draft.name == "mysqladmin" {
        let effects = match call.arguments.operand(0) {
            Some("drop" | "shutdown") => Effects::DESTROY,
            Some("create" | "password" | "flush-privileges") => Effects::WRITE,
            _ => Effects::READ,
        };
        call.becomes("inspect_database", effects);
    } else if call.draft.name == "pgbench" {
        // The test is made of transactions that change tables.
        call.becomes("run_test", Effects::WRITE);
    }
}

/// Migrations: up writes, down takes away, status looks.
fn migrate(call: &mut Call<'_, '_, '_>) {
    let words: Vec<String> =
        call.arguments.operands.iter().map(|field| field.text.to_ascii_lowercase()).collect();
    let has = |known: &[&str]| {
        words
            .iter()
            .any(|word| known.iter().any(|known| word == known || word.rsplit(':').next() == Some(known)))
    };
    call.draft.detail = words.first().cloned();
    // What looks and what takes away comes before what writes: `sqlx migrate info` and `sqlx migrate revert` hold a
    // word of the last list too.
    if has(&[
        "status",
        "info",
        "validate",
        "history",
        "list",
        "check",
        "version",
        "show",
        "diff",
        "print-schema",
    ]) {
        call.becomes("query_database", Effects::READ);
    } else if has(&[
        "clean", "drop", "down", "rollback", "revert", "undo", "reset", "redo", "dropall", "fresh",
    ]) {
        call.becomes("query_database", Effects::DESTROY);
    } else if has(&["generate", "new", "create", "add", "prepare"]) {
        call.becomes("generate", Effects::WRITE);
    } else if has(&["migrate", "up", "update", "apply", "run", "push", "latest", "setup"]) {
        call.becomes("query_database", Effects::WRITE);
    }
}
