//! Pictures of any amount of numbers: lines, heat maps and histograms, as PNG, SVG or characters.
//!
//! ```text
//! numbers --Line, Map, Histogram--> what a picture can show --Scene--> png, svg, cells
//! ```
//!
//! Numbers come in pieces, and only as many are kept as a picture can show: the least and the
//! largest of each column of pixels, the mean of each cell, a count for each bar. The caller
//! decides about the source of the numbers and the destination of a picture: the crate opens no
//! file, reads no clock and knows no terminal. It also runs in a web browser. The same numbers give
//! the same bytes on every machine.
//!
//! ```
//! use b2_plot::{AxisRange, Content, Line, Scene};
//!
//! let wave: Vec<f64> = (0..100_000).map(|n| (f64::from(n) / 5e3).sin()).collect();
//! // Piece by piece, in at most 700 columns.
//! let mut line = Line::new(100_000, 700);
//! for (n, piece) in wave.chunks(4096).enumerate() {
//!     line.add(n as u64 * 4096, piece);
//! }
//! let mut scene = Scene::new("a wave", Content::lines([("sin".to_owned(), line)]));
//! scene.x_label = "sample".to_owned();
//! assert!(scene.png(800, 500).starts_with(b"\x89PNG"));
//! assert!(scene.svg(800, 500).contains("a wave"));
//! let cells = scene.cells(60, 12, true);
//! assert_eq!(cells.row(0).map(|cell| cell.symbol).take(6).collect::<String>(), "a wave");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | type | concept |
//! |---|---|
//! | [`Line`], [`Map`], [`Histogram`] | numbers, reduced to what is drawn |
//! | [`Scene`] | all that a picture shows: [`Content`], axes, texts |
//! | [`Cells`] | characters with their colours, for a terminal |
//! | [`Room`] | how many numbers a picture of a size has room for |
//! | [`color`] | colours that people with any eyes can tell apart |
//!
//! # Limits
//!
//! A picture takes 3 bytes for each pixel, so the caller limits its size. Texts may be untrusted:
//! SVG escapes them, PNG draws the letters of its font (Latin), and [`Cells`] keep them unchanged.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod axis;
mod canvas;
mod cells;
pub mod color;
mod png;
mod raster;
mod reduce;
mod scene;
mod svg;
mod symbols;

pub use axis::{AxisRange, Tick};
pub use blosc_dtype::numbers::{Extent, Histogram, Tally};
pub use cells::{Cell, Cells};
pub use color::Rgb;
pub use reduce::{Line, LineColumn, Map};
pub use scene::{Content, Note, Room, Scene};
