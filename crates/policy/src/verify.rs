//! Criteria that an agent's own hook verifies instead of us: Claude Code asks a model, by a prompt or by an agent.
//!
//! Law: such a rule is never judged here, and no hook of ours asks about it. Its text begins with a mark that names the
//! rule, by which the entry in the client's settings is known as ours and its verdict in the transcript as the rule's.

use crate::description;
use crate::rule::Rule;

/// The kind of verifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verifier {
    /// A small model that sees the conversation.
    Prompt,
    /// An agent that may look at files.
    Agent,
}

impl Verifier {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Prompt, Self::Agent];

    /// Returns the spelling in rules, and in the client's settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Agent => "agent",
        }
    }

    /// Reads the spelling.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|word| word.as_str() == text)
    }
}

/// A verification and its verifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verify {
    /// By whom.
    pub by: Verifier,
    /// The condition, in words; that of `require` if absent.
    pub condition: Option<String>,
}

impl Rule {
    /// Returns the prompt for the client's own hook, and its verifier; none for a rule that is judged here.
    #[must_use]
    pub fn verifier(&self) -> Option<(Verifier, String)> {
        let verify = self.verify.as_ref()?;
        let required = || {
            let lines = description::criteria(&self.require);
            let lines = lines.iter().map(|line| line.strip_prefix("requires that ").unwrap_or(line));
            lines.collect::<Vec<_>>().join("; and ")
        };
        let condition = verify.condition.clone().unwrap_or_else(required);
        // The mark is in the text because the client keeps nothing else of ours: its settings and its transcript hold
        // the prompt alone.
        Some((verify.by, format!("[Agent Tracer rule `{}`] {condition}", self.name)))
    }
}
