//! Names the paths of Codex's hooks, configuration and rollouts.

use std::path::{Path, PathBuf};

use crate::setup::Scope;

/// The environment variable that moves the agent's home.
pub const HOME_VARIABLE: &str = "CODEX_HOME";

/// Returns the agent's home: `$CODEX_HOME`, else `~/.codex`.
pub fn home(codex_home: Option<&Path>, user_home: &Path) -> PathBuf {
    match codex_home {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => user_home.join(".codex"),
    }
}

/// Returns the hooks file of a scope. The project's is read only in projects that the user trusts; there is none for
/// one user in one project.
pub fn hooks(home: &Path, project: &Path, scope: Scope) -> Option<PathBuf> {
    match scope {
        Scope::User => Some(home.join("hooks.json")),
        Scope::Project => Some(project.join(".codex/hooks.json")),
        Scope::Local => None,
    }
}

/// Returns the configuration that also holds the trust store. It is always the user's.
pub fn configuration(home: &Path) -> PathBuf {
    home.join("config.toml")
}

/// Returns the folder of rollouts, by year, month and day.
pub fn rollouts(home: &Path) -> PathBuf {
    home.join("sessions")
}

/// Returns the folder of the rollouts that the user has archived.
pub fn archived(home: &Path) -> PathBuf {
    home.join("archived_sessions")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_beats_the_users_home_unless_it_is_empty() {
        let user = Path::new("/home/dev");
        assert_eq!(home(Some(Path::new("/etc/codex")), user), Path::new("/etc/codex"));
        assert_eq!(home(Some(Path::new("")), user), Path::new("/home/dev/.codex"));
        assert_eq!(home(None, user), Path::new("/home/dev/.codex"));
    }

    #[test]
    fn each_scope_has_its_file() {
        let file = |scope| hooks(Path::new("/home/dev/.codex"), Path::new("/src/shop"), scope);
        assert_eq!(file(Scope::User).as_deref(), Some(Path::new("/home/dev/.codex/hooks.json")));
        assert_eq!(file(Scope::Project).as_deref(), Some(Path::new("/src/shop/.codex/hooks.json")));
        assert_eq!(file(Scope::Local), None);
    }
}
