//! What the caller knows about the command beside its text.

/// The language a command is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Bourne shells: sh, bash, zsh where it agrees with them.
    #[default]
    Bash,
    /// PowerShell. Read with a table of cmdlets and without much certainty.
    PowerShell,
}

/// What the caller knows. Nothing here is needed; everything makes the answer better.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'a> {
    /// The language of the command.
    pub dialect: Dialect,
    /// Where the command starts. With it, the paths in [`crate::Files`] are absolute.
    pub cwd: Option<&'a str>,
    /// What `~` and `$HOME` stand for.
    pub home: Option<&'a str>,
    /// Texts that mark a command as the check of a rule, such as the command a rule asks for.
    pub rule_patterns: &'a [&'a str],
}
