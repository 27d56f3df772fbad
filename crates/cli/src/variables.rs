//! The registry of environment variables that change what our programs do.
//!
//! `docs/cli.md` lists it, and `tests/house` holds the sources to it: a variable of ours that is read, but not listed here,
//! fails.

/// One variable.
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: &'static str,
    /// The program that reads it.
    pub(crate) reader: &'static str,
    /// Its effect.
    pub(crate) effect: &'static str,
}

const fn variable(name: &'static str, reader: &'static str, effect: &'static str) -> Variable {
    Variable { name, reader, effect }
}

const MAIN: &str = "`agent-tracer`";
const HOOK: &str = "the hook";
const BOTH: &str = "both programs";
const INSTALLER: &str = "`install.sh`";

/// The variables: ours first, in the order of their use.
pub(crate) const VARIABLES: &[Variable] = &[
    variable("AGENT_TRACER_HOME", BOTH, "folder for data and settings instead of the XDG directories"),
    variable(
        "AGENT_TRACER_OFF",
        HOOK,
        "keeps the session out of the recording, unless it is `0`, `no`, `off` or `false`",
    ),
    variable(
        "AGENT_TRACER_TASK",
        "the agent's shells",
        "the session; set by the hook if `context on --export-task` asks for it",
    ),
    variable(
        "AGENT_TRACER_CHAINED",
        HOOK,
        "set by the hook for the status line that it calls, so that two do not call each other",
    ),
    variable("AGENT_TRACER_RUN", HOOK, "the run that a session belongs to; set by `run` for its agent"),
    variable("AGENT_TRACER_LOG", MAIN, "least severe level to log, unless `--log-level` names one"),
    variable(
        "AGENT_TRACER_SHIP_TOKEN",
        MAIN,
        "token for the team's server, instead of the file `ship.token`",
    ),
    variable("AGENT_TRACER_STORE_PASSWORD", MAIN, "password of the team's store"),
    variable(
        "AGENT_TRACER_PROXY_SECRET",
        MAIN,
        "secret by which the proxy in front of a team's server proves itself",
    ),
    variable("AGENT_TRACER_DIST", INSTALLER, "folder with the packages, as `--from`"),
    variable("AGENT_TRACER_RELEASES", "`upgrade` and `install.sh`", "address of the releases"),
    variable("AGENT_TRACER_COMMIT", "the build", "commit that `--version` names"),
    variable("HOME", BOTH, "your home: the default folders and the agents' settings are in it"),
    variable("XDG_DATA_HOME", BOTH, "folder above the data; `~/.local/share` by default"),
    variable("XDG_CONFIG_HOME", BOTH, "folder above the settings; `~/.config` by default"),
    variable("XDG_RUNTIME_DIR", BOTH, "folder for sockets"),
    variable("PATH", BOTH, "where agents and `git` are found"),
    variable("TZ", MAIN, "time zone instead of the system's, as an IANA name"),
    variable("NO_COLOR", MAIN, "if not empty, no colour"),
    variable("TERM", MAIN, "`dumb`: no colour and no progress line"),
    variable(
        "SSL_CERT_FILE",
        MAIN,
        "PEM file of the authorities that `ship` and webhooks trust, instead of the system's",
    ),
    variable("SSL_CERT_DIR", MAIN, "folders of such files, named by their hash, with colons between them"),
    variable(
        "HTTPS_PROXY",
        MAIN,
        "proxy for `ship` and webhooks; also `HTTP_PROXY`, `ALL_PROXY`, and `NO_PROXY` for exceptions",
    ),
];
