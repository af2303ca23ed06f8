//! Warnings of content that the format of an output cannot hold.

use blosc_data::convert::{ARRAY, INDEX, listed};

use super::Work;
use crate::{
    args::{ConvertArgs, ConvertedFormat},
    context::Context,
    error::{Result, message},
};

/// Reports a part of an input that the output lacks, before the output is renamed.
///
/// # Errors
///
/// With `--strict`, the text of the loss.
pub(super) fn tell_loss(args: &ConvertArgs, cx: &Context, name: &str, text: &str) -> Result<()> {
    if args.strict {
        return Err(message::STRICT.about(text));
    }
    cx.console.warning(name, text);
    Ok(())
}

impl Work<'_> {
    /// Reports the metadata that the output cannot hold.
    pub(super) fn tell_left_out(&self, left_out: &[String]) -> Result<()> {
        // Raw data never have metadata.
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
