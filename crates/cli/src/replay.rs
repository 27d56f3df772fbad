//! Reads this machine's home, time zone and prices for the replay of rules.

use std::sync::Arc;

use agent_tracer_event::{Tokens, attributes};
use agent_tracer_ledger::project::tally::Pricer;
use agent_tracer_policy::backtest::{LocalMoment, Setting};
use agent_tracer_prices::Prices;
use serde_json::Value;

use crate::environment::Environment;
use crate::local_time::LocalTime;

pub(crate) fn setting(environment: &Environment, prices: Prices) -> Setting {
    let zone = LocalTime::of(environment);
    Setting {
        user_home: environment.user_home().ok().and_then(|home| home.to_str().map(str::to_owned)),
        local: Arc::new(move |at| LocalMoment { local: zone.of_week(at), midnight: zone.midnight(at) }),
        cost_pico: Arc::new(move |row| {
            let model = row.metadata.get(attributes::MODEL).and_then(Value::as_str)?;
            Tokens::read(&row.metadata)?;
            u64::try_from(Pricer::cost(&prices, model, &row.metadata)?).ok()
        }),
    }
}
