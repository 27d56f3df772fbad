//! Tries the examples that stand beside the rules.

use crate::call::{Call, Surroundings};
use crate::decide::{Policy, Verdict};
use crate::history::NoHistory;
use crate::read::RuleFile;
use crate::rule::Example;
use crate::words::Decision;

/// The result of an example.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial<'f> {
    /// The rule beside which it stands.
    pub rule: &'f str,
    /// The example.
    pub example: &'f Example,
    /// The actual decision; none if absent.
    pub got: Option<Decision>,
    /// The rules that decided it.
    pub by: Vec<String>,
}

impl Trial<'_> {
    /// Returns whether it is the expected one.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.got == self.example.expect
    }
}

/// Tries every example of a file with all of its rules, as the user's own and without a past.
#[must_use]
pub fn try_examples<'f>(file: &'f RuleFile, around: &Surroundings) -> Vec<Trial<'f>> {
    let policy = Policy::of_user(file.clone());
    let mut trials = Vec::new();
    for rule in &file.rules {
        for example in &rule.examples {
            let mut fields = example.fields.clone();
            // Relative paths of an example are meant from the project's root; without any folder no path pattern
            // could match.
            let cwd = around.project.clone().unwrap_or_else(|| "/".to_owned());
            fields.entry("cwd").or_insert_with(|| cwd.into());
            let call = Call::from_fields(example.agent, example.event, fields, around.clone());
            let verdict = policy.decide(&call, &NoHistory);
            let by =
                verdict.fired.iter().filter(|fired| fired.counted).map(|fired| fired.rule.clone()).collect();
            trials.push(Trial { rule: &rule.name, example, got: decision_of(&verdict), by });
        }
    }
    trials
}

fn decision_of(verdict: &Verdict) -> Option<Decision> {
    verdict.outcome.decision().or((!verdict.context.is_empty()).then_some(Decision::Warn))
}
