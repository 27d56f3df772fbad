//! Rules that act on what agents do.
//!
//! [`read()`] reads `policy.toml`, [`Call::read`] reads what an agent asks, [`Policy::decide`] says what comes of it,
//! and [`answer()`] says it as that agent understands it. All of that is values: no clock, no disk, no thread. What
//! happened before comes in through [`History`], what time it is through [`Surroundings`].
//!
//! Two modules meet the rest of the program: [`daemon`] answers hooks while a server runs, [`backtest`] replays a draft
//! policy over the recorded history.
//!
//! ```
//! use agent_tracer_event::Agent;
//! use agent_tracer_policy::{Call, NoHistory, Policy, Surroundings, answer, read};
//!
//! let rules = read(
//!     r#"
//!     version = 1
//!     [[rule]]
//!     name = "no-recursive-delete"
//!     on = "PreToolUse"
//!     decision = "deny"
//!     reason = "delete files one by one"
//!     match.command = { effect = "delete", recursive = true }
//!     "#,
//! )
//! .expect("sound rules");
//! let payload = br#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "/code",
//!     "tool_input": {"command": "cd /tmp && sudo env X=1 bash -c 'rm -fr build'"}}"#;
//! let call = Call::read(Agent::CLAUDE_CODE, payload, Surroundings::default()).expect("JSON").expect("a known event");
//! let verdict = Policy::of_user(rules).decide(&call, &NoHistory);
//! assert!(answer(&call, &verdict).stdout.contains(r#""permissionDecision":"deny""#));
//! ```

mod answer;
pub mod backtest;
mod call;
mod clients;
mod command;
mod criteria;
pub mod daemon;
mod decide;
mod description;
mod evidence;
mod examples;
mod glob;
mod grant;
mod history;
mod host;
pub mod legality;
mod matching;
mod overlap;
mod path;
pub mod read;
mod rewrite;
mod rule;
pub mod schema;
mod table;
mod touch;
mod trial;
mod verify;
mod words;

pub use answer::{Answer, answer, answer_to, answer_unjudged};
pub use call::{Call, CallError, LocalTime, Surroundings};
pub use criteria::{Criteria, CriterionState, Work, WorkAction};
pub use decide::{Basis, FiredRule, Origin, Outcome, Policy, Trust, Verdict};
pub use examples::{EXAMPLES, template};
pub use glob::{Glob, PathGlob, Roots};
pub use history::{Condition, Elapsed, History, NoHistory, Truth};
pub use read::{Fault, RuleFile, read};
pub use rewrite::RewriteOutcome;
pub use rule::{AnswerExtras, CommandMatcher, EffectWord, Example, Matcher, Rewrite, Rule, TimeMatcher};
pub use table::{RuleScope, compile};
pub use touch::{Access, Touch};
pub use trial::{Trial, try_examples};
pub use verify::{Verifier, Verify};
pub use words::{Decision, Event, Mode, Moment, OnOutage, Scope, Severity, Thread, Weekday};
