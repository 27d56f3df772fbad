//! The tables and views as people read of them, made of the definitions: what is documented is what is there.

use std::fmt::Write;

use super::{Column, TABLES, VIEWS};

/// Text before the tables that explains their design.
const WHY: &str = include_str!("why.md");

/// Renders the whole page, as `docs/tables.md` keeps it.
#[must_use]
pub fn page() -> String {
    let mut page = WHY.to_owned();
    for view in VIEWS {
        write!(
            page,
            "\n## View `{}`\n\n{}.\n\n| column | holds |\n|---|---|\n",
            view.name,
            upper(view.about)
        )
        .ok();
        rows(&mut page, view.columns, |_| String::new());
    }
    for table in TABLES {
        write!(
            page,
            "\n## Table `{}`\n\n{}. Ordered by ({}).\n\n| column | type | codec | holds |\n|---|---|---|---|\n",
            table.name,
            upper(table.about),
            table.key.join(", ")
        )
        .ok();
        rows(&mut page, table.columns, |column| format!(" `{}` | {} |", column.kind, column.codec));
        if !table.indexes.is_empty() {
            page.push_str("\n| index over granules | of | type |\n|---|---|---|\n");
            for (name, expression, kind) in table.indexes {
                writeln!(page, "| `{name}` | {expression} | {kind} |").ok();
            }
        }
    }
    page
}

fn rows(page: &mut String, columns: &[Column], middle: impl Fn(&Column) -> String) {
    for column in columns {
        writeln!(page, "| `{}` |{} {} |", column.name, middle(column), column.about).ok();
    }
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
