//! A screen as a picture, for documents: what the keys lead to, drawn with the font of plots.

use std::{fs, path::Path};

use b2_plot::{Cell, Cells, Rgb};
use b2_view::View;
use crossterm::style::Color;

use super::{
    draw,
    keys::{Pressed, key_of, pressed},
    screen::Screen,
    source::Input,
};
use crate::error::{Doing, Error, Result, message};

const FORE: Rgb = Rgb(214, 214, 214);
const BACK: Rgb = Rgb(24, 26, 31);

/// Presses the keys, and writes the screen of `size` columns and rows that comes of it.
///
/// # Errors
///
/// A key that is none, or a file that cannot be written.
pub(super) fn write(
    view: &mut View<Input<'_>>,
    keys: &[String],
    size: (u16, u16),
    path: &Path,
) -> Result<()> {
    let draw = |view: &mut View<Input<'_>>| {
        let mut screen = Screen::new(size);
        draw::draw(view, &mut screen);
        screen
    };
    // A page is as long as the screen that was drawn last.
    let mut screen = draw(view);
    for key in keys {
        let key = key_of(key).ok_or_else(|| message::NO_KEY.about(key))?;
        if let Pressed::Command(command) = pressed(key) {
            view.execute(command);
        }
        screen = draw(view);
    }
    fs::write(path, cells(&screen).png(FORE, BACK)).map_err(Error::io_at(Doing::Write, path))
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
