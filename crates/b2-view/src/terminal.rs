//! A screen on a terminal, and its keys: for programs, with the feature `terminal`.

mod keys;

use std::io::{self, Write};

use crossterm::{
    cursor::MoveTo,
    queue,
    style::{
        Attribute, Color as TerminalColor, Print, ResetColor, SetAttribute, SetBackgroundColor,
        SetForegroundColor,
    },
    terminal::{Clear, ClearType},
};

pub use self::keys::{KEYS, Pressed, key_of, pressed};
use crate::Rgb;
use crate::screen::{Color, Place, Screen, Style};

/// Brings a terminal that shows `shown` up to date.
///
/// # Errors
///
/// The terminal cannot be written to.
pub fn write(screen: &Screen, shown: Option<&Screen>, out: &mut impl Write) -> io::Result<()> {
    let shown = shown.filter(|shown| shown.size() == screen.size());
    if shown.is_none() {
        queue!(out, ResetColor, Clear(ClearType::All))?;
    }
    for (y, row) in screen.changed_rows(shown) {
        queue!(out, MoveTo(0, u16::try_from(y).unwrap_or(u16::MAX)))?;
        row.chunk_by(|a, b| a.style == b.style).try_for_each(|run| write_run(run, out))?;
    }
    out.flush()
}

/// Writes characters of one style.
fn write_run(run: &[Place], out: &mut impl Write) -> io::Result<()> {
    let style = run.first().map_or_else(Style::default, |place| place.style);
    queue!(out, SetAttribute(Attribute::Reset))?;
    if style.is_reversed {
        queue!(out, SetAttribute(Attribute::Reverse))?;
    }
    if let Some(color) = style.fore {
        queue!(out, SetForegroundColor(on_terminal(color)))?;
    }
    if let Some(color) = style.back {
        queue!(out, SetBackgroundColor(on_terminal(color)))?;
    }
    queue!(out, Print(run.iter().filter_map(|place| place.symbol).collect::<String>()))
}

/// A colour of the user's palette, but for those of pictures.
fn on_terminal(color: Color) -> TerminalColor {
    match color {
        Color::Focus => TerminalColor::DarkCyan,
        Color::Faint => TerminalColor::DarkGrey,
        Color::Damaged => TerminalColor::DarkRed,
        Color::Exact(Rgb(r, g, b)) => TerminalColor::Rgb { r, g, b },
    }
}
