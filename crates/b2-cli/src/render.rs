//! Values in the form that people and programs read: sizes, columns, positions, progress.

pub(crate) mod error_position;

pub(crate) use b2_program::{escape, progress, size, text_table};

pub(crate) use error_position::ErrorPosition;
pub(crate) use escape::{harmless, json_text, path_text};
pub(crate) use progress::Progress;
pub(crate) use size::{ByteSize, Units};
pub(crate) use text_table::{Align, Table};
