//! Finds a release and its version.

use std::cmp::Ordering;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::arguments::Upgrade;
use crate::environment::Environment;
use crate::failure::Failure;

/// The variable with the address of the releases.
const VARIABLE: &str = "AGENT_TRACER_RELEASES";

/// A place with a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// A folder with a tarball and its sums; the version, if the user named one tarball.
    Folder(PathBuf, Option<String>),
    /// An address.
    Address(String),
}

impl Source {
    /// Returns the source that the user named, if any.
    pub(super) fn of(arguments: &Upgrade, environment: &Environment) -> Result<Option<Source>, Failure> {
        if let Some(path) = &arguments.from {
            return Source::at(&environment.absolute(path)).map(Some);
        }
        let variable = || environment.variable(VARIABLE).and_then(|value| value.into_string().ok());
        let Some(address) = arguments.url.clone().or_else(variable) else { return Ok(None) };
        // The local ones are for trying a release before it is one.
        if !(address.starts_with("https://") || address.starts_with("http://127.0.0.1")) {
            return Err(Failure::usage(format!("invalid release address `{address}`"))
                .hint("use an address that begins with `https://`, or `--from` for a folder"));
        }
        Ok(Some(Source::Address(address)))
    }

    fn at(path: &Path) -> Result<Source, Failure> {
        if path.is_dir() {
            return Ok(Source::Folder(path.to_owned(), None));
        }
        let shown = path.display();
        if !path.is_file() {
            return Err(Failure::usage(format!("`{shown}` does not exist"))
                .hint("name a folder with a release, or its tarball"));
        }
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let rest = name.strip_prefix("agent-tracer-").and_then(|rest| rest.strip_suffix(".tar.gz"));
        let version = rest.and_then(|rest| rest.strip_suffix(&format!("-{}", target())));
        let version = version.ok_or_else(|| {
            Failure::usage(format!("`{name}` is not the tarball of a release for this system"))
                .hint(format!("its name is `agent-tracer-VERSION-{}.tar.gz`", target()))
        })?;
        let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Source::Folder(folder, Some(version.to_owned())))
    }

    /// Returns the words for `install.sh`.
    pub(super) fn words(&self) -> Vec<OsString> {
        match self {
            Source::Address(_) => Vec::new(),
            Source::Folder(folder, version) => {
                let mut words = vec![OsString::from("--from"), folder.clone().into_os_string()];
                words
                    .extend(version.iter().flat_map(|version| [OsString::from("--version"), version.into()]));
                words
            }
        }
    }

    /// Returns the address.
    pub(super) fn address(&self) -> Option<&str> {
        match self {
            Source::Address(address) => Some(address),
            Source::Folder(..) => None,
        }
    }
}

/// Returns the name that releases have for this machine.
fn target() -> String {
    let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-musl" };
    format!("{}-{system}", std::env::consts::ARCH)
}

/// A version: three numbers, and what follows them in one that comes before the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    numbers: [u64; 3],
    pre_release: String,
}

impl Version {
    /// Returns the version of this program.
    pub(super) fn own() -> Version {
        Version::parse(env!("CARGO_PKG_VERSION")).expect("cargo accepts no other form")
    }

    /// Reads the version in the name of a tarball.
    pub(super) fn of_archive(name: &str) -> Result<Version, Failure> {
        let name = name.trim();
        let rest = name.strip_prefix("agent-tracer-").and_then(|rest| rest.strip_suffix(".tar.gz"));
        let version = rest.and_then(|rest| rest.strip_suffix(&format!("-{}", target())));
        version.and_then(Version::parse).ok_or_else(|| {
            Failure::new(format!("`{name}` has no version that can be compared"))
                .hint("use `install.sh` of that release")
        })
    }

    fn parse(text: &str) -> Option<Version> {
        // What stands behind it names a build and has no part in the order of versions.
        let text = text.split('+').next()?;
        let (numbers, pre_release) = text.split_once('-').unwrap_or((text, ""));
        let mut parts = numbers.split('.').map(|part| part.parse::<u64>().ok());
        let numbers = [parts.next()??, parts.next()??, parts.next()??];
        parts.next().is_none().then(|| Version { numbers, pre_release: pre_release.to_owned() })
    }

    /// Returns the version as it is written.
    pub(super) fn text(&self) -> String {
        let [major, minor, patch] = self.numbers;
        let dash = if self.pre_release.is_empty() { "" } else { "-" };
        format!("{major}.{minor}.{patch}{dash}{}", self.pre_release)
    }

    /// Compares as releases follow each other: `rc.1`, `rc.2`, `rc.10`, the release.
    pub(super) fn cmp(&self, other: &Version) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| {
            match (self.pre_release.is_empty(), other.pre_release.is_empty()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => compare_parts(&self.pre_release, &other.pre_release),
            }
        })
    }
}

/// Compares numbers as numbers, before words.
fn compare_parts(one: &str, other: &str) -> Ordering {
    let key = |part: &str| (part.parse::<u64>().is_err(), part.parse::<u64>().unwrap_or(0), part.to_owned());
    one.split('.').map(key).cmp(other.split('.').map(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_follow_each_other_as_releases_do() {
        let list = ["0.1.9", "0.2.0-alpha.1", "0.2.0-rc.2", "0.2.0-rc.10", "0.2.0", "0.10.0", "1.0.0+build"];
        let versions: Vec<Version> = list.iter().map(|text| Version::parse(text).expect(text)).collect();
        for (place, one) in versions.iter().enumerate() {
            for (other_place, other) in versions.iter().enumerate() {
                assert_eq!(one.cmp(other), place.cmp(&other_place), "{} {}", one.text(), other.text());
            }
        }
        for text in ["", "1", "1.2", "1.2.x", "1.2.3.4", "v1.2.3", "-1.2.3", "99999999999999999999.0.0"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_tarball_is_known_by_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let put = |name: &str| {
            let path = folder.path().join(name);
            crate::files::write_private(&path, b"").expect("a file");
            Source::at(&path)
        };
        let ours = put(&format!("agent-tracer-1.2.3-rc.1-{}.tar.gz", target())).expect("ours");
        assert_eq!(ours, Source::Folder(folder.path().to_owned(), Some("1.2.3-rc.1".to_owned())));
        assert_eq!(ours.words().len(), 4);
        let name = format!("agent-tracer-1.2.3-rc.1-{}.tar.gz\n", target());
        assert_eq!(Version::of_archive(&name).expect("a version").text(), "1.2.3-rc.1");
        for name in ["agent-tracer-1.2.3-s390x-unknown-linux-musl.tar.gz", "x.tar.gz", "SHA256SUMS"] {
            let failure = put(name).expect_err(name).to_string();
            assert!(failure.contains("not the tarball") && failure.contains("\nhint: "), "{failure}");
            assert!(Version::of_archive(name).is_err(), "{name}");
        }
        assert!(
            Source::at(Path::new("/nowhere/at/all"))
                .expect_err("gone")
                .to_string()
                .contains("does not exist")
        );
    }
}
