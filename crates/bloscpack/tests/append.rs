//! Appending: compared with the files that Bloscpack 0.16.0 makes by the same steps, and refused
//! where it refuses.

mod contend;

use std::io::{self, Cursor, Write};

use blosc_chunk::{CodecId, Threads};
use blosc_io::{MemStore, ReadAt};
use blosc_testdata::data::Kind;
use bloscpack::{
    AppendOptions, BlpFile, Budget, Checksum, Durability, Error, ReadOptions, RepackOptions,
    WriteOptions, Writer, append,
    error::{Blame, Param},
    pack,
    params::Reserve,
    repack,
    report::{Note, VerifyOptions},
    rewrite_metadata, unpack,
};
use proptest::prelude::*;
use serde_json::json;

fn store(data: &[u8], options: WriteOptions) -> MemStore {
    MemStore::new(pack(data, options).unwrap())
}

fn small() -> WriteOptions {
    WriteOptions::default().chunksize(100)
}

fn add(store: &mut MemStore, data: &[u8]) -> bloscpack::Result<bloscpack::AppendReport> {
    append(store, data, data.len() as u64, &AppendOptions::default())
}

/// (chunksize, last_chunk, nchunks, max_app_chunks)
fn fields(store: &MemStore) -> (u32, u32, u64, u64) {
    let file = BlpFile::new(store).unwrap();
    let header = file.header();
    assert!(file.verify(&VerifyOptions::default(), |_| {}).unwrap().is_ok());
    assert_eq!(file.trailing_bytes().unwrap(), 0);
    (
        header.chunksize().unwrap(),
        header.last_chunk().unwrap(),
        header.nchunks().unwrap(),
        header.max_app_chunks(),
    )
}

#[test]
fn data_go_into_the_last_chunk_first() {
    let mut store = store(&[1; 250], small());
    assert_eq!(fields(&store), (100, 50, 3, 30));
    let report = add(&mut store, &[2; 20]).unwrap();
    assert_eq!((report.added, report.len), (0, store.len().unwrap()));
    assert_eq!(fields(&store), (100, 70, 3, 30));
    assert_eq!(add(&mut store, &[3; 30]).unwrap().added, 0);
    assert_eq!(fields(&store), (100, 100, 3, 30));
    assert_eq!(add(&mut store, &[4; 201]).unwrap().added, 3);
    assert_eq!(fields(&store), (100, 1, 6, 27));
    let expected = [&[1; 250][..], &[2; 20], &[3; 30], &[4; 201]].concat();
    assert_eq!(unpack(store.as_bytes()).unwrap(), expected);
}

#[test]
fn the_last_chunk_is_written_again_even_for_nothing() {
    let mut store = store(&[1; 250], small());
    let before = store.as_bytes().to_vec();
    let cparams = WriteOptions::default().cparams.codec(CodecId::ZLIB).typesize(1);
    append(&mut store, &b""[..], 0, &AppendOptions::default().cparams(Some(cparams))).unwrap();
    assert_ne!(store.as_bytes(), before);
    assert_eq!(unpack(store.as_bytes()).unwrap(), [1; 250]);
}

#[test]
fn appended_and_written_at_once_are_the_same_bytes() {
    let data = Kind::Noise.bytes(1000);
    let reserve = |entries| small().reserve(Reserve::Entries(entries));
    for (before, pieces) in [(250, 7), (100, 8), (1, 0)] {
        // A file smaller than a chunk sets the chunk size, so the test begins with a whole one.
        let before = before.max(100);
        let mut store = store(&data[..before], reserve(20));
        add(&mut store, &data[before..]).unwrap();
        let nchunks = before.div_ceil(100) as u64;
        let whole = pack(&data, reserve(20 + nchunks - 10)).unwrap();
        assert_eq!(store.as_bytes(), whole, "{before} {pieces}");
    }
}

#[test]
fn a_full_reserve_refuses_before_anything_is_written() {
    for durability in [Durability::PowerLoss, Durability::None] {
        let mut store = store(b"hello world", small());
        let options = AppendOptions::default().durability(durability);
        for _ in 0..10 {
            append(&mut store, &b"hello world"[..], 11, &options).unwrap();
        }
        assert_eq!(fields(&store), (11, 11, 11, 0));
        let before = store.clone();
        let result = append(&mut store, &b"x"[..], 1, &options);
        assert!(matches!(
            result,
            Err(Error::Param(Param::NotEnoughSpace { needed: 1, available: 0 }))
        ));
        assert_eq!(store, before);
        let larger =
            repack(&BlpFile::new(&store).unwrap(), Cursor::new(vec![]), &RepackOptions::default());
        let mut larger = MemStore::new(larger.unwrap().into_inner());
        append(&mut larger, &b"x"[..], 1, &options).unwrap();
        assert_eq!(fields(&larger), (11, 1, 12, 109));
    }
}

#[test]
fn files_without_offsets_and_empty_files_take_data() {
    let mut plain = store(&[1; 150], small().offsets(false).checksum(Checksum::Sha256));
    add(&mut plain, &[2; 170]).unwrap();
    assert_eq!(fields(&plain), (100, 20, 4, 0));
    assert_eq!(unpack(plain.as_bytes()).unwrap(), [&[1; 150][..], &[2; 170]].concat());

    let mut empty = store(&[], small());
    add(&mut empty, &[]).unwrap();
    assert_eq!(fields(&empty), (0, 0, 1, 10));
    append(&mut empty, &[7; 250][..], 250, &AppendOptions::default().chunksize(100)).unwrap();
    assert_eq!(fields(&empty), (100, 50, 3, 8));
    assert_eq!(unpack(empty.as_bytes()).unwrap(), [7; 250]);
}

#[test]
fn files_that_cannot_be_changed_say_why() {
    let mut streamed = Writer::new(vec![], small()).unwrap();
    streamed.write_all(&[1; 250]).unwrap();
    let streamed = streamed.finish().unwrap();
    let v1 = blosc_testdata::fixture::read("bloscpack/synth_v1.blp").unwrap();
    let v2 = blosc_testdata::fixture::read("bloscpack/synth_v2.blp").unwrap();
    let any_size = blosc_testdata::fixture::read("bloscpack/synth_v3_nonuniform.blp").unwrap();
    let unset = blosc_testdata::fixture::read("bloscpack/synth_v3_offsets_unset.blp").unwrap();
    for (bytes, why) in [
        (streamed, "the number of its chunks is not known"),
        (v1, "its format version is not 3"),
        (v2, "its format version is not 3"),
        (any_size, "the size of its chunks is not known"),
        (unset, "its offsets are not set"),
    ] {
        let mut store = MemStore::new(bytes.clone());
        let error = add(&mut store, b"x").unwrap_err();
        assert!(
            matches!(error, Error::Param(Param::NotAppendable { what }) if what == why),
            "{error}"
        );
        assert_eq!(store.as_bytes(), bytes);
    }
}

#[test]
fn metadata_are_replaced_along_with_it() {
    let options = small().metadata(Some(json!({ "n": 1 })));
    let mut store = store(&[1; 250], options.clone());
    let new = json!({ "n": 2, "m": "x" });
    append(&mut store, &[2; 100][..], 100, &AppendOptions::default().metadata(Some(new.clone())))
        .unwrap();
    assert_eq!(BlpFile::new(&store).unwrap().metadata().unwrap().json(), Some(&new));
    assert_eq!(fields(&store), (100, 50, 4, 29));

    let before = store.clone();
    let long: Vec<u32> = (0..1000).map(|n: u32| n.wrapping_mul(0x9e37_79b9)).collect();
    let too_long = AppendOptions::default().metadata(Some(json!(long)));
    let result = append(&mut store, &[2; 100][..], 100, &too_long);
    assert!(
        matches!(result, Err(Error::Param(Param::MetadataRoom { room: 70, .. }))),
        "{result:?}"
    );
    assert_eq!(store, before);
    let mut without = self::store(&[1; 250], small());
    let result =
        append(&mut without, &b"x"[..], 1, &AppendOptions::default().metadata(Some(json!(1))));
    assert!(matches!(result, Err(Error::Param(Param::NoMetadata))));
}

#[test]
fn metadata_alone_are_rewritten() {
    for durability in [Durability::PowerLoss, Durability::None] {
        let mut store = store(&[1; 250], small().metadata(Some(json!({ "key": "value" }))));
        let len = store.len().unwrap();
        rewrite_metadata(
            &mut store,
            &json!("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
            durability,
        )
        .unwrap();
        let file = BlpFile::new(&store).unwrap();
        assert_eq!(file.metadata().unwrap().header().meta_comp_size(), 13);
        assert_eq!((file.file_len(), unpack(store.as_bytes()).unwrap()), (len, vec![1; 250]));
        let mut without = self::store(b"x", small());
        let result = rewrite_metadata(&mut without, &json!(1), durability);
        assert!(matches!(result, Err(Error::Param(Param::NoMetadata))));
    }
}

#[test]
fn fewer_data_than_announced_leave_the_file_as_it_was() {
    for durability in [Durability::PowerLoss, Durability::None] {
        let mut store = store(&Kind::Walk.bytes(250), small());
        let before = store.clone();
        let options = AppendOptions::default()
            .durability(durability)
            .read(ReadOptions::default().budget(Budget::default().threads(Threads::One)));
        let result = append(&mut store, &[5; 499][..], 500, &options);
        assert!(matches!(
            result,
            Err(Error::Param(Param::DataSize { announced: 500, found: 499 }))
        ));
        assert_eq!(store, before);
        append(&mut store, &[5; 501][..], 500, &options).unwrap();
        assert_eq!(unpack(store.as_bytes()).unwrap().len(), 750);
    }
}

#[test]
fn a_damaged_last_chunk_is_not_appended_to() {
    let mut bytes = pack(&[1; 250], small()).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let mut store = MemStore::new(bytes.clone());
    assert!(matches!(add(&mut store, b"x"), Err(Error::Corrupt { .. })));
    assert_eq!(store.as_bytes(), bytes);
}

#[test]
fn trailing_bytes_of_an_older_append_are_cut() {
    let bytes =
        blosc_testdata::fixture::read("bloscpack/real_append_trailing_garbage.blp").unwrap();
    let mut store = MemStore::new(bytes);
    let before = BlpFile::new(&store).unwrap();
    assert_eq!(before.trailing_bytes().unwrap(), 1656);
    assert_eq!(
        before.verify(&VerifyOptions::default(), |_| {}).unwrap().notes,
        [Note::TrailingBytes(1656)]
    );
    add(&mut store, b"x").unwrap();
    assert_eq!(BlpFile::new(&store).unwrap().trailing_bytes().unwrap(), 0);
}

/// A file changed by a program that does not lock: noticed before the first write.
#[test]
fn a_change_by_another_program_is_an_error_and_nothing_is_written() {
    /// Appends to the file while the data to be appended are read, as Bloscpack 0.16.0 would.
    struct Meddling<'a>(&'a std::path::Path, bool);

    impl io::Read for Meddling<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            if !core::mem::replace(&mut self.1, true) {
                let mut bytes = std::fs::read(self.0)?;
                bytes[16] += 1; // nchunks
                std::fs::write(self.0, bytes)?;
            }
            buf.fill(7);
            Ok(buf.len())
        }
    }

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.blp");
    let before = pack(&[1; 250], WriteOptions::default().chunksize(100)).unwrap();
    for durability in [Durability::PowerLoss, Durability::None] {
        std::fs::write(&path, &before).unwrap();
        let mut store = blosc_io::FileStore::open_rw(&path).unwrap();
        let options = AppendOptions::default().durability(durability);
        let result = append(&mut store, Meddling(&path, false), 333, &options);
        assert!(matches!(result, Err(Error::ChangedByOther { at: 16 })), "{result:?}");
        let error = result.unwrap_err();
        assert_eq!(error.blame(), Blame::Busy);
        assert_eq!(error.to_string(), "at byte 16: another program changed the file meanwhile");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_sequence_of_appends_gives_all_data(
        first in 0_usize..600,
        pieces in prop::collection::vec(0_usize..500, 0..6),
        chunksize in 1_u32..300,
        checksum in 0_u8..9,
        offsets in any::<bool>(),
        in_place in any::<bool>(),
    ) {
        let durability = if in_place { Durability::None } else { Durability::PowerLoss };
        let data = Kind::Mixed.bytes(first + pieces.iter().sum::<usize>());
        let options = WriteOptions::default()
            .chunksize(chunksize)
            .offsets(offsets)
            .checksum(Checksum::from_id(checksum).unwrap())
            .reserve(Reserve::Entries(4000));
        let mut store = store(&data[..first], options);
        let mut end = first;
        let append_options = AppendOptions::default().durability(durability).chunksize(chunksize);
        for piece in pieces {
            append(&mut store, &data[end..end + piece], piece as u64, &append_options).unwrap();
            end += piece;
            prop_assert_eq!(&unpack(store.as_bytes()).unwrap()[..], &data[..end]);
        }
        let file = BlpFile::new(&store).unwrap();
        let report = file.verify(&VerifyOptions::default(), |_| {}).unwrap();
        prop_assert!(report.is_ok() && report.notes.is_empty());
    }
}

#[test]
fn a_file_after_the_last_chunk_is_not_overwritten() {
    let first = store(&[1; 250], small()).as_bytes().to_vec();
    let chunk = first[first.len() - 60..].to_vec();
    let bare = blosc_chunk::compress(
        &[5; 300],
        &blosc_chunk::CParams::default().target(blosc_chunk::Target::Blosc1_14),
    );
    for (tail, what) in [
        (first.clone(), Some("another Bloscpack file")),
        (b"\x9e\xa8b2frame\0 and more".to_vec(), Some("a frame")),
        (b"\x93NUMPY\x01\0".to_vec(), Some("a file of another format")),
        (bare.unwrap(), Some("a chunk that is no part of it")),
        // Leftovers of an interrupted writer.
        (vec![0; 500], None),
        (chunk, None),
        (b"x".to_vec(), None),
    ] {
        let both = [&first[..], &tail].concat();
        let mut store = MemStore::new(both.clone());
        match (add(&mut store, b"x"), what) {
            (Err(Error::Param(Param::NotLast { what: found })), Some(what)) => {
                assert_eq!(found, what);
                assert_eq!(store.as_bytes(), both);
            }
            (Ok(_), None) => assert_eq!(unpack(store.as_bytes()).unwrap().len(), 251),
            (found, _) => panic!("{what:?}: {found:?}"),
        }
    }
}
