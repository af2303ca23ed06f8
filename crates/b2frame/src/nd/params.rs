//! Parameters of a new array.

use std::sync::Arc;

use blosc_chunk::{CParams, FilterId, Pipeline, Target};
use blosc_dtype::{Dtype, Kind};

use super::geometry::as_len;
use super::{NdMeta, NdParam, shapes};
use crate::error::{Param, Result};
use crate::params::{Checksums, FrameParams};
use crate::schunk::for_its_readers;

/// The items of a new array before the first write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fill {
    /// Zero bytes.
    #[default]
    Zeros,
    /// Not a number, for items of 4 or 8 bytes.
    Nans,
    /// Uninitialised: chunks that were never written. They read as zeros here.
    Uninit,
    /// These bytes for each item.
    Value(Vec<u8>),
}

blosc_chunk::setters! {
/// Parameters of a new array.
///
/// ```
/// use b2frame::{NdParams, nd::Fill};
///
/// let params = NdParams::new(&[1000, 2000], "<f4".parse()?)
///     .chunkshape(&[100, 2000]).fill(Fill::Nans);
/// assert_eq!(params.shapes()?.0, [100, 2000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NdParams {
    /// Compression of chunks. The array sets the typesize and the block size.
    pub cparams: CParams,
    /// The items before the first write.
    pub fill: Fill,
    /// The checksums that detect damage.
    pub checksums: Checksums,
    ;
    /// Length in each dimension (items).
    pub shape: Vec<u64>,
    /// Type of the items.
    pub dtype: Dtype,
    /// Length of a chunk in each dimension (items). Default: chunks of at most 8 MiB.
    pub chunkshape: Option<Vec<u32>>,
    /// Length of a block in each dimension (items). Default: blocks of at most 256 KiB, or one
    /// item.
    pub blockshape: Option<Vec<u32>>,
    /// Names and contents of further metalayers.
    pub metalayers: Vec<(String, Vec<u8>)>,
    /// Names and contents of vlmetalayers, not compressed.
    pub vlmetalayers: Vec<(String, Vec<u8>)>,
}
}

impl NdParams {
    /// An array of zeros.
    #[must_use]
    pub fn new(shape: &[u64], dtype: Dtype) -> Self {
        Self {
            shape: shape.to_vec(),
            dtype,
            chunkshape: None,
            blockshape: None,
            cparams: CParams::default(),
            fill: Fill::default(),
            metalayers: vec![],
            vlmetalayers: vec![],
            checksums: Checksums::default(),
        }
    }

    /// The parameters with chunks of this shape (items).
    #[must_use]
    pub fn chunkshape(self, chunkshape: &[u32]) -> Self {
        Self { chunkshape: Some(chunkshape.to_vec()), ..self }
    }

    /// The parameters with blocks of this shape (items).
    #[must_use]
    pub fn blockshape(self, blockshape: &[u32]) -> Self {
        Self { blockshape: Some(blockshape.to_vec()), ..self }
    }

    /// The parameters with a further metalayer.
    #[must_use]
    pub fn metalayer(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.metalayers.push((name.into(), content.into()));
        self
    }

    /// The parameters with a further vlmetalayer.
    #[must_use]
    pub fn vlmetalayer(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.vlmetalayers.push((name.into(), content.into()));
        self
    }

    /// Chunk and block shape. A shape that is not given is as python-blosc2 would choose on a
    /// machine with caches of 32 KiB, 1 MiB and 32 MiB. An array without items, which may grow,
    /// gets the shapes of an array of one mebibyte.
    ///
    /// # Errors
    /// [`NdParam::Dims`] for a shape of another number of dimensions.
    pub fn shapes(&self) -> Result<(Vec<u32>, Vec<u32>)> {
        let ndim = self.shape.len();
        for given in [&self.chunkshape, &self.blockshape].into_iter().flatten() {
            if given.len() != ndim {
                return Err(NdParam::Dims { given: given.len(), ndim }.into());
            }
        }
        let wide = |lens: &Option<Vec<u32>>| -> Option<Vec<u64>> {
            lens.as_ref().map(|lens| lens.iter().map(|len| (*len).into()).collect())
        };
        let typesize = (self.dtype.itemsize() as u64).max(1);
        let (chunks, blocks) = (wide(&self.chunkshape), wide(&self.blockshape));
        let shape = &growing(&self.shape, typesize);
        let blocks =
            blocks.unwrap_or_else(|| shapes::blocks_of(chunks.as_ref().unwrap_or(shape), typesize));
        let chunks = chunks.unwrap_or_else(|| shapes::chunks_of(shape, &blocks, typesize));
        let narrow = |lens: Vec<u64>| {
            lens.into_iter().map(|len| u32::try_from(len).unwrap_or(u32::MAX)).collect()
        };
        Ok((narrow(chunks), narrow(blocks)))
    }

    /// The metalayer of such an array.
    pub(super) fn meta(&self) -> Result<NdMeta> {
        let (chunks, blocks) = self.shapes()?;
        let mut lens = self.shape.iter().zip(&chunks).zip(&blocks);
        if lens.any(|((len, chunk), block)| *len > 0 && block > chunk) {
            return Err(NdParam::Shapes { shape: self.shape.clone(), chunks, blocks }.into());
        }
        let meta = NdMeta::new(&self.shape, &chunks, &blocks, &self.dtype.to_string());
        meta.map_err(|_| NdParam::Shapes { shape: self.shape.clone(), chunks, blocks }.into())
    }

    /// The frame of such an array.
    pub(super) fn frame(&self, meta: &NdMeta) -> Result<FrameParams> {
        let typesize = self.dtype.itemsize();
        let chunk_nbytes = meta.chunk_items().saturating_mul(typesize as u64);
        let max = super::meta::MAX_CHUNK;
        if typesize == 0 || chunk_nbytes > max {
            return Err(Param::ChunkSize {
                chunksize: chunk_nbytes,
                typesize: typesize as u64,
                max,
            }
            .into());
        }
        let cparams = chunk_cparams(&self.cparams, meta, &self.dtype);
        // The chunks of an array that was empty from the start may have no items; they are never
        // stored.
        let params = FrameParams::new(cparams).chunksize(as_len(chunk_nbytes).max(typesize));
        let params = params.metalayer(NdMeta::NAME, meta.encode());
        let params = self.metalayers.iter().fold(params, |params, (name, content)| {
            params.metalayer(name.clone(), content.clone())
        });
        let params = params.checksums(self.checksums);
        Ok(FrameParams { vlmetalayers: self.vlmetalayers.clone(), ..params })
    }
}

/// Size for which chunks are chosen while an array has no items (bytes).
const GROWING_NBYTES: u64 = 1 << 20;

/// The compression of the chunks of an array: a block of the array is a block of the chunk.
pub(crate) fn chunk_cparams(cparams: &CParams, meta: &NdMeta, dtype: &Dtype) -> CParams {
    let typesize = dtype.itemsize();
    let block_nbytes = as_len(meta.block_items()).saturating_mul(typesize);
    let cparams = cparams
        .clone()
        .typesize(typesize)
        .blocksize((block_nbytes > 0).then_some(block_nbytes))
        .blockshape(Some(Arc::from(meta.blockshape())))
        .filters(filters_for(cparams, dtype));
    for_its_readers(cparams)
}

/// Characters of a text have 4 bytes, whatever its length; python-blosc2 shuffles by characters.
/// Readers before 3.0 do not support that.
fn filters_for(cparams: &CParams, dtype: &Dtype) -> Pipeline {
    if dtype.kind() != Some(Kind::Unicode) || cparams.target < Target::Blosc3_0 {
        return cparams.filters;
    }
    let ids = cparams.filters.ids();
    let mut metas = cparams.filters.metas();
    for (id, meta) in ids.iter().zip(&mut metas) {
        if *id == FilterId::SHUFFLE.0 && *meta == 0 {
            *meta = 4;
        }
    }
    Pipeline::from_slots(ids, metas)
}

/// The shape of an array that is to grow: the first dimension without items gets as many as fill a
/// mebibyte, the others without items get 1.
fn growing(shape: &[u64], typesize: u64) -> Vec<u64> {
    let others = shape.iter().filter(|len| **len > 0);
    let layer = others.fold(typesize, |nbytes, len| nbytes.saturating_mul(*len));
    let mut long = GROWING_NBYTES.checked_div(layer).unwrap_or(1).max(1);
    let len = |len: &u64| if *len > 0 { *len } else { core::mem::replace(&mut long, 1) };
    shape.iter().map(len).collect()
}
