//! Copies of super-chunks and arrays: to every kind of frame, with other parameters, with all
//! metadata.

use core::num::NonZeroUsize;
use std::path::Path;

use b2frame::{
    Budget, ChunkBytes, CopyOptions, Dest, Error, FrameParams, NdArray, NdParams, NdWriter, SChunk,
    SChunkWriter,
    error::{Limited, NdParam, Param},
    header::{ChunkSize, FrameType},
    nd::{Fill, Pick},
    report::VerifyOptions,
};
use blosc_chunk::{CParams, CodecId, Pipeline, SpecialKind, Threads};

/// The three kinds of destinations, below a folder.
fn dests(folder: &Path) -> [Dest; 3] {
    [
        Dest::Memory,
        Dest::Contiguous(folder.join("c.b2frame")),
        Dest::Sparse(folder.join("s.b2frame")),
    ]
}

fn data(schunk: &SChunk) -> Vec<u8> {
    let mut data = vec![];
    let sink = |_, bytes: &[u8]| {
        data.extend_from_slice(bytes);
        Ok::<(), Error>(())
    };
    schunk.decode_ordered(0..schunk.nchunks(), &Budget::default(), sink).unwrap();
    data
}

fn numbers(n: u32) -> Vec<u8> {
    (0..n).flat_map(|i| (i / 3).to_le_bytes()).collect()
}

fn zstd() -> CParams {
    CParams::default().codec(CodecId::ZSTD).filters(Pipeline::parse("delta, bitshuffle").unwrap())
}

/// Chunks of 4000 bytes: data, zeros, NaN, one value, uninitialised, and a short end.
fn sample() -> SChunk {
    let params = FrameParams::new(CParams::default().typesize(4)).chunksize(4000);
    let params = params.metalayer("kind", *b"demo").vlmetalayer("note", vec![7; 1000]);
    let mut writer = SChunkWriter::in_memory(&params).unwrap();
    writer.append(&numbers(1000)).unwrap();
    writer.append_special(SpecialKind::Zeros, 4000).unwrap();
    writer.append_special(SpecialKind::Nans, 4000).unwrap();
    let value = blosc_chunk::Special::Value(&[1, 2, 3, 4]);
    let run = blosc_chunk::special_chunk(value, 4000, &CParams::default().typesize(4)).unwrap();
    writer.append_chunk(&run).unwrap();
    writer.append_special(SpecialKind::Uninit, 4000).unwrap();
    writer.append(&numbers(2000)[4000..7000]).unwrap();
    writer.finish().unwrap()
}

fn check(copy: &SChunk, original: &SChunk) {
    assert_eq!(data(copy), data(original));
    assert_eq!(copy.meta().get("kind").unwrap().content, b"demo");
    assert_eq!(copy.vlmeta().get("note").unwrap().unwrap(), [7; 1000]);
    assert!(copy.verify(&VerifyOptions::default(), |_| {}).is_ok());
}

#[test]
fn chunks_move_as_they_are_between_all_kinds_of_frames() {
    let dir = tempfile::tempdir().unwrap();
    let sample = sample();
    let mut from = sample.copy(&Dest::Memory, &CopyOptions::default()).unwrap();
    for (n, dest) in dests(dir.path()).into_iter().cycle().take(9).enumerate() {
        let folder = dir.path().join(n.to_string());
        std::fs::create_dir(&folder).unwrap();
        let dest = match dest {
            Dest::Sparse(_) => Dest::Sparse(folder.join("copy")),
            Dest::Contiguous(_) => Dest::Contiguous(folder.join("copy")),
            _ => dest,
        };
        let copy = from.copy(&dest, &CopyOptions::default()).unwrap();
        check(&copy, &sample);
        for nchunk in 0..sample.nchunks() {
            assert_eq!(copy.chunk(nchunk).unwrap(), sample.chunk(nchunk).unwrap());
        }
        let is_sparse = copy.header().frame_type() == FrameType::Sparse;
        assert_eq!(is_sparse, matches!(dest, Dest::Sparse(_)));
        from = copy;
    }
}

#[test]
fn other_parameters_and_sizes_give_the_same_data() {
    let dir = tempfile::tempdir().unwrap();
    let sample = sample();
    for (n, chunksize) in
        [None, Some(4000), Some(900), Some(4003), Some(9000), Some(1 << 20)].iter().enumerate()
    {
        let folder = dir.path().join(n.to_string());
        std::fs::create_dir(&folder).unwrap();
        for dest in dests(&folder) {
            let mut options = CopyOptions::default().cparams(zstd());
            options.chunksize = *chunksize;
            let copy = sample.copy(&dest, &options).unwrap();
            check(&copy, &sample);
            assert_eq!(copy.typesize(), 4);
            assert_eq!(
                (copy.cparams().codec, copy.cparams().filters),
                (CodecId::ZSTD, zstd().filters)
            );
            let expected = chunksize.map_or(4000, |size| u32::try_from(size / 4 * 4).unwrap());
            assert_eq!(copy.chunksize().fixed(), Some(expected));
            if let Dest::Contiguous(path) | Dest::Sparse(path) = &dest {
                check(&SChunk::open(path).unwrap(), &sample);
            }
        }
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "temporary files are left");
    }
}

#[test]
fn runs_stay_runs_while_their_size_does() {
    let copy = sample().copy(&Dest::Memory, &CopyOptions::default().cparams(zstd())).unwrap();
    let kinds: Vec<_> = copy.chunk_infos().map(|info| info.unwrap().special).collect();
    let expected =
        [SpecialKind::Zeros, SpecialKind::Nans, SpecialKind::Value, SpecialKind::Uninit].map(Some);
    assert_eq!(kinds[1..5], expected);
    assert_eq!(copy.chunk_info(0).unwrap().stored.unwrap().codec, CodecId::ZSTD);
    assert!(matches!(copy.chunk(2).unwrap(), ChunkBytes::Special { .. }));
}

#[test]
fn a_size_alone_keeps_the_compression() {
    let sample = sample().copy(&Dest::Memory, &CopyOptions::default().cparams(zstd())).unwrap();
    let copy = sample.copy(&Dest::Memory, &CopyOptions::default().chunksize(1000)).unwrap();
    assert_eq!(copy.nchunks(), 23);
    assert_eq!(copy.chunk_info(0).unwrap().stored.unwrap().codec, CodecId::ZSTD);
    check(&copy, &sample);
}

#[test]
fn the_bytes_do_not_depend_on_threads_or_memory() {
    let sample = sample();
    let copy = |threads: usize, max_memory| {
        let threads = Threads::N(NonZeroUsize::new(threads).unwrap());
        let read = Budget::default().threads(threads).max_memory(max_memory);
        let options = CopyOptions::default().cparams(zstd()).chunksize(1000).budget(read);
        sample.copy(&Dest::Memory, &options).unwrap().to_cframe().unwrap()
    };
    let one = copy(1, 1 << 20);
    assert_eq!(copy(3, 1 << 20), one);
    assert_eq!(copy(4, 5000), one);
}

#[test]
fn sizes_and_blocks_of_their_own_stay() {
    let params = FrameParams::new(CParams::default().typesize(1)).metalayer("kind", *b"demo");
    let params = params.vlmetalayer("note", vec![7; 1000]);
    let mut variable = SChunkWriter::in_memory(&params).unwrap();
    variable.make_variable().unwrap();
    let mut blocks = SChunkWriter::in_memory(&params).unwrap();
    for len in [10, 3000, 1, 77] {
        variable.append(&numbers(len)).unwrap();
        blocks.append_vl(&[b"one", &numbers(len), b"x"]).unwrap();
    }
    variable.append_special(SpecialKind::Zeros, 50).unwrap();
    let (variable, blocks) = (variable.finish().unwrap(), blocks.finish().unwrap());
    for options in [CopyOptions::default(), CopyOptions::default().cparams(zstd())] {
        let copy = variable.copy(&Dest::Memory, &options).unwrap();
        check(&copy, &variable);
        assert_eq!(copy.chunksize(), ChunkSize::Variable);
        let sizes: Vec<_> = (0..5).map(|nchunk| copy.chunk_nbytes(nchunk).unwrap()).collect();
        assert_eq!(sizes, [40, 12_000, 4, 308, 50]);

        let copy = blocks.copy(&Dest::Memory, &options).unwrap();
        assert_eq!(copy.vl_blocks(1).unwrap(), [b"one".to_vec(), numbers(3000), b"x".to_vec()]);
        assert_eq!(copy.nchunks(), 4);
        check(&copy, &blocks);
    }
    for schunk in [variable, blocks] {
        let copy = schunk.copy(&Dest::Memory, &CopyOptions::default().chunksize(500)).unwrap();
        assert_eq!(copy.chunksize().fixed(), Some(500));
        check(&copy, &schunk);
    }
}

#[test]
fn frames_without_data_and_older_ones_can_be_copied() {
    let dir = tempfile::tempdir().unwrap();
    let empty =
        SChunkWriter::in_memory(&FrameParams::default().metalayer("kind", *b"demo")).unwrap();
    let empty = empty.finish().unwrap();
    let older =
        blosc_testdata::fixture::path("frames/legacy/beta2-lz4-shuffle-i8-meta-usermeta.b2frame");
    let older = SChunk::open(older).unwrap();
    for (n, schunk) in [&empty, &older].into_iter().enumerate() {
        for options in
            [CopyOptions::default(), CopyOptions::default().cparams(zstd()).chunksize(800)]
        {
            let folder = dir.path().join(format!("{n} {}", options.chunksize.is_some()));
            std::fs::create_dir(&folder).unwrap();
            for dest in dests(&folder) {
                let copy = schunk.copy(&dest, &options).unwrap();
                assert_eq!(data(&copy), data(schunk));
                let layers = |schunk: &SChunk| -> Vec<Vec<u8>> {
                    schunk.meta().iter().map(|layer| layer.content.to_vec()).collect()
                };
                assert_eq!(layers(&copy), layers(schunk));
                assert_eq!(copy.vlmeta().len(), schunk.vlmeta().len());
            }
        }
    }
}

#[test]
fn a_file_can_be_replaced_by_its_own_copy_but_not_by_half_of_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data.b2frame");
    sample().save(&path).unwrap();
    let dest = Dest::Contiguous(path.clone());
    let copy =
        SChunk::open(&path).unwrap().copy(&dest, &CopyOptions::default().cparams(zstd())).unwrap();
    check(&copy, &sample());

    let before = std::fs::read(&path).unwrap();
    let mut damaged = before.clone();
    let last = copy.chunk_info(5).unwrap();
    let at = usize::try_from(last.offset.unwrap()).unwrap();
    damaged[at + 32..at + 48].fill(0xff);
    let damaged = SChunk::from_cframe(damaged).unwrap();
    let sparse = dir.path().join("sparse");
    for dest in [dest, Dest::Sparse(sparse.clone())] {
        let error = damaged
            .copy(&dest, &CopyOptions::default().cparams(zstd().clevel(9.try_into().unwrap())));
        assert!(matches!(error.unwrap_err(), Error::Chunk { nchunk: 5, .. }));
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);

    std::fs::create_dir(&sparse).unwrap();
    for options in [CopyOptions::default(), CopyOptions::default().cparams(zstd())] {
        let error = sample().copy(&Dest::Sparse(sparse.clone()), &options).unwrap_err();
        assert!(matches!(error, Error::Open { .. }));
        assert!(sparse.is_dir());
    }
}

#[test]
fn a_chunk_that_does_not_fit_the_memory_is_a_limit() {
    let options = CopyOptions::default().cparams(zstd()).budget(Budget::default().max_memory(4000));
    let error = sample().copy(&Dest::Memory, &options).unwrap_err();
    assert!(matches!(error, Error::Limit { what: Limited::Memory, limit: 4000, .. }));
}

fn array() -> NdArray {
    let params = NdParams::new(&[17, 1, 12], "<i4".parse().unwrap())
        .chunkshape(&[5, 1, 8])
        .blockshape(&[2, 1, 8])
        .metalayer("kind", *b"demo")
        .vlmetalayer("note", vec![7; 1000]);
    let mut writer = NdWriter::in_memory(&params).unwrap();
    writer.write_slice(.., &(0..17 * 12).collect::<Vec<i32>>()).unwrap();
    writer.finish().unwrap()
}

#[test]
fn arrays_get_other_shapes_in_all_kinds_of_frames() {
    let array = array();
    for (n, (chunks, blocks)) in
        [([5, 1, 8], [2, 1, 8]), ([17, 1, 12], [4, 1, 5]), ([3, 2, 7], [3, 1, 2])]
            .iter()
            .enumerate()
    {
        let dir = tempfile::tempdir().unwrap();
        for dest in dests(dir.path()) {
            for cparams in [array.params().unwrap().cparams, zstd()] {
                if let (Dest::Sparse(path), true) = (&dest, cparams.codec == CodecId::ZSTD) {
                    std::fs::remove_dir_all(path).unwrap();
                }
                let params = array.params().unwrap().chunkshape(chunks).blockshape(blocks);
                let copy = array.copy(&dest, &params.cparams(cparams.clone())).unwrap();
                assert_eq!((copy.shape(), copy.dtype()), (array.shape(), array.dtype()));
                assert_eq!(
                    (copy.chunkshape(), copy.blockshape()),
                    (chunks.to_vec(), blocks.to_vec())
                );
                assert_eq!(copy.read::<i32>().unwrap(), array.read::<i32>().unwrap());
                assert_eq!(copy.schunk().cparams().codec, cparams.codec);
                check_metadata(copy.schunk());
                let is_moved = copy.schunk().chunk(0).unwrap() == array.schunk().chunk(0).unwrap();
                assert_eq!(is_moved, n == 0 && cparams.codec != CodecId::ZSTD);
            }
        }
    }
}

fn check_metadata(schunk: &SChunk) {
    assert_eq!(schunk.meta().get("kind").unwrap().content, b"demo");
    assert_eq!(schunk.vlmeta().get("note").unwrap().unwrap(), [7; 1000]);
    assert!(schunk.verify(&VerifyOptions::default(), |_| {}).is_ok());
}

#[test]
fn views_can_be_copied_and_blocks_chosen() {
    let view = array().squeeze(&[1]).unwrap();
    let mut params = view.params().unwrap().chunkshape(&[17, 12]);
    params.blockshape = None;
    let copy = view.copy(&Dest::Memory, &params).unwrap();
    assert_eq!((copy.shape(), copy.blockshape()), (&[17, 12][..], vec![17, 12]));
    assert_eq!(copy.read::<i32>().unwrap(), view.read::<i32>().unwrap());
    assert_eq!(copy.read_slice::<i32>((3, Pick::ALL)).unwrap(), (36..48).collect::<Vec<_>>());
}

#[test]
fn the_super_chunk_of_an_array_is_compressed_anew_block_by_block() {
    let array = array();
    let options = CopyOptions::default().cparams(zstd().blocksize(Some(1 << 16)));
    let schunk = array.schunk().copy(&Dest::Memory, &options).unwrap();
    assert_eq!(schunk.chunk_info(0).unwrap().stored.unwrap().blocksize, 64);
    check_metadata(&schunk);
    assert_eq!(
        NdArray::from_schunk(schunk).unwrap().read::<i32>().unwrap(),
        array.read::<i32>().unwrap()
    );
    let options = CopyOptions::default().chunksize(400);
    let error = array.schunk().copy(&Dest::Memory, &options).unwrap_err();
    assert!(matches!(error, Error::Param(Param::ArrayChunks)));
    assert!(array.schunk().copy(&Dest::Memory, &CopyOptions::default().chunksize(192)).is_ok());
}

#[test]
fn a_copy_has_shape_and_type_of_the_array() {
    let array = array();
    let shape = NdParams::new(&[17, 1, 13], "<i4".parse().unwrap());
    let error = array.copy(&Dest::Memory, &shape).unwrap_err();
    assert!(matches!(error, Error::Param(Param::Nd(NdParam::Outside { .. }))));
    let dtype = NdParams::new(&[17, 1, 12], "<f4".parse().unwrap());
    let error = array.copy(&Dest::Memory, &dtype).unwrap_err();
    assert!(matches!(error, Error::Param(Param::Nd(NdParam::Dtype { .. }))));
    let fill = NdParams::new(&[0, 4], "<i4".parse().unwrap()).fill(Fill::Uninit);
    let empty = NdWriter::in_memory(&fill).unwrap().finish().unwrap();
    let copy = empty.copy(&Dest::Memory, &empty.params().unwrap()).unwrap();
    assert_eq!(copy.shape(), [0, 4]);
}
