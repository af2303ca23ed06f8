//! Warnings of content that the format of an output cannot hold.

use blosc_data::convert::ARRAY;

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
        if !others.is_empty() {
            let text = format!("no room for {} in a .{} file", listed(&others), self.format.name());
            tell(&text)?;
        }
        Ok(())
    }
}

/// What is left out, in one line: `the metalayers `a`, `b``, where each has a line of its own.
pub(super) fn listed(what: &[&String]) -> String {
    let mut groups: Vec<(&str, Vec<&str>)> = vec![];
    for text in what {
        let (kind, name) = text.split_at(text.find('`').unwrap_or(text.len()));
        match groups.last_mut() {
            Some((known, names)) if *known == kind && !name.is_empty() => names.push(name),
            _ => groups.push((kind, vec![name])),
        }
    }
    let text = |(kind, names): &(&str, Vec<&str>)| match names[..] {
        [name] => format!("{kind}{name}"),
        _ => format!("{}s {}", kind.trim_end(), names.join(", ")),
    };
    groups.iter().map(text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_kind_stand_together() {
        let what = ["the metalayer `a`", "the metalayer `b`", "the shape", "the column `c`"];
        let what = what.map(str::to_owned);
        let text = "the metalayers `a`, `b`, the shape, the column `c`";
        assert_eq!(listed(&what.iter().collect::<Vec<_>>()), text);
    }
}
