//! A screen as a picture, for documents: the screen after some keys, drawn with the font of plots.

use b2_view::{
    View,
    terminal::{KEYS, Pressed, key_of, pressed},
};

use super::source::Input;
use crate::error::{Result, message};

/// Presses the keys, and draws the resulting screen of `size` columns and rows as PNG.
///
/// # Errors
///
/// When a name is not that of a key.
pub(super) fn of_screen(
    view: &mut View<Input<'_>>,
    keys: &[String],
    size: (u16, u16),
) -> Result<Vec<u8>> {
    // The length of a page is that of the last drawn screen.
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
