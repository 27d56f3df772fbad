//! The models in the keys of sums.

use std::collections::HashMap;

use rusqlite::Connection;

use super::text::Texts;
pub(crate) use crate::project::bucket::Bucket;
use crate::project::bucket::model_of;

/// Reads keys of models, each once.
pub(crate) struct Models<'conn> {
    texts: Texts<'conn>,
    known: HashMap<i64, (String, Option<String>)>,
}

impl<'conn> Models<'conn> {
    pub(crate) fn new(conn: &'conn Connection) -> Self {
        Self { texts: Texts::new(conn), known: HashMap::new() }
    }

    /// Returns the model of a key, and the reason if it is what an account knows alone.
    pub(crate) fn split(&mut self, key: i64) -> rusqlite::Result<(&str, Option<&str>)> {
        if !self.known.contains_key(&key) {
            let text = self.texts.word(key)?;
            let (model, reason) = model_of(&text);
            self.known.insert(key, (model.to_owned(), reason.map(str::to_owned)));
        }
        let known = self.known.get(&key);
        Ok(known.map_or(("", None), |(model, reason)| (model.as_str(), reason.as_deref())))
    }
}
