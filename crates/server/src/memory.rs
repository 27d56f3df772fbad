//! Memory for requests: what a body may become, and how many large ones are read at once.
//!
//! A body is weighed before anything is built of it. Its weight is an estimate of the most that reading it takes; light
//! bodies pass, heavy ones wait until those before them are done, so that any number of them takes a bounded amount.

use std::sync::Arc;
use std::time::Duration;

use agent_tracer_agents::extent::Meter;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Problem;

/// The bytes that heavy bodies may take together.
const TOGETHER: usize = 256 << 20;

/// Bodies up to this weight do not wait.
const LIGHT: usize = 1 << 20;

/// Bytes that one permit stands for.
const UNIT: usize = 1 << 10;

/// The time a heavy body waits for others.
// Less than a request may take: 429 with `Retry-After` is an answer, and a request that times out has none.
const PATIENCE: Duration = Duration::from_secs(10);

/// Memory that heavy requests share.
pub(crate) struct Memory {
    /// For bodies that are on their way.
    arriving: Arc<Semaphore>,
    /// For bodies that are being read and stored. Those hold nothing that one on its way could wait for.
    reading: Arc<Semaphore>,
}

/// Memory that a request holds. Dropped, it is free.
pub(crate) type Share = Option<OwnedSemaphorePermit>;

impl Memory {
    pub(crate) fn new() -> Self {
        let whole = || Arc::new(Semaphore::new(TOGETHER / UNIT));
        Self { arriving: whole(), reading: whole() }
    }

    /// Waits for memory for a body of so many bytes to arrive in.
    pub(crate) async fn arrive(&self, bytes: usize) -> Result<Share, Problem> {
        take(&self.arriving, bytes).await
    }

    /// Waits for memory to read a body of this weight in.
    pub(crate) async fn read(&self, weight: usize) -> Result<Share, Problem> {
        take(&self.reading, weight).await
    }
}

async fn take(room: &Arc<Semaphore>, weight: usize) -> Result<Share, Problem> {
    if weight <= LIGHT {
        return Ok(None);
    }
    // A body that outweighs all the memory takes all of it: a request for more permits than exist would wait for ever.
    let units = u32::try_from(weight.min(TOGETHER) / UNIT).unwrap_or(u32::MAX);
    match tokio::time::timeout(PATIENCE, Arc::clone(room).acquire_many_owned(units)).await {
        Ok(Ok(permit)) => Ok(Some(permit)),
        Ok(Err(_)) | Err(_) => Err(Problem::too_many("other large requests are being read", 5)),
    }
}

/// Returns the most that reading a JSON body of so many bytes takes, in bytes: the body and its texts in a few forms, 72
/// bytes of a value twice while its list grows, and the smallest buffer of a container.
pub(crate) fn weight(bytes: usize, meter: &Meter) -> usize {
    let extent = meter.extent();
    bytes * 4 + (extent.values + meter.within_texts()) * 160 + extent.containers * 480
}

/// Returns the most that reading a protobuf body of so many bytes takes: a value may have two bytes.
pub(crate) fn binary_weight(bytes: usize) -> usize {
    (bytes * 64).min(TOGETHER / 4)
}
