//! The rows and constructors from which the tables of programs are built.

use super::Call;
use crate::arguments::Style;
use crate::draft::Access;
use crate::effect::Effects;
use crate::model::Confidence;

/// A program or one of its subcommands.
pub(crate) struct Tool {
    /// Its names, separated by blanks.
    pub(crate) names: &'static str,
    /// The operation without any options.
    pub(crate) operation: &'static str,
    pub(crate) effects: Effects,
    pub(crate) confidence: Confidence,
    pub(crate) style: Style,
    /// Options that take a value.
    pub(crate) values: &'static str,
    /// Options that say where to work.
    pub(crate) directory: &'static str,
    /// Options whose value is a file that is written.
    pub(crate) outputs: &'static str,
    /// Options whose value is a file that is read.
    pub(crate) inputs: &'static str,
    /// The kind of its operands.
    pub(crate) operands: Operands,
    pub(crate) cases: &'static [Case],
    pub(crate) subcommands: &'static [Tool],
    pub(crate) reader: Option<Reader>,
    /// Common words like `test` and `install`: a file of that name in the project is not this program.
    pub(crate) builtin: bool,
}

/// A function that reads a call where a row of a table is not enough.
pub(crate) type Reader = fn(&mut Call<'_, '_, '_>);

/// The kind of a program's operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    Ignored,
    Files(Access),
    Paths(Access),
    /// Without any: the current directory.
    PathsOrHere(Access),
    Directories(Access),
    /// A pattern, unless one of these options gives it; then paths that are read.
    PatternThenPaths(&'static str),
    /// Some words that are no paths, then paths.
    SkipThenPaths(usize, Access),
    /// Sources, and at the end where they go.
    SourceThenTarget(Access),
    Packages,
    Urls,
    /// The first one is worth naming, and is no path.
    Detail,
}

/// A change of operation or effects by an option.
pub(crate) struct Case {
    /// Any of these.
    pub(crate) options: &'static str,
    /// The operation with that option; empty if the option does not change it.
    pub(crate) operation: &'static str,
    pub(crate) effects: Effects,
    /// The effects come on top; otherwise they are all there is.
    pub(crate) adds: bool,
}

/// Adds the effects if one of these options is given.
pub(crate) const fn adds(options: &'static str, effects: Effects) -> Case {
    Case { options, operation: "", effects, adds: true }
}

/// Changes the operation if one of these options is given.
pub(crate) const fn turns(options: &'static str, operation: &'static str, effects: Effects) -> Case {
    Case { options, operation, effects, adds: false }
}

/// Returns a row.
pub(crate) const fn tool(names: &'static str, operation: &'static str, effects: Effects) -> Tool {
    // Constant functions build the rows: the tables are static data, and only their index is made at run time.
    Tool {
        names,
        operation,
        effects,
        // A row is knowledge about a program. Doubt comes from `runs` and from readers, which see the arguments.
        confidence: Confidence::High,
        style: Style::Gnu,
        values: "",
        directory: "",
        outputs: "",
        inputs: "",
        operands: Operands::Ignored,
        cases: &[],
        subcommands: &[],
        reader: None,
        builtin: false,
    }
}

/// Returns a program that only looks.
pub(crate) const fn reads(names: &'static str, operation: &'static str) -> Tool {
    tool(names, operation, Effects::READ)
}

/// Returns a program that changes something.
pub(crate) const fn writes(names: &'static str, operation: &'static str) -> Tool {
    tool(names, operation, Effects::WRITE)
}

/// Returns a program that takes something away.
pub(crate) const fn destroys(names: &'static str, operation: &'static str) -> Tool {
    tool(names, operation, Effects::DESTROY)
}

/// Returns a program that checks or builds.
pub(crate) const fn checks(names: &'static str, operation: &'static str) -> Tool {
    // It runs the project's code and counts as understood all the same: a rule that asked about each test and build
    // would be switched off (ADR 17).
    tool(names, operation, Effects::CHECK)
}

/// Returns a program that looks at something on another machine.
pub(crate) const fn asks(names: &'static str, operation: &'static str) -> Tool {
    tool(names, operation, Effects::READ.and(Effects::NETWORK))
}

/// Returns a program that changes something on another machine.
pub(crate) const fn sends(names: &'static str, operation: &'static str) -> Tool {
    tool(names, operation, Effects::WRITE.and(Effects::NETWORK))
}

/// Returns a program that fetches packages and puts them in place.
pub(crate) const fn installs(names: &'static str) -> Tool {
    sends(names, "install_dependency").operands(Operands::Packages)
}

/// Returns a program whose effect the command line does not tell.
pub(crate) const fn runs(names: &'static str, operation: &'static str) -> Tool {
    // Medium and not low: the program is known, only what it does this time is not. Low is for guesses.
    tool(names, operation, Effects::UNKNOWN).confidence(Confidence::Medium)
}

impl Tool {
    pub(crate) const fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = confidence;
        self
    }

    pub(crate) const fn one_dash(mut self) -> Self {
        self.style = Style::OneDash;
        self
    }

    pub(crate) const fn cmdlet(mut self) -> Self {
        self.style = Style::Cmdlet;
        self
    }

    pub(crate) const fn values(mut self, values: &'static str) -> Self {
        self.values = values;
        self
    }

    pub(crate) const fn directory(mut self, directory: &'static str) -> Self {
        self.directory = directory;
        self
    }

    pub(crate) const fn outputs(mut self, outputs: &'static str) -> Self {
        self.outputs = outputs;
        self
    }

    pub(crate) const fn inputs(mut self, inputs: &'static str) -> Self {
        self.inputs = inputs;
        self
    }

    pub(crate) const fn operands(mut self, operands: Operands) -> Self {
        self.operands = operands;
        self
    }

    pub(crate) const fn cases(mut self, cases: &'static [Case]) -> Self {
        self.cases = cases;
        self
    }

    pub(crate) const fn subcommands(mut self, subcommands: &'static [Self]) -> Self {
        self.subcommands = subcommands;
        self
    }

    pub(crate) const fn reader(mut self, reader: Reader) -> Self {
        self.reader = Some(reader);
        self
    }

    pub(crate) const fn builtin(mut self) -> Self {
        self.builtin = true;
        self
    }
}
