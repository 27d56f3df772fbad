//! Variables and paths that change what a program is: `LD_PRELOAD=…`, `BASH_ENV=…`, `PATH=…`, `./ls`.
//!
//! A variable that holds a command (`PAGER`, `GIT_SSH_COMMAND`, `PROMPT_COMMAND`) is read like any other script. One
//! that makes programs load a file cannot be seen through. All others are only named, for rules that permit something.

use super::Walker;
use crate::draft::Draft;
use crate::exit::Node;
use crate::exposure::{Breadth, FileAccess, FileUse, Opacity};
use crate::path::tidy;
use crate::syntax::ast::{Assignment, Part, Span};
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
    "NODE_REPL_EXTERNAL_MODULE",
    "npm_config_script_shell",
    "NPM_CONFIG_SCRIPT_SHELL",
    "npm_config_userconfig",
    "NPM_CONFIG_USERCONFIG",
    // Options behind operands are operands then: `rm -rf x --dry-run` deletes.
    "POSIXLY_CORRECT",
    "POSIX_ME_HARDER",
    // Settings are read from there.
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "CARGO_HOME",
    "CLASSPATH",
    "LESS",
    "LESSKEY",
    "LESSKEYIN",
    "MORE",
    "VIMRUNTIME",
    "EMACSLOADPATH",
    "PYTEST_PLUGINS",
    "R_PROFILE",
    "R_PROFILE_USER",
    "R_ENVIRON_USER",
    "JULIA_LOAD_PATH",
    "JULIA_DEPOT_PATH",
    "GUILE_LOAD_PATH",
    "TCLLIBPATH",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
];

/// Variables that make programs load or run something if their value says so.
const LOADING_VALUES: &[(&str, &[&str])] = &[
    ("NODE_OPTIONS", &["-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file"]),
    ("GOFLAGS", &["exec", "vettool", "overlay", "modfile"]),
    ("MAVEN_OPTS", &["agent", "-D"]),
    ("GRADLE_OPTS", &["agent", "-D"]),
    ("JAVA_OPTS", &["agent"]),
    ("SBT_OPTS", &["agent"]),
    ("ANT_OPTS", &["agent"]),
    ("MAVEN_ARGS", &["exec"]),
    ("PYTEST_ADDOPTS", &["-p", "-c", "--rootdir", "--confcutdir", "-o", "--override"]),
    ("PYTHONWARNINGS", &["."]),
    ("FZF_DEFAULT_OPTS", &["execute", "preview", "become", "reload", "transform"]),
    ("RUSTFLAGS", &["linker"]),
    ("GIT_SSH_VARIANT", &["/"]),
];

/// Variables that name a program which a build runs. A plain name is one of the machine's.
const PROGRAMS: &[&str] =
    &["CC", "CXX", "LD", "AR", "AS", "CPP", "FC", "RUSTC", "RUSTDOC", "MAKE", "PYTHON", "NODE"];

/// Ends of the names of variables whose value is a command.
const COMMAND_ENDS: [&str; 8] =
    ["PAGER", "EDITOR", "_ASKPASS", "_WRAPPER", "_RUNNER", "_LINKER", "_SSH", "_RSH"];

/// Folders of the system, which only its administrator can write.
const SYSTEM: [&str; 4] = ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"];

/// Folders in which installers put the tools of a project.
const INSTALLED: [&str; 6] =
    ["node_modules/.bin/", "vendor/bin/", ".venv/bin/", "venv/bin/", ".tox/bin/", "/usr/local/bin/"];

/// Wrappers of build tools that are part of a project by convention.
const BUILD_WRAPPERS: [&str; 4] = ["gradlew", "mvnw", "gradlew.bat", "mvnw.cmd"];

/// Returns `true` if a program is named by its path in a folder of the system.
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

    /// Notes a variable that the line sets or takes away.
    pub(super) fn name_variable(&mut self, name: &str) {
        if self.environment.iter().any(|known| known == name) {
            return;
        }
        if self.environment.len() < MAX_NAMED {
            self.environment.push(name.to_owned());
        } else {
            self.opacity.add(Opacity::Limit);
        }
    }

    /// Sets a variable by something other than an assignment, and notes what comes of it.
    pub(super) fn set_variable(&mut self, name: &str, value: Value, draft: &mut Draft) {
        let name = name.split('[').next().unwrap_or_default();
        match &value {
            Value::Text(text) => self.notice_setting(name, text, false, draft),
            Value::OneOf(texts) => {
                for text in texts {
                    self.notice_setting(name, text, false, draft);
                }
            }
            Value::Unknown => self.notice_setting(name, "?", true, draft),
        }
        self.state.variables.set(name, value);
    }

    /// Sets a variable where no step stands for it. What comes of it counts for the whole line; steps are returned.
    pub(super) fn set_aside(&mut self, name: &str, value: Value) -> Vec<Draft> {
        let mut draft = self.draft(Span::new(0, 0));
        self.set_variable(name, value, &mut draft);
        // A host has no step to stand with.
        if !draft.hosts.is_empty() {
            self.opacity.add(Opacity::Environment);
        }
        self.opacity.join(draft.opaque);
        draft.substitutions
    }

    /// Notes what words set besides: `${NAME:=value}`, `$((NAME = 1))`.
    pub(super) fn set_by_words(&mut self, frame: &Frame<'_>, parts: &[Part]) -> Vec<Draft> {
        let mut steps = Vec::new();
        for part in parts {
            match part {
                Part::Parameter(parameter) if !parameter.plain => {
                    let whole = parameter.span.of(frame.text);
                    // Flags of zsh, and a value that is expanded once more: what stands in it runs.
                    if whole.starts_with("${(") || whole.ends_with("@P}") {
                        self.opacity.add(Opacity::Code);
                    }
                    let behind = Span::new(parameter.name.end, parameter.span.end).of(frame.text);
                    if behind.starts_with(":=") || behind.starts_with('=') {
                        let value =
                            behind.trim_start_matches(':').trim_start_matches('=').trim_end_matches('}');
                        let known = !value.contains(['$', '`', '\\', '"', '\'']);
                        let value = if known { Value::Text(value.to_owned()) } else { Value::Unknown };
                        steps.extend(self.set_aside(parameter.name.of(frame.text), value));
                    }
                    steps.extend(self.set_by_words(frame, &parameter.operand));
                }
                Part::Arithmetic(inside) => {
                    steps.extend(self.set_by_arithmetic(inside.0.of(frame.text)));
                    steps.extend(self.set_by_words(frame, &inside.1));
                }
                _ => {}
            }
        }
        steps
    }

    /// Notes the variables that arithmetic sets.
    pub(super) fn set_by_arithmetic(&mut self, text: &str) -> Vec<Draft> {
        let mut steps = Vec::new();
        for name in assigned(text) {
            steps.extend(self.set_aside(name, Value::Unknown));
        }
        steps
    }

    /// Notes a variable and its value.
    pub(super) fn notice_setting(&mut self, name: &str, value: &str, dynamic: bool, draft: &mut Draft) {
        self.name_variable(name);
        // Where the variable is counted with, the subscript is worked out, and what stands in it runs.
        if value.contains("[$(") || value.contains("[`") {
            draft.opaque.add(Opacity::Code);
        }
        let loads = LOADERS.contains(&name)
            || name.starts_with("LD_")
            || name.starts_with("DYLD_")
            || name.starts_with("BASH_FUNC_")
            || name.starts_with("GIT_CONFIG_")
            || (name == "PATH" && !is_plain_path(value))
            || (PROGRAMS.contains(&name) && (dynamic || value.contains(['/', ';', '|', '&'])))
            || LOADING_VALUES.iter().any(|(known, words)| {
                *known == name && (dynamic || words.iter().any(|word| value.contains(word)))
            })
            // Only running it would tell which variable that is.
            || name.contains(['$', '`']);
        if loads {
            draft.opaque.add(Opacity::Environment);
        }
        if name == "PATH" {
            for folder in value.split(':').map(|folder| folder.trim_matches(['"', '\''])) {
                if !matches!(folder, "$PATH" | "${PATH}") && self.note_searched(folder) {
                    draft.opaque.add(Opacity::Environment);
                }
            }
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
        let is_command = COMMANDS.contains(&name) || COMMAND_ENDS.iter().any(|end| name.ends_with(end));
        if !is_command || value.is_empty() {
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

/// Returns the names that arithmetic gives a value: `n = 1`, `n += 1`, `n++`.
fn assigned(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        let (between, from) = rest.split_at(start);
        let length = from.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(from.len());
        let (name, behind) = from.split_at(length);
        rest = behind;
        let behind = behind.trim_start();
        let sets = behind.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
        let between = between.trim_end();
        let counts = ["++", "--"].iter().any(|sign| behind.starts_with(sign) || between.ends_with(sign));
        let is_name = !name.starts_with(|c: char| c.is_ascii_digit());
        if is_name
            && (counts || behind.starts_with('[') || sets.starts_with('=') && !behind.starts_with("=="))
        {
            names.push(name);
        }
    }
    names
}

/// Returns `true` if a search path consists of its old value, folders of the system and folders of installed tools.
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
