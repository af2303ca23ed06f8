//! Encoding: greedy, cell by cell, with one hash table of groups of rows.
//!
//! * A whole cell of one byte value is written as that byte.
//! * Else the tokens with back references are tried, largest saving first: all rows, then two
//!   references of two rows each (cells of 4 x 4 only), three rows, two rows. The rows that a token
//!   needs are gathered and hashed (FNV-1a, folded); the table gives one candidate position in the
//!   *compressed* stream, where the literal rows of an earlier cell are. No chains are followed.
//! * Else the cell is written as literals, and every group of two, three and all consecutive rows
//!   of it is put into the table. Cells that are references are left out: their rows are not
//!   contiguous in the stream.
//!
//! The table starts empty for each stream. C-Blosc2 searches in the same way, but its hash and the
//! order of its attempts differ, so streams may differ too; both decode each other's.

use alloc::{boxed::Box, vec, vec::Vec};

use super::{
    CONSTANT, Cell, LITERAL, Layout, Side, TOKENS_4, WHOLE, cells, one_reference, param, rows_of,
};
use crate::{Error, Param, StreamEncoder, lz::output::OutputBuffer};

/// Bits of the hash.
const HASH_BITS: u32 = 12;
/// Longest reference (bytes). The decoder of C-Blosc2 adds up to 3 to it in 16 bits.
const MAX_OFFSET: usize = 65_532;
/// Bytes of the largest cell.
const MAX_CELL: usize = 64;

/// Compresses blocks of one shape.
pub(super) struct Encoder {
    side: Side,
    rows: usize,
    cols: usize,
    layouts: Vec<(u8, Layout)>,
    /// Positions in the stream, by the hash of the bytes there.
    table: Box<[u32]>,
}

impl Encoder {
    /// An encoder for blocks of `rows` x `cols` bytes; an error if there are none, or too many for
    /// the format.
    pub(super) fn new(side: Side, rows: u32, cols: u32) -> Result<Self, Error> {
        let nbytes = u64::from(rows) * u64::from(cols);
        let limit = i32::MAX as usize;
        if nbytes == 0 || nbytes > limit as u64 {
            return Err(param(Param::ShapeSize { shape: nbytes, nbytes: limit }));
        }
        let table = vec![0; 1 << HASH_BITS].into_boxed_slice();
        Ok(Self { side, rows: rows as usize, cols: cols as usize, layouts: layouts(side), table })
    }

    fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Option<usize> {
        let mut out = OutputBuffer::new(dest);
        out.push(2)?;
        for extent in [self.rows, self.cols] {
            out.extend(&i32::try_from(extent).ok()?.to_le_bytes())?;
        }
        self.table.fill(0);
        let mut bytes = [0; MAX_CELL];
        for cell in cells(self.side, self.rows, self.cols) {
            let bytes = gather(src, self.cols, cell, &mut bytes);
            let whole = bytes.len() == self.side.len() * self.side.len();
            if whole && bytes.iter().all(|b| *b == bytes[0]) {
                out.extend(&[CONSTANT, bytes[0]])?;
            } else if !(whole && self.push_references(bytes, &mut out)?) {
                out.push(LITERAL)?;
                let at = out.len();
                out.extend(bytes)?;
                if whole {
                    self.insert_rows(bytes, at);
                }
            }
        }
        Some(out.len())
    }

    /// Writes a whole cell as the best token with references; returns whether there is one.
    fn push_references(&mut self, bytes: &[u8], out: &mut OutputBuffer<'_>) -> Option<bool> {
        let side = self.side.len();
        let token_at = out.len();
        for &(token, layout) in &self.layouts {
            let Some(first) = self.find(bytes, layout.first, out) else { continue };
            let Some(second) = self.find(bytes, layout.second, out) else { continue };
            out.push(token)?;
            for at in [first, second].into_iter().flatten() {
                out.extend(&u16::try_from(token_at - at).ok()?.to_le_bytes())?;
            }
            for (row, bytes) in bytes.chunks_exact(side).enumerate() {
                if (layout.first | layout.second) >> row & 1 == 0 {
                    out.extend(bytes)?;
                }
            }
            return Some(true);
        }
        Some(false)
    }

    /// The position in the stream of the successive rows of `mask`. An empty mask needs none.
    #[allow(
        clippy::option_option,
        reason = "outer: whether it was found; inner: whether it is needed"
    )]
    fn find(&self, cell: &[u8], mask: u8, out: &mut OutputBuffer<'_>) -> Option<Option<usize>> {
        if mask == 0 {
            return Some(None);
        }
        let side = self.side.len();
        let mut key = [0; MAX_CELL];
        let mut len = 0;
        for row in rows_of(mask) {
            key[len..len + side].copy_from_slice(&cell[row * side..][..side]);
            len += side;
        }
        let at = self.table[hash(&key[..len])] as usize;
        let found =
            out.written().get(at..at + len) == Some(&key[..len]) && out.len() - at <= MAX_OFFSET;
        (found && at > 0).then_some(Some(at))
    }

    /// Inserts every run of two rows, three rows and all rows of a literal cell that starts at
    /// `at`.
    #[allow(clippy::cast_possible_truncation, reason = "a stream has less than 4 GiB")]
    fn insert_rows(&mut self, cell: &[u8], at: usize) {
        let side = self.side.len();
        for rows in [2, 3, side] {
            for start in (0..=cell.len() - rows * side).step_by(side) {
                self.table[hash(&cell[start..start + rows * side])] = (at + start) as u32;
            }
        }
    }
}

impl StreamEncoder for Encoder {
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        let shape = self.rows * self.cols;
        if src.len() != shape {
            return Err(param(Param::ShapeSize { shape: shape as u64, nbytes: src.len() }));
        }
        Ok(self.compress(src, dest))
    }
}

/// The bytes of a cell, row by row.
fn gather<'b>(src: &[u8], cols: usize, cell: Cell, bytes: &'b mut [u8; MAX_CELL]) -> &'b [u8] {
    let bytes = &mut bytes[..cell.rows * cell.cols];
    for (row, to) in bytes.chunks_exact_mut(cell.cols).enumerate() {
        to.copy_from_slice(&src[cell.at + row * cols..][..cell.cols]);
    }
    bytes
}

/// The tokens with references, largest saving first.
fn layouts(side: Side) -> Vec<(u8, Layout)> {
    match side {
        Side::Four => TOKENS_4.to_vec(),
        Side::Eight => {
            let triples = (0..6).map(|i| (0xA8 + i, one_reference(0b111 << i)));
            let pairs = (0..7).map(|i| (0x88 + i, one_reference(0b11 << i)));
            core::iter::once((WHOLE, one_reference(0xFF))).chain(triples).chain(pairs).collect()
        }
    }
}

/// FNV-1a, folded.
fn hash(key: &[u8]) -> usize {
    let h = key
        .iter()
        .fold(0xCBF2_9CE4_8422_2325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01B3));
    (h >> (64 - HASH_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(side: Side, rows: u32, cols: u32, src: &[u8]) -> Vec<u8> {
        let mut stream = vec![0; 9 + 2 * src.len()];
        let mut encoder = Encoder::new(side, rows, cols).unwrap();
        let len = encoder.encode(src, &mut stream).unwrap().unwrap();
        stream.truncate(len);
        stream
    }

    const HEADER: [u8; 9] = [2, 4, 0, 0, 0, 8, 0, 0, 0];

    #[test]
    fn a_constant_cell_is_its_byte() {
        let stream = encode(Side::Four, 4, 8, &[7; 32]);
        assert_eq!(stream[..9], HEADER);
        assert_eq!(stream[9..], [CONSTANT, 7, CONSTANT, 7]);
    }

    #[test]
    fn an_equal_cell_is_one_reference() {
        let row = |y: u8| [4 * y, 4 * y + 1, 4 * y + 2, 4 * y + 3];
        let src: Vec<u8> = (0..4).flat_map(|y| [row(y), row(y)].concat()).collect();
        let stream = encode(Side::Four, 4, 8, &src);
        assert_eq!(stream[9], LITERAL);
        assert_eq!(stream[10..26], core::array::from_fn::<u8, 16, _>(|n| n.to_le_bytes()[0]));
        // From the token at 26 back to the literals at 10.
        assert_eq!(stream[26..], [WHOLE, 16, 0]);
    }

    #[test]
    fn equal_rows_are_references_and_the_rest_literal() {
        let row = |y: u8| [4 * y, 4 * y + 1, 4 * y + 2, 4 * y + 3];
        let mut src: Vec<u8> = (0..4).flat_map(|y| [row(y), row(y)].concat()).collect();
        // Only the last row of the second cell is new.
        src[28..].copy_from_slice(&[90, 91, 92, 93]);
        let stream = encode(Side::Four, 4, 8, &src);
        // 0xE8 refers to the first three rows.
        assert_eq!(stream[26..], [0xE8, 16, 0, 90, 91, 92, 93]);
    }

    #[test]
    fn cut_cells_are_literal() {
        let stream = encode(Side::Eight, 4, 8, &[7; 32]);
        assert_eq!(stream[9], LITERAL);
        assert_eq!(stream[10..], [7; 32]);
    }
}
