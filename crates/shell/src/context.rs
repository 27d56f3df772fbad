//! Facts about a command that its text does not contain.

/// The language a command is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Bourne shells: sh, bash, zsh where it agrees with them.
    #[default]
    Bash,
    /// PowerShell. Read with a table of cmdlets and without much certainty.
    PowerShell,
}

/// Facts about a command from outside its text. All are optional; each one makes the analysis more precise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'a> {
    /// The language of the command.
    pub dialect: Dialect,
    /// The directory in which the command starts. If it is given, the paths in [`crate::Files`] are absolute.
    pub cwd: Option<&'a str>,
    /// The directory that `~` and `$HOME` expand to.
    pub home: Option<&'a str>,
    /// Texts that mark a command as the check of a rule, such as the command a rule asks for.
    pub rule_patterns: &'a [&'a str],
}
