//! The shape of a table: what one tool means, as data.

use agent_tracer_event::semantics::{EntityType, Importance, Semantics, SubtypeKey, ToolFamily};
use agent_tracer_event::{Kind, Lane, Metadata, attributes};
use serde_json::Value;

use super::input::{Input, PATHS};
use super::{
    Meaning, agents, files, misc, patch, plans, questions, schedule, search, shell, todos, web, worktrees,
};
use crate::text;

/// Describes what one tool means.
pub(super) struct Row {
    /// Every name that a client or an older document has for it.
    pub(super) names: &'static [&'static str],
    pub(super) kind: Kind,
    pub(super) lane: Lane,
    pub(super) subtype: SubtypeKey,
    /// Holds where the common label of the subtype says too little.
    pub(super) label: Option<&'static str>,
    pub(super) family: ToolFamily,
    pub(super) operation: &'static str,
    pub(super) importance: Importance,
    /// Holds what the call is about: a type, and the keys of the input that may name it.
    pub(super) entity: Option<(EntityType, &'static [&'static str])>,
    /// The keys of the input that name files.
    pub(super) files: &'static [&'static str],
    /// Members of the input that become metadata under our name.
    pub(super) keep: &'static [Keep],
    /// Holds the title.
    pub(super) title: fn(&Input<'_>) -> String,
    /// The longer text, if the call has one.
    pub(super) body: &'static [&'static str],
    /// Holds what the data above cannot say.
    pub(super) also: Option<fn(&Input<'_>, &mut Meaning)>,
}

/// A member of the input that becomes metadata.
pub(super) struct Keep {
    /// The keys that a client or an older document has for it.
    from: &'static [&'static str],
    to: &'static str,
    shape: Shape,
}

enum Shape {
    Text(usize),
    Number,
    Flag,
    Id,
    Texts(usize),
    Count,
}

/// Reads a text, of at most so many characters.
pub(super) const fn text(from: &'static [&'static str], to: &'static str, most: usize) -> Keep {
    Keep { from, to, shape: Shape::Text(most) }
}

/// Reads a whole number.
pub(super) const fn number(from: &'static [&'static str], to: &'static str) -> Keep {
    Keep { from, to, shape: Shape::Number }
}

/// Reads a truth value.
pub(super) const fn flag(from: &'static [&'static str], to: &'static str) -> Keep {
    Keep { from, to, shape: Shape::Flag }
}

/// Reads an id: a text, or a number written as one.
pub(super) const fn id(from: &'static [&'static str], to: &'static str) -> Keep {
    Keep { from, to, shape: Shape::Id }
}

/// Returns a list of texts, each of at most so many characters.
pub(super) const fn texts(from: &'static [&'static str], to: &'static str, most: usize) -> Keep {
    Keep { from, to, shape: Shape::Texts(most) }
}

/// Returns how many members a list or object has.
pub(super) const fn count(from: &'static [&'static str], to: &'static str) -> Keep {
    Keep { from, to, shape: Shape::Count }
}

impl Keep {
    fn take(&self, input: &Input<'_>) -> Option<Value> {
        match self.shape {
            Shape::Text(most) => {
                input.text(self.from).map(|text| Value::from(text::cut(text, most).as_ref()))
            }
            Shape::Number => input.number(self.from).map(Value::from),
            Shape::Flag => input.flag(self.from).map(Value::from),
            Shape::Id => input.id(self.from).map(|id| Value::from(text::cut(&id, 300).as_ref())),
            Shape::Texts(most) => {
                let texts = input.list(self.from)?.iter().filter_map(Value::as_str).take(PATHS);
                let texts: Vec<Value> =
                    texts.map(|text| Value::from(text::cut(text, most).as_ref())).collect();
                (!texts.is_empty()).then_some(Value::Array(texts))
            }
            Shape::Count => match input.get(self.from)? {
                Value::Array(items) => Some(Value::from(items.len())),
                Value::Object(members) => Some(Value::from(members.len())),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
            },
        }
    }
}

/// Holds what most tools share: a row of another table starts from one of these.
const PLAIN: Row = Row {
    names: &[],
    kind: Kind::ToolUsed,
    lane: Lane::Implementation,
    subtype: SubtypeKey::Uncategorized,
    label: None,
    family: ToolFamily::Coordination,
    operation: "execute",
    importance: Importance::Normal,
    entity: None,
    files: &[],
    keep: &[],
    title: |input| input.tool.to_owned(),
    body: &[],
    also: None,
};

/// Looks at the world and changes nothing.
pub(super) const EXPLORE: Row = Row {
    lane: Lane::Exploration,
    family: ToolFamily::Explore,
    operation: "search",
    importance: Importance::Minor,
    ..PLAIN
};

/// Changes a file.
pub(super) const FILE: Row =
    Row { family: ToolFamily::File, subtype: SubtypeKey::ModifyFile, operation: "modify", ..PLAIN };

/// Talks to other agents, servers or the scheduler.
pub(super) const COORDINATE: Row = Row {
    kind: Kind::AgentActivityLogged,
    lane: Lane::Coordination,
    subtype: SubtypeKey::Delegation,
    operation: "coordinate",
    ..PLAIN
};

/// Plans, work items, questions.
pub(super) const PLAN: Row =
    Row { lane: Lane::Planning, subtype: SubtypeKey::Plan, operation: "plan", ..PLAIN };

/// A shell that runs beside the turn.
pub(super) const TERMINAL: Row =
    Row { family: ToolFamily::Terminal, subtype: SubtypeKey::RunCommand, ..PLAIN };

/// Every table there is.
const TABLES: &[&[Row]] = &[
    files::TABLE,
    search::TABLE,
    web::TABLE,
    shell::TABLE,
    agents::TABLE,
    schedule::TABLE,
    todos::TABLE,
    plans::TABLE,
    questions::TABLE,
    worktrees::TABLE,
    misc::TABLE,
    patch::TABLE,
];

/// Finds the row of a tool.
pub(super) fn find(name: &str) -> Option<&'static Row> {
    TABLES.iter().flat_map(|table| table.iter()).find(|row| row.names.contains(&name))
}

/// Returns every name in the tables.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().flat_map(|table| table.iter()).flat_map(|row| row.names.iter().copied())
}

impl Row {
    /// Reads one call by this row.
    pub(super) fn understand(&self, input: &Input<'_>) -> Meaning {
        let mut metadata = Metadata::new();
        for keep in self.keep {
            if let Some(value) = keep.take(input) {
                metadata.insert(keep.to.to_owned(), value);
            }
        }
        let mut file_paths = Vec::new();
        for key in self.files {
            let Some(path) = input.text(&[*key]) else { continue };
            if file_paths.is_empty() {
                metadata
                    .insert(attributes::FILE_PATH.to_owned(), Value::from(text::cut(path, 1024).as_ref()));
                metadata.insert(
                    attributes::REL_PATH.to_owned(),
                    Value::from(text::cut(input.display_path(path), 1024).as_ref()),
                );
            }
            file_paths.push(input.stored_path(path));
        }
        let entity = self.entity.and_then(|(entity, keys)| {
            let name = input.id(keys)?;
            let name = match entity {
                EntityType::File | EntityType::Directory => input.display_path(&name).to_owned(),
                _ => name,
            };
            Some((entity, text::line(&name, 300)))
        });
        let body =
            input.text(self.body).map(|body| text::cut(body, super::sanitise::TEXT_CHARS).into_owned());
        let mut meaning = Meaning {
            kind: self.kind,
            lane: self.lane,
            semantics: Semantics {
                subtype: self.subtype,
                label: self.label.map(str::to_owned),
                family: self.family,
                operation: self.operation.to_owned(),
                entity,
                source_tool: input.tool.to_owned(),
                importance: self.importance,
            },
            title: text::title(&(self.title)(input)),
            body,
            file_paths,
            metadata,
            recognised: true,
        };
        if let Some(also) = self.also {
            also(input, &mut meaning);
        }
        meaning
    }
}
