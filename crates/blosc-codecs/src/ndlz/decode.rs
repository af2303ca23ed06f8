//! Decoding, cell by cell.

use super::{CONSTANT, Cell, HEADER_LEN, Layout, Side, cells, corrupt, rows_of};
use crate::{Corrupt, Error};

/// Decompresses an NDLZ stream. Succeeds only if its array has exactly `dest.len()` bytes.
pub(super) fn decode(side: Side, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
    let (rows, cols) = read_shape(src, dest.len())?;
    let mut input = Input { src, at: HEADER_LEN };
    for cell in cells(side, rows, cols) {
        let token_at = input.at;
        let token = input.take(1)?[0];
        if token == CONSTANT {
            let byte = input.take(1)?[0];
            (0..cell.rows).for_each(|row| row_mut(dest, cols, cell, row).fill(byte));
            continue;
        }
        let whole = cell.rows == side.len() && cell.cols == side.len();
        let layout = Layout::from_token(token, side)
            .filter(|layout| whole || *layout == Layout::LITERAL)
            .ok_or_else(|| corrupt(token_at, Corrupt::Token { token }))?;
        let first = input.read_reference(token_at, layout.first, side)?;
        let second = input.read_reference(token_at, layout.second, side)?;
        let rest = all_rows(cell.rows) & !(layout.first | layout.second);
        let literal = input.take(rest.count_ones() as usize * cell.cols)?;
        for (mask, from) in [(layout.first, first), (layout.second, second), (rest, literal)] {
            for (row, bytes) in rows_of(mask).zip(from.chunks_exact(cell.cols)) {
                row_mut(dest, cols, cell, row).copy_from_slice(bytes);
            }
        }
    }
    match src.len() - input.at {
        0 => Ok(()),
        extra => Err(corrupt(input.at, Corrupt::Trailing { extra })),
    }
}

/// Rows and columns from the start of the stream.
fn read_shape(src: &[u8], nbytes: usize) -> Result<(usize, usize), Error> {
    let Some(&[ndim, r0, r1, r2, r3, c0, c1, c2, c3]) = src.first_chunk::<HEADER_LEN>() else {
        return Err(corrupt(0, Corrupt::Truncated { need: HEADER_LEN, have: src.len() }));
    };
    if ndim != 2 {
        return Err(corrupt(0, Corrupt::Dimensions { ndim, expected: 2 }));
    }
    let (rows, cols) = (i32::from_le_bytes([r0, r1, r2, r3]), i32::from_le_bytes([c0, c1, c2, c3]));
    let shape = usize::try_from(rows).ok().zip(usize::try_from(cols).ok());
    shape
        .filter(|(r, c)| *r > 0 && *c > 0 && r.checked_mul(*c) == Some(nbytes))
        .ok_or_else(|| corrupt(1, Corrupt::Shape { rows, cols, expected: nbytes }))
}

fn row_mut(dest: &mut [u8], cols: usize, cell: Cell, row: usize) -> &mut [u8] {
    let start = cell.at + row * cols;
    &mut dest[start..start + cell.cols]
}

/// The mask of the first `rows` rows.
fn all_rows(rows: usize) -> u8 {
    u8::MAX >> (8 - rows)
}

/// The stream, read up to `at`.
struct Input<'a> {
    src: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let have = self.src.len() - self.at;
        let bytes = self
            .src
            .get(self.at..self.at + len)
            .ok_or_else(|| corrupt(self.at, Corrupt::Truncated { need: len, have }))?;
        self.at += len;
        Ok(bytes)
    }

    /// The bytes for the rows of `mask`; reads an offset if the mask has any.
    fn read_reference(&mut self, token_at: usize, mask: u8, side: Side) -> Result<&'a [u8], Error> {
        if mask == 0 {
            return Ok(&[]);
        }
        let at = self.at;
        let offset = self.take(2)?;
        let offset = usize::from(u16::from_le_bytes([offset[0], offset[1]]));
        let len = mask.count_ones() as usize * side.len();
        let bytes = token_at.checked_sub(offset).and_then(|start| self.src.get(start..start + len));
        bytes.ok_or_else(|| {
            #[allow(clippy::cast_possible_wrap, reason = "lengths of slices fit")]
            let start = token_at as i64 - offset as i64;
            corrupt(at, Corrupt::Reference { start, len, stream: self.src.len() })
        })
    }
}
