//! By which way these programs came here: by where they are, and by the marks that packaging leaves beside them.
//!
//! Law: nothing is asked and nothing is started. The first mark that fits counts; without any, both programs stand in a
//! folder that belongs to the user, as `install.sh` leaves them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The crate under whose name cargo lists an installation.
const CRATE: &str = "agent-tracer-cli";
/// The most bytes of cargo's list of installations.
const LIST_BYTES: u64 = 4 << 20;

/// A way to install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// `install.sh`, or a copy by hand.
    Script,
    /// A tarball, unpacked: its documents stand beside the programs.
    Tarball,
    /// A package manager of Node, by its command.
    Node(&'static str),
    /// A package manager of Node, in a project: its folder.
    NodeProject(PathBuf),
    /// A cache that is emptied some day, by the command that fills it.
    Cache(&'static str),
    /// `pip`, with this interpreter.
    Pip(PathBuf),
    /// `pipx`.
    Pipx,
    /// `uv tool`.
    UvTool,
    /// A `.deb`.
    Debian,
    /// An `.rpm`.
    Rpm,
    /// Homebrew: the path of the programs that stays across upgrades.
    Homebrew(PathBuf),
    /// `cargo install`.
    Cargo,
    /// A build from source, in this folder.
    Source(PathBuf),
}

impl Origin {
    /// Finds the origin of a program. `root` is the root of the system's own files.
    pub(crate) fn of(program: &Path, root: &Path) -> Origin {
        let folder = program.parent().unwrap_or(root);
        let prefix = folder.parent().unwrap_or(root);
        // From the most certain mark to the least.
        of_node(program)
            .or_else(|| of_homebrew(program))
            .or_else(|| of_python(folder, prefix))
            .or_else(|| of_cargo(prefix))
            .or_else(|| of_system(folder, root))
            .or_else(|| of_source(folder))
            .unwrap_or_else(|| if is_unpacked(folder) { Origin::Tarball } else { Origin::Script })
    }

    /// Returns the name of the way.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Origin::Script => "install.sh",
            Origin::Tarball => "a tarball",
            Origin::Node(command) => command,
            Origin::NodeProject(_) => "npm",
            Origin::Cache(command) => command,
            Origin::Pip(_) => "pip",
            Origin::Pipx => "pipx",
            Origin::UvTool => "uv",
            Origin::Debian => "a .deb",
            Origin::Rpm => "an .rpm",
            Origin::Homebrew(_) => "Homebrew",
            Origin::Cargo => "cargo",
            Origin::Source(_) => "a build from source",
        }
    }

    /// Returns the command that brings a newer version; `None` where these programs replace themselves.
    pub(crate) fn command(&self) -> Option<String> {
        Some(match self {
            Origin::Script | Origin::Tarball => return None,
            Origin::Node("pnpm") => "pnpm add --global agent-tracer@latest".to_owned(),
            Origin::Node("bun") => "bun add --global agent-tracer@latest".to_owned(),
            Origin::Node(_) => "npm install --global agent-tracer@latest".to_owned(),
            Origin::NodeProject(folder) => {
                format!("cd '{}' && npm install agent-tracer@latest", folder.display())
            }
            Origin::Cache(command) => format!("{command} agent-tracer@latest"),
            Origin::Pip(python) => {
                format!("'{}' -m pip install --upgrade agent-tracer", python.display())
            }
            Origin::Pipx => "pipx upgrade agent-tracer".to_owned(),
            Origin::UvTool => "uv tool upgrade agent-tracer".to_owned(),
            Origin::Debian => "sudo apt-get install ./agent-tracer_VERSION_ARCHITECTURE.deb".to_owned(),
            Origin::Rpm => "sudo rpm --upgrade agent-tracer-VERSION-1.ARCHITECTURE.rpm".to_owned(),
            Origin::Homebrew(_) => "brew upgrade agent-tracer".to_owned(),
            Origin::Cargo => {
                "cargo install --path crates/cli && cargo install --path crates/hook    (in a newer source)"
                    .to_owned()
            }
            Origin::Source(folder) => format!("cd '{}' && git pull && make build", folder.display()),
        })
    }
}

/// Returns the names in a path.
fn has(path: &Path, name: &str) -> bool {
    path.iter().any(|part| part == OsStr::new(name))
}

fn of_node(program: &Path) -> Option<Origin> {
    let modules =
        program.ancestors().filter(|part| part.file_name() == Some(OsStr::new("node_modules"))).last()?;
    // A cache has no command to upgrade: naming the newest version is the upgrade.
    if has(program, "_npx") {
        return Some(Origin::Cache("npx"));
    }
    let owner = modules.parent().unwrap_or(modules);
    Some(if has(program, "pnpm") || has(modules, "pnpm-global") {
        Origin::Node("pnpm")
    } else if has(program, ".bun") {
        Origin::Node("bun")
    } else if owner.join("package.json").is_file() {
        Origin::NodeProject(owner.to_owned())
    } else {
        Origin::Node("npm")
    })
}

/// Recognises `PREFIX/Cellar/agent-tracer/VERSION/bin/…`; `PREFIX/opt/agent-tracer/bin/…` stays over upgrades.
fn of_homebrew(program: &Path) -> Option<Origin> {
    let formula = program.ancestors().find(|part| {
        part.file_name() == Some(OsStr::new("agent-tracer"))
            && part.parent().is_some_and(|cellar| cellar.ends_with("Cellar"))
    })?;
    let prefix = formula.parent()?.parent()?;
    Some(Origin::Homebrew(prefix.join("opt/agent-tracer/bin")))
}

fn of_python(folder: &Path, prefix: &Path) -> Option<Origin> {
    let libraries = fs::read_dir(prefix.join("lib")).ok()?.flatten();
    let is_ours = |name: &OsStr| {
        name.to_str().is_some_and(|name| name.starts_with("agent_tracer-") && name.ends_with(".dist-info"))
    };
    let is_listed =
        libraries.filter(|entry| entry.file_name().to_string_lossy().starts_with("python")).any(|entry| {
            let packages = fs::read_dir(entry.path().join("site-packages"));
            packages.is_ok_and(|packages| packages.flatten().any(|entry| is_ours(&entry.file_name())))
        });
    if !is_listed {
        return None;
    }
    // Before pip: both tools make an environment that looks like one of pip.
    if prefix.join("uv-receipt.toml").is_file() {
        return Some(Origin::UvTool);
    }
    if prefix.join("pipx_metadata.json").is_file() {
        return Some(Origin::Pipx);
    }
    if has(prefix, "archive-v0") || has(prefix, "environments-v2") {
        return Some(Origin::Cache("uvx"));
    }
    let own = folder.join("python3");
    Some(Origin::Pip(if own.exists() { own } else { PathBuf::from("python3") }))
}

fn of_cargo(prefix: &Path) -> Option<Origin> {
    let list = crate::files::read_capped(&prefix.join(".crates.toml"), LIST_BYTES).ok()?;
    String::from_utf8_lossy(&list).contains(&format!("\"{CRATE} ")).then_some(Origin::Cargo)
}

fn of_system(folder: &Path, root: &Path) -> Option<Origin> {
    if folder != root.join("usr/bin") {
        return None;
    }
    if root.join("var/lib/dpkg/info/agent-tracer.list").is_file() {
        return Some(Origin::Debian);
    }
    // rpm keeps no list per package that could be read without its library.
    let places = ["usr/lib/sysimage/rpm", "var/lib/rpm"];
    places.iter().any(|place| root.join(place).is_dir()).then_some(Origin::Rpm)
}

/// Recognises `target/PROFILE`, `target/TARGET/PROFILE` and `dist` of a clone.
fn of_source(folder: &Path) -> Option<Origin> {
    let source =
        folder.ancestors().skip(1).take(3).find(|source| source.join("crates/cli/Cargo.toml").is_file())?;
    Some(Origin::Source(source.to_owned()))
}

fn is_unpacked(folder: &Path) -> bool {
    folder.join("man/agent-tracer.1").is_file() && folder.join("completions").is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a file system with these files, and the origin of a program in it. Folders end with a slash.
    fn origin(program: &str, files: &[&str]) -> (Origin, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for file in files.iter().chain(&[program]) {
            let path = root.join(file);
            if file.ends_with('/') {
                fs::create_dir_all(&path).expect("a folder");
                continue;
            }
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            let text = if file.ends_with(".crates.toml") {
                "[v1]\n\"agent-tracer-cli 0.2.0 (path+file:///x)\" = [\"agent-tracer\"]\n"
            } else {
                ""
            };
            crate::files::write_private(&path, text.as_bytes()).expect("a file");
        }
        (Origin::of(&root.join(program), root), root.to_owned())
    }

    #[test]
    fn each_way_is_known_by_its_place_and_its_marks() {
        let site = "lib/python3.11/site-packages/agent_tracer-0.2.0.dist-info/METADATA";
        let [home, pipx, uv, env] =
            ["home/.local", "home/pipx/venvs/agent-tracer", "home/uv/tools/agent-tracer", "env"];
        let in_home = format!("{home}/{site}");
        let npm = "usr/lib/node_modules/agent-tracer/node_modules/agent-tracer-linux-x64/bin/agent-tracer";
        let flat = "usr/lib/node_modules/agent-tracer-linux-x64/bin/agent-tracer";
        for (program, files, name, command) in [
            ("home/.local/bin/agent-tracer", vec![], "install.sh", None),
            ("opt/x/agent-tracer", vec!["opt/x/man/agent-tracer.1", "opt/x/completions/"], "a tarball", None),
            (npm, vec![], "npm", Some("npm install --global agent-tracer@latest")),
            (flat, vec![], "npm", Some("npm install --global agent-tracer@latest")),
            (
                "home/.local/share/pnpm/global/5/node_modules/x/bin/agent-tracer",
                vec![],
                "pnpm",
                Some("pnpm add --global agent-tracer@latest"),
            ),
            (
                "home/.bun/install/global/node_modules/x/bin/agent-tracer",
                vec!["home/.bun/install/global/package.json"],
                "bun",
                Some("bun add --global agent-tracer@latest"),
            ),
            (
                "home/shop/node_modules/agent-tracer-linux-x64/bin/agent-tracer",
                vec!["home/shop/package.json"],
                "npm",
                Some("cd '[R]/home/shop' && npm install agent-tracer@latest"),
            ),
            (
                "home/.npm/_npx/1/node_modules/x/bin/agent-tracer",
                vec![],
                "npx",
                Some("npx agent-tracer@latest"),
            ),
            (
                "home/.local/bin/agent-tracer",
                vec![in_home.as_str()],
                "pip",
                Some("'python3' -m pip install --upgrade agent-tracer"),
            ),
            (
                "env/bin/agent-tracer",
                vec!["env/bin/python3", &format!("{env}/{site}")],
                "pip",
                Some("'[R]/env/bin/python3' -m pip install --upgrade agent-tracer"),
            ),
            (
                &format!("{pipx}/bin/agent-tracer"),
                vec![&format!("{pipx}/{site}"), &format!("{pipx}/pipx_metadata.json")],
                "pipx",
                Some("pipx upgrade agent-tracer"),
            ),
            (
                &format!("{uv}/bin/agent-tracer"),
                vec![&format!("{uv}/{site}"), &format!("{uv}/uv-receipt.toml")],
                "uv",
                Some("uv tool upgrade agent-tracer"),
            ),
            (
                "home/.cache/uv/archive-v0/k/bin/agent-tracer",
                vec![&format!("home/.cache/uv/archive-v0/k/{site}")],
                "uvx",
                Some("uvx agent-tracer@latest"),
            ),
            (
                "usr/bin/agent-tracer",
                vec!["var/lib/dpkg/info/agent-tracer.list", "var/lib/rpm/"],
                "a .deb",
                Some("sudo apt-get install ./agent-tracer_VERSION_ARCHITECTURE.deb"),
            ),
            (
                "usr/bin/agent-tracer",
                vec!["usr/lib/sysimage/rpm/"],
                "an .rpm",
                Some("sudo rpm --upgrade agent-tracer-VERSION-1.ARCHITECTURE.rpm"),
            ),
            ("usr/bin/agent-tracer", vec![], "install.sh", None),
            (
                "brew/Cellar/agent-tracer/0.2.0/bin/agent-tracer",
                vec![],
                "Homebrew",
                Some("brew upgrade agent-tracer"),
            ),
            (
                "home/.cargo/bin/agent-tracer",
                vec!["home/.cargo/.crates.toml"],
                "cargo",
                Some(
                    "cargo install --path crates/cli && cargo install --path crates/hook    (in a newer source)",
                ),
            ),
            (
                "src/target/release/agent-tracer",
                vec!["src/crates/cli/Cargo.toml"],
                "a build from source",
                Some("cd '[R]/src' && git pull && make build"),
            ),
            (
                "src/dist/agent-tracer",
                vec!["src/crates/cli/Cargo.toml"],
                "a build from source",
                Some("cd '[R]/src' && git pull && make build"),
            ),
        ] {
            let (origin, root) = origin(program, &files);
            assert_eq!(origin.name(), name, "{program} {files:?}");
            let said = origin.command().map(|said| said.replace(&root.display().to_string(), "[R]"));
            assert_eq!(said.as_deref(), command, "{program} {files:?}");
        }
    }

    #[test]
    fn the_path_of_homebrew_that_stays_is_known() {
        let (origin, root) = origin("brew/Cellar/agent-tracer/0.2.0/bin/agent-tracer", &[]);
        assert_eq!(origin, Origin::Homebrew(root.join("brew/opt/agent-tracer/bin")));
    }
}
