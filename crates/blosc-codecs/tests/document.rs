//! The examples of `docs/formats/codecs.md`: they stand there as bytes, and decode to what is said
//! beside them.

use blosc_codecs::{CodecId, DecodeOptions, Registry};

const DOCUMENT: &str = include_str!("../../../docs/formats/codecs.md");

/// The bytes of the example in the chapter that begins with `title`: the hexadecimal words behind
/// `payload`.
fn payload(title: &str) -> Vec<u8> {
    let chapter = DOCUMENT.split_once(title).expect("the chapter").1;
    let line = chapter.lines().find_map(|line| line.strip_prefix("payload  ")).expect("an example");
    let words = line.split_whitespace();
    words.flat_map(unhex).collect()
}

fn unhex(word: &str) -> Vec<u8> {
    let pairs = word.as_bytes().chunks(2).map(|pair| core::str::from_utf8(pair).expect("text"));
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal digits")).collect()
}

/// What the registered codec makes of an example.
fn decoded(id: CodecId, payload: &[u8], meta: u8, nbytes: usize) -> Vec<u8> {
    let registry = Registry::builtin();
    let codec = registry.require(id).expect("a built-in codec");
    let options = DecodeOptions { meta, typesize: 1, ..DecodeOptions::default() };
    let mut plain = vec![0; nbytes];
    codec.new_decoder(&options).unwrap().decode(payload, &mut plain).unwrap();
    plain
}

#[test]
fn the_text_is_coded_three_ways() {
    let text = b"abcabcabcabcabcabcabcabcX";
    for (title, id) in [
        ("## 3. BloscLZ", CodecId::BLOSCLZ),
        ("## 4. LZ4", CodecId::LZ4),
        #[cfg(feature = "snappy")]
        ("## 5. Snappy", CodecId::SNAPPY),
    ] {
        assert_eq!(decoded(id, &payload(title), 0, text.len()), text, "{title}");
    }
}

#[test]
fn the_cells_of_ndlz_are_equal() {
    let plain = decoded(CodecId::NDLZ, &payload("## 9. NDLZ"), 4, 32);
    let expected: Vec<u8> =
        (0..4).flat_map(|row| [0, 1, 2, 3, 0, 1, 2, 3].map(|column| 4 * row + column)).collect();
    assert_eq!(plain, expected);
}
