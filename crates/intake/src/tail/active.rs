//! Recently changed files, which are the most likely to change again.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::found;
use crate::files::{Found, Kind};

/// The most files that are checked.
const MOST: usize = 64;
/// The time for which a file counts as active.
const LATELY: Duration = Duration::from_secs(3600);

#[derive(Default)]
pub(super) struct Active {
    /// Ordered by their last change, the oldest first.
    files: Vec<(PathBuf, Kind, Instant)>,
}

impl Active {
    pub(super) fn touch(&mut self, path: &Path, kind: &Kind) {
        self.forget(path);
        if self.files.len() >= MOST {
            self.files.remove(0);
        }
        self.files.push((path.to_owned(), kind.clone(), Instant::now()));
    }

    pub(super) fn forget(&mut self, path: &Path) {
        self.files.retain(|(known, ..)| known != path);
    }

    /// Returns the files that have changed.
    pub(super) fn changed(&mut self, is_news: impl Fn(&Found) -> bool) -> Vec<PathBuf> {
        self.files.retain(|(_, _, at)| at.elapsed() < LATELY);
        let looked = self.files.iter().filter_map(|(path, kind, _)| found(path, kind));
        looked.filter(|found| is_news(found)).map(|found| found.path).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_are_checked() {
        let folder = tempfile::tempdir().unwrap();
        let mut active = Active::default();
        let kind = Kind::Rollout { compressed: false };
        for number in 0..MOST + 10 {
            let path = folder.path().join(number.to_string());
            std::fs::File::create(&path).unwrap();
            active.touch(&path, &kind);
            active.touch(&path, &kind);
        }
        let changed = active.changed(|_| true);
        assert_eq!(changed.len(), MOST);
        assert_eq!(changed[0], folder.path().join("10"));
        active.forget(&changed[0]);
        assert_eq!(active.changed(|_| true).len(), MOST - 1);
        assert_eq!(active.changed(|_| false), Vec::<PathBuf>::new());
    }
}
