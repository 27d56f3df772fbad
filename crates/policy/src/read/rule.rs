//! Reads one rule, and refuses what could never work.

use agent_tracer_event::Agent;
use toml::de::DeTable;

use super::Reader;
use super::fields::join_words;
use super::matcher;
use crate::criteria::Criteria;
use crate::history::Condition;
use crate::legality;
use crate::rule::{AnswerExtras, Example, Matcher, Rewrite, Rule};
use crate::words::{Decision, Event, Mode, Moment, OnOutage, Scope, Severity};

/// The keys of a rule.
pub const RULE_KEYS: &[&str] = &[
    "name",
    "description",
    "on",
    "decision",
    "reason",
    "severity",
    "mode",
    "on_outage",
    "match",
    "unless",
    "when",
    "require",
    "verify",
    "condition",
    "rewrite",
    "system_message",
    "stop_reason",
    "suppress_output",
    "permissions",
    "at_most",
    "example",
];

/// The keys of `when`.
pub const WHEN_KEYS: &[&str] =
    &["tokens", "cost_usd", "repeated", "failures_in_a_row", "unread_edit", "minutes_since"];

/// The keys of `require`.
pub const REQUIRE_KEYS: &[&str] =
    &["tests_passed", "failures_handled", "todos_closed", "mentioned_opened", "wrote"];

/// The keys of `rewrite`.
pub const REWRITE_KEYS: &[&str] = &["set", "remove", "add_flag", "directory"];

/// The keys of an example.
pub const EXAMPLE_KEYS: &[&str] = &["agent", "event", "tool", "input", "payload", "expect"];

/// Deferrals of one stop by a rule: the default and the maximum.
const AT_MOST: u64 = 3;
pub(crate) const AT_MOST_MAX: u64 = 20;

pub(super) fn words<T: Copy>(all: &[T], spell: fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().map(|word| spell(*word)).collect()
}

impl Reader<'_> {
    pub(super) fn rule(&mut self, table: &DeTable<'_>, at: usize) -> Option<Rule> {
        self.check_keys(table, RULE_KEYS, "a rule");
        let name = self.name(table, at);
        let events = self.events(table, at);
        let decision = match self.text(table, "decision") {
            Some(spelled) => {
                self.word("decision", spelled, Decision::parse, &words(Decision::ALL, Decision::as_str))
            }
            None => {
                if !table.contains_key("decision") {
                    self.fault(at, "`decision` is missing".to_owned(), None);
                }
                None
            }
        };
        let reason = self.text(table, "reason").map(|(text, _)| text);
        let needs_reason = !matches!(decision, Some(Decision::Allow | Decision::Rewrite) | None)
            && !table.contains_key("verify");
        if reason.is_none() && needs_reason && !table.contains_key("reason") {
            let hint = Some("say to the model what to do instead".to_owned());
            self.fault(at, "`reason` is missing".to_owned(), hint);
        }
        let mut choice = |key: &str, all: &[&str]| -> Option<String> {
            let spelled = self.text(table, key)?;
            self.word(key, spelled, |text| all.contains(&text).then(|| text.to_owned()), all)
        };
        let severity = choice("severity", &words(Severity::ALL, Severity::as_str));
        let mode = choice("mode", &words(Mode::ALL, Mode::as_str));
        let on_outage = choice("on_outage", &words(OnOutage::ALL, OnOutage::as_str));
        let matches =
            self.table(table, "match").map(|(table, _)| self.matcher(table, "`match`")).unwrap_or_default();
        let unless = self.table(table, "unless").map(|(table, at)| {
            if table.is_empty() {
                let hint = Some("leave it out: an empty `unless` is always so".to_owned());
                self.fault(at, "`unless` is empty".to_owned(), hint);
            }
            self.matcher(table, "`unless`")
        });
        let when = self.table(table, "when").map(|(table, _)| self.when(table)).unwrap_or_default();
        let require =
            self.table(table, "require").map(|(table, at)| self.require(table, at)).unwrap_or_default();
        let rewrite = self.table(table, "rewrite").map(|(table, _)| self.rewrite(table)).unwrap_or_default();
        let verify = self.verify(table);
        let says = self.answer_extras(table);
        let at_most = self.integer(table, "at_most");
        // Everything else was read before this point, although the rule may have no name: all faults of a file are
        // reported at once.
        let mut rule = Rule {
            name: name?,
            description: self.text(table, "description").map(|(text, _)| text),
            decision: decision?,
            reason: reason.unwrap_or_default(),
            severity: severity.and_then(|text| Severity::parse(&text)).unwrap_or(Severity::Medium),
            mode: mode.and_then(|text| Mode::parse(&text)).unwrap_or(Mode::Enforce),
            on_outage: on_outage.and_then(|text| OnOutage::parse(&text)).unwrap_or(OnOutage::Allow),
            events,
            matches,
            unless,
            when,
            require,
            verify,
            rewrite,
            says,
            at_most: at_most.map_or(AT_MOST, |(times, _)| times),
            examples: Vec::new(),
            line: self.line_and_column(at).0,
        };
        if rule.events.is_empty() {
            return None;
        }
        self.check(&rule, at);
        self.check_verifier(&rule, at);
        if let Some((times, at)) = at_most {
            if !(1..=AT_MOST_MAX).contains(&times) {
                self.fault(at, format!("`at_most` is {times}, and should be from 1 to {AT_MOST_MAX}"), None);
            } else if !rule.events.iter().any(|event| event.is_an_end()) {
                self.fault(at, "`at_most` is for ends that are put off, such as `Stop`".to_owned(), None);
            }
        }
        for (table, at) in self.tables(table, "example") {
            let example = self.example(table, at, &rule);
            rule.examples.extend(example);
        }
        Some(rule)
    }

    fn name(&mut self, table: &DeTable<'_>, at: usize) -> Option<String> {
        let Some((name, place)) = self.text(table, "name") else {
            if !table.contains_key("name") {
                self.fault(at, "`name` is missing".to_owned(), None);
            }
            return None;
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.len() > 64 || !name.chars().all(plain) {
            let hint = Some("use at most 64 letters, digits, `-`, `_` and `.`".to_owned());
            self.fault(place, format!("`{name}` is not a valid name"), hint);
            return None;
        }
        Some(name)
    }

    fn events(&mut self, table: &DeTable<'_>, at: usize) -> Vec<Event> {
        if !table.contains_key("on") {
            let hint = Some("name the event, such as `on = \"PreToolUse\"`".to_owned());
            self.fault(at, "`on` is missing".to_owned(), hint);
        }
        let mut events = Vec::new();
        for spelled in self.texts(table, "on") {
            let place = spelled.1;
            let Some(event) = self.word("on", spelled, Event::parse, &words(Event::ALL, Event::as_str))
            else {
                continue;
            };
            if events.contains(&event) {
                self.fault(place, format!("`on` names `{event}` twice"), None);
            } else {
                events.push(event);
            }
        }
        events
    }

    fn when(&mut self, table: &DeTable<'_>) -> Vec<Condition> {
        self.check_keys(table, WHEN_KEYS, "`when`");
        let scopes = words(Scope::ALL, Scope::as_str);
        let moments = words(Moment::ALL, Moment::as_str);
        let mut conditions = Vec::new();
        if let Some((inner, at)) = self.table(table, "tokens") {
            self.check_keys(inner, &["per", "over"], "`tokens`");
            let per =
                self.text(inner, "per").and_then(|spelled| self.word("per", spelled, Scope::parse, &scopes));
            let over = self.integer(inner, "over");
            match (per, over) {
                (Some(per), Some((over, _))) => conditions.push(Condition::Tokens { per, over }),
                _ => self.require_both(inner, at, "tokens", "per", "over"),
            }
        }
        if let Some((inner, at)) = self.table(table, "cost_usd") {
            self.check_keys(inner, &["per", "over"], "`cost_usd`");
            let per =
                self.text(inner, "per").and_then(|spelled| self.word("per", spelled, Scope::parse, &scopes));
            let over = self.millionths(inner, "over");
            match (per, over) {
                (Some(per), Some(over_micros)) => conditions.push(Condition::Cost { per, over_micros }),
                _ => self.require_both(inner, at, "cost_usd", "per", "over"),
            }
        }
        if let Some((inner, at)) = self.table(table, "minutes_since") {
            self.check_keys(inner, &["last", "over"], "`minutes_since`");
            let last = self
                .text(inner, "last")
                .and_then(|spelled| self.word("last", spelled, Moment::parse, &moments));
            let over = self.integer(inner, "over");
            match (last, over) {
                (Some(moment), Some((over, _))) => {
                    conditions.push(Condition::MinutesSince { moment, over });
                }
                _ => self.require_both(inner, at, "minutes_since", "last", "over"),
            }
        }
        if let Some((times, _)) = self.integer(table, "repeated") {
            conditions.push(Condition::Repeated(times));
        }
        if let Some((times, _)) = self.integer(table, "failures_in_a_row") {
            conditions.push(Condition::FailuresInARow(times));
        }
        if let Some((wanted, _)) = self.flag(table, "unread_edit") {
            conditions.push(Condition::UnreadEdit(wanted));
        }
        conditions
    }

    fn require(&mut self, table: &DeTable<'_>, at: usize) -> Criteria {
        self.check_keys(table, REQUIRE_KEYS, "`require`");
        let mut asked = |key: &str| self.flag(table, key).is_some_and(|(flag, _)| flag);
        let criteria = Criteria {
            tests_passed: asked("tests_passed"),
            failures_handled: asked("failures_handled"),
            todos_closed: asked("todos_closed"),
            mentioned_opened: asked("mentioned_opened"),
            wrote: self.paths(table, "wrote"),
        };
        if criteria.is_empty() {
            self.fault(at, "`require` asks for nothing".to_owned(), None);
        }
        criteria
    }

    /// Complains if one of two keys is missing; one that is there and wrong has been complained about.
    fn require_both(&mut self, table: &DeTable<'_>, at: usize, owner: &str, one: &str, other: &str) {
        for key in [one, other] {
            if !table.contains_key(key) {
                self.fault(at, format!("`{owner}` needs `{one}` and `{other}`"), None);
                return;
            }
        }
    }

    fn rewrite(&mut self, table: &DeTable<'_>) -> Rewrite {
        self.check_keys(table, REWRITE_KEYS, "`rewrite`");
        Rewrite {
            set: self.json(table, "set").unwrap_or_default(),
            remove: self.texts(table, "remove").into_iter().map(|(text, _)| text).collect(),
            add_flag: self.text(table, "add_flag").map(|(text, _)| text),
            directory: self.text(table, "directory").map(|(text, _)| text),
        }
    }

    fn answer_extras(&mut self, table: &DeTable<'_>) -> AnswerExtras {
        let permissions = self.values(table, "permissions");
        if let Some((values, at)) = &permissions
            && !values.iter().all(serde_json::Value::is_object)
        {
            self.fault(*at, "`permissions` is a list of tables".to_owned(), None);
        }
        AnswerExtras {
            system_message: self.text(table, "system_message").map(|(text, _)| text),
            stop_reason: self.text(table, "stop_reason").map(|(text, _)| text),
            suppress_output: self.flag(table, "suppress_output").is_some_and(|(flag, _)| flag),
            permissions: permissions.map(|(values, _)| values).unwrap_or_default(),
        }
    }

    /// Refuses what no agent could carry out, and notes what only one can.
    fn check(&mut self, rule: &Rule, at: usize) {
        let agents: &[Agent] = if rule.matches.agent.is_empty() { Agent::ALL } else { &rule.matches.agent };
        for event in &rule.events {
            self.check_event(rule, *event, agents, at);
        }
        if rule.decision == Decision::Rewrite && rule.rewrite.is_empty() {
            let hint = Some(format!("add `[rule.rewrite]` with {}", join_words(REWRITE_KEYS)));
            self.fault(at, format!("rule `{}` rewrites nothing", rule.name), hint);
        }
        if rule.decision != Decision::Rewrite && !rule.rewrite.is_empty() {
            let hint = Some("write `decision = \"rewrite\"`, or take `rewrite` away".to_owned());
            self.fault(at, format!("rule `{}` has `rewrite` and does not rewrite", rule.name), hint);
        }
        if rule.decision != Decision::Stop && rule.says.stop_reason.is_some() {
            let hint = Some("write `decision = \"stop\"`, or take `stop_reason` away".to_owned());
            self.fault(at, format!("rule `{}` has `stop_reason` and does not stop", rule.name), hint);
        }
        let updates =
            |agent: &Agent| rule.events.iter().any(|event| legality::may_update_permissions(*agent, *event));
        let can_update =
            matches!(rule.decision, Decision::Allow | Decision::Rewrite) && agents.iter().any(updates);
        if !rule.says.permissions.is_empty() && !can_update {
            let may = |agent: &&Agent| legality::may_update_permissions(**agent, Event::PermissionRequest);
            let names: Vec<&str> = Agent::ALL.iter().filter(may).map(|agent| agent.name()).collect();
            let hint = Some(format!(
                "they come with `allow` at `PermissionRequest` of {} and nowhere else",
                names.join(" or ")
            ));
            self.fault(at, format!("rule `{}` cannot update permissions", rule.name), hint);
        }
        if asks_nothing(&rule.matches)
            && rule.unless.is_none()
            && rule.when.is_empty()
            && rule.require.is_empty()
        {
            self.note(at, format!("rule `{}` is about every call of its events", rule.name));
        }
    }

    fn check_event(&mut self, rule: &Rule, event: Event, agents: &[Agent], at: usize) {
        let (can, cannot): (Vec<Agent>, Vec<Agent>) =
            agents.iter().partition(|agent| legality::answer_form(**agent, event, rule.decision).is_some());
        if can.is_empty() {
            let possible = legality::decisions(agents, event);
            let hint = if possible.is_empty() {
                let names: Vec<&str> = Agent::ALL
                    .iter()
                    .filter(|agent| legality::has_event(**agent, event))
                    .map(|agent| agent.as_str())
                    .collect();
                format!("only {} has `{event}`", join_words(&names))
            } else {
                let names: Vec<&str> = possible.iter().map(|decision| decision.as_str()).collect();
                format!("at `{event}` it can be {}", join_words(&names))
            };
            let what = format!("rule `{}` cannot `{}` at `{event}`", rule.name, rule.decision);
            self.fault(at, what, Some(hint));
        }
        // A note and not a fault: a rule for both agents is useful where only one of them can obey it, if the user
        // knows.
        for agent in cannot.iter().filter(|_| !can.is_empty()) {
            self.note(at, format!("rule `{}` does nothing at `{event}` of `{agent}`", rule.name));
        }
        if event.is_an_end() && rule.on_outage != OnOutage::Allow {
            let hint = Some("an outage never keeps an agent working: leave `on_outage` out".to_owned());
            let what = format!("rule `{}` cannot `{}` an outage at `{event}`", rule.name, rule.on_outage);
            self.fault(at, what, hint);
        }
        let asks = agents.iter().any(|agent| legality::answer_form(*agent, event, Decision::Ask).is_some());
        if rule.on_outage == OnOutage::Ask && !asks && !event.is_an_end() {
            let hint = Some("use `deny` or `allow`".to_owned());
            self.fault(at, format!("cannot ask at `{event}` during an outage"), hint);
        }
        if !event.is_an_end() && !rule.require.is_empty() {
            let hint =
                Some("it is for `Stop`, `SubagentStop`, `TaskCompleted` and `TeammateIdle`".to_owned());
            let what = format!("rule `{}` has `require`, which does not apply at `{event}`", rule.name);
            self.fault(at, what, hint);
        }
        if !event.has_tool() && needs_tool(&rule.matches) {
            let what = format!("rule `{}` matches on a tool call, and `{event}` has none", rule.name);
            self.fault(at, what, None);
        }
        if event != Event::UserPromptSubmit && !rule.matches.prompt.is_empty() {
            let what = format!("rule `{}` matches on `prompt`, and `{event}` has none", rule.name);
            self.fault(at, what, None);
        }
    }

    fn example(&mut self, table: &DeTable<'_>, at: usize, rule: &Rule) -> Option<Example> {
        self.check_keys(table, EXAMPLE_KEYS, "an example");
        let agent = match self.text(table, "agent") {
            Some(spelled) => self.word("agent", spelled, Agent::from_any_spelling, &matcher::agents())?,
            None => rule.matches.agent.first().copied().unwrap_or_default(),
        };
        let event = match self.text(table, "event") {
            Some(spelled) => self.word("event", spelled, Event::parse, &words(Event::ALL, Event::as_str))?,
            None => *rule.events.first()?,
        };
        let Some((expect, place)) = self.text(table, "expect") else {
            if !table.contains_key("expect") {
                self.fault(at, "`expect` is missing".to_owned(), None);
            }
            return None;
        };
        let mut expected = words(Decision::ALL, Decision::as_str);
        expected.push("nothing");
        let parse = |text: &str| match text {
            "nothing" => Some(None),
            _ => Decision::parse(text).map(Some),
        };
        let expect = self.word("expect", (expect, place), parse, &expected)?;
        let mut fields = self.json(table, "payload").unwrap_or_default();
        if let Some((tool, _)) = self.text(table, "tool") {
            fields.insert("tool_name".to_owned(), tool.into());
        }
        if let Some(input) = self.json(table, "input") {
            fields.insert("tool_input".to_owned(), input.into());
        }
        Some(Example { agent, event, fields, expect, line: self.line_and_column(at).0 })
    }
}

pub(super) fn asks_nothing(matcher: &Matcher) -> bool {
    *matcher == Matcher { agent: matcher.agent.clone(), ..Matcher::default() }
}

fn needs_tool(matcher: &Matcher) -> bool {
    !matcher.tool.is_empty()
        || !matcher.path.is_empty()
        || !matcher.reads.is_empty()
        || !matcher.writes.is_empty()
        || !matcher.deletes.is_empty()
        || matcher.command.is_some()
        || !matcher.host.is_empty()
        || !matcher.mcp_server.is_empty()
        || !matcher.mcp_tool.is_empty()
        || !matcher.skill.is_empty()
}
