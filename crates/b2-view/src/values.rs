//! The visible values.

/// Items as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// The names of the columns; empty for items of one dimension.
    pub names: Vec<String>,
    /// Row by row; null is an empty text.
    pub rows: Vec<Vec<String>>,
}
