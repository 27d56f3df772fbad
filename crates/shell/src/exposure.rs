//! The facts about a command that rules need beside its analysis: the parts that are not understood, the variables and
//! programs that the line brings along, and every file and host that a step may reach.
//!
//! The analysis answers "what is this"; a person reads it. An exposure answers "what else could this be"; a rule that
//! permits something reads it. So a limit that was reached, a script in a file or a variable of the environment is an
//! [`Opacity`] here, while the analysis keeps its title and its effects.

use serde::{Deserialize, Serialize};

/// Why part of a command cannot be seen through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opacity {
    /// A limit of the reader was reached: length, depth, number of steps, targets, variables.
    Limit,
    /// The text is not complete or not in the grammar.
    Syntax,
    /// A program or an effect that no table knows.
    Program,
    /// A program, a file or an option is named by a variable or by the output of a command.
    Variable,
    /// A script or program in a file is run.
    Script,
    /// A task of the project is run whose name says nothing about a check or a build.
    Task,
    /// Code in another language is run.
    Code,
    /// A setting is changed that makes other commands mean something else.
    Setting,
    /// A variable is set that makes programs load or run something.
    Environment,
    /// It runs in a container or on another machine.
    Elsewhere,
    /// Arguments come from standard input.
    Input,
}

impl Opacity {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::Limit,
        Self::Syntax,
        Self::Program,
        Self::Variable,
        Self::Script,
        Self::Task,
        Self::Code,
        Self::Setting,
        Self::Environment,
        Self::Elsewhere,
        Self::Input,
    ];
}

/// A set of opacities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opacities(u16);

impl Opacities {
    pub(crate) const fn add(&mut self, opacity: Opacity) {
        self.0 |= 1 << opacity as u16;
    }

    pub(crate) const fn join(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(crate) fn list(self) -> Vec<Opacity> {
        Opacity::ALL.into_iter().filter(|&opacity| self.0 & (1 << opacity as u16) != 0).collect()
    }
}

/// The properties of a whole command line that a rule must consider before it permits anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exposure {
    /// The reasons for which the line is not fully understood; empty if it is.
    pub opacity: Vec<Opacity>,
    /// Names of all variables that the line sets, for one program or for all that follow.
    pub environment: Vec<String>,
    /// Programs that are named by a path outside the folders of the system, as written.
    pub programs: Vec<String>,
    /// A substitution such as `$(echo x)` was replaced by the text that it prints, so that no step represents it.
    pub printed: bool,
}

impl Exposure {
    /// Returns whether everything that the command does can be read from its text.
    #[must_use]
    pub const fn is_understood(&self) -> bool {
        self.opacity.is_empty()
    }
}

/// The access of a step to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileAccess {
    /// It is read, listed or run.
    Read,
    /// It is written.
    Write,
    /// It is taken away or moved.
    Delete,
}

/// The set of files that a path of a step covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Breadth {
    /// The file or folder of this name.
    #[default]
    One,
    /// Everything that the pattern matches; `**` crosses folders.
    Pattern,
    /// The folder and everything below it.
    Below,
    // Apart from `Below`, because `rg` and its like pass over hidden names: without it each of their searches would
    // count as reading `.env`.
    /// The folder and what is below it, without hidden names.
    Visible,
}

/// A file or folder that a step reaches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileUse {
    /// As seen from where the command started; absent if only running the command would tell.
    pub path: Option<String>,
    /// The way in which the step uses it.
    pub access: FileAccess,
    /// The files that `path` covers.
    pub breadth: Breadth,
}

/// Everything outside itself that a step reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Files and folders.
    pub files: Vec<FileUse>,
    /// Addresses or names of hosts; absent where only running the command would tell.
    pub hosts: Vec<Option<String>>,
}
