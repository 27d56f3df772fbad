//! Skills: how a call shows that one was activated.
//!
//! A skill is activated by the tool that names it, or by reading its file: `**/skills/**/SKILL.md`, or a slash
//! command's `**/commands/**/*.md`. Either way the call's metadata holds `skillName`.

use agent_tracer_event::{Metadata, attributes};
use serde_json::Value;

use crate::text;

/// Describes how a skill was activated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// By the tool that names it.
    Tool,
    /// By reading its file.
    Read,
}

impl Activation {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Read => "read",
        }
    }
}

/// Writes that a skill was activated.
pub fn mark(metadata: &mut Metadata, skill: &str, how: Activation) {
    metadata.insert(attributes::SKILL_NAME.to_owned(), Value::from(text::line(skill, 200)));
    metadata.insert(attributes::SKILL_ACTIVATION.to_owned(), Value::from(how.as_str()));
}

/// Returns the name of the skill or command that a file holds.
///
/// A skill is called after its folder, a command after its path below `commands`, with `:` between the parts as the
/// client writes it.
#[must_use]
pub fn name_of_file(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect();
    let (file, folders) = parts.split_last()?;
    if *file == "SKILL.md" {
        // The last one: the project itself may lie below a folder of that name.
        let below = folders.iter().rposition(|folder| *folder == "skills")?;
        let folder = folders.get(below + 1..)?.last().or_else(|| folders.get(below))?;
        return Some((*folder).to_owned());
    }
    let stem = file.strip_suffix(".md").filter(|stem| !stem.is_empty())?;
    let below = folders.iter().rposition(|folder| *folder == "commands")?;
    let mut name: Vec<&str> = folders.get(below + 1..)?.to_vec();
    name.push(stem);
    Some(name.join(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_skills_and_commands_have_names() {
        for (path, name) in [
            ("/home/dev/project/.claude/skills/greet/SKILL.md", Some("greet")),
            (".claude/skills/SKILL.md", Some("skills")),
            ("/home/dev/.codex/skills/team/deploy/SKILL.md", Some("deploy")),
            ("C:\\work\\.claude\\skills\\greet\\SKILL.md", Some("greet")),
            ("/p/.claude/commands/shout.md", Some("shout")),
            ("/p/.claude/commands/git/fix up.md", Some("git:fix up")),
            ("/p/skills/greet/README.md", None),
            ("/p/skills/greet/skill.md", None),
            ("/p/SKILL.md", None),
            ("/p/my-skills/greet/SKILL.md", None),
            ("/p/commands/.md", None),
            ("/p/commands", None),
            ("/p/commands.md", None),
            ("", None),
        ] {
            assert_eq!(name_of_file(path).as_deref(), name, "{path}");
        }
    }
}
