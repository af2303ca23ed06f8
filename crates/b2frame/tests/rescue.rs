//! Rescue of damaged frames: every intact chunk is saved at its position.

use std::sync::Arc;

use b2frame::rescue::{ChunkState, Damage, Fill, RescueOptions, Salvage};
use b2frame::{
    Checksums, FrameParams, NdArray, NdParams, NdWriter, OpenOptions, SChunk, SChunkWriter,
    nd::Selection, to_cframe,
};
use blosc_chunk::{CParams, CodecId};
use blosc_io::MemStore;
use blosc_io::tree::{MemTree, Tree};

const CHUNK: usize = 4096;

fn data(nchunks: usize) -> Vec<u8> {
    let mut random = blosc_testdata::data::XorShift32::new(7);
    let mut step = || (random.next_u32() >> 20).to_le_bytes();
    let items = (0..nchunks * CHUNK / 4 - 100).flat_map(|_| step());
    items.collect()
}

fn params() -> FrameParams {
    // The streams of zlib have a checksum: other codecs may decode to other data.
    FrameParams::new(CParams::default().typesize(4).codec(CodecId::ZLIB)).chunksize(CHUNK)
}

fn salvage(frame: &[u8], fill: Fill) -> b2frame::Result<Salvage> {
    let store = Arc::new(MemStore::new(frame.to_vec()));
    Salvage::from_store(store, &OpenOptions::default(), &RescueOptions::default().fill(fill))
}

/// Asserts that every chunk equals `data`, or is zeros if it is lost. Returns the number of intact
/// chunks.
#[track_caller]
fn assert_at_its_position(saved: &Salvage, data: &[u8]) -> usize {
    let chunks: Vec<&[u8]> = data.chunks(CHUNK).collect();
    assert_eq!(saved.chunks.len(), chunks.len());
    let mut ngood = 0;
    for ((nchunk, chunk), state) in (0..).zip(chunks).zip(&saved.chunks) {
        let found = saved.schunk.decode_chunk(nchunk).unwrap();
        match state {
            ChunkState::Lost => assert!(found.iter().all(|byte| *byte == 0), "chunk {nchunk}"),
            _ => assert!(found == chunk, "chunk {nchunk}"),
        }
        ngood += usize::from(*state != ChunkState::Lost);
    }
    let again = SChunk::from_cframe(saved.schunk.to_cframe().unwrap()).unwrap();
    assert!(again.verify(&Default::default(), |_| {}).is_ok());
    assert_eq!(again.nbytes(), data.len() as u64);
    ngood
}

#[test]
fn a_lost_header_is_made_of_what_the_chunks_say() {
    let data = data(8);
    for checksums in [Checksums::None, Checksums::Body] {
        let mut frame = to_cframe(&data, &params().checksums(checksums)).unwrap();
        frame[..60].fill(0xff);
        let saved = salvage(&frame, Fill::Zeros).unwrap();
        assert_eq!(saved.damage, [Damage::Header]);
        assert_eq!(assert_at_its_position(&saved, &data), 8);
    }
    let error = salvage(&[0; 5000], Fill::Zeros).unwrap_err();
    assert!(matches!(error, b2frame::Error::NotAFrame { .. }), "{error}");
}

#[test]
fn lost_chunks_are_filled_or_cut() {
    let data = data(4);
    let mut frame = to_cframe(&data, &params()).unwrap();
    let chunk = SChunk::from_cframe(frame.clone()).unwrap().chunk_info(1).unwrap();
    let at = usize::try_from(chunk.offset.unwrap()).unwrap();
    frame[at..at + 60].fill(0xee);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("saved");
    let lost = |fill| {
        salvage(&frame, fill).unwrap().save(&path).unwrap();
        let saved = SChunk::open(&path).unwrap();
        (saved.nchunks(), saved.decode_chunk(1).unwrap())
    };
    assert_eq!(lost(Fill::Zeros), (4, vec![0; CHUNK]));
    let (nchunks, nan) = lost(Fill::NaN);
    let (items, _) = nan.as_chunks::<4>();
    assert!(nchunks == 4 && items.iter().all(|item| f32::from_le_bytes(*item).is_nan()));
    assert_eq!(lost(Fill::Value(vec![1, 2, 3, 4])), (4, [1, 2, 3, 4].repeat(CHUNK / 4)));
    assert_eq!(lost(Fill::Cut), (3, data[2 * CHUNK..3 * CHUNK].to_vec()));
    assert!(salvage(&frame, Fill::Value(vec![1])).is_err());
}

#[test]
fn arrays_keep_their_shape_and_lose_it_when_they_are_cut() {
    let params = NdParams::new(&[60, 50], "<i4".parse().unwrap());
    let mut writer =
        NdWriter::in_memory(&params.chunkshape(&[10, 50]).blockshape(&[5, 50])).unwrap();
    let items: Vec<i32> = (0..3000).map(|n| n * n % 1009).collect();
    let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
    writer.write_bytes(Selection::ALL, &bytes).unwrap();
    let frame = writer.finish().unwrap().schunk().to_cframe().unwrap();
    let saved = salvage(&frame[..frame.len() / 2], Fill::Zeros).unwrap();
    let ngood = saved.chunks.iter().take_while(|state| **state == ChunkState::Good).count();
    assert!((1..6).contains(&ngood) && saved.chunks.len() == 6);
    let array = NdArray::from_schunk(saved.schunk).unwrap();
    assert_eq!(array.shape(), [60, 50]);
    assert_eq!(array.read::<i32>().unwrap()[..ngood * 500], items[..ngood * 500]);
    let cut = salvage(&frame[..frame.len() / 2], Fill::Cut).unwrap();
    assert!(cut.damage.contains(&Damage::Shape) && cut.schunk.nd_meta().unwrap().is_none());
    assert_eq!(cut.schunk.nchunks(), ngood as u64);
}

#[test]
fn missing_and_damaged_files_of_a_sparse_frame_are_filled() {
    let data = data(5);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sparse");
    SChunk::from_cframe(to_cframe(&data, &params()).unwrap()).unwrap().save_sparse(&path).unwrap();
    std::fs::remove_file(path.join("00000002.chunk")).unwrap();
    std::fs::write(path.join("00000003.chunk"), b"oops").unwrap();
    let open = || Salvage::open(&path, &OpenOptions::default(), &RescueOptions::default()).unwrap();
    assert_eq!(assert_at_its_position(&open(), &data), 3);
    let index = std::fs::read(path.join("chunks.b2frame")).unwrap();
    for damaged in [&index[..index.len() - 40], &[0; 200]] {
        std::fs::write(path.join("chunks.b2frame"), damaged).unwrap();
        let saved = open();
        let good = saved.count(ChunkState::Good);
        assert_eq!(good, 3, "{:?} {:?}", saved.chunks, saved.damage);
        let target = dir.path().join(format!("saved-{}", damaged.len()));
        saved.save(&target).unwrap();
        assert_eq!(SChunk::open(&target).unwrap().decode_chunk(1).unwrap(), data[CHUNK..2 * CHUNK]);
    }
}

/// A number far above the numbers of the other files must not make a list of as many lost chunks.
#[test]
fn a_stray_file_of_a_sparse_frame_is_no_chunk() {
    let tree = Arc::new(MemTree::new());
    let mut writer = SChunkWriter::create_in_tree(tree.clone(), &params()).unwrap();
    writer.append(&data(3)).unwrap();
    writer.commit().unwrap();
    drop(writer);
    tree.write("chunks.b2frame", b"no header").unwrap();
    tree.write("FFFFFFFF.chunk", b"").unwrap();
    let (options, rescue) = (OpenOptions::default(), RescueOptions::default());
    let saved = Salvage::from_tree(tree.clone(), &options, &rescue).unwrap();
    assert_eq!(saved.chunks, [ChunkState::Good; 3]);
    for name in ["00000000.chunk", "00000001.chunk", "00000002.chunk"] {
        tree.remove(name).unwrap();
    }
    assert!(Salvage::from_tree(tree, &options, &rescue).is_err());
}

#[test]
fn sizes_of_the_header_that_chunks_contradict_are_corrected() {
    let data = data(8);
    let frame = to_cframe(&data, &params().checksums(Checksums::None)).unwrap();
    // Any bit of `nbytes`, and any bit of the chunk size.
    for (at, bit) in (30..38).chain(58..62).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut torn = frame.clone();
        torn[at] ^= 1 << bit;
        let saved = salvage(&torn, Fill::Zeros).unwrap();
        let found: Vec<Vec<u8>> =
            (0..8).filter_map(|nchunk| saved.schunk.decode_chunk(nchunk).ok()).collect();
        assert!(found.concat() == data, "byte {at}, bit {bit}: {:?}", saved.damage);
        assert!(saved.schunk.nchunks() == 8 && saved.count(ChunkState::Good) == 8);
        let again = SChunk::from_cframe(saved.to_cframe().unwrap()).unwrap();
        assert_eq!(again.nbytes(), data.len() as u64);
    }
}

#[test]
fn a_run_that_ends_within_an_item_is_written_as_data() {
    // C-Blosc2 notes such a run in the index, and cannot read it.
    let params = FrameParams::new(CParams::default().typesize(7)).chunksize(700);
    let mut frame = to_cframe(&[0; 1400], &params.checksums(Checksums::None)).unwrap();
    frame[30..38].copy_from_slice(&1399_u64.to_be_bytes());
    let saved = salvage(&frame, Fill::Zeros).unwrap();
    assert_eq!(saved.rewritten(), [1]);
    let again = SChunk::from_cframe(saved.to_cframe().unwrap()).unwrap();
    assert_eq!(again.nbytes(), 1399);
    assert!(matches!(again.chunk(0).unwrap(), b2frame::ChunkBytes::Special { .. }));
    assert!(matches!(again.chunk(1).unwrap(), b2frame::ChunkBytes::Stored(_)));
}

#[test]
fn a_shape_that_does_not_fit_its_chunks_is_left_out() {
    let params = NdParams::new(&[40], "<i4".parse().unwrap()).chunkshape(&[10]);
    let mut writer = NdWriter::in_memory(&params).unwrap();
    writer.write_bytes(Selection::ALL, &[5; 160]).unwrap();
    let mut frame = writer.finish().unwrap().schunk().to_cframe().unwrap();
    let shape = 40_u64.to_be_bytes();
    let at = frame.windows(8).position(|bytes| bytes == shape).unwrap();
    frame[at + 7] ^= 64;
    let saved = salvage(&frame, Fill::Zeros).unwrap();
    assert!(saved.damage.contains(&Damage::Description), "{:?}", saved.damage);
    let again = SChunk::from_cframe(saved.to_cframe().unwrap()).unwrap();
    assert!(again.nd_meta().unwrap().is_none());
    assert_eq!((0..4).flat_map(|n| again.decode_chunk(n).unwrap()).collect::<Vec<_>>(), [5; 160]);
}

#[test]
fn chunks_of_one_length_stay_at_their_positions_without_the_header() {
    let params = FrameParams::new(CParams::default().typesize(4)).chunksize(400);
    let mut random = blosc_testdata::data::XorShift32::new(3);
    let noise: Vec<u8> = (0..6000).flat_map(|_| random.next_u32().to_le_bytes()).collect();
    let frame = to_cframe(&noise, &params).unwrap();
    for lost in [200, 4096, 10_000] {
        let mut torn = frame.clone();
        torn[..lost].fill(0);
        let saved = salvage(&torn, Fill::Zeros).unwrap();
        assert_eq!(saved.chunks.len(), 60);
        for (nchunk, chunk) in noise.chunks(400).enumerate().skip(lost / 400 + 1) {
            let found = saved.schunk.decode_chunk(nchunk as u64).unwrap();
            assert!(found == chunk, "{lost} bytes lost: chunk {nchunk}");
        }
    }
}
