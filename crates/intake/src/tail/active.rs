//! Recently changed files, which are the most likely to change again.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent_tracer_agents::sessions::SessionFile;

use super::found;
use crate::files::FoundFile;

/// The most files that are checked.
const MOST: usize = 64;
/// The time for which a file counts as active.
const LATELY: Duration = Duration::from_secs(3600);

#[derive(Default)]
pub(super) struct ActiveFiles {
    /// Ordered by their last change, the oldest first.
    files: Vec<(PathBuf, SessionFile, Instant)>,
}

impl ActiveFiles {
    pub(super) fn touch(&mut self, path: &Path, file: &SessionFile) {
        self.forget(path);
        if self.files.len() >= MOST {
            self.files.remove(0);
        }
        self.files.push((path.to_owned(), file.clone(), Instant::now()));
    }

    pub(super) fn forget(&mut self, path: &Path) {
        self.files.retain(|(known, ..)| known != path);
    }

    /// Returns the files that have changed.
    pub(super) fn changed(&mut self, is_news: impl Fn(&FoundFile) -> bool) -> Vec<PathBuf> {
        self.files.retain(|(_, _, at)| at.elapsed() < LATELY);
        let looked = self.files.iter().filter_map(|(path, file, _)| found(path, file));
        looked.filter(|found| is_news(found)).map(|found| found.path).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_are_checked() {
        let folder = tempfile::tempdir().unwrap();
        let mut active = ActiveFiles::default();
        let name = "rollout-2026-11-15T19-33-11-01a1e0b3-0708-7a91-bca0-aa31b76b9484.jsonl";
        let file = agent_tracer_agents::sessions::recognise(None, Path::new(name)).unwrap();
        for number in 0..MOST + 10 {
            let path = folder.path().join(number.to_string());
            std::fs::File::create(&path).unwrap();
            active.touch(&path, &file);
            active.touch(&path, &file);
        }
        let changed = active.changed(|_| true);
        assert_eq!(changed.len(), MOST);
        assert_eq!(changed[0], folder.path().join("10"));
        active.forget(&changed[0]);
        assert_eq!(active.changed(|_| true).len(), MOST - 1);
        assert_eq!(active.changed(|_| false), Vec::<PathBuf>::new());
    }
}
