//! Command lines in settings files: how we write ours, and how we recognise it again.
//!
//! Law: an entry is ours by the file name of its program, whatever the folder, the quoting or the version that wrote
//! it. So an installation that has moved is updated, and `uninstall` finds what an older version left.

use serde_json::Value;

/// The file name of the hook binary.
pub const HOOK_PROGRAM: &str = "agent-tracer-hook";

/// Returns `text` as one word for a POSIX shell.
///
/// Always in single quotes, also where none are needed: Codex keeps its trust by a hash of the command line, so the
/// spelling must not depend on what happens to be in the path.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Splits a shell command line into words, as far as quoting goes. Operators and expansions are left as they are:
/// this is for recognising our own entries, not for understanding other people's.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(characters.by_ref().take_while(|character| *character != '\''));
            }
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(character) = characters.next() {
                    match character {
                        '"' => break,
                        '\\' => match characters.next() {
                            // POSIX: within double quotes a backslash means itself before any other character.
                            Some(escaped @ ('"' | '\\' | '$' | '`')) => word.push(escaped),
                            Some(other) => word.extend(['\\', other]),
                            None => word.push('\\'),
                        },
                        other => word.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(characters.next()),
            space if space.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

/// Returns whether `program` names the hook binary, in whatever folder.
pub fn is_hook_program(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name == HOOK_PROGRAM || name.strip_suffix(".exe") == Some(HOOK_PROGRAM)
}

/// Describes what a command entry of a settings file runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The program, as written but without quotes.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Invocation {
    /// Reads an entry `{"command": …, "args": […]}`. With `args` the command is a program and no shell is involved;
    /// without, it is a shell command line.
    pub fn of(entry: &Value) -> Option<Invocation> {
        let command = entry.get("command")?.as_str()?;
        if let Some(arguments) = entry.get("args") {
            let arguments =
                arguments.as_array()?.iter().map(|argument| argument.as_str().unwrap_or_default());
            return Some(Invocation {
                program: command.to_owned(),
                arguments: arguments.map(str::to_owned).collect(),
            });
        }
        Invocation::of_shell(command)
    }

    /// Reads a shell command line. Assignments and an `exec` in front are not the program.
    pub fn of_shell(line: &str) -> Option<Invocation> {
        let mut words = words(line).into_iter().skip_while(|word| word == "exec" || is_assignment(word));
        Some(Invocation { program: words.next()?, arguments: words.collect() })
    }

    /// Returns whether this runs the hook binary.
    pub fn is_ours(&self) -> bool {
        is_hook_program(&self.program)
    }

    /// Returns the value of `--home`, if it is there.
    pub fn home(&self) -> Option<&str> {
        let mut arguments = self.arguments.iter();
        while let Some(argument) = arguments.next() {
            if argument == "--home" {
                return arguments.next().map(String::as_str);
            }
            // Never written by us, but people edit these lines.
            if let Some(home) = argument.strip_prefix("--home=") {
                return Some(home);
            }
        }
        None
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.chars().next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn our_own_quoting_is_read_back() {
        for path in ["/opt/a/agent-tracer-hook", "/home/o'neill/a b/agent-tracer-hook", "/x/\"$HOME\"/\\/é"]
        {
            assert_eq!(words(&format!("{} codex", quoted(path))), [path, "codex"]);
        }
    }

    #[test]
    fn words_follow_the_shells_quoting() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            ("   ", &[]),
            ("a  b\tc\n", &["a", "b", "c"]),
            (r#""a b" 'c d' e\ f"#, &["a b", "c d", "e f"]),
            (r#""a\"b\x" '' """#, &[r#"a"b\x"#, "", ""]),
            (r"'it'\''s'", &["it's"]),
            ("'never closed", &["never closed"]),
            ("\"never closed\\", &["never closed\\"]),
            ("trailing\\", &["trailing"]),
        ];
        for (line, expected) in cases {
            assert_eq!(words(line), *expected, "{line:?}");
        }
    }

    #[test]
    fn an_entry_is_ours_by_the_file_name_of_its_program() {
        let ours = [
            json!({"command": "/opt/agent-tracer/agent-tracer-hook", "args": ["claude"]}),
            json!({"command": "/opt/with space/agent-tracer-hook", "args": ["claude"]}),
            json!({"command": "agent-tracer-hook", "args": ["claude"]}),
            json!({"command": "agent-tracer-hook codex"}),
            json!({"command": "'/opt/with space/agent-tracer-hook' codex"}),
            json!({"command": "\"/opt/a b/agent-tracer-hook\" codex --home '/x y'"}),
            json!({"command": "AGENT_TRACER_HOME=/x exec /opt/agent-tracer-hook codex"}),
            json!({"command": "C:\\tools\\agent-tracer-hook.exe", "args": []}),
        ];
        for entry in ours {
            assert!(Invocation::of(&entry).is_some_and(|invocation| invocation.is_ours()), "{entry}");
        }
        let foreign = [
            json!({"command": "/opt/agent-tracer/agent-tracer-hook.sh"}),
            json!({"command": "/opt/my-agent-tracer-hook"}),
            json!({"command": "echo agent-tracer-hook"}),
            json!({"command": "/opt/agent-tracer-hook/run"}),
            json!({"command": "/opt/with space/agent-tracer-hook claude"}),
            json!({"command": "/opt/agent-tracer-hook claude", "args": []}),
            json!({"command": ""}),
            json!({"command": 7}),
            json!({"type": "http", "url": "http://127.0.0.1/agent-tracer-hook"}),
            json!("agent-tracer-hook"),
        ];
        for entry in foreign {
            assert!(!Invocation::of(&entry).is_some_and(|invocation| invocation.is_ours()), "{entry}");
        }
    }

    #[test]
    fn the_home_argument_is_found_in_both_spellings() {
        let home = |line: &str| Invocation::of_shell(line).and_then(|it| it.home().map(str::to_owned));
        assert_eq!(home("agent-tracer-hook codex --home '/x y'").as_deref(), Some("/x y"));
        assert_eq!(home("agent-tracer-hook codex --home=/x").as_deref(), Some("/x"));
        assert_eq!(home("agent-tracer-hook codex --home"), None);
        assert_eq!(home("agent-tracer-hook codex"), None);
    }

    proptest! {
        #[test]
        fn any_text_survives_quoting(text in "\\PC{0,40}") {
            prop_assert_eq!(words(&quoted(&text)), [text]);
        }

        #[test]
        fn any_line_is_split_without_a_panic(line in any::<String>()) {
            let _words = words(&line);
        }
    }
}
