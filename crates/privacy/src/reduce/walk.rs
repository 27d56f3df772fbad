//! The pass itself: tracks the open objects and lists, finds the meaning of each member, and writes its value.
//!
//! There is no recursion: open containers are frames on a list, at most [`DEPTH`] of them.

use super::context::{CalledTool, Event, keep_stricter};
use super::name_context::{NameContext, is_value};
use super::write::{self, Writer};
use super::{Moment, Source};
use crate::config::{Config, Level};
use crate::fault::{Fault, FaultKind};
use crate::keep::{self, Key};
use crate::mask::NameJudgement;
use crate::scan::Cursor;
use crate::text::Text;

/// Kept containers that may be open at once.
// Beyond this only the length is kept, so that memory does not grow with the depth of the input.
const DEPTH: usize = 64;

/// Kept bytes after which nested lists and objects are closed early.
const KEPT_BYTES: usize = 1024 * 1024;

/// Longest name of a member that is written whole.
const KEY_BYTES: usize = 256;

/// Longest spelling of a number that is kept.
const NUMBER_BYTES: usize = 40;

/// A region of the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zone {
    /// The payload itself.
    Top,
    /// A call of a batch.
    Call,
    /// Directly in the arguments of a tool.
    InputTop,
    /// Deeper in the arguments of a tool.
    Input,
    /// The list of todos in the arguments.
    Todos,
    /// Anywhere else.
    Other,
}

impl Zone {
    /// Returns the zone of an object or list inside this one, under a name without a meaning.
    fn inside(self) -> Self {
        match self {
            Self::Top | Self::Call | Self::Other => Self::Other,
            Self::InputTop | Self::Input => Self::Input,
            Self::Todos => Self::Todos,
        }
    }

    /// Returns `true` in the arguments of a tool.
    pub(super) fn is_input(self) -> bool {
        match self {
            Self::InputTop | Self::Input | Self::Todos => true,
            Self::Top | Self::Call | Self::Other => false,
        }
    }
}

/// An object or list that is open.
pub(super) struct Frame {
    zone: Zone,
    pub(super) array: bool,
    /// The meaning of the strings of a list.
    element: Key,
    /// True if nothing was read yet.
    fresh: bool,
    /// True if nothing was written yet.
    empty: bool,
    /// The tool that was named in this object.
    pub(super) called: CalledTool,
    /// The judgements of the names around and before its texts.
    pub(super) named: NameContext,
    /// The start of the container.
    start: usize,
    /// The number of deferred members before this object.
    deferred_before: usize,
    /// The index of the next deferred member to write, once the object has been read.
    next_deferred: usize,
    /// The end of the object, once everything in it was read and only deferred members are left.
    ends_at: Option<usize>,
}

/// A member that is written at the end of its object.
#[derive(Clone, Copy)]
struct DeferredMember<'a> {
    key: Text<'a>,
    meaning: Key,
    /// The judgement of its name.
    judgement: NameJudgement,
    /// The start of its value.
    at: usize,
}

/// One pass over one payload.
pub(super) struct PayloadPass<'a, 'o> {
    pub(super) cursor: Cursor<'a>,
    pub(super) writer: Writer<'o>,
    pub(super) level: Level,
    source: Source,
    draw_key: &'o mut dyn FnMut() -> [u8; 16],
    drawn_key: Option<[u8; 16]>,
    pub(super) frames: Vec<Frame>,
    deferred: Vec<DeferredMember<'a>>,
    pub(super) event: Event,
    pub(super) moment: Moment,
    /// True if `agent_type` was empty: then the last message is a compaction summary.
    pub(super) nameless_agent: bool,
    /// True if the payload states that a person interrupted the call.
    pub(super) interrupted: bool,
    wants_directories: bool,
    config: &'o Config,
    cwd: Option<Vec<u8>>,
    project_dir: Option<Vec<u8>>,
    /// Length of the output beyond which containers are closed early.
    full_at: usize,
}

impl<'a, 'o> PayloadPass<'a, 'o> {
    pub(super) fn new(
        input: &'a [u8],
        source: Source,
        config: &'o Config,
        draw_key: &'o mut dyn FnMut() -> [u8; 16],
        out: &'o mut Vec<u8>,
    ) -> Self {
        Self {
            cursor: Cursor::new(input),
            full_at: out.len() + KEPT_BYTES,
            writer: Writer::new(out),
            level: config.level,
            source,
            draw_key,
            drawn_key: None,
            frames: Vec::new(),
            deferred: Vec::new(),
            event: Event::Unsaid,
            moment: Moment::Other,
            nameless_agent: false,
            interrupted: false,
            config,
            wants_directories: !config.excludes.is_empty(),
            cwd: None,
            project_dir: None,
        }
    }

    pub(super) fn masked(&self) -> u32 {
        self.writer.secrets
    }

    pub(super) fn directories(self) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        (self.cwd, self.project_dir)
    }

    /// Returns the key of the home, which is read at most once.
    pub(super) fn hash_key(&mut self) -> [u8; 16] {
        // Drawn late: most payloads have no contents to hash, and the key costs a read of a file.
        *self.drawn_key.get_or_insert_with(&mut *self.draw_key)
    }

    /// Reads the payload and writes the parts that may be kept.
    pub(super) fn document(&mut self) -> Result<(), Fault> {
        // A byte order mark is no content, and with it a payload would be no object.
        self.cursor.byte_order_mark();
        self.cursor.blank();
        if self.cursor.peek() != Some(b'{') {
            return Err(self.cursor.fault(FaultKind::NotAnObject));
        }
        self.open(Zone::Top, Key::Other, NameJudgement::NOTHING);
        while let Some(frame) = self.frames.last() {
            if frame.array {
                self.element()?;
            } else {
                self.member()?;
            }
        }
        self.cursor.blank();
        match self.cursor.peek() {
            None => Ok(()),
            Some(_) => Err(self.cursor.fault(FaultKind::TrailingBytes)),
        }
    }

    /// Opens the object or list that the cursor stands on.
    fn open(&mut self, zone: Zone, element: Key, judgement: NameJudgement) {
        let array = self.cursor.peek() == Some(b'[');
        let arguments = if array { self.arguments() } else { None };
        let start = self.cursor.at;
        self.cursor.at += 1;
        self.writer.raw(if array { b"[" } else { b"{" });
        self.frames.push(Frame {
            zone,
            array,
            element,
            fresh: true,
            empty: true,
            called: CalledTool::Unsaid,
            named: NameContext::inside(judgement, arguments),
            start,
            deferred_before: self.deferred.len(),
            next_deferred: self.deferred.len(),
            ends_at: None,
        });
    }

    /// Reads up to the next item of the innermost container. Returns `false` if it ends here.
    fn next_item(&mut self, close: u8) -> Result<bool, Fault> {
        self.cursor.blank();
        let Some(frame) = self.frames.last_mut() else { return Ok(false) };
        match self.cursor.peek() {
            Some(byte) if byte == close => {
                self.cursor.at += 1;
                return Ok(false);
            }
            Some(b',') if !frame.fresh => {
                self.cursor.at += 1;
                self.cursor.blank();
            }
            Some(_) if frame.fresh => frame.fresh = false,
            _ => return Err(self.cursor.fault(FaultKind::UnexpectedByte)),
        }
        Ok(true)
    }

    /// Returns `true` if the innermost container has to end early, because enough has been kept.
    fn is_full(&self) -> bool {
        self.writer.out.len() > self.full_at && self.frames.len() > 1
    }

    #[inline]
    fn comma(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            if !frame.empty {
                self.writer.out.push(b',');
            }
            frame.empty = false;
        }
    }

    fn element(&mut self) -> Result<(), Fault> {
        if self.is_full() {
            return self.close_early();
        }
        if !self.next_item(b']')? {
            self.writer.raw(b"]");
            self.frames.pop();
            return Ok(());
        }
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let (zone, meaning, judgement) = (frame.zone, frame.element, frame.named.around);
        self.comma();
        self.value(zone, meaning, judgement)
    }

    fn member(&mut self) -> Result<(), Fault> {
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let zone = frame.zone;
        if frame.ends_at.is_some() {
            return self.write_deferred();
        }
        if self.is_full() {
            return self.close_early();
        }
        if !self.next_item(b'}')? {
            let at = self.cursor.at;
            if let Some(frame) = self.frames.last_mut() {
                frame.ends_at = Some(at);
            }
            return Ok(());
        }
        let key = self.cursor.string()?;
        self.cursor.blank();
        self.cursor.expect(b':')?;
        self.cursor.blank();
        // An argument of a tool is no result, even under the name of one.
        let known = self.meaning(&key).filter(|known| *known != Key::ResultLike || !zone.is_input());
        let meaning = known.unwrap_or(Key::Other);
        let judgement = self.judge_name(&key, known);
        self.nameless_agent |=
            zone == Zone::Top && meaning == Key::AgentType && self.cursor.peek() == Some(b'n');
        self.interrupted |= zone == Zone::Top && self.cursor.peek() == Some(b't') && key.is(b"is_interrupt");
        // A result may come before the name of its tool. It is skipped now and reduced at the end of its object.
        if self.must_wait(zone, meaning) || self.awaits_name(&key) {
            let at = self.cursor.at;
            self.cursor.skip()?;
            self.deferred.push(DeferredMember { key, meaning, judgement, at });
            return Ok(());
        }
        self.comma();
        if known.is_some_and(|known| known != Key::ResultLike) && key.plain() {
            self.spelled(key.raw);
        } else {
            self.name(&key)?;
        }
        self.value(zone, meaning, judgement)
    }

    /// Writes a name that needs no check.
    #[inline]
    fn spelled(&mut self, name: &[u8]) {
        self.writer.out.push(b'"');
        self.writer.raw(name);
        self.writer.raw(b"\":");
    }

    /// Writes the next deferred member, or the end of the object.
    fn write_deferred(&mut self) -> Result<(), Fault> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        if let Some(DeferredMember { key, meaning, judgement, at }) =
            self.deferred.get(frame.next_deferred).copied()
        {
            let zone = frame.zone;
            frame.next_deferred += 1;
            self.comma();
            self.name(&key)?;
            self.cursor.at = at;
            let judgement = if is_value(&key) { self.judge_name(&key, None) } else { judgement };
            return self.value(zone, meaning, judgement);
        }
        if let Some(frame) = self.frames.pop() {
            self.deferred.truncate(frame.deferred_before);
            self.cursor.at = frame.ends_at.unwrap_or(self.cursor.at);
            self.writer.raw(b"}");
        }
        Ok(())
    }

    /// Ends the innermost container with a note of the bytes left out.
    fn close_early(&mut self) -> Result<(), Fault> {
        let read = self.cursor.at;
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let (start, array, before) = (frame.start, frame.array, frame.deferred_before);
        self.cursor.at = start;
        self.cursor.skip()?;
        self.deferred.truncate(before);
        self.comma();
        let left = self.cursor.at.saturating_sub(read) as u64;
        if array {
            self.writer.raw(b"{\"reduced\":\"too_big\",\"bytes\":");
            self.writer.number(left);
            self.writer.raw(b"}]");
        } else {
            self.writer.raw(b"\"reduced\":\"too_big\",\"bytes\":");
            self.writer.number(left);
            self.writer.raw(b"}");
        }
        self.frames.pop();
        Ok(())
    }

    fn meaning(&mut self, key: &Text<'_>) -> Option<Key> {
        if key.plain() {
            return keep::key(key.raw);
        }
        let decoded = key.decode(&mut self.writer.decoded);
        keep::key(decoded)
    }

    /// Returns `true` if a member cannot be treated before its whole object has been read.
    fn must_wait(&self, zone: Zone, meaning: Key) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        match (zone, meaning) {
            (Zone::Top, Key::Error | Key::FinalMessage | Key::Content) | (Zone::Call, Key::Error) => true,
            (Zone::Top, Key::Result) => self.event == Event::Unsaid || frame.called == CalledTool::Unsaid,
            (Zone::Call, Key::Result) => frame.called == CalledTool::Unsaid,
            _ => false,
        }
    }

    /// Returns the tool that the innermost object names.
    pub(super) fn tool(&self) -> crate::classify::Tool {
        self.frames.last().map_or(crate::classify::Tool::Unnamed, |frame| frame.called.tool())
    }

    /// Writes a member's name and its colon.
    fn name(&mut self, key: &Text<'_>) -> Result<(), Fault> {
        write::check(key)?;
        let spelled = key.plain() && key.raw.len() <= KEY_BYTES && !crate::mask::suspicious(key.raw);
        if spelled && (self.level != Level::Metadata || keep::is_member_name(key.raw)) {
            self.spelled(key.raw);
            return Ok(());
        }
        let mut scratch = std::mem::take(&mut self.writer.decoded);
        let decoded = key.decode(&mut scratch);
        if self.level == Level::Metadata && !keep::is_member_name(decoded) {
            // A text in the place of a name, which may be as private as a value.
            self.writer.raw(b"\"[name of ");
            self.writer.number(decoded.len() as u64);
            self.writer.raw(b" bytes]\"");
        } else {
            self.writer.mask(decoded);
            let kept = write::cut(&self.writer.masked, KEY_BYTES).len();
            self.writer.masked.truncate(kept);
            self.writer.quoted_mask();
        }
        self.writer.decoded = scratch;
        self.writer.raw(b":");
        Ok(())
    }

    /// Writes the value that the cursor stands on.
    fn value(&mut self, zone: Zone, meaning: Key, judgement: NameJudgement) -> Result<(), Fault> {
        let input = zone.is_input();
        match meaning {
            Key::Result if !input => return self.result(zone),
            Key::ResultLike if !input && matches!(self.cursor.peek(), Some(b'"' | b'{' | b'[')) => {
                return self.result(zone);
            }
            Key::Error if !input => return self.error(zone),
            Key::Content
                if zone == Zone::Top && matches!(self.event, Event::ElicitationResult | Event::Disputed) =>
            {
                return self.count_only();
            }
            Key::Content if input && zone != Zone::Todos => return self.contents(),
            Key::FileText => return self.contents(),
            Key::Answers if input && self.level != Level::Full => return self.count_only(),
            Key::Summary | Key::Delta | Key::FinalMessage if !input => return self.measured_text(meaning),
            _ => {}
        }
        match self.cursor.peek() {
            Some(b'"') => {
                let text = self.cursor.string()?;
                self.note(zone, meaning, &text);
                if self.known_secret(meaning, &text, judgement)? {
                    return Ok(());
                }
                let zone = if meaning == Key::ToolInput { Zone::InputTop } else { zone };
                self.string(zone, meaning, &text)
            }
            Some(b'{' | b'[') if self.frames.len() >= DEPTH => self.too_deep(),
            Some(b'{' | b'[') => {
                let (zone, element) = self.entered(zone, meaning);
                self.open(zone, element, judgement);
                Ok(())
            }
            _ => self.scalar(),
        }
    }

    /// Returns the zone of the container at the cursor, and the meaning of its strings if it is a list.
    fn entered(&self, zone: Zone, meaning: Key) -> (Zone, Key) {
        let array = self.cursor.peek() == Some(b'[');
        match meaning {
            Key::ToolInput if !zone.is_input() => {
                (if array { Zone::Input } else { Zone::InputTop }, Key::Other)
            }
            // The list itself, then its calls.
            Key::ToolCalls if !zone.is_input() => {
                if array {
                    (Zone::Other, Key::ToolCalls)
                } else {
                    (Zone::Call, Key::Other)
                }
            }
            Key::Todos if zone.is_input() => (Zone::Todos, Key::Other),
            // Strings of a list have the meaning of the list, in `["a", ["b"]]` too.
            _ if array => (zone.inside(), meaning),
            _ => (zone.inside(), Key::Other),
        }
    }

    /// Notes the event, the tool and the directories of the payload.
    fn note(&mut self, zone: Zone, meaning: Key, text: &Text<'_>) {
        match (zone, meaning) {
            (Zone::Top, Key::Event) => {
                let name = text.decode(&mut self.writer.decoded);
                self.moment = Moment::named(name);
                self.event = self.event.named(name, self.source);
            }
            (Zone::Top | Zone::Call, Key::Tool) => {
                let name = text.decode(&mut self.writer.decoded);
                if let Some(frame) = self.frames.last_mut() {
                    frame.called = frame.called.named(name);
                }
            }
            (Zone::Top, Key::AgentType) => {
                self.nameless_agent |= text.decode(&mut self.writer.decoded).trim_ascii().is_empty();
            }
            (Zone::Top, Key::Cwd) if self.wants_directories => {
                let path = text.decode(&mut self.writer.decoded);
                keep_stricter(self.config, &mut self.cwd, path);
            }
            (_, Key::ProjectDir) if self.wants_directories && !zone.is_input() => {
                let path = text.decode(&mut self.writer.decoded);
                keep_stricter(self.config, &mut self.project_dir, path);
            }
            _ => {}
        }
    }

    fn scalar(&mut self) -> Result<(), Fault> {
        let spelling = self.cursor.scalar()?;
        if spelling.len() > NUMBER_BYTES {
            self.writer.raw(b"{\"bytes\":");
            self.writer.number(spelling.len() as u64);
            self.writer.raw(b"}");
        } else {
            self.writer.raw(spelling);
        }
        Ok(())
    }

    fn too_deep(&mut self) -> Result<(), Fault> {
        let start = self.cursor.at;
        self.cursor.skip()?;
        self.writer.raw(b"{\"reduced\":\"too_deep\",\"bytes\":");
        self.writer.number((self.cursor.at - start) as u64);
        self.writer.raw(b"}");
        Ok(())
    }
}
