//! A screen as a picture, for documents: what the keys lead to, drawn with the font of plots.

use std::{fs, path::Path};

use crossterm::{
    event::{KeyCode, KeyEvent, KeyModifiers},
    style::Color,
};

use super::{
    draw,
    screen::{Cell, Screen},
    state::State,
};
use crate::{
    error::{Doing, Error, Result, message},
    plot::{color::Rgb, raster::Pixels},
};

/// Pixels of a character.
const CELL: (u16, u16) = (7, 17);

const FORE: Rgb = Rgb(214, 214, 214);
const BACK: Rgb = Rgb(24, 26, 31);

/// Presses the keys, and writes the screen of `size` columns and rows that comes of it.
///
/// # Errors
///
/// A key that is none, or a file that cannot be written.
pub(super) fn write(
    state: &mut State<'_>,
    keys: &[String],
    size: (u16, u16),
    path: &Path,
) -> Result<()> {
    let draw = |state: &mut State<'_>| {
        let mut screen = Screen::new(size);
        draw::draw(state, &mut screen);
        screen
    };
    // A page is as long as the screen that was drawn last.
    let mut screen = draw(state);
    for key in keys {
        let code = code_of(key).ok_or_else(|| message::NO_KEY.about(key))?;
        state.press(KeyEvent::new(code, KeyModifiers::NONE));
        screen = draw(state);
    }
    fs::write(path, pixels(&screen, size).png()).map_err(Error::io_at(Doing::Write, path))
}

fn code_of(key: &str) -> Option<KeyCode> {
    let mut letters = key.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) => return Some(KeyCode::Char(letter)),
        (None, _) => return None,
        _ => {}
    }
    Some(match key {
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "pgup" => KeyCode::PageUp,
        "pgdn" => KeyCode::PageDown,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "tab" => KeyCode::Tab,
        "enter" => KeyCode::Enter,
        _ => return None,
    })
}

fn pixels(screen: &Screen, size: (u16, u16)) -> Pixels {
    let side = |cells: u16, len: u16| u32::from(cells) * u32::from(len);
    let mut pixels = Pixels::new(side(size.0, CELL.0), side(size.1, CELL.1), BACK);
    for (row, y) in screen.rows().zip(0..) {
        for (cell, x) in row.iter().zip(0..) {
            draw_cell(&mut pixels, cell, x, y);
        }
    }
    pixels
}

fn draw_cell(pixels: &mut Pixels, cell: &Cell, x: u16, y: u16) {
    let (mut fore, mut back) = (rgb(cell.style.fore, FORE), rgb(cell.style.back, BACK));
    if cell.style.is_reversed {
        core::mem::swap(&mut fore, &mut back);
    }
    let (width, height) = (f64::from(CELL.0), f64::from(CELL.1));
    let (left, top) = (f64::from(x) * width, f64::from(y) * height);
    pixels.rect((left, top), (width, height), back);
    let letter = cell.symbol.unwrap_or(' ');
    // Parts of the cell in eighths of its width and height: left, top, right, bottom.
    for [x0, y0, x1, y1] in parts(letter) {
        let at = (left + x0 * width / 8.0, top + y0 * height / 8.0);
        pixels.rect(at, ((x1 - x0) * width / 8.0, (y1 - y0) * height / 8.0), fore);
    }
    let is_drawn = letter == ' ' || !parts(letter).is_empty();
    if !is_drawn {
        let (x, y) = (i32::from(x * CELL.0), i32::from(y * CELL.1) + 1);
        pixels.letter(x, y, if letter == '…' { '~' } else { letter }, false, fore);
    }
}

/// Lines, blocks and dots, which the font does not have, as rectangles.
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

fn rgb(color: Option<Color>, default: Rgb) -> Rgb {
    match color {
        Some(Color::Rgb { r, g, b }) => Rgb(r, g, b),
        Some(Color::DarkCyan) => Rgb(86, 182, 194),
        Some(Color::DarkGrey) => Rgb(128, 134, 142),
        Some(Color::DarkRed) => Rgb(224, 86, 86),
        _ => default,
    }
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

    #[test]
    fn keys_have_names() {
        assert_eq!(code_of("q"), Some(KeyCode::Char('q')));
        assert_eq!(code_of("down"), Some(KeyCode::Down));
        assert_eq!(code_of("sideways"), None);
        assert_eq!(code_of(""), None);
    }
}
