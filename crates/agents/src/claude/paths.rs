//! Names the paths of Claude Code's settings and transcripts.

use std::path::{Path, PathBuf};

use crate::setup::Scope;

/// The environment variable that moves the agent's home.
pub const HOME_VARIABLE: &str = "CLAUDE_CONFIG_DIR";

/// Returns the agent's home: `$CLAUDE_CONFIG_DIR`, else `~/.claude`.
pub fn home(config_dir: Option<&Path>, user_home: &Path) -> PathBuf {
    match config_dir {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => user_home.join(".claude"),
    }
}

/// Returns the settings file of a scope.
pub fn settings(home: &Path, project: &Path, scope: Scope) -> PathBuf {
    match scope {
        Scope::User => home.join("settings.json"),
        Scope::Project => project.join(".claude/settings.json"),
        Scope::Local => project.join(".claude/settings.local.json"),
    }
}

/// Returns the folder that holds a subfolder of transcripts per project.
pub fn transcripts(home: &Path) -> PathBuf {
    home.join("projects")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_beats_the_users_home_unless_it_is_empty() {
        let user = Path::new("/home/dev");
        assert_eq!(home(Some(Path::new("/etc/claude")), user), Path::new("/etc/claude"));
        assert_eq!(home(Some(Path::new("")), user), Path::new("/home/dev/.claude"));
        assert_eq!(home(None, user), Path::new("/home/dev/.claude"));
    }

    #[test]
    fn each_scope_has_its_file() {
        let file = |scope| settings(Path::new("/home/dev/.claude"), Path::new("/src/shop"), scope);
        assert_eq!(file(Scope::User), Path::new("/home/dev/.claude/settings.json"));
        assert_eq!(file(Scope::Project), Path::new("/src/shop/.claude/settings.json"));
        assert_eq!(file(Scope::Local), Path::new("/src/shop/.claude/settings.local.json"));
    }
}
