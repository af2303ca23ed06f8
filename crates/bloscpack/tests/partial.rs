//! Reading a part of a file: the same data as a slice of the whole, and only the needed bytes of
//! the file.

use blosc_chunk::{CodecId, Level};
use blosc_io::testing::CountingStore;
use blosc_io::{MemStore, ReadAt, Stamp};
use bloscpack::{BlpFile, Budget, Checksum, Error, Mismatch, ReadOptions, WriteOptions, pack};

/// A store that lends no bytes, like a file.
struct NotInMemory(MemStore);

impl ReadAt for NotInMemory {
    fn len(&self) -> std::io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> std::io::Result<usize> {
        self.0.read_at(at, buf)
    }

    fn stamp(&self) -> Option<Stamp> {
        None
    }
}

type Counted = CountingStore<NotInMemory>;

fn counted(bytes: Vec<u8>) -> Counted {
    CountingStore::new(NotInMemory(MemStore::new(bytes)))
}

/// 6,000,000 bytes that compress a little.
fn data() -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 18
    };
    (0..1_500_000).flat_map(|_| next().to_le_bytes()).collect()
}

fn options(checksum: Checksum, clevel: u8) -> WriteOptions {
    let cparams = WriteOptions::default().cparams.codec(CodecId::LZ4).typesize(4);
    let cparams = cparams.clevel(Level::try_from(clevel).unwrap()).blocksize(Some(32 << 10));
    WriteOptions::default().checksum(checksum).chunksize(1 << 20).cparams(cparams)
}

fn ignore_digests() -> ReadOptions {
    ReadOptions::default().mismatch(Mismatch::Ignore)
}

/// Reads a few ranges, and returns the most bytes that a short one took.
fn check_parts(file: &BlpFile<&Counted>, store: &Counted, data: &[u8]) -> u64 {
    let mut most = 0;
    for (start, len) in [
        (0, 1),
        (5_999_999, 1),
        (1_048_570, 20),
        (3_000_001, 100),
        (2_097_152, 70_000),
        (1_000_000, 4_000_000),
        (0, 6_000_000),
    ] {
        store.reset();
        let mut part = vec![0xee; len];
        assert_eq!(file.read_at(start as u64, &mut part).unwrap(), len);
        assert!(part == data[start..start + len], "{start} {len}");
        if len < 50 {
            most = most.max(store.bytes());
        }
    }
    let mut end = [0xee; 20];
    assert_eq!(file.read_at(5_999_990, &mut end).unwrap(), 10);
    assert_eq!(end[..10], data[5_999_990..]);
    assert_eq!(file.read_at(6_000_000, &mut end).unwrap(), 0);
    most
}

#[test]
fn ranges_are_slices_of_the_whole() {
    let data: Vec<u8> = (0..1_500_000_u32).flat_map(u32::to_le_bytes).collect();
    let blp = pack(&data, WriteOptions::default().chunksize(1_000_000)).unwrap();
    let file = BlpFile::new(MemStore::new(blp)).unwrap();
    for range in [0..6_000_000, 0..1, 17..5_000_017, 999_999..1_000_001, 1_999_999..5_999_999, 5..5]
    {
        let mut found = vec![];
        let each = |bytes: &[u8]| {
            found.extend_from_slice(bytes);
            Ok::<(), Error>(())
        };
        file.decode_range(range.clone(), Budget::default(), each).unwrap();
        let expected =
            &data[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
        assert!(found == expected, "{range:?}");
    }
}

#[test]
fn only_the_needed_blocks_are_read_where_no_digest_is_checked() {
    let data = data();
    for (checksum, read) in [
        (Checksum::None, ReadOptions::default()),
        (Checksum::None, ignore_digests()),
        (Checksum::Sha256, ignore_digests()),
    ] {
        for clevel in [0, 5] {
            let store = counted(pack(&data, options(checksum, clevel)).unwrap());
            let file = BlpFile::with_options(&store, read.clone()).unwrap();
            let most = check_parts(&file, &store, &data);
            assert!(most < 150_000, "{checksum} {clevel}: {most}");
        }
    }
}

#[test]
fn whole_chunks_are_read_where_digests_are_checked() {
    let data = data();
    let store = counted(pack(&data, options(Checksum::Crc32, 5)).unwrap());
    let file = BlpFile::new(&store).unwrap();
    assert!(check_parts(&file, &store, &data) > 300_000);
}

#[test]
fn a_wrong_digest_is_found_by_a_partial_read_that_checks_digests() {
    let data = data();
    let mut blp = pack(&data, options(Checksum::Crc32, 5)).unwrap();
    let last = blp.len() - 1;
    blp[last] ^= 1;
    let read = |options: ReadOptions| {
        BlpFile::with_options(counted(blp.clone()), options)
            .unwrap()
            .read_at(5_999_000, &mut [0; 9])
    };
    assert!(matches!(read(ReadOptions::default()), Err(Error::Corrupt { .. })));
    assert_eq!(read(ignore_digests()).unwrap(), 9);
}

#[test]
fn damage_has_the_same_error_in_partial_and_whole_reads() {
    let data = data();
    let blp = pack(&data, options(Checksum::None, 5)).unwrap();
    let at = BlpFile::new(MemStore::new(blp.clone())).unwrap().position(3).unwrap();
    let at = usize::try_from(at).unwrap();
    // Version, data, block size, length, and the first block start of chunk 3.
    for (offset, value) in
        [(0, 5), (0, 1), (4, 7), (8, 1), (9, 0xff), (12, 3), (15, 0x7f), (19, 0x7f)]
    {
        let mut bytes = blp.clone();
        bytes[at + offset] = value;
        let file = BlpFile::new(counted(bytes)).unwrap();
        let whole = file.chunk(3).map(drop).map_err(|error| format!("{error:?}"));
        let mut part = [0; 50];
        let found = file.read_at(3 << 20, &mut part).map(drop);
        assert_eq!(found.map_err(|error| format!("{error:?}")), whole, "{offset} {value}");
    }
    let cut = blp.len() - 5;
    let file = BlpFile::new(counted(blp[..cut].to_vec())).unwrap();
    let whole = file.chunk(5).unwrap_err();
    let part = file.read_at(5_999_990, &mut [0; 10]).unwrap_err();
    assert_eq!(format!("{part:?}"), format!("{whole:?}"));
}
