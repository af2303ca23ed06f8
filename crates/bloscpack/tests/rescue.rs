//! Damaged and cut files, files of old versions repacked, and damaged offsets.

use std::io::Cursor;

use blosc_chunk::{DParams, Limits};
use blosc_io::MemStore;
use blosc_testdata::data::Kind;
use blosc_testdata::fixture;
use bloscpack::{
    AppendOptions, BlpFile, Checksum, Error, RepackOptions, WriteOptions, append,
    error::Param,
    metadata::{MetadataOptions, NewMetadata},
    numpy::{ArrayInfo, NpArray, Order, pack_array},
    pack, repack, repair_offsets,
    report::{Note, VerifyOptions},
    rescue,
    rescue::{Fill, Rescue},
    unpack,
};
use serde_json::json;

fn sample(name: &str) -> Vec<u8> {
    fixture::read(format!("bloscpack/{name}.blp")).unwrap()
}

fn file(options: WriteOptions) -> (Vec<u8>, Vec<u8>) {
    let data = Kind::Walk.bytes(4500);
    let options = options.chunksize(1000).metadata(Some(json!({ "of": "walk" })));
    let blp = pack(&data, options).unwrap();
    (data, blp)
}

fn data_of(found: &Rescue, store: &MemStore, fill: Fill, max_filled: u64) -> Vec<u8> {
    let mut data = vec![];
    found.write_data(store, &mut data, &fill, max_filled).unwrap();
    data
}

fn numbers(found: &Rescue) -> Vec<Option<u64>> {
    found.chunks.iter().map(|chunk| chunk.nchunk).collect()
}

#[test]
fn a_sound_file_is_complete() {
    for options in [WriteOptions::default(), WriteOptions::default().offsets(false)] {
        let (data, blp) = file(options);
        let store = MemStore::new(blp);
        let found = rescue(&store, &DParams::default()).unwrap();
        assert!(found.is_complete());
        assert_eq!(data_of(&found, &store, Fill::Cut, 0), data);
    }
}

/// A file with byte `inside` of chunk 2 changed.
fn damaged(options: WriteOptions, inside: u64) -> (Vec<u8>, MemStore) {
    let (data, mut blp) = file(options);
    let at = BlpFile::new(MemStore::new(blp.clone())).unwrap().position(2).unwrap() + inside;
    blp[usize::try_from(at).unwrap()] ^= 0x55;
    (data, MemStore::new(blp))
}

#[test]
fn chunks_after_a_damaged_one_are_found() {
    for offsets in [true, false] {
        for inside in [0, 4, 12, 20] {
            let (data, store) = damaged(WriteOptions::default().offsets(offsets), inside);
            let found = rescue(&store, &DParams::default()).unwrap();
            assert_eq!(found.chunks.len(), 4, "{offsets} {inside}");
            assert!(!found.is_complete());
            let around = [&data[..2000], &data[3000..]].concat();
            assert_eq!(data_of(&found, &store, Fill::Cut, 0), around);
            let expected = if offsets { Some(3) } else { None };
            assert_eq!(numbers(&found), [Some(0), Some(1), expected, expected.map(|n| n + 1)]);
        }
    }
}

#[test]
fn a_chunk_whose_size_is_damaged_does_not_take_the_next_one_with_it() {
    let (data, mut blp) = file(WriteOptions::default().checksum(Checksum::None));
    let file = BlpFile::new(MemStore::new(blp.clone())).unwrap();
    let at = usize::try_from(file.position(1).unwrap()).unwrap();
    let next = usize::try_from(file.position(2).unwrap()).unwrap();
    // The damaged size covers one byte of the next chunk, or all of the next two.
    for cbytes in [next - at + 1, usize::try_from(file.position(4).unwrap()).unwrap() - at] {
        blp[at + 12..at + 16].copy_from_slice(&u32::try_from(cbytes).unwrap().to_le_bytes());
        let store = MemStore::new(blp.clone());
        let found = rescue(&store, &DParams::default()).unwrap();
        assert_eq!(numbers(&found), [Some(0), Some(2), Some(3), Some(4)], "{cbytes}");
        assert_eq!(found.lost.first(), Some(&(at as u64..next as u64)));
        assert_eq!(found.lost.len(), 1);
        let filled = [&data[..1000], &[0; 1000], &data[2000..]].concat();
        assert_eq!(data_of(&found, &store, Fill::Zeros, 1000), filled);
    }
}

#[test]
fn a_damaged_magic_is_read_as_if_it_were_right() {
    let (data, mut blp) = file(WriteOptions::default());
    blp[..4].copy_from_slice(b"\0lpk");
    let store = MemStore::new(blp);
    let found = rescue(&store, &DParams::default()).unwrap();
    assert!(found.lost_magic && found.is_complete() && !found.lost_metadata());
    let new = found.write_blp(&store, Cursor::new(vec![]), &Fill::Zeros, 0).unwrap().0;
    let new = new.into_inner();
    assert_eq!(unpack(&new).unwrap(), data);
    let new = BlpFile::new(MemStore::new(new)).unwrap();
    assert_eq!(new.metadata().unwrap().json(), Some(&json!({ "of": "walk" })));
}

#[test]
fn metadata_that_cannot_be_read_are_told() {
    let (data, mut blp) = file(WriteOptions::default());
    blp[0x40] ^= 1; // the first byte of the metadata, which have a checksum
    let store = MemStore::new(blp);
    let found = rescue(&store, &DParams::default()).unwrap();
    assert!(found.lost_metadata() && !found.is_complete());
    assert_eq!(data_of(&found, &store, Fill::Zeros, 0), data);
}

#[test]
fn gaps_are_filled_where_the_numbers_are_known() {
    let (data, store) = damaged(WriteOptions::default(), 20);
    let found = rescue(&store, &DParams::default()).unwrap();
    let filled = [&data[..2000], &[0; 1000], &data[3000..]].concat();
    assert_eq!(data_of(&found, &store, Fill::Zeros, 1000), filled);
    let result = found.write_data(&store, &mut vec![], &Fill::Zeros, 999);
    assert!(matches!(result, Err(Error::Limit { needed: 1000, limit: 999, .. })));
    let (data, blp) = file(WriteOptions::default());
    let cut = MemStore::new(blp[..blp.len() - 1].to_vec());
    let filled = [&data[..4000], &[0; 500]].concat();
    assert_eq!(
        data_of(&rescue(&cut, &DParams::default()).unwrap(), &cut, Fill::Zeros, 1 << 20),
        filled
    );
}

#[test]
fn what_was_found_becomes_a_new_file() {
    let (data, store) = damaged(WriteOptions::default(), 20);
    let found = rescue(&store, &DParams::default()).unwrap();
    let blp = found.write_blp(&store, Cursor::new(vec![]), &Fill::Cut, 0).unwrap().0.into_inner();
    assert_eq!(unpack(&blp).unwrap(), [&data[..2000], &data[3000..]].concat());
    let new = BlpFile::new(MemStore::new(blp)).unwrap();
    assert!(new.verify(&VerifyOptions::default(), |_| {}).unwrap().is_ok());
    assert_eq!(new.metadata().unwrap().json(), Some(&json!({ "of": "walk" })));
}

#[test]
fn a_lost_header_does_not_lose_the_chunks() {
    let (data, mut blp) = file(WriteOptions::default());
    blp[..8].fill(0);
    let store = MemStore::new(blp);
    let found = rescue(&store, &DParams::default()).unwrap();
    assert!(found.header.is_none() && found.metadata.is_none());
    assert_eq!(data_of(&found, &store, Fill::Cut, 0), data);
}

#[test]
fn verify_goes_on_after_a_damaged_chunk() {
    for (offsets, inside, good) in [(true, 20, 4), (false, 20, 4), (true, 0, 4), (false, 0, 2)] {
        let (_, store) = damaged(WriteOptions::default().offsets(offsets), inside);
        let report =
            BlpFile::new(store).unwrap().verify(&VerifyOptions::default(), |_| {}).unwrap();
        assert_eq!((report.nchunks, report.nchunks - report.nbad), (5, good), "{offsets} {inside}");
        assert_eq!(report.bad.iter().map(|bad| bad.nchunk).collect::<Vec<u64>>(), [2]);
    }
}

#[test]
fn old_versions_become_version_3() {
    for name in [
        "old_v0_rc2",
        "old_v1",
        "old_v1_last_empty",
        "old_v2",
        "old_v2_last_empty",
        "old_v2_last_larger",
        "old_v2_single",
        "synth_v1_nchunks_unknown",
        "synth_v3_stream",
        "synth_v3_nonuniform",
        "real_empty",
        "real_append_trailing_garbage",
        "real_meta_raw",
        "old_np_040_F",
    ] {
        let old = BlpFile::new(MemStore::new(sample(name))).unwrap();
        let mut data = vec![];
        std::io::Read::read_to_end(&mut old.reader(), &mut data).unwrap();
        let options = RepackOptions::default().checksum(Some(Checksum::Sha1));
        let new = repack(&old, Cursor::new(vec![]), &options).unwrap().into_inner();
        assert_eq!(unpack(&new).unwrap(), data, "{name}");
        let new = BlpFile::new(MemStore::new(new)).unwrap();
        let report = new.verify(&VerifyOptions::default(), |_| {}).unwrap();
        assert!(report.is_ok() && report.notes.is_empty(), "{name}");
        assert_eq!((new.header().version().number(), new.header().checksum()), (3, Checksum::Sha1));
        assert_eq!(new.metadata().map(|m| m.text()), old.metadata().map(|m| m.text()), "{name}");
        let known = new.header().chunksize().is_some();
        assert_eq!(known, !["old_v2_last_larger", "synth_v3_nonuniform"].contains(&name), "{name}");
    }
}

#[test]
fn metadata_are_changed_on_the_way() {
    let old = BlpFile::new(MemStore::new(sample("real_meta_raw"))).unwrap();
    let with = |metadata| {
        let options = RepackOptions::default().metadata(metadata).offsets(false);
        let new = repack(&old, Cursor::new(vec![]), &options).unwrap().into_inner();
        BlpFile::new(MemStore::new(new)).unwrap().metadata().and_then(|m| m.json().cloned())
    };
    assert_eq!(with(NewMetadata::Remove), None);
    assert_eq!(with(NewMetadata::Set(json!([1]), MetadataOptions::default())), Some(json!([1])));
    assert_eq!(with(NewMetadata::Keep).as_ref(), old.metadata().unwrap().json());
}

#[test]
fn offsets_are_set_again() {
    let mut unset = MemStore::new(sample("synth_v3_offsets_unset"));
    assert_eq!(
        BlpFile::new(&unset).unwrap().verify(&VerifyOptions::default(), |_| {}).unwrap().notes,
        [Note::OffsetsUnset]
    );
    assert_eq!(repair_offsets(&mut unset).unwrap(), 3);
    assert_eq!(
        BlpFile::new(&unset).unwrap().verify(&VerifyOptions::default(), |_| {}).unwrap().notes,
        []
    );
    append(&mut unset, &b"x"[..], 1, &AppendOptions::default()).unwrap();
    for name in ["offset_swapped", "offset_outside", "offset_negative", "offset_into_table"] {
        let mut store =
            MemStore::new(fixture::read(format!("bloscpack/malformed/{name}.blp")).unwrap());
        assert_eq!(repair_offsets(&mut store).unwrap(), 3);
        assert_eq!(unpack(store.as_bytes()).unwrap().len(), 6000);
    }
    let result = repair_offsets(&mut MemStore::new(sample("real_no_offsets")));
    assert!(matches!(result, Err(Error::Param(_))));
}

#[test]
fn a_table_that_the_file_has_no_room_for_is_not_written() {
    let (_, blp) = file(WriteOptions::default());
    let room = u64::from_le_bytes(blp[24..32].try_into().unwrap());
    assert_eq!(room, 50);
    // Up to here the table fits, but no chunk follows it.
    let fits = (blp.len() as u64
        - BlpFile::new(MemStore::new(blp.clone())).unwrap().offsets_position())
        / 8
        - 5;
    for reserve in [
        49,
        51,
        fits,
        fits + 1,
        1 << 20,
        1 << 26,
        1 << 40,
        (1 << 60) - 6,
        1 << 61,
        i64::MAX as u64 - 5,
    ] {
        for name in ["nothing else", "unknown nchunks"] {
            let mut hostile = blp.clone();
            hostile[24..32].copy_from_slice(&reserve.to_le_bytes());
            if name == "unknown nchunks" {
                hostile[16..24].fill(0xff);
            }
            let mut store = MemStore::new(hostile.clone());
            let error = repair_offsets(&mut store).unwrap_err();
            assert!(
                matches!(error, Error::Corrupt { .. } | Error::Chunk { .. }),
                "{reserve}, {name}: {error}"
            );
            assert!(store.as_bytes() == hostile, "{reserve}, {name}");
        }
    }
}

/// 31 bytes that look like a chunk of 560 MiB until they are decoded.
#[test]
fn the_memory_for_what_looks_like_a_chunk_is_the_callers_to_bound() {
    let bytes = b"\x0a\x3b\x08\xa5\xa5\x00\x04\x0d\x0e\x00\x00\x02\x01p\x02\x00\x94\x00#\x04\xffo\x02\x10\0\0\0\0\0\0\0";
    let store = MemStore::new(bytes.to_vec());
    let dparams = |max| DParams::default().limits(Limits::default().max_nbytes(max));
    assert!(rescue(&store, &dparams(1 << 20)).unwrap().chunks.is_empty());

    let blp = pack(&[1; 3000], WriteOptions::default().chunksize(1000)).unwrap();
    let store = MemStore::new(blp);
    assert_eq!(rescue(&store, &dparams(1000)).unwrap().chunks.len(), 3);
    assert!(rescue(&store, &dparams(999)).unwrap().chunks.is_empty());
}

/// An array of 400 rows of ten floats, in chunks of 8000 bytes: 100 rows each.
fn array(offsets: bool) -> (Vec<u8>, Vec<u8>) {
    let data: Vec<u8> = (0..4000).flat_map(|n| f64::from(n).to_le_bytes()).collect();
    let info = ArrayInfo::new("<f8".parse().unwrap(), vec![400, 10], Order::C).unwrap();
    let options = WriteOptions::default().chunksize(8000).offsets(offsets);
    let blp = pack_array(&NpArray::new(info, data.clone()).unwrap(), options).unwrap();
    (data, blp)
}

fn shape_of(blp: &[u8]) -> Option<Vec<u64>> {
    let file = BlpFile::new(MemStore::new(blp.to_vec())).unwrap();
    file.array_info().unwrap().map(|info| info.shape().to_vec())
}

/// The rescued file after byte `at` was changed.
fn saved_after(blp: &[u8], at: usize, fill: &Fill) -> (Vec<u8>, u64) {
    let mut torn = blp.to_vec();
    torn[at] ^= 0xff;
    let store = MemStore::new(torn);
    let found = rescue(&store, &DParams::default()).unwrap();
    let written = found.write_blp(&store, Cursor::new(vec![]), fill, 1 << 20).unwrap();
    (written.0.into_inner(), written.1)
}

#[test]
fn rows_of_an_array_stay_at_their_places() {
    for offsets in [true, false] {
        let (data, blp) = array(offsets);
        let sound = BlpFile::new(MemStore::new(blp.clone())).unwrap();
        for nchunk in 0..4_u64 {
            let at = usize::try_from(sound.packed_chunk(nchunk).unwrap().position()).unwrap() + 30;
            let range = usize::try_from(nchunk).unwrap() * 8000..;
            let lost = range.start..range.start + 8000;
            for (fill, item) in [
                (Fill::Zeros, [0; 8]),
                (Fill::NaN, f64::NAN.to_le_bytes()),
                (Fill::Value(vec![1, 2, 3, 4, 5, 6, 7, 8]), [1, 2, 3, 4, 5, 6, 7, 8]),
            ] {
                let (file, filled) = saved_after(&blp, at, &fill);
                let mut expected = data.clone();
                expected[lost.clone()].copy_from_slice(&item.repeat(1000));
                assert_eq!(filled, 8000);
                assert_eq!(shape_of(&file).unwrap(), [400, 10]);
                assert!(unpack(&file).unwrap() == expected, "{offsets} {nchunk} {fill:?}");
            }
            let (file, filled) = saved_after(&blp, at, &Fill::Cut);
            assert_eq!((filled, shape_of(&file)), (0, None));
            assert!(unpack(&file).unwrap() == [&data[..lost.start], &data[lost.end..]].concat());
        }
    }
}

#[test]
fn a_fill_that_does_not_suit_the_items_is_refused() {
    let (_, mut blp) = array(true);
    blp.truncate(blp.len() - 10);
    let store = MemStore::new(blp);
    let found = rescue(&store, &DParams::default()).unwrap();
    let write = |fill: Fill, limit| found.write_blp(&store, Cursor::new(vec![]), &fill, limit);
    let error = write(Fill::Value(vec![1]), 1 << 20).unwrap_err();
    assert!(matches!(error, Error::Param(Param::Fill { found: 1, itemsize: 8 })), "{error}");
    let error = write(Fill::Zeros, 7999).unwrap_err();
    assert!(matches!(error, Error::Limit { needed: 8000, limit: 7999, .. }), "{error}");
}

#[test]
fn all_chunks_are_found_after_a_lost_header() {
    let data = vec![7; 3_000_000];
    let mut blp = pack(&data, WriteOptions::default().chunksize(1 << 20)).unwrap();
    blp[..20].fill(b'Q');
    let store = MemStore::new(blp);
    let found = rescue(&store, &DParams::default()).unwrap();
    assert_eq!(found.chunks.len(), 3);
    assert!(data_of(&found, &store, Fill::Zeros, 0) == data);
}
