//! Expressions over the columns of a table: Python's operators with Python's precedence, and the
//! functions of numexpr for plain numbers, truth values and strings.
//!
//! ```text
//! or    and    not    < <= > >= == !=    |    ^    &    << >>    + -    * / // %    - + ~    **
//! ```
//!
//! Existing expression engines come with data frames or record batches of their own; the subset
//! that bcolz and python-blosc2 hand to numexpr is small enough to be evaluated over columns
//! directly.
//!
//! ```
//! use blosc_dtype::Dtype;
//! use blosc_dtype::expr::{Expr, Vector};
//!
//! let names = ["price", "volume"];
//! let expr = Expr::parse("(price > 10) & (volume < 4)", &mut |name| {
//!     names.iter().position(|known| *known == name)
//! })?;
//! let (price, volume) = ([5, 0, 20, 0, 30, 0], [1, 3, 4]);
//! let columns = [
//!     Vector::of_items(&Dtype::parse("<i2").unwrap(), &price).unwrap(),
//!     Vector::of_items(&Dtype::parse("|u1").unwrap(), &volume).unwrap(),
//! ];
//! assert_eq!(*expr.eval(&columns)?, Vector::Bool(vec![false, true, false]));
//! # Ok::<(), blosc_dtype::expr::ExprError>(())
//! ```
//!
//! Integers have 64 bits and wrap around. Names are resolved, types are checked and limits of depth
//! and length hold before anything is evaluated, so that the text may come from anybody.

mod bounds;
mod dates;
mod direct;
mod error;
mod eval;
mod function;
mod logic;
mod parser;
mod vector;

use alloc::borrow::Cow;
use std::prelude::v1::*;

use crate::Dtype;

pub use bounds::Bounds;
pub use direct::Stored;
pub use error::ExprError;
pub use parser::spelled;
pub use vector::{ValueType, Vector};

type Result<T> = core::result::Result<T, ExprError>;

/// An expression whose names are places in a list of columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr(parser::Expr);

impl Expr {
    /// The expression of a text; `place` knows the columns.
    ///
    /// # Errors
    ///
    /// [`ExprError::Syntax`], [`ExprError::NoColumn`], [`ExprError::NoFunction`],
    /// [`ExprError::Arguments`].
    pub fn parse(text: &str, place: &mut dyn FnMut(&str) -> Option<usize>) -> Result<Self> {
        parser::parse(text, place).map(Self)
    }

    /// The expression with its comparisons of dates and texts such as `2012-01-31`, of durations
    /// and texts such as `90s`, as comparisons of numbers; `dtype` knows the types of columns of
    /// items.
    ///
    /// # Errors
    ///
    /// [`ExprError::Date`], [`ExprError::Duration`], [`ExprError::Units`], [`ExprError::Types`];
    /// [`ExprError::Time`] of a column of dates or durations in anything but such a comparison.
    pub fn bind_dates<'a>(self, dtype: &dyn Fn(usize) -> Option<&'a Dtype>) -> Result<Self> {
        dates::bind(self.0, dtype).map(Self)
    }

    /// The values of the expression; `columns` has those of each column that it names. A constant
    /// gives one value.
    ///
    /// # Errors
    ///
    /// [`ExprError::Types`] and [`ExprError::Argument`], which depend on types alone: columns
    /// without rows find them too.
    pub fn eval<'a>(&'a self, columns: &'a [Vector<'a>]) -> Result<Cow<'a, Vector<'a>>> {
        eval::eval(&self.0, columns)
    }

    /// For each row whether the expression is true, for columns with nulls: what is computed of a
    /// null is unknown, `and`, `or` and `not` go by Kleene's rules, and an unknown row is not
    /// true. `valid` has an entry for each column: which of its rows are no nulls, or `None` where
    /// all are; `nrows` is their number.
    ///
    /// # Errors
    ///
    /// As [`eval`](Self::eval); [`ExprError::Result`] if it gives no truth values.
    pub fn is_true(
        &self,
        columns: &[Vector<'_>],
        valid: &[Option<&[bool]>],
        nrows: usize,
    ) -> Result<Vec<bool>> {
        logic::is_true(&self.0, columns, valid, nrows)
    }

    /// For each row whether it meets the condition, if that compares columns with constants, where
    /// the items lie; none if it is another condition.
    #[must_use]
    pub fn truth_of_stored(&self, columns: &[Stored<'_>]) -> Option<Vec<bool>> {
        direct::truth(&self.0, columns)
    }

    /// Whether the expression may be true in some row: `columns` has, for each column that it
    /// names, the bounds of its values in the rows in question, or nothing. A condition that is
    /// never true in such rows need not be evaluated for them.
    #[must_use]
    pub fn may_be_true(&self, columns: &[Option<Bounds>]) -> bool {
        bounds::may_be_true(&self.0, columns)
    }
}
