//! Faults of an expression.

use std::prelude::v1::*;

/// The reason why an expression cannot be used. Positions count bytes of its text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExprError {
    /// The text is not an expression.
    #[error("at byte {at}: expected {expected}")]
    Syntax {
        /// Position where the parser stopped.
        at: usize,
        /// The expected syntax at that position.
        expected: &'static str,
    },
    /// A name without a column in the table.
    #[error("at byte {at}: no column {name:?}")]
    NoColumn {
        /// Position of the name.
        at: usize,
        /// The name.
        name: String,
    },
    /// An unknown name with brackets, as of a function.
    #[error("at byte {at}: no function {name:?}")]
    NoFunction {
        /// Position of the name.
        at: usize,
        /// The name.
        name: String,
    },
    /// A function with too few or too many values.
    #[error("at byte {at}: {function} takes {needed} value{}, not {found}", plural(*needed))]
    Arguments {
        /// Position of the function.
        at: usize,
        /// Its name.
        function: &'static str,
        /// The number of values that it takes.
        needed: usize,
        /// The number of values found.
        found: usize,
    },
    /// A function gets values of a type that it does not take.
    #[error("at byte {at}: {function} does not take {found}")]
    Argument {
        /// Position of the function.
        at: usize,
        /// Its name.
        function: &'static str,
        /// The type of the first such value.
        found: &'static str,
    },
    /// A text compared with dates that is not a date.
    #[error("at byte {at}: {text:?} is no date such as 2012-01-31 or 2012-01-31T23:59:59.5")]
    Date {
        /// Position of the comparison.
        at: usize,
        /// The text.
        text: String,
    },
    /// A text compared with durations that is not a duration.
    #[error("at byte {at}: {text:?} is no duration such as 90s, 15ms or 2D")]
    Duration {
        /// Position of the comparison.
        at: usize,
        /// The text.
        text: String,
    },
    /// A time with a number, or in arithmetic: the text does not know the column's unit.
    #[error("at byte {at}: {what} is compared with text: {example:?}")]
    Time {
        /// Position of the operator or the function.
        at: usize,
        /// A time or a duration.
        what: &'static str,
        /// A text that the column can be compared with.
        example: &'static str,
    },
    /// Times of two columns with different units.
    #[error("at byte {at}: {left} and {right} are not counted in the same unit")]
    Units {
        /// Position of the comparison.
        at: usize,
        /// The type on its left.
        left: String,
        /// The type on its right.
        right: String,
    },
    /// A column of items other than single numbers, truth values or strings.
    #[error("column {name:?} of type {dtype} has no place in an expression")]
    Column {
        /// The name.
        name: String,
        /// The type of its items.
        dtype: String,
    },
    /// An operator that is not defined for these operands.
    #[error("at byte {at}: {left} and {right} cannot be combined so")]
    Types {
        /// Position of the operator.
        at: usize,
        /// The type on its left.
        left: &'static str,
        /// The type on its right.
        right: &'static str,
    },
    /// Text in quotation marks in place of a number: mostly a name in the wrong marks.
    #[error(
        "at byte {at}: text in quotation marks is not compared with {other}; \
         a name stands in backquotes"
    )]
    Quoted {
        /// Position of the operator.
        at: usize,
        /// The type on its other side.
        other: &'static str,
    },
    /// A filter without truth values, or a sum over values other than numbers.
    #[error("the expression gives {found}, not {expected}")]
    Result {
        /// The type of its values.
        found: &'static str,
        /// The required type.
        expected: &'static str,
    },
}

impl ExprError {
    /// The fault's position in the text of the expression (bytes); `None` for the whole text.
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

    /// The message without the position, for callers that mark it in the text.
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
