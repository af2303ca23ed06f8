//! Parts of clap's errors, reworded for a line after the program's name.

use clap::{
    Error,
    error::{ContextKind, ContextValue},
};

/// The fault of an empty value.
pub(crate) const NO_VALUE: &str = "a value is needed";

/// The fault of a value, as text.
#[must_use]
pub fn value(error: &Error) -> String {
    let given = text(error, ContextKind::InvalidValue).unwrap_or_default();
    if let Some(ContextValue::Strings(valid)) = error.get(ContextKind::ValidValue)
        && let Some((last, first)) = valid.split_last()
    {
        return match first {
            [] => format!("{given:?} is not {last}"),
            _ => format!("{given:?} is none of {} and {last}", first.join(", ")),
        };
    }
    let source = core::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    match source.as_str() {
        "" => NO_VALUE.to_owned(),
        // Rust's own words do not say that a number was expected.
        _ if source.contains("invalid digit") || source.contains("too large") => {
            format!("{given:?} is not a whole number in the allowed range")
        }
        _ if source.starts_with(&format!("{given} is not in ")) => {
            let range = source.rsplit(' ').next().unwrap_or_default().replace("..=", " to ");
            format!("{given:?} is not in the range {range}")
        }
        _ => source,
    }
}

/// The first paragraph of the text in one line, and the correction of a mistyped word.
#[must_use]
pub fn first_paragraph(error: &Error) -> (String, Option<String>) {
    let text = error.to_string();
    let text = text.split("\n\n").next().unwrap_or_default();
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.split_once(", did you mean ") {
        Some((line, near)) => (line.to_owned(), Some(format!("did you mean {near}"))),
        None => (line, None),
    }
}

/// The text of a part of an error.
#[must_use]
pub fn text(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(", ")),
        _ => None,
    }
}
