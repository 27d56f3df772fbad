//! The decisions of the user's rules: the recognition, lookup and count of their rows.
//!
//! A decision stands in a list of its own. Its signature is made of the rule's name and of how it ended, so that one
//! index answers questions about all of them, about one rule, and about some kinds of endings, without a look at a row.

use agent_tracer_event::attributes;
use xxhash_rust::xxh3::xxh3_64;

use super::row::FactRow;
use super::tally::SEPARATOR;

/// The value of `rulePolicy` that marks rules of this tool.
pub const OURS: &str = "agent_tracer";

/// The outcomes of a rule, as the row's `ruleOutcome` says. The places are stored.
pub const OUTCOMES: [&str; 6] = ["allow", "rewrite", "warn", "ask", "deny", "block_stop"];

/// The statuses of a decision, as the row's `ruleStatus` names them. The places are stored.
pub const STATUSES: [&str; 4] = ["enforced", "dry_run", "held_back", "let_go"];

/// The place of a word that is none of the known ones.
const UNKNOWN: i64 = 15;

fn word_index(words: &[&str], word: Option<&str>) -> i64 {
    let found = word.and_then(|word| words.iter().position(|known| *known == word));
    found.and_then(|place| i64::try_from(place).ok()).unwrap_or(UNKNOWN)
}

/// Returns the part that all signatures of a rule share: everything but the lowest byte.
#[must_use]
pub fn rule_number(name: &str) -> i64 {
    // Two bits short, so that it stays positive beside the lowest byte.
    (xxh3_64(name.as_bytes()) >> 10).cast_signed()
}

/// Returns the signature of a decision.
#[must_use]
pub fn signature(rule: &str, status: Option<&str>, outcome: Option<&str>) -> i64 {
    (rule_number(rule) << 8) | (word_index(&STATUSES, status) << 4) | word_index(&OUTCOMES, outcome)
}

/// Returns one bit for each of these words; no words mean all.
fn bits(all: &[&str], words: &[String]) -> i64 {
    if words.is_empty() {
        return -1;
    }
    words.iter().fold(0, |bits, word| bits | (1 << word_index(all, Some(word))))
}

/// Returns the masks of the statuses and outcomes to match, as bits by the places in a signature.
#[must_use]
pub fn ending_masks(statuses: &[String], outcomes: &[String]) -> (i64, i64) {
    (bits(&STATUSES, statuses), bits(&OUTCOMES, outcomes))
}

/// The key of a sum of a rule's decisions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleKey {
    /// The rule's name.
    pub rule: String,
    /// The root of its project; empty if it is the user's.
    pub project: String,
    /// The status under which it counted.
    pub status: String,
    /// The outcome.
    pub outcome: String,
}

impl RuleKey {
    /// Returns the key of a decision; none if the row is none.
    #[must_use]
    pub fn of(row: &FactRow) -> Option<Self> {
        if row.list != super::List::Rule {
            return None;
        }
        let text = |key: &str| row.text(key).unwrap_or_default().to_owned();
        Some(Self {
            rule: text(attributes::RULE_ID),
            project: text(attributes::RULE_PROJECT),
            status: text(attributes::RULE_STATUS),
            outcome: text(attributes::RULE_OUTCOME),
        })
    }

    /// Returns the key as one text.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { rule, project, status, outcome } = self;
        format!("{rule}{SEPARATOR}{status}{SEPARATOR}{outcome}{SEPARATOR}{project}")
    }

    /// Reads a key from its text.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut parts = text.splitn(4, SEPARATOR).map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        let (rule, status, outcome) = (next(), next(), next());
        Self { rule, project: next(), status, outcome }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_tells_rule_status_and_outcome_apart() {
        let denied = signature("no-delete", Some("enforced"), Some("deny"));
        assert_eq!(denied >> 8, rule_number("no-delete"));
        assert!(denied >= 0);
        assert_ne!(rule_number("no-delete"), rule_number("no-write"));
        let (statuses, outcomes) =
            ending_masks(&["enforced".to_owned()], &["deny".to_owned(), "ask".to_owned()]);
        let is_wanted = |signature: i64| {
            (statuses >> ((signature >> 4) & 15)) & 1 == 1 && (outcomes >> (signature & 15)) & 1 == 1
        };
        assert!(is_wanted(denied));
        assert!(!is_wanted(signature("no-delete", Some("dry_run"), Some("deny"))));
        assert!(!is_wanted(signature("no-delete", Some("enforced"), Some("warn"))));
        let odd = signature("no-delete", Some("of a newer version"), None);
        assert!(!is_wanted(odd));
        assert_eq!(ending_masks(&[], &[]), (-1, -1));
    }

    #[test]
    fn a_key_reads_back_whatever_stands_in_it() {
        for project in ["", "/srv/api", "/odd\u{1f}name"] {
            let key = RuleKey {
                rule: "r".to_owned(),
                project: project.to_owned(),
                status: "enforced".to_owned(),
                outcome: "deny".to_owned(),
            };
            assert_eq!(RuleKey::parse(&key.text()), key);
        }
    }
}
