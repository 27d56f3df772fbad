//! Reduces the results of tools to quantities.
//!
//! A body becomes an object, in place. Of a structured body only listed members of the listed shape stay
//! ([`keep::part`]), at the top and in the few objects that are listed themselves; of lists only the count
//! (`"tasks":{"count":2}`). Then follow:
//!
//! - `outputBytes`: bytes of UTF-8 of the text. A string's own length; of a structure the sum that
//!   [`Tally`] makes, and for a tool that writes a file without its `content`, which is an echo;
//! - `isError`, `exitCode`, `errorClass`: where the structure or the first words state them ([`crate::classify`]);
//! - `firstLine`: only of the `error` of a tool that is no shell, or of an agent, masked, at most 200 characters;
//! - `head`, `tail`: only at level `full`, masked, at most 2,048 bytes each.

use agent_tracer_agent::ErrorText;

use super::context::Event;
use super::outcome::StructuredOutcome;
use super::spawned_agent::SpawnedAgent;
use super::tally::{EXCERPT, Excerpt, Tally, has_shape};
use super::walk::{PayloadPass, Zone};
use super::write;
use crate::classify::{self, ErrorClass, Tool, Verdict};
use crate::config::Level;
use crate::fault::{Fault, FaultKind};
use crate::keep::{self, BodyMember};
use crate::scan::{Cursor, Visitor};
use crate::text::Text;

/// Longest first line of an error, in characters.
const FIRST_LINE: usize = 200;

/// The bytes of an error that are masked before its first line is cut out.
const FIRST_LINE_SEARCHED: usize = 4096;

/// Longest answer of Codex's `spawn_agent` that is searched for ids.
const SPAWNED: usize = 4096;

/// Objects of a structured body that may be open at once: the body, `usage`, and one object in that.
const PLACES: usize = 3;

/// The kind of call that a body belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A call that went well, or whose outcome is unknown.
    Used,
    /// A call of a batch.
    Batch,
    /// A call that failed.
    Failed,
}

impl<'a> PayloadPass<'a, '_> {
    /// Reduces a result body.
    pub(super) fn result(&mut self, zone: Zone) -> Result<(), Fault> {
        let role = match zone {
            Zone::Call => Role::Batch,
            Zone::Top | Zone::InputTop | Zone::Input | Zone::Todos | Zone::Other => Role::Used,
        };
        let tool = match zone {
            Zone::Top | Zone::Call => self.tool(),
            Zone::InputTop | Zone::Input | Zone::Todos | Zone::Other => Tool::Unnamed,
        };
        self.body(role, tool)
    }

    /// Reduces an `error`: a short word, a sentence of the provider, or a result body.
    pub(super) fn error(&mut self, zone: Zone) -> Result<(), Fault> {
        let tool = match zone {
            Zone::Top | Zone::Call => self.tool(),
            Zone::InputTop | Zone::Input | Zone::Todos | Zone::Other => Tool::Unnamed,
        };
        let sentence = zone == Zone::Top && self.event == Event::Error(ErrorText::Sentence);
        // Only where the event says so: elsewhere the same member holds the output of a program.
        let word = zone == Zone::Top && self.event == Event::Error(ErrorText::Word);
        if (sentence || word) && self.cursor.peek() == Some(b'"') {
            let start = self.cursor.at;
            let text = self.cursor.string()?;
            if word && keep::is_error_word(text.decode(&mut self.writer.decoded)) {
                return self.writer.text(&text);
            }
            if sentence {
                return self.sentence(&text);
            }
            self.cursor.at = start;
        }
        self.body(Role::Failed, tool)
    }

    /// Returns the outcome that the payload states outside of the body.
    fn outcome_outside(&self, role: Role) -> Verdict {
        let class = (role == Role::Failed && self.interrupted).then_some(ErrorClass::Interrupt);
        Verdict { class, ..Verdict::default() }
    }

    /// Writes the first line of the provider's words, masked.
    fn sentence(&mut self, text: &Text<'_>) -> Result<(), Fault> {
        if self.level == Level::Metadata {
            self.writer.raw(b"{\"bytes\":");
            self.writer.number(text.len() as u64);
            self.writer.raw(b"}");
        } else {
            self.first_line(text);
        }
        Ok(())
    }

    fn first_line(&mut self, text: &Text<'_>) {
        let mut scratch = std::mem::take(&mut self.writer.decoded);
        let head = text.head(FIRST_LINE_SEARCHED, &mut scratch).trim_ascii_start();
        // Masked before it is cut: a secret that goes on in the next line would be cut to something unknown.
        self.writer.mask(head);
        let line = self.writer.masked.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        self.writer.masked.truncate(line.unwrap_or(usize::MAX));
        let kept = write::first_characters(&self.writer.masked, FIRST_LINE).len();
        self.writer.masked.truncate(kept);
        self.writer.quoted_mask();
        self.writer.decoded = scratch;
    }

    fn body(&mut self, role: Role, tool: Tool) -> Result<(), Fault> {
        let mut tally = Tally::new(self.level == Level::Full);
        match self.cursor.peek() {
            Some(b'n') => {
                let null = self.cursor.scalar()?;
                self.writer.raw(null);
                return Ok(());
            }
            Some(b'"') => {
                let text = self.cursor.string()?;
                self.writer.raw(b"{");
                if tool == Tool::SpawnAgent && text.len() <= SPAWNED {
                    self.spawned(&text);
                }
                tally.count(text);
                let stated = self.outcome_outside(role);
                self.quantities(role, tool, &mut tally, stated);
            }
            Some(b'{') => {
                self.writer.raw(b"{");
                let stated = self.structure(tool, &mut tally)?;
                self.quantities(role, tool, &mut tally, stated);
            }
            _ => {
                self.cursor.walk(&mut tally)?;
                self.writer.raw(b"{");
                self.quantities(role, tool, &mut tally, Verdict::default());
            }
        }
        Ok(())
    }

    /// Ends a body with its quantities. `stated` is the outcome by its structure.
    fn quantities(&mut self, role: Role, tool: Tool, tally: &mut Tally<'a>, stated: Verdict) {
        self.writer.raw(b"\"outputBytes\":");
        self.writer.number(tally.bytes);
        let mut scratch = std::mem::take(&mut self.writer.decoded);
        let head = match (role, tally.first) {
            // Most results end here, and no text of theirs is read.
            (Role::Used, _) if tool != Tool::ApplyPatch => b"",
            (_, None) => b"",
            (_, Some(text)) => {
                let more = classify::wants_more(text.head(classify::HEAD, &mut scratch));
                text.head(if more { classify::REACH } else { classify::HEAD }, &mut scratch)
            }
        };
        let read = match role {
            Role::Used => classify::used(head, tool),
            Role::Batch => classify::batch(head, tool),
            Role::Failed => classify::failure(head),
        };
        self.writer.decoded = scratch;
        let is_error = stated.is_error.or(read.is_error);
        if let Some(is_error) = is_error {
            self.writer.raw(if is_error { b",\"isError\":true" } else { b",\"isError\":false" });
        }
        if let Some(code) = stated.exit_code.or(read.exit_code) {
            self.writer.raw(b",\"exitCode\":");
            self.writer.signed(code);
        }
        let class = match (is_error, stated.class.or(read.class)) {
            (Some(true), None) => Some(ErrorClass::Unknown),
            (Some(false), _) => None,
            (_, class) => class,
        };
        if let Some(class) = class {
            self.writer.raw(b",\"errorClass\":\"");
            self.writer.raw(class.name().as_bytes());
            self.writer.raw(b"\"");
        }
        let spoken = match tool {
            Tool::Named | Tool::Write | Tool::ApplyPatch | Tool::SpawnAgent | Tool::TellAgent => true,
            Tool::Unnamed => self.event == Event::Error(ErrorText::Failure),
            Tool::Shell => false,
        };
        if role == Role::Failed
            && spoken
            && self.level != Level::Metadata
            && let Some(text) = tally.first
        {
            self.writer.raw(b",\"firstLine\":");
            self.first_line(&text);
        }
        if let Some(excerpt) = tally.take_excerpt() {
            self.show(&excerpt);
        }
        self.writer.raw(b"}");
    }

    /// Writes the start and end of a body, for level `full`.
    pub(super) fn show(&mut self, excerpt: &Excerpt) {
        if excerpt.total == 0 {
            return;
        }
        self.writer.raw(b",\"head\":");
        self.writer.mask(&excerpt.head);
        let kept = write::cut(&self.writer.masked, EXCERPT).len();
        self.writer.masked.truncate(kept);
        self.writer.quoted_mask();
        if excerpt.total <= EXCERPT {
            return;
        }
        // Masked together: the margin of the head belongs to the tail, and a secret may cross the two.
        let mut rest = excerpt.head.clone();
        rest.extend_from_slice(&excerpt.tail);
        self.writer.mask(&rest);
        let behind_head = excerpt.total - EXCERPT;
        let tail = write::cut_start(&self.writer.masked, EXCERPT.min(behind_head)).to_vec();
        self.writer.raw(b",\"tail\":");
        self.writer.quoted(&tail);
    }

    /// Writes the members of a structured body that may stay, each with a comma after it. Returns the outcome that the
    /// body states.
    fn structure(&mut self, tool: Tool, tally: &mut Tally<'a>) -> Result<Verdict, Fault> {
        let mut stated = StructuredOutcome::default();
        // For each open object its place, and `true` once a member of it was written.
        let mut open = [(keep::ROOT, false); PLACES];
        let mut depth = 1;
        self.cursor.at += 1;
        let mut fresh = true;
        while depth > 0 {
            self.cursor.blank();
            match self.cursor.peek() {
                Some(b'}') => {
                    self.cursor.at += 1;
                    depth -= 1;
                    if depth > 0 {
                        self.writer.raw(b"}");
                        if depth == 1 {
                            self.writer.raw(b",");
                        }
                    }
                    fresh = false;
                    continue;
                }
                Some(b',') if !fresh => {
                    self.cursor.at += 1;
                    self.cursor.blank();
                }
                Some(_) if fresh => {}
                _ => return Err(self.cursor.fault(FaultKind::UnexpectedByte)),
            }
            fresh = false;
            let key = self.cursor.string()?;
            self.cursor.blank();
            self.cursor.expect(b':')?;
            self.cursor.blank();
            let mut scratch = std::mem::take(&mut self.writer.decoded);
            let name = key.decode(&mut scratch);
            let root = depth == 1;
            let Some((place, wrote)) = open.get_mut(depth - 1) else { break };
            let meaning = match keep::part(name) {
                None if root && tool == Tool::Write && name == b"content" => Some(BodyMember::Echo),
                // A listed name in another place means nothing there.
                Some((part, places)) if part == BodyMember::Echo || places & *place != 0 => Some(part),
                _ => None,
            };
            let inner = keep::place(name);
            if meaning == Some(BodyMember::Object) && depth < PLACES && self.cursor.peek() == Some(b'{') {
                self.lead(root, wrote, name);
                self.writer.raw(b"{");
                self.cursor.at += 1;
                if let Some(opened) = open.get_mut(depth) {
                    *opened = (inner, false);
                }
                depth += 1;
                fresh = true;
            } else {
                self.part(root, wrote, name, meaning, tally, &mut stated)?;
            }
            self.writer.decoded = scratch;
        }
        Ok(stated.verdict())
    }

    /// Writes the name of a member of a structured body. Members of the body itself end in a comma, because its
    /// quantities follow; inside an object commas stand between.
    fn lead(&mut self, root: bool, wrote: &mut bool, name: &[u8]) {
        if *wrote && !root {
            self.writer.raw(b",");
        }
        *wrote = true;
        self.writer.raw(b"\"");
        self.writer.raw(name);
        self.writer.raw(b"\":");
    }

    /// Writes a member of a structured body if it is listed and has its shape; else measures it.
    fn part(
        &mut self,
        root: bool,
        wrote: &mut bool,
        name: &[u8],
        meaning: Option<BodyMember>,
        tally: &mut Tally<'a>,
        stated: &mut StructuredOutcome,
    ) -> Result<(), Fault> {
        let end: &[u8] = if root { b"," } else { b"" };
        match (meaning, self.cursor.peek()) {
            (Some(BodyMember::Echo), _) => self.cursor.skip(),
            (Some(list @ (BodyMember::List | BodyMember::Names)), Some(b'[' | b'{')) if root => {
                let count = match list {
                    BodyMember::Names => self.count(&mut Tally::new(false))?,
                    _ => self.count(tally)?,
                };
                self.lead(root, wrote, name);
                self.writer.raw(b"{\"count\":");
                self.writer.number(count);
                self.writer.raw(b"},");
                Ok(())
            }
            (Some(meaning), Some(b'"')) => {
                let text = self.cursor.string()?;
                let mut scratch = Vec::new();
                let value = if text.len() <= 1024 { text.decode(&mut scratch) } else { b"" };
                if !has_shape(meaning, value) || crate::mask::suspicious(value) {
                    tally.count(text);
                } else if meaning == BodyMember::ErrorClass {
                    stated.class = ErrorClass::parse(value);
                } else {
                    self.lead(root, wrote, name);
                    self.writer.quoted(value);
                    self.writer.raw(end);
                }
                Ok(())
            }
            (Some(meaning), Some(b't' | b'f' | b'0'..=b'9' | b'-')) => {
                let spelling = self.cursor.scalar()?;
                if stated.read(meaning, spelling, tally) {
                    self.lead(root, wrote, name);
                    self.writer.raw(spelling);
                    self.writer.raw(end);
                }
                Ok(())
            }
            _ => self.cursor.walk(tally),
        }
    }

    /// Counts the items of the list or map that the cursor stands on, and measures their texts.
    pub(super) fn count(&mut self, visitor: &mut impl Visitor<'a>) -> Result<u64, Fault> {
        let object = self.cursor.peek() == Some(b'{');
        let close = if object { b'}' } else { b']' };
        self.cursor.at += 1;
        let mut count = 0;
        loop {
            self.cursor.blank();
            match self.cursor.peek() {
                Some(byte) if byte == close => {
                    self.cursor.at += 1;
                    return Ok(count);
                }
                Some(b',') if count > 0 => {
                    self.cursor.at += 1;
                    self.cursor.blank();
                }
                Some(_) if count == 0 => {}
                _ => return Err(self.cursor.fault(FaultKind::UnexpectedByte)),
            }
            if object {
                self.cursor.string()?;
                self.cursor.blank();
                self.cursor.expect(b':')?;
            }
            self.cursor.walk(visitor)?;
            count += 1;
        }
    }

    /// Writes the ids in the answer of Codex's `spawn_agent`, which is JSON inside a string.
    fn spawned(&mut self, text: &Text<'_>) {
        let mut scratch = Vec::new();
        let mut answer = SpawnedAgent::default();
        let inner = text.decode(&mut scratch);
        let mut cursor = Cursor::new(inner);
        cursor.blank();
        if cursor.peek() != Some(b'{') || cursor.walk(&mut answer).is_err() {
            return;
        }
        for (name, value, is_it) in [
            (&b"agent_id"[..], answer.agent_id, keep::is_uuid as fn(&[u8]) -> bool),
            (b"task_name", answer.task_name, keep::is_task_name),
        ] {
            // Neither shape needs an escape, so the spelling is the text.
            if let Some(value) = value
                && value.plain()
                && is_it(value.raw)
            {
                self.lead(true, &mut false, name);
                self.writer.quoted(value.raw);
                self.writer.raw(b",");
            }
        }
    }
}
