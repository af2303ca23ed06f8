//! The `b2nd` metalayer: shapes and item type of an array ("Metalayer" in `docs/formats/b2nd.md`).
//!
//! ```text
//! 97 | version | ndim | 9n shape i64.. | 9n chunkshape i32.. | 9n blockshape i32..
//! | dtype_format | db dtype
//! ```
//!
//! `caterva`, its predecessor, lacks the last two fields and begins with `95`.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use std::borrow::Cow;

use super::NdParam;
use crate::error::{Error, Result};
use crate::msgpack::{FIXARRAY, INT32, Reader, STR32, Writer};

/// The largest number of dimensions.
pub const MAX_NDIM: usize = 16;
/// The largest size of a chunk: the maximum of a chunk header, less the header itself (bytes).
pub(super) const MAX_CHUNK: u64 = i32::MAX.unsigned_abs() as u64 - 32;

/// Shapes and item type of an array.
///
/// Invariants: all shapes have the same number of dimensions, at most 16. An `u64` can count the
/// items of the array, of all chunks with their padding, of a chunk and of a block. A chunk or
/// block length is zero only where the array has no items in this dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NdMeta {
    shape: Vec<u64>,
    chunkshape: Vec<u32>,
    blockshape: Vec<u32>,
    dtype_format: u8,
    dtype: Option<Vec<u8>>,
}

/// Errors in a `b2nd` metalayer, in itself or for its frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are named in the messages")]
pub enum NdCorrupt {
    /// More dimensions than 16.
    #[error("{ndim} dimensions, at most 16")]
    Ndim { ndim: u8 },
    /// A negative length of the array.
    #[error("shape[{dim}] is {len}")]
    Shape { dim: usize, len: i64 },
    /// A chunk length that is negative, or zero in an array that has items.
    #[error("chunkshape[{dim}] is {len}")]
    ChunkShape { dim: usize, len: i32 },
    /// A block length that is negative, or zero in an array that has items.
    #[error("blockshape[{dim}] is {len}")]
    BlockShape { dim: usize, len: i32 },
    /// More items than can be counted.
    #[error("the items of {what} cannot be counted in 64 bits")]
    TooLarge { what: &'static str },
    /// Bytes after the last field.
    #[error("{len} bytes after the dtype")]
    LeftOver { len: usize },
    /// The chunks of the frame are of another size.
    #[error("chunks of {nbytes} bytes by shape and typesize, chunk_size is {chunksize}")]
    ChunkBytes { nbytes: u64, chunksize: u64 },
    /// The frame has another number of chunks.
    #[error("{expected} chunks by the shapes, the frame has {found}")]
    ChunkCount { expected: u64, found: u64 },
    /// The total size is not that of full chunks: chunks of arrays are padded.
    #[error("the chunks have {expected} bytes by the shapes, nbytes is {found}")]
    Nbytes { expected: u64, found: u64 },
    /// A chunk too large for its header.
    #[error("chunks of {nbytes} bytes, at most {max}")]
    ChunkTooLarge { nbytes: u64, max: u64 },
}

impl NdMeta {
    /// Name of the metalayer.
    pub const NAME: &'static str = "b2nd";
    /// Name of the metalayer of its predecessor.
    pub const OLD_NAME: &'static str = "caterva";

    /// Describes an array.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the shapes contradict the invariants.
    pub fn new(shape: &[u64], chunkshape: &[u32], blockshape: &[u32], dtype: &str) -> Result<Self> {
        let mut meta = Self {
            shape: shape.to_vec(),
            chunkshape: chunkshape.to_vec(),
            blockshape: blockshape.to_vec(),
            dtype_format: 0,
            dtype: Some(dtype.as_bytes().to_vec()),
        };
        // Encoding writes one length for each dimension of `shape`; parsing checks all of the
        // result.
        meta.chunkshape.resize(shape.len(), 0);
        meta.blockshape.resize(shape.len(), 0);
        Self::parse(&meta.encode())
    }

    /// The same array with another format of its item type: 0 is NumPy's, others are opaque.
    #[must_use]
    pub const fn with_dtype_format(mut self, dtype_format: u8) -> Self {
        self.dtype_format = dtype_format;
        self
    }

    /// Parses the content of a `b2nd` or `caterva` metalayer.
    ///
    /// # Errors
    /// [`Error::UnknownNdVersion`], or [`Error::Corrupt`] with a position in `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes, 0);
        let has_dtype = bytes.first() != Some(&(FIXARRAY | 5));
        reader.marker("b2nd", FIXARRAY | if has_dtype { 7 } else { 5 })?;
        match reader.u8()? {
            0 => {}
            version => return Err(Error::UnknownNdVersion { version }),
        }
        let ndim = reader.u8()?;
        if usize::from(ndim) > MAX_NDIM {
            return Err(Error::corrupt(2, NdCorrupt::Ndim { ndim }));
        }
        let shape = parse_shape(&mut reader, ndim)?;
        let chunkshape =
            parse_lens(&mut reader, &shape, |dim, len| NdCorrupt::ChunkShape { dim, len })?;
        let blockshape =
            parse_lens(&mut reader, &shape, |dim, len| NdCorrupt::BlockShape { dim, len })?;
        let (dtype_format, dtype) = if has_dtype { parse_dtype(&mut reader)? } else { (0, None) };
        let left_over = bytes.len().saturating_sub(reader.position());
        if left_over > 0 {
            return Err(Error::corrupt(reader.position(), NdCorrupt::LeftOver { len: left_over }));
        }
        let meta = Self { shape, chunkshape, blockshape, dtype_format, dtype };
        meta.check_counts().map_err(|what| Error::corrupt(0, what))?;
        Ok(meta)
    }

    /// The content of a `b2nd` metalayer.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        let ndim = u8::try_from(self.ndim()).unwrap_or(u8::MAX);
        let has_dtype = self.dtype.is_some();
        writer.u8(FIXARRAY | if has_dtype { 7 } else { 5 }).u8(0).u8(ndim);
        writer.u8(array_marker(ndim));
        for len in &self.shape {
            writer.i64(len.cast_signed());
        }
        for shape in [&self.chunkshape, &self.blockshape] {
            writer.u8(array_marker(ndim));
            for &len in shape {
                writer.u32(INT32, len);
            }
        }
        if let Some(dtype) = &self.dtype {
            writer
                .u8(self.dtype_format)
                .u32(STR32, u32::try_from(dtype.len()).unwrap_or(u32::MAX))
                .raw(dtype);
        }
        writer.bytes
    }

    /// The same array in another shape with the same number of dimensions.
    pub(super) fn with_shape(&self, shape: &[u64]) -> Result<Self> {
        let meta = Self { shape: shape.to_vec(), ..self.clone() };
        let wrong = |_| {
            let (chunks, blocks) = (self.chunkshape.clone(), self.blockshape.clone());
            NdParam::Shapes { shape: shape.to_vec(), chunks, blocks }
        };
        Ok(Self::parse(&meta.encode()).map_err(wrong)?)
    }

    /// Number of dimensions.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// Length of the array in each dimension (items).
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Length of a chunk in each dimension (items).
    #[must_use]
    pub fn chunkshape(&self) -> &[u32] {
        &self.chunkshape
    }

    /// Length of a block in each dimension (items).
    #[must_use]
    pub fn blockshape(&self) -> &[u32] {
        &self.blockshape
    }

    /// Format of the item type: 0 is NumPy's, others are opaque.
    #[must_use]
    pub fn dtype_format(&self) -> u8 {
        self.dtype_format
    }

    /// The item type as stored, `None` in a `caterva` array.
    #[must_use]
    pub fn dtype_bytes(&self) -> Option<&[u8]> {
        self.dtype.as_deref()
    }

    /// The item type for display: the stored text, or raw bytes of `typesize` without one.
    #[must_use]
    pub fn dtype_text(&self, typesize: u32) -> Cow<'_, str> {
        match &self.dtype {
            Some(bytes) => String::from_utf8_lossy(bytes),
            None => Cow::Owned(format!("|S{typesize}")),
        }
    }

    /// Items of the array.
    #[must_use]
    pub fn nitems(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Chunks along each dimension.
    #[must_use]
    pub fn grid(&self) -> Vec<u64> {
        self.shape
            .iter()
            .zip(&self.chunkshape)
            .map(|(&len, &chunk)| ceil_div(len, chunk.into()))
            .collect()
    }

    /// Blocks along each dimension of a chunk.
    #[must_use]
    pub fn blocks_in_chunk(&self) -> Vec<u64> {
        self.chunkshape
            .iter()
            .zip(&self.blockshape)
            .map(|(&c, &b)| ceil_div(c.into(), b.into()))
            .collect()
    }

    /// Number of chunks.
    #[must_use]
    pub fn nchunks(&self) -> u64 {
        self.grid().iter().product()
    }

    /// Items of a block.
    #[must_use]
    pub fn block_items(&self) -> u64 {
        self.blockshape.iter().map(|&len| u64::from(len)).product()
    }

    /// Items of a chunk, with the padding that fills its last blocks.
    #[must_use]
    pub fn chunk_items(&self) -> u64 {
        self.blocks_in_chunk().iter().product::<u64>().saturating_mul(self.block_items())
    }

    /// Checks the metalayer against the frame that holds it.
    pub(crate) fn check_frame(
        &self,
        typesize: u32,
        chunksize: Option<u32>,
        nchunks: u64,
        total: u64,
    ) -> Result<(), NdCorrupt> {
        let expected = self.nchunks();
        if expected != nchunks {
            return Err(NdCorrupt::ChunkCount { expected, found: nchunks });
        }
        let nbytes = self.chunk_items().saturating_mul(typesize.into());
        if nbytes > MAX_CHUNK {
            return Err(NdCorrupt::ChunkTooLarge { nbytes, max: MAX_CHUNK });
        }
        match chunksize.map(u64::from) {
            _ if nchunks == 0 => Ok(()),
            Some(chunksize) if chunksize == nbytes => {
                let expected = nbytes.saturating_mul(nchunks);
                if total == expected {
                    Ok(())
                } else {
                    Err(NdCorrupt::Nbytes { expected, found: total })
                }
            }
            chunksize => Err(NdCorrupt::ChunkBytes { nbytes, chunksize: chunksize.unwrap_or(0) }),
        }
    }

    /// Checks that no product overflows; later code relies on it.
    fn check_counts(&self) -> Result<(), NdCorrupt> {
        let grid = self.grid();
        let padded = grid.iter().zip(&self.chunkshape).map(|(&g, &c)| g.checked_mul(c.into()));
        let chunk = self
            .blocks_in_chunk()
            .into_iter()
            .zip(&self.blockshape)
            .map(|(k, &b)| k.checked_mul(b.into()));
        let block = self.blockshape.iter().map(|&b| Some(u64::from(b)));
        for (what, lens, max) in [
            (
                "the array",
                self.shape.iter().map(|&n| Some(n)).collect::<Vec<_>>(),
                i64::MAX.unsigned_abs(),
            ),
            ("all chunks", padded.collect(), i64::MAX.unsigned_abs()),
            ("a chunk", chunk.collect(), i32::MAX.unsigned_abs().into()),
            ("a block", block.collect(), i32::MAX.unsigned_abs().into()),
        ] {
            let nonzero = lens.iter().filter(|len| **len != Some(0));
            let product =
                nonzero.copied().try_fold(1, |product: u64, len| product.checked_mul(len?));
            if product.is_none_or(|product| product > max) {
                return Err(NdCorrupt::TooLarge { what });
            }
        }
        Ok(())
    }
}

fn parse_shape(reader: &mut Reader<'_>, ndim: u8) -> Result<Vec<u64>> {
    reader.marker("shape", array_marker(ndim))?;
    let parse = |dim| {
        let at = reader.position();
        let len = reader.i64("shape")?;
        u64::try_from(len).map_err(|_| Error::corrupt(at, NdCorrupt::Shape { dim, len }))
    };
    (0..usize::from(ndim)).map(parse).collect()
}

/// A chunk or block shape: positive, or zero where the array is empty.
fn parse_lens(
    reader: &mut Reader<'_>,
    shape: &[u64],
    bad: fn(usize, i32) -> NdCorrupt,
) -> Result<Vec<u32>> {
    reader.marker(
        "chunkshape or blockshape",
        array_marker(u8::try_from(shape.len()).unwrap_or(u8::MAX)),
    )?;
    let parse = |(dim, &items): (usize, &u64)| {
        let at = reader.position();
        let len = reader.i32("chunkshape or blockshape")?;
        match u32::try_from(len) {
            Ok(checked) if checked > 0 || items == 0 => Ok(checked),
            _ => Err(Error::corrupt(at, bad(dim, len))),
        }
    };
    shape.iter().enumerate().map(parse).collect()
}

fn parse_dtype(reader: &mut Reader<'_>) -> Result<(u8, Option<Vec<u8>>)> {
    let format = reader.u8()?;
    let len = reader.u32("dtype", STR32)?;
    let bytes = reader.take(usize::try_from(len).unwrap_or(usize::MAX))?;
    Ok((format, Some(bytes.to_vec())))
}

/// The marker of an array with this number of elements. For 16 the sum is the marker of an empty
/// string: C writers do not check it, and files must agree.
fn array_marker(ndim: u8) -> u8 {
    FIXARRAY.saturating_add(ndim)
}

/// As `div_ceil`; 0 for a division by zero.
fn ceil_div(len: u64, by: u64) -> u64 {
    if by == 0 { 0 } else { len.div_ceil(by) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn corrupt(meta: Result<NdMeta>) -> NdCorrupt {
        match meta {
            Err(Error::Corrupt { what: crate::error::Corrupt::Nd(what), .. }) => what,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_annotated_metalayer_is_read_and_written() {
        let file = include_bytes!("../../../../conformance/samples/frames/tiny-nd.b2nd");
        let bytes = &file[112..112 + 0x35];
        let meta = NdMeta::parse(bytes).unwrap();
        assert_eq!((meta.ndim(), meta.shape(), meta.nitems()), (2, &[5, 3][..], 15));
        assert_eq!((meta.chunkshape(), meta.blockshape()), (&[4, 2][..], &[2, 2][..]));
        assert_eq!((meta.grid(), meta.blocks_in_chunk()), (vec![2, 2], vec![2, 1]));
        assert_eq!((meta.nchunks(), meta.chunk_items(), meta.block_items()), (4, 8, 4));
        assert_eq!((meta.dtype_format(), meta.dtype_bytes()), (0, Some(&b"<i2"[..])));
        assert_eq!(meta.encode(), bytes);
        assert_eq!(NdMeta::new(&[5, 3], &[4, 2], &[2, 2], "<i2").unwrap(), meta);
    }

    #[test]
    fn sixteen_dimensions_have_the_marker_of_a_string() {
        let meta = NdMeta::new(&[1; 16], &[1; 16], &[1; 16], "|u1").unwrap();
        assert_eq!(meta.encode()[3], 0xa0);
        assert_eq!(
            corrupt(NdMeta::new(&[1; 17], &[1; 17], &[1; 17], "|u1")),
            NdCorrupt::Ndim { ndim: 17 }
        );
    }

    #[test]
    fn the_predecessor_has_no_dtype() {
        let mut bytes = NdMeta::new(&[5], &[5], &[2], "").unwrap().encode();
        bytes[0] = 0x95;
        bytes.truncate(bytes.len() - 6);
        let meta = NdMeta::parse(&bytes).unwrap();
        assert_eq!((meta.dtype_bytes(), meta.dtype_text(8)), (None, "|S8".into()));
        assert_eq!(meta.encode(), bytes);
    }

    #[test]
    fn products_that_wrap_are_refused() {
        let big = 1 << 62;
        assert_eq!(
            corrupt(NdMeta::new(&[big, 4], &[1, 1], &[1, 1], "")),
            NdCorrupt::TooLarge { what: "the array" }
        );
        // Zero items, and yet refused.
        assert_eq!(
            corrupt(NdMeta::new(&[big, 0, 4], &[1, 1, 1], &[1; 3], "")),
            NdCorrupt::TooLarge { what: "the array" }
        );
        let wide = NdMeta::new(&[1, 1], &[65536, 65536], &[1, 1], "");
        assert_eq!(corrupt(wide), NdCorrupt::TooLarge { what: "a chunk" });
        let wide = NdMeta::new(&[1, 1], &[1, 1], &[65536, 65536], "");
        assert_eq!(corrupt(wide), NdCorrupt::TooLarge { what: "a chunk" });
    }

    #[test]
    fn a_chunk_is_padded_to_whole_blocks() {
        let meta = NdMeta::new(&[10, 5, 5, 5], &[2, 5, 10, 5], &[5, 2, 5, 2], "<i4").unwrap();
        assert_eq!((meta.grid(), meta.blocks_in_chunk()), (vec![5, 1, 1, 1], vec![1, 3, 2, 3]));
        assert_eq!((meta.chunk_items(), meta.block_items()), (18 * 100, 100));
    }

    #[test]
    fn an_array_must_fit_its_frame() {
        let meta = NdMeta::new(&[5, 3], &[4, 2], &[2, 2], "<i2").unwrap();
        assert_eq!(meta.check_frame(2, Some(16), 4, 64), Ok(()));
        assert_eq!(
            meta.check_frame(2, Some(16), 5, 80),
            Err(NdCorrupt::ChunkCount { expected: 4, found: 5 })
        );
        assert_eq!(
            meta.check_frame(2, Some(32), 4, 128),
            Err(NdCorrupt::ChunkBytes { nbytes: 16, chunksize: 32 })
        );
        let short = meta.check_frame(2, Some(16), 4, 60);
        assert_eq!(short, Err(NdCorrupt::Nbytes { expected: 64, found: 60 }));
        let huge = meta.check_frame(1 << 30, Some(16), 4, 64);
        assert_eq!(huge, Err(NdCorrupt::ChunkTooLarge { nbytes: 8 << 30, max: MAX_CHUNK }));
    }

    proptest! {
        #[test]
        fn parsing_and_encoding_gives_the_same_bytes(at in 0usize..0x35, byte: u8) {
            let mut bytes = NdMeta::new(&[5, 3], &[4, 2], &[2, 2], "<i2").unwrap().encode();
            let len = bytes.len();
            bytes[at.min(len - 1)] = byte;
            if let Ok(meta) = NdMeta::parse(&bytes) {
                prop_assert_eq!(meta.encode(), bytes);
            }
        }
    }
}
