//! Archives with a damaged header, or a damaged entry of the directory: the values, whose bytes are
//! sound, are recovered, and the difference is reported.

use std::collections::BTreeMap;
use std::sync::Arc;

use b2frame::rescue::RescueOptions;
use b2store::rescue::Salvage;
use b2store::{Error, Note, OpenOptions, Store, WriteOptions};
use blosc_io::MemStore;
use blosc_testdata::fixture::path;

type Contents = BTreeMap<String, Vec<u8>>;

/// Archives of python-blosc2 and of other writers: with aligned data, with sums after the data,
/// with numbers of 64 bits. In those of other writers only every third bit is flipped.
const ARCHIVES: [(&str, usize); 4] = [
    ("tree-basic.b2z", 1),
    ("zip-aligned-embed-first.b2z", 3),
    ("zip-streamed-comment-prefix.b2z", 3),
    ("zip-zip64-extra.b2z", 3),
];

fn bytes_of(name: &str) -> Vec<u8> {
    std::fs::read(path("stores").join(name)).unwrap()
}

fn open(bytes: &[u8]) -> Result<Store, Error> {
    Store::from_store(Arc::new(MemStore::new(bytes.to_vec())), &OpenOptions::default())
}

fn salvage(bytes: &[u8]) -> Result<Salvage, Error> {
    let store = Arc::new(MemStore::new(bytes.to_vec()));
    Salvage::from_store(store, &OpenOptions::default(), &RescueOptions::default())
}

/// The decoded bytes of every readable frame.
fn contents(store: &Store) -> Contents {
    let content = |key: &str| {
        let frame = store.frame(key).ok()?;
        let chunks = (0..frame.nchunks()).map(|nchunk| frame.decode_chunk(nchunk));
        Some((key.to_owned(), chunks.collect::<Result<Vec<_>, _>>().ok()?.concat()))
    };
    store.keys().filter_map(content).collect()
}

/// As [`contents`], of a salvage.
fn saved_contents(saved: &Salvage) -> Contents {
    let content = |key: &String| {
        let frame = saved.schunk(key, &b2frame::OpenOptions::default())?.ok()?;
        let chunks = (0..frame.nchunks()).map(|nchunk| frame.decode_chunk(nchunk));
        Some((key.clone(), chunks.collect::<Result<Vec<_>, _>>().ok()?.concat()))
    };
    saved.values.iter().filter_map(|value| content(&value.key)).collect()
}

fn is_told(store: &Store) -> bool {
    store.notes().iter().any(|note| matches!(note, Note::Header { .. }))
}

/// The positions of records of a kind, and their lengths up to the end of their name.
fn records(bytes: &[u8], signature: [u8; 4], name_at: usize, nbytes: usize) -> Vec<(usize, usize)> {
    let starts = (0..bytes.len() - 4).filter(|at| bytes[*at..].starts_with(&signature));
    let name_len = |at: usize| usize::from(bytes[at + name_at]);
    starts.map(|at| (at, nbytes + name_len(at))).collect()
}

fn local_headers(bytes: &[u8]) -> Vec<(usize, usize)> {
    records(bytes, *b"PK\x03\x04", 26, 30)
}

/// Flips bits of some records, and passes on the byte in the record.
fn for_each_flip(
    bytes: &[u8],
    records: &[(usize, usize)],
    step: usize,
    mut look: impl FnMut(usize, &[u8]),
) {
    let mut damaged = bytes.to_vec();
    for (start, len) in records {
        for bit in (0..len * 8).step_by(step) {
            damaged[start + bit / 8] ^= 1 << (bit % 8);
            look(bit / 8, &damaged);
            damaged[start + bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn every_flipped_bit_of_a_local_header_leaves_all_values_and_is_told() {
    for (name, step) in ARCHIVES {
        let bytes = bytes_of(name);
        let original = contents(&open(&bytes).unwrap());
        for_each_flip(&bytes, &local_headers(&bytes), step, |byte, damaged| {
            let store = open(damaged).unwrap_or_else(|error| panic!("{name}, {byte}: {error}"));
            assert!(contents(&store) == original, "{name}, byte {byte}");
            // Changes of the version and the time have no effect.
            let is_silent = (4..6).contains(&byte) || (10..14).contains(&byte);
            assert_eq!(is_told(&store), !is_silent, "{name}, byte {byte}: {:?}", store.notes());
        });
    }
}

#[test]
fn every_flipped_bit_of_a_header_or_an_entry_leaves_all_values_to_rescue() {
    for (name, step) in ARCHIVES {
        let bytes = bytes_of(name);
        let original = contents(&open(&bytes).unwrap());
        let mut values: Vec<&Vec<u8>> = original.values().collect();
        values.sort();
        let entries = records(&bytes, *b"PK\x01\x02", 28, 46);
        for (records, is_local) in [(local_headers(&bytes), true), (entries, false)] {
            for_each_flip(&bytes, &records, step, |byte, damaged| {
                let saved = salvage(damaged).unwrap();
                let found = saved_contents(&saved);
                let mut found_values: Vec<&Vec<u8>> = found.values().collect();
                found_values.sort();
                assert!(found_values == values, "{name}, byte {byte}: {saved:?}");
                // A name that changed in the directory is the key, and is reported.
                let is_renamed = !is_local && byte >= 46;
                assert!(is_renamed || found == original, "{name}, byte {byte}: {saved:?}");
                assert!(found == original || !saved.is_complete(), "{name}, byte {byte}");
                assert!(saved.values.iter().all(|value| !value.is_lost), "{saved:?}");
            });
        }
    }
}

#[test]
fn every_flipped_bit_of_an_entry_is_refused_or_told_or_changes_nothing() {
    for (name, step) in ARCHIVES {
        let bytes = bytes_of(name);
        let original = contents(&open(&bytes).unwrap());
        let entries = records(&bytes, *b"PK\x01\x02", 28, 46);
        for_each_flip(&bytes, &entries, step, |byte, damaged| {
            let Ok(store) = open(damaged) else { return };
            let found = contents(&store);
            // An unreadable value has an error.
            let is_refused = found.len() < store.keys().len();
            let is_told = found == original || is_refused || is_told(&store);
            assert!(is_told, "{name}, byte {byte}: {:?}", store.notes());
        });
    }
}

#[test]
fn what_a_zeroed_piece_takes_is_named_and_all_else_comes_back() {
    for (name, step) in ARCHIVES {
        let bytes = bytes_of(name);
        let original = contents(&open(&bytes).unwrap());
        for start in (0..bytes.len()).step_by(64 * step) {
            let mut damaged = bytes.clone();
            let end = bytes.len().min(start + 512);
            damaged[start..end].fill(0);
            let Ok(saved) = salvage(&damaged) else { continue };
            let found = saved_contents(&saved);
            let is_embedded = saved.damage.contains(&b2store::rescue::Damage::Embedded);
            for (key, content) in &original {
                let value = saved.values.iter().find(|value| value.key == *key);
                let Some(value) = value else {
                    // Its header and its entry are both gone.
                    let path = format!("{}.b2", &key[1..]);
                    let mut parts = damaged.windows(path.len());
                    let is_gone = !parts.any(|part| part == path.as_bytes());
                    assert!(is_embedded || is_gone, "{name}, {start}: {key} is not named");
                    continue;
                };
                let is_whole = found.get(key) == Some(content);
                assert!(is_whole || !value.is_complete(), "{name}, {start}: {value:?}");
            }
        }
    }
}

#[test]
fn a_rescued_store_is_the_old_one_and_needs_no_rescue() {
    let bytes = bytes_of("tree-basic.b2z");
    let original = contents(&open(&bytes).unwrap());
    let dir = tempfile::tempdir().unwrap();
    for (number, (start, len)) in local_headers(&bytes).into_iter().enumerate() {
        let mut damaged = bytes.clone();
        damaged[start..start + len].fill(0);
        let store = open(&damaged);
        assert!(store.is_ok_and(|store| is_told(&store) && contents(&store) == original));
        let mut saved = salvage(&damaged).unwrap();
        let to = dir.path().join(format!("{number}.b2z"));
        let store = saved.save(&to, &WriteOptions::default()).unwrap();
        assert!(store.notes().is_empty() && contents(&store) == original);
        assert!(salvage(&std::fs::read(&to).unwrap()).unwrap().is_complete());
    }
}

#[test]
fn members_that_share_bytes_are_refused_whatever_their_headers_say() {
    let bytes = bytes_of("tree-basic.b2z");
    let entries = records(&bytes, *b"PK\x01\x02", 28, 46);
    // Each entry points to the header of the previous one.
    for pair in entries.windows(2) {
        let mut shared = bytes.clone();
        let other = bytes[pair[0].0 + 42..][..4].to_vec();
        shared[pair[1].0 + 42..][..4].copy_from_slice(&other);
        assert!(matches!(open(&shared), Err(Error::Zip(_))));
        // Or one member has all bytes up to the directory.
        let mut long = bytes.clone();
        let nbytes = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        for start in [pair[0].0 + 20, pair[0].0 + 24] {
            long[start..][..4].copy_from_slice(&nbytes);
        }
        let local = usize::from_le_bytes([other.as_slice(), &[0; 4]].concat().try_into().unwrap());
        for start in [local + 18, local + 22] {
            long[start..][..4].copy_from_slice(&nbytes);
        }
        assert!(matches!(open(&long), Err(Error::Zip(_))));
    }
}
