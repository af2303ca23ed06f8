//! A scene as characters: lines of braille dots, cells as half blocks or shades.

use crate::{
    Histogram,
    axis::{AxisRange, Tick},
    color::{self, Rgb},
    reduce::{Line, Map},
    scene::{Content, Scene},
};

/// A character and its colours; `None` is the colour of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The character, of one column.
    pub symbol: char,
    /// Colour of the character.
    pub fore: Option<Rgb>,
    /// Colour of the background.
    pub back: Option<Rgb>,
}

impl Cell {
    /// A space.
    pub const BLANK: Self = Self { symbol: ' ', fore: None, back: None };
}

/// Characters with their colours, as a terminal shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The cells, row after row.
    pub cells: Vec<Cell>,
}

/// The escape sequence that ends colours, if there are any.
fn reset(colors: (Option<Rgb>, Option<Rgb>)) -> &'static str {
    if colors == (None, None) { "" } else { "\x1b[0m" }
}

/// The escape sequence of a colour, of the character (38) or of the background (48).
fn sequence(layer: u8, Rgb(r, g, b): Rgb, is_true_color: bool) -> String {
    if is_true_color {
        return format!("\x1b[{layer};2;{r};{g};{b}m");
    }
    let level = |part: u8| (u32::from(part) * 5 + 127) / 255;
    format!("\x1b[{layer};5;{}m", 16 + 36 * level(r) + 6 * level(g) + level(b))
}

/// Parts of a picture in characters: the tick labels, and the plane between the axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    left: usize,
    top: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Plane {
    /// The ticks of the y axis.
    fn y_ticks(&self, scene: &Scene) -> Vec<Tick> {
        scene.y.ticks((self.height / 3).max(2))
    }

    /// Widens the space for the labels of the y axis to at most a third of the picture: a cut label
    /// would be a wrong number.
    fn widen_margin(&mut self, scene: &Scene) {
        if self.left == 0 {
            return;
        }
        let longest = self.y_ticks(scene).iter().map(|tick| tick.text.chars().count()).max();
        let most = (self.left + self.width) / 3;
        let more = (longest.unwrap_or(0) + 2).min(most).saturating_sub(self.left);
        (self.left, self.width) = (self.left + more, self.width - more);
    }
}

/// The plane of a picture of `width` by `height` characters. Labels of the y axis have eight
/// characters, unless [`Plane::widen_margin`] widens their space.
pub(crate) fn plane(width: usize, height: usize) -> Plane {
    let left = if width < 40 { 0 } else { 10 };
    let (above, below) = if height < 10 { (0, 1) } else { (1, 3) };
    Plane {
        left,
        top: above,
        width: width.saturating_sub(left + 1).max(1),
        height: height.saturating_sub(above + below).max(1),
    }
}

/// Draws a scene. Without colours, shades replace those of a map.
pub(crate) fn draw(scene: &Scene, width: usize, height: usize, has_colors: bool) -> Cells {
    let mut cells = Cells::new(width, height);
    let mut plane = plane(width, height);
    plane.widen_margin(scene);
    match &scene.content {
        Content::Lines { lines, start, step } => {
            for ((_, line), color) in lines.iter().zip(color::LINES.iter().cycle()) {
                let x = |n: usize| scene.x.share(step.mul_add(line.position(n), *start));
                cells.line(&plane, &scene.y, line, &x, *color);
            }
            for (_, line) in lines {
                let x = |n: usize| scene.x.share(step.mul_add(line.position(n), *start));
                cells.marks(&plane, line, &x);
            }
        }
        Content::Map { map, values, .. } => cells.map(&plane, map, values, has_colors),
        Content::Bars(histogram) => cells.bars(&plane, &scene.y, histogram),
    }
    cells.axes(scene, &plane);
    cells
}

impl Cells {
    /// Blank cells.
    #[must_use]
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, cells: vec![Cell::BLANK; width.saturating_mul(height)] }
    }

    /// The cells of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = &Cell> {
        self.cells.iter().skip(row.saturating_mul(self.width)).take(self.width)
    }

    /// The lines with their colours as escape sequences: all colours, or the nearest of the 216 of
    /// every colour terminal. Lines have no blanks at their end.
    #[must_use]
    pub fn escaped(&self, is_true_color: bool) -> String {
        let mut text = String::new();
        for line in self.cells.chunks(self.width.max(1)) {
            let end = line.iter().rposition(|cell| *cell != Cell::BLANK).map_or(0, |last| last + 1);
            let mut colors = (None, None);
            for cell in line.iter().take(end) {
                let wanted = (cell.fore, cell.back);
                if wanted != colors {
                    text += reset(colors);
                    text.extend(wanted.0.map(|color| sequence(38, color, is_true_color)));
                    text.extend(wanted.1.map(|color| sequence(48, color, is_true_color)));
                    colors = wanted;
                }
                text.push(cell.symbol);
            }
            text += reset(colors);
            text.push('\n');
        }
        text
    }

    fn set(&mut self, col: usize, row: usize, cell: Cell) {
        if col < self.width
            && let Some(to) = self.cells.get_mut(row.saturating_mul(self.width).saturating_add(col))
        {
            *to = cell;
        }
    }

    fn write(&mut self, col: usize, row: usize, text: &str) {
        if row >= self.height {
            return;
        }
        for (n, symbol) in text.chars().enumerate() {
            self.set(col.saturating_add(n), row, Cell { symbol, ..Cell::BLANK });
        }
    }

    /// Dots: two by four in a character.
    fn dot(&mut self, plane: &Plane, x: usize, y: usize, color: Rgb) {
        const DOTS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let (col, row) = (plane.left + x / 2, plane.top + y / 4);
        if x / 2 >= plane.width || y / 4 >= plane.height || col >= self.width {
            return;
        }
        let Some(cell) = self.cells.get_mut(row * self.width + col) else { return };
        let dots = u32::from(cell.symbol).checked_sub(0x2800).filter(|dots| *dots < 256);
        let dots = dots.unwrap_or(0) | DOTS[y % 4][x % 2];
        cell.symbol = char::from_u32(0x2800 + dots).unwrap_or('.');
        cell.fore = Some(color);
    }

    fn line(
        &mut self,
        plane: &Plane,
        y: &AxisRange,
        line: &Line,
        x: &dyn Fn(usize) -> f64,
        color: Rgb,
    ) {
        let (width, height) = (2 * plane.width, 4 * plane.height);
        let row = |value: f64| position(1.0 - y.share(value), height);
        let mut last: Option<(usize, usize)> = None;
        for (n, column) in line.columns.iter().enumerate() {
            if !column.is_drawn() {
                last = last.filter(|_| column.is_empty());
                continue;
            }
            let col = position(x(n), width);
            let (low, high) = (row(column.extent.min), row(column.extent.max));
            for at in high..=low {
                self.dot(plane, col, at, color);
            }
            let first = row(column.first);
            if let Some(from) = last {
                self.segment(plane, from, (col, first), color);
            }
            last = Some((col, row(column.last)));
        }
    }

    fn segment(&mut self, plane: &Plane, from: (usize, usize), to: (usize, usize), color: Rgb) {
        let steps = to.0.abs_diff(from.0).max(to.1.abs_diff(from.1)).max(1);
        for step in 0..=steps {
            let way = |from: usize, to: usize| (from * (steps - step) + to * step) / steps;
            self.dot(plane, way(from.0, to.0), way(from.1, to.1), color);
        }
    }

    /// Marks NaN below the line, and infinities at the edges beyond which they lie.
    fn marks(&mut self, plane: &Plane, line: &Line, x: &dyn Fn(usize) -> f64) {
        for (n, column) in line.columns.iter().enumerate() {
            let col = plane.left + position(x(n), plane.width);
            let bottom = plane.top + plane.height - 1;
            let mark = |symbol, color| Cell { symbol, fore: Some(color), back: None };
            if column.has_nan {
                self.set(col, bottom, mark('×', color::NAN));
            }
            if column.has_above {
                self.set(col, plane.top, mark('↑', color::NAN));
            }
            if column.has_below {
                self.set(col, bottom, mark('↓', color::NAN));
            }
        }
    }

    fn map(&mut self, plane: &Plane, map: &Map, values: &AxisRange, has_colors: bool) {
        if map.nrows == 0 || map.ncols == 0 {
            return;
        }
        // Two cells in a character, or one without colours.
        let height = if has_colors { 2 * plane.height } else { plane.height };
        let mean = |row: usize, col: usize| {
            map.mean(row * map.nrows / height.max(1), col * map.ncols / plane.width)
        };
        let color = |mean: f64| match mean.is_finite() {
            true => color::map(values.share(mean)),
            false => color::NAN,
        };
        for row in 0..plane.height {
            for col in 0..plane.width {
                let cell = match has_colors {
                    true => Cell {
                        symbol: '▀',
                        fore: Some(color(mean(2 * row, col))),
                        back: Some(color(mean(2 * row + 1, col))),
                    },
                    false => Cell { symbol: shade(mean(row, col), values), ..Cell::BLANK },
                };
                self.set(plane.left + col, plane.top + row, cell);
            }
        }
    }

    fn bars(&mut self, plane: &Plane, y: &AxisRange, histogram: &Histogram) {
        const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let nbins = histogram.counts.len().max(1);
        for col in 0..plane.width {
            let count = histogram.counts.get(col * nbins / plane.width).copied().unwrap_or(0);
            let mut eighths = position(y.share(count as f64), 8 * plane.height + 1);
            if count > 0 {
                eighths = eighths.max(1);
            }
            for row in 0..plane.height {
                let left = eighths.saturating_sub(8 * row).min(8);
                let fore = (left > 0).then_some(color::LINES[0]);
                let cell = Cell { symbol: EIGHTHS[left], fore, back: None };
                self.set(plane.left + col, plane.top + plane.height - 1 - row, cell);
            }
        }
    }

    fn axes(&mut self, scene: &Scene, plane: &Plane) {
        if plane.top > 0 {
            let title = match scene.y_label.is_empty() {
                true => scene.title.clone(),
                false => format!("{}   {}", scene.title, scene.y_label),
            };
            self.write(0, 0, &shortened(&title, self.width));
        }
        if plane.left > 0 {
            for row in 0..plane.height {
                self.write(plane.left - 1, plane.top + row, "│");
            }
            for tick in plane.y_ticks(scene) {
                let row = position(1.0 - scene.y.share(tick.value), plane.height);
                let text = shortened(&tick.text, plane.left - 2);
                let col = plane.left - 1 - text.chars().count();
                self.write(col.saturating_sub(1), plane.top + row, &text);
                self.write(plane.left - 1, plane.top + row, "┤");
            }
        }
        let below = plane.top + plane.height;
        if self.height.saturating_sub(below) < 2 {
            let notes: Vec<&str> = scene.notes.iter().map(|note| note.text.as_str()).collect();
            self.write(0, below, &shortened(&notes.join("  "), self.width));
            return;
        }
        if plane.left > 0 {
            self.write(plane.left - 1, below, "└");
        }
        self.write(plane.left, below, &"─".repeat(plane.width));
        let mut free = 0;
        for tick in scene.x.ticks((plane.width / 14).max(2)) {
            let col = plane.left + position(scene.x.share(tick.value), plane.width);
            self.write(col, below, "┬");
            let len = tick.text.chars().count();
            let start = col.saturating_sub(len / 2).min(self.width.saturating_sub(len));
            if start >= free {
                self.write(start, below + 1, &tick.text);
                free = start + len + 1;
            }
        }
        let mut notes = vec![scene.x_label.clone()];
        if let Content::Map { values, label, .. } = &scene.content {
            let [low, high] = [values.low, values.high].map(|end| values.text(end));
            notes.push(format!("{label} {low} to {high}"));
        }
        notes.extend(scene.notes.iter().map(|note| note.text.clone()));
        notes.retain(|note| !note.is_empty());
        self.write(0, below + 2, &shortened(&notes.join("; "), self.width));
    }
}

/// A shade for a share of the range; NaN is a cross.
fn shade(mean: f64, values: &AxisRange) -> char {
    const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
    match mean.is_finite() {
        true => SHADES[position(values.share(mean), SHADES.len())],
        false => '×',
    }
}

/// The index of the part, of `count` equal ones, in which a share lies.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "is clamped")]
fn position(share: f64, count: usize) -> usize {
    let last = count.saturating_sub(1);
    ((share.clamp(0.0, 1.0) * last as f64).round() as usize).min(last)
}

/// A text, shortened to `room` characters.
pub(crate) fn shortened(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let kept = text.chars().take(room.saturating_sub(3));
    kept.chain("...".chars().take(room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Extent;

    fn scene(content: Content, y: AxisRange) -> Scene {
        let x = AxisRange::new(0.0, 9.0);
        let (title, x_label, y_label) = ("t".to_owned(), "x".to_owned(), String::new());
        Scene { title, x_label, y_label, x, y, notes: vec![], content }
    }

    fn symbols(cells: &Cells) -> Vec<String> {
        cells
            .cells
            .chunks(cells.width)
            .map(|line| line.iter().map(|it| it.symbol).collect())
            .collect()
    }

    #[test]
    fn pictures_fit_any_cells() {
        let mut line = Line::new(10, 10);
        line.add(
            0,
            &[1.0, f64::NAN, 3.0, f64::INFINITY, f64::NEG_INFINITY, 1.0, 2.0, 3.0, 4.0, 5.0],
        );
        let y = AxisRange::new(1.0, 5.0);
        let mut map = Map::new([3, 4], 3, 4);
        map.add(
            &(0..3),
            &(0..4),
            &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN, 7.0, 8.0, 9.0, 10.0, 11.0],
        );
        let mut bars = Histogram::new(0.0, 9.0, 5);
        bars.count(&[0.0, 1.0, 8.9], 1);
        let contents = [
            Content::Lines { lines: vec![(String::new(), line)], start: 0.0, step: 1.0 },
            Content::Map { map, values: AxisRange::new(0.0, 11.0), label: String::new() },
            Content::Bars(bars),
        ];
        for content in contents {
            let scene = scene(content, y.clone());
            for (width, height) in
                [(1, 1), (5, 2), (20, 5), (39, 9), (40, 10), (80, 24), (300, 100)]
            {
                for has_colors in [false, true] {
                    let cells = draw(&scene, width, height, has_colors);
                    assert_eq!(cells.cells.len(), width * height);
                    assert_eq!(cells.row(height - 1).count(), width);
                }
            }
        }
    }

    #[test]
    fn cells_without_colours_are_shades() {
        let mut map = Map::new([1, 5], 1, 5);
        map.add(&(0..1), &(0..5), &[0.0, 1.0, 2.0, 3.0, f64::NAN]);
        let values = AxisRange::new(0.0, 3.0);
        let scene =
            scene(Content::Map { map, values, label: String::new() }, AxisRange::new(0.0, 1.0));
        let lines = symbols(&draw(&scene, 6, 2, false));
        assert_eq!(lines[0], " ░▓█× ");
        let mut extent = Extent::EMPTY;
        extent.add(&[f64::NAN]);
        assert_eq!(extent.ends(), None);
    }

    #[test]
    fn colours_change_where_they_differ_and_lines_end_with_their_text() {
        let mut cells = Cells::new(4, 2);
        let red = Some(Rgb(255, 0, 0));
        cells.cells[1] = Cell { symbol: 'a', fore: red, back: None };
        cells.cells[2] = Cell { symbol: 'b', fore: red, back: None };
        assert_eq!(cells.escaped(true), " \u{1b}[38;2;255;0;0mab\u{1b}[0m\n\n");
        assert_eq!(cells.escaped(false), " \u{1b}[38;5;196mab\u{1b}[0m\n\n");
        cells.cells[2].back = red;
        let both = " \u{1b}[38;5;196ma\u{1b}[0m\u{1b}[38;5;196m\u{1b}[48;5;196mb\u{1b}[0m\n\n";
        assert_eq!(cells.escaped(false), both);
    }
}
