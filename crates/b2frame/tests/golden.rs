//! Every sample frame, against its sidecar.
//!
//! The samples are from C-Blosc2 3.3.5, or were made by hand and read with it as a check;
//! `conformance/samples/frames/README.md` describes each sample.

use b2frame::{
    Budget, ChunkBytes, Dest, Error, NdArray, SChunk,
    error::Corrupt,
    header::FrameType,
    report::{Note, VerifyOptions},
};
use blosc_chunk::{SpecialKind, Threads};
use serde_json::Value;

/// All samples except the sparse one.
const SAMPLES: &[&str] = &[
    "delete-all-then-append.b2frame",
    "delete-all.b2frame",
    "empty.b2frame",
    "fixed-updated.b2frame",
    "hole-before-trailer.b2frame",
    "nd-16dims.b2nd",
    "nd-empty.b2nd",
    "nd-full.b2nd",
    "nd-scalar.b2nd",
    "nd-stale-padding.b2nd",
    "nd-struct.b2nd",
    "nd-typesize300.b2nd",
    "nd-unicode.b2nd",
    "plain-index.b2frame",
    "safe-append-after-commit.b2frame",
    "safe-append-before-commit.b2frame",
    "special-nan.b2frame",
    "special-uninit.b2frame",
    "special-value.b2frame",
    "special-zero.b2frame",
    "three-filters.b2frame",
    "tiny-nd.b2nd",
    "tiny.b2frame",
    "use-dict.b2frame",
    "variable-chunks.b2frame",
    "variable-with-one-special.b2frame",
    "variable-with-two-specials.b2frame",
    "variable-zero-as-value.b2frame",
    "vl-blocks.b2frame",
];

/// A sample and its sidecar.
fn open(name: &str) -> (SChunk, Value) {
    let path = blosc_testdata::fixture::path(format!("frames/{name}"));
    let sidecar = std::fs::read(path.with_extension("json")).unwrap();
    let schunk = SChunk::open(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    (schunk, serde_json::from_slice(&sidecar).unwrap())
}

fn number(value: &Value) -> u64 {
    match value {
        Value::String(hex) => u64::from_str_radix(hex.trim_start_matches("0x"), 16).unwrap(),
        number => number.as_u64().unwrap_or_else(|| number.as_i64().unwrap().cast_unsigned()),
    }
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All data, in order, by the threads of the budget.
fn data(schunk: &SChunk, options: &Budget) -> Result<Vec<u8>, Error> {
    let mut data = vec![];
    schunk.decode_ordered(0..schunk.nchunks(), options, |_, bytes| {
        data.extend_from_slice(bytes);
        Ok::<(), Error>(())
    })?;
    Ok(data)
}

#[test]
fn headers_are_what_the_sidecars_say() {
    for name in SAMPLES {
        let (schunk, sidecar) = open(name);
        let (header, expected) = (schunk.header(), &sidecar["header"]);
        let filters = |key| {
            numbers(&expected[key]).iter().map(|n| u8::try_from(*n).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(u64::from(header.flags().0), number(&expected["general_flags"]), "{name}");
        assert_eq!(header.frame_type(), FrameType::Contiguous, "{name}");
        assert_eq!(u64::from(header.header_len()), number(&expected["header_len"]), "{name}");
        assert_eq!(header.frame_len(), number(&expected["frame_len"]), "{name}");
        assert_eq!(header.nbytes(), number(&expected["nbytes"]), "{name}");
        assert_eq!(u64::from(header.typesize().get()), number(&expected["typesize"]), "{name}");
        assert_eq!(
            header.blocksize().map_or(0, |b| b.get().into()),
            number(&expected["blocksize"]),
            "{name}"
        );
        assert_eq!(
            header.chunksize().fixed().map(u64::from),
            match number(&expected["chunk_size"]) {
                0 | u64::MAX => None,
                size => Some(size),
            }
        );
        let codec = u64::from(header.clevel() << 4 | header.codec());
        assert_eq!(codec, number(&expected["codec_byte"]), "{name}");
        assert_eq!(u64::from(header.split_mode()), number(&expected["other_flags"]), "{name}");
        assert_eq!(header.has_vlmeta(), expected["has_vlmetalayers"].as_bool().unwrap(), "{name}");
        assert_eq!(header.filters()[..], filters("filters"), "{name}");
        assert_eq!(header.filters_meta()[..], filters("filters_meta"), "{name}");
        assert_eq!(header.uses_dict(), number(&expected["other_flags2"]) == 1, "{name}");
        if header.nbytes() > 0 {
            assert_eq!(header.cbytes(), number(&expected["cbytes"]), "{name}");
        }
    }
}

#[test]
fn layouts_are_what_the_sidecars_say() {
    for name in SAMPLES {
        let (schunk, sidecar) = open(name);
        assert_eq!(schunk.trailer_len(), number(&sidecar["trailer_len"]), "{name}");
        assert_eq!(schunk.index_len(), number(&sidecar["index_chunk_cbytes"]), "{name}");
        let offsets = numbers(&sidecar["offsets"]);
        assert_eq!(schunk.nchunks(), number(&sidecar["nchunks"]), "{name}");
        assert_eq!(schunk.nchunks(), offsets.len() as u64, "{name}");
        for (nchunk, offset) in (0..).zip(offsets) {
            let lost = name.contains("two-specials") && offset >> 63 == 1;
            match schunk.chunk_info(nchunk) {
                Ok(info) => {
                    let stored = info.offset.map(|at| at - u64::from(schunk.header().header_len()));
                    assert_eq!(stored.unwrap_or(offset), offset, "{name}, chunk {nchunk}");
                    assert_eq!(stored.is_none(), offset >> 63 == 1, "{name}, chunk {nchunk}");
                    assert!(!lost);
                }
                Err(error) => assert!(lost, "{name}, chunk {nchunk}: {error}"),
            }
        }
    }
}

#[test]
fn metalayers_are_what_the_sidecars_say() {
    for name in SAMPLES {
        let (schunk, sidecar) = open(name);
        let expected = sidecar["metalayers"].as_object().unwrap();
        assert_eq!(schunk.meta().len(), expected.len(), "{name}");
        for (layer, value) in expected {
            assert_eq!(
                hex(schunk.meta().get(layer).unwrap().content),
                value["hex"],
                "{name}, {layer}"
            );
        }
        let expected = sidecar["vlmetalayers"].as_object().unwrap();
        assert_eq!(schunk.vlmeta().len(), expected.len(), "{name}");
        for (layer, value) in expected {
            let content = schunk.vlmeta().get(layer).unwrap().unwrap();
            assert_eq!(blosc_testdata::sha256_hex(&content), value["sha256"], "{name}, {layer}");
        }
    }
}

#[test]
fn data_are_what_the_sidecars_say() {
    let options = Budget::default();
    for name in SAMPLES.iter().filter(|name| !name.contains("two-specials")) {
        let (schunk, sidecar) = open(name);
        for options in [
            options.clone().threads(Threads::One),
            options.clone().threads(Threads::Auto),
            options.clone().max_memory(1600),
        ] {
            let data = data(&schunk, &options).unwrap_or_else(|error| panic!("{name}: {error:?}"));
            assert_eq!(data.len() as u64, number(&sidecar["raw_nbytes"]), "{name}");
            assert_eq!(blosc_testdata::sha256_hex(&data), sidecar["raw_sha256"], "{name}");
        }
    }
}

#[test]
fn arrays_are_what_the_sidecars_say() {
    for name in SAMPLES.iter().filter(|name| name.ends_with(".b2nd")) {
        let (schunk, sidecar) = open(name);
        let expected = &sidecar["b2nd"];
        let array = NdArray::from_schunk(schunk).unwrap();
        let wide = |lens: &[u32]| lens.iter().map(|len| u64::from(*len)).collect::<Vec<_>>();
        assert_eq!(array.meta().shape(), numbers(&expected["shape"]), "{name}");
        assert_eq!(wide(array.meta().chunkshape()), numbers(&expected["chunkshape"]), "{name}");
        assert_eq!(wide(array.meta().blockshape()), numbers(&expected["blockshape"]), "{name}");
        assert_eq!(array.meta().dtype_text(1), expected["dtype"].as_str().unwrap(), "{name}");
        assert_eq!(
            u64::from(array.meta().dtype_format()),
            number(&expected["dtype_format"]),
            "{name}"
        );
        assert_eq!(array.nbytes(), number(&expected["c_order_nbytes"]), "{name}");
        let items = array.to_bytes(..).unwrap();
        assert_eq!(blosc_testdata::sha256_hex(&items), expected["c_order_sha256"], "{name}");
    }
}

/// C-Blosc2 makes such arrays when it resizes, copies and concatenates.
#[test]
fn blocks_may_be_larger_than_chunks() {
    for name in ["blocks-gt-chunks.b2frame", "concatenate-blocks-gt-chunks.b2frame"] {
        let (schunk, sidecar) = open(name);
        let report = schunk.verify(&VerifyOptions::default(), |_| {});
        assert!(report.is_ok() && report.notes.is_empty(), "{name}: {report:?}");
        let array = NdArray::from_schunk(schunk).unwrap();
        let wide = |lens: &[u32]| lens.iter().map(|len| u64::from(*len)).collect::<Vec<_>>();
        assert_eq!(array.shape(), numbers(&sidecar["shape"]), "{name}");
        assert_eq!(wide(array.meta().chunkshape()), numbers(&sidecar["chunkshape"]), "{name}");
        assert_eq!(wide(array.meta().blockshape()), numbers(&sidecar["blockshape"]), "{name}");
        let items = array.to_bytes(..).unwrap();
        assert_eq!(items.len() as u64, number(&sidecar["c_order_nbytes"]), "{name}");
        assert_eq!(blosc_testdata::sha256_hex(&items), sidecar["c_order_sha256"], "{name}");
        let item = array.typesize();
        for n in 0..array.nitems() {
            let mut found = vec![0; item];
            array.gather_bytes(&[n], &mut found).unwrap();
            let at = usize::try_from(n).unwrap() * item;
            assert_eq!(found, items[at..at + item], "{name}, item {n}");
        }
        let copy = array.copy(&Dest::Memory, &array.params().unwrap()).unwrap();
        assert_eq!(copy.to_bytes(..).unwrap(), items, "{name}");
        assert!(copy.blockshape().iter().zip(copy.chunkshape()).all(|(b, c)| *b <= c), "{name}");
    }
}

#[test]
fn sound_samples_are_verified() {
    for name in SAMPLES.iter().filter(|name| !name.contains("two-specials")) {
        let (schunk, _) = open(name);
        let report = schunk.verify(&VerifyOptions::default(), |_| {});
        assert!(report.is_ok(), "{name}: {report:?}");
        assert_eq!((report.nchunks, report.nbytes), (schunk.nchunks(), schunk.nbytes()), "{name}");
        // This array was made smaller and hides two of its old items.
        let hidden = [Note::HiddenItems { nchunk: 0, nchunks: 1 }];
        let expected = if *name == "nd-stale-padding.b2nd" { &hidden[..] } else { &[] };
        assert_eq!(report.notes, expected, "{name}: {report:?}");
    }
}

#[test]
fn chunks_whose_sizes_are_lost_do_not_hide_the_others() {
    let (schunk, sidecar) = open("variable-with-two-specials.b2frame");
    assert_eq!(sidecar["expect"], "chunks-2-3-unreadable");
    let report = schunk.verify(&VerifyOptions::default(), |_| {});
    let bad: Vec<_> = report.bad.iter().map(|bad| (bad.nchunk, bad.offset)).collect();
    assert_eq!((bad, report.nbad), (vec![(2, None), (3, None)], 2));
    for (nchunk, bad) in (2..).zip(&report.bad) {
        let Error::Corrupt { what, .. } = &bad.error else { panic!("{bad:?}") };
        assert_eq!(*what, Corrupt::SizeLost { nchunk, count: 2, nbytes: 800 });
    }
    assert_eq!(report.nbytes, 1000);
    assert_eq!(schunk.decode_chunk(4).unwrap().len(), schunk.chunk_nbytes(4).unwrap());
}

#[test]
fn blocks_of_another_size_than_stored_are_read_and_noted() {
    let frame = blosc_testdata::fixture::path("frames/odd-blocksize.b2frame");
    let schunk = SChunk::open(frame).unwrap();
    let expected: Vec<u8> = (0..300_u32).map(|n| (n / 9 % 7).to_le_bytes()[0]).collect();
    assert_eq!(data(&schunk, &Budget::default()).unwrap(), expected);
    let report = schunk.verify(&VerifyOptions::default(), |_| {});
    assert!(report.is_ok());
    let note = Note::Blocksize { nchunk: 0, offset: 97, stored: 31, used: 30 };
    assert_eq!(report.notes, [note]);
}

#[test]
fn a_special_chunk_is_given_as_what_it_is() {
    let (schunk, _) = open("special-nan.b2frame");
    let ChunkBytes::Special { kind, nbytes, .. } = schunk.chunk(0).unwrap() else {
        panic!("not special")
    };
    assert_eq!((kind, nbytes), (SpecialKind::Nans, schunk.chunk_nbytes(0).unwrap()));
    let (schunk, _) = open("special-value.b2frame");
    let ChunkBytes::Stored(bytes) = schunk.chunk(0).unwrap() else { panic!("not stored") };
    assert_eq!(bytes.len() as u64, schunk.chunk_info(0).unwrap().cbytes);
    assert_eq!(schunk.usage().unwrap().value, schunk.nchunks());
}
