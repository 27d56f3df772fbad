//! Variables and paths that change what a program is: `LD_PRELOAD=…`, `BASH_ENV=…`, `PATH=…`, `./ls`.
//!
//! A variable that holds a command (`PAGER`, `GIT_SSH_COMMAND`, `PROMPT_COMMAND`) is read like any other script. One
//! that makes programs load a file cannot be seen through. All others are only named, for rules that permit something.

use super::Walker;
use crate::draft::Draft;
use crate::exit::Node;
use crate::exposure::{Breadth, FileAccess, FileUse, Opacity};
use crate::path::tidy;
use crate::syntax::ast::Assignment;
use crate::words::{Field, Frame, Origin, Value};

/// Most variables and programs that are named.
const MAX_NAMED: usize = 64;

/// Variables whose value is a command that some program runs.
const COMMANDS: &[&str] = &[
    "PAGER",
    "GIT_PAGER",
    "MANPAGER",
    "SYSTEMD_PAGER",
    "EDITOR",
    "VISUAL",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH_COMMAND",
    "GIT_SSH",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "PROMPT_COMMAND",
    "BROWSER",
    "RSYNC_RSH",
    "CVS_RSH",
    "SUDO_EDITOR",
    "SUDO_ASKPASS",
    "FZF_DEFAULT_COMMAND",
    "LESSOPEN",
    "LESSCLOSE",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "SHELL",
    "TAR_OPTIONS",
];

/// Variables that make programs load, run or obey a file.
const LOADERS: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "ZDOTDIR",
    "PS4",
    "PS1",
    "PS0",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "LUA_INIT",
    "GIT_DIR",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "MAKEFILES",
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "INPUTRC",
    "GCONV_PATH",
    "GREP_OPTIONS",
    "CURL_HOME",
    "WGETRC",
    "VIMINIT",
    "EXINIT",
    "RIPGREP_CONFIG_PATH",
    "BASHOPTS",
    "SHELLOPTS",
    "NODE_PATH",
    "npm_config_script_shell",
    "NPM_CONFIG_SCRIPT_SHELL",
];

/// Folders of the system, which only its administrator can write.
const SYSTEM: [&str; 4] = ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"];

/// Folders in which installers put the tools of a project.
const INSTALLED: [&str; 6] =
    ["node_modules/.bin/", "vendor/bin/", ".venv/bin/", "venv/bin/", ".tox/bin/", "/usr/local/bin/"];

/// Wrappers of build tools that are part of a project by convention.
const BUILD_WRAPPERS: [&str; 4] = ["gradlew", "mvnw", "gradlew.bat", "mvnw.cmd"];

/// Whether a program is named by a path into a folder of the system.
pub(crate) fn is_of_system(written: &str) -> bool {
    let path = tidy(written);
    SYSTEM.iter().any(|folder| path.strip_prefix(folder).is_some_and(|name| !name.contains('/')))
}

impl Walker {
    /// Notes the variable of an assignment, and what comes of setting it.
    pub(super) fn notice_variable(&mut self, frame: &Frame<'_>, assignment: &Assignment, draft: &mut Draft) {
        let name = assignment.name.of(frame.text).to_owned();
        let value = match self.state.variables.get(&name) {
            Value::Text(text) => Some(text.clone()),
            Value::OneOf(_) | Value::Unknown => None,
        };
        match value {
            Some(value) => self.notice_setting(&name, &value, false, draft),
            None => {
                let raw = assignment.values.first().map_or("", |word| word.span.of(frame.text));
                self.notice_setting(&name, raw.trim_matches('"'), true, draft);
            }
        }
    }

    /// Notes the assignments among the arguments of `env` and its like.
    pub(super) fn notice_settings(&mut self, own: &[Field<'_>], draft: &mut Draft) {
        for field in own.iter().skip(1) {
            if let Some((name, value)) = field.text.split_once('=').filter(|(name, _)| !name.starts_with('-'))
            {
                self.notice_setting(name, value, field.dynamic, draft);
            }
        }
    }

    /// Notes a variable and its value.
    pub(super) fn notice_setting(&mut self, name: &str, value: &str, dynamic: bool, draft: &mut Draft) {
        if self.environment.iter().all(|known| known != name) {
            if self.environment.len() < MAX_NAMED {
                self.environment.push(name.to_owned());
            } else {
                self.opacity.add(Opacity::Limit);
            }
        }
        let loads = LOADERS.contains(&name)
            || name.starts_with("LD_")
            || name.starts_with("DYLD_")
            || name.starts_with("BASH_FUNC_")
            || name.starts_with("GIT_CONFIG_")
            || (name == "PATH" && !is_plain_path(value))
            || (name == "NODE_OPTIONS"
                && ["-r", "--require", "--import", "--loader"].iter().any(|it| value.contains(it)));
        if loads {
            draft.opaque.add(Opacity::Environment);
        }
        if name.to_ascii_lowercase().ends_with("_proxy")
            && !name.eq_ignore_ascii_case("no_proxy")
            && !value.is_empty()
        {
            draft.host((!dynamic).then(|| value.to_owned()));
        }
        if value
            .split_once("://")
            .is_some_and(|(scheme, _)| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        {
            draft.host((!dynamic).then(|| value.to_owned()));
        }
        if name.starts_with("GIT_TRACE") && value.starts_with('/') {
            let path = Some(value.to_owned());
            draft.reaches.push(FileUse { path, access: FileAccess::Write, breadth: Breadth::One });
        }
        if !COMMANDS.contains(&name) || value.is_empty() {
            return;
        }
        if dynamic {
            draft.opaque.add(Opacity::Environment);
            return;
        }
        let (origin, dialect, script) = (Origin::Whole(draft.raw), self.dialect, value.to_owned());
        let steps =
            self.inside_word(|walker| walker.inner_script(&script, origin, dialect).unwrap_or(Node::Nothing));
        draft.substitutions.extend(steps);
    }

    /// Notes a program that is named by a path: what it is, its name does not say.
    pub(super) fn notice_path(&mut self, written: &str, draft: &mut Draft) {
        if !written.contains('/') || is_of_system(written) {
            return;
        }
        if self.programs.iter().all(|known| known != written) {
            if self.programs.len() < MAX_NAMED {
                self.programs.push(written.to_owned());
            } else {
                self.opacity.add(Opacity::Limit);
            }
        }
        let path = tidy(written);
        let is_tool = |folder: &&str| {
            let rest = path.rsplit_once(*folder).map(|(_, name)| name);
            rest.is_some_and(|name| {
                !name.contains('/')
                    && (super::code::is_python(name)
                        || crate::tools::find(name).is_some_and(|it| !it.builtin))
            })
        };
        let is_installed =
            INSTALLED.iter().any(is_tool) || BUILD_WRAPPERS.contains(&crate::path::base(&path));
        if !is_installed || self.has_made(written) {
            draft.opaque.add(Opacity::Script);
        }
    }
}

/// Whether a search path holds nothing but itself, folders of the system and those of installed tools.
fn is_plain_path(value: &str) -> bool {
    value.split(':').all(|folder| {
        let folder = folder.trim_matches(['"', '\'']);
        matches!(folder, "$PATH" | "${PATH}")
            || ["/usr/", "/bin", "/sbin", "/opt/", "$HOME/.", "${HOME}/.", "~/."]
                .iter()
                .any(|it| folder.starts_with(it))
            || folder.ends_with("node_modules/.bin")
            || folder.ends_with("/go/bin")
    }) && !value.contains("..")
}
