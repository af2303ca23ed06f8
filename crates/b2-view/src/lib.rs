//! A browser of arrays, tables and stores, independent of any screen.
//!
//! ```text
//! Source: members, items, chunks, scenes        given by the caller
//!    |
//!  View  <-- Command                            what is selected, where, and which pane
//!    |
//!  values as text, chunks as colours, a Scene   drawn by a terminal, or by a page
//! ```
//!
//! [`View`] reads only the visible items. It prints nothing and knows neither paths nor keys: it
//! draws characters on a [`Screen`](screen::Screen), which the program `b2 view` shows in a
//! terminal. A page in a web browser can show the same.
//!
//! ```
//! use b2_view::{Command, Member, Opened, Pane, Source, View};
//! # use b2_view::{Chunks, Items, Scene};
//! # use blosc_dtype::Dtype;
//! # struct Bytes(Vec<u8>, Dtype);
//! # impl Items for Bytes {
//! #     type Error = std::fmt::Error;
//! #     fn dtype(&self) -> &Dtype { &self.1 }
//! #     fn shape(&self) -> &[u64] { &[3, 4] }
//! #     fn read(&self, bounds: &[std::ops::Range<u64>], bytes: &mut Vec<u8>)
//! #         -> Result<Option<Vec<bool>>, std::fmt::Error> {
//! #         *bytes = bounds[0].clone()
//! #             .flat_map(|row| bounds[1].clone().map(move |col| (10 * row + col) as u8)).collect();
//! #         Ok(None)
//! #     }
//! # }
//! # struct OneArray([Member; 1]);
//! # impl Source for OneArray {
//! #     type Error = std::fmt::Error;
//! #     fn title(&self) -> String { "a.npy".to_owned() }
//! #     fn members(&self) -> &[Member] { &self.0 }
//! #     fn open(&self, _: usize) -> Result<Opened<std::fmt::Error>, std::fmt::Error> {
//! #         let dtype = "|u1".parse().map_err(|_| std::fmt::Error)?;
//! #         Ok(Opened::items(Box::new(Bytes(vec![], dtype)), vec![], None))
//! #     }
//! #     fn scene(&self, _: usize, _: &[u64]) -> Result<Scene, std::fmt::Error> { Err(std::fmt::Error) }
//! #     fn explain(&self, error: &std::fmt::Error) -> String { error.to_string() }
//! # }
//! # let source = OneArray([Member { label: "a".to_owned(), depth: 0 }]);
//! // `source` is what the caller browses: here an array of 3 rows and 4 columns.
//! let mut view = View::new(source)?;
//! assert_eq!(view.heading(), "a.npy   3 x 4 of |u1");
//! view.execute(Command::Down);
//! let values = view.values(2, 3).map_err(|_| std::fmt::Error)?;
//! assert_eq!(values.names, ["0", "1", "2"]);
//! assert_eq!(values.rows, [["10", "11", "12"], ["20", "21", "22"]]);
//! view.execute(Command::Show(Pane::About));
//! assert_eq!(view.pane(), Pane::About);
//! # Ok::<(), std::fmt::Error>(())
//! ```
//!
//! | module | concept |
//! |---|---|
//! | (root) | [`Source`], [`Items`], [`Chunks`]: what is browsed; [`View`], [`Command`]: browsing |
//! | [`item`] | items of any NumPy type as text |
//! | [`numpy`] | many items as text: in brackets as NumPy prints them |
//! | [`screen`] | characters with their colours |
//! | [`text`] | texts of strangers made harmless, numbers for people |
//!
//! # Limits
//!
//! Texts from files are made [`harmless`](text::harmless) here. The caller limits how much is read
//! at once by the number of visible rows and columns; a row of a column of arrays is read whole.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod chunk_map;
mod command;
mod draw;
pub mod numpy;
mod opened;
pub mod screen;
mod source;
#[cfg(feature = "terminal")]
pub mod terminal;
mod values;
mod view;

pub use b2_plot::{Rgb, Scene};
pub use blosc_dtype::{item, text};
pub use chunk_map::ChunkMap;
pub use command::{Command, Focus, HELP, Pane, Question};
pub use opened::Opened;
pub use source::{Chunks, Items, Member, OneField, Source};
pub use values::Values;
pub use view::View;
