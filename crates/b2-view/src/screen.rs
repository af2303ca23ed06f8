//! The characters of a screen with their colours, and functions that draw shapes.

use core::fmt;

use b2_plot::{Cell, Cells, Rgb};
use unicode_width::UnicodeWidthChar as _;

/// A colour of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// The border of the part with the focus.
    Focus,
    /// Names and numbers beside values.
    Faint,
    /// Damaged items or chunks.
    Damaged,
    /// A colour of a picture.
    Exact(Rgb),
}

impl Color {
    /// The colour in a picture with a dark background.
    #[must_use]
    pub const fn rgb(self) -> Rgb {
        match self {
            Self::Focus => Rgb(86, 182, 194),
            Self::Faint => Rgb(128, 134, 142),
            Self::Damaged => Rgb(224, 86, 86),
            Self::Exact(color) => color,
        }
    }
}

/// The default colours of text and background in a picture of a screen.
const FORE: Rgb = Rgb(214, 214, 214);
const BACK: Rgb = Rgb(24, 26, 31);

/// The colours of a character; `None` is the colour of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// The colour of the character.
    pub fore: Option<Color>,
    /// The colour of its background.
    pub back: Option<Color>,
    /// Whether the two colours are exchanged.
    pub is_reversed: bool,
}

impl Style {
    pub(crate) const REVERSED: Self = Self { fore: None, back: None, is_reversed: true };

    pub(crate) fn fore(color: Color) -> Self {
        Self { fore: Some(color), ..Self::default() }
    }

    pub(crate) fn back(color: Color) -> Self {
        Self { back: Some(color), ..Self::default() }
    }
}

/// One position of the screen. A character of two columns leaves the second position without a
/// symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The character.
    pub symbol: Option<char>,
    /// Its colours.
    pub style: Style,
}

/// A rectangle of positions (columns and rows).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Area {
    /// The area without its border.
    fn inner(self) -> Self {
        let (width, height) = (self.width.saturating_sub(2), self.height.saturating_sub(2));
        Self { x: self.x + 1, y: self.y + 1, width, height }
    }

    /// The row `y` of the area.
    pub(crate) fn row(self, y: usize) -> Self {
        let height = usize::from(y < self.height);
        Self { y: self.y + y, height, ..self }
    }

    fn right(self) -> usize {
        self.x + self.width
    }
}

/// All positions, row after row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screen {
    width: usize,
    height: usize,
    places: Vec<Place>,
}

impl Screen {
    /// An empty screen.
    #[must_use]
    pub fn new((width, height): (u16, u16)) -> Self {
        let (width, height) = (usize::from(width), usize::from(height));
        let blank = Place { symbol: Some(' '), style: Style::default() };
        Self { width, height, places: vec![blank; width * height] }
    }

    /// Columns and rows.
    #[must_use]
    pub const fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    pub(crate) fn area(&self) -> Area {
        Area { x: 0, y: 0, width: self.width, height: self.height }
    }

    /// The rows from the top.
    pub fn rows(&self) -> impl Iterator<Item = &[Place]> {
        self.places.chunks(self.width.max(1))
    }

    /// Writes `text` at the start of the first row of `area`, cut at the end of the area.
    pub(crate) fn text(&mut self, area: Area, text: &str, style: Style) {
        let end = area.right().min(self.width);
        let mut x = area.x;
        if area.height == 0 || area.y >= self.height {
            return;
        }
        // Combining marks have no column of their own.
        let letters = text.chars().map(|letter| (letter, letter.width().unwrap_or(0)));
        for (letter, width) in letters.filter(|(_, width)| *width > 0) {
            if x + width > end {
                return;
            }
            for (n, symbol) in [Some(letter), None].into_iter().take(width).enumerate() {
                self.places[area.y * self.width + x + n] = Place { symbol, style };
            }
            x += width;
        }
    }

    /// Writes `text` as [`Self::text`] does, and applies the style to the rest of the row too.
    pub(crate) fn line(&mut self, area: Area, text: &str, style: Style) {
        self.text(area, &" ".repeat(area.width), style);
        self.text(area, text, style);
    }

    /// Writes text in as many lines as necessary, broken at spaces.
    pub(crate) fn paragraph(&mut self, area: Area, text: &str) {
        let lines = text.lines().flat_map(|line| wrap(line, area.width));
        for (y, line) in lines.take(area.height).enumerate() {
            self.text(area.row(y), line, Style::default());
        }
    }

    /// Draws the border of `area` with a title, and returns the inner part.
    pub(crate) fn border(&mut self, area: Area, title: &str, style: Style) -> Area {
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

    /// The rows that differ from another screen, with their numbers; all if the sizes differ.
    pub fn changed_rows(&self, shown: Option<&Self>) -> impl Iterator<Item = (usize, &[Place])> {
        let is_alike = |shown: &&Self| shown.size() == self.size();
        let mut old = shown.filter(is_alike).map(Self::rows);
        self.rows()
            .enumerate()
            .filter(move |(_, row)| old.as_mut().and_then(Iterator::next) != Some(row))
    }

    /// The screen as a picture, for documents.
    #[must_use]
    pub fn png(&self) -> Vec<u8> {
        let cell = |place: &Place| {
            let rgb = |color: Option<Color>, default| color.map_or(default, Color::rgb);
            let (fore, back) = (rgb(place.style.fore, FORE), rgb(place.style.back, BACK));
            let (fore, back) = if place.style.is_reversed { (back, fore) } else { (fore, back) };
            Cell { symbol: place.symbol.unwrap_or(' '), fore: Some(fore), back: Some(back) }
        };
        let cells = self.places.iter().map(cell).collect();
        Cells { width: self.width, height: self.height, cells }.png(FORE, BACK)
    }
}

/// The text of the screen, without its colours.
impl fmt::Display for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows().try_for_each(|row| {
            writeln!(f, "{}", row.iter().filter_map(|place| place.symbol).collect::<String>())
        })
    }
}

/// Splits `line` into lines of at most `width` columns.
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
    fn only_rows_that_changed_are_given() {
        let mut old = Screen::new((3, 2));
        old.text(old.area(), "abc", Style::default());
        let mut new = old.clone();
        new.text(new.area().row(1), "xyz", Style::fore(Color::Faint));
        let changed = |shown: Option<&Screen>| -> Vec<usize> {
            new.changed_rows(shown).map(|(y, _)| y).collect()
        };
        assert_eq!(changed(None), [0, 1]);
        assert_eq!(changed(Some(&Screen::new((4, 2)))), [0, 1]);
        assert_eq!(changed(Some(&old)), [1]);
        assert!(changed(Some(&new)).is_empty());
    }
}
