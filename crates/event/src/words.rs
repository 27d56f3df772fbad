//! Small closed sets of words. Each has one spelling on the wire and in the store.

/// Declares an enum whose variants have exactly one spelling, with lossless conversion in both directions.
///
/// The caller needs `serde` with its derive. With the feature `schema` of this crate the set describes itself in the API
/// document, as an enumeration of its name.
#[macro_export]
macro_rules! words {
    ($(#[doc = $about:literal])+ $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Every value, in order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The spelling of every value, in order.
            // Beside `ALL`, for declarations of attributes and schemas, which are constants and cannot call `as_str`
            // in a loop.
            pub const WORDS: &[&'static str] = &[$($text),+];

            /// Returns the one spelling.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// Reads the one spelling; anything else is not a value.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        $crate::schema_of_words!($name, concat!($($about),+));
    };
}

words! {
    /// The channel of an observation. The order is also how far a channel is believed where two differ about
    /// the same field and neither is more certain: later is truer.
    Channel {
        /// Posted to `/ingest/v1` or `/hooks`.
        Http = "http",
        /// A hook or the status line.
        Hook = "hook",
        /// OpenTelemetry.
        Otlp = "otlp",
        /// The agent's own file: transcript or rollout.
        Transcript = "transcript",
    }
}

words! {
    /// The effect of an entry on its fact.
    Phase {
        /// It begins.
        Open = "open",
        /// More is known of it.
        Update = "update",
        /// It ends.
        Close = "close",
    }
}

words! {
    /// The certainty of a field or a link, least first.
    Certainty {
        /// A guess that later evidence may overturn.
        Guessed = "guessed",
        /// Follows from other facts.
        Inferred = "inferred",
        /// The agent said so.
        Reported = "reported",
        /// Seen happening: a hook fired, a file was written.
        Measured = "measured",
    }
}

words! {
    /// The state of a tool call or a turn.
    CallState {
        /// Attempted and not ended yet.
        Running = "running",
        /// Ended well.
        Succeeded = "succeeded",
        /// Ended with an error.
        Failed = "failed",
        /// Not allowed to run.
        Denied = "denied",
        /// Cut off by the user or by the end of its turn.
        Interrupted = "interrupted",
        /// No event arrived any more.
        Abandoned = "abandoned",
    }
}

words! {
    /// The class of a failure.
    ErrorClass {
        /// The user cut it off.
        Interrupt = "interrupt",
        /// Not permitted.
        Permission = "permission",
        /// Took too long.
        Timeout = "timeout",
        /// A thing that it needed is not there.
        NotFound = "not_found",
        /// The network or a server.
        Network = "network",
        /// The call itself was wrong.
        InvalidInput = "invalid_input",
        /// A command ended with a code other than zero.
        NonZeroExit = "non_zero_exit",
        /// A hook of the user said no.
        HookBlocked = "hook_blocked",
        /// A policy of ours said no.
        PolicyDenied = "policy_denied",
        /// None of these.
        Unknown = "unknown",
    }
}

words! {
    /// The reason of the end of a session.
    CompletionReason {
        /// The session pauses; the task goes on with the next prompt.
        Idle = "idle",
        /// The turn ended; a subagent has then done its work.
        AssistantTurnComplete = "assistant_turn_complete",
        /// The user left.
        ExplicitExit = "explicit_exit",
        /// The client ended for another reason.
        RuntimeTerminated = "runtime_terminated",
        /// The user cleared the conversation.
        Cleared = "cleared",
        /// The sender gave the session up.
        Abandoned = "abandoned",
        /// The subagent was stopped.
        Cancelled = "cancelled",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        for class in ErrorClass::ALL {
            assert_eq!(ErrorClass::parse(class.as_str()), Some(*class));
            assert_eq!(serde_json::to_value(class).unwrap(), class.as_str());
        }
        assert_eq!(CallState::parse("gone"), None);
    }
}
