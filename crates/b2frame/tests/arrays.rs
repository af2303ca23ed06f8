//! Arrays in C order, against a model that positions one item at a time by the formulas of the
//! format document.

use b2frame::{Budget, Error, FrameParams, FrameWriter, NdArray, nd::NdMeta};
use blosc_chunk::{CParams, CodecId, Threads};
use blosc_io::MemStore;
use proptest::prelude::*;

/// Bytes of an item.
const TYPESIZE: usize = 3;

/// A shape with chunks and blocks that need not fit it.
#[derive(Clone, Debug)]
struct Shapes {
    shape: Vec<u64>,
    chunks: Vec<u32>,
    blocks: Vec<u32>,
}

fn shapes() -> impl Strategy<Value = Shapes> {
    let dim =
        (1..12_u64, 1..8_u32).prop_flat_map(|(len, chunk)| (Just(len), Just(chunk), 1..=chunk));
    proptest::collection::vec(dim, 0..=4).prop_map(|dims| Shapes {
        shape: dims.iter().map(|dim| dim.0).collect(),
        chunks: dims.iter().map(|dim| dim.1).collect(),
        blocks: dims.iter().map(|dim| dim.2).collect(),
    })
}

/// The item at a position of the array: its number, so that all are different.
fn item(number: u64) -> [u8; TYPESIZE] {
    let [a, b, c, ..] = (number + 1).to_le_bytes();
    [a, b, c]
}

/// An array of the items 1, 2, 3, .. in C order; padding is all ones.
fn frame(shapes: &Shapes, meta: &NdMeta) -> Vec<u8> {
    let chunk_items = usize::try_from(meta.chunk_items()).unwrap();
    let mut chunks =
        vec![vec![0xff; chunk_items * TYPESIZE]; usize::try_from(meta.nchunks()).unwrap()];
    let (grid, in_chunk) = (meta.grid(), meta.blocks_in_chunk());
    for number in 0..meta.nitems() {
        let (mut left, mut chunk, mut byte) = (number, 0, 0);
        let mut index: Vec<u64> =
            shapes.shape.iter().rev().map(|len| (left % len, left /= len).0).collect();
        index.reverse();
        let (mut block, mut in_block) = (0, 0);
        for (dim, x) in index.into_iter().enumerate() {
            let (c, b) = (u64::from(shapes.chunks[dim]), u64::from(shapes.blocks[dim]));
            chunk = chunk * grid[dim] + x / c;
            block = block * in_chunk[dim] + x % c / b;
            in_block = in_block * b + x % c % b;
        }
        byte += usize::try_from(block * meta.block_items() + in_block).unwrap() * TYPESIZE;
        chunks[usize::try_from(chunk).unwrap()][byte..byte + TYPESIZE]
            .copy_from_slice(&item(number));
    }
    let block_nbytes = usize::try_from(meta.block_items()).unwrap() * TYPESIZE;
    let cparams =
        CParams::default().codec(CodecId::LZ4).typesize(TYPESIZE).blocksize(Some(block_nbytes));
    let params = FrameParams::new(cparams)
        .chunksize(chunk_items * TYPESIZE)
        .metalayer("b2nd", meta.encode());
    let mut writer = FrameWriter::new(MemStore::default(), &params).unwrap();
    chunks.iter().for_each(|chunk| writer.append(chunk).unwrap());
    writer.finish().unwrap().into_bytes()
}

fn read(array: &NdArray, options: &Budget) -> Result<Vec<u8>, Error> {
    let array = array.clone().budget(options.clone());
    let mut bytes = vec![];
    array.for_each_band(|band| {
        assert!(band.len() as u64 <= options.max_memory / 2);
        bytes.extend_from_slice(band);
        Ok::<(), Error>(())
    })?;
    Ok(bytes)
}

proptest! {
    #[test]
    fn any_array_in_any_memory(shapes in shapes(), memory in 1..2000_u64) {
        let meta = NdMeta::new(&shapes.shape, &shapes.chunks, &shapes.blocks, "|V3").unwrap();
        let array = NdArray::from_cframe(frame(&shapes, &meta)).unwrap();
        let expected: Vec<u8> = (0..meta.nitems()).flat_map(item).collect();
        prop_assert_eq!(array.nbytes(), expected.len() as u64);
        for threads in [Threads::One, Threads::Auto] {
            let options = Budget::default().threads(threads);
            prop_assert!(read(&array, &options).unwrap() == expected);
            // One block and one item must fit into half of the memory, the block twice.
            let needed = 4 * meta.block_items() * TYPESIZE as u64;
            let options = options.max_memory(needed + memory);
            prop_assert!(read(&array, &options).unwrap() == expected);
        }
    }
}

#[test]
fn a_damaged_chunk_is_named() {
    let shapes = Shapes { shape: vec![40, 40], chunks: vec![20, 20], blocks: vec![10, 10] };
    let meta = NdMeta::new(&shapes.shape, &shapes.chunks, &shapes.blocks, "|V3").unwrap();
    let mut frame = frame(&shapes, &meta);
    let offset = NdArray::from_cframe(frame.clone())
        .unwrap()
        .schunk()
        .chunk_info(2)
        .unwrap()
        .offset
        .unwrap();
    // The first block start, after the header of the chunk.
    let at = usize::try_from(offset).unwrap() + 32;
    frame[at..at + 4].copy_from_slice(&(-1_i32).to_le_bytes());
    let error = read(&NdArray::from_cframe(frame).unwrap(), &Budget::default()).unwrap_err();
    assert!(matches!(error, Error::Chunk { nchunk: 2, at, .. } if at == offset), "{error:?}");
}
