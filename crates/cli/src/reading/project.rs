//! Projects by what people call them: a folder, any folder inside, or the last part of the path.

use std::collections::BTreeSet;
use std::path::Path;

use agent_tracer_ledger::{MAX_LIMIT, Paging, Range, TaskFilter, UsageBy, Utc};

use super::{Reading, refused};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::one_line;

/// Projects that are named if none fits.
const NAMED: usize = 8;

impl Reading {
    /// The project that is meant, as the ledger calls it.
    pub(crate) fn project(
        &self,
        text: Option<&str>,
        environment: &Environment,
    ) -> Result<Option<String>, Failure> {
        let (Some(text), Some(_)) = (text, self.store()) else { return Ok(text.map(str::to_owned)) };
        let known = self.projects()?;
        let here = environment.absolute(Path::new(text));
        let here = here.canonicalize().unwrap_or(here);
        choose(text, &here.to_string_lossy(), &known).map(Some)
    }

    /// Every project of which something was recorded.
    fn projects(&self) -> Result<BTreeSet<String>, Failure> {
        let mut known = BTreeSet::new();
        let Some(store) = self.store() else { return Ok(known) };
        let spent = self.list(None, None, |store, paging| {
            store.usage(&Range { paging, ..Range::default() }, UsageBy::Project, &Utc)
        })?;
        known.extend(spent.items.into_iter().map(|bucket| bucket.key));
        // Tasks that have spent nothing yet have a project too; those are among the newest.
        let paging = Paging { limit: MAX_LIMIT, ..Paging::default() };
        let newest = store.tasks(self.now, &TaskFilter { paging, ..TaskFilter::default() });
        known.extend(newest.map_err(refused)?.items.into_iter().map(|task| task.project));
        known.retain(|project| !project.is_empty());
        Ok(known)
    }
}

/// Chooses among the known projects: the very name, the folder around a path, or the only one that ends so.
fn choose(text: &str, path: &str, known: &BTreeSet<String>) -> Result<String, Failure> {
    if known.contains(text) {
        return Ok(text.to_owned());
    }
    let name = text.trim_end_matches('/');
    let named: Vec<&String> = known.iter().filter(|project| is_end(project, name)).collect();
    if !name.starts_with(['.', '/', '~'])
        && let [only] = named.as_slice()
    {
        return Ok((*only).clone());
    }
    let around = known.iter().filter(|project| is_in(path, project)).max_by_key(|project| project.len());
    if let Some(project) = around {
        return Ok(project.clone());
    }
    let failure = if named.len() > 1 {
        Failure::usage(format!("more than one project matches `{}`", one_line(text)))
    } else {
        Failure::usage(format!("no project matches `{}`", one_line(text)))
    };
    let shown: Vec<&String> = if named.len() > 1 { named } else { known.iter().collect() };
    let list: Vec<String> =
        shown.iter().take(NAMED).map(|project| format!("`{}`", one_line(project))).collect();
    let more = if shown.len() > NAMED { ", …" } else { "" };
    Err(if list.is_empty() { failure } else { failure.hint(format!("known: {}{more}", list.join(", "))) })
}

/// Returns whether a path ends with these whole parts.
fn is_end(project: &str, name: &str) -> bool {
    !name.is_empty() && project.strip_suffix(name).is_some_and(|before| before.ends_with('/'))
}

/// Returns whether a path is a folder or lies in it.
fn is_in(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder.trim_end_matches('/'))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(text: &str, path: &str) -> Result<String, String> {
        let known = ["/home/dev/shop", "/home/dev/shop/vendor", "/srv/api", "/old/api", "named"];
        let known = known.into_iter().map(str::to_owned).collect();
        choose(text, path, &known).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_project_is_known_by_name_by_folder_and_by_any_folder_inside() {
        assert_eq!(chosen("named", "/x/named").as_deref(), Ok("named"));
        assert_eq!(chosen("/srv/api", "/srv/api").as_deref(), Ok("/srv/api"));
        assert_eq!(chosen("shop", "/x/shop").as_deref(), Ok("/home/dev/shop"));
        assert_eq!(chosen("dev/shop", "/x/dev/shop").as_deref(), Ok("/home/dev/shop"));
        assert_eq!(chosen(".", "/home/dev/shop/src").as_deref(), Ok("/home/dev/shop"));
        assert_eq!(chosen(".", "/home/dev/shop/vendor/x").as_deref(), Ok("/home/dev/shop/vendor"));
    }

    #[test]
    fn what_is_unclear_or_unknown_is_said_with_what_is_known() {
        let unclear = chosen("api", "/x/api").unwrap_err();
        assert!(unclear.contains("more than one") && unclear.contains("`/old/api`, `/srv/api`"), "{unclear}");
        let unknown = chosen("hop", "/home/dev/hop").unwrap_err();
        assert!(unknown.contains("no project matches") && unknown.contains("`/home/dev/shop`"), "{unknown}");
        assert!(chosen(".", "/home/dev/shopping").is_err());
        assert!(chosen("", "/").is_err());
    }
}
