//! NDLZ (plugin 32): a 2-D array of bytes, cut into cells of 4 x 4 or 8 x 8. A cell may repeat
//! earlier rows.
//!
//! ```text
//! stream  02  rows (i32)  columns (i32)  cell  cell  ...      cells in row-major order
//! cell    token  [offset (u16)]  [offset (u16)]  [bytes]
//! ```
//!
//! A token gives the source of each row of the cell (`Layout`): a first and a second back reference
//! give some rows each, the bytes after them give the rest. References count back from the token,
//! in the *compressed* stream. Cells that the edge of the array cuts are stored. The codec's `meta`
//! is the side of a cell.

mod decode;
mod encode;

use alloc::boxed::Box;

use crate::{
    Codec, CodecId, Corrupt, DecodeOptions, EncodeOptions, Error, Param, StreamDecoder,
    StreamEncoder,
    codec::{refuse_dict, require_write},
};

/// The codec.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ndlz;

impl Codec for Ndlz {
    fn id(&self) -> CodecId {
        CodecId::NDLZ
    }

    fn version(&self) -> &str {
        concat!("blosc-codecs ", env!("CARGO_PKG_VERSION"))
    }

    fn max_compressed_len(&self, len: usize) -> usize {
        // In the worst case, every byte is a cell of its own.
        HEADER_LEN + 2 * len
    }

    fn new_encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>, Error> {
        require_write(CodecId::NDLZ)?;
        refuse_dict(CodecId::NDLZ, options.dict)?;
        let shape = options.blockshape.ok_or(param(Param::NoShape))?;
        let [rows, cols] = *shape else {
            return Err(param(Param::Dimensions { ndim: shape.len(), allowed: "2" }));
        };
        Ok(Box::new(encode::Encoder::new(Side::new(options.meta)?, rows, cols)?))
    }

    fn new_decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn StreamDecoder>, Error> {
        refuse_dict(CodecId::NDLZ, options.dict)?;
        Ok(Box::new(Decoder { side: Side::new(options.meta)? }))
    }
}

/// The side of a cell (items).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// Cells of 4 x 4 bytes.
    Four,
    /// Cells of 8 x 8 bytes.
    Eight,
}

impl Side {
    /// The side for a `meta` of the codec.
    fn new(meta: u8) -> Result<Self, Error> {
        match meta {
            4 => Ok(Self::Four),
            8 => Ok(Self::Eight),
            _ => Err(param(Param::Meta { meta, allowed: "4, 8" })),
        }
    }

    /// Bytes along one side.
    fn len(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}

struct Decoder {
    side: Side,
}

impl StreamDecoder for Decoder {
    fn decode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
        decode::decode(self.side, src, dest)
    }
}

/// The rows of each back reference, as bit masks (bit i: row i). Rows in neither mask are literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    first: u8,
    second: u8,
}

impl Layout {
    const LITERAL: Self = Self { first: 0, second: 0 };

    /// The layout for `token` in a whole cell.
    fn from_token(token: u8, side: Side) -> Option<Self> {
        match side {
            _ if token == LITERAL => Some(Self::LITERAL),
            Side::Four => TOKENS_4.iter().find(|(t, _)| *t == token).map(|(_, layout)| *layout),
            Side::Eight => match token {
                WHOLE => Some(one_reference(0xFF)),
                0xA8..=0xAD => Some(one_reference(0b111 << (token - 0xA8))),
                0x88..=0x8E => Some(one_reference(0b11 << (token - 0x88))),
                _ => None,
            },
        }
    }
}

const fn one_reference(first: u8) -> Layout {
    Layout { first, second: 0 }
}

/// Token of a cell whose bytes follow.
const LITERAL: u8 = 0x00;
/// Token of a cell of one repeated byte, which follows.
const CONSTANT: u8 = 0x40;
/// Token of a cell that is all one reference.
const WHOLE: u8 = 0xC0;

/// The tokens of 4 x 4 cells with references, best first.
const TOKENS_4: [(u8, Layout); 14] = [
    (WHOLE, one_reference(0b1111)),
    (0x28, Layout { first: 0b0011, second: 0b1100 }),
    (0x30, Layout { first: 0b0101, second: 0b1010 }),
    (0x38, Layout { first: 0b1001, second: 0b0110 }),
    (0xE8, one_reference(0b0111)),
    (0xF0, one_reference(0b1011)),
    (0xF8, one_reference(0b1101)),
    (0xE0, one_reference(0b1110)),
    (0x88, one_reference(0b0011)),
    (0x90, one_reference(0b0101)),
    (0x98, one_reference(0b1001)),
    (0xB0, one_reference(0b0110)),
    (0xB8, one_reference(0b1010)),
    (0x80, one_reference(0b1100)),
];

/// Number of dimensions, rows, columns.
const HEADER_LEN: usize = 9;

/// A cell of an array: its first byte, and the extent that lies inside the array.
#[derive(Clone, Copy)]
struct Cell {
    /// Position of the first byte in the array.
    at: usize,
    rows: usize,
    cols: usize,
}

/// All cells, whole and cut, in row-major order.
fn cells(side: Side, rows: usize, cols: usize) -> impl Iterator<Item = Cell> {
    let side = side.len();
    (0..rows).step_by(side).flat_map(move |y| {
        (0..cols).step_by(side).map(move |x| Cell {
            at: y * cols + x,
            rows: side.min(rows - y),
            cols: side.min(cols - x),
        })
    })
}

/// The rows of a mask, in order.
fn rows_of(mask: u8) -> impl Iterator<Item = usize> {
    (0..8).filter(move |row| mask >> row & 1 == 1)
}

fn corrupt(at: usize, what: Corrupt) -> Error {
    Error::Corrupt { codec: CodecId::NDLZ, at, what }
}

fn param(what: Param) -> Error {
    Error::Param { codec: CodecId::NDLZ, what }
}
