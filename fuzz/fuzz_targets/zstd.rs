//! Any bytes decoded as frames of Zstandard, with a dictionary and without. The C library must give
//! the same bytes and the same refusals, except for the list in `docs/performance/zstd.md`. Also
//! any bytes compressed and back.
#![no_main]

use blosc_codecs::{CodecId, Corrupt, DecodeOptions, Error, Registry, ZstdFault};
use libfuzzer_sys::fuzz_target;
use zstd::zstd_safe::DCtx;

/// A dictionary of text only.
const DICT: &[u8] = b"the temperature of a station, in degrees; the time, in seconds since 1970";

fuzz_target!(|input: (u16, u8, &[u8])| {
    let (len, level, data) = input;
    // Random input rarely begins as a frame, so one begins here: a window of 128 KiB, no size, no
    // checksum.
    let framed = [&[0x28, 0xB5, 0x2F, 0xFD, 0, 0x38], data].concat();
    let dict = (level >= 128).then_some(DICT);
    compare(data, len.into(), dict);
    compare(&framed, len.into(), dict);
    blosc_fuzz::round_trip(CodecId::ZSTD, level % 10, None, data);
});

fn compare(frame: &[u8], len: usize, dict: Option<&[u8]>) {
    let registry = Registry::builtin();
    let options = DecodeOptions { dict, ..DecodeOptions::default() };
    let codec = registry.get(CodecId::ZSTD).expect("built in");
    let mut decoder = codec.new_decoder(&options).expect("a sound dictionary");
    let mut library = DCtx::create();
    if let Some(dict) = dict {
        library.load_dictionary(dict).expect("a sound dictionary");
    }
    let (mut ours, mut theirs) = (vec![0; len], vec![0; len]);
    let found = decoder.decode(frame, &mut ours);
    let expected = library.decompress(&mut theirs[..], frame).is_ok_and(|n| n == len);
    match found {
        Ok(()) => assert!(expected && ours == theirs, "C refuses it, or has other bytes"),
        Err(Error::Corrupt {
            what:
                Corrupt::Zstd(ZstdFault::BitStream | ZstdFault::NoEndMark | ZstdFault::BlockSize { .. }),
            ..
        }) => {}
        Err(error) => assert!(!expected, "C decodes it: {error}"),
    }
}
