//! A screen as a picture, for documents: what the keys lead to, drawn with the font of plots.

use std::{fs, path::Path};

use b2_plot::{Cell, Cells, Rgb};
use crossterm::{
    event::{KeyCode, KeyEvent, KeyModifiers},
    style::Color,
};

use super::{draw, screen::Screen, state::State};
use crate::error::{Doing, Error, Result, message};

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
    fs::write(path, cells(&screen).png(FORE, BACK)).map_err(Error::io_at(Doing::Write, path))
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

fn cells(screen: &Screen) -> Cells {
    let cell = |place: &super::screen::Cell| {
        let (fore, back) = (rgb(place.style.fore, FORE), rgb(place.style.back, BACK));
        let (fore, back) = if place.style.is_reversed { (back, fore) } else { (fore, back) };
        Cell { symbol: place.symbol.unwrap_or(' '), fore: Some(fore), back: Some(back) }
    };
    let cells = screen.rows().flatten().map(cell).collect();
    Cells { width: screen.width, height: screen.height, cells }
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
    fn keys_have_names() {
        assert_eq!(code_of("q"), Some(KeyCode::Char('q')));
        assert_eq!(code_of("down"), Some(KeyCode::Down));
        assert_eq!(code_of("sideways"), None);
        assert_eq!(code_of(""), None);
    }
}
