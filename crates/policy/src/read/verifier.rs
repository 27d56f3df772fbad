//! Reads who else verifies a criterion, and refuses what the client's own hook could not do.

use agent_tracer_event::Agent;
use toml::de::DeTable;

use super::Reader;
use super::rule::{asks_nothing, words};
use crate::clients::askers;
use crate::rule::Rule;
use crate::verify::{Verifier, Verify};
use crate::words::{Decision, Event, Mode};

/// The longest condition, in characters: it goes into the client's settings.
const CONDITION_CHARS: usize = 2000;

impl Reader<'_> {
    pub(super) fn verify(&mut self, table: &DeTable<'_>) -> Option<Verify> {
        let condition = self.text(table, "condition");
        let Some(spelled) = self.text(table, "verify") else {
            if let Some((_, at)) = condition {
                let hint = Some("write `verify = \"prompt\"`, or take `condition` away".to_owned());
                self.fault(at, "`condition` is for a rule with `verify`".to_owned(), hint);
            }
            return None;
        };
        let by = self.word("verify", spelled, Verifier::parse, &words(Verifier::ALL, Verifier::as_str))?;
        if let Some((text, at)) = &condition
            && (text.trim().is_empty() || text.chars().count() > CONDITION_CHARS)
        {
            self.fault(*at, format!("`condition` should have from 1 to {CONDITION_CHARS} characters"), None);
        }
        Some(Verify { by, condition: condition.map(|(text, _)| text) })
    }

    /// Refuses what the client's own hook cannot do: it is asked at every end, and says yes or no.
    pub(super) fn check_verifier(&mut self, rule: &Rule, at: usize) {
        let Some(verify) = &rule.verify else { return };
        let name = &rule.name;
        if rule.events != [Event::Stop] {
            let hint =
                Some("write `on = \"Stop\"`: only there does the client tell of the verdict".to_owned());
            self.fault(at, format!("rule `{name}` has `verify`, which is for `Stop`"), hint);
        }
        if rule.decision != Decision::Deny {
            let hint = Some("write `decision = \"deny\"`: an unfinished agent goes on".to_owned());
            self.fault(at, format!("rule `{name}` has `verify` and does not `deny`"), hint);
        }
        if !rule.matches.agent.is_empty()
            && !rule.matches.agent.iter().any(|agent| agent.spec().can_ask_model)
        {
            let hint = Some("use `require` alone: it is judged here, for every agent".to_owned());
            self.fault(
                at,
                format!("rule `{name}` has `verify`, and only {} can ask a model", askers()),
                hint,
            );
        }
        if rule.matches.agent.is_empty() || rule.matches.agent.len() > 1 {
            for agent in Agent::ALL.iter().filter(|agent| !agent.spec().can_ask_model) {
                self.note(
                    at,
                    format!("rule `{name}` does nothing at `Stop` of `{agent}`: it cannot ask a model"),
                );
            }
        }
        if !asks_nothing(&rule.matches) || rule.unless.is_some() || !rule.when.is_empty() {
            let hint = Some("leave `match`, `unless` and `when` away, or leave `verify` away".to_owned());
            self.fault(at, format!("rule `{name}` has `verify`, which is asked at every end"), hint);
        }
        if rule.mode == Mode::DryRun {
            self.fault(at, format!("rule `{name}` has `verify`, which cannot rehearse"), None);
        }
        if verify.condition.is_none() && rule.require.is_empty() {
            let hint = Some("say what has to be so in `condition`, or in `require`".to_owned());
            self.fault(at, format!("rule `{name}` has `verify` and nothing to verify"), hint);
        }
    }
}
