//! Seals: every change updates them; damage is distinguished from changes by other programs.

use std::sync::Arc;

use b2frame::{
    Budget, Checksums, CopyOptions, Dest, Durability, EditOptions, Error, FrameParams, Mismatch,
    MismatchLog, NdArray, NdParams, NdWriter, OpenOptions, SChunk, SChunkWriter,
    error::{Corrupt, Param},
    report::{Note, VerifyOptions},
    seal::{SealState, seal},
    to_cframe,
};
use blosc_chunk::Executor;
use blosc_io::MemStore;
use blosc_testdata::data::XorShift32 as Rng;

const BOTH: [Checksums; 2] = [Checksums::Body, Checksums::Chunks];

fn fast() -> EditOptions {
    EditOptions::default().durability(Durability::ProcessDeath)
}

fn frame(checksums: Checksums) -> Vec<u8> {
    let data: Vec<u8> = (0..2000_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
    let params = FrameParams::default()
        .chunksize(1000)
        .metalayer("m", *b"meta")
        .vlmetalayer("v", *b"vlmeta")
        .checksums(checksums);
    to_cframe(&data, &params).unwrap()
}

fn state(frame: Vec<u8>) -> SealState {
    SChunk::from_cframe(frame).unwrap().seal_state().unwrap()
}

#[test]
fn a_new_frame_is_intact_and_shows_no_layer() {
    for checksums in BOTH {
        let schunk = SChunk::from_cframe(frame(checksums)).unwrap();
        assert_eq!(schunk.seal_state().unwrap(), SealState::Intact);
        let names: Vec<_> =
            schunk.vlmeta().stored().iter().map(|layer| layer.name.to_vec()).collect();
        assert_eq!((names, schunk.vlmeta().len()), (vec![b"v".to_vec()], 1));
        assert_eq!(schunk.vlmeta().get("b2seal").unwrap(), None);
    }
    assert_eq!(state(frame(Checksums::None)), SealState::NeverSealed);
    let sizes = [Checksums::None, Checksums::Body, Checksums::Chunks].map(|c| frame(c).len());
    assert_eq!([sizes[1] - sizes[0], sizes[2] - sizes[1]], [74, 8 * 8]);
}

#[test]
fn every_flipped_bit_is_noticed_and_its_chunk_named() {
    for checksums in BOTH {
        let sound = frame(checksums);
        let schunk = SChunk::from_cframe(sound.clone()).unwrap();
        let infos: Vec<_> = schunk.chunk_infos().map(Result::unwrap).collect();
        for at in 0..sound.len() {
            let mut bad = sound.clone();
            bad[at] ^= 1 << (at % 8);
            let Ok(schunk) = SChunk::from_cframe(bad) else { continue };
            let of_chunk = infos.iter().find(|info| {
                let start = usize::try_from(info.offset.unwrap()).unwrap();
                (start..start + usize::try_from(info.cbytes).unwrap()).contains(&at)
            });
            let is_thread_count = (0x3e..0x44).contains(&at);
            match schunk.seal_state().unwrap() {
                SealState::BodyDamaged { chunks } => {
                    if let (Checksums::Chunks, Some(info)) = (checksums, of_chunk) {
                        assert_eq!(chunks, [info.nchunk], "byte {at}");
                    }
                }
                SealState::HeaderChanged => assert!(of_chunk.is_none(), "byte {at}"),
                // The type of the fingerprint, or one of its bits.
                SealState::SealDamaged => {
                    assert!(at >= sound.len() - 17, "byte {at}");
                    let report = schunk.verify(&VerifyOptions::default(), |_| {});
                    let seal =
                        matches!(report.other[..], [Error::Corrupt { what: Corrupt::Seal, .. }]);
                    assert!(seal && report.bad.is_empty(), "{report:?}");
                }
                other => assert!(is_thread_count, "byte {at}: {other:?}"),
            }
            if of_chunk.is_some() {
                assert!(!schunk.verify(&VerifyOptions::default(), |_| {}).is_ok(), "byte {at}");
            }
        }
    }
}

#[test]
fn changes_keep_the_seal() {
    let dir = tempfile::tempdir().unwrap();
    for (n, checksums) in BOTH.into_iter().enumerate() {
        for is_sparse in [false, true] {
            let path = dir.path().join(format!("{n}-{is_sparse}.b2frame"));
            let params = FrameParams::default().chunksize(64).checksums(checksums);
            let mut writer = match is_sparse {
                true => SChunkWriter::create_sparse(&path, &params).unwrap(),
                false => SChunkWriter::create(&path, &params).unwrap(),
            };
            let mut rng = Rng::new(7);
            for step in 0..80 {
                let nchunks = writer.nchunks().max(1);
                let nchunk = rng.below(nchunks);
                let data: Vec<u8> = (0..64).map(|_| rng.next_hi().to_le_bytes()[0]).collect();
                let is_whole = nchunk + 1 < nchunks;
                match rng.below(12) {
                    0 | 1 if is_whole => writer.update(nchunk, &data).unwrap(),
                    2 if is_whole => writer.insert(nchunk, &data).unwrap(),
                    3 if is_whole => writer.delete(nchunk).unwrap(),
                    4 => writer.set_meta("m", &data[..3]).unwrap(),
                    5 => writer.set_vlmeta("v", &data).unwrap(),
                    6 => drop(writer.compact().unwrap()),
                    7 => writer.append(&[0; 64]).unwrap(),
                    8 => writer.append(&data[..10]).unwrap(),
                    _ => writer.append(&data).unwrap(),
                }
                if rng.below(3) == 0 {
                    writer.commit().unwrap();
                    let schunk = SChunk::open(&path).unwrap();
                    assert_eq!(schunk.seal_state().unwrap(), SealState::Intact, "step {step}");
                    assert!(schunk.verify(&VerifyOptions::default(), |_| {}).notes.is_empty());
                    let own = writer.schunk().unwrap().seal_state().unwrap();
                    assert_eq!(own, SealState::Intact, "step {step}");
                    if rng.below(2) == 0 {
                        writer = SChunkWriter::open_with(&path, &fast()).unwrap();
                    }
                }
            }
            let schunk = writer.finish().unwrap();
            assert_eq!(schunk.seal_state().unwrap(), SealState::Intact);
            let copy = schunk.copy(&Dest::Memory, &CopyOptions::default()).unwrap();
            assert_eq!(copy.seal_state().unwrap(), SealState::Intact);
        }
    }
}

#[test]
fn arrays_keep_the_seal_when_their_shape_changes() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.b2nd", "sparse.b2nd"] {
        let path = dir.path().join(name);
        let params = NdParams::new(&[6, 6], "<i4".parse().unwrap()).chunkshape(&[2, 4]);
        let writer = match name {
            "a.b2nd" => NdWriter::create(&path, &params),
            _ => NdWriter::create_sparse(&path, &params),
        };
        let mut writer = writer.unwrap();
        writer.write_slice((.., ..), &(0..36).collect::<Vec<i32>>()).unwrap();
        writer.commit().unwrap();
        for shape in [[10, 6], [4, 3], [7, 9]] {
            writer.resize(&shape).unwrap();
            writer.commit().unwrap();
            let array = NdArray::open(&path).unwrap();
            assert_eq!(array.schunk().seal_state().unwrap(), SealState::Intact, "{shape:?}");
            assert_eq!(array.schunk().cbytes() > 0, array.schunk().usage().unwrap().cbytes > 0);
        }
    }
}

#[test]
fn damage_is_not_sealed_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    let mut bad = frame(Checksums::Chunks);
    let at = SChunk::from_cframe(bad.clone()).unwrap().chunk_info(1).unwrap().offset.unwrap();
    bad[usize::try_from(at).unwrap() + 100] ^= 1;
    std::fs::write(&path, bad).unwrap();
    let mut writer = SChunkWriter::open_with(&path, &fast()).unwrap();
    writer.append(&[7; 1000]).unwrap();
    writer.commit().unwrap();
    assert!(matches!(writer.compact(), Err(Error::Corrupt { what: Corrupt::BodySum, .. })));
    drop(writer);
    let open = OpenOptions::default().mismatch(Mismatch::Note(MismatchLog::default()));
    let mut writer = SChunkWriter::open_with(&path, &fast().open(open.clone())).unwrap();
    writer.compact().unwrap();
    let damaged = SealState::BodyDamaged { chunks: vec![1] };
    assert_eq!(SChunk::open(&path).unwrap().seal_state().unwrap(), damaged);
    let copy = dir.path().join("copy.b2frame");
    let error = SChunk::open(&path).unwrap().save(&copy).unwrap_err();
    assert!(matches!(error, Error::Corrupt { what: Corrupt::ChunkSum { nchunk: 1 }, .. }));
    SChunk::open_with(&path, &open).unwrap().save(&copy).unwrap();
    assert_eq!(SChunk::open(&copy).unwrap().seal_state().unwrap(), damaged);
}

#[test]
fn a_frame_of_others_is_sealed_in_place() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["tiny.b2frame", "tiny-sparse.b2frame", "variable-chunks.b2frame", "empty.b2frame"]
    {
        let source = blosc_testdata::fixture::path(format!("frames/{name}"));
        let path = dir.path().join(name);
        if source.is_dir() {
            std::fs::create_dir(&path).unwrap();
            for entry in std::fs::read_dir(&source).unwrap().map(Result::unwrap) {
                std::fs::copy(entry.path(), path.join(entry.file_name())).unwrap();
            }
        } else if source.exists() {
            std::fs::copy(&source, &path).unwrap();
        } else {
            continue;
        }
        let before = SChunk::open(&path).unwrap();
        assert_eq!(before.seal_state().unwrap(), SealState::NeverSealed);
        let chunks = |schunk: &SChunk| -> Vec<_> {
            (0..schunk.nchunks()).map(|n| schunk.decode_chunk(n).unwrap()).collect()
        };
        let expected = chunks(&before);
        for checksums in BOTH {
            seal(&path, checksums, &fast()).unwrap();
            let sealed = SChunk::open(&path).unwrap();
            assert_eq!(sealed.seal_state().unwrap(), SealState::Intact, "{name}");
            assert_eq!((chunks(&sealed), sealed.meta()), (expected.clone(), before.meta()));
            assert_eq!(sealed.vlmeta().stored(), before.vlmeta().stored());
        }
        seal(&path, Checksums::None, &fast()).unwrap();
        assert_eq!(SChunk::open(&path).unwrap().seal_state().unwrap(), SealState::NeverSealed);
    }
}

#[test]
fn a_frame_without_a_seal_stays_so_when_it_is_changed() {
    let mut writer = SChunkWriter::open_in(
        Box::new(MemStore::new(frame(Checksums::None))),
        &EditOptions::default(),
    )
    .unwrap();
    writer.append(&[1; 1000]).unwrap();
    assert_eq!(writer.finish().unwrap().seal_state().unwrap(), SealState::NeverSealed);
}

/// Changes as C-Blosc2 does: vlmetalayers stay, the fingerprint is zeros.
#[test]
fn the_work_of_other_programs_is_told_from_damage() {
    let mut other = frame(Checksums::Body);
    let end = other.len();
    other[end - 17..].fill(0);
    let schunk = SChunk::from_cframe(other.clone()).unwrap();
    assert_eq!(schunk.seal_state().unwrap(), SealState::BrokenByOtherWriter);
    let report = schunk.verify(&VerifyOptions::default(), |_| {});
    assert!(report.is_ok() && report.notes == [Note::SealBroken], "{report:?}");
    // A change here does not restore the seal.
    let store = Box::new(MemStore::new(other));
    let mut writer = SChunkWriter::open_in(store, &EditOptions::default()).unwrap();
    writer.append(&[1; 500]).unwrap();
    writer.set_vlmeta("w", b"").unwrap();
    let schunk = writer.finish().unwrap();
    assert_eq!(schunk.seal_state().unwrap(), SealState::BrokenByOtherWriter);

    // Only a metalayer.
    let mut other = frame(Checksums::Body);
    let at = other.windows(4).position(|bytes| bytes == b"meta").unwrap();
    other[at] = b'M';
    let schunk = SChunk::from_cframe(other).unwrap();
    assert_eq!(schunk.seal_state().unwrap(), SealState::HeaderChanged);
    let report = schunk.verify(&VerifyOptions::default(), |_| {});
    assert!(report.is_ok() && report.notes == [Note::HeaderChanged], "{report:?}");
}

#[test]
fn sixteen_vlmetalayers_leave_room_for_the_fingerprint_alone() {
    let params = (0..16).fold(FrameParams::default(), |params, n| {
        params.vlmetalayer(format!("v{n}"), vec![n; usize::from(n)])
    });
    let mut frame = to_cframe(&[1; 1000], &params).unwrap();
    let schunk = SChunk::from_cframe(frame.clone()).unwrap();
    assert_eq!((schunk.vlmeta().len(), schunk.seal_state().unwrap()), (16, SealState::Intact));
    frame[120] ^= 1;
    assert!(matches!(state(frame), SealState::BodyDamaged { .. }));
}

#[test]
fn the_name_of_the_layer_is_taken() {
    let reserved = Param::ReservedName { name: "b2seal" };
    let params = FrameParams::default().vlmetalayer("b2seal", *b"x");
    assert!(matches!(to_cframe(b"", &params), Err(Error::Param(p)) if p == reserved));
    let mut writer = SChunkWriter::in_memory(&FrameParams::default()).unwrap();
    let error = writer.set_vlmeta("b2seal", b"x").unwrap_err();
    assert!(matches!(error, Error::Param(p) if p == reserved));
}

#[test]
fn many_small_appends_do_not_bloat_a_file() {
    let dir = tempfile::tempdir().unwrap();
    for checksums in [Checksums::Body, Checksums::None] {
        let path = dir.path().join(format!("{checksums:?}.b2frame"));
        let params = FrameParams::default().checksums(checksums);
        drop(SChunkWriter::create(&path, &params).unwrap().finish().unwrap());
        let mut rng = Rng::new(3);
        for n in 1..=60_u64 {
            let mut writer = SChunkWriter::open_with(&path, &fast()).unwrap();
            let data: Vec<u8> = (0..8192).map(|_| rng.next_hi().to_le_bytes()[0]).collect();
            writer.append(&data).unwrap();
            let schunk = writer.finish().unwrap();
            assert_eq!(schunk.nbytes(), n * 8192);
            let usage = schunk.usage().unwrap();
            let bound = 2 * usage.cbytes + (200 << 10);
            assert!(usage.dead_bytes <= bound, "{n}: {usage:?}");
        }
        assert!(path.metadata().unwrap().len() < 4 * 60 * 8192);
    }
}

#[test]
fn the_choice_of_sums_holds_for_copies() {
    let dir = tempfile::tempdir().unwrap();
    let all = [Checksums::None, Checksums::Body, Checksums::Chunks];
    for (n, from) in all.into_iter().enumerate() {
        let schunk = SChunk::from_cframe(frame(from)).unwrap();
        // As they are, and compressed anew.
        for (m, options) in
            [CopyOptions::default(), CopyOptions::default().chunksize(512)].into_iter().enumerate()
        {
            for checksums in [None, Some(all[0]), Some(all[1]), Some(all[2])] {
                let name = format!("{n}-{m}-{checksums:?}");
                let options = match checksums {
                    Some(checksums) => options.clone().checksums(checksums),
                    None => options.clone(),
                };
                let expected = checksums.unwrap_or(if n == 0 { Checksums::Body } else { from });
                for dest in [
                    Dest::Memory,
                    Dest::Contiguous(dir.path().join(format!("{name}.b2frame"))),
                    Dest::Sparse(dir.path().join(format!("{name}.sparse"))),
                ] {
                    let copy = schunk.copy(&dest, &options).unwrap();
                    check_sums(&copy, expected, &format!("{name} to {dest:?}"));
                }
            }
        }
    }
}

/// Checks the seal of a sound frame.
fn check_sums(schunk: &SChunk, expected: Checksums, what: &str) {
    let intact = schunk.seal_state().unwrap();
    if expected == Checksums::None {
        assert_eq!(intact, SealState::NeverSealed, "{what}");
        return;
    }
    assert_eq!(intact, SealState::Intact, "{what}");
    let layer = schunk.copy(&Dest::Memory, &CopyOptions::default()).unwrap().frame_len();
    let params = CopyOptions::default().checksums(Checksums::None);
    let bare = schunk.copy(&Dest::Memory, &params).unwrap().frame_len();
    let table = if expected == Checksums::Chunks { 8 * schunk.nchunks() } else { 0 };
    assert_eq!(layer - bare, 74 + table, "{what}");
}

#[test]
fn the_choice_of_sums_holds_for_arrays() {
    for checksums in [Checksums::None, Checksums::Body, Checksums::Chunks] {
        let params = NdParams::new(&[6, 6], "<i4".parse().unwrap()).chunkshape(&[2, 4]);
        let mut writer = NdWriter::in_memory(&params.checksums(checksums)).unwrap();
        writer.write_slice(.., &(0..36_i32).collect::<Vec<_>>()).unwrap();
        let array = writer.finish().unwrap();
        check_sums(array.schunk(), checksums, "new");
        let params = array.params().unwrap();
        let copied = if checksums == Checksums::None { Checksums::Body } else { checksums };
        let copy = array.copy(&Dest::Memory, &params).unwrap();
        check_sums(copy.schunk(), copied, "copied");
        let params = params.checksums(Checksums::None).chunkshape(&[3, 3]).blockshape(&[1, 3]);
        let copy = array.copy(&Dest::Memory, &params).unwrap();
        check_sums(copy.schunk(), Checksums::None, "without");
    }
}

#[test]
fn damage_stays_visible_in_a_copy_with_other_sums() {
    for from in BOTH {
        let mut bad = frame(from);
        let schunk = SChunk::from_cframe(bad.clone()).unwrap();
        let info = schunk.chunk_infos().next().unwrap().unwrap();
        let last = usize::try_from(info.offset.unwrap() + info.cbytes).unwrap() - 1;
        bad[last] ^= 1;
        let open = OpenOptions::default().mismatch(Mismatch::Note(MismatchLog::default()));
        let refused = SChunk::from_cframe(bad.clone()).unwrap();
        let bad = SChunk::from_store_with(Arc::new(MemStore::new(bad)), &open).unwrap();
        for checksums in BOTH {
            let options = CopyOptions::default().checksums(checksums);
            assert!(refused.copy(&Dest::Memory, &options).is_err());
            let copy = bad.copy(&Dest::Memory, &options).unwrap();
            let state = copy.seal_state().unwrap();
            assert!(matches!(state, SealState::BodyDamaged { .. }), "{from:?} to {checksums:?}");
        }
    }
}

#[test]
fn verifying_reads_each_chunk_once() {
    for checksums in [Checksums::None, Checksums::Body, Checksums::Chunks] {
        let mut rng = Rng::new(5);
        let data: Vec<u8> = (0..1 << 20).map(|_| rng.next_hi().to_le_bytes()[0]).collect();
        let params = FrameParams::default().chunksize(1 << 16).checksums(checksums);
        let frame = to_cframe(&data, &params).unwrap();
        let frame_len = frame.len() as u64;
        // Positions in memory are not requests.
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f.b2frame");
        std::fs::write(&path, &frame).unwrap();
        let file = blosc_io::FileStore::open(&path).unwrap();
        let store = Arc::new(blosc_io::testing::CountingStore::new(file));
        let schunk = SChunk::from_store(store.clone()).unwrap();
        store.reset();
        let report = schunk.verify(&VerifyOptions::default(), |_| {});
        assert!(report.is_ok() && report.notes.is_empty(), "{report:?}");
        let (read, allowed) = (store.bytes(), frame_len + 4096);
        assert!(read <= allowed, "{checksums:?}: {read} bytes of {frame_len}");
    }
}

/// Reads all of a frame in one of the possible ways.
type ReadAll = fn(&SChunk) -> b2frame::Result<()>;

const WAYS: [(&str, ReadAll); 7] = [
    ("decode_ordered", |it| {
        it.decode_ordered(0..it.nchunks(), &Budget::default(), |_, _| Ok::<(), Error>(()))
    }),
    ("read_bytes", |it| it.read_bytes(0, &mut vec![0; usize::try_from(it.nbytes()).unwrap()])),
    ("read_par", |it| {
        let mut data = vec![0; usize::try_from(it.nbytes()).unwrap()];
        it.read_par(0..it.nbytes() / it.typesize() as u64, &mut data, &Executor::auto())
    }),
    ("decode_chunk", |it| {
        (0..it.nchunks()).try_for_each(|nchunk| it.decode_chunk(nchunk).map(drop))?;
        it.compare_seal()
    }),
    ("by parts", |it| {
        let part = it.nbytes() / 7;
        let read = |n: u64| it.read_bytes(n * part, &mut vec![0; usize::try_from(part).unwrap()]);
        (0..7).try_for_each(read)?;
        it.compare_seal()
    }),
    ("copy", |it| it.copy(&Dest::Memory, &CopyOptions::default()).map(drop)),
    ("recompress", |it| {
        let options = CopyOptions::default().cparams(it.cparams()).chunksize(5000);
        it.copy(&Dest::Memory, &options).map(drop)
    }),
];

#[test]
fn every_way_to_read_all_tells_of_damage() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    for checksums in BOTH {
        let good = frame(checksums);
        let info = SChunk::from_cframe(good.clone()).unwrap().chunk_info(1).unwrap();
        let at = usize::try_from(info.offset.unwrap() + info.cbytes / 2).unwrap();
        for place in [None, Some(at), Some(good.len() - 3)] {
            let mut bytes = good.clone();
            place.into_iter().for_each(|at| bytes[at] ^= 4);
            std::fs::write(&path, &bytes).unwrap();
            for (name, read) in WAYS {
                for is_file in [true, false] {
                    let schunk = match is_file {
                        true => SChunk::open(&path),
                        false => SChunk::from_cframe(bytes.clone()),
                    };
                    let result = read(&schunk.unwrap());
                    assert_eq!(result.is_err(), place.is_some(), "{name} {place:?} {result:?}");
                }
                let log = MismatchLog::default();
                let open = OpenOptions::default().mismatch(Mismatch::Note(log.clone()));
                let noted = read(&SChunk::open_with(&path, &open).unwrap());
                // Damage that does not decode is an error in any case.
                assert!(noted.is_err() || log.first().is_some() == place.is_some(), "{name}");
                let open = OpenOptions::default().mismatch(Mismatch::Ignore);
                let ignored = read(&SChunk::open_with(&path, &open).unwrap());
                let is_copy = matches!(name, "copy" | "recompress");
                assert!(is_copy || matches!(ignored, Ok(()) | Err(Error::Chunk { .. })), "{name}");
            }
        }
    }
}

#[test]
fn a_part_of_a_chunk_with_a_sum_is_compared_before_it_is_handed_out() {
    let mut bad = frame(Checksums::Chunks);
    let schunk = SChunk::from_cframe(bad.clone()).unwrap();
    let info = schunk.chunk_info(1).unwrap();
    bad[usize::try_from(info.offset.unwrap() + info.cbytes - 2).unwrap()] ^= 1;
    let start = schunk.chunk_nbytes(0).unwrap() as u64;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.b2frame");
    std::fs::write(&path, bad).unwrap();
    let schunk = SChunk::open(&path).unwrap();
    schunk.read_bytes(start - 8, &mut [0; 8]).unwrap();
    let error = schunk.read_bytes(start, &mut [0; 8]).unwrap_err();
    assert!(matches!(error, Error::Corrupt { what: Corrupt::ChunkSum { nchunk: 1 }, .. }));
    let mut writer = SChunkWriter::open_with(&path, &fast()).unwrap();
    assert!(writer.write_bytes(start, &[1; 8]).is_err(), "the chunk would go into a new one");
}

#[test]
fn runs_that_the_index_notes_become_chunks_under_a_seal_of_chunks() {
    let frame = blosc_testdata::fixture::read("frames/variable-with-one-special.b2frame").unwrap();
    let chunks = |schunk: &SChunk| -> Vec<Vec<u8>> {
        (0..schunk.nchunks()).map(|n| schunk.decode_chunk(n).unwrap()).collect()
    };
    let before = chunks(&SChunk::from_cframe(frame.clone()).unwrap());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.b2frame");
    for checksums in BOTH {
        std::fs::write(&path, &frame).unwrap();
        seal(&path, checksums, &fast()).unwrap();
        let sealed = SChunk::open(&path).unwrap();
        assert_eq!(sealed.seal_state().unwrap(), SealState::Intact, "{checksums:?}");
        assert_eq!(chunks(&sealed), before, "{checksums:?}");
    }
}
