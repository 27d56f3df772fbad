//! A row of the table.

use std::path::{Path, PathBuf};

/// Holds what is known of an agent without reading anything of it.
#[derive(Debug)]
pub struct AgentSpec {
    /// The id in envelopes, JSON and stores. It never changes.
    pub id: &'static str,
    /// The name on screen.
    pub name: &'static str,
    /// The name where a column is narrow.
    pub short_name: &'static str,
    /// Two letters where there is no room for a name. No other agent has the same, so it tells agents apart without colour.
    pub mark: &'static str,
    /// The colour of the name and the mark on a dark page, as `#rrggbb`.
    pub dark_colour: &'static str,
    /// The colour of the name and the mark on a light page, as `#rrggbb`.
    pub light_colour: &'static str,
    /// The beginning of model names that says no more than the agent does; empty if there is none.
    pub model_prefix: &'static str,
    /// The word on our command lines: that of the hook and that of the main program.
    pub word: &'static str,
    /// Is `true` if a hook's payload names its event in `hook_event_name`. Where it does not, the word after the agent's on the
    /// hook's command line does.
    pub names_events: bool,
    /// Other spellings that documents and older senders use.
    pub spellings: &'static [&'static str],
    /// The word with which the agent's status line calls the hook; none where it has no status line.
    pub statusline_word: Option<&'static str>,
    /// The environment variable that moves the agent's own home; empty where nothing but the user's home does.
    pub home_variable: &'static str,
    /// The agent's own home below the folder that the variable names; empty where the variable names the home itself.
    pub home_below_variable: &'static str,
    /// The agent's own home below the user's.
    pub home_folder: &'static str,
    /// Is `true` if `doctor` lists the agent also where nothing of it is on the machine.
    pub listed_when_absent: bool,
    /// The variables that the agent gives its hooks and that are worth recording. No other is ever recorded.
    pub recorded_variables: &'static [&'static str],
    /// The variable in which the agent names its process.
    pub pid_variable: Option<&'static str>,
    /// The variable in which the agent names the root of the project.
    pub project_variable: Option<&'static str>,
    /// The variable that names a file which the agent's shells read first, and the one that names the session.
    pub shell_file_variables: Option<(&'static str, &'static str)>,
    /// Is `true` if a hook may answer that the human is to be asked. An agent without that is refused instead.
    pub may_ask: bool,
    /// Is `true` if a subagent writes a file of its own beside that of its session.
    pub has_subagent_files: bool,
    /// Is `true` if a subagent is a session with an id of its own, and `false` if its id is one within its session.
    pub has_subagent_sessions: bool,
    /// Is `true` if equal bytes from a hook are the same event twice, and `false` if they can be distinct calls.
    pub repeats_equal_events: bool,
    /// Is `true` if a command without an exit code that succeeded has ended with 0.
    pub success_is_exit_zero: bool,
    /// Is `true` if the exit code of a command is in the agent's files and not in its hooks.
    pub exit_code_comes_later: bool,
    /// Is `true` if refusing a permission ends the turn and shows as an interruption.
    pub refusal_ends_turn: bool,
    /// Is `true` if a hook may ask a model for its verdict.
    pub can_ask_model: bool,
    /// The meaning of the member `error` in events in which it is not the result of a call.
    pub error_texts: &'static [(&'static str, ErrorText)],
}

/// The meaning of the member `error` of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorText {
    /// One of a few short words of the agent.
    Word,
    /// The cause of a subagent's failure.
    Failure,
    /// A sentence of the provider.
    Sentence,
}

impl AgentSpec {
    /// Returns `true` if the text is the id, the word or another spelling of this agent.
    #[must_use]
    pub fn is_spelled(&self, text: &[u8]) -> bool {
        // Byte for byte: `Claude` from a person's hand is refused with the known words, and not guessed.
        self.word.as_bytes() == text
            || self.id.as_bytes() == text
            || self.spellings.iter().any(|own| own.as_bytes() == text)
    }

    /// Returns what the member `error` holds in an event, where that is not the result of a call.
    #[must_use]
    pub fn error_text(&self, event: &[u8]) -> Option<ErrorText> {
        self.error_texts.iter().find(|(name, _)| name.as_bytes() == event).map(|(_, text)| *text)
    }

    /// Returns the agent's home: where its variable says, unless that is empty, else its folder of the user's home.
    #[must_use]
    pub fn home(&self, moved: Option<&Path>, user_home: &Path) -> PathBuf {
        // An empty variable counts as an unset one. Otherwise an agent's home would be the working directory.
        match moved {
            Some(folder) if !folder.as_os_str().is_empty() => {
                folder.join(self.home_below_variable).components().collect()
            }
            _ => user_home.join(self.home_folder),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Agent;

    #[test]
    fn the_variable_beats_the_users_home_unless_it_is_empty() {
        let user = Path::new("/home/dev");
        for agent in Agent::rows() {
            let spec = agent.spec();
            let own = user.join(spec.home_folder);
            assert_eq!(spec.home(Some(Path::new("/etc/agent")), user), Path::new("/etc/agent"));
            assert_eq!(spec.home(Some(Path::new("")), user), own);
            assert_eq!(spec.home(None, user), own);
        }
        assert_eq!(Agent::CLAUDE_CODE.spec().home(None, user), Path::new("/home/dev/.claude"));
        assert_eq!(Agent::CODEX.spec().home(None, user), Path::new("/home/dev/.codex"));
    }
}
