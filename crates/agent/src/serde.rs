//! An agent in JSON and the like: its id.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::Agent;

impl Serialize for Agent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Agent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A visitor and not `&str`: readers of streams and of values own no borrowed text.
        deserializer.deserialize_str(Id)
    }
}

struct Id;

impl Visitor<'_> for Id {
    type Value = Agent;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the id of an agent")
    }

    fn visit_str<E: Error>(self, id: &str) -> Result<Agent, E> {
        Agent::parse(id).ok_or_else(|| E::custom(format_args!("unknown agent `{id}`")))
    }
}

#[cfg(test)]
mod tests {
    use crate::Agent;

    #[test]
    fn an_agent_is_its_id_and_nothing_else_is_read() {
        for agent in Agent::ALL {
            let text = serde_json::to_string(agent).unwrap();
            assert_eq!(text, format!("\"{}\"", agent.as_str()));
            assert_eq!(serde_json::from_str::<Agent>(&text).unwrap(), *agent);
        }
        let error = serde_json::from_str::<Agent>("\"claude\"").unwrap_err().to_string();
        assert!(error.starts_with("unknown agent `claude`"), "{error}");
    }
}
