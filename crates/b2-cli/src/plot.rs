//! Pictures of numbers: axes, lines, heat maps and histograms, as PNG, SVG or text.
//!
//! ```text
//! numbers --reduce--> what a pixel can show --draw--> shapes --raster, svg--> a file
//!                                       \--text--> characters
//! ```
//!
//! Nothing here knows where the numbers come from, or prints.

pub(crate) mod axis;
pub(crate) mod color;
pub(crate) mod draw;
mod png;
pub(crate) mod raster;
pub(crate) mod reduce;
pub(crate) mod svg;
pub(crate) mod text;
