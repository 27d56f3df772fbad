//! The table of hooks that both agents keep: `{"hooks": {"<Event>": [{"matcher"?: …, "hooks": [handler]}]}}`.
//!
//! Law: foreign groups and handlers are never changed, moved or reordered. Ours are appended behind the last group of
//! an event, brought up to date where they stand, and removed without a trace: Codex keeps its trust by a group's
//! number, and people read these files.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::command_line::Invocation;
use crate::settings::{Settings, SettingsError};

const HOOKS: &str = "hooks";

/// One hook that has to be registered.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedHook {
    /// The agent's name of the event.
    pub event: &'static str,
    /// Names which tools, files or sources it fires for; `None` for all.
    pub matcher: Option<String>,
    /// The handler, as it stands in the file.
    pub handler: Value,
}

impl WantedHook {
    pub(crate) fn group(&self) -> Value {
        let mut group = Map::new();
        if let Some(matcher) = &self.matcher {
            group.insert("matcher".to_owned(), Value::String(matcher.clone()));
        }
        group.insert(HOOKS.to_owned(), json!([self.handler]));
        Value::Object(group)
    }
}

/// A handler of ours in a settings file.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnHook {
    /// The event it is registered for, as written in the file.
    pub event: String,
    /// The number of its group within the event, counted from 0.
    pub group: usize,
    /// Its number within the group, counted from 0.
    pub handler: usize,
    /// The group's matcher.
    pub matcher: Option<String>,
    /// The handler itself.
    pub value: Value,
    /// Holds what it runs.
    pub invocation: Invocation,
}

/// Describes what a change did, for people to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Events that were registered.
    pub added: Vec<String>,
    /// Events whose entry of ours was brought up to date.
    pub updated: Vec<String>,
    /// Events whose entry of ours was removed.
    pub removed: Vec<String>,
    /// Events in which foreign groups stood behind a removed group of ours, so that their numbers changed.
    pub shifted: Vec<String>,
}

impl Changes {
    /// Returns whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.updated.is_empty() && self.removed.is_empty()
    }
}

/// Describes what an edit has to remember so that it can be undone to the byte. Kept by the caller between install and
/// uninstall; without it, uninstall still removes our entries but may leave other white space behind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Undo {
    /// Objects and arrays that we made, as paths of names from the root.
    pub created: Vec<Vec<String>>,
    /// Objects and arrays that were there without any content, with what stood between their brackets.
    pub emptied: Vec<Emptied>,
    /// The text of a file that had no content (it may have had white space).
    pub blank: Option<String>,
    /// The JSON text of the status line command that ours replaced.
    pub status_line: Option<String>,
}

/// A container that had no content before us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Emptied {
    /// Names from the root to the container.
    pub path: Vec<String>,
    /// Holds what stood between its brackets.
    pub inner: String,
}

impl Undo {
    fn note_created(&mut self, path: &[&str]) {
        if !self.created.iter().any(|known| known == path) {
            self.created.push(path.iter().map(|&name| name.to_owned()).collect());
        }
    }

    /// Remembers the inside of a container that is about to get its first child, unless we made it ourselves.
    pub(crate) fn note_emptied(&mut self, settings: &Settings, place: &[usize], path: &[&str]) {
        // What we made goes with our last entry, so nothing of it has to be put back.
        if self.created.iter().any(|known| known == path) {
            return;
        }
        if let Some(inner) = settings.inner(place) {
            self.emptied.retain(|known| known.path != path);
            self.emptied.push(Emptied { path: path.iter().map(|&name| name.to_owned()).collect(), inner });
        }
    }

    fn inner_of(&self, path: &[&str]) -> Option<&str> {
        self.emptied.iter().find(|known| known.path == path).map(|known| known.inner.as_str())
    }
}

/// Appends a member to the root object, which is made if the file has no content.
pub(crate) fn append_to_root(settings: &mut Settings, undo: &mut Undo, name: &str, value: &Value) {
    if settings.is_blank() {
        undo.blank = Some(settings.blank_text());
        settings.make_root();
    } else {
        undo.note_emptied(settings, &[], &[]);
    }
    settings.append(&[], Some(name), value);
}

/// Takes back what [`append_to_root`] did to the root, once nothing is left in it.
pub(crate) fn restore_root(settings: &mut Settings, undo: &Undo) {
    if settings.is_blank() || settings.count(&[]) > 0 {
        return;
    }
    if let Some(blank) = &undo.blank {
        settings.make_blank(blank);
    } else {
        settings.set_inner(&[], undo.inner_of(&[]).unwrap_or_default());
    }
}

/// Makes the file register exactly `wanted` for us. Handlers of ours for other events are removed.
pub(crate) fn register(
    settings: &mut Settings,
    wanted: &[WantedHook],
    undo: &mut Undo,
) -> Result<Changes, SettingsError> {
    check_shape(settings, wanted)?;
    let mut changes = Changes::default();
    let events: Vec<String> = own_hooks(settings).into_iter().map(|own| own.event).collect();
    for event in events {
        if !wanted.iter().any(|hook| hook.event == event) && !changes.removed.contains(&event) {
            // Listed anew each time: a group that went changes the numbers of those behind it.
            let own = of_event(own_hooks(settings), &event);
            remove(settings, &own, undo, &mut changes);
            changes.removed.push(event);
        }
    }
    for hook in wanted {
        register_one(settings, hook, undo, &mut changes);
    }
    Ok(changes)
}

/// Makes the file hold exactly these verifiers of ours ([`is_verifier`]); whatever else is ours stays as it is.
pub(crate) fn register_verifiers(
    settings: &mut Settings,
    wanted: &[WantedHook],
    undo: &mut Undo,
) -> Result<Changes, SettingsError> {
    check_shape(settings, wanted)?;
    let mut changes = Changes::default();
    let is_wanted = |own: &OwnHook| {
        own.matcher.is_none()
            && wanted.iter().any(|hook| hook.event == own.event && hook.handler == own.value)
    };
    let stale: Vec<OwnHook> = own_verifiers(settings).into_iter().filter(|own| !is_wanted(own)).collect();
    // One event at a time: when the last group of one goes, the places of the others change.
    for event in stale.iter().map(|own| own.event.clone()).collect::<std::collections::BTreeSet<_>>() {
        let stale: Vec<OwnHook> =
            own_verifiers(settings).into_iter().filter(|own| own.event == event && !is_wanted(own)).collect();
        remove(settings, &stale, undo, &mut changes);
        changes.removed.push(event);
    }
    for hook in wanted {
        let is_there =
            own_verifiers(settings).iter().any(|own| own.event == hook.event && own.value == hook.handler);
        if !is_there {
            append_group(settings, hook, undo);
            changes.added.push(hook.event.to_owned());
        }
    }
    Ok(changes)
}

/// Removes every handler of ours, and what we had made for them.
pub(crate) fn withdraw(settings: &mut Settings, undo: &Undo) -> Changes {
    let mut changes = Changes::default();
    // Again and again, because a second `hooks` of the same name comes to light when the last one goes.
    while let Some(own) = all_ours(settings).into_iter().next() {
        let before = settings.text();
        let of_event = of_event(all_ours(settings), &own.event);
        remove(settings, &of_event, undo, &mut changes);
        if settings.text() == before {
            break;
        }
        if !changes.removed.contains(&own.event) {
            changes.removed.push(own.event);
        }
    }
    changes
}

fn of_event(own: Vec<OwnHook>, event: &str) -> Vec<OwnHook> {
    own.into_iter().filter(|own| own.event == event).collect()
}

/// Lists our handlers in a settings file, in the order of the file.
pub fn own_hooks(settings: &Settings) -> Vec<OwnHook> {
    list_hooks(settings, |value| Invocation::of(value).filter(Invocation::is_ours))
}

/// Lists the verifiers of ours, which the agent itself asks.
pub fn own_verifiers(settings: &Settings) -> Vec<OwnHook> {
    list_hooks(settings, |value| {
        is_verifier(value).then(|| Invocation { program: String::new(), arguments: Vec::new() })
    })
}

/// Returns everything of ours, in the order of the file.
fn all_ours(settings: &Settings) -> Vec<OwnHook> {
    list_hooks(settings, |value| {
        let verifier = || Invocation { program: String::new(), arguments: Vec::new() };
        let command = Invocation::of(value).filter(Invocation::is_ours);
        command.or_else(|| is_verifier(value).then(verifier))
    })
}

/// Holds how the text of a verifier of ours begins; the name of its rule follows, and then [`MARK_END`].
pub const MARK: &str = "[Agent Tracer rule `";
/// Holds what stands behind the name.
pub const MARK_END: &str = "`] ";

/// Returns the rule whose verifier has this text; none if it is not ours.
pub fn verified_rule(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix(MARK)?.split_once(MARK_END)?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (!name.is_empty() && name.len() <= 64 && name.bytes().all(is_plain)).then_some(name)
}

/// Returns whether a handler asks a model about a rule of ours.
fn is_verifier(handler: &Value) -> bool {
    matches!(handler.get("type").and_then(Value::as_str), Some("prompt" | "agent"))
        && handler.get("prompt").and_then(Value::as_str).is_some_and(|text| verified_rule(text).is_some())
}

fn list_hooks(settings: &Settings, ours: impl Fn(&Value) -> Option<Invocation>) -> Vec<OwnHook> {
    let mut own = Vec::new();
    let Some(Value::Object(events)) = settings.member(HOOKS) else { return own };
    for (event, groups) in &events {
        for (group, content) in groups.as_array().into_iter().flatten().enumerate() {
            let matcher = content.get("matcher").and_then(Value::as_str).map(str::to_owned);
            let handlers = content.get(HOOKS).and_then(Value::as_array).into_iter().flatten();
            for (handler, value) in handlers.enumerate() {
                let Some(invocation) = ours(value) else { continue };
                let (event, matcher, value) = (event.clone(), matcher.clone(), value.clone());
                own.push(OwnHook { event, group, handler, matcher, value, invocation });
            }
        }
    }
    own
}

/// Returns the matcher for a list of tools. Plain names are alternatives that both agents compare exactly; as soon as
/// one is a pattern (`mcp__files__.*`) the whole is a regular expression and has to be anchored.
pub(crate) fn tool_matcher(tools: &[String]) -> String {
    let names = tools.join("|");
    let plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '|');
    if names.chars().all(plain) { names } else { format!("^({names})$") }
}

/// Returns whether a matcher means "everything".
fn matches_all(matcher: Option<&str>) -> bool {
    // The same to both clients, so none of the three is changed into another.
    matches!(matcher, None | Some("" | "*"))
}

fn same_matcher(one: Option<&str>, other: Option<&str>) -> bool {
    one == other || (matches_all(one) && matches_all(other))
}

/// Refuses files in which a place that we have to write into is something else than the format says.
fn check_shape(settings: &Settings, wanted: &[WantedHook]) -> Result<(), SettingsError> {
    let Some(hooks) = settings.find(&[], HOOKS) else { return Ok(()) };
    let wrong = |place: String, expected, path: &[usize]| {
        let found = settings.kind(path).unwrap_or("missing");
        Err(SettingsError::Shape { place, expected, found })
    };
    if settings.kind(&[hooks]) != Some("an object") {
        return wrong("`hooks`".to_owned(), "an object", &[hooks]);
    }
    for hook in wanted {
        if let Some(event) = settings.find(&[hooks], hook.event)
            && settings.kind(&[hooks, event]) != Some("an array")
        {
            return wrong(format!("`hooks.{}`", hook.event), "an array", &[hooks, event]);
        }
    }
    Ok(())
}

fn register_one(settings: &mut Settings, wanted: &WantedHook, undo: &mut Undo, changes: &mut Changes) {
    let own: Vec<OwnHook> = own_hooks(settings).into_iter().filter(|own| own.event == wanted.event).collect();
    let fits = |own: &OwnHook| same_matcher(own.matcher.as_deref(), wanted.matcher.as_deref());
    // One in a group of the user's keeps its matcher, which is not ours to change; a group of ours alone is replaced.
    let kept =
        own.iter().find(|own| fits(own)).or_else(|| own.iter().find(|own| is_alone(settings, own))).cloned();

    let Some(kept) = kept else {
        if !own.is_empty() {
            remove(settings, &own, undo, changes);
        }
        append_group(settings, wanted, undo);
        if own.is_empty() { &mut changes.added } else { &mut changes.updated }.push(wanted.event.to_owned());
        return;
    };
    let mut touched = false;
    if !fits(&kept) {
        if let Some(place) = place_of(settings, &kept) {
            settings.replace(&place.group, &wanted.group());
            touched = true;
        }
    } else if kept.value != wanted.handler
        && let Some(place) = place_of(settings, &kept)
    {
        // The handler alone: the number of its group stays, by which one client keeps that the user has reviewed it.
        settings.replace(&place.handler, &wanted.handler);
        touched = true;
    }
    // Two entries bring each event twice, and of one agent equal events can be distinct calls.
    if own.len() > 1 {
        let spared = (kept.group, kept.handler);
        let others: Vec<OwnHook> = of_event(own_hooks(settings), wanted.event)
            .into_iter()
            .filter(|own| (own.group, own.handler) != spared)
            .collect();
        remove(settings, &others, undo, changes);
        touched = true;
    }
    if touched {
        changes.updated.push(wanted.event.to_owned());
    }
}

fn append_group(settings: &mut Settings, wanted: &WantedHook, undo: &mut Undo) {
    let hooks = match settings.find(&[], HOOKS) {
        Some(hooks) => hooks,
        None => {
            append_to_root(settings, undo, HOOKS, &json!({}));
            undo.note_created(&[HOOKS]);
            match settings.find(&[], HOOKS) {
                Some(hooks) => hooks,
                None => return,
            }
        }
    };
    match settings.find(&[hooks], wanted.event) {
        Some(event) => {
            undo.note_emptied(settings, &[hooks, event], &[HOOKS, wanted.event]);
            settings.append(&[hooks, event], None, &wanted.group());
        }
        None => {
            undo.note_emptied(settings, &[hooks], &[HOOKS]);
            settings.append(&[hooks], Some(wanted.event), &json!([wanted.group()]));
            undo.note_created(&[HOOKS, wanted.event]);
        }
    }
}

/// Describes where a handler of ours stands in the text.
struct Place {
    hooks: usize,
    event: usize,
    group: [usize; 3],
    handler: [usize; 5],
}

fn place_of(settings: &Settings, own: &OwnHook) -> Option<Place> {
    let hooks = settings.find(&[], HOOKS)?;
    let event = settings.find(&[hooks], &own.event)?;
    let group = [hooks, event, own.group];
    let handlers = settings.find(&group, HOOKS)?;
    Some(Place { hooks, event, group, handler: [hooks, event, own.group, handlers, own.handler] })
}

/// Returns whether the group of `own` holds nothing but that one handler and perhaps a matcher.
fn is_alone(settings: &Settings, own: &OwnHook) -> bool {
    let Some(place) = place_of(settings, own) else { return false };
    let [handlers @ .., _] = place.handler;
    settings.count(&handlers) == 1
        && settings.names(&place.group).iter().all(|name| matches!(*name, HOOKS | "matcher"))
}

/// Removes these handlers of one event, from the last to the first so that the numbers of the others stay true, and
/// then whatever became empty by it and was made by us.
fn remove(settings: &mut Settings, own: &[OwnHook], undo: &Undo, changes: &mut Changes) {
    for own in own.iter().rev() {
        let event = own.event.as_str();
        let Some(place) = place_of(settings, own) else { continue };
        if !is_alone(settings, own) {
            settings.remove(&place.handler);
            continue;
        }
        let array = [place.hooks, place.event];
        if own.group + 1 < settings.count(&array) && !changes.shifted.iter().any(|known| known == event) {
            changes.shifted.push(event.to_owned());
        }
        settings.remove(&place.group);
        if settings.count(&array) > 0 {
            continue;
        }
        if leave_empty(settings, undo, &array, &[HOOKS, event]) {
            continue;
        }
        settings.remove(&array);
        if settings.count(&[place.hooks]) > 0 || leave_empty(settings, undo, &[place.hooks], &[HOOKS]) {
            continue;
        }
        settings.remove(&[place.hooks]);
    }
    restore_root(settings, undo);
}

/// Decides about a container that has just lost its last child: `true` if it stays, without content, as it was before
/// us; `false` if it has to go because we made it (or its origin is unknown).
fn leave_empty(settings: &mut Settings, undo: &Undo, place: &[usize], path: &[&str]) -> bool {
    if let Some(inner) = undo.inner_of(path) {
        let inner = inner.to_owned();
        settings.set_inner(place, &inner);
        return true;
    }
    let made_by_us = undo.created.iter().any(|known| known == path);
    let without_memory = *undo == Undo::default();
    if made_by_us || without_memory {
        return false;
    }
    settings.set_inner(place, "");
    true
}

/// Returns a file with these hooks of ours, as they stand in another, and nothing else.
pub fn own_table(own: &[OwnHook]) -> Value {
    let mut events: Map<String, Value> = Map::new();
    for own in own {
        let mut group = Map::new();
        if let Some(matcher) = &own.matcher {
            group.insert("matcher".to_owned(), json!(matcher));
        }
        group.insert(HOOKS.to_owned(), json!([own.value]));
        let groups = events.entry(own.event.clone()).or_insert_with(|| json!([]));
        if let Some(groups) = groups.as_array_mut() {
            groups.push(Value::Object(group));
        }
    }
    json!({ HOOKS: events })
}

/// Returns a file that registers `wanted` and nothing else.
pub(crate) fn table(wanted: &[WantedHook]) -> Value {
    let events: Map<String, Value> =
        wanted.iter().map(|hook| (hook.event.to_owned(), json!([hook.group()]))).collect();
    json!({ HOOKS: events })
}
