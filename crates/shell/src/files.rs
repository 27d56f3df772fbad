//! The files that a command touches, as far as its words name them.

use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::draft::{Access, Aim, Draft};
use crate::model::TargetType;
use crate::path::tidy;

/// Most paths of one kind, and longest path, in characters.
const MAX_PATHS: usize = 100;
const MAX_LENGTH: usize = 1024;

/// Files by what is done to them. Only paths on this machine that the command line names in full: no patterns, no
/// variables, nothing inside a container or on another host. Absolute if the caller said where the command starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Files {
    /// Content is read, or the file is run.
    pub read: Vec<String>,
    /// Content or attributes are written.
    pub written: Vec<String>,
    /// The file or directory is taken away or moved.
    pub deleted: Vec<String>,
}

impl Files {
    /// Returns every path once: written, then deleted, then read.
    #[must_use]
    pub fn all(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = Vec::new();
        for path in self.written.iter().chain(&self.deleted).chain(&self.read) {
            if !paths.contains(&path.as_str()) {
                paths.push(path);
            }
        }
        paths
    }

    pub(crate) fn of(steps: &[Draft], context: &Context<'_>) -> Self {
        let mut files = Self::default();
        for step in steps {
            step.each_simple(&mut |simple| {
                for aim in &simple.aims {
                    files.add(aim, context);
                }
            });
        }
        files
    }

    fn add(&mut self, aim: &Aim, context: &Context<'_>) {
        let list = match aim.access {
            Access::Read | Access::Run => &mut self.read,
            Access::Write => &mut self.written,
            Access::Delete => &mut self.deleted,
            Access::Look | Access::Mention => return,
        };
        let is_path = matches!(aim.kind, TargetType::File | TargetType::Path | TargetType::Directory);
        // A pattern covers files that cannot be named without the disk, so it is not a path of the call.
        if !aim.local || !is_path || aim.value.contains(['*', '?', '$', '`']) || list.len() >= MAX_PATHS {
            return;
        }
        // A directory that is read or written into is not itself read or written; one that is deleted is.
        if aim.kind == TargetType::Directory && aim.access != Access::Delete {
            return;
        }
        let path = resolve(&aim.value, context);
        if path.chars().count() <= MAX_LENGTH && !list.contains(&path) {
            list.push(path);
        }
    }
}

fn resolve(path: &str, context: &Context<'_>) -> String {
    // The home is the caller's to know: without it the path stays as it was written.
    let path = match (path.strip_prefix("~/"), context.home) {
        (Some(rest), Some(home)) => format!("{home}/{rest}"),
        _ => path.to_owned(),
    };
    match context.cwd {
        Some(cwd) if !crate::path::is_anchored(&path) => tidy(&format!("{cwd}/{path}")),
        _ => tidy(&path),
    }
}
