//! Expressions over the columns of a table: Python's operators with Python's precedence, and the
//! functions of numexpr for plain numbers, truth values and strings.
//!
//! ```text
//! or    and    not    < <= > >= == !=    |    ^    &    << >>    + -    * / // %    - + ~    **
//! ```
//!
//! Existing expression engines bring their own data frames or record batches. The subset that bcolz
//! and python-blosc2 pass to numexpr is small enough to be evaluated over columns directly.
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
//! Integers have 64 bits and wrap around. Names, types, depth and length are checked before
//! evaluation, so the text may come from a stranger.

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

/// An expression whose names are resolved to indices in a list of columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr(parser::Expr);

impl Expr {
    /// The expression of a text; `place` gives the index of a column.
    ///
    /// # Errors
    ///
    /// [`ExprError::Syntax`], [`ExprError::NoColumn`], [`ExprError::NoFunction`],
    /// [`ExprError::Arguments`].
    pub fn parse(text: &str, place: &mut dyn FnMut(&str) -> Option<usize>) -> Result<Self> {
        parser::parse(text, place).map(Self)
    }

    /// Rewrites comparisons of dates with texts such as `2012-01-31`, and of durations with texts
    /// such as `90s`, as comparisons of numbers. `dtype` gives the types of columns of items.
    ///
    /// # Errors
    ///
    /// [`ExprError::Date`], [`ExprError::Duration`], [`ExprError::Units`], [`ExprError::Types`];
    /// [`ExprError::Time`] for a column of dates or durations outside of such a comparison.
    pub fn bind_dates<'a>(self, dtype: &dyn Fn(usize) -> Option<&'a Dtype>) -> Result<Self> {
        dates::bind(self.0, dtype).map(Self)
    }

    /// The values of the expression; `columns` has the values of each column. A constant gives one
    /// value.
    ///
    /// # Errors
    ///
    /// [`ExprError::Types`] and [`ExprError::Argument`], which depend on types alone: columns
    /// without rows give them too.
    pub fn eval<'a>(&'a self, columns: &'a [Vector<'a>]) -> Result<Cow<'a, Vector<'a>>> {
        eval::eval(&self.0, columns)
    }

    /// For each row whether the expression is true, for columns with nulls. A value computed from a
    /// null is unknown, `and`, `or` and `not` follow Kleene's rules, and an unknown row counts as
    /// not true. `valid` has an entry for each column: the marks of its rows that are not null, or
    /// `None` if no row is; `nrows` is their number.
    ///
    /// # Errors
    ///
    /// As [`eval`](Self::eval); [`ExprError::Result`] for an expression without truth values.
    pub fn is_true(
        &self,
        columns: &[Vector<'_>],
        valid: &[Option<&[bool]>],
        nrows: usize,
    ) -> Result<Vec<bool>> {
        logic::is_true(&self.0, columns, valid, nrows)
    }

    /// For each row whether it meets the condition, evaluated on the stored items; `None` unless
    /// the condition compares columns with constants.
    #[must_use]
    pub fn truth_of_stored(&self, columns: &[Stored<'_>]) -> Option<Vec<bool>> {
        direct::truth(&self.0, columns)
    }

    /// Whether the expression may be true in some row. `columns` has the bounds of each column's
    /// values in these rows, or `None`. A condition that is never true there need not be evaluated.
    #[must_use]
    pub fn may_be_true(&self, columns: &[Option<Bounds>]) -> bool {
        bounds::may_be_true(&self.0, columns)
    }
}
