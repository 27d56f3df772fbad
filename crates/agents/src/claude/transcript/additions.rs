//! Sizes of what the client puts into the context beside the conversation: instructions, listings, files, reminders.
//!
//! The texts are not kept. They stand in attachments, each once, before the response that reads them first, so that
//! response lists them: source, name or path, and bytes. Newer clients write beside an attachment what the model is
//! given for it (`rendered`); of older ones the members that hold texts are measured.

use serde_json::{Map, Value};

use super::scan::{Cursor, Read};
use super::text::Text;
use super::writer::{RowWriter, absolute_path, put};

/// The most additions that one response lists. What is beyond them is summed without a name.
const MOST: usize = 96;
/// The most skills of one listing that are measured by themselves.
const SKILLS: usize = 48;

/// One thing that was put into the context: its source, what it is called, and its size.
#[derive(Debug, Default, PartialEq, Eq)]
struct Addition {
    source: &'static str,
    name: String,
    path: String,
    bytes: u64,
}

/// Measures an attachment for the next response.
pub(super) fn measure(writer: &mut RowWriter<'_, '_>) {
    let Some(attachment) = writer.row.attachment else { return };
    let rendered = writer.line.and_then(|line| rendered(line).ok()).flatten();
    let Ok(additions) = additions(attachment, rendered) else { return };
    for addition in additions.into_iter().filter(|addition| addition.bytes > 0) {
        let mut item = Map::new();
        put(&mut item, "source", addition.source);
        put(&mut item, "name", writer.rules.code(&addition.name));
        put(&mut item, "path", absolute_path(writer.rules, &addition.path));
        put(&mut item, "bytes", addition.bytes);
        add(&mut writer.lane().additions, item);
    }
}

fn add(additions: &mut Vec<Value>, mut item: Map<String, Value>) {
    if additions.len() < MOST {
        additions.push(Value::Object(item));
        return;
    }
    if let Some(Value::Object(last)) = additions.last_mut() {
        let bytes = |item: &Map<String, Value>| item.get("bytes").and_then(Value::as_u64).unwrap_or(0);
        item.insert("bytes".to_owned(), Value::from(bytes(last).saturating_add(bytes(&item))));
        item.retain(|name, _| name == "bytes");
        item.insert("source".to_owned(), Value::from("attachment"));
        *last = item;
    }
}

/// Returns the bytes of what the model is given for an attachment; `None` if the row does not say.
fn rendered(line: &[u8]) -> Read<Option<u64>> {
    let mut bytes = None;
    Cursor::new(line).members(|cursor, name| {
        if &*name.name() != b"rendered" {
            return cursor.skip();
        }
        let mut sum = 0_u64;
        cursor.items(|cursor| {
            cursor.members(|cursor, name| {
                if &*name.name() == b"content" {
                    sum = sum.saturating_add(text_bytes(cursor)?);
                    return Ok(());
                }
                cursor.skip()
            })
        })?;
        bytes = Some(sum);
        Ok(())
    })?;
    Ok(bytes)
}

/// Measures a text, or the spelling of anything else.
fn text_bytes(cursor: &mut Cursor<'_>) -> Read<u64> {
    if cursor.peek() == Some(b'"') {
        return Ok(cursor.string()?.decode().len() as u64);
    }
    Ok(cursor.raw()?.len() as u64)
}

/// The members of an attachment that are looked at.
#[derive(Default)]
struct Members<'a> {
    kind: String,
    path: Text<'a>,
    text: Text<'a>,
    content: u64,
    files: Vec<Addition>,
    names: Vec<String>,
}

fn additions(attachment: &[u8], rendered: Option<u64>) -> Read<Vec<Addition>> {
    let members = members(attachment)?;
    let whole = rendered.unwrap_or(members.content);
    let one = |source: &'static str, name: &str| {
        vec![Addition {
            source,
            name: name.to_owned(),
            path: members.path.decode().into_owned(),
            bytes: whole,
        }]
    };
    Ok(match members.kind.as_str() {
        // A snapshot of the system prompt is no addition: the request says how large that is.
        "" | "prompt_snapshot" => Vec::new(),
        "instructions" => members.files,
        "nested_memory" => one("instructions", ""),
        "skill_listing" | "dynamic_skill" => skills(&members, whole),
        "deferred_tools_delta" => one("tools", ""),
        kind => one("attachment", kind),
    })
}

fn members(attachment: &[u8]) -> Read<Members<'_>> {
    let mut found = Members::default();
    Cursor::new(attachment).members(|cursor, name| match &*name.name() {
        b"type" => {
            found.kind = cursor.text()?.unwrap_or_default().head(60).into_owned();
            Ok(())
        }
        b"path" | b"filename" => {
            found.path = cursor.text()?.unwrap_or_default();
            Ok(())
        }
        b"content" | b"snippet" | b"prompt" => {
            if cursor.peek() == Some(b'"') {
                found.text = cursor.string()?;
                found.content = found.content.saturating_add(found.text.decode().len() as u64);
            } else {
                found.content = found.content.saturating_add(cursor.raw()?.len() as u64);
            }
            Ok(())
        }
        b"files" => cursor.items(|cursor| {
            let mut file = Addition { source: "instructions", ..Addition::default() };
            cursor.members(|cursor, name| match &*name.name() {
                b"path" => {
                    file.path = cursor.text()?.unwrap_or_default().decode().into_owned();
                    Ok(())
                }
                b"content" => {
                    file.bytes = text_bytes(cursor)?;
                    Ok(())
                }
                _ => cursor.skip(),
            })?;
            found.files.push(file);
            Ok(())
        }),
        b"names" => cursor.items(|cursor| {
            found.names.push(cursor.text()?.unwrap_or_default().head(200).into_owned());
            Ok(())
        }),
        _ => cursor.skip(),
    })?;
    Ok(found)
}

/// Divides a listing of skills among them, by the lines of each.
fn skills(members: &Members<'_>, whole: u64) -> Vec<Addition> {
    let text = members.text.decode();
    let mut found: Vec<Addition> = Vec::new();
    let mut rest = whole;
    for line in text.split_inclusive('\n') {
        let named =
            line.strip_prefix("- ").and_then(|line| line.split_once(':')).map(|(name, _)| name.trim());
        // Never more than the whole: the parts of a listing must add up to what the model was given.
        let bytes = (line.len() as u64).min(rest);
        match named.filter(|name| members.names.iter().any(|known| known == name)) {
            Some(name) if found.len() < SKILLS => {
                found.push(Addition { source: "skill", name: name.to_owned(), bytes, ..Addition::default() });
            }
            Some(_) => continue,
            // The lines that follow a name are of the same skill.
            None => match found.last_mut() {
                Some(last) => last.bytes += bytes,
                None => continue,
            },
        }
        rest -= bytes;
    }
    found.push(Addition { source: "skill", bytes: rest, ..Addition::default() });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(attachment: &str, rendered: Option<u64>) -> Vec<(&'static str, String, String, u64)> {
        let additions = additions(attachment.as_bytes(), rendered).unwrap().into_iter();
        additions.map(|one| (one.source, one.name, one.path, one.bytes)).collect()
    }

    #[test]
    fn instructions_are_measured_by_file() {
        let attachment = r##"{"type":"instructions","files":[{"path":"/a/CLAUDE.md","type":"User","content":"# A\n"},{"path":"/b","content":""}]}"##;
        assert_eq!(
            sizes(attachment, Some(99)),
            [
                ("instructions", String::new(), "/a/CLAUDE.md".to_owned(), 4),
                ("instructions", String::new(), "/b".to_owned(), 0)
            ]
        );
    }

    #[test]
    fn listing_of_skills_is_divided_by_its_lines() {
        let attachment = r#"{"type":"skill_listing","content":"Head\n- greet: says hi\n  to all\n- shout: loud\n","names":["greet","shout"]}"#;
        let of = |name: &str, bytes| ("skill", name.to_owned(), String::new(), bytes);
        assert_eq!(sizes(attachment, Some(60)), [of("greet", 26), of("shout", 14), of("", 20)]);
        assert_eq!(sizes(attachment, Some(30)), [of("greet", 26), of("shout", 4), of("", 0)]);
    }

    #[test]
    fn other_attachments_have_the_size_that_the_model_is_given() {
        let attachment = r#"{"type":"file","filename":"/x.rs","content":{"file":{"content":"abc"}}}"#;
        assert_eq!(sizes(attachment, Some(7)), [("attachment", "file".to_owned(), "/x.rs".to_owned(), 7)]);
        assert_eq!(sizes(attachment, None)[0].3, 26);
        assert_eq!(sizes(r#"{"type":"prompt_snapshot","systemPrompt":["x"]}"#, None), []);
        let line = br#"{"rendered":[{"content":"a\n"},{"content":"b"}],"type":"attachment"}"#;
        assert_eq!(rendered(line), Ok(Some(3)));
        assert_eq!(rendered(b"{}"), Ok(None));
    }
}
