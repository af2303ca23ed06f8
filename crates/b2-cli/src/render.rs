//! Values as people and programs read them: sizes, dates, columns, positions, progress.

pub(crate) mod date;
pub(crate) mod error_position;
pub(crate) mod escape;
pub(crate) mod progress;
pub(crate) mod size;
pub(crate) mod text_table;
