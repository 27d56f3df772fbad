//! The agent of launchd, as a property list.

use super::{Definition, MADE, MARK};

/// The name by which launchd knows it.
pub(super) const LABEL: &str = "local.agent-tracer";
/// The files that a server makes are for its user alone: 0077, which a property list can only say in decimal digits.
const UMASK: u32 = 0o077;

/// Returns the property list for a server that logs to a file.
pub(super) fn text(definition: &Definition, log: &str) -> String {
    let mut comment =
        format!("{MARK}, which writes it anew;\n     `agent-tracer service remove` removes it.");
    // Two dashes would end the comment.
    let made = definition.made_folder.as_ref().map(|folder| folder.display().to_string());
    if let Some(made) = made.filter(|made| !made.contains("--")) {
        comment.push_str(&format!("\n{MADE}{made}\n"));
    }
    let words = std::iter::once(&definition.program).chain(&definition.arguments);
    let words: String = words.map(|word| format!("    <string>{}</string>\n", escaped(word))).collect();
    let variables: String = definition
        .variables
        .iter()
        .map(|(name, value)| {
            format!("    <key>{}</key>\n    <string>{}</string>\n", escaped(name), escaped(value))
        })
        .collect();
    let variables = if variables.is_empty() {
        String::new()
    } else {
        format!("  <key>EnvironmentVariables</key>\n  <dict>\n{variables}  </dict>\n")
    };
    // Started again after a crash only: a server that was stopped on purpose stays stopped.
    let log = escaped(log);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <!-- {comment} -->\n\
         <plist version=\"1.0\">\n<dict>\n  \
         <key>Label</key>\n  <string>{LABEL}</string>\n  \
         <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n{variables}  \
         <key>RunAtLoad</key>\n  <true/>\n  \
         <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n  \
         <key>ExitTimeOut</key>\n  <integer>20</integer>\n  \
         <key>Umask</key>\n  <integer>{UMASK}</integer>\n  \
         <key>StandardErrorPath</key>\n  <string>{log}</string>\n\
         </dict>\n</plist>\n"
    )
}

/// Returns the program that a property list starts.
pub(super) fn program_of(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("<key>ProgramArguments</key>")?;
    let (_, rest) = rest.split_once("<string>")?;
    let (program, _) = rest.split_once("</string>")?;
    Some(program.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::{Value, json};

    use super::*;
    use crate::service::{is_ours, made_folder};

    /// Reads the value at the beginning of a property list's text, and what follows it. Anything else panics.
    fn value(text: &str) -> (Value, &str) {
        let text = text.trim_start();
        let within = |name: &str| {
            let rest = text.strip_prefix(&format!("<{name}>"))?;
            rest.split_once(&format!("</{name}>"))
        };
        let plain = |text: &str| {
            assert!(!text.contains('<') && !text.contains('>'), "{text}");
            text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        };
        if let Some(rest) = text.strip_prefix("<true/>") {
            return (json!(true), rest);
        }
        if let Some(rest) = text.strip_prefix("<false/>") {
            return (json!(false), rest);
        }
        if let Some((text, rest)) = within("string") {
            return (json!(plain(text)), rest);
        }
        if let Some((number, rest)) = within("integer") {
            return (json!(number.parse::<u64>().expect("a number")), rest);
        }
        if let Some(mut rest) = text.strip_prefix("<array>") {
            let mut items = Vec::new();
            while !rest.trim_start().starts_with("</array>") {
                let (item, after) = value(rest);
                items.push(item);
                rest = after;
            }
            return (Value::Array(items), rest.trim_start().strip_prefix("</array>").expect("an end"));
        }
        let mut rest = text.strip_prefix("<dict>").unwrap_or_else(|| panic!("no value: {text}"));
        let mut members = serde_json::Map::new();
        while let Some(after) = rest.trim_start().strip_prefix("<key>") {
            let (key, after) = after.split_once("</key>").expect("a key");
            let (member, after) = value(after);
            assert!(members.insert(plain(key), member).is_none(), "{key} twice");
            rest = after;
        }
        (Value::Object(members), rest.trim_start().strip_prefix("</dict>").expect("an end"))
    }

    fn definition() -> Definition {
        Definition {
            program: "/Users/a & b/<x>/agent-tracer".to_owned(),
            arguments: vec!["serve".to_owned(), "--listen".to_owned(), "127.0.0.1:4747".to_owned()],
            variables: vec![("AGENT_HOME".to_owned(), "/x y".to_owned())],
            made_folder: Some(PathBuf::from("/Users/dev/Library/LaunchAgents")),
        }
    }

    #[test]
    fn the_list_says_what_launchd_has_to_start() {
        let text = text(&definition(), "/Users/dev/Library/Logs/agent-tracer.log");
        let (head, body) = text.split_once("<plist version=\"1.0\">").expect("a list");
        let (comment, _) =
            head.split_once("<!-- ").expect("a comment").1.split_once(" -->").expect("its end");
        assert!(!comment.contains("--"), "{comment}");
        let (read, rest) = value(body);
        assert_eq!(rest.trim(), "</plist>");
        assert_eq!(
            read,
            json!({
                "Label": "local.agent-tracer",
                "ProgramArguments": ["/Users/a & b/<x>/agent-tracer", "serve", "--listen", "127.0.0.1:4747"],
                "EnvironmentVariables": {"AGENT_HOME": "/x y"},
                "RunAtLoad": true,
                "KeepAlive": {"SuccessfulExit": false},
                "ExitTimeOut": 20,
                "Umask": 63,
                "StandardErrorPath": "/Users/dev/Library/Logs/agent-tracer.log",
            })
        );
        assert!(is_ours(&text));
        assert_eq!(made_folder(&text), Some(PathBuf::from("/Users/dev/Library/LaunchAgents")));
        assert_eq!(program_of(&text), Some(definition().program));
    }
}
