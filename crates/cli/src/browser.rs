//! Opens a link in the user's browser, where there is one to see.
//!
//! Law: no terminal browser takes the terminal, no browser runs as root unless `$BROWSER` names a program, and the absence of
//! a browser is no failure: the link is printed either way.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::environment::Environment;
use crate::files;
use crate::signals;

/// Lists the reasons to open no browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoBrowser {
    /// The user said so.
    Unwanted,
    /// Standard error is no terminal, so that no person is there to see a window.
    Unattended,
    /// The process runs as root.
    Root,
    /// The shell is one over SSH, and has no display.
    Remote,
    /// There is no display.
    NoDisplay,
    /// There is no program that opens links.
    NoProgram,
    /// The program was not started.
    NotStarted,
}

impl NoBrowser {
    /// Returns the words that stand before the advice to open the link by hand; none where it was the user's wish.
    pub(crate) fn reason(self) -> Option<&'static str> {
        match self {
            NoBrowser::Unwanted | NoBrowser::Unattended => None,
            NoBrowser::Root => Some("no browser runs as root"),
            NoBrowser::Remote => Some("this shell is on another machine than your browser"),
            NoBrowser::NoDisplay => Some("this shell has no display"),
            NoBrowser::NoProgram => Some("no program to open links was found"),
            NoBrowser::NotStarted => Some("the browser did not start"),
        }
    }
}

/// The facts that decide.
struct Surroundings<'a> {
    is_macos: bool,
    is_root: bool,
    variable: &'a dyn Fn(&str) -> Option<OsString>,
    on_path: &'a dyn Fn(&str) -> Option<PathBuf>,
}

/// Opens a link.
pub(crate) fn open(link: &str, environment: &Environment) -> Result<(), NoBrowser> {
    let surroundings = Surroundings {
        is_macos: cfg!(target_os = "macos"),
        is_root: nix::unistd::geteuid().is_root(),
        variable: &|name| environment.variable(name),
        on_path: &|name| environment.all_on_path(name).into_iter().next(),
    };
    let program = choose(&surroundings)?;
    let mut command = Command::new(program);
    command.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C ends the server, not the browser.
    command.process_group(0);
    let mut child = signals::unheld(|| command.spawn()).map_err(|_| NoBrowser::NotStarted)?;
    // It may live as long as its windows; when it ends, no dead process is left.
    std::thread::spawn(move || child.wait());
    Ok(())
}

fn choose(surroundings: &Surroundings<'_>) -> Result<PathBuf, NoBrowser> {
    let variable = |name: &str| (surroundings.variable)(name);
    // Editors that run a shell on another machine put a program there that opens the link on this one.
    if let Some(named) = variable("BROWSER") {
        let path = Path::new(&named);
        let found = match named.to_str() {
            // `xdg-open` knows lists and templates; one word is what can be started as it is.
            Some(word) if !word.contains(['/', ':', '%', ' ']) => (surroundings.on_path)(word),
            Some(_) | None => (path.is_absolute() && files::is_executable(path)).then(|| path.to_owned()),
        };
        if let Some(found) = found {
            return Ok(found);
        }
    }
    if surroundings.is_root {
        return Err(NoBrowser::Root);
    }
    let is_remote = variable("SSH_CONNECTION").is_some() || variable("SSH_TTY").is_some();
    if surroundings.is_macos {
        // The display of a Mac belongs to whom sits there, not to whom logs in.
        return if is_remote {
            Err(NoBrowser::Remote)
        } else {
            (surroundings.on_path)("open").ok_or(NoBrowser::NoProgram)
        };
    }
    // Linux below Windows has no display of its own, and a program that asks Windows.
    if variable("WSL_DISTRO_NAME").is_some()
        && let Some(program) = (surroundings.on_path)("wslview")
    {
        return Ok(program);
    }
    if variable("DISPLAY").is_none() && variable("WAYLAND_DISPLAY").is_none() {
        return Err(if is_remote { NoBrowser::Remote } else { NoBrowser::NoDisplay });
    }
    (surroundings.on_path)("xdg-open").ok_or(NoBrowser::NoProgram)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chooses a browser for a system, a user, variables and programs on the path.
    fn chosen(
        system: &str,
        user: &str,
        variables: &[(&str, &str)],
        programs: &[&str],
    ) -> Result<String, NoBrowser> {
        let surroundings = Surroundings {
            is_macos: system == "macos",
            is_root: user == "root",
            variable: &|name| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
            },
            on_path: &|name| programs.contains(&name).then(|| PathBuf::from(name)),
        };
        choose(&surroundings).map(|program| program.display().to_string())
    }

    #[test]
    fn a_browser_is_opened_where_there_is_one_to_see() {
        let (display, ssh) = (("DISPLAY", ":0"), ("SSH_CONNECTION", "::1 1 ::1 22"));
        let both = ["xdg-open", "open", "wslview"];
        for (name, system, user, variables, programs, expected) in [
            ("a desktop", "linux", "dev", &[display][..], &both[..], Ok("xdg-open")),
            ("wayland", "linux", "dev", &[("WAYLAND_DISPLAY", "w")], &both, Ok("xdg-open")),
            ("a forwarded display", "linux", "dev", &[display, ssh], &both, Ok("xdg-open")),
            ("no display", "linux", "dev", &[], &both, Err(NoBrowser::NoDisplay)),
            ("over SSH", "linux", "dev", &[ssh], &both, Err(NoBrowser::Remote)),
            ("root over SSH", "linux", "root", &[ssh], &both, Err(NoBrowser::Root)),
            ("root with a display", "linux", "root", &[display], &both, Err(NoBrowser::Root)),
            ("nothing installed", "linux", "dev", &[display], &[], Err(NoBrowser::NoProgram)),
            ("a Mac", "macos", "dev", &[], &both, Ok("open")),
            ("a Mac over SSH", "macos", "dev", &[ssh], &both, Err(NoBrowser::Remote)),
            ("root on a Mac", "macos", "root", &[], &both, Err(NoBrowser::Root)),
            ("below Windows", "linux", "dev", &[("WSL_DISTRO_NAME", "Debian")], &both, Ok("wslview")),
            ("a named program", "linux", "root", &[ssh, ("BROWSER", "helper")], &["helper"], Ok("helper")),
            ("a named file", "linux", "root", &[ssh, ("BROWSER", "/bin/sh")], &[], Ok("/bin/sh")),
            ("a template", "linux", "dev", &[display, ("BROWSER", "w3m %s:lynx")], &both, Ok("xdg-open")),
            ("a missing one", "linux", "dev", &[("BROWSER", "/no/such")], &both, Err(NoBrowser::NoDisplay)),
        ] {
            let outcome = chosen(system, user, variables, programs);
            assert_eq!(outcome.as_deref(), expected.as_deref(), "{name}: {outcome:?}");
        }
    }
}
