//! What can be wrong with an expression.

use std::prelude::v1::*;

/// Why an expression cannot be used. Positions count bytes of its text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExprError {
    /// The text is no expression.
    #[error("at byte {at}: expected {expected}")]
    Syntax {
        /// Where the parser stopped.
        at: usize,
        /// What would have been right there.
        expected: &'static str,
    },
    /// A name that is no column of the table.
    #[error("at byte {at}: no column {name:?}")]
    NoColumn {
        /// Where it stands.
        at: usize,
        /// The name.
        name: String,
    },
    /// A name with brackets that is no function.
    #[error("at byte {at}: no function {name:?}")]
    NoFunction {
        /// Where it stands.
        at: usize,
        /// The name.
        name: String,
    },
    /// A function with too few or too many values.
    #[error("at byte {at}: {function} takes {needed} value{}, not {found}", plural(*needed))]
    Arguments {
        /// Where the function stands.
        at: usize,
        /// Its name.
        function: &'static str,
        /// How many values it takes.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// Values that a function does not take.
    #[error("at byte {at}: {function} does not take {found}")]
    Argument {
        /// Where the function stands.
        at: usize,
        /// Its name.
        function: &'static str,
        /// What the first value that it does not take is.
        found: &'static str,
    },
    /// A text that is compared with dates and is none.
    #[error("at byte {at}: {text:?} is no date such as 2012-01-31 or 2012-01-31T23:59:59.5")]
    Date {
        /// Where the comparison stands.
        at: usize,
        /// The text.
        text: String,
    },
    /// A text that is compared with durations and is none.
    #[error("at byte {at}: {text:?} is no duration such as 90s, 15ms or 2D")]
    Duration {
        /// Where the comparison stands.
        at: usize,
        /// The text.
        text: String,
    },
    /// A time with a number, or in arithmetic: how it counts is not for the text to know.
    #[error("at byte {at}: {what} is compared with text: {example:?}")]
    Time {
        /// Where the operator or the function stands.
        at: usize,
        /// A time or a duration.
        what: &'static str,
        /// A text that such a column is compared with.
        example: &'static str,
    },
    /// Times of two columns that count in different units.
    #[error("at byte {at}: {left} and {right} are not counted in the same unit")]
    Units {
        /// Where the comparison stands.
        at: usize,
        /// The type on its left.
        left: String,
        /// The type on its right.
        right: String,
    },
    /// A column whose items are no single numbers, truth values or strings.
    #[error("column {name:?} of type {dtype} has no place in an expression")]
    Column {
        /// The name.
        name: String,
        /// The type of its items.
        dtype: String,
    },
    /// An operator that these operands do not have.
    #[error("at byte {at}: {left} and {right} cannot be combined so")]
    Types {
        /// Where the operator stands.
        at: usize,
        /// What is on its left.
        left: &'static str,
        /// What is on its right.
        right: &'static str,
    },
    /// Text in quotation marks where a number stands: mostly a name in the wrong marks.
    #[error(
        "at byte {at}: text in quotation marks is not compared with {other}; \
         a name stands in backquotes"
    )]
    Quoted {
        /// Where the operator stands.
        at: usize,
        /// The type on its other side.
        other: &'static str,
    },
    /// A filter that is not true or false, or something to sum up that is no number.
    #[error("the expression gives {found}, not {expected}")]
    Result {
        /// What it gives.
        found: &'static str,
        /// What is needed.
        expected: &'static str,
    },
}

impl ExprError {
    /// Where in the text of the expression it is (bytes); none if it is about the whole.
    #[must_use]
    pub const fn position(&self) -> Option<usize> {
        match self {
            Self::Syntax { at, .. }
            | Self::NoColumn { at, .. }
            | Self::NoFunction { at, .. }
            | Self::Arguments { at, .. }
            | Self::Argument { at, .. }
            | Self::Date { at, .. }
            | Self::Duration { at, .. }
            | Self::Time { at, .. }
            | Self::Units { at, .. }
            | Self::Types { at, .. }
            | Self::Quoted { at, .. } => Some(*at),
            Self::Column { .. } | Self::Result { .. } => None,
        }
    }

    /// The same words without the place, for those who mark it in the text.
    #[must_use]
    pub fn reason(&self) -> String {
        let text = self.to_string();
        match (self.position(), text.split_once(": ")) {
            (Some(_), Some((_, reason))) => reason.to_owned(),
            _ => text,
        }
    }
}

const fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
