//! NumPy type descriptions: parse and print without loss.
//!
//! A `b2nd` array, a Bloscpack file with NumPy metadata and a bcolz column all describe their items
//! by the text of a NumPy `dtype`. The text is a Python literal of one of four forms:
//!
//! ```text
//! '<f8'                                          plain: byte order, kind, size
//! [('a', '<i4'), ('x', '<i2', (3,))]             structured, fields packed one after the other
//! {'names': ['a'], 'formats': ['<i4'],           structured, with offsets and padding
//!  'offsets': [4], 'itemsize': 16}
//! ('<i4', (2, 3))                                a sub-array as item
//! ```
//!
//! [`Dtype::parse`] reads all of them with its own parser, which evaluates no code. A parsed type
//! prints as the text that it came from, a built one as NumPy would print it.
//!
//! ```
//! use blosc_dtype::{Dtype, Kind};
//!
//! let point = Dtype::parse("[('x', '<f4'), ('y', '<f4'), ('tag', 'S3')]")?;
//! assert_eq!(point.itemsize(), 11);
//! assert_eq!(point.fields()[2].name(), "tag");
//! assert_eq!(point.fields()[2].offset(), 8);
//! assert_eq!(point.to_string(), "[('x', '<f4'), ('y', '<f4'), ('tag', 'S3')]");
//!
//! assert_eq!(Dtype::parse("<f8")?.kind(), Some(Kind::Float));
//! # Ok::<(), blosc_dtype::Error>(())
//! ```
//!
//! The features `item` and `numbers` read items as text and as numbers. Object pointers (`|O`) are
//! never followed. They parse, with [`Kind::Object`], so that a caller can refuse them by name.
//!
//! Limits for hostile text: [`Dtype::MAX_DEPTH`] levels of nesting, [`Dtype::MAX_TEXT_NBYTES`]
//! bytes of text, items of at most 2^31 - 1 bytes.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

extern crate alloc;
#[cfg(any(feature = "expr", feature = "numbers"))]
#[cfg_attr(feature = "expr", macro_use)]
extern crate std;

#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "arrow-59")]
pub mod arrow_59;
pub mod calendar;
pub mod date;
mod dtype;
mod element;
mod error;
#[cfg(feature = "expr")]
pub mod expr;
#[cfg(feature = "item")]
pub mod item;
pub mod items;
pub mod json;
mod literal;
pub mod npy;
#[cfg(feature = "numbers")]
pub mod numbers;
mod print;
mod scalar;
pub mod text;

pub use dtype::{Dtype, Field};
pub use element::Element;
pub use error::Error;
pub use print::str_repr;
pub use scalar::{ByteOrder, Kind, Scalar};
