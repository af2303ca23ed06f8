//! Frames made by hand: each rule of the format, and each violation.

use alloc::{vec, vec::Vec};

use super::{decoder::Decoder, fault::Fault};
use crate::{CodecId, Corrupt, Error, Param, Simd, StreamDecoder as _};

const RAW: u32 = 0;
const RUN: u32 = 1;
const PACKED: u32 = 2;

/// A header without content size, with a window of 1 MiB.
const HEADER: [u8; 6] = [0x28, 0xB5, 0x2F, 0xFD, 0, 0x50];

fn block(kind: u32, nbytes: usize, bytes: &[u8], is_last: bool) -> Vec<u8> {
    let head = u32::try_from(nbytes).unwrap() << 3 | kind << 1 | u32::from(is_last);
    [&head.to_le_bytes()[..3], bytes].concat()
}

fn frame(header: &[u8], blocks: &[Vec<u8>]) -> Vec<u8> {
    [header, &blocks.concat()].concat()
}

/// A frame of one compressed block.
fn packed(bytes: &[u8]) -> Vec<u8> {
    frame(&HEADER, &[block(PACKED, bytes.len(), bytes, true)])
}

/// Start of the block in that frame.
const BLOCK: usize = HEADER.len() + 3;

/// The bytes of a stream that is read backward, from its bits in reading order.
fn backward(bits: &str) -> Vec<u8> {
    let marked: Vec<u8> = bits.bytes().rev().chain([b'1']).collect();
    let byte = |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | (bit - b'0'));
    marked.chunks(8).map(byte).collect()
}

fn decode_with(dict: Option<&[u8]>, stream: &[u8], nbytes: usize) -> Result<Vec<u8>, Error> {
    let mut dest = vec![0xA5; nbytes];
    Decoder::new(dict, Simd::detect())?.decode(stream, &mut dest)?;
    Ok(dest)
}

fn decode(stream: &[u8], nbytes: usize) -> Result<Vec<u8>, Error> {
    decode_with(None, stream, nbytes)
}

fn corrupt<T>(at: usize, what: Corrupt) -> Result<T, Error> {
    Err(Error::Corrupt { codec: CodecId::ZSTD, at, what })
}

fn fault<T>(at: usize, fault: Fault) -> Result<T, Error> {
    corrupt(at, Corrupt::Zstd(fault))
}

/// Raw literals, and sequences with the same three symbols; `bits` are their bits.
fn same_sequences(literals: &[u8], [literal, far, len]: [u8; 3], n: u8, bits: &str) -> Vec<u8> {
    let head = u8::try_from(literals.len() << 3).unwrap();
    [&[head], literals, &[n, 0b0101_0100, literal, far, len], &backward(bits)].concat()
}

#[test]
fn raw_blocks_and_runs() {
    let blocks =
        [block(RAW, 3, b"abc", false), block(RUN, 5, b"d", false), block(RAW, 0, b"", true)];
    assert_eq!(decode(&frame(&HEADER, &blocks), 8).unwrap(), b"abcddddd");
    let stream = frame(&HEADER, &blocks);
    assert_eq!(decode(&stream, 7), corrupt(15, Corrupt::TooLong { nbytes: 8, room: 7 }));
    assert_eq!(
        decode(&stream, 9),
        corrupt(stream.len(), Corrupt::TooShort { nbytes: 8, expected: 9 })
    );
}

#[test]
fn frames_follow_frames() {
    let one = frame(&HEADER, &[block(RAW, 3, b"abc", true)]);
    let skipped = [0x5A, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 9, 9];
    let all = [&skipped[..], &one, &skipped, &one].concat();
    assert_eq!(decode(&all, 6).unwrap(), b"abcabc");
    assert_eq!(decode(&skipped, 0).unwrap(), b"");
    assert_eq!(decode(&[], 0).unwrap(), b"");
    assert_eq!(decode(&skipped[..9], 0), corrupt(8, Corrupt::Truncated { need: 2, have: 1 }));
    let trailing = [&one[..], b"1234"].concat();
    assert_eq!(decode(&trailing, 3), corrupt(one.len(), Corrupt::Trailing { extra: 4 }));
    let other = [&one[..], b"12345"].concat();
    assert_eq!(decode(&other, 3), fault(one.len(), Fault::Magic { found: 0x3433_3231 }));
}

#[test]
fn content_sizes_and_checksums_are_compared() {
    let blocks = [block(RAW, 3, b"abc", true)];
    let single =
        |flags: u8, size: &[u8]| frame(&[&HEADER[..4], &[flags | 0x20], size].concat(), &blocks);
    assert_eq!(decode(&single(0, &[3]), 3).unwrap(), b"abc");
    assert_eq!(decode(&single(0x80, &[3, 0, 0, 0]), 3).unwrap(), b"abc");
    assert_eq!(decode(&single(0xC0, &[3, 0, 0, 0, 0, 0, 0, 0]), 3).unwrap(), b"abc");
    assert_eq!(
        decode(&single(0x40, &[3, 0]), 3),
        corrupt(0, Corrupt::TooLong { nbytes: 259, room: 3 })
    );
    let stream = single(0, &[2]);
    assert_eq!(
        decode(&stream, 3),
        fault(stream.len(), Fault::ContentSize { nbytes: 3, stated: 2 })
    );
    // XXH64 of "abc" is 0x44BC2CF5AD770999.
    let mut stream = single(4, &[3]);
    let end = stream.len();
    stream.extend([0x99, 0x09, 0x77, 0xAD]);
    assert_eq!(decode(&stream, 3).unwrap(), b"abc");
    stream[end] ^= 1;
    assert_eq!(
        decode(&stream, 3),
        fault(end, Fault::Checksum { found: 0xAD77_0999, stated: 0xAD77_0998 })
    );
    stream.pop();
    assert_eq!(decode(&stream, 3), corrupt(end, Corrupt::Truncated { need: 4, have: 3 }));
}

#[test]
fn reserved_values_are_refused() {
    let mut stream = frame(&HEADER, &[block(RAW, 3, b"abc", true)]);
    stream[4] = 8;
    assert_eq!(decode(&stream, 3), fault(4, Fault::Reserved));
    // A reserved bit.
    stream[4] = 16;
    assert_eq!(decode(&stream, 3).unwrap(), b"abc");
    stream[4] = 0;
    stream[5] = 22 << 3;
    let limit = if cfg!(target_pointer_width = "64") { 31 } else { 30 };
    let window = Fault::Window { log: 32, limit };
    assert_eq!(decode(&stream, 3), fault(5, window));
    assert_eq!(decode(&frame(&HEADER, &[block(3, 1, b"a", true)]), 1), fault(6, Fault::Reserved));
    let mut modes = same_sequences(b"abc", [3, 2, 0], 1, "00");
    modes[5] |= 1;
    assert_eq!(decode(&packed(&modes), 6), fault(BLOCK + 5, Fault::Reserved));
}

#[test]
fn matches_repeat_what_was_decoded() {
    // Three literals, then a match of three at distance 4 + bits - 3.
    let one = |bits: &str| decode(&packed(&same_sequences(b"abc", [3, 2, 0], 1, bits)), 6);
    assert_eq!(one("00").unwrap(), b"abcccc");
    assert_eq!(one("10").unwrap(), b"abcabc");
    assert_eq!(one("11"), corrupt(BLOCK + 5, Corrupt::Distance { distance: 4, available: 3 }));
    // Literals after the last match.
    let stream = packed(&same_sequences(b"abcde", [3, 2, 0], 1, "01"));
    assert_eq!(decode(&stream, 8).unwrap(), b"abcbcbde");
    let too_long = Corrupt::TooLong { nbytes: 8, room: 7 };
    assert_eq!(decode(&stream, 7), corrupt(BLOCK + 7, too_long));
}

#[test]
fn distances_that_were_used_last_come_again() {
    // Distances begin as 1, 4, 8. Each sequence: one literal, a match of three.
    let repeat = |far, bits: &str, n| {
        let literals = &b"abcdefghi"[..n];
        // The first block provides bytes for the matches.
        let sequences = same_sequences(literals, [1, far, 0], u8::try_from(n).unwrap(), bits);
        let blocks =
            [block(RAW, 8, b"12345678", false), block(PACKED, sequences.len(), &sequences, true)];
        decode(&frame(&HEADER, &blocks), 8 + 4 * n).map(|all| all[8..].to_vec())
    };
    assert_eq!(repeat(0, "", 2).unwrap(), b"aaaabbbb");
    // The second (4), which becomes the first, then the second (1) again.
    assert_eq!(repeat(1, "00", 2).unwrap(), b"a678bbbb");
    // The third (8), then the third (4).
    assert_eq!(repeat(1, "11", 2).unwrap(), b"a234b234");
    // Without literals, numbers count from the second; the fourth is one less than the first.
    let bare = |far, bits: &str| {
        let sequences = same_sequences(b"", [0, far, 0], 1, bits);
        let blocks =
            [block(RAW, 8, b"12345678", false), block(PACKED, sequences.len(), &sequences, true)];
        decode(&frame(&HEADER, &blocks), 11).map(|all| all[8..].to_vec())
    };
    assert_eq!(bare(0, "").unwrap(), b"567");
    assert_eq!(bare(1, "0").unwrap(), b"123");
    let zero = Corrupt::Distance { distance: 0, available: 8 };
    assert_eq!(bare(1, "1"), corrupt(20 + 2, zero));
}

#[test]
fn sequences_and_their_bits_end_together() {
    let at = BLOCK + 4 + 5;
    for bits in ["0", "000", "0000000000"] {
        let stream = packed(&same_sequences(b"abc", [3, 2, 0], 1, bits));
        assert_eq!(decode(&stream, 6), fault(at, Fault::BitStream), "{bits}");
    }
    let mut unmarked = same_sequences(b"abc", [3, 2, 0], 1, "00");
    *unmarked.last_mut().unwrap() = 0;
    assert_eq!(decode(&packed(&unmarked), 6), fault(at, Fault::NoEndMark));
    // A second sequence takes three literals more.
    let stream = packed(&same_sequences(b"abcd", [3, 2, 0], 2, "0000"));
    assert_eq!(decode(&stream, 12), fault(BLOCK + 6, Fault::Literals { need: 3, have: 1 }));
}

#[test]
fn symbols_and_tables_are_checked() {
    let wrong = |symbols| decode(&packed(&same_sequences(b"abc", symbols, 1, "")), 6);
    let symbol = |symbol, limit| Fault::Symbol { symbol, limit };
    assert_eq!(wrong([36, 2, 0]), fault(BLOCK + 6, symbol(36, 35)));
    assert_eq!(wrong([3, 32, 0]), fault(BLOCK + 7, symbol(32, 31)));
    assert_eq!(wrong([3, 2, 53]), fault(BLOCK + 8, symbol(53, 52)));
    // Tables of the block before, which is missing.
    let block = [&[3 << 3], &b"abc"[..], &[1, 0b1111_1100, 1]].concat();
    assert_eq!(decode(&packed(&block), 6), fault(BLOCK + 6, Fault::NoTable));
    // An accuracy of 5 + 15.
    let block = [&[3 << 3], &b"abc"[..], &[1, 0b1010_1000, 15, 0, 0, 1]].concat();
    assert_eq!(decode(&packed(&block), 6), fault(BLOCK + 6, Fault::Counts));
    // No sequences, and a byte after their number.
    assert_eq!(
        decode(&packed(b"\x18abc\0\0"), 3),
        corrupt(BLOCK + 5, Corrupt::Trailing { extra: 1 })
    );
    assert_eq!(decode(&packed(b"\x18abc\0"), 3).unwrap(), b"abc");
}

/// The description of a code: the weights of all its symbols but the last.
fn weights(weights: &[u8]) -> Vec<u8> {
    let mut bytes = vec![127 + u8::try_from(weights.len()).unwrap()];
    bytes.extend(weights.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).unwrap_or(&0)));
    bytes
}

/// A block of literals alone, in one stream or four.
fn literals(code: &[u8], streams: &[Vec<u8>], nbytes: u32) -> Vec<u8> {
    let mut packed = code.to_vec();
    if let [first, second, third, _] = streams {
        for stream in [first, second, third] {
            packed.extend(u16::try_from(stream.len()).unwrap().to_le_bytes());
        }
    }
    packed.extend(streams.concat());
    let kind = if code.is_empty() { 3 } else { 2 };
    let format = u32::from(streams.len() == 4);
    let cbytes = u32::try_from(packed.len()).unwrap();
    let head = kind | format << 2 | nbytes << 4 | cbytes << 14;
    [&head.to_le_bytes()[..3], &packed, &[0]].concat()
}

#[test]
fn literals_in_one_stream_or_four() {
    // Symbols 0 and 1 have codes of two bits (00, 01), symbol 2 has the code 1.
    let code = weights(&[1, 1]);
    let one = |bits, nbytes| {
        let block = literals(&code, &[backward(bits)], nbytes);
        decode(&packed(&block), nbytes as usize)
    };
    assert_eq!(one("0001101", 4).unwrap(), [0, 1, 2, 1]);
    let start = BLOCK + 3 + code.len();
    assert_eq!(one("0001101", 3), fault(start, Fault::BitStream));
    assert_eq!(one("0001101", 5), fault(start, Fault::BitStream));
    let four = |bits: [&str; 4], nbytes| {
        let block = literals(&code, &bits.map(backward), nbytes);
        decode(&packed(&block), nbytes as usize)
    };
    let all = four(["00011", "11100", "0000", "1"], 10);
    assert_eq!(all, fault(start + 6 + 1, Fault::BitStream));
    let all = four(["00011", "1100", "111", "01"], 10);
    assert_eq!(all.unwrap(), [0, 1, 2, 2, 2, 0, 2, 2, 2, 1]);
    let all = four(["11", "11", "11", ""], 6);
    assert_eq!(all.unwrap(), [2; 6]);
    let all = four(["1", "1", "1", "11"], 5);
    assert_eq!(all, fault(start, Fault::FewLiterals { nbytes: 5 }));
}

#[test]
fn long_streams_by_pairs_and_by_single_symbols() {
    // A code of up to two bits, which uses the table of pairs for many literals; and 128 codes of
    // seven bits, which do not.
    let (pairs, single) = (weights(&[1, 1]), weights(&[1; 128][..127]));
    let mut rng = blosc_testdata::data::XorShift32::new(9);
    for (code, nbits) in [(pairs, 1), (single, 7)] {
        for quarter in [1, 4, 5, 11, 999, 3000] {
            let mut plain = vec![];
            let streams: Vec<Vec<u8>> = (0..4)
                .map(|_| {
                    let mut bits = alloc::string::String::new();
                    for _ in 0..quarter {
                        let n = u8::try_from(rng.below(if nbits == 1 { 3 } else { 128 })).unwrap();
                        plain.push(n);
                        bits += &match (nbits, n) {
                            (1, 2) => "1".into(),
                            (1, _) => alloc::format!("{n:02b}"),
                            _ => alloc::format!("{n:07b}"),
                        };
                    }
                    backward(&bits)
                })
                .collect();
            if plain.len() < 6 {
                continue;
            }
            let mut packed_literals = code.clone();
            for stream in &streams[..3] {
                packed_literals.extend(u16::try_from(stream.len()).unwrap().to_le_bytes());
            }
            packed_literals.extend(streams.concat());
            let (nbytes, cbytes) = (plain.len() as u64, packed_literals.len() as u64);
            let head = 2 | 3 << 2 | nbytes << 4 | cbytes << 22;
            let block = [&head.to_le_bytes()[..5], &packed_literals, &[0]].concat();
            assert_eq!(decode(&packed(&block), plain.len()).unwrap(), plain, "{quarter}");
        }
    }
}

#[test]
fn codes_are_checked() {
    let with = |code: &[u8]| decode(&packed(&literals(code, &[backward("11")], 2)), 2);
    for wrong in [&[0, 0][..], &[3, 1], &[13, 13], &[2, 2, 1]] {
        assert_eq!(with(&weights(wrong)), fault(BLOCK + 3, Fault::Weights), "{wrong:?}");
    }
    assert_eq!(with(&weights(&[1])).unwrap(), [1, 1]);
    assert_eq!(with(&[]), fault(BLOCK + 3, Fault::NoTable));
    let cut = literals(&[127 + 40, 1], &[vec![]], 2);
    assert_eq!(
        decode(&packed(&cut), 2),
        corrupt(BLOCK + 4, Corrupt::Truncated { need: 20, have: 1 })
    );
}

#[test]
fn codes_are_kept_for_the_next_block() {
    let code = weights(&[1, 1]);
    let (first, second) =
        (literals(&code, &[backward("01")], 1), literals(&[], &[backward("1")], 1));
    let blocks =
        [block(PACKED, first.len(), &first, false), block(PACKED, second.len(), &second, true)];
    let all = frame(&HEADER, &blocks);
    assert_eq!(decode(&all, 2).unwrap(), [1, 2]);
    // The next frame starts without tables.
    let next = [&all[..], &packed(&second)].concat();
    assert_eq!(decode(&next, 3), fault(all.len() + BLOCK + 3, Fault::NoTable));
}

#[test]
fn blocks_are_not_larger_than_the_window() {
    let mut header = HEADER;
    header[5] = 0;
    let limit = 1 << 10;
    let long = vec![0; limit + 1];
    let all = frame(&header, &[block(PACKED, long.len(), &long, true)]);
    assert_eq!(decode(&all, 10), fault(BLOCK, Fault::BlockSize { nbytes: limit + 1, limit }));
    // 2,000 literals of one value.
    let all = frame(&header, &[block(PACKED, 4, &[0b0101, 125, 7, 0], true)]);
    assert_eq!(decode(&all, 2000), fault(BLOCK, Fault::BlockSize { nbytes: 2000, limit }));
    let all = frame(&HEADER, &[block(PACKED, 4, &[0b0101, 125, 7, 0], true)]);
    assert_eq!(decode(&all, 2000).unwrap(), [7; 2000]);
    // A literal, and a match at a distance of 1 of 65,539 bytes plus the value of the bits.
    let long = |bits, nbytes| decode(&packed(&same_sequences(b"a", [1, 0, 52], 1, bits)), nbytes);
    assert_eq!(long("1111111111111100", 131_072).unwrap(), [b'a'; 131_072]);
    let what = Fault::BlockSize { nbytes: 131_073, limit: 131_072 };
    assert_eq!(long("1111111111111101", 131_073), fault(BLOCK, what));
}

#[test]
fn dictionaries_stand_before_the_content() {
    let sequences = same_sequences(b"abc", [3, 3, 3], 1, "111");
    // 6 bytes from a distance of 8 + 7 - 3: three of them come from the dictionary.
    let dict = b"0123456789";
    let stream = packed(&sequences);
    assert_eq!(decode_with(Some(dict), &stream, 9).unwrap(), b"abc123456");
    assert_eq!(
        decode(&stream, 9),
        corrupt(BLOCK + 5, Corrupt::Distance { distance: 12, available: 3 })
    );
    // The match begins in the dictionary and ends in the content.
    let sequences = same_sequences(b"abc", [3, 2, 3], 1, "11");
    assert_eq!(decode_with(Some(dict), &packed(&sequences), 9).unwrap(), b"abc9abc9a");
    // The frame needs another dictionary.
    let mut other = HEADER.to_vec();
    other[4] = 1;
    other.push(77);
    let all = frame(&other, &[block(RAW, 1, b"a", true)]);
    assert_eq!(
        decode_with(Some(dict), &all, 1),
        fault(0, Fault::Dictionary { needed: 77, given: 0 })
    );
    let broken = [&[0x37, 0xA4, 0x30, 0xEC, 1, 0, 0, 0][..], &[0xFF; 50]].concat();
    let what = Param::BadDict { nbytes: 58, message: "its tables are damaged" };
    assert_eq!(
        decode_with(Some(&broken), &all, 1),
        Err(Error::Param { codec: CodecId::ZSTD, what })
    );
}

#[test]
fn every_prefix_is_refused() {
    let code = weights(&[1, 1]);
    let blocks = [
        block(RAW, 3, b"abc", false),
        block(PACKED, 11, &literals(&code, &[backward("0001101")], 4), false),
        block(RUN, 5, b"d", true),
    ];
    let whole = frame(&HEADER, &blocks);
    let nbytes = 3 + 4 + 5;
    let _ = decode(&whole, nbytes);
    for end in 1..whole.len() {
        let error = decode(&whole[..end], nbytes).unwrap_err();
        assert!(matches!(error, Error::Corrupt { at, .. } if at <= end), "{end}: {error}");
    }
}
