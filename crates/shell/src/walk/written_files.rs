//! Files that the command line itself makes: programs, scripts and task files among them are not what they are named.

use super::{MAX_MADE, Walker};
use crate::draft::{Access, Draft};
use crate::exposure::Opacity;
use crate::path::{base, is_anchored, tidy};

/// Files that say what a check or a build runs.
const TASK_FILES: &[&str] = &[
    "Makefile",
    "makefile",
    "GNUmakefile",
    "package.json",
    "justfile",
    "Justfile",
    "Taskfile.yml",
    "Rakefile",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "pom.xml",
    "build.xml",
    "tox.ini",
    "noxfile.py",
    "setup.py",
    "conftest.py",
    "pytest.ini",
    "build.rs",
    "Gruntfile.js",
    "gulpfile.js",
    "CMakeLists.txt",
    "meson.build",
    "build.ninja",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".npmrc",
];

/// Files that programs run or obey when they start.
const STARTUP_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    "config.fish",
    ".xinitrc",
    ".xprofile",
    ".xsessionrc",
    ".inputrc",
    ".vimrc",
    ".exrc",
    "init.vim",
    ".emacs",
    ".gdbinit",
    ".lldbinit",
    ".irbrc",
    ".Rprofile",
    ".gitconfig",
    ".curlrc",
    ".wgetrc",
    ".screenrc",
    ".tmux.conf",
    ".psqlrc",
    ".sqliterc",
    ".envrc",
    "sitecustomize.py",
    "usercustomize.py",
    "crontab",
];

/// Folders, and files in them, of the same kind.
const STARTUP_FOLDERS: &[&str] = &[
    ".git/hooks/",
    ".git/config",
    ".config/git/",
    ".husky/",
    ".ssh/config",
    ".ssh/rc",
    ".config/autostart/",
    "systemd/user/",
    "systemd/system/",
    "/LaunchAgents/",
    "/LaunchDaemons/",
    "/etc/cron",
    "/var/spool/cron",
    "/etc/profile",
    "/etc/bash",
    "/etc/ld.so",
    ".config/fish/conf.d/",
];

/// Returns `true` if programs that start later run a file or take their settings from it.
pub(super) fn starts_something(path: &str) -> bool {
    STARTUP_FILES.contains(&base(path)) || STARTUP_FOLDERS.iter().any(|folder| path.contains(folder))
}

/// Returns a path without dots, and the home by one name.
fn named_from_home(path: &str) -> String {
    let rest = ["$HOME", "${HOME}"].into_iter().find_map(|home| path.strip_prefix(home));
    match rest {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => tidy(&format!("~{rest}")),
        _ => tidy(path),
    }
}

/// Returns `true` if the name of a folder is one for folders of programs.
fn is_for_programs(folder: &str) -> bool {
    matches!(base(folder.trim_end_matches('/')), "bin" | "sbin" | ".bin" | "shims")
}

/// Returns `true` if `path` is `folder` or lies below it.
fn lies_in(path: &str, folder: &str) -> bool {
    if folder == "." {
        return !is_anchored(path);
    }
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Walker {
    /// Remembers which files a step makes: a program among them is not the one that its name says.
    pub(super) fn note_made(&mut self, draft: &Draft) {
        let written = || draft.aims.iter().filter(|aim| aim.access == Access::Write);
        // What is put into a folder has its old name there.
        let placed = matches!(draft.operation, "copy_file" | "rename_file" | "link_file");
        let sources = draft.aims.iter().filter(|aim| placed && aim.access != Access::Write);
        // The names of files that are unpacked or copied into a folder of programs are not in the command line, so any
        // program in that folder may be one of them.
        let pours = draft.operation != "create_directory";
        let programs = written()
            .filter(move |aim| pours && is_for_programs(&aim.value))
            .map(|aim| format!("{}/*", aim.value));
        let inside = sources.flat_map(|source| {
            let name = match base(&source.value) {
                "." | "" => "*",
                name => name,
            };
            written().map(move |folder| format!("{}/{name}", folder.value))
        });
        // The folder itself stays what it is: only what goes into it is new.
        let here = |path: &String| placed && matches!(path.as_str(), "." | "./");
        let targets = written().map(|aim| aim.value.clone()).filter(|path| !here(path));
        for path in targets.chain(inside).chain(programs.filter(|_| !placed)) {
            let path = named_from_home(&path);
            if self.state.searched.iter().any(|folder| lies_in(&path, folder)) {
                self.opacity.add(Opacity::Environment);
            }
            if self.state.made.len() < MAX_MADE {
                self.state.made.push(path);
            } else {
                self.state.made_too_many = true;
            }
        }
    }

    /// Remembers a folder in which programs are looked for from here on, and returns whether the line put one there.
    pub(super) fn note_searched(&mut self, folder: &str) -> bool {
        let folder = named_from_home(&self.state.place.locate(folder));
        let holds_made =
            self.state.made_too_many || self.state.made.iter().any(|made| lies_in(made, &folder));
        if self.state.searched.len() < MAX_MADE {
            self.state.searched.push(folder);
        } else {
            self.opacity.add(Opacity::Limit);
        }
        holds_made
    }

    /// Returns `true` if the command line made the file at this path, or may have.
    pub(super) fn has_made(&self, path: &str) -> bool {
        self.is_made(&self.state.place.locate(path))
    }

    /// Returns the same for a path as seen from the start.
    pub(super) fn is_made(&self, path: &str) -> bool {
        let path = named_from_home(path);
        self.state.made_too_many
            || self.state.made.iter().any(|made| lies_in(&path, made) || made.contains(['*', '?']))
    }

    /// Returns `true` if the command line put a program of this name into a folder of programs.
    pub(super) fn has_made_program(&self, name: &str) -> bool {
        self.state.made.iter().any(|made| {
            let (folder, base) = made.rsplit_once('/').unwrap_or(("", made));
            (base == name || base.contains('*')) && is_for_programs(folder)
        })
    }

    /// Returns `true` if the command line made a file that defines checks and builds, such as a makefile.
    pub(super) fn has_made_tasks(&self) -> bool {
        self.state.made.iter().any(|made| TASK_FILES.contains(&base(made)))
    }
}
