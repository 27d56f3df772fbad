//! The database: where it is, how it is reached, how it is brought up to date.
//!
//! The client speaks HTTP on a small runtime of its own, so that a plain thread may call it. Nothing here keeps
//! anything between two calls: any number of processes may use one database.

use std::collections::BTreeSet;
use std::future::Future;

use agent_tracer_ledger::FaultCause;
use clickhouse::Client;
use clickhouse::error::Error;
use tokio::runtime::{Builder, Runtime};

use crate::clickhouse::days::Marks;
use crate::clickhouse::insert_batcher::InsertBatcher;
use crate::clickhouse::schema::{self, Layout};
use crate::clickhouse::write::{Lines, OWNER_BYTES_MAX};

/// Raises the server's default of a quarter of a megabyte: a statement may name every member of a large family.
const LONGEST: (&str, &str) = ("max_query_size", "16777216");

/// Locates a database and holds the credentials for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreAddress {
    /// The address of the server's HTTP interface.
    pub url: String,
    /// The database.
    pub database: String,
    /// User of the database.
    pub user: Option<String>,
    /// Password of that user.
    pub password: Option<String>,
    /// One server or a cluster.
    pub layout: Layout,
}

impl StoreAddress {
    /// Reads `clickhouse://user:password@host:8123/database`, or `clickhouses://…:8443/…` for an encrypted way. User,
    /// password and port may be left out.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (rest, scheme, usual) = match text.strip_prefix("clickhouses://") {
            Some(rest) => (rest, "https", 8443),
            None => (text.strip_prefix("clickhouse://")?, "http", 8123),
        };
        let (authority, database) = rest.split_once('/')?;
        // From the right: a password may hold an `@`, a host may not.
        let (who, host) = match authority.rsplit_once('@') {
            Some((who, host)) => (Some(who), host),
            None => (None, authority),
        };
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        if host.is_empty() || database.is_empty() || !database.chars().all(is_name) {
            return None;
        }
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let (user, password) = match who.map(|who| who.split_once(':').unwrap_or((who, ""))) {
            Some((user, password)) => (Some(user.to_owned()), Some(password.to_owned())),
            None => (None, None),
        };
        Some(Self {
            url: if has_port { format!("{scheme}://{host}") } else { format!("{scheme}://{host}:{usual}") },
            database: database.to_owned(),
            user,
            password: password.filter(|password| !password.is_empty()),
            layout: Layout::Single,
        })
    }
}

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// A newer version of Agent Tracer made the tables.
    #[error(
        "the database was made by a newer version (schema {found}, this one knows {known})\n\
         hint: bring this server up to date"
    )]
    Newer {
        /// Their version.
        found: u32,
        /// The newest version that this program knows.
        known: u32,
    },
    /// The server cannot be reached, or stopped answering. The same may succeed later.
    #[error(
        "the database cannot be reached\n\
         hint: see whether ClickHouse runs and answers HTTP where `--store` says (its port is 8123 unless changed)"
    )]
    Unreachable(#[source] FaultCause),
    /// The server refused; what it says.
    #[error("the database refused the request")]
    Refused(#[source] FaultCause),
    /// The name of the owner is empty or too long.
    #[error("the name of an owner has 1 to {OWNER_BYTES_MAX} bytes, this one has {bytes}")]
    OwnerName {
        /// Its length.
        bytes: usize,
    },
    /// The shipment has a format of a newer version.
    #[error("the shipment has format {found}, this server knows {known}\nhint: bring the server up to date")]
    ShipmentFormat {
        /// The format of the shipment.
        found: u32,
        /// The newest format that this program knows.
        known: u32,
    },
}

impl From<Error> for FleetError {
    fn from(error: Error) -> Self {
        match error {
            Error::Network(cause) => Self::Unreachable(FaultCause::new(cause)),
            Error::TimedOut => Self::Unreachable("it did not answer in time".into()),
            Error::BadResponse(text) => Self::Refused(text.into()),
            other => Self::Refused(FaultCause::new(other)),
        }
    }
}

/// A database that many machines ship to.
pub struct Fleet {
    place: StoreAddress,
    client: Client,
    /// Shipments that wait for the insert that runs.
    waiting: InsertBatcher<Lines>,
    /// Days that were marked a moment ago.
    marks: Marks,
    /// Gone only while it is dropped.
    runtime: Option<Runtime>,
}

impl Fleet {
    /// Makes a client of the database at an address. Nothing is sent yet.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn new(place: StoreAddress) -> Result<Self, FleetError> {
        let runtime = Builder::new_multi_thread()
            // One thread drives all connections: it waits for the engine and computes nothing. A runtime of the
            // caller cannot be used, because plain threads and the server's blocking pool call this.
            .worker_threads(1)
            .thread_name("clickhouse")
            .enable_all()
            .build()
            .map_err(|error| FleetError::Unreachable(error.into()))?;
        let mut client = Client::default().with_url(&place.url);
        if let Some(user) = &place.user {
            client = client.with_user(user);
        }
        if let Some(password) = &place.password {
            client = client.with_password(password);
        }
        for (name, value) in [LONGEST].iter().chain(place.layout.settings()) {
            client = client.with_setting(*name, *value);
        }
        Ok(Self {
            place,
            client,
            waiting: InsertBatcher::default(),
            marks: Marks::default(),
            runtime: Some(runtime),
        })
    }

    pub(crate) const fn waiting(&self) -> &InsertBatcher<Lines> {
        &self.waiting
    }

    pub(crate) const fn marks(&self) -> &Marks {
        &self.marks
    }

    pub(crate) const fn layout(&self) -> &Layout {
        &self.place.layout
    }

    pub(crate) fn database(&self) -> &str {
        &self.place.database
    }

    /// Waits for an answer.
    pub(crate) fn wait<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, FleetError> {
        match &self.runtime {
            Some(runtime) => runtime.block_on(work).map_err(FleetError::from),
            None => Err(FleetError::Unreachable("the client is closed".into())),
        }
    }

    /// Returns the client, with the database chosen.
    pub(crate) fn client(&self) -> Client {
        self.client.clone().with_database(&self.place.database)
    }

    pub(crate) fn run(&self, statement: &str) -> Result<(), FleetError> {
        let query = self.client().query(&as_it_is(statement));
        self.wait(query.execute())
    }

    /// Makes the database and brings its tables up to date. Any number of processes may do so at once, and one that
    /// was interrupted is simply repeated.
    ///
    /// # Errors
    /// If a newer version made the tables, or the server cannot be reached or refuses.
    pub fn migrate(&self) -> Result<(), FleetError> {
        let database = schema::database(&self.place.database, &self.place.layout);
        self.wait(self.client.query(&as_it_is(&database)).execute())?;
        let found = self.version()?;
        if found > schema::VERSION {
            return Err(FleetError::Newer { found, known: schema::VERSION });
        }
        if found == 0 {
            // Nothing was there before: there is nothing to bring up to date.
            self.run_all(schema::create(&self.place.layout))?;
            return self.put_step(schema::VERSION);
        }
        // The number is written after each step: one that is interrupted is run again, which every statement of it
        // allows.
        for version in found + 1..=schema::VERSION {
            self.run_all(schema::step(version, &self.place.layout))?;
            self.put_step(version)?;
        }
        Ok(())
    }

    fn run_all(&self, statements: Vec<String>) -> Result<(), FleetError> {
        statements.iter().try_for_each(|statement| self.run(statement))
    }

    fn put_step(&self, version: u32) -> Result<(), FleetError> {
        self.run(&format!("INSERT INTO schema_step (version) VALUES ({version})"))
    }

    /// Returns the version of the tables that are there; zero if there are none.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn version(&self) -> Result<u32, FleetError> {
        let has_steps =
            "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'schema_step'";
        let found: u64 = self.wait(self.client().query(has_steps).fetch_one())?;
        if found == 0 {
            return Ok(0);
        }
        self.wait(self.client().query("SELECT max(version) FROM schema_step").fetch_one())
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // The last owner may itself run on a runtime, where waiting is not allowed.
            runtime.shutdown_background();
        }
    }
}

/// Escapes a statement in which no question mark stands for a value.
pub(crate) fn as_it_is(statement: &str) -> String {
    statement.replace('?', "??")
}

/// Quotes a text as a part of a statement, whatever is in it.
pub(crate) fn literal(text: &str) -> String {
    // The client binds values only on the client's side too; statements here are built of parts, in which a
    // placeholder would have to be counted.
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Texts behind `IN`, each once; never none.
pub(crate) fn any_of<'text>(texts: impl IntoIterator<Item = &'text str>) -> String {
    let texts: BTreeSet<String> = texts.into_iter().map(literal).collect();
    format!("({})", texts.into_iter().collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_who_where_and_which() {
        let place = StoreAddress::parse("clickhouse://ann:se:cret@db.example:9000/team").unwrap();
        assert_eq!(place.url, "http://db.example:9000");
        assert_eq!((place.user.as_deref(), place.password.as_deref()), (Some("ann"), Some("se:cret")));
        assert_eq!(place.database, "team");
        let tls = StoreAddress::parse("clickhouses://db.example/team").unwrap();
        assert_eq!(tls.url, "https://db.example:8443");
        let short = StoreAddress::parse("clickhouse://db.example/team").unwrap();
        assert_eq!((short.url.as_str(), short.user), ("http://db.example:8123", None));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "http://db/team",
            "clickhouse://",
            "clickhouse:///team",
            "clickhouse://db/",
            "clickhouse://db/a`b",
        ] {
            assert_eq!(StoreAddress::parse(text), None, "{text}");
        }
    }

    #[test]
    fn texts_cannot_end_a_statement_early() {
        assert_eq!(literal("a'; DROP TABLE fact; --\\"), "'a\\'; DROP TABLE fact; --\\\\'");
        assert_eq!(as_it_is("SELECT '?'"), "SELECT '??'");
        assert_eq!(any_of(["b", "a'", "b"]), "('a\\'', 'b')");
    }
}
