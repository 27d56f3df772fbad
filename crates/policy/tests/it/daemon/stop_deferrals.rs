//! Bounds of deferring a stop.

use agent_tracer_event::Agent;
use agent_tracer_policy::daemon::StopDeferrals;
use agent_tracer_policy::{Call, Outcome, Policy, Surroundings, Verdict, read};

fn call(event: &str, again: bool) -> Call {
    let payload = format!(r#"{{"session_id":"s","hook_event_name":"{event}","stop_hook_active":{again}}}"#);
    Call::read(Agent::CLAUDE_CODE, payload.as_bytes(), Surroundings::default()).expect("JSON").expect("known")
}

/// The same past as the server's, as far as ends go.
struct Counted<'p>(&'p StopDeferrals);

impl agent_tracer_policy::History for Counted<'_> {
    fn deferrals(&self, call: &Call, rule: &str) -> Option<u64> {
        self.0.times(call, rule)
    }
}

fn decide(deferrals: &StopDeferrals, call: &Call) -> Verdict {
    let rules = "version = 1\n[[rule]]\nname = \"r\"\non = [\"Stop\", \"TaskCompleted\"]\ndecision = \"deny\"\nreason = \"no\"\nat_most = 2\n";
    let verdict = Policy::of_user(read(rules).expect("sound")).decide(call, &Counted(deferrals));
    deferrals.remember(call, &verdict);
    verdict
}

#[test]
fn an_end_is_deferred_so_often_and_the_next_one_begins_anew() {
    let deferrals = StopDeferrals::default();
    for _ in 0..3 {
        assert_eq!(decide(&deferrals, &call("Stop", false)).outcome, Outcome::Deny);
        assert_eq!(decide(&deferrals, &call("Stop", true)).outcome, Outcome::Deny);
        let verdict = decide(&deferrals, &call("Stop", true));
        assert!(verdict.outcome == Outcome::Silent && verdict.messages.len() == 1, "{verdict:?}");
    }
}

#[test]
fn an_end_that_was_deferred_before_the_server_started_is_accepted() {
    let verdict = decide(&StopDeferrals::default(), &call("Stop", true));
    assert!(verdict.outcome == Outcome::Silent && verdict.messages.len() == 1, "{verdict:?}");
}

#[test]
fn an_end_of_which_the_client_does_not_tell_first_from_second_is_bounded_too() {
    let deferrals = StopDeferrals::default();
    let outcomes: Vec<Outcome> =
        (0..6).map(|_| decide(&deferrals, &call("TaskCompleted", false)).outcome).collect();
    use Outcome::{Deny, Silent};
    assert_eq!(outcomes, [Deny, Deny, Silent, Deny, Deny, Silent]);
}
