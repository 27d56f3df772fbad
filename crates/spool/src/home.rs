//! Every path of the product, in one place.
//!
//! Resolution is pure: the caller passes the environment and the `--home` argument. A home is one
//! folder for everything (`$AGENT_TRACER_HOME`, then `--home`), or the two XDG folders: data for files
//! that the product writes, config for files that people edit. Nothing here touches the disk, so a `Home` may
//! name folders that do not exist yet.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folder names under the XDG directories.
const PRODUCT: &str = "agent-tracer";

/// The folders of one installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// The folder for files of the product: spool, ledger, keys, backups.
    data: PathBuf,
    /// The folder for files of the user: `privacy.conf`, `statusline.conf`.
    config: PathBuf,
    /// `$XDG_RUNTIME_DIR`, for a doorbell whose path would be too long for a socket.
    runtime: Option<PathBuf>,
    /// The id of the user who runs this program: other users' settings are not obeyed.
    user: Option<u32>,
}

impl Home {
    /// Resolves the folders from the environment and the `--home` argument.
    ///
    /// `$AGENT_TRACER_HOME` beats `argument`, which beats XDG; an empty value counts as absent. The
    /// first two are used as given, so a relative one means the caller's working directory. XDG values
    /// that are not absolute are ignored, as their specification asks. `None` means that neither a
    /// home was named nor `$HOME` is an absolute path.
    pub fn resolve(env: &dyn Fn(&str) -> Option<OsString>, argument: Option<&Path>) -> Option<Home> {
        let runtime = absolute(env("XDG_RUNTIME_DIR"));
        let named = env("AGENT_TRACER_HOME").map(PathBuf::from).filter(|path| !path.as_os_str().is_empty());
        let named = named.or_else(|| argument.filter(|path| !path.as_os_str().is_empty()).map(PathBuf::from));
        if let Some(folder) = named {
            return Some(Home { config: folder.clone(), data: folder, runtime, user: None });
        }
        let user = absolute(env("HOME"));
        let under = |xdg: &str, fallback: &str| {
            let base = absolute(env(xdg)).or_else(|| user.as_ref().map(|user| user.join(fallback)))?;
            Some(base.join(PRODUCT))
        };
        Some(Home {
            data: under("XDG_DATA_HOME", ".local/share")?,
            config: under("XDG_CONFIG_HOME", ".config")?,
            runtime,
            user: None,
        })
    }

    /// Returns a home that keeps everything in one folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Home {
        let data = folder.into();
        Home { config: data.clone(), data, runtime: None, user: None }
    }

    /// Returns the same home with another directory for sockets whose path would be too long.
    #[must_use]
    pub fn with_runtime(mut self, runtime: impl Into<PathBuf>) -> Home {
        self.runtime = Some(runtime.into());
        self
    }

    /// Returns the same home for the user with this id, whose settings and root's are obeyed.
    #[must_use]
    pub fn with_user(mut self, user: u32) -> Home {
        self.user = Some(user);
        self
    }

    /// Returns the id of the user who runs this program, if the caller passed it.
    pub fn user(&self) -> Option<u32> {
        self.user
    }

    /// Returns the folder for files that the product writes.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Returns the folder for files that the user edits.
    pub fn config(&self) -> &Path {
        &self.config
    }

    /// Returns `$XDG_RUNTIME_DIR` as it was at resolution, if it was absolute.
    pub fn runtime(&self) -> Option<&Path> {
        self.runtime.as_deref()
    }

    /// Returns the maildir of envelopes.
    pub fn spool(&self) -> PathBuf {
        self.data.join("spool")
    }

    /// Returns the folder of loss counters, inside the spool.
    pub fn lost(&self) -> PathBuf {
        self.data.join("spool/lost")
    }

    /// Returns the privacy levels and exclusions that the user edits and the hook reads.
    pub fn privacy_conf(&self) -> PathBuf {
        self.config.join("privacy.conf")
    }

    /// Returns the settings of the status line, including the command it chains.
    pub fn statusline_conf(&self) -> PathBuf {
        self.config.join("statusline.conf")
    }

    /// Returns the key of the content hashes (16 bytes, 0600).
    pub fn hash_key(&self) -> PathBuf {
        self.data.join("key")
    }

    /// Returns the compiled policy table by which the hook decides if an event needs an answer.
    pub fn policy_table(&self) -> PathBuf {
        self.data.join("policy.tbl")
    }

    /// Returns the rules that the user edits.
    pub fn policy_file(&self) -> PathBuf {
        self.config.join("policy.toml")
    }

    /// Returns the record of the project rules that the user trusts (0600).
    pub fn policy_trust(&self) -> PathBuf {
        self.data.join("policy-trust.json")
    }

    /// Returns the socket on which the server answers hooks; see [`crate::socket`] for long paths.
    pub fn answers(&self) -> PathBuf {
        self.data.join("answers.sock")
    }

    /// Returns the list of sessions that ran while recording was switched off; see [`crate::unrecorded_sessions`].
    pub fn unrecorded(&self) -> PathBuf {
        self.data.join("unrecorded")
    }

    /// Returns the folder with a folder per run of `agent-tracer run`; see [`crate::run`].
    pub fn runs(&self) -> PathBuf {
        self.data.join("runs")
    }

    /// Returns the folder of the pages that agents get at their start; see [`crate::context`].
    pub fn context(&self) -> PathBuf {
        self.data.join("context")
    }

    /// Returns the record of the changes by `install`.
    pub fn install_record(&self) -> PathBuf {
        self.data.join("install.json")
    }

    /// Returns the folder of the settings files as they were before `install`.
    pub fn backups(&self) -> PathBuf {
        self.data.join("backups")
    }

    /// Returns the token that mutating calls need (0600).
    pub fn token(&self) -> PathBuf {
        self.data.join("token")
    }

    /// Returns the socket that wakes the server; see [`crate::socket`] for long paths.
    pub fn doorbell(&self) -> PathBuf {
        self.data.join("doorbell.sock")
    }
}

/// Keeps a path only if it is absolute; the empty path is not.
fn absolute(value: Option<OsString>) -> Option<PathBuf> {
    value.map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(env: &[(&str, &str)], argument: Option<&str>) -> Option<(PathBuf, PathBuf)> {
        let lookup =
            |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        Home::resolve(&lookup, argument.map(Path::new)).map(|home| (home.data, home.config))
    }

    fn both(path: &str) -> Option<(PathBuf, PathBuf)> {
        Some((path.into(), path.into()))
    }

    #[test]
    fn the_variable_beats_the_argument_which_beats_xdg() {
        let xdg = [("HOME", "/h"), ("XDG_DATA_HOME", "/d"), ("XDG_CONFIG_HOME", "/c")];
        let mut all = xdg.to_vec();
        all.push(("AGENT_TRACER_HOME", "/t"));
        assert_eq!(resolve(&all, Some("/a")), both("/t"));
        assert_eq!(resolve(&xdg, Some("/a")), both("/a"));
        assert_eq!(resolve(&xdg, None), Some(("/d/agent-tracer".into(), "/c/agent-tracer".into())));
    }

    #[test]
    fn without_xdg_the_folders_are_under_the_users_home() {
        let expected = Some(("/h/.local/share/agent-tracer".into(), "/h/.config/agent-tracer".into()));
        assert_eq!(resolve(&[("HOME", "/h")], None), expected);
    }

    #[test]
    fn xdg_values_that_are_not_absolute_are_ignored() {
        let env = [("HOME", "/h"), ("XDG_DATA_HOME", "data"), ("XDG_CONFIG_HOME", "")];
        assert_eq!(resolve(&env, None), resolve(&[("HOME", "/h")], None));
    }

    #[test]
    fn empty_values_count_as_absent() {
        let env = [("HOME", "/h"), ("AGENT_TRACER_HOME", "")];
        assert_eq!(resolve(&env, Some("")), resolve(&[("HOME", "/h")], None));
        assert_eq!(resolve(&env, Some("/a")), both("/a"));
    }

    #[test]
    fn relative_homes_are_used_as_given() {
        assert_eq!(resolve(&[("AGENT_TRACER_HOME", "here")], None), both("here"));
        assert_eq!(resolve(&[], Some("./there")), both("./there"));
    }

    #[test]
    fn without_any_home_there_is_none() {
        assert_eq!(resolve(&[], None), None);
        assert_eq!(resolve(&[("HOME", "")], None), None);
        assert_eq!(resolve(&[("HOME", "relative")], None), None);
        assert_eq!(resolve(&[("XDG_DATA_HOME", "/d")], None), None);
        let split = [("XDG_DATA_HOME", "/d"), ("XDG_CONFIG_HOME", "/c")];
        assert_eq!(resolve(&split, None), Some(("/d/agent-tracer".into(), "/c/agent-tracer".into())));
    }

    #[test]
    fn the_runtime_directory_must_be_absolute() {
        let runtime = |value: &str| {
            let lookup = |name: &str| match name {
                "XDG_RUNTIME_DIR" => Some(OsString::from(value)),
                "HOME" => Some(OsString::from("/h")),
                _ => None,
            };
            Home::resolve(&lookup, None).unwrap().runtime
        };
        assert_eq!(runtime("/run/user/7"), Some("/run/user/7".into()));
        assert_eq!(runtime("run"), None);
    }

    #[test]
    fn every_path_is_where_the_product_says() {
        let lookup = |name: &str| (name == "HOME").then(|| OsString::from("/h"));
        let home = Home::resolve(&lookup, None).unwrap();
        let data = [
            (home.spool(), "spool"),
            (home.lost(), "spool/lost"),
            (home.hash_key(), "key"),
            (home.policy_table(), "policy.tbl"),
            (home.policy_trust(), "policy-trust.json"),
            (home.answers(), "answers.sock"),
            (home.context(), "context"),
            (home.runs(), "runs"),
            (home.install_record(), "install.json"),
            (home.backups(), "backups"),
            (home.token(), "token"),
            (home.doorbell(), "doorbell.sock"),
        ];
        for (path, name) in data {
            assert_eq!(path, Path::new("/h/.local/share/agent-tracer").join(name));
        }
        assert_eq!(home.privacy_conf(), Path::new("/h/.config/agent-tracer/privacy.conf"));
        assert_eq!(home.policy_file(), Path::new("/h/.config/agent-tracer/policy.toml"));
        assert_eq!(home.statusline_conf(), Path::new("/h/.config/agent-tracer/statusline.conf"));
    }
}
