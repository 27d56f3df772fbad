//! Kinds of events and the lanes they are shown in.

use crate::words;

words! {
    /// A lane of the timeline.
    Lane {
        /// Messages of the human.
        User = "user",
        /// Messages of the model.
        Assistant = "assistant",
        /// Reading the world.
        Exploration = "exploration",
        /// Intent and context.
        Planning = "planning",
        /// Changing and running things.
        Implementation = "implementation",
        /// Rules and decisions.
        Rule = "rule",
        /// Questions of the agent to the human.
        Questions = "questions",
        /// Work items.
        Todos = "todos",
        /// Work that goes on beside the turn.
        Background = "background",
        /// Other agents, skills and servers.
        Coordination = "coordination",
        /// Numbers.
        Telemetry = "telemetry",
    }
}

words! {
    /// The kind of an event. Every event has exactly one.
    Kind {
        /// A runtime session was seen for the first time.
        SessionStarted = "session.started",
        /// A runtime session ended.
        SessionEnded = "session.ended",
        /// A prompt.
        UserMessage = "user.message",
        /// A slash command was expanded.
        UserPromptExpansion = "user.prompt.expansion",
        /// The final text of a turn, or its failure.
        AssistantResponse = "assistant.response",
        /// Text between tool calls.
        AssistantCommentary = "assistant.commentary",
        /// A thinking block.
        ThoughtLogged = "thought.logged",
        /// An instruction file was loaded.
        InstructionsLoaded = "instructions.loaded",
        /// Something about the context changed.
        ContextSaved = "context.saved",
        /// Holds how full the context window is.
        ContextSnapshot = "context.snapshot",
        /// Another model took over.
        ModelSwitched = "model.switched",
        /// One request to the model's provider.
        ModelRequest = "model.request",
        /// The usage of one provider response.
        TokenUsage = "token.usage",
        /// A tool call that has no kind of its own.
        ToolUsed = "tool.used",
        /// A shell command.
        TerminalCommand = "terminal.command",
        /// A watch over something that goes on.
        MonitorObserved = "monitor.observed",
        /// A call to another agent, a skill, a server or a scheduler.
        AgentActivityLogged = "agent.activity.logged",
        /// A plan was presented.
        PlanLogged = "plan.logged",
        /// A subagent started or ended, recorded on its parent.
        ActionLogged = "action.logged",
        /// A question to the human.
        QuestionLogged = "question.logged",
        /// A work item changed.
        TodoLogged = "todo.logged",
        /// The human was asked for permission.
        PermissionRequest = "permission.request",
        /// A rule decided.
        RuleLogged = "rule.logged",
        /// The client's setup ran.
        SetupTriggered = "setup.triggered",
        /// A watched file changed.
        FileChanged = "file.changed",
        /// A worktree was made.
        WorktreeCreate = "worktree.create",
        /// A worktree was removed.
        WorktreeRemove = "worktree.remove",
        /// The human cut the turn off.
        TurnInterrupted = "turn.interrupted",
        /// A teammate has nothing to do.
        TeammateIdle = "teammate.idle",
        /// An event whose name we do not know. It is kept, and nothing is guessed about it.
        Unrecognised = "unrecognised",
    }
}

impl Kind {
    /// Returns the lane of this kind where the event itself does not say otherwise.
    ///
    /// Tool calls choose theirs by tool and, for commands, by what the command does.
    #[must_use]
    pub const fn lane(self) -> Lane {
        match self {
            Self::UserMessage | Self::UserPromptExpansion | Self::TurnInterrupted => Lane::User,
            Self::AssistantResponse | Self::AssistantCommentary | Self::ThoughtLogged => Lane::Assistant,
            Self::SessionStarted
            | Self::SessionEnded
            | Self::InstructionsLoaded
            | Self::ContextSaved
            | Self::PlanLogged
            | Self::SetupTriggered => Lane::Planning,
            Self::ContextSnapshot
            | Self::ModelSwitched
            | Self::ModelRequest
            | Self::TokenUsage
            | Self::Unrecognised => Lane::Telemetry,
            // Only where a call's meaning is not known: what it does is the better word, and its entry carries that
            // lane.
            Self::ToolUsed | Self::TerminalCommand => Lane::Implementation,
            Self::MonitorObserved
            | Self::ActionLogged
            | Self::FileChanged
            | Self::WorktreeCreate
            | Self::WorktreeRemove => Lane::Background,
            Self::AgentActivityLogged | Self::PermissionRequest | Self::TeammateIdle => Lane::Coordination,
            Self::QuestionLogged => Lane::Questions,
            Self::TodoLogged => Lane::Todos,
            Self::RuleLogged => Lane::Rule,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_reads_back_and_has_a_lane() {
        for kind in Kind::ALL {
            assert_eq!(Kind::parse(kind.as_str()), Some(*kind));
            assert!(Lane::ALL.contains(&kind.lane()));
        }
        assert_eq!(Kind::ALL.len(), 30);
        assert_eq!(Lane::ALL.len(), 11);
    }
}
