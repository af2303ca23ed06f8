//! A canvas as pixels, and pixels as PNG. A bitmap font draws the texts.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster};

use crate::{
    canvas::{Anchor, Canvas, LETTER, Shape},
    color::{Rgb, WHITE},
    png,
};

/// Pixels, row after row.
#[derive(Clone, Debug)]
pub(crate) struct Pixels {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

/// The pixels of a canvas, as PNG.
pub(crate) fn png(canvas: &Canvas) -> Vec<u8> {
    let mut pixels = Pixels::new(canvas.width, canvas.height, WHITE);
    for shape in &canvas.shapes {
        pixels.draw(shape);
    }
    pixels.png()
}

/// Pixels of one colour each as PNG: cells of a map, row after row.
pub(crate) fn cells_png(ncols: usize, colors: &[Rgb]) -> Vec<u8> {
    let rgb: Vec<u8> = colors.iter().flat_map(|Rgb(r, g, b)| [*r, *g, *b]).collect();
    png::encode(ncols, &rgb)
}

impl Pixels {
    /// An empty picture.
    pub(crate) fn new(width: u32, height: u32, color: Rgb) -> Self {
        let (width, height) = (width as usize, height as usize);
        let Rgb(r, g, b) = color;
        Self { width, height, rgb: [r, g, b].repeat(width * height) }
    }

    /// The file.
    pub(crate) fn png(&self) -> Vec<u8> {
        png::encode(self.width, &self.rgb)
    }

    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect { x, y, width, height, color } => {
                self.rect((*x, *y), (*width, *height), *color);
            }
            Shape::Path { points, color } => {
                for pair in points.windows(2) {
                    self.segment(pair[0], pair[1], *color);
                }
            }
            Shape::Text { x, y, text, anchor, is_upright, color } => {
                self.text((*x, *y), text, *anchor, *is_upright, *color);
            }
            Shape::Cells { x, y, width, height, ncols, colors } => {
                let (ncols, nrows) = ((*ncols).max(1), colors.len() / (*ncols).max(1));
                let (left, right) = (whole(*x), whole(x + width));
                let (top, bottom) = (whole(*y), whole(y + height));
                for py in top..bottom {
                    let row = cell_of(py - top, bottom - top, nrows);
                    for px in left..right {
                        let col = cell_of(px - left, right - left, ncols);
                        if let Some(color) = colors.get(row * ncols + col) {
                            self.blend(px, py, *color, 255);
                        }
                    }
                }
            }
        }
    }

    /// Fills a rectangle of whole pixels.
    pub(crate) fn rect(&mut self, at: (f64, f64), size: (f64, f64), color: Rgb) {
        for y in whole(at.1)..whole(at.1 + size.1) {
            for x in whole(at.0)..whole(at.0 + size.0) {
                self.blend(x, y, color, 255);
            }
        }
    }

    /// A line of a pixel and a half, with soft edges.
    fn segment(&mut self, from: (f64, f64), to: (f64, f64), color: Rgb) {
        let is_steep = (to.1 - from.1).abs() > (to.0 - from.0).abs();
        let swap = |(x, y): (f64, f64)| if is_steep { (y, x) } else { (x, y) };
        let (mut a, mut b) = (swap(from), swap(to));
        if a.0 > b.0 {
            core::mem::swap(&mut a, &mut b);
        }
        let slope = if b.0 > a.0 { (b.1 - a.1) / (b.0 - a.0) } else { 0.0 };
        let reach = 0.75 * slope.hypot(1.0);
        for main in whole(a.0)..=whole(b.0) {
            let way = (f64::from(main) - a.0).clamp(0.0, b.0 - a.0);
            let across = slope.mul_add(way, a.1);
            for other in whole(across - reach - 0.5)..=whole(across + reach + 0.5) {
                let cover = (reach + 0.5 - (f64::from(other) - across).abs()).clamp(0.0, 1.0);
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "0..=255"
                )]
                let alpha = (cover * 255.0) as u8;
                let (x, y) = if is_steep { (other, main) } else { (main, other) };
                self.blend(x, y, color, alpha);
            }
        }
    }

    /// A text, its baseline at `at`.
    pub(crate) fn text(
        &mut self,
        at: (f64, f64),
        text: &str,
        anchor: Anchor,
        is_upright: bool,
        color: Rgb,
    ) {
        let len = text.chars().count() as f64 * LETTER.0;
        let back = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => len / 2.0,
            Anchor::End => len,
        };
        for (n, letter) in text.chars().enumerate() {
            let along = (n as f64).mul_add(LETTER.0, -back);
            match is_upright {
                false => self.letter(whole(at.0 + along), whole(at.1) - 13, letter, false, color),
                true => self.letter(whole(at.0) - 13, whole(at.1 - along), letter, true, color),
            }
        }
    }

    /// Draws a letter in its box; an upright one reads from below.
    pub(crate) fn letter(&mut self, x: i32, y: i32, letter: char, is_upright: bool, color: Rgb) {
        let raster = |letter| get_raster(letter, FontWeight::Regular, RasterHeight::Size16);
        let Some(raster) = raster(letter).or_else(|| raster('?')) else { return };
        for (row, line) in (0..).zip(raster.rows()) {
            for (col, alpha) in (0..).zip(line) {
                match is_upright {
                    false => self.blend(x + col, y + row, color, *alpha),
                    true => self.blend(x + row, y - col, color, *alpha),
                }
            }
        }
    }

    /// Mixes a pixel with a colour.
    fn blend(&mut self, x: i32, y: i32, Rgb(r, g, b): Rgb, alpha: u8) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if alpha == 0 || x >= self.width || y >= self.height {
            return;
        }
        let start = (y * self.width + x) * 3;
        for (to, from) in self.rgb[start..start + 3].iter_mut().zip([r, g, b]) {
            let alpha = u32::from(alpha);
            let mixed = u32::from(*to) * (255 - alpha) + u32::from(from) * alpha + 127;
            *to = u8::try_from(mixed / 255).unwrap_or(u8::MAX);
        }
    }
}

/// The nearest pixel.
#[allow(clippy::cast_possible_truncation, reason = "saturates")]
fn whole(at: f64) -> i32 {
    at.clamp(-10_000.0, 10_000.0).round() as i32
}

fn cell_of(pixel: i32, npixels: i32, ncells: usize) -> usize {
    let (pixel, npixels) = (i64::from(pixel), i64::from(npixels.max(1)));
    let cell = pixel * i64::try_from(ncells).unwrap_or(i64::MAX) / npixels;
    usize::try_from(cell).unwrap_or(0).min(ncells.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(file: &[u8]) -> (u32, u32, Vec<u8>) {
        let decoder = ::png::Decoder::new(std::io::Cursor::new(file));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        pixels.truncate(info.buffer_size());
        (info.width, info.height, pixels)
    }

    #[test]
    fn cells_are_pixels_of_their_colours() {
        let colors = [Rgb(1, 2, 3), Rgb(4, 5, 6), Rgb(7, 8, 9), Rgb(0, 0, 0)];
        let (width, height, pixels) = decode(&cells_png(2, &colors));
        assert_eq!((width, height), (2, 2));
        assert_eq!(pixels, [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0]);
    }

    #[test]
    fn shapes_stay_inside() {
        let color = Rgb(0, 0, 0);
        let shapes = vec![
            Shape::Rect { x: -5.0, y: -5.0, width: 1e300, height: 7.0, color },
            Shape::Path {
                points: vec![(-100.0, 3.0), (f64::INFINITY, 900.0), (2.0, f64::NAN)],
                color,
            },
            Shape::Text {
                x: 1.0,
                y: 1e9,
                text: "\u{1b}[31mé\u{10ffff}".into(),
                anchor: Anchor::End,
                is_upright: true,
                color,
            },
            Shape::Cells { x: 0.0, y: 0.0, width: 9.0, height: 0.0, ncols: 0, colors: vec![] },
        ];
        let (width, height, pixels) = decode(&png(&Canvas { width: 20, height: 10, shapes }));
        assert_eq!(
            (width, height, &pixels[..3], &pixels[597..]),
            (20, 10, &[0, 0, 0][..], &[255; 3][..])
        );
    }
}
