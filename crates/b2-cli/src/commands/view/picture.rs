//! A screen as a picture, for documents: what the keys lead to, drawn with the font of plots.

use b2_view::{
    View,
    terminal::{KEYS, Pressed, key_of, pressed},
};

use super::source::Input;
use crate::error::{Result, message};

/// Presses the keys, and draws the screen of `size` columns and rows that comes of it, as PNG.
///
/// # Errors
///
/// A key that is none.
pub(super) fn of_screen(
    view: &mut View<Input<'_>>,
    keys: &[String],
    size: (u16, u16),
) -> Result<Vec<u8>> {
    // A page is as long as the screen that was drawn last.
    let mut screen = view.draw_screen(size, KEYS);
    for key in keys {
        let key = key_of(key).ok_or_else(|| message::NO_KEY.about(key))?;
        if let Pressed::Command(command) = pressed(key, view.question().is_some()) {
            view.execute(command);
        }
        screen = view.draw_screen(size, KEYS);
    }
    Ok(screen.png())
}
