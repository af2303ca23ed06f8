//! Warnings of content that the format of an output cannot hold.

use blosc_data::convert::{ARRAY, INDEX, listed};

use super::Work;
use crate::{
    args::{ConvertArgs, ConvertedFormat},
    context::Context,
    error::{Result, message},
};

/// Tells of a part of an input that the output has not, before the output gets its place.
///
/// # Errors
///
/// The same where `--strict` refuses that.
pub(super) fn tell_loss(args: &ConvertArgs, cx: &Context, name: &str, text: &str) -> Result<()> {
    if args.strict {
        return Err(message::STRICT.about(text));
    }
    cx.console.warning(name, text);
    Ok(())
}

impl Work<'_> {
    /// Tells of what the output does not hold.
    pub(super) fn tell_left_out(&self, left_out: &[String]) -> Result<()> {
        // Raw data have no metadata anyway.
        let (array, others): (Vec<&String>, Vec<&String>) =
            left_out.iter().partition(|what| *what == ARRAY);
        let name = self.origin.name();
        let tell = |text: &str| tell_loss(self.args, self.cx, &name, text);
        match self.format {
            _ if array.is_empty() => {}
            ConvertedFormat::Raw => {}
            ConvertedFormat::B2frame | ConvertedFormat::Sframe => {
                let text = "without shape and type of the array: a .b2nd file keeps them, also \
                            when it is converted further";
                tell(text)?;
            }
            format => {
                let text = format!("no room for {} in a .{} file", ARRAY, format.name());
                tell(&text)?;
            }
        }
        let (gone, others): (Vec<&String>, Vec<&String>) =
            others.into_iter().partition(|what| what.starts_with(INDEX));
        if !gone.is_empty() {
            tell(&format!("left out: {}", listed(&gone)))?;
        }
        if !others.is_empty() {
            let text = format!("no room for {} in a .{} file", listed(&others), self.format.name());
            tell(&text)?;
        }
        Ok(())
    }
}
