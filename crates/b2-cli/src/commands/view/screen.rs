//! The characters of a terminal with their colours, and the shapes that are drawn with them.

use std::io::{self, Write};

use crossterm::{
    cursor::MoveTo,
    queue,
    style::{
        Attribute, Color, Print, ResetColor, SetAttribute, SetBackgroundColor, SetForegroundColor,
    },
    terminal::{Clear, ClearType},
};
use unicode_width::UnicodeWidthChar as _;

/// The colours of a character; `None` is the colour of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) fore: Option<Color>,
    pub(super) back: Option<Color>,
    pub(super) is_reversed: bool,
}

impl Style {
    pub(super) const REVERSED: Self = Self { fore: None, back: None, is_reversed: true };

    pub(super) fn fore(color: Color) -> Self {
        Self { fore: Some(color), ..Self::default() }
    }

    pub(super) fn back(color: Color) -> Self {
        Self { back: Some(color), ..Self::default() }
    }
}

/// One place of the screen. A character of two columns leaves the second one without a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) symbol: Option<char>,
    pub(super) style: Style,
}

/// A rectangle of places (columns and rows).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

impl Area {
    /// Without the columns and rows of its border.
    fn inner(self) -> Self {
        let (width, height) = (self.width.saturating_sub(2), self.height.saturating_sub(2));
        Self { x: self.x + 1, y: self.y + 1, width, height }
    }

    /// The row `y` of the area.
    pub(super) fn row(self, y: usize) -> Self {
        let height = usize::from(y < self.height);
        Self { y: self.y + y, height, ..self }
    }

    fn right(self) -> usize {
        self.x + self.width
    }
}

/// All places, row after row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Screen {
    pub(super) width: usize,
    pub(super) height: usize,
    cells: Vec<Cell>,
}

impl Screen {
    /// An empty screen.
    pub(super) fn new((width, height): (u16, u16)) -> Self {
        let (width, height) = (usize::from(width), usize::from(height));
        let blank = Cell { symbol: Some(' '), style: Style::default() };
        Self { width, height, cells: vec![blank; width * height] }
    }

    pub(super) fn area(&self) -> Area {
        Area { x: 0, y: 0, width: self.width, height: self.height }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &[Cell]> {
        self.cells.chunks(self.width.max(1))
    }

    /// Writes `text` at the start of the first row of `area`, and no further than the area reaches.
    pub(super) fn text(&mut self, area: Area, text: &str, style: Style) {
        let end = area.right().min(self.width);
        let mut x = area.x;
        if area.height == 0 || area.y >= self.height {
            return;
        }
        // Marks that join the letter before them have no column of their own.
        let letters = text.chars().map(|letter| (letter, letter.width().unwrap_or(0)));
        for (letter, width) in letters.filter(|(_, width)| *width > 0) {
            if x + width > end {
                return;
            }
            for (n, symbol) in [Some(letter), None].into_iter().take(width).enumerate() {
                self.cells[area.y * self.width + x + n] = Cell { symbol, style };
            }
            x += width;
        }
    }

    /// Writes `text` as [`Self::text`] does, and gives the rest of the row the style too.
    pub(super) fn line(&mut self, area: Area, text: &str, style: Style) {
        self.text(area, &" ".repeat(area.width), style);
        self.text(area, text, style);
    }

    /// Writes text in as many lines as it needs, broken at spaces.
    pub(super) fn paragraph(&mut self, area: Area, text: &str) {
        let lines = text.lines().flat_map(|line| wrap(line, area.width));
        for (y, line) in lines.take(area.height).enumerate() {
            self.text(area.row(y), line, Style::default());
        }
    }

    /// Draws the border of `area` with a title, and returns the inner part.
    pub(super) fn border(&mut self, area: Area, title: &str, style: Style) -> Area {
        let line = "─".repeat(area.width.saturating_sub(2));
        for y in 0..area.height {
            let (left, right) = match y {
                0 => ("┌", "┐"),
                y if y + 1 == area.height => ("└", "┘"),
                _ => ("│", "│"),
            };
            let row = area.row(y);
            self.text(row, left, style);
            if left != "│" {
                self.text(Area { x: row.x + 1, width: line.chars().count(), ..row }, &line, style);
            }
            let last = area.right().saturating_sub(1);
            self.text(Area { x: last, width: 1, ..row }, right, style);
        }
        let inner = area.inner();
        self.text(Area { y: area.y, height: 1.min(area.height), ..inner }, title, style);
        inner
    }

    /// Brings a terminal that shows `shown` up to date.
    ///
    /// # Errors
    ///
    /// The terminal cannot be written to.
    pub(super) fn write(&self, shown: Option<&Self>, out: &mut impl Write) -> io::Result<()> {
        let shown = shown.filter(|shown| (shown.width, shown.height) == (self.width, self.height));
        if shown.is_none() {
            queue!(out, ResetColor, Clear(ClearType::All))?;
        }
        let mut old = shown.map(Self::rows);
        for (y, row) in self.rows().enumerate() {
            if old.as_mut().and_then(Iterator::next) != Some(row) {
                queue!(out, MoveTo(0, u16::try_from(y).unwrap_or(u16::MAX)))?;
                row.chunk_by(|a, b| a.style == b.style).try_for_each(|run| write_run(run, out))?;
            }
        }
        out.flush()
    }
}

/// Writes characters of one style.
fn write_run(run: &[Cell], out: &mut impl Write) -> io::Result<()> {
    let style = run.first().map_or_else(Style::default, |cell| cell.style);
    queue!(out, SetAttribute(Attribute::Reset))?;
    if style.is_reversed {
        queue!(out, SetAttribute(Attribute::Reverse))?;
    }
    if let Some(color) = style.fore {
        queue!(out, SetForegroundColor(color))?;
    }
    if let Some(color) = style.back {
        queue!(out, SetBackgroundColor(color))?;
    }
    queue!(out, Print(run.iter().filter_map(|cell| cell.symbol).collect::<String>()))
}

/// The lines of at most `width` columns that `line` is shown in.
fn wrap(mut line: &str, width: usize) -> Vec<&str> {
    let mut lines = vec![];
    loop {
        let mut columns = 0;
        let too_far = line.char_indices().find(|(_, letter)| {
            columns += letter.width().unwrap_or(0);
            columns > width
        });
        let Some((at, first)) = too_far else { break };
        let at = if at == 0 { first.len_utf8() } else { at };
        let space = if line[at..].starts_with(' ') { Some(at) } else { line[..at].rfind(' ') };
        let indent = line.len() - line.trim_start().len();
        let (head, rest) = match space.filter(|space| *space > indent) {
            Some(space) => (&line[..space], &line[space + 1..]),
            None => line.split_at(at),
        };
        lines.push(head);
        line = rest;
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
impl core::fmt::Display for Screen {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.rows().try_for_each(|row| {
            writeln!(f, "{}", row.iter().filter_map(|cell| cell.symbol).collect::<String>())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_or_where_there_is_none() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("one two three", 6), ["one", "two", "three"]);
        assert_eq!(wrap("abcdef", 4), ["abcd", "ef"]);
        assert_eq!(wrap("  ab cd", 5), ["  ab", "cd"]);
        assert_eq!(wrap("日本語", 4), ["日本", "語"]);
        assert_eq!(wrap("日本", 1), ["日", "本"]);
        assert_eq!(wrap("", 3), [""]);
    }

    #[test]
    fn text_ends_at_the_edge_and_wide_letters_are_whole() {
        let mut screen = Screen::new((5, 1));
        screen.text(screen.area(), "ab日本", Style::default());
        assert_eq!(screen.to_string(), "ab日 \n");
        screen.text(screen.area(), "e\u{301}xyzuvw", Style::default());
        assert_eq!(screen.to_string(), "exyzu\n");
    }

    #[test]
    fn a_border_has_corners_and_a_title() {
        let mut screen = Screen::new((6, 3));
        let inner = screen.border(screen.area(), "ab", Style::default());
        assert_eq!(screen.to_string(), "┌ab──┐\n│    │\n└────┘\n");
        assert_eq!(inner, Area { x: 1, y: 1, width: 4, height: 1 });
    }

    #[test]
    fn only_lines_that_changed_are_written() {
        let mut old = Screen::new((3, 2));
        old.text(old.area(), "abc", Style::default());
        let mut new = old.clone();
        new.text(new.area().row(1), "xyz", Style::fore(Color::Red));
        let written = |shown: Option<&Screen>| {
            let mut out = vec![];
            new.write(shown, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(written(None).contains("abc") && written(None).contains("xyz"));
        assert!(!written(Some(&old)).contains("abc") && written(Some(&old)).contains("xyz"));
        assert_eq!(written(Some(&new)), "");
    }
}
