//! Tables of text: columns line up, and on a terminal no line is longer than it is wide.
//!
//! The last column is the one that may be long; it is cut where the line ends. Elsewhere nothing is cut, because another
//! program may read it.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::output::{Output, Paint, one_line};

/// To which side a column leans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// One field.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    paint: Option<Paint>,
}

impl Cell {
    /// Creates a field without colour. Whatever the text holds, it becomes one printable line.
    pub(crate) fn new(text: impl AsRef<str>) -> Cell {
        Cell { text: one_line(text.as_ref()), paint: None }
    }

    /// Returns the field in colour.
    pub(crate) fn paint(mut self, paint: Paint) -> Cell {
        self.paint = Some(paint);
        self
    }

    /// Returns the field further to the right.
    pub(crate) fn indent(mut self, by: usize) -> Cell {
        self.text.insert_str(0, &" ".repeat(by));
        self
    }
}

/// A table that is being filled.
#[derive(Debug)]
pub(crate) struct Table {
    heads: Vec<(&'static str, Side)>,
    rows: Vec<Vec<Cell>>,
    margin: usize,
}

impl Table {
    /// Creates a table with these columns.
    pub(crate) fn new(heads: &[(&'static str, Side)]) -> Table {
        Table { heads: heads.to_vec(), rows: Vec::new(), margin: 0 }
    }

    /// Returns the table with so many blanks before each line.
    pub(crate) fn margin(mut self, margin: usize) -> Table {
        self.margin = margin;
        self
    }

    /// Adds a line.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Renders the table as text.
    pub(crate) fn render(&self, output: &Output) -> String {
        self.lines(output, output.width())
    }

    /// Renders the table as text, without the names of its columns.
    pub(crate) fn render_bare(&self, output: &Output) -> String {
        self.lines_of(output, output.width(), &[])
    }

    fn lines(&self, output: &Output, width: Option<usize>) -> String {
        let heads = self.heads.iter().map(|(name, _)| Cell::new(name).paint(Paint::Dim)).collect();
        self.lines_of(output, width, &[heads])
    }

    fn lines_of(&self, output: &Output, width: Option<usize>, heads: &[Vec<Cell>]) -> String {
        let all = || heads.iter().chain(&self.rows);
        let widths: Vec<usize> = (0..self.heads.len())
            .map(|column| {
                all().filter_map(|row| row.get(column)).map(|cell| cell.text.width()).max().unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        for row in all() {
            let mut used = self.margin;
            let mut line = " ".repeat(self.margin);
            let last = row.len().saturating_sub(1);
            for (column, cell) in row.iter().enumerate() {
                let side = self.heads.get(column).map_or(Side::Left, |(_, side)| *side);
                let wide = widths.get(column).copied().unwrap_or(0);
                // Only the last column is cut: those before it hold ids and numbers, which are useless in part.
                let room = width.map(|width| width.saturating_sub(used).max(8));
                let shown = match room {
                    Some(room) if column == last && side == Side::Left => cut(&cell.text, room),
                    _ => cell.text.clone(),
                };
                let blanks = " ".repeat(wide.saturating_sub(shown.width()));
                let painted = match cell.paint {
                    Some(paint) => output.paint(paint, &shown),
                    None => shown,
                };
                match side {
                    Side::Right => line.push_str(&format!("{blanks}{painted}")),
                    Side::Left if column == last => line.push_str(&painted),
                    Side::Left => line.push_str(&format!("{painted}{blanks}")),
                }
                if column != last {
                    line.push_str("  ");
                }
                used += wide + 2;
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Returns the beginning of a text that fits into so many columns, with dots if something is left out.
pub(crate) fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut shown = String::new();
    // The dots take a column.
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > room {
            break;
        }
        shown.push(character);
    }
    shown.push('…');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&[("name", Side::Left), ("n", Side::Right), ("title", Side::Left)]);
        table.row(vec![Cell::new("日本"), Cell::new("7"), Cell::new("a\nlong title of many words")]);
        table.row(vec![Cell::new("shop"), Cell::new("1234"), Cell::new("")]);
        table
    }

    #[test]
    fn columns_line_up_in_every_script_and_nothing_is_cut_in_a_pipe() {
        let text = table().lines(&Output::plain(), None);
        assert_eq!(text, "name     n  title\n日本     7  a long title of many words\nshop  1234\n");
    }

    #[test]
    fn on_a_terminal_the_last_column_ends_where_the_line_ends() {
        let text = table().margin(2).lines(&Output::plain(), Some(24));
        assert_eq!(text, "  name     n  title\n  日本     7  a long ti…\n  shop  1234\n");
        for line in text.lines() {
            assert!(line.width() <= 24, "{line}");
        }
    }

    #[test]
    fn a_cut_is_never_wider_than_the_room() {
        for room in 1..12 {
            assert!(cut("a日本語のtext", room).width() <= room.max(1), "{room}");
        }
        assert_eq!(cut("short", 5), "short");
    }
}
