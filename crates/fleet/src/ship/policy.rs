//! The policy: selects the data that may leave the machine.
//!
//! The table `[ship]` of the user's settings, or a file of its own with the same keys at its root:
//!
//! ```toml
//! to = "https://tracer.example"   # where `serve` ships to by itself
//! level = "actions"            # "metadata": names, paths and numbers; "actions": also prompts and commands; "full"
//! projects = ["~/code/**"]     # only these; without the line all
//! drop = ["gitBranch", "command"]   # fields that never leave, of records and of their metadata at any depth
//! ```

use agent_tracer_privacy::{Glob, Level};
use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// Why a policy is none: it is not TOML, or has an unknown key or value.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the policy is not understood, so nothing may leave: {}", .0.message())]
// Not a source: in full it takes several lines and repeats those of the file.
pub struct PolicyError(toml::de::Error);

/// The policy as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct Settings {
    /// The server that `serve` ships to.
    pub to: Option<String>,
    /// The part of what the machine kept that may leave.
    #[serde(deserialize_with = "level")]
    pub level: Level,
    /// Patterns of the projects that may leave; all without it.
    pub projects: Option<Vec<String>>,
    /// Fields that never leave.
    pub drop: Vec<String>,
}

fn level<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Level, D::Error> {
    let word = String::deserialize(deserializer)?;
    let level = [Level::Metadata, Level::Actions, Level::Full].into_iter().find(|level| level.name() == word);
    level.ok_or_else(|| D::Error::unknown_variant(&word, &["metadata", "actions", "full"]))
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
    /// Reads a policy from a text of its own. `home_dir` is what `~/` stands for.
    ///
    /// # Errors
    /// If anything in it is not understood: a misspelt rule must not let out what it was to keep.
    pub fn parse(text: &str, home_dir: Option<&[u8]>) -> Result<Self, PolicyError> {
        let settings = toml::from_str(text).map_err(PolicyError)?;
        Ok(Self::from_settings(settings, home_dir))
    }

    /// Returns the policy of these settings. `home_dir` is what `~/` stands for.
    #[must_use]
    pub fn from_settings(settings: Settings, home_dir: Option<&[u8]>) -> Self {
        let globs = |globs: Vec<String>| globs.iter().map(|glob| Glob::new(glob.as_bytes())).collect();
        Self {
            to: settings.to,
            level: settings.level,
            projects: settings.projects.map(globs),
            drop: settings.drop,
            home_dir: home_dir.map(<[u8]>::to_vec),
        }
    }

    /// Returns the server that it names, if it names one.
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

    /// Returns a text that is the same for the same policy: another one means that everything is sent again under it.
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
