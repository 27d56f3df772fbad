//! Names that mean the same fact.

use std::collections::BTreeSet;

use rusqlite::OptionalExtension;

use super::append::FoldTransaction;
use crate::project::row;

impl FoldTransaction<'_> {
    /// Returns the fact that a key belongs to. Keys that are reported to mean the same become one fact, and of their
    /// numbers the smallest names it.
    pub(super) fn resolve(&mut self, task: i64, own: i64, aliases: &[String]) -> rusqlite::Result<i64> {
        let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)? else {
            return Ok(0);
        };
        if aliases.is_empty() && !known.has_aliases {
            return Ok(own);
        }
        let conn = self.conn;
        let class_of = |number: i64| -> rusqlite::Result<Option<i64>> {
            conn.prepare_cached("SELECT fact FROM alias WHERE task = ?1 AND key = ?2")?
                .query_row([task, number], |row| row.get(0))
                .optional()
        };
        let class = class_of(own)?;
        if aliases.is_empty() {
            return Ok(match class {
                Some(class) => self.join(task, own, &BTreeSet::from([class]), &BTreeSet::new())?,
                None => own,
            });
        }
        known.has_aliases = true;
        let mut classes: BTreeSet<i64> = class.into_iter().collect();
        let mut members = BTreeSet::from([own]);
        for alias in aliases {
            let number = row::number(alias);
            members.insert(number);
            match class_of(number)? {
                Some(class) => {
                    classes.insert(class);
                }
                None if self.has_entries(task, number)? => {
                    classes.insert(number);
                }
                None => {}
            }
        }
        if class.is_none() && self.has_entries(task, own)? {
            classes.insert(own);
        }
        self.join(task, own, &classes, &members)
    }

    pub(super) fn has_entries(&self, task: i64, fact: i64) -> rusqlite::Result<bool> {
        self.conn
            .prepare_cached("SELECT 1 FROM entry WHERE task = ?1 AND fact = ?2 LIMIT 1")?
            .exists([task, fact])
    }

    /// Makes one class of all these: the number of the class is the smallest number of a key that entries begin with.
    fn join(
        &mut self,
        task: i64,
        own: i64,
        classes: &BTreeSet<i64>,
        members: &BTreeSet<i64>,
    ) -> rusqlite::Result<i64> {
        // A class that so far consists of other names only is named by the first key that entries begin with.
        let mut fact = own;
        for class in classes {
            if *class < fact && self.has_entries(task, *class)? {
                fact = *class;
            }
        }
        for class in classes.iter().filter(|class| **class != fact) {
            self.conn
                .prepare_cached("UPDATE alias SET fact = ?3 WHERE task = ?1 AND fact = ?2")?
                .execute([task, *class, fact])?;
            self.conn
                .prepare_cached("INSERT OR REPLACE INTO alias (task, key, fact) VALUES (?1, ?2, ?3)")?
                .execute([task, *class, fact])?;
            let moved = self
                .conn
                .prepare_cached("UPDATE OR IGNORE entry SET fact = ?3 WHERE task = ?1 AND fact = ?2")?
                .execute([task, *class, fact])?;
            if moved > 0 {
                self.touched.entry((task, *class)).or_default().reload = true;
                self.touched.entry((task, fact)).or_default().reload = true;
            }
        }
        for member in members {
            self.conn
                .prepare_cached("INSERT OR REPLACE INTO alias (task, key, fact) VALUES (?1, ?2, ?3)")?
                .execute([task, *member, fact])?;
        }
        Ok(fact)
    }
}
