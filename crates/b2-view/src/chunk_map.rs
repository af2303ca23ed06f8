//! Chunks as colours of their compression ratios.

use b2_plot::{Rgb, color};

use crate::{source::Chunks, text::count};

/// The visible chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkMap {
    /// Number of chunks per row.
    pub columns: u64,
    /// A colour for each: dark for a chunk that is stored uncompressed, bright for a tenth of its
    /// size or less; `None` if the chunk cannot be read.
    pub colors: Vec<Option<Rgb>>,
    /// The numbers of the visible chunks, and their total.
    pub text: String,
    /// The index in `colors` of the chunk under the cursor.
    pub cursor: Option<usize>,
    /// Its number, sizes and ratio.
    pub cursor_text: String,
}

impl ChunkMap {
    /// The chunks from `first` on, in at most `max_columns` columns and `rows` rows. Chunks of an
    /// array are arranged as in its grid, if it is narrow enough and has more than one column.
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

/// Number of chunks per row.
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
