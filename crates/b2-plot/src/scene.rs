//! The content of a picture in any format.

use crate::{
    Extent, Histogram,
    axis::AxisRange,
    canvas::Canvas,
    cells::{self, Cells},
    color::{self, Rgb},
    raster,
    reduce::{Line, Map},
    svg,
};

/// A picture before it has a size: content, axes and texts.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Text above the picture.
    pub title: String,
    /// Text below the x axis.
    pub x_label: String,
    /// Text beside the y axis.
    pub y_label: String,
    /// Values from left to right.
    pub x: AxisRange,
    /// Values from the bottom to the top.
    pub y: AxisRange,
    /// Remarks below the picture, for example the number of NaN values.
    pub notes: Vec<Note>,
    /// The content between the axes.
    pub content: Content,
}

/// A remark, with the colour that it explains.
#[derive(Clone, Debug)]
pub struct Note {
    /// The colour that it explains.
    pub color: Option<Rgb>,
    /// Text of the remark.
    pub text: String,
}

/// The content between the axes.
#[derive(Clone, Debug)]
pub enum Content {
    /// Values over positions.
    Lines {
        /// Lines, with their names.
        lines: Vec<(String, Line)>,
        /// The value of the x axis at the first position.
        start: f64,
        /// Distance between positions on the x axis.
        step: f64,
    },
    /// Values over positions of two dimensions, as colours.
    Map {
        /// The values.
        map: Map,
        /// The range of the colours.
        values: AxisRange,
        /// Name of the values.
        label: String,
    },
    /// The bars of a histogram.
    Bars(Histogram),
}

impl Content {
    /// Lines with their names, whose positions are 0, 1, 2 and so on.
    pub fn lines(lines: impl IntoIterator<Item = (String, Line)>) -> Self {
        Self::Lines { lines: lines.into_iter().collect(), start: 0.0, step: 1.0 }
    }

    /// A map with colours from its least to its largest mean.
    #[must_use]
    pub fn map(map: Map) -> Self {
        let (low, high) = map.extent().ends().unwrap_or((0.0, 1.0));
        Self::Map { map, values: AxisRange::new(low, high), label: String::new() }
    }

    /// The least and the largest drawn value.
    #[must_use]
    pub fn extent(&self) -> Extent {
        match self {
            Self::Lines { lines, .. } => {
                lines.iter().fold(Extent::EMPTY, |extent, (_, line)| extent.join(line.extent()))
            }
            Self::Map { map, .. } => map.extent(),
            Self::Bars(histogram) => {
                let mut extent = Extent::EMPTY;
                extent.add(&histogram.edges);
                extent
            }
        }
    }
}

impl Scene {
    /// A scene whose axes fit its content. Several lines are named below it; the first row of a map
    /// is at the top.
    #[must_use]
    pub fn new(title: impl Into<String>, content: Content) -> Self {
        let (x, y) = axes(&content);
        let (mut y_label, mut notes) = (String::new(), vec![]);
        match &content {
            Content::Lines { lines, .. } if lines.len() > 1 => {
                let names = lines.iter().zip(color::LINES.iter().cycle());
                notes.extend(
                    names
                        .map(|((name, _), color)| Note { color: Some(*color), text: name.clone() }),
                );
                notes.extend(flat(lines).map(|text| Note { color: None, text }));
            }
            Content::Bars(_) => y_label.push_str("items"),
            Content::Lines { .. } | Content::Map { .. } => {}
        }
        Self { title: title.into(), x_label: String::new(), y_label, x, y, notes, content }
    }

    /// A PNG file of `width` by `height` pixels, which is legible from 160 by 120 on.
    #[must_use]
    pub fn png(&self, width: u32, height: u32) -> Vec<u8> {
        raster::png(&Canvas::new(self, width, height))
    }

    /// An SVG file with a size of `width` by `height` pixels.
    #[must_use]
    pub fn svg(&self, width: u32, height: u32) -> String {
        svg::svg(&Canvas::new(self, width, height))
    }

    /// Characters: `width` columns in `height` rows. Without colours, shades replace those of a
    /// map.
    #[must_use]
    pub fn cells(&self, width: usize, height: usize, has_colors: bool) -> Cells {
        cells::draw(self, width, height, has_colors)
    }
}

/// A remark on lines that look flat because others have a much larger range.
fn flat(lines: &[(String, Line)]) -> Option<String> {
    let span = |line: &Line| line.extent().ends().map(|(low, high)| high - low);
    let all = lines.iter().fold(Extent::EMPTY, |all, (_, line)| all.join(line.extent())).ends()?;
    let is_flat = |line: &Line| {
        span(line).is_some_and(|span| span > 0.0 && span < (all.1 - all.0) / FLAT_SHARE)
    };
    let names: Vec<&str> =
        lines.iter().filter(|(_, line)| is_flat(line)).map(|(name, _)| name.as_str()).collect();
    let text = || format!("looks flat beside the others, not alone: {}", names.join(", "));
    (!names.is_empty()).then(text)
}

/// A line with a range below this part of the axis looks flat.
const FLAT_SHARE: f64 = 50.0;

/// The ranges that show all of the content.
fn axes(content: &Content) -> (AxisRange, AxisRange) {
    match content {
        Content::Lines { lines, start, step } => {
            let (low, high) = content.extent().ends().unwrap_or((0.0, 1.0));
            let len = lines.iter().map(|(_, line)| line.len).max().unwrap_or(0);
            let end = step.mul_add(len.saturating_sub(1) as f64, *start);
            (AxisRange::new(start.min(end), start.max(end)), AxisRange::new(low, high).padded())
        }
        Content::Map { map, .. } => {
            let [y, x] = map.lens.map(|len| AxisRange::new(-0.5, len.max(1) as f64 - 0.5));
            (x, AxisRange { is_reversed: true, ..y })
        }
        Content::Bars(histogram) => {
            let ends = (histogram.edges.first(), histogram.edges.last());
            let x = match ends {
                (Some(first), Some(last)) => AxisRange::new(*first, *last),
                _ => AxisRange::new(0.0, 1.0),
            };
            let most = histogram.counts.iter().copied().max().unwrap_or(0).max(1);
            (x, AxisRange::new(0.0, most as f64 * 1.04))
        }
    }
}

/// Columns and rows of numbers that fit into a picture: more of them would not be visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Number of columns, from left to right.
    pub columns: usize,
    /// Number of rows, from top to bottom.
    pub rows: usize,
}

impl Room {
    /// The room of a picture of `width` by `height` pixels.
    #[must_use]
    pub fn of_pixels(width: u32, height: u32) -> Self {
        let room = |len: u32, margin: u32| len.saturating_sub(margin).max(16) as usize;
        Self { columns: room(width, 100), rows: room(height, 90) }
    }

    /// The room of `width` by `height` characters, each of which shows two rows of a map in colour.
    #[must_use]
    pub fn of_cells(width: usize, height: usize, has_colors: bool) -> Self {
        let plane = cells::plane(width, height);
        let each = if has_colors { 2 } else { 1 };
        Self { columns: plane.width.saturating_mul(2), rows: plane.height.saturating_mul(each) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_look_flat_are_named() {
        let line = |values: &[f64]| {
            let mut line = Line::new(values.len() as u64, 9);
            line.add(0, values);
            line
        };
        let lines =
            [("px", line(&[1.0, 2.0])), ("qty", line(&[0.0, 1000.0])), ("c", line(&[5.0, 5.0]))];
        let scene =
            Scene::new("", Content::lines(lines.map(|(name, line)| (name.to_owned(), line))));
        let texts: Vec<&str> = scene.notes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!(texts, ["px", "qty", "c", "looks flat beside the others, not alone: px"]);
    }

    #[test]
    fn axes_are_as_wide_as_what_they_show() {
        let mut line = Line::new(5, 9);
        line.add(0, &[1.0, 3.0, f64::NAN, 2.0, 1.0]);
        let lines = [("a".to_owned(), line.clone()), ("b".to_owned(), line)];
        let scene = Scene::new("t", Content::lines(lines));
        assert_eq!((scene.x.low, scene.x.high), (0.0, 4.0));
        assert!(scene.y.low < 1.0 && scene.y.high > 3.0);
        assert_eq!(scene.notes.iter().map(|note| note.text.as_str()).collect::<String>(), "ab");
        assert_ne!(scene.notes[0].color, scene.notes[1].color);

        let mut map = Map::new([2, 3], 2, 3);
        map.add(&(0..2), &(0..3), &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let scene = Scene::new("t", Content::map(map));
        assert_eq!((scene.x.low, scene.x.high), (-0.5, 2.5));
        assert_eq!((scene.y.low, scene.y.high, scene.y.is_reversed), (-0.5, 1.5, true));
        let Content::Map { values, .. } = &scene.content else { panic!("a map") };
        assert_eq!((values.low, values.high), (0.0, 5.0));

        let mut bars = Histogram::new(0.0, 2.0, 2);
        bars.count(&[0.5, 0.5, 1.5], 1);
        let scene = Scene::new("t", Content::Bars(bars));
        assert_eq!((scene.x.low, scene.x.high, scene.y.low), (0.0, 2.0, 0.0));
        assert!(scene.y.high > 2.0 && scene.y_label == "items");
    }

    #[test]
    fn nothing_to_draw_is_drawn_too() {
        for content in [
            Content::lines([]),
            Content::lines([(String::new(), Line::new(0, 5))]),
            Content::map(Map::new([0, 0], 4, 4)),
            Content::Bars(Histogram { edges: vec![], counts: vec![] }),
        ] {
            let scene = Scene::new("", content);
            assert!(scene.png(160, 120).starts_with(b"\x89PNG"));
            assert!(scene.svg(160, 120).ends_with("</svg>\n"));
            assert_eq!(scene.cells(9, 4, false).cells.len(), 36);
        }
    }

    #[test]
    fn room_is_what_is_left_between_axes() {
        assert_eq!(Room::of_pixels(800, 500), Room { columns: 700, rows: 410 });
        assert_eq!(Room::of_pixels(1, 1), Room { columns: 16, rows: 16 });
        assert_eq!(Room::of_cells(80, 24, false), Room { columns: 138, rows: 20 });
        assert_eq!(Room::of_cells(80, 24, true), Room { columns: 138, rows: 40 });
    }
}
