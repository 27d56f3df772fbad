//! One alert and its forms: a line, JSON, the body for Slack.

use agent_tracer_event::Millis;
use serde::Serialize;
use serde_json::{Value, json};

/// The kind of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An agent waits for a permission or an answer.
    Waiting,
    /// A task works and says nothing.
    Stuck,
    /// The same call again and again.
    Looping,
    /// The day's budget is used up.
    Budget,
    /// A rate limit is near.
    RateLimit,
    /// Many failures in a short time.
    Failures,
    /// A rule denied something.
    Denial,
    /// A test of the way to the receivers.
    Test,
}

impl Kind {
    /// Kinds that a server reports.
    pub const ALL: [Self; 7] = [
        Self::Waiting,
        Self::Stuck,
        Self::Looping,
        Self::Budget,
        Self::RateLimit,
        Self::Failures,
        Self::Denial,
    ];

    /// Returns the word for it in what is sent.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Stuck => "stuck",
            Self::Looping => "looping",
            Self::Budget => "budget",
            Self::RateLimit => "rate_limit",
            Self::Failures => "failures",
            Self::Denial => "denial",
            Self::Test => "test",
        }
    }
}

/// Something that a person should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// Its kind.
    pub kind: Kind,
    /// Its identity: of alerts with equal keys only the first is sent within the cool-down.
    pub key: String,
    /// One line, in our words.
    pub text: String,
    /// The task.
    pub task_id: Option<String>,
    /// The project.
    pub project: Option<String>,
    /// The time.
    pub at: Millis,
}

impl Alert {
    /// Returns the body for a generic webhook.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "source": "agent-tracer", "kind": self.kind.as_str(), "text": self.text, "taskId": self.task_id,
            "project": self.project, "at": self.at,
        })
    }

    /// Returns the body for Slack and compatible receivers.
    #[must_use]
    pub fn slack(&self) -> Value {
        // These three begin markup there.
        let text = self.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        json!({ "text": format!("Agent Tracer: {text}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_receiver_gets_its_own_shape() {
        let alert = Alert {
            kind: Kind::RateLimit,
            key: "k".to_owned(),
            text: "a <limit> & more".to_owned(),
            task_id: None,
            project: Some("/code".to_owned()),
            at: Millis(0),
        };
        assert_eq!(alert.slack(), json!({"text": "Agent Tracer: a &lt;limit&gt; &amp; more"}));
        let generic = alert.json();
        assert_eq!((&generic["kind"], &generic["project"]), (&json!("rate_limit"), &json!("/code")));
        assert_eq!(generic["at"], "1970-01-01T00:00:00.000Z");
    }
}
