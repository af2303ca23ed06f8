//! Text in columns: each as wide as its widest cell, two spaces apart, without spaces at the end.

use core::fmt;

use unicode_width::UnicodeWidthStr;

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// To the left.
    Left,
    /// To the right.
    Right,
}

/// Rows of cells.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: &[Align]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    fn width(&self, column: usize) -> usize {
        self.rows
            .iter()
            .filter_map(|row| row.get(column))
            .map(|cell| UnicodeWidthStr::width(cell.as_str()))
            .max()
            .unwrap_or(0)
    }
}

/// `text` in a cell of `width` terminal columns; East Asian characters take two. `{:width$}` cannot
/// pad to more than 65,535.
pub fn pad(text: &str, width: usize, align: Align) -> String {
    let spaces = " ".repeat(width.saturating_sub(UnicodeWidthStr::width(text)));
    match align {
        Align::Left => format!("{text}{spaces}"),
        Align::Right => format!("{spaces}{text}"),
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| self.width(column)).collect();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, width), align) in row.iter().zip(&widths).zip(&self.columns) {
                line += &pad(cell, *width, *align);
                line += "  ";
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        let mut table = Table::new(&[Align::Left, Align::Right]);
        table.row(["東京", "1"]);
        table.row(["abc", "22"]);
        assert_eq!(table.to_string(), "東京   1\nabc   22\n");
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&[Align::Left, Align::Right, Align::Left]);
        table.row(["Name", "Size", "Note"]);
        table.row(["a", "10", ""]);
        table.row(["long name", "7", "x"]);
        assert_eq!(
            table.to_string(),
            "Name       Size  Note\na            10\nlong name     7  x\n"
        );
    }
}
