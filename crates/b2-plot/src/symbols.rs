//! Cells as a PNG file: a picture of a terminal, with the font of pictures.

use crate::{
    cells::{Cell, Cells},
    color::Rgb,
    raster::Pixels,
};

/// Pixels of a character.
const WIDTH: u8 = 7;
const HEIGHT: u8 = 17;

impl Cells {
    /// A PNG file with 7 by 17 pixels for each cell; `fore` and `back` are the default colours.
    #[must_use]
    pub fn png(&self, fore: Rgb, back: Rgb) -> Vec<u8> {
        let side = |cells: usize, len: u8| {
            u32::try_from(cells).unwrap_or(u32::MAX).saturating_mul(len.into())
        };
        let mut pixels = Pixels::new(side(self.width, WIDTH), side(self.height, HEIGHT), back);
        for (row, y) in self.cells.chunks(self.width.max(1)).zip(0..) {
            for (cell, x) in row.iter().zip(0..) {
                draw(&mut pixels, cell, (x, y), (fore, back));
            }
        }
        pixels.png()
    }
}

fn draw(pixels: &mut Pixels, cell: &Cell, (x, y): (i32, i32), colors: (Rgb, Rgb)) {
    let (fore, back) = (cell.fore.unwrap_or(colors.0), cell.back.unwrap_or(colors.1));
    let (width, height) = (f64::from(WIDTH), f64::from(HEIGHT));
    let (left, top) = (f64::from(x) * width, f64::from(y) * height);
    pixels.rect((left, top), (width, height), back);
    // Parts of the cell in eighths of its width and height: left, top, right, bottom.
    for [x0, y0, x1, y1] in parts(cell.symbol) {
        let at = (left + x0 * width / 8.0, top + y0 * height / 8.0);
        pixels.rect(at, ((x1 - x0) * width / 8.0, (y1 - y0) * height / 8.0), fore);
    }
    if cell.symbol != ' ' && parts(cell.symbol).is_empty() {
        let letter = if cell.symbol == '…' { '~' } else { cell.symbol };
        let (left, top) = (x * i32::from(WIDTH), y * i32::from(HEIGHT) + 1);
        pixels.letter(left, top, letter, false, fore);
    }
}

/// Rectangles for lines, blocks and dots, which the font lacks.
fn parts(letter: char) -> Vec<[f64; 4]> {
    const RIGHT: [f64; 4] = [3.5, 3.8, 8.0, 4.2];
    const LEFT: [f64; 4] = [0.0, 3.8, 5.0, 4.2];
    const UP: [f64; 4] = [3.5, 0.0, 5.0, 4.2];
    const DOWN: [f64; 4] = [3.5, 3.8, 5.0, 8.0];
    match letter {
        '─' => vec![LEFT, RIGHT],
        '│' => vec![UP, DOWN],
        '┌' => vec![RIGHT, DOWN],
        '┐' => vec![LEFT, DOWN],
        '└' => vec![RIGHT, UP],
        '┘' => vec![LEFT, UP],
        '├' => vec![RIGHT, UP, DOWN],
        '┤' => vec![LEFT, UP, DOWN],
        '┬' => vec![LEFT, RIGHT, DOWN],
        '┴' => vec![LEFT, RIGHT, UP],
        '┼' => vec![LEFT, RIGHT, UP, DOWN],
        '█' => vec![[0.0, 0.0, 8.0, 8.0]],
        '▀' => vec![[0.0, 0.0, 8.0, 4.0]],
        '▌' => vec![[0.0, 0.0, 4.0, 8.0]],
        '▐' => vec![[4.0, 0.0, 8.0, 8.0]],
        '\u{2581}'..='\u{2587}' => {
            let eighths = f64::from(u32::from(letter) - 0x2580);
            vec![[0.0, 8.0 - eighths, 8.0, 8.0]]
        }
        '\u{2800}'..='\u{28ff}' => braille(u32::from(letter) - 0x2800),
        _ => vec![],
    }
}

/// The dots of a letter of braille.
fn braille(bits: u32) -> Vec<[f64; 4]> {
    const DOTS: [(f64, f64); 8] = [
        (0.0, 0.0),
        (0.0, 1.0),
        (0.0, 2.0),
        (1.0, 0.0),
        (1.0, 1.0),
        (1.0, 2.0),
        (0.0, 3.0),
        (1.0, 3.0),
    ];
    let dots = DOTS.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
    dots.map(|(_, (x, y))| [4.0 * x + 1.0, 2.0 * y + 0.4, 4.0 * x + 3.0, 2.0 * y + 1.4]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_box_meet() {
        for (corner, line) in [('┌', '─'), ('┘', '─'), ('┌', '│'), ('┘', '│')] {
            let shared = parts(corner).iter().any(|part| parts(line).contains(part));
            assert!(shared, "{corner} {line}");
        }
        assert_eq!(braille(0).len(), 0);
        assert_eq!(braille(0xff).len(), 8);
    }
}
