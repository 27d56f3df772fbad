//! Commits that a command makes: known by its analysis, named by what git prints.

use serde_json::Value;

/// The most commits of one command that are listed.
const COMMITS: usize = 16;

/// Returns `true` if a step of an analysed command is `git commit`.
#[must_use]
pub fn makes_commits(analysis: &Value) -> bool {
    let steps = analysis.get("steps").and_then(Value::as_array).into_iter().flatten();
    let is = |step: &Value, name: &str, word: &str| step.get(name).and_then(Value::as_str) == Some(word);
    steps.into_iter().any(|step| is(step, "commandName", "git") && is(step, "subcommand", "commit"))
}

/// Returns the hashes in lines such as `[main 1a2b3c4] message` and `[main (root-commit) 1a2b3c4] message`.
#[must_use]
pub fn hashes(output: &str) -> Vec<String> {
    let hash = |line: &str| {
        let (inside, _) = line.strip_prefix('[')?.split_once(']')?;
        let (_, hash) = inside.rsplit_once(' ')?;
        let is_hash = (7..=64).contains(&hash.len())
            && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_hash.then(|| hash.to_owned())
    };
    output.lines().filter_map(hash).take(COMMITS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hashes_stand_in_brackets_behind_the_branch() {
        let output = "[main (root-commit) 1a2b3c4] first\n 1 file changed\n[fix/x 00ff00ff00] second\n";
        assert_eq!(hashes(output), ["1a2b3c4", "00ff00ff00"]);
        assert_eq!(hashes("[1a2b3c4] no branch\n[main 1A2B3C4] x\n[info] 1a2b3c4\n[main 12]"), [""; 0]);
    }

    #[test]
    fn only_git_commit_makes_commits() {
        let of = |subcommand: &str| json!({"steps": [{"commandName": "git", "subcommand": subcommand}]});
        assert!(makes_commits(&of("commit")));
        assert!(!makes_commits(&of("status")));
        assert!(!makes_commits(&json!({})));
    }
}
