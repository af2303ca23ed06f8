//! Chunks as colours that say how well they compress.

use b2_plot::{Rgb, color};

use crate::{source::Chunks, text::count};

/// The chunks that are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkMap {
    /// Chunks side by side.
    pub columns: u64,
    /// A colour for each: dark for what is stored as it is, bright for a tenth of it or less;
    /// `None` if it cannot be read.
    pub colors: Vec<Option<Rgb>>,
    /// Which chunks of how many.
    pub text: String,
    /// The place of the chunk under the cursor among the colours.
    pub cursor: Option<usize>,
    /// Its number, sizes and ratio.
    pub cursor_text: String,
}

impl ChunkMap {
    /// The chunks from `first` on, in at most that many columns and rows. Chunks of an array lie as
    /// in its grid, as far as that is narrow enough and has more than one side by side.
    pub(crate) fn new(
        chunks: &dyn Chunks,
        (first, cursor): (u64, u64),
        max_columns: u64,
        rows: u64,
    ) -> Self {
        let columns = columns(chunks, max_columns);
        let end = first.saturating_add(columns.saturating_mul(rows)).min(chunks.nchunks());
        let colors = (first..end).map(|nchunk| chunks.sizes(nchunk).map(color_of_ratio)).collect();
        let text = match chunks.nchunks() {
            0 => "no chunks".to_owned(),
            total => {
                let last = end.max(first).saturating_sub(1);
                format!("chunks {first} to {last} of {}", count(total))
            }
        };
        let place = (first..end).contains(&cursor).then(|| cursor - first);
        let cursor_text = match chunks.sizes(cursor) {
            Some((nbytes, cbytes)) => {
                let ratio = nbytes as f64 / cbytes.max(1) as f64;
                format!("chunk {cursor}: {} -> {} bytes, {ratio:.2}x", count(nbytes), count(cbytes))
            }
            None => format!("chunk {cursor}: cannot be read"),
        };
        Self {
            columns,
            colors,
            text,
            cursor: place.and_then(|place| usize::try_from(place).ok()),
            cursor_text,
        }
    }
}

/// Chunks side by side.
pub(crate) fn columns(chunks: &dyn Chunks, max_columns: u64) -> u64 {
    let grid = chunks.grid().filter(|grid| grid.len() > 1);
    let across = grid.and_then(|grid| grid.last().copied());
    let columns = across.filter(|across| (2..max_columns).contains(across));
    columns.unwrap_or(max_columns).max(1)
}

fn color_of_ratio((nbytes, cbytes): (u64, u64)) -> Rgb {
    let ratio = nbytes as f64 / cbytes.max(1) as f64;
    color::map(ratio.max(1.0).log10())
}
