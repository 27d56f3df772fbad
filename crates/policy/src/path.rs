//! Paths as text: made absolute and tidy without looking at any disk.
//!
//! A link can make two names of one file; only the caller's disk could tell, and this crate has none. Rules about paths
//! are therefore about names.

/// Makes a path absolute as seen from `cwd`, with `~` as `home`, and without `.`, `..` and doubled slashes. The home of
/// another user is taken to lie beside the own one, that of `root` at `/root`.
#[must_use]
pub(crate) fn absolute(path: &str, cwd: Option<&str>, home: Option<&str>) -> String {
    let expanded = match (path.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_owned(),
        (Some(rest), Some(home)) if rest.starts_with('/') => format!("{home}{rest}"),
        // Without a look into the list of users, which is the caller's disk. A wrong guess names a file that no rule
        // is about; leaving the tilde would make `~root/.ssh` a file of the project.
        (Some(rest), home) if names_a_user(rest) => match rest.strip_prefix("root") {
            Some(inside) if inside.is_empty() || inside.starts_with('/') => format!("/root{inside}"),
            _ => format!(
                "{}/{rest}",
                home.and_then(|home| home.rsplit_once('/')).map_or("", |(folder, _)| folder)
            ),
        },
        _ => path.to_owned(),
    };
    let whole = match cwd {
        Some(cwd) if !expanded.starts_with('/') => format!("{cwd}/{expanded}"),
        _ => expanded,
    };
    tidy(&whole)
}

/// Returns whether the name of a user stands behind a tilde: `~root`, `~bob/x`, and not `~+` or a file such as `~x~`.
fn names_a_user(rest: &str) -> bool {
    let name = rest.split('/').next().unwrap_or_default();
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Removes `.`, `..` and doubled slashes. What `..` would leave the root for stays at the root.
#[must_use]
pub(crate) fn tidy(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&"..") | None if !rooted => parts.push(".."),
                Some(_) => {
                    parts.pop();
                }
                None => {}
            },
            name => parts.push(name),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// Returns the relative name of a path below a folder: `None` if it is not below it, an empty text if it is the folder itself.
#[must_use]
pub(crate) fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let folder = folder.trim_end_matches('/');
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_absolute_and_tidy() {
        for (path, expected) in [
            ("src/main.rs", "/code/app/src/main.rs"),
            ("./src//../Cargo.toml", "/code/app/Cargo.toml"),
            ("../../../../etc/passwd", "/etc/passwd"),
            ("/a/./b/..", "/a"),
            ("/", "/"),
            ("", "/code/app"),
            ("~", "/home/dev"),
            ("~/x", "/home/dev/x"),
            ("~other/x", "/home/other/x"),
            ("~root", "/root"),
            ("~root/.ssh", "/root/.ssh"),
            ("~rooted/x", "/home/rooted/x"),
            ("~x~", "/code/app/~x~"),
        ] {
            assert_eq!(absolute(path, Some("/code/app"), Some("/home/dev")), expected, "{path}");
        }
        assert_eq!(absolute("a/../..", None, None), "..");
        assert_eq!(absolute("../../a", None, None), "../../a");
        assert_eq!(absolute("a/..", None, None), ".");
    }

    #[test]
    fn below_is_by_whole_names() {
        assert_eq!(below("/a/b/c", "/a/b"), Some("c"));
        assert_eq!(below("/a/b", "/a/b/"), Some(""));
        assert_eq!(below("/a/bc", "/a/b"), None);
        assert_eq!(below("/a", "/"), Some("a"));
    }
}
