//! An array as its items in C order, and the formulas of the format document for their positions in
//! chunks.

use b2frame::{FrameParams, FrameWriter, nd::NdMeta};
use blosc_chunk::{CParams, CodecId};
use blosc_io::MemStore;
use proptest::prelude::*;

/// Shapes, and the bytes of the items in C order.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) shape: Vec<u64>,
    pub(crate) chunks: Vec<u32>,
    pub(crate) blocks: Vec<u32>,
    pub(crate) typesize: usize,
    pub(crate) data: Vec<u8>,
}

/// Arrays of up to 4 dimensions. Their items are all different, if they are wide enough. Some have
/// blocks larger than their chunks, as C-Blosc2 makes them.
pub(crate) fn models() -> impl Strategy<Value = Model> {
    let dim = (1..12_u64, 1..8_u32, prop_oneof![3 => Just(0), 1 => 1..4_u32])
        .prop_flat_map(|(len, chunk, more)| (Just(len), Just(chunk), 1..=chunk + more));
    (proptest::collection::vec(dim, 0..=4), 1..9_usize).prop_map(|(dims, typesize)| {
        let shape: Vec<u64> = dims.iter().map(|dim| dim.0).collect();
        let (chunks, blocks) =
            (dims.iter().map(|d| d.1).collect(), dims.iter().map(|d| d.2).collect());
        Model::counting(shape, chunks, blocks, typesize)
    })
}

impl Model {
    /// The items are 1, 2, 3, ... in the width of an item.
    pub(crate) fn counting(
        shape: Vec<u64>,
        chunks: Vec<u32>,
        blocks: Vec<u32>,
        typesize: usize,
    ) -> Self {
        let nitems: u64 = shape.iter().product();
        let item = |n: u64| n.to_le_bytes().into_iter().chain([0xee; 512]).take(typesize);
        let data = (1..=nitems).flat_map(item).collect();
        Self { shape, chunks, blocks, typesize, data }
    }

    /// Whether this crate can read and change the array, but not create it.
    pub(crate) fn has_large_blocks(&self) -> bool {
        self.blocks.iter().zip(&self.chunks).any(|(block, chunk)| block > chunk)
    }

    pub(crate) fn meta(&self, dtype: &str) -> NdMeta {
        NdMeta::new(&self.shape, &self.chunks, &self.blocks, dtype).unwrap()
    }

    /// The item at a position.
    pub(crate) fn at(&self, index: &[u64]) -> &[u8] {
        let number = index.iter().zip(&self.shape).fold(0, |number, (i, len)| number * len + i);
        let start = usize::try_from(number).unwrap() * self.typesize;
        &self.data[start..start + self.typesize]
    }

    /// All combinations of these positions in C order.
    pub(crate) fn take(&self, positions: &[Vec<u64>]) -> Vec<u8> {
        combinations(positions).iter().flat_map(|index| self.at(index).to_vec()).collect()
    }

    /// A frame with the array, its padding all ones.
    pub(crate) fn frame(&self, dtype: &str) -> Vec<u8> {
        let meta = self.meta(dtype);
        let chunk_nbytes = usize::try_from(meta.chunk_items()).unwrap() * self.typesize;
        let block_nbytes = usize::try_from(meta.block_items()).unwrap() * self.typesize;
        let cparams = CParams::default().codec(CodecId::LZ4).typesize(self.typesize);
        let cparams = cparams.blocksize(Some(block_nbytes));
        let params = FrameParams::new(cparams).chunksize(chunk_nbytes.max(self.typesize));
        let params = params.metalayer("b2nd", meta.encode());
        let mut writer = FrameWriter::new(MemStore::default(), &params).unwrap();
        self.chunk_data(&meta).iter().for_each(|chunk| writer.append(chunk).unwrap());
        writer.finish().unwrap().into_bytes()
    }

    /// The data of all chunks.
    fn chunk_data(&self, meta: &NdMeta) -> Vec<Vec<u8>> {
        let chunk_nbytes = usize::try_from(meta.chunk_items()).unwrap() * self.typesize;
        let mut chunks = vec![vec![0xff; chunk_nbytes]; usize::try_from(meta.nchunks()).unwrap()];
        let (grid, in_chunk) = (meta.grid(), meta.blocks_in_chunk());
        let all: Vec<Vec<u64>> = self.shape.iter().map(|len| (0..*len).collect()).collect();
        for index in combinations(&all) {
            let (mut chunk, mut block, mut in_block) = (0, 0, 0);
            for (dim, x) in index.iter().enumerate() {
                let (c, b) = (u64::from(self.chunks[dim]), u64::from(self.blocks[dim]));
                chunk = chunk * grid[dim] + x / c;
                block = block * in_chunk[dim] + x % c / b;
                in_block = in_block * b + x % c % b;
            }
            let at =
                usize::try_from(block * meta.block_items() + in_block).unwrap() * self.typesize;
            let chunk = &mut chunks[usize::try_from(chunk).unwrap()];
            chunk[at..at + self.typesize].copy_from_slice(self.at(&index));
        }
        chunks
    }
}

/// All combinations of these positions in C order.
pub(crate) fn combinations(positions: &[Vec<u64>]) -> Vec<Vec<u64>> {
    positions.iter().fold(vec![vec![]], |found, of_dim| {
        let extend = |index: Vec<u64>| of_dim.iter().map(move |at| [&index[..], &[*at]].concat());
        found.into_iter().flat_map(extend).collect()
    })
}
