//! Reads the team's policy, a small TOML file that selects the data that may leave the machine.
//!
//! ```toml
//! to = "https://tracer.example"   # where `serve` ships to by itself
//! level = "actions"            # "metadata": names, paths and numbers; "actions": also prompts and commands; "full"
//! projects = ["~/code/**"]     # only these; without the line all
//! drop = ["gitBranch", "command"]   # fields that never leave, of records and of their metadata at any depth
//! ```

use agent_tracer_privacy::{Glob, Level};
use serde::Deserialize;

/// Why a policy is none.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// It is not TOML, or has an unknown key or value.
    #[error("the policy is not understood, so nothing may leave: {0}")]
    Unknown(String),
    /// There is no such level.
    #[error("`level` cannot be `{0}`, so nothing may leave\nhint: it is `metadata`, `actions` or `full`")]
    Level(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    to: Option<String>,
    level: Option<String>,
    projects: Option<Vec<String>>,
    #[serde(default)]
    drop: Vec<String>,
}

/// Selects the data that may leave the machine.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    to: Option<String>,
    pub(crate) level: Level,
    projects: Option<Vec<Glob>>,
    pub(crate) drop: Vec<String>,
    home_dir: Option<Vec<u8>>,
}

impl Policy {
    /// Reads a policy. `home_dir` is what `~/` stands for.
    ///
    /// # Errors
    /// If anything in it is not understood: a misspelt rule must not let out what it was to keep.
    pub fn parse(text: &str, home_dir: Option<&[u8]>) -> Result<Self, PolicyError> {
        let file: File =
            toml::from_str(text).map_err(|error| PolicyError::Unknown(error.message().to_owned()))?;
        let level = match file.level.as_deref() {
            None => Level::default(),
            Some(word) => [Level::Metadata, Level::Actions, Level::Full]
                .into_iter()
                .find(|level| level.name() == word)
                .ok_or_else(|| PolicyError::Level(word.to_owned()))?,
        };
        Ok(Self {
            to: file.to,
            level,
            projects: file
                .projects
                .map(|globs| globs.iter().map(|glob| Glob::new(glob.as_bytes())).collect()),
            drop: file.drop,
            home_dir: home_dir.map(<[u8]>::to_vec),
        })
    }

    /// The server that it names, if it names one.
    #[must_use]
    pub fn to(&self) -> Option<&str> {
        self.to.as_deref()
    }

    /// Returns whether a task of this project may leave. A task without a known project may not if projects are named.
    pub(crate) fn allows(&self, project: &str) -> bool {
        let home = self.home_dir.as_deref();
        let covers = |glob: &Glob| glob.covers(project.as_bytes(), home);
        self.projects.as_ref().is_none_or(|globs| !project.is_empty() && globs.iter().any(covers))
    }

    /// The same for the same policy: another one means that everything is sent again under it.
    pub(crate) fn fingerprint(&self) -> String {
        let projects: Option<Vec<_>> = self
            .projects
            .as_ref()
            .map(|globs| globs.iter().map(|glob| String::from_utf8_lossy(glob.pattern())).collect());
        format!("{} {projects:?} {:?}", self.level.name(), self.drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_lets_nothing_leave() {
        for text in ["levle = \"full\"", "level = \"everything\"", "projects = \"all\"", "drop = [1]", "{"] {
            assert!(Policy::parse(text, None).is_err(), "{text}");
        }
        assert_eq!(Policy::parse("", None).unwrap().level, Level::Actions);
    }

    #[test]
    fn only_named_projects_leave_and_never_an_unknown_one() {
        let policy = Policy::parse("projects = [\"~/code/**\", \"/srv/app\"]", Some(b"/home/me")).unwrap();
        for (project, allowed) in [
            ("/home/me/code/one", true),
            ("/srv/app", true),
            ("/home/me/private", false),
            ("/home/other/code/one", false),
            ("", false),
        ] {
            assert_eq!(policy.allows(project), allowed, "{project}");
        }
        assert!(Policy::default().allows(""));
        assert!(!Policy::parse("projects = []", None).unwrap().allows("/srv/app"));
    }

    #[test]
    fn another_policy_has_another_fingerprint() {
        let of = |text: &str| Policy::parse(text, None).unwrap().fingerprint();
        assert_eq!(of("level = \"full\""), of("level = \"full\""));
        let all = ["", "level = \"full\"", "projects = []", "projects = [\"a\"]", "drop = [\"a\"]"];
        let different: std::collections::BTreeSet<String> = all.iter().map(|text| of(text)).collect();
        assert_eq!(different.len(), all.len());
    }
}
