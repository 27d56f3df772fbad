//! Opens the policy server, which answers hooks.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agent_tracer_event::{Millis, Reading};
use agent_tracer_intake::DrainWatcher;
use agent_tracer_policy::daemon::{Arrivals, CurrentTime, PolicyServer, Setup};
use agent_tracer_spool::EnvelopeName;

use super::server_deps::Shared;
use crate::environment::Environment;
use crate::local_time::LocalTime;

pub(super) fn open(
    shared: &Shared,
    drained: &DrainWatcher,
    environment: &Environment,
) -> io::Result<PolicyServer> {
    let zone = LocalTime::of(environment);
    PolicyServer::open(&Setup {
        home: shared.home.clone(),
        rules: Arc::clone(&shared.active_rules),
        history: shared.ledger.history(),
        store: shared.ledger.store(),
        arrivals: Arc::new(SpoolArrivals(drained.clone())),
        now: Arc::new(move || {
            let nanos = nanos();
            let now = Millis::from_nanos(nanos);
            CurrentTime { nanos, local: zone.of_week(now), midnight: zone.midnight(now) }
        }),
        user_home: environment.user_home().ok().and_then(|home| home.to_str().map(str::to_owned)),
    })
}

/// Shows the drain state of the spool to the policy server.
struct SpoolArrivals(DrainWatcher);

impl Arrivals for SpoolArrivals {
    fn wait_for_earlier(&self, name: &EnvelopeName, session: Option<&str>, most: Duration) -> bool {
        self.0.wait_for_earlier(name, session, most)
    }

    fn wait_for(&self, name: &EnvelopeName, most: Duration) -> bool {
        self.0.wait(name, most)
    }

    fn peek(&self, name: &EnvelopeName) -> Option<Reading> {
        self.0.peek(name)
    }
}

/// Returns the time in nanoseconds since 1970. The names of envelopes are made of it, for which milliseconds are too
/// coarse.
#[expect(clippy::disallowed_methods, reason = "the binary is where the clock is read")]
fn nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
