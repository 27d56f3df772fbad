//! The closed sets of words in which rules are written. Each word has exactly one spelling.

use agent_tracer_event::words;

words! {
    /// A moment at which an agent asks its hooks, and listens to the answer. Spelled as both agents spell it.
    Event {
        /// The human sent a prompt.
        UserPromptSubmit = "UserPromptSubmit",
        /// A tool is about to run.
        PreToolUse = "PreToolUse",
        /// The human is about to be asked for permission.
        PermissionRequest = "PermissionRequest",
        /// A tool has run.
        PostToolUse = "PostToolUse",
        /// A tool has failed.
        PostToolUseFailure = "PostToolUseFailure",
        /// The main agent wants to end its turn.
        Stop = "Stop",
        /// A subagent wants to end.
        SubagentStop = "SubagentStop",
        /// A work item is about to be closed.
        TaskCompleted = "TaskCompleted",
        /// A teammate is about to have nothing to do.
        TeammateIdle = "TeammateIdle",
    }
}

impl Event {
    /// Returns whether the event is about one call of a tool.
    #[must_use]
    pub const fn has_tool(self) -> bool {
        matches!(
            self,
            Self::PreToolUse | Self::PermissionRequest | Self::PostToolUse | Self::PostToolUseFailure
        )
    }

    /// Returns whether the event is a stop that a rule can defer. A denial there means: go on working.
    #[must_use]
    pub const fn is_an_end(self) -> bool {
        matches!(self, Self::Stop | Self::SubagentStop | Self::TaskCompleted | Self::TeammateIdle)
    }
}

words! {
    /// The decision of a rule, least strict first. `warn` stands beside the others: it adds a text and permits nothing.
    Decision {
        /// Runs without asking the human.
        Allow = "allow",
        /// Runs with another input, without asking the human.
        Rewrite = "rewrite",
        /// Goes its usual way; the model, or the human, receives a text.
        Warn = "warn",
        /// The human decides.
        Ask = "ask",
        /// Does not happen, and the model receives the reason.
        Deny = "deny",
        /// Does not happen, and the agent stops.
        Stop = "stop",
    }
}

words! {
    /// The decision when the conditions of a rule cannot be evaluated, least strict first.
    OnOutage {
        /// The rule keeps silent. Nothing is permitted by this.
        Allow = "allow",
        /// The human decides.
        Ask = "ask",
        /// It does not happen.
        Deny = "deny",
    }
}

words! {
    /// The mode of a rule: it acts, or only records its decision.
    Mode {
        /// It acts.
        Enforce = "enforce",
        /// It is recorded and does nothing.
        DryRun = "dry_run",
    }
}

words! {
    /// The severity of a rule, least first.
    Severity {
        /// For the record.
        Info = "info",
        /// A habit.
        Low = "low",
        /// The usual.
        Medium = "medium",
        /// Something of value is at stake.
        High = "high",
        /// Wake a person.
        Critical = "critical",
    }
}

words! {
    /// The actor inside a session.
    Thread {
        /// The agent that the human talks to.
        Main = "main",
        /// An agent that it started.
        Subagent = "subagent",
    }
}

words! {
    /// Over what something is summed up.
    Scope {
        /// Since the last prompt.
        Turn = "turn",
        /// This agent's own task.
        Task = "task",
        /// The task with all its subagents.
        Tree = "tree",
        /// Everything of today, in local time.
        Day = "day",
    }
}

words! {
    /// A moment since which time is counted.
    Moment {
        /// The last prompt of the human.
        Prompt = "prompt",
        /// The last change of a file.
        Edit = "edit",
        /// The last run of tests.
        Test = "test",
        /// The last commit.
        Commit = "commit",
        /// The beginning of the task.
        Start = "start",
    }
}

words! {
    /// A day of the week.
    Weekday {
        /// Monday.
        Monday = "mon",
        /// Tuesday.
        Tuesday = "tue",
        /// Wednesday.
        Wednesday = "wed",
        /// Thursday.
        Thursday = "thu",
        /// Friday.
        Friday = "fri",
        /// Saturday.
        Saturday = "sat",
        /// Sunday.
        Sunday = "sun",
    }
}

impl Weekday {
    /// Returns the day before.
    #[must_use]
    pub const fn before(self) -> Self {
        match self {
            Self::Monday => Self::Sunday,
            Self::Tuesday => Self::Monday,
            Self::Wednesday => Self::Tuesday,
            Self::Thursday => Self::Wednesday,
            Self::Friday => Self::Thursday,
            Self::Saturday => Self::Friday,
            Self::Sunday => Self::Saturday,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        for event in Event::ALL {
            assert_eq!(Event::parse(event.as_str()), Some(*event));
        }
        for decision in Decision::ALL {
            assert_eq!(Decision::parse(decision.as_str()), Some(*decision));
        }
        assert_eq!(Decision::parse("Deny"), None);
    }

    #[test]
    fn stricter_is_greater() {
        assert!(Decision::ALL.is_sorted());
        assert!(Decision::Stop > Decision::Deny && Decision::Ask > Decision::Warn);
        assert!(OnOutage::Deny > OnOutage::Ask && OnOutage::Ask > OnOutage::Allow);
    }

    #[test]
    fn a_week_has_seven_days() {
        let mut day = Weekday::Monday;
        for _ in 0..7 {
            day = day.before();
        }
        assert_eq!(day, Weekday::Monday);
    }
}
