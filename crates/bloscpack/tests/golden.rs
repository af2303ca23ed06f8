//! Files of every release of Bloscpack and of every kind, compared with their known data.

use core::num::NonZeroUsize;
use std::io::Read;

use blosc_chunk::Threads;
use blosc_io::MemStore;
use blosc_testdata::{fixture, sha256_hex};
use bloscpack::numpy::{Order, pack_array, unpack_array};
use bloscpack::{
    BlpFile, Budget, Header, PackedChunk, ReadOptions, Reader, Result, WriteOptions,
    params::RcHeader, report::VerifyOptions,
};
use serde_json::Value;

/// The files with their expected contents.
fn expected() -> Vec<Value> {
    serde_json::from_slice(&fixture::read("bloscpack/expected.json").unwrap()).unwrap()
}

fn name(expected: &Value) -> &str {
    expected["file"].as_str().unwrap()
}

fn bytes(expected: &Value) -> Vec<u8> {
    fixture::read(format!("bloscpack/{}", name(expected))).unwrap()
}

/// The files that can be read, with their bytes and the options that forward reading needs.
fn readable() -> Vec<(Value, Vec<u8>, ReadOptions)> {
    let with_options = |expected: Value| {
        let rc = if expected["format_version"] == 0 { RcHeader::Assume } else { RcHeader::Never };
        let bytes = bytes(&expected);
        (expected, bytes, ReadOptions::default().rc_header(rc))
    };
    expected()
        .into_iter()
        .filter(|expected| expected["error"].is_null())
        .map(with_options)
        .collect()
}

fn check_data(expected: &Value, data: &[u8], how: &str) {
    assert_eq!(expected["raw"]["nbytes"], data.len(), "{} {how}", name(expected));
    assert_eq!(expected["raw"]["sha256"], sha256_hex(data), "{} {how}", name(expected));
}

#[test]
fn every_file_is_listed() {
    assert_eq!(expected().len(), 129);
    let files = std::fs::read_dir(fixture::path("bloscpack")).unwrap();
    let is_blp =
        |path: &std::path::PathBuf| path.extension().is_some_and(|extension| extension == "blp");
    assert_eq!(files.map(|file| file.unwrap().path()).filter(is_blp).count(), 129);
}

#[test]
fn reading_forward_gives_the_data() {
    for (expected, bytes, options) in readable() {
        for threads in [Threads::One, Threads::N(NonZeroUsize::new(3).unwrap())] {
            let mut reader = Reader::with_options(
                &bytes[..],
                options.clone().budget(Budget::default().threads(threads)),
            )
            .unwrap();
            let mut data = vec![];
            reader.read_to_end(&mut data).unwrap();
            check_data(&expected, &data, "forward");
            let trailing = bytes.len() as u64 - reader.position();
            assert_eq!(expected["trailing_bytes"], trailing, "{}", name(&expected));
        }
    }
}

#[test]
fn random_access_gives_the_data() {
    for (expected, bytes, _) in readable() {
        let file = BlpFile::new(MemStore::new(bytes)).unwrap();
        let chunks = (0..file.nchunks().unwrap()).rev().map(|nchunk| file.chunk(nchunk).unwrap());
        let mut chunks: Vec<Vec<u8>> = chunks.collect();
        chunks.reverse();
        let whole = chunks.concat();
        check_data(&expected, &whole, "by chunk");
        assert_eq!(file.nbytes().unwrap(), whole.len() as u64);
        assert_eq!(
            expected["trailing_bytes"],
            file.trailing_bytes().unwrap(),
            "{}",
            name(&expected)
        );
        check_parts(&file, &whole);
        let mut data = vec![];
        file.reader().read_to_end(&mut data).unwrap();
        check_data(&expected, &data, "by cursor");
        assert!(file.verify(&VerifyOptions::default(), |_| {}).unwrap().is_ok());
    }
}

fn check_parts(file: &BlpFile<MemStore>, whole: &[u8]) {
    let n = whole.len();
    for (start, len) in [(0, 1), (n / 3, n / 2), (n.saturating_sub(5), 10), (n, 3)] {
        let mut part = vec![0; len];
        let read = file.read_at(start as u64, &mut part).unwrap();
        assert_eq!(part[..read], whole[start..(start + len).min(n)]);
    }
}

#[test]
fn header_fields_are_as_expected() {
    for (expected, bytes, options) in readable() {
        let reader = Reader::with_options(&bytes[..], options).unwrap();
        let header = reader.header();
        assert_eq!(expected["format_version"], header.version().number());
        assert_eq!(expected["nchunks"], signed(header.nchunks()));
        if header.version().number() >= 2 {
            check_header(&expected, header);
        }
        if header.version().number() == 3 {
            assert_eq!(header.to_bytes()[..], bytes[..32], "{}", name(&expected));
        }
    }
}

fn check_header(expected: &Value, header: &Header) {
    assert_eq!(expected["offsets_present"], header.has_offsets());
    assert_eq!(expected["metadata_present"], header.has_metadata());
    assert_eq!(expected["checksum"], header.checksum().name());
    assert_eq!(expected["typesize"], header.typesize().unwrap());
    assert_eq!(expected["chunk_size"], signed(header.chunksize().map(u64::from)));
    assert_eq!(expected["last_chunk"], signed(header.last_chunk().map(u64::from)));
    assert_eq!(expected["max_app_chunks"], header.max_app_chunks());
}

fn signed(field: Option<u64>) -> i64 {
    field.map_or(-1, |value| i64::try_from(value).unwrap())
}

#[test]
fn metadata_are_as_expected() {
    for (expected, bytes, options) in readable() {
        let reader = Reader::with_options(&bytes[..], options).unwrap();
        let Some(metadata) = reader.metadata() else {
            assert!(expected["metadata"].is_null(), "{}", name(&expected));
            continue;
        };
        assert_eq!(metadata.json(), Some(&expected["metadata"]));
        assert_eq!(expected["metadata_text"], core::str::from_utf8(metadata.text()).unwrap());
        let (header, fields) = (metadata.header(), &expected["metadata_header"]);
        assert_eq!(fields["magic_format"], core::str::from_utf8(header.format_name()).unwrap());
        assert_eq!(fields["meta_checksum"], header.checksum().name());
        assert_eq!(fields["meta_codec"], header.codec().name());
        assert_eq!(fields["meta_level"], header.clevel());
        assert_eq!(fields["meta_size"], header.meta_size());
        assert_eq!(fields["max_meta_size"], header.max_meta_size());
        assert_eq!(fields["meta_comp_size"], header.meta_comp_size());
    }
}

#[test]
fn offsets_and_chunks_are_as_expected() {
    for (expected, bytes, options) in readable() {
        let mut reader = Reader::with_options(&bytes[..], options).unwrap();
        if let Some(offsets) = reader.offsets() {
            let unset = vec![-1; usize::try_from(offsets.len()).unwrap()];
            let set = |positions: &[u64]| {
                positions.iter().map(|at| i64::try_from(*at).unwrap()).collect()
            };
            assert_eq!(expected["offsets"], Value::from(offsets.positions().map_or(unset, set)));
            assert_eq!(expected["offsets_reserved"], offsets.reserved());
        }
        let mut chunks = expected["chunks"].as_array().unwrap().iter();
        while let Some(chunk) = reader.next_chunk().unwrap() {
            check_chunk(chunks.next().unwrap(), &chunk);
        }
        assert!(chunks.next().is_none());
    }
}

fn check_chunk(expected: &Value, chunk: &PackedChunk) {
    let header = chunk.header();
    assert_eq!(expected["offset"], chunk.position());
    assert_eq!(expected["ctbytes"], chunk.bytes().len());
    assert_eq!(expected["nbytes"], header.nbytes());
    assert_eq!(expected["blocksize"], header.blocksize());
    assert_eq!(expected["typesize"], header.typesize());
    assert_eq!(expected["flags"], header.flags().0);
    assert_eq!(expected["digest"].as_str().unwrap_or_default(), chunk.digest().to_string());
}

#[test]
fn an_interrupted_writer_leaves_a_truncated_file() {
    let aborted = expected().into_iter().find(|expected| !expected["error"].is_null()).unwrap();
    assert_eq!(
        (name(&aborted), &aborted["error"]),
        ("synth_v3_aborted.blp", &Value::from("truncated"))
    );
    let bytes = bytes(&aborted);
    let error = Reader::new(&bytes[..]).unwrap().read_to_end(&mut vec![]).unwrap_err();
    assert_eq!(error.to_string(), "at byte 296: the file ends after 0 of 3 chunks");
    let error = BlpFile::new(MemStore::new(bytes)).unwrap_err();
    assert_eq!(error.to_string(), "at byte 296: chunk of 60 bytes, 0 are left");
}

#[test]
fn chunks_are_decoded_in_order_whatever_the_threads() {
    let (expected, bytes, _) =
        readable().into_iter().find(|(e, _, _)| name(e) == "real_odd_size.blp").unwrap();
    for threads in [Threads::One, Threads::Auto, Threads::N(NonZeroUsize::new(2).unwrap())] {
        let options =
            ReadOptions::default().budget(Budget::default().threads(threads).max_memory(4000));
        let file = BlpFile::with_options(MemStore::new(bytes.clone()), options).unwrap();
        let (mut data, mut numbers) = (vec![], vec![]);
        let append = |nchunk, part: &[u8]| -> Result<()> {
            numbers.push(nchunk);
            data.extend_from_slice(part);
            Ok(())
        };
        file.decode_ordered(0..file.nchunks().unwrap(), file.options().budget.clone(), append)
            .unwrap();
        check_data(&expected, &data, "in order");
        assert_eq!(numbers, (0..11).collect::<Vec<u64>>());
    }
}

#[test]
fn all_files_are_copied_whatever_the_threads() {
    for (expected, bytes, options) in readable() {
        for threads in [1, 2, 3, 8] {
            let options = options.clone().budget(Budget {
                threads: Threads::N(NonZeroUsize::new(threads).unwrap()).into(),
                ..Budget::default()
            });
            let file = BlpFile::with_options(MemStore::new(bytes.clone()), options).unwrap();
            let mut data = vec![];
            let written = file.copy_to(0..file.nchunks().unwrap(), &mut data).unwrap();
            assert_eq!(written, data.len() as u64);
            check_data(&expected, &data, "copied");
        }
    }
}

#[test]
fn arrays_have_the_items_that_numpy_gives() {
    let mut found = 0;
    for (expected, bytes, _) in readable() {
        let described = &expected["ndarray"];
        if described.is_null() {
            let result = unpack_array(&bytes);
            // One file has the metadata of another array.
            assert!(result.is_err(), "{}", name(&expected));
            continue;
        }
        let array = unpack_array(&bytes).unwrap();
        let info = array.info();
        assert_eq!(described["shape"], serde_json::json!(info.shape()), "{}", name(&expected));
        assert_eq!(described["order"], if info.order() == Order::C { "C" } else { "F" });
        assert_eq!(described["itemsize"], info.dtype().itemsize());
        let c_order = array.clone().into_c_order();
        assert_eq!(described["c_order_sha256"], sha256_hex(c_order.data()), "{}", name(&expected));
        let again = pack_array(&array, WriteOptions::default()).unwrap();
        assert_eq!(unpack_array(&again).unwrap(), array);
        found += 1;
    }
    assert_eq!(found, 31);
}
