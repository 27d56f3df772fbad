//! Writes strings that are no result and no file: prompts, commands, messages, names, and all others.

use super::contents::{PATCH_HEAD, is_encoded_file, is_patch, lines, may_be_patch};
use super::tally::Tally;
use super::walk::{PayloadPass, Zone};
use super::write;
use crate::classify::Tool;
use crate::config::Level;
use crate::fault::Fault;
use crate::keep::{self, Key};
use crate::mask::{self, NOTIFICATION};
use crate::swar;
use crate::text::Text;

/// A string without a meaning that is longer than this is reduced.
const SHORT: usize = 2048;

/// Commands and texts that people wrote are kept up to this length.
const LONG: usize = 256 * 1024;

/// An encoded file is reduced from this length on.
const ENCODED: usize = 256;

/// Characters of a compaction summary that are kept.
const SUMMARY: usize = 1000;

/// The bytes of a summary that are masked before it is cut.
const SUMMARY_SEARCHED: usize = 16 * 1024;

/// Parts of a task notification that contain the result of the task.
const RESULTS: [&[u8]; 7] = [b"results", b"result", b"event", b"output", b"stdout", b"stderr", b"error"];

impl<'a> PayloadPass<'a, '_> {
    /// Writes a string by its meaning.
    pub(super) fn string(&mut self, zone: Zone, meaning: Key, text: &Text<'_>) -> Result<(), Fault> {
        // Before the level is asked: an encoded file is content at every level.
        if text.len() > ENCODED && self.hides_file(text) {
            self.digest(text);
            return Ok(());
        }
        if zone.is_input() && (self.holds_patch(text) || self.is_patch_tool(zone, meaning)) {
            self.digest(text);
            return Ok(());
        }
        if self.level == Level::Metadata {
            return self.at_metadata(meaning, text);
        }
        match meaning {
            Key::Prompt => self.prompt(text),
            Key::Command if matches!(zone, Zone::Input | Zone::Todos) && text.len() > SHORT => {
                self.digest(text);
                Ok(())
            }
            // Of the texts in arguments only instructions to an agent are kept whole.
            Key::Message if zone.is_input() && text.len() > SHORT => {
                self.digest(text);
                Ok(())
            }
            Key::Spoken if zone.is_input() && text.len() > SHORT && !self.talks_to_agent() => {
                self.digest(text);
                Ok(())
            }
            Key::Spoken | Key::Command | Key::Message | Key::FinalMessage | Key::Delta | Key::Summary => {
                self.long(text)
            }
            Key::Content if zone == Zone::Todos => self.long(text),
            _ if text.len() > SHORT => {
                self.digest(text);
                Ok(())
            }
            _ => self.writer.text(text),
        }
    }

    fn hides_file(&mut self, text: &Text<'_>) -> bool {
        if text.odd() {
            return is_encoded_file(text.head(128, &mut self.writer.decoded));
        }
        is_encoded_file(text.raw)
    }

    fn holds_patch(&mut self, text: &Text<'_>) -> bool {
        // A star near the head is rare, so look for one first.
        may_be_patch(text.raw) && is_patch(text.head(PATCH_HEAD, &mut self.writer.decoded))
    }

    /// Returns `true` if a text is the argument of the patch tool, with any beginning.
    fn is_patch_tool(&self, zone: Zone, meaning: Key) -> bool {
        zone == Zone::InputTop
            && matches!(meaning, Key::Command | Key::ToolInput)
            && self.frames.iter().any(|frame| frame.called.tool() == Tool::ApplyPatch)
    }

    /// Returns `true` if the call sends a message to another agent.
    fn talks_to_agent(&self) -> bool {
        self.frames.iter().any(|frame| matches!(frame.called.tool(), Tool::SpawnAgent | Tool::TellAgent))
    }

    /// Writes a text of people, up to [`LONG`] bytes.
    fn long(&mut self, text: &Text<'_>) -> Result<(), Fault> {
        if text.len() <= LONG {
            return self.writer.text(text);
        }
        write::check(text)?;
        let mut scratch = std::mem::take(&mut self.writer.decoded);
        let decoded = text.decode(&mut scratch);
        self.writer.mask(decoded);
        self.cut_long(decoded.len());
        self.writer.quoted_mask();
        self.writer.decoded = scratch;
        Ok(())
    }

    /// Cuts the masked text to [`LONG`] bytes and adds the length of the whole.
    fn cut_long(&mut self, whole: usize) {
        let kept = write::cut(&self.writer.masked, LONG).len();
        if kept == self.writer.masked.len() {
            return;
        }
        self.writer.masked.truncate(kept);
        let note = format!("… [cut: {kept} of {whole} bytes]");
        self.writer.masked.extend_from_slice(note.as_bytes());
    }

    /// Writes a prompt. In a task notification the result of the task is replaced by its length.
    fn prompt(&mut self, text: &Text<'_>) -> Result<(), Fault> {
        write::check(text)?;
        let mut scratch = std::mem::take(&mut self.writer.decoded);
        let decoded = text.decode(&mut scratch);
        let written = match notified(decoded) {
            None if text.len() <= LONG => {
                self.writer.searched(text, decoded);
                true
            }
            None => false,
            Some((start, end)) => {
                let (before, rest) = decoded.split_at(start);
                let (inner, after) = rest.split_at(end - start);
                let mut reduced = before.to_vec();
                match counted(inner) {
                    // Reduced before: the excerpt of a higher level, after the count, is dropped at a lower one.
                    Some((count, excerpt)) => {
                        reduced.extend_from_slice(count);
                        if self.level == Level::Full && !excerpt.is_empty() {
                            self.push_excerpt(excerpt.trim_ascii_start(), &mut reduced);
                        }
                    }
                    None => {
                        reduced.extend_from_slice(format!("[{} bytes]", inner.len()).as_bytes());
                        if self.level == Level::Full {
                            self.push_excerpt(inner, &mut reduced);
                        }
                    }
                }
                reduced.extend_from_slice(after);
                self.writer.mask(&reduced);
                self.cut_long(decoded.len());
                self.writer.quoted_mask();
                true
            }
        };
        self.writer.decoded = scratch;
        if written { Ok(()) } else { self.long(text) }
    }

    /// Appends the start of a task's result, for level `full`.
    fn push_excerpt(&mut self, inner: &[u8], out: &mut Vec<u8>) {
        self.writer.mask(inner);
        out.push(b' ');
        out.extend_from_slice(write::cut(&self.writer.masked, super::tally::EXCERPT));
    }

    /// Writes a string at level `metadata`, where it stays only if it names something.
    fn at_metadata(&mut self, meaning: Key, text: &Text<'_>) -> Result<(), Fault> {
        let mut scratch = std::mem::take(&mut self.writer.decoded);
        let decoded = text.decode(&mut scratch);
        // The promise of this level: names, paths and programs; no sentences and no commands.
        let stays = match meaning {
            Key::Word | Key::Event | Key::Tool | Key::AgentType => keep::is_word(decoded),
            Key::State => keep::is_error_word(decoded),
            Key::Label => keep::is_label(decoded),
            // Judged by shape and not by the member's name alone: an agent may put a sentence where a path belongs.
            Key::Path | Key::Cwd | Key::ProjectDir => keep::is_path(decoded),
            _ => false,
        };
        if !stays {
            self.writer.raw(b"{");
            match meaning {
                Key::Command => {
                    if let Some(program) = program(decoded) {
                        self.writer.raw(b"\"program\":\"");
                        self.writer.raw(program);
                        self.writer.raw(b"\",");
                    }
                }
                Key::Prompt
                | Key::Message
                | Key::Spoken
                | Key::FinalMessage
                | Key::Delta
                | Key::Summary
                | Key::Content => {
                    // The client wrote it: only the words about the work that ended are kept.
                    if meaning == Key::Prompt && decoded.trim_ascii_start().starts_with(NOTIFICATION) {
                        self.writer.raw(b"\"promptOrigin\":\"task_notification\",");
                        self.notification_words(decoded);
                    }
                    self.writer.raw(b"\"lines\":");
                    self.writer.number(lines(decoded));
                    self.writer.raw(b",");
                }
                _ => {}
            }
            self.writer.raw(b"\"bytes\":");
            self.writer.number(decoded.len() as u64);
            self.writer.raw(b"}");
        }
        self.writer.decoded = scratch;
        if stays { self.writer.text(text) } else { Ok(()) }
    }

    /// Writes the words of a notification that identify the work that ended, and its status.
    fn notification_words(&mut self, text: &[u8]) {
        // The result of the work may contain the same tags, so only the text before it is read.
        let head = notified(text).map_or(text, |(start, _)| text.get(..start).unwrap_or_default());
        let Some(status) = inside(head, b"status").filter(|word| keep::is_error_word(word)) else { return };
        let is_agent = inside(head, b"summary").is_some_and(|summary| summary.starts_with(b"Agent "))
            || inside(text, b"subagent_tokens").is_some();
        let id = |name: &[u8]| inside(head, name).filter(|word| !word.is_empty() && keep::is_word(word));
        let words: [(&[u8], Option<&[u8]>); 4] = [
            (b"status", Some(status)),
            (b"task_id", id(b"task-id")),
            (b"tool_use_id", id(b"tool-use-id")),
            (b"type", is_agent.then_some(b"agent")),
        ];
        for (name, word) in words {
            let Some(word) = word else { continue };
            self.writer.raw(b"\"");
            self.writer.raw(name);
            self.writer.raw(b"\":");
            self.writer.mask(word);
            self.writer.quoted_mask();
            self.writer.raw(b",");
        }
    }

    /// Writes texts that are kept in part or only measured: a compaction summary, a piece of a message, the last words
    /// of an agent that has no type (which are a compaction summary too).
    pub(super) fn measured_text(&mut self, meaning: Key) -> Result<(), Fault> {
        let whole = match meaning {
            Key::FinalMessage => !self.nameless_agent,
            Key::Delta => self.level == Level::Full,
            _ => false,
        };
        let text = match self.cursor.peek() {
            Some(b'"') => self.cursor.string()?,
            Some(b'{' | b'[') => {
                let mut tally = Tally::new(false);
                self.cursor.walk(&mut tally)?;
                self.writer.raw(b"{\"bytes\":");
                self.writer.number(tally.bytes);
                self.writer.raw(b"}");
                return Ok(());
            }
            _ => {
                let spelling = self.cursor.scalar()?;
                let null = spelling == b"null";
                self.writer.raw(if null { b"null" } else { b"{\"bytes\":0}" });
                return Ok(());
            }
        };
        if whole {
            return self.string(Zone::Top, meaning, &text);
        }
        self.writer.raw(b"{\"bytes\":");
        self.writer.number(text.len() as u64);
        if meaning == Key::Summary && self.level != Level::Metadata {
            self.writer.raw(b",\"head\":");
            let mut scratch = std::mem::take(&mut self.writer.decoded);
            // Masked before the cut, or a secret at the cut would stay in part.
            self.writer.mask(text.head(SUMMARY_SEARCHED, &mut scratch));
            let kept = write::first_characters(&self.writer.masked, SUMMARY).len();
            self.writer.masked.truncate(kept);
            self.writer.quoted_mask();
            self.writer.decoded = scratch;
        }
        if meaning == Key::FinalMessage && self.level == Level::Full {
            let mut tally = Tally::new(true);
            tally.count(text);
            if let Some(excerpt) = tally.take_excerpt() {
                self.show(&excerpt);
            }
        }
        self.writer.raw(b"}");
        Ok(())
    }

    /// Writes the number of fields that a person filled in, and the bytes of their text.
    pub(super) fn count_only(&mut self) -> Result<(), Fault> {
        let mut tally = Tally::new(false);
        match self.cursor.peek() {
            Some(b'{' | b'[') => {
                let count = self.count(&mut tally)?;
                self.writer.raw(b"{\"count\":");
                self.writer.number(count);
                self.writer.raw(b",\"bytes\":");
                self.writer.number(tally.bytes);
                self.writer.raw(b"}");
            }
            Some(b'n') => {
                let null = self.cursor.scalar()?;
                self.writer.raw(null);
            }
            _ => {
                self.cursor.walk(&mut tally)?;
                self.writer.raw(b"{\"bytes\":");
                self.writer.number(tally.bytes);
                self.writer.raw(b"}");
            }
        }
        Ok(())
    }
}

/// Returns start and end of a task's result in the text of a notification: from the first tag that opens such a part
/// to the last that closes one, because the text between may itself hold tags. To the end where none closes.
fn notified(text: &[u8]) -> Option<(usize, usize)> {
    let rest = |at: usize| text.get(at..).unwrap_or_default();
    let mut at = notification(text)?;
    let mut start = None;
    let mut end = None;
    loop {
        at = swar::position(text, at + 1, b'<');
        match rest(at) {
            [] => break,
            tagged if start.is_none() => start = tag(tagged, b"<").map(|length| at + length),
            tagged => end = tag(tagged, b"</").map(|_| at).or(end),
        }
    }
    start.map(|start| (start, end.unwrap_or(text.len()).max(start)))
}

/// Returns the text between a tag and its end, without white space around it.
fn inside<'t>(text: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let find = |text: &[u8], tag: &[u8]| text.windows(tag.len()).position(|part| part == tag);
    // No parser of markup: the client's notification has no attributes in these tags.
    let (open, close) = ([b"<", name, b">"].concat(), [b"</", name, b">"].concat());
    let rest = text.get(find(text, &open)? + open.len()..)?;
    rest.get(..find(rest, &close)?).map(<[u8]>::trim_ascii)
}

/// Returns the start of a notification in `text`.
fn notification(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        // In markup there are many `<`, and few before a `t`.
        at = swar::position_of_pair(text, at, *b"<t");
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        if rest.starts_with(NOTIFICATION) {
            return Some(at);
        }
        at += 1;
    }
}

/// Returns the length of the tag that `text` starts with, if it opens (or closes) a part that holds results.
fn tag(text: &[u8], open: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(open)?;
    RESULTS.iter().find_map(|name| {
        let (tag, after) = rest.split_at_checked(name.len())?;
        if !tag.eq_ignore_ascii_case(name) {
            return None;
        }
        match after.first() {
            Some(b'>') => Some(open.len() + name.len() + 1),
            // Attributes, up to the end of the tag.
            Some(b' ' | b'\n' | b'\t') => {
                let close = after.iter().position(|byte| *byte == b'>')?;
                Some(open.len() + name.len() + close + 1)
            }
            _ => None,
        }
    })
}

/// Returns the count with which an earlier reduction replaced a part of a notification, and the text after it.
fn counted(inner: &[u8]) -> Option<(&[u8], &[u8])> {
    const END: &[u8] = b" bytes]";
    let digits = inner.strip_prefix(b"[")?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let length = 1 + digits + END.len();
    let is_count = (1..=20).contains(&digits) && inner.get(1 + digits..length) == Some(END);
    if is_count { inner.split_at_checked(length) } else { None }
}

/// Returns the program that a command line starts: its first word that is no assignment, without its folder.
fn program(command: &[u8]) -> Option<&[u8]> {
    let words = command.split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'(' | b'{' | b'!' | b';'));
    let first = words.filter(|word| !word.is_empty()).find(|word| !is_assignment(word))?;
    let name = first.rsplit(|byte| *byte == b'/').next()?;
    let fits = (1..=64).contains(&name.len())
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'+' | b'-'));
    (fits && !mask::suspicious(name)).then_some(name)
}

fn is_assignment(word: &[u8]) -> bool {
    let name = word.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    name > 0 && word.get(name) == Some(&b'=')
}
