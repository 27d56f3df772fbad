//! Queries that go to the engine itself, past the product.

use agent_tracer_fleet::clickhouse::StoreAddress;
use clickhouse::Client;
use tokio::runtime::{Builder, Runtime};

/// A client of the engine.
pub(crate) struct Direct {
    client: Client,
    runtime: Runtime,
}

/// Holds the engine's working time since it started, in seconds. Parallel work counts in full.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    pub(crate) inserts: f64,
    pub(crate) questions: f64,
    pub(crate) merges: f64,
}

impl Work {
    /// Returns the growth since an earlier reading.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            inserts: self.inserts - before.inserts,
            questions: self.questions - before.questions,
            merges: self.merges - before.merges,
        }
    }
}

impl Direct {
    pub(crate) fn new(place: &StoreAddress) -> Result<Self, String> {
        let mut client = Client::default().with_url(&place.url).with_database(&place.database);
        if let Some(user) = &place.user {
            client = client.with_user(user);
        }
        if let Some(password) = &place.password {
            client = client.with_password(password);
        }
        let runtime =
            Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(|e| e.to_string())?;
        Ok(Self { client, runtime })
    }

    /// Reads the engine's own counters.
    pub(crate) fn work(&self) -> Result<Work, String> {
        let ask = "SELECT toFloat64(sumIf(value, event = 'InsertQueryTimeMicroseconds')) / 1e6, \
                   toFloat64(sumIf(value, event = 'SelectQueryTimeMicroseconds')) / 1e6, \
                   toFloat64(sumIf(value, event = 'MergeTotalMilliseconds')) / 1e3 FROM system.events";
        let (inserts, questions, merges) = self
            .runtime
            .block_on(self.client.query(ask).fetch_one::<(f64, f64, f64)>())
            .map_err(|error| error.to_string())?;
        Ok(Work { inserts, questions, merges })
    }

    /// Gives everything of an owner to another one too, sums of days left out: what a larger team's store is like to ask,
    /// not how it came there.
    pub(crate) fn copy_owner(&self, from: &str, to: &str) -> Result<(), String> {
        for table in ["task_day", "fact", "task"] {
            let copy = format!(
                "INSERT INTO {table} SELECT * REPLACE ('{to}' AS owner) FROM (SELECT * FROM {table} FINAL WHERE owner = '{from}')"
            );
            self.runtime.block_on(self.client.query(&copy).execute()).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}
