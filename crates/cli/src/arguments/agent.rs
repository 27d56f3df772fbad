//! Agents on the command line: the words of the table of agents.

use agent_tracer_event::Agent;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Returns a parser that takes the word or the id of an agent, and lists both where help is asked for.
pub(crate) fn parser() -> impl TypedValueParser<Value = Agent> {
    let values = Agent::ALL.iter().map(|agent| {
        let spec = agent.spec();
        let value = PossibleValue::new(spec.word).help(spec.name);
        if spec.id == spec.word { value } else { value.alias(spec.id) }
    });
    PossibleValuesParser::new(values)
        .map(|word| Agent::from_any_spelling(&word).expect("the values are spellings of agents"))
}
