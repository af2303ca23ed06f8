//! Frames of the 2.0.0 betas: every sample against its sidecar, every check of the format document,
//! conversion.

use b2frame::{
    Budget, EditOptions, Error, SChunk, SChunkWriter,
    error::{Blame, Corrupt, OlderCorrupt, Param},
    frames::read_frame,
    header::{ChunkSize, FrameLayout},
    report::VerifyOptions,
};
use blosc_io::MemStore;
use serde_json::Value;

/// All samples, with their layouts.
const SAMPLES: &[(&str, FrameLayout)] = &[
    ("beta1-blosclz-shuffle-i4", FrameLayout::Beta1),
    ("beta1-lz4-shuffle-i8-meta", FrameLayout::Beta1),
    ("beta1-zstd-bitshuffle-i4", FrameLayout::Beta1),
    ("beta2-blosclz-shuffle-i4", FrameLayout::Beta2),
    ("beta2-lz4-shuffle-i8-meta-usermeta", FrameLayout::Beta2),
    ("beta3-zstd-bitshuffle-i4-meta-usermeta", FrameLayout::Beta2),
    ("beta4-zlib-shuffle-i2", FrameLayout::Beta2),
    ("beta5-blosclz-multiblock-mt-f8", FrameLayout::Beta2),
    ("beta5-blosclz-nofilter-text", FrameLayout::Beta2),
    ("beta5-clevel0", FrameLayout::Beta2),
    ("beta5-empty", FrameLayout::Beta2),
    ("beta5-empty-meta-usermeta", FrameLayout::Beta2),
    ("beta5-lizard", FrameLayout::Beta2),
    ("beta5-lz4-delta-only-u1", FrameLayout::Beta2),
    ("beta5-lz4-multiblock-rec12", FrameLayout::Beta2),
    ("beta5-lz4-truncprec-shuffle-f4", FrameLayout::Beta2),
    ("beta5-lz4hc-delta-shuffle-i8", FrameLayout::Beta2),
    ("beta5-many-chunks", FrameLayout::Beta2),
    ("beta5-toframe-lz4-i4", FrameLayout::Beta2),
    ("beta5-toframe-lz4-i4-usermeta", FrameLayout::Beta2),
    ("beta5-zstd-dict-i4", FrameLayout::Beta2),
    ("beta5-zstd-rand-memcpyed", FrameLayout::Beta2),
    ("beta5-zstd-zeros", FrameLayout::Beta2),
    ("rc1-cframe-holes", FrameLayout::Current),
    ("untagged-2021-01-le", FrameLayout::SwappedBeta2),
    ("untagged-2021-02-vlmeta", FrameLayout::Beta2VlMeta),
    ("v2.23-cframe-holes", FrameLayout::Current),
];

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(blosc_testdata::fixture::path(format!("frames/legacy/{name}.b2frame"))).unwrap()
}

/// A sample and its sidecar.
fn open(name: &str) -> (SChunk, Value) {
    let path = blosc_testdata::fixture::path(format!("frames/legacy/{name}.b2frame"));
    let schunk = SChunk::open(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let sidecar = blosc_testdata::fixture::path(format!("frames/legacy/{name}.json"));
    (schunk, serde_json::from_slice(&std::fs::read(sidecar).unwrap()).unwrap())
}

fn data(schunk: &SChunk) -> Result<Vec<u8>, Error> {
    let mut data = vec![];
    schunk.decode_ordered(0..schunk.nchunks(), &Budget::default(), |_, bytes| {
        data.extend_from_slice(bytes);
        Ok::<(), Error>(())
    })?;
    Ok(data)
}

/// Whether a content matches its sidecar: a hash, text, or hexadecimal digits.
fn is(content: &[u8], expected: &Value) -> bool {
    let hex = || content.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let checks = [
        expected["ascii"].as_str().map(|text| text.as_bytes() == content),
        expected["hex"].as_str().map(|text| text == hex()),
        expected["sha256"].as_str().map(|text| text == blosc_testdata::sha256_hex(content)),
    ];
    assert!(checks.iter().any(Option::is_some), "{expected}");
    checks.into_iter().flatten().all(|check| check)
}

#[test]
fn headers_are_what_the_sidecars_say() {
    for (name, layout) in SAMPLES {
        let (schunk, sidecar) = open(name);
        let header = schunk.header();
        assert_eq!(schunk.layout(), *layout, "{name}");
        let flags = format!("{:#04x}", header.flags().0);
        assert_eq!(flags, sidecar["general_flags"], "{name}");
        assert_eq!(header.header_len(), sidecar["header_len"], "{name}");
        assert_eq!(schunk.frame_len(), sidecar["frame_len"], "{name}");
        assert_eq!(schunk.trailer_len(), sidecar["trailer_len"].as_u64().unwrap_or(0), "{name}");
        assert_eq!(schunk.nbytes(), sidecar["nbytes"], "{name}");
        assert_eq!(schunk.cbytes(), sidecar["cbytes"], "{name}");
        assert_eq!(schunk.typesize(), sidecar["typesize"], "{name}");
        let codec = format!("{:#04x}", header.clevel() << 4 | header.codec());
        assert_eq!(codec, sidecar["codec_byte"], "{name}");
        match sidecar["chunk_size"].as_u64() {
            Some(0) => assert_eq!(schunk.chunksize(), ChunkSize::Unset, "{name}"),
            size => assert_eq!(schunk.chunksize().fixed().map(u64::from), size, "{name}"),
        }
        let filters = schunk.cparams().filters;
        let names: Vec<_> = filters.active().map(|slot| slot.id.name().unwrap()).collect();
        if let Some(stored) = sidecar["filters"].as_array() {
            let stored: Vec<_> = stored.iter().filter(|name| *name != "nofilter").collect();
            assert_eq!(names, stored, "{name}");
        } else {
            // beta.1 does not store filters; the names of these samples tell them.
            assert!(name.contains(names[0]), "{name}: {names:?}");
        }
    }
}

#[test]
fn chunks_and_metadata_are_what_the_sidecars_say() {
    for (name, _) in SAMPLES {
        let (schunk, sidecar) = open(name);
        assert_eq!(schunk.nchunks(), sidecar["nchunks"], "{name}");
        assert_eq!(
            schunk.index_len(),
            sidecar["index_chunk_cbytes"].as_u64().unwrap_or(0),
            "{name}"
        );
        // Of many offsets, the sidecar has the first and the last.
        let offsets = sidecar["offsets"].as_array().unwrap();
        let gap = offsets.iter().position(|offset| offset == "...").unwrap_or(offsets.len());
        let last = offsets.iter().rev().take(offsets.len().saturating_sub(gap + 1));
        let (first, last) = ((0..).zip(&offsets[..gap]), (0..schunk.nchunks()).rev().zip(last));
        for (nchunk, offset) in first.chain(last) {
            let stored = schunk.chunk_info(nchunk).unwrap().offset;
            let offset = offset.as_u64().map(|at| at + u64::from(schunk.header().header_len()));
            assert_eq!(stored, offset, "{name}, chunk {nchunk}");
        }
        let layers = sidecar["metalayers"].as_object().unwrap();
        assert_eq!(schunk.meta().len(), layers.len(), "{name}");
        for (layer, expected) in layers {
            assert!(is(schunk.meta().get(layer).unwrap().content, expected), "{name}, {layer}");
        }
        let mut vlmeta = 0;
        for (layer, expected) in sidecar["vlmetalayers"].as_object().into_iter().flatten() {
            assert!(is(&schunk.vlmeta().get(layer).unwrap().unwrap(), expected), "{name}, {layer}");
            vlmeta += 1;
        }
        if !sidecar["usermeta"].is_null() {
            let usermeta = schunk.vlmeta().get("usermeta").unwrap().unwrap();
            assert_eq!(usermeta.len(), sidecar["usermeta"]["nbytes"], "{name}");
            assert!(is(&usermeta, &sidecar["usermeta"]), "{name}");
            vlmeta += 1;
        }
        assert_eq!(schunk.vlmeta().len(), vlmeta, "{name}");
    }
}

#[test]
fn data_are_what_the_sidecars_say() {
    for (name, _) in SAMPLES {
        let (schunk, sidecar) = open(name);
        match data(&schunk) {
            Ok(data) => {
                assert_eq!(sidecar["expect"], "ok", "{name}");
                assert_eq!(data.len(), sidecar["raw_nbytes"], "{name}");
                assert_eq!(blosc_testdata::sha256_hex(&data), sidecar["raw_sha256"], "{name}");
                assert!(schunk.verify(&VerifyOptions::default(), |_| {}).is_ok(), "{name}");
            }
            Err(error) => {
                assert_eq!(sidecar["expect"], "unsupported-codec", "{name}: {error}");
                assert_eq!(error.blame(), Blame::NotOurs, "{name}");
            }
        }
    }
}

#[test]
fn converted_frames_have_the_same_content() {
    for (name, _) in SAMPLES.iter().filter(|(name, _)| !name.contains("lizard")) {
        let (old, _) = open(name);
        let new = SChunk::from_cframe(old.to_cframe().unwrap()).unwrap();
        assert_eq!(new.layout(), FrameLayout::Current, "{name}");
        assert_eq!(data(&new).unwrap(), data(&old).unwrap(), "{name}");
        assert_eq!((new.nchunks(), new.typesize()), (old.nchunks(), old.typesize()), "{name}");
        assert_eq!(new.cparams().filters, old.cparams().filters, "{name}");
        let layers = |schunk: &SChunk| -> Vec<_> {
            schunk
                .meta()
                .iter()
                .map(|layer| (layer.name.to_vec(), layer.content.to_vec()))
                .collect()
        };
        assert_eq!(layers(&new), layers(&old), "{name}");
        let vlmeta = |schunk: &SChunk| -> Vec<_> {
            let all = schunk.vlmeta().stored().iter();
            all.map(|layer| (layer.name.to_vec(), schunk.vlmeta().decode(layer).unwrap())).collect()
        };
        assert_eq!(vlmeta(&new), vlmeta(&old), "{name}");
    }
}

#[test]
fn older_frames_cannot_be_changed() {
    for (name, layout) in SAMPLES.iter().filter(|(_, layout)| *layout != FrameLayout::Current) {
        let store = Box::new(MemStore::new(bytes(name)));
        let error = SChunkWriter::open_in(store, &EditOptions::default()).unwrap_err();
        let refused = |param: &Param| *param == Param::OlderLayout { layout: *layout };
        assert!(matches!(&error, Error::Param(param) if refused(param)), "{name}: {error}");
    }
}

#[test]
fn bytes_after_the_frame_are_ignored() {
    let mut file = bytes("beta2-lz4-shuffle-i8-meta-usermeta");
    file.extend([0xaa; 100]);
    let store = std::sync::Arc::new(MemStore::new(file));
    assert_eq!(SChunk::from_store(store).unwrap().vlmeta().len(), 1);
}

#[test]
fn frames_are_cut_out_of_a_stream() {
    for (name, _) in SAMPLES {
        let file = bytes(name);
        let stream = [&file[..], &file[..]].concat();
        let frame = read_frame(&mut &stream[..], 1 << 20).unwrap().unwrap();
        assert_eq!(frame, file, "{name}");
    }
}

/// The annotated sample with some bytes replaced.
fn patched(name: &str, at: usize, patch: &[u8]) -> Error {
    let mut frame = bytes(name);
    frame[at..at + patch.len()].copy_from_slice(patch);
    SChunk::from_cframe(frame).expect_err("was opened")
}

const ANNOTATED: &str = "beta5-empty-meta-usermeta";
const WITH_DATA: &str = "beta5-toframe-lz4-i4";

/// The text of the error of opening.
fn text(name: &str, at: usize, patch: &[u8]) -> String {
    patched(name, at, patch).to_string()
}

#[test]
fn the_malformed_examples_are_refused() {
    let be = u32::to_be_bytes;
    assert_eq!(
        text(ANNOTATED, 150, &be(u32::MAX)),
        "at byte 150: the usermeta has 4294967295 bytes, the trailer has room for 139"
    );
    assert_eq!(
        text(ANNOTATED, 150, &be(140)),
        "at byte 150: the usermeta has 140 bytes, the trailer has room for 139"
    );
    assert_eq!(text(ANNOTATED, 294, &be(29)), "at byte 294: trailer_len is 29, outside 30..=169");
    assert_eq!(text(ANNOTATED, 294, &be(317)), "at byte 294: trailer_len is 317, outside 30..=169");
    assert_eq!(
        text(ANNOTATED, 293, &[0xcd]),
        "at byte 293: trailer_len has the marker 0xcd, it is always 0xce"
    );
    assert_eq!(text(ANNOTATED, 65, &[9]), "at byte 65: 9 filter slots, at most 6");
    assert_eq!(text(ANNOTATED, 11, &be(91)), "at byte 11: header_len is 91, outside 92..=316");
    assert_eq!(text(ANNOTATED, 11, &be(148)), "at byte 294: trailer_len is 169, outside 30..=168");
}

#[test]
fn markers_and_numbers_of_the_header_are_checked() {
    for at in [10, 15, 24, 29, 38, 47, 52, 57, 60, 63, 64] {
        let error = patched(ANNOTATED, at, &[0x77]);
        assert!(
            matches!(error, Error::Corrupt { at: found, what: Corrupt::Marker { found: 0x77, .. } }
                if found == at as u64),
            "{at}: {error}"
        );
    }
    assert_eq!(text(WITH_DATA, 30, &[0xff]), "at byte 30: nbytes is -72057594037915936");
    assert_eq!(text(WITH_DATA, 48, &[0; 4]), "at byte 48: typesize is 0, at least 1");
    assert_eq!(text(WITH_DATA, 53, &[0; 4]), "at byte 53: chunk_size is 0");
    assert_eq!(text(WITH_DATA, 53, &[0xff; 4]), "at byte 53: chunk_size is -1");
    assert_eq!(
        text(WITH_DATA, 16, &[1]),
        "at byte 16: frame_len is 72057594037929279, the file has 1343"
    );
    assert_eq!(
        text(WITH_DATA, 39, &[0xff]),
        "at byte 39: cbytes is -72057594037926801, the frame has room for 1189"
    );
    assert_eq!(text(ANNOTATED, 65, &[7]), "at byte 65: 7 filter slots, at most 6");
}

#[test]
fn index_and_offsets_must_fit() {
    let (schunk, sidecar) = open(WITH_DATA);
    let cbytes = schunk.cbytes();
    // The index begins at the end of the data: a longer data section leaves no room for it.
    let room =
        schunk.frame_len() - u64::from(schunk.header().header_len()) - schunk.trailer_len() - 32;
    let at_limit = patched(WITH_DATA, 39, &room.to_be_bytes());
    assert!(!matches!(at_limit, Error::Corrupt { what: Corrupt::Cbytes { .. }, .. }), "{at_limit}");
    let over = patched(WITH_DATA, 39, &(room + 1).to_be_bytes());
    assert!(matches!(over, Error::Corrupt { at: 39, what: Corrupt::Cbytes { .. } }), "{over}");
    // An index of three offsets does not fit four chunks.
    let nbytes = sidecar["nbytes"].as_u64().unwrap() + 1;
    let error = patched(WITH_DATA, 30, &nbytes.to_be_bytes());
    assert!(
        matches!(
            error,
            Error::Corrupt { what: Corrupt::IndexNbytes { nbytes: 24, expected: 32 }, .. }
        ),
        "{error}"
    );
    // The index chunk stores the offsets uncompressed, after its 32 bytes of header.
    let index = usize::try_from(u64::from(schunk.header().header_len()) + cbytes).unwrap();
    for offset in [cbytes - 31, u64::MAX >> 1] {
        let error = patched(WITH_DATA, index + 32 + 8, &offset.to_le_bytes());
        let expected = Corrupt::Offset { nchunk: 1, offset, cbytes };
        assert!(matches!(&error, Error::Corrupt { what, .. } if *what == expected), "{error}");
    }
}

#[test]
fn trailers_are_checked() {
    let beta2 = "beta2-lz4-shuffle-i8-meta-usermeta";
    let (schunk, _) = open(beta2);
    let trailer = usize::try_from(schunk.frame_len() - schunk.trailer_len()).unwrap();
    assert_eq!(bytes(beta2)[trailer..trailer + 2], [0x0d, 0x00]);
    assert!(patched(beta2, trailer, &[0x93]).to_string().contains("trailer has the marker 0x93"));
    assert!(matches!(
        patched(beta2, trailer + 1, &[2]),
        Error::UnknownTrailerVersion { version: 2 }
    ));
    assert!(
        patched(beta2, trailer + 2, &[0xc5]).to_string().contains("usermeta has the marker 0xc5")
    );
    let fingerprint = usize::try_from(schunk.frame_len()).unwrap() - 18;
    assert!(
        patched(beta2, fingerprint, &[0xd7]).to_string().contains("fingerprint has the marker")
    );
}

#[test]
fn the_usermeta_is_checked_when_it_is_read() {
    // Its chunk stores its own length: cbytes at 12 of its header.
    let mut frame = bytes(ANNOTATED);
    frame[154 + 12] = 138;
    let schunk = SChunk::from_cframe(frame).unwrap();
    let error = schunk.vlmeta().get("usermeta").unwrap_err();
    let what = Corrupt::VlMetaCbytes { cbytes: 138, len: 139 };
    assert!(matches!(&error, Error::Corrupt { at: 154, what: found } if *found == what), "{error}");
    // Its chunk also stores its data size: nbytes at 4, which is limited before memory is
    // allocated.
    let mut frame = bytes(ANNOTATED);
    frame[154 + 4..154 + 8]
        .copy_from_slice(&(100 << 20_u32).min(i32::MAX.unsigned_abs()).to_le_bytes());
    let schunk = SChunk::from_cframe(frame).unwrap();
    assert!(schunk.vlmeta().get("usermeta").is_err());
}

#[test]
fn beta1_has_metalayers_or_has_not() {
    let (plain, with) = ("beta1-blosclz-shuffle-i4", "beta1-lz4-shuffle-i8-meta");
    let older = |error: Error| match error {
        Error::Corrupt { at, what: Corrupt::Older(what) } => (at, what),
        other => panic!("{other}"),
    };
    let has = |found, expected| OlderCorrupt::HasMetalayers { found, expected };
    assert_eq!(older(patched(plain, 0x3f, &[0xc3])), (0x3f, has(0xc3, 0xc2)));
    assert_eq!(older(patched(with, 0x3f, &[0xc2])), (0x3f, has(0xc2, 0xc3)));
    let header_len = |header_len, min, max| OlderCorrupt::HeaderLen { header_len, min, max };
    assert_eq!(older(patched(plain, 0x0b, &[0, 0, 0, 63])), (0x0b, header_len(63, 64, 64)));
    assert_eq!(older(patched(plain, 0x0b, &[0, 0, 0, 65])), (0x0b, header_len(65, 64, 64)));
    let frame_len = bytes(with).len() as u64;
    assert_eq!(older(patched(with, 0x0b, &[0, 0, 0, 73])), (0x0b, header_len(73, 74, frame_len)));
}

#[test]
fn layouts_that_were_never_written_are_named() {
    for (first_byte, flags) in [(0x9b, 0x21), (0x9c, 0x12), (0x9d, 0x24), (0x9d, 0x13)] {
        let mut frame = bytes(ANNOTATED);
        (frame[0], frame[25]) = (first_byte, flags);
        let error = SChunk::from_cframe(frame).unwrap_err();
        assert!(
            matches!(error, Error::UnreleasedLayout { first_byte: a, flags: b }
                if (a, b) == (first_byte, flags)),
            "{error}"
        );
        assert_eq!(error.blame(), Blame::NotOurs);
    }
    // Neither byte order makes sense of header_len and frame_len.
    let error = patched("untagged-2021-01-le", 11, &[1; 4]);
    assert!(matches!(error, Error::UnreleasedLayout { first_byte: 0x9d, flags: 0x12 }), "{error}");
    // Byte 26 became the frame type; no release could write sparse frames of this layout.
    let error = patched("untagged-2021-02-vlmeta", 26, &[1]);
    assert!(matches!(error, Error::UnreleasedLayout { .. }), "{error}");
}
