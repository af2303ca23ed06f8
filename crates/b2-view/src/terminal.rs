//! A screen on a terminal, and its keys: for programs, with the feature `terminal`.

mod keys;

use crossterm::{
    Command,
    cursor::MoveTo,
    style::{
        Attribute, Color as TerminalColor, Print, ResetColor, SetAttribute, SetBackgroundColor,
        SetForegroundColor,
    },
    terminal::{Clear, ClearType},
};

pub use self::keys::{KEYS, Pressed, key_of, pressed};
use crate::Rgb;
use crate::screen::{Color, Place, Screen, Style};

/// The text that updates a terminal from `shown` to `screen`.
#[must_use]
pub fn update_of(screen: &Screen, shown: Option<&Screen>) -> String {
    let (mut text, shown) = (String::new(), shown.filter(|shown| shown.size() == screen.size()));
    if shown.is_none() {
        add(&mut text, ResetColor);
        add(&mut text, Clear(ClearType::All));
    }
    for (y, row) in screen.changed_rows(shown) {
        add(&mut text, MoveTo(0, u16::try_from(y).unwrap_or(u16::MAX)));
        row.chunk_by(|a, b| a.style == b.style).for_each(|run| add_run(&mut text, run));
    }
    text
}

/// Adds characters of one style.
fn add_run(text: &mut String, run: &[Place]) {
    let style = run.first().map_or_else(Style::default, |place| place.style);
    add(text, SetAttribute(Attribute::Reset));
    if style.is_reversed {
        add(text, SetAttribute(Attribute::Reverse));
    }
    if let Some(color) = style.fore {
        add(text, SetForegroundColor(on_terminal(color)));
    }
    if let Some(color) = style.back {
        add(text, SetBackgroundColor(on_terminal(color)));
    }
    add(text, Print(run.iter().filter_map(|place| place.symbol).collect::<String>()));
}

/// Adds a command; writing to a text does not fail.
fn add(text: &mut String, command: impl Command) {
    let _written = command.write_ansi(text);
}

/// A colour of the user's palette, except for those of pictures.
fn on_terminal(color: Color) -> TerminalColor {
    match color {
        Color::Focus => TerminalColor::DarkCyan,
        Color::Faint => TerminalColor::DarkGrey,
        Color::Damaged => TerminalColor::DarkRed,
        Color::Exact(Rgb(r, g, b)) => TerminalColor::Rgb { r, g, b },
    }
}
