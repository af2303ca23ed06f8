//! Our decoder of Zstandard beside the C library: random frames of all levels, with and without
//! dictionaries, intact and damaged.
//!
//! `BLOSC_ZSTD_FRAMES=100000 cargo test -p blosc-codecs --test it zstd` tries as many.

use blosc_codecs::{CodecId, Corrupt, DecodeOptions, Error, Registry, StreamDecoder, ZstdFault};
use blosc_testdata::data::{Kind, Recipe, XorShift32};
use zstd::zstd_safe::{CCtx, CParameter, DCtx, ResetDirective, compress_bound};

/// Number of frames if the environment does not set it.
const FRAMES: u64 = 1500;

/// One dictionary, or none, and all frames made with it.
struct Case {
    dict: Option<Vec<u8>>,
    ours: Box<dyn StreamDecoder>,
    theirs: DCtx<'static>,
}

impl Case {
    fn new(dict: Option<Vec<u8>>) -> Self {
        let options = DecodeOptions { dict: dict.as_deref(), ..DecodeOptions::default() };
        let registry = Registry::builtin();
        let codec = registry.require(CodecId::ZSTD).expect("built in");
        let ours = codec.new_decoder(&options).expect("a sound dictionary");
        let mut theirs = DCtx::create();
        if let Some(dict) = &dict {
            theirs.load_dictionary(dict).expect("a sound dictionary");
        }
        Self { dict, ours, theirs }
    }

    /// Decodes a frame that may be damaged with both: the results are equal, except for the
    /// differences in `docs/performance/zstd.md`. Returns whether they differ.
    fn compare(&mut self, frame: &[u8], nbytes: usize) -> bool {
        let (mut ours, mut theirs) = (vec![0; nbytes], vec![0; nbytes]);
        let found = self.ours.decode(frame, &mut ours);
        let expected = self.theirs.decompress(&mut theirs[..], frame).is_ok_and(|n| n == nbytes);
        match found {
            Ok(()) => {
                assert!(expected, "C refuses what we decode: {frame:02x?}");
                assert!(ours == theirs, "not the same bytes: {frame:02x?}");
                false
            }
            // The C library does not always check the last bits of a stream of literals, or the
            // length of a decoded block.
            Err(Error::Corrupt {
                what:
                    Corrupt::Zstd(
                        ZstdFault::BitStream | ZstdFault::NoEndMark | ZstdFault::BlockSize { .. },
                    ),
                ..
            }) => expected,
            Err(error) => {
                assert!(!expected, "{error}: {frame:02x?}");
                false
            }
        }
    }
}

#[test]
fn random_frames_decode_as_by_the_c_library() {
    let nframes =
        std::env::var("BLOSC_ZSTD_FRAMES").map_or(FRAMES, |n| n.parse().expect("a number"));
    let seed = std::env::var("BLOSC_ZSTD_SEED").map_or(1, |n| n.parse().expect("a number"));
    let mut rng = XorShift32::new(seed);
    let text = Kind::Text.bytes(100_000);
    let samples: Vec<&[u8]> = text.chunks(500).collect();
    let trained = zstd::dict::from_samples(&samples, 8 << 10).expect("text");
    let mut cases = [None, Some(trained), Some(text[..3000].to_vec())].map(Case::new);
    let mut encoder = CCtx::create();
    let (mut damaged, mut differences) = (0, 0);
    for n in 0..nframes {
        let case = &mut cases[[0, 0, 0, 1, 2][below(&mut rng, 5)]];
        let plain = plain(&mut rng, case.dict.is_some());
        let frame = encode(&mut encoder, &mut rng, case.dict.as_deref(), &plain);
        let mut back = vec![0xA5; plain.len()];
        let result = case.ours.decode(&frame, &mut back);
        assert_eq!(result, Ok(()), "frame {n} of seed {seed}");
        assert!(back == plain, "frame {n} of seed {seed}");
        for _ in 0..2 {
            let frame = damage(&mut rng, &frame);
            differences += u32::from(case.compare(&frame, plain.len()));
            damaged += 1;
        }
    }
    assert!(differences * 50 <= damaged, "{differences} of {damaged} damaged frames");
}

fn below(rng: &mut XorShift32, bound: u64) -> usize {
    usize::try_from(rng.below(bound)).expect("a small number")
}

/// Data of any kind, most often short.
fn plain(rng: &mut XorShift32, is_text: bool) -> Vec<u8> {
    let longest = [100, 300, 1000, 5000, 5000, 20_000, 150_000][below(rng, 7)];
    let nbytes = below(rng, longest);
    let kind = if is_text { Kind::Text } else { Kind::ALL[below(rng, 8)] };
    let recipe =
        Recipe { kind, typesize: [1, 2, 4, 8][below(rng, 4)], seed: rng.next_u32(), nbytes };
    let mut bytes = recipe.bytes();
    if rng.below(3) == 0 {
        // Few values; all are likely, or some much more than others.
        let ([nvalues, ..], shift) = (rng.next_u32().to_be_bytes(), 1 + rng.below(6));
        bytes.iter_mut().for_each(|byte| {
            *byte = (*byte % (1 + nvalues / 2)) >> (rng.below(8) % shift);
        });
    }
    bytes
}

/// A frame with random parameters.
fn encode(
    encoder: &mut CCtx<'_>,
    rng: &mut XorShift32,
    dict: Option<&[u8]>,
    plain: &[u8],
) -> Vec<u8> {
    encoder.reset(ResetDirective::SessionAndParameters).expect("a new session");
    let highest = if plain.len() > 20_000 { 15 } else { 22 };
    let level = i32::try_from(below(rng, highest + 5)).expect("a level") - 4;
    let mut set = |parameter| {
        encoder.set_parameter(parameter).expect("a parameter");
    };
    set(CParameter::CompressionLevel(level));
    set(CParameter::ChecksumFlag(rng.below(2) == 0));
    set(CParameter::ContentSizeFlag(rng.below(2) == 0));
    if rng.below(4) == 0 {
        set(CParameter::WindowLog(10 + u32::try_from(rng.below(10)).expect("a number")));
    }
    if rng.below(4) == 0 {
        set(CParameter::TargetCBlockSize(1340 + u32::try_from(rng.below(5000)).expect("a number")));
    }
    if let Some(dict) = dict {
        encoder.load_dictionary(dict).expect("a sound dictionary");
    }
    let mut frame = vec![0; compress_bound(plain.len())];
    let len = encoder.compress2(&mut frame[..], plain).expect("enough room");
    frame.truncate(len);
    frame
}

/// The frame with a bit or a byte changed, cut, or with a byte more.
fn damage(rng: &mut XorShift32, frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    let at = below(rng, frame.len() as u64);
    let [byte, ..] = rng.next_u32().to_be_bytes();
    match rng.below(5) {
        0 => frame[at] ^= 1 << (byte % 8),
        1 => frame[at] = byte,
        // Most fields that can be wrong are near the start.
        2 => frame[at % 40] = byte,
        3 => frame.truncate(at),
        _ => frame.insert(at, byte),
    }
    // Without a checksum, which would detect every damage.
    if frame.len() > 4 && rng.below(4) > 0 {
        frame[4] &= !4;
    }
    frame
}
