//! A scene as shapes on a plane of pixels: frame, ticks, texts, and the content.

use crate::{
    axis::{AxisRange, Tick},
    color::{self, Rgb},
    reduce::Line,
    scene::{Content, Scene},
};

/// Width and height (pixels) of a letter of the texts.
pub(crate) const LETTER: (f64, f64) = (7.0, 16.0);

/// Something to draw, with its position (pixels from the left and the top).
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Rect {
        x: f64,
        y: f64,
        width: f64,
        height: f64,
        color: Rgb,
    },
    Path {
        points: Vec<(f64, f64)>,
        color: Rgb,
    },
    /// The baseline of a text starts, has its middle or ends at `x`.
    Text {
        x: f64,
        y: f64,
        text: String,
        anchor: Anchor,
        is_upright: bool,
        color: Rgb,
    },
    /// Cells of equal size, row after row.
    Cells {
        x: f64,
        y: f64,
        width: f64,
        height: f64,
        ncols: usize,
        colors: Vec<Rgb>,
    },
}

/// The part of a text that is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Shapes, the last of them in front.
#[derive(Clone, Debug)]
pub(crate) struct Canvas {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) shapes: Vec<Shape>,
}

/// The part of a canvas between the axes.
#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn x(&self, share: f64) -> f64 {
        (self.right - self.left).mul_add(share.clamp(-0.01, 1.01), self.left)
    }

    fn y(&self, share: f64) -> f64 {
        (self.top - self.bottom).mul_add(share.clamp(-0.01, 1.01), self.bottom)
    }

    fn width(&self) -> f64 {
        self.right - self.left
    }

    fn height(&self) -> f64 {
        self.bottom - self.top
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "is small")]
fn ticks_along(len: f64, each: f64) -> usize {
    (len / each).clamp(2.0, 12.0) as usize
}

fn longest(ticks: &[Tick]) -> f64 {
    ticks.iter().map(|tick| tick.text.chars().count()).max().unwrap_or(0) as f64
}

/// A text that fits into `len` pixels.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "is small")]
fn shortened(text: &str, len: f64) -> String {
    let room = (len / LETTER.0).max(4.0) as usize;
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room - 3).chain("...".chars()).collect()
}

impl Canvas {
    /// Draws a scene.
    pub(crate) fn new(scene: &Scene, width: u32, height: u32) -> Self {
        let mut canvas = Self { width, height, shapes: vec![] };
        let (w, h) = (f64::from(width), f64::from(height));
        let y_ticks = scene.y.ticks(ticks_along(h - 90.0, 45.0));
        let longest = longest(&y_ticks).max(2.0);
        let bar_ticks = match &scene.content {
            Content::Map { values, .. } => values.ticks(ticks_along(h - 90.0, 45.0)),
            _ => vec![],
        };
        let bar = match &scene.content {
            Content::Map { .. } => 58.0 + self::longest(&bar_ticks) * LETTER.0,
            _ => 16.0,
        };
        let below = if scene.notes.is_empty() { 46.0 } else { 66.0 };
        let mut area = Area {
            left: (30.0 + longest * LETTER.0).round().min(w / 2.0),
            top: 32.0,
            right: (w - bar).round(),
            bottom: h - below,
        };
        area.right = area.right.max(area.left + 20.0);
        area.bottom = area.bottom.max(area.top + 20.0);
        let room = (area.width() / (12.0 * LETTER.0)).max(1.0);
        let x_ticks = scene.x.ticks(ticks_along(room, 1.0));
        canvas.content(scene, &area, &x_ticks, &y_ticks);
        canvas.frame(&area);
        canvas.x_axis(scene, &area, &x_ticks);
        canvas.y_axis(scene, &area, &y_ticks);
        if let Content::Map { values, label, .. } = &scene.content {
            canvas.color_bar(values, label, &area, &bar_ticks);
        }
        let title = shortened(&scene.title, w - 16.0);
        canvas.text(8.0, 20.0, &title, Anchor::Start);
        canvas.notes(scene, h - 10.0);
        canvas
    }

    fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, color: Rgb) {
        self.shapes.push(Shape::Rect { x, y, width, height, color });
    }

    fn text(&mut self, x: f64, y: f64, text: &str, anchor: Anchor) {
        let (text, color) = (text.to_owned(), color::INK);
        self.shapes.push(Shape::Text { x, y, text, anchor, is_upright: false, color });
    }

    fn frame(&mut self, area: &Area) {
        let (left, top) = (area.left - 1.0, area.top - 1.0);
        let (width, height) = (area.width() + 2.0, area.height() + 2.0);
        for (x, y, w, h) in [
            (left, top, width, 1.0),
            (left, area.bottom, width, 1.0),
            (left, top, 1.0, height),
            (area.right, top, 1.0, height),
        ] {
            self.rect(x, y, w, h, color::FRAME);
        }
    }

    fn x_axis(&mut self, scene: &Scene, area: &Area, ticks: &[Tick]) {
        for tick in ticks {
            let x = area.x(scene.x.share(tick.value)).round();
            self.rect(x, area.bottom, 1.0, 5.0, color::FRAME);
            let half = tick.text.chars().count() as f64 * LETTER.0 / 2.0;
            let middle = x.min(f64::from(self.width) - half - 2.0).max(half + 2.0);
            self.text(middle, area.bottom + 18.0, &tick.text, Anchor::Middle);
        }
        let label = shortened(&scene.x_label, area.width());
        self.text((area.left + area.right) / 2.0, area.bottom + 36.0, &label, Anchor::Middle);
    }

    fn y_axis(&mut self, scene: &Scene, area: &Area, ticks: &[Tick]) {
        for tick in ticks {
            let y = area.y(scene.y.share(tick.value)).round();
            self.rect(area.left - 5.0, y, 5.0, 1.0, color::FRAME);
            self.text(area.left - 8.0, y + 5.0, &tick.text, Anchor::End);
        }
        self.upright(14.0, area, &scene.y_label);
    }

    fn upright(&mut self, x: f64, area: &Area, text: &str) {
        let text = shortened(text, area.height());
        let y = (area.top + area.bottom) / 2.0;
        let (anchor, color) = (Anchor::Middle, color::INK);
        self.shapes.push(Shape::Text { x, y, text, anchor, is_upright: true, color });
    }

    fn color_bar(&mut self, values: &AxisRange, label: &str, area: &Area, ticks: &[Tick]) {
        let (x, width) = (area.right + 14.0, 14.0);
        let colors: Vec<Rgb> = (0..128).map(|n| color::map(f64::from(127 - n) / 127.0)).collect();
        let (y, height) = (area.top, area.height());
        self.shapes.push(Shape::Cells { x, y, width, height, ncols: 1, colors });
        for tick in ticks {
            let y = area.y(values.share(tick.value)).round();
            self.rect(x + width, y, 4.0, 1.0, color::FRAME);
            self.text(x + width + 7.0, y + 5.0, &tick.text, Anchor::Start);
        }
        self.upright(f64::from(self.width) - 6.0, area, label);
    }

    fn notes(&mut self, scene: &Scene, y: f64) {
        let mut x = 8.0;
        for note in &scene.notes {
            if let Some(color) = note.color {
                self.rect(x, y - 9.0, 10.0, 10.0, color);
                x += 15.0;
            }
            let text = shortened(&note.text, f64::from(self.width) - x - 8.0);
            self.text(x, y, &text, Anchor::Start);
            x += (text.chars().count() as f64 + 2.0) * LETTER.0;
            if x > f64::from(self.width) - 30.0 {
                break;
            }
        }
    }

    fn content(&mut self, scene: &Scene, area: &Area, x_ticks: &[Tick], y_ticks: &[Tick]) {
        if !matches!(scene.content, Content::Map { .. }) {
            for tick in x_ticks {
                let x = area.x(scene.x.share(tick.value)).round();
                self.rect(x, area.top, 1.0, area.height(), color::GRID);
            }
            for tick in y_ticks {
                let y = area.y(scene.y.share(tick.value)).round();
                self.rect(area.left, y, area.width(), 1.0, color::GRID);
            }
        }
        match &scene.content {
            Content::Lines { lines, start, step } => {
                for ((_, line), color) in lines.iter().zip(color::LINES.iter().cycle()) {
                    let x = |ncolumn: usize| {
                        let position = step.mul_add(line.position(ncolumn), *start);
                        area.x(scene.x.share(position))
                    };
                    self.line(scene, area, line, &x, *color);
                    self.marks(area, line, &x);
                }
            }
            Content::Map { map, values, .. } => {
                let cells =
                    (0..map.nrows).flat_map(|row| (0..map.ncols).map(move |col| (row, col)));
                let colors = cells.map(|(row, col)| match map.mean(row, col) {
                    mean if mean.is_finite() => color::map(values.share(mean)),
                    _ => color::NAN,
                });
                let (x, y, width, height) = (area.left, area.top, area.width(), area.height());
                let (ncols, colors) = (map.ncols, colors.collect());
                self.shapes.push(Shape::Cells { x, y, width, height, ncols, colors });
            }
            Content::Bars(histogram) => {
                for (edges, count) in histogram.edges.windows(2).zip(&histogram.counts) {
                    let x = area.x(scene.x.share(edges[0])).round();
                    let right = area.x(scene.x.share(edges[1])).round();
                    let y = area.y(scene.y.share(*count as f64));
                    let y = if *count > 0 { y.min(area.bottom - 1.0) } else { area.bottom };
                    let width = (right - x - 1.0).max(1.0);
                    self.rect(x, y, width, area.bottom - y, color::LINES[0]);
                }
            }
        }
    }

    fn line(
        &mut self,
        scene: &Scene,
        area: &Area,
        line: &Line,
        x: &dyn Fn(usize) -> f64,
        color: Rgb,
    ) {
        let has_dots = (line.columns.len() as f64) * 10.0 < area.width();
        let mut points: Vec<(f64, f64)> = vec![];
        let flush = |points: &mut Vec<(f64, f64)>, shapes: &mut Vec<Shape>| {
            let points = core::mem::take(points);
            match points[..] {
                [] => {}
                [(x, y)] => shapes.push(Shape::Rect {
                    x: x - 1.5,
                    y: y - 1.5,
                    width: 3.0,
                    height: 3.0,
                    color,
                }),
                _ => shapes.push(Shape::Path { points, color }),
            }
        };
        for (n, column) in line.columns.iter().enumerate() {
            if !column.is_drawn() {
                if !column.is_empty() {
                    flush(&mut points, &mut self.shapes);
                }
                continue;
            }
            let x = x(n);
            let y = |value: f64| area.y(scene.y.share(value));
            if has_dots {
                let (x, y) = (x - 1.5, y(column.first) - 1.5);
                self.shapes.push(Shape::Rect { x, y, width: 4.0, height: 4.0, color });
            }
            let extent = column.extent;
            for value in [column.first, extent.min, extent.max, column.last] {
                let point = (x, y(value));
                if points.last() != Some(&point) {
                    points.push(point);
                }
            }
        }
        flush(&mut points, &mut self.shapes);
    }

    /// Marks NaN below the line, and infinities at the edges beyond which they lie.
    fn marks(&mut self, area: &Area, line: &Line, x: &dyn Fn(usize) -> f64) {
        let width = (area.width() / line.columns.len().max(1) as f64).clamp(2.0, 8.0);
        for (n, column) in line.columns.iter().enumerate() {
            let left = x(n) - width / 2.0;
            let left = left.max(area.left).min(area.right - width);
            if column.has_nan {
                self.rect(left, area.bottom - 7.0, width, 5.0, color::NAN);
            }
            if column.has_above {
                self.rect(left, area.top, width, 4.0, color::INK);
            }
            if column.has_below {
                self.rect(left, area.bottom - 4.0, width, 4.0, color::INK);
            }
        }
    }
}
