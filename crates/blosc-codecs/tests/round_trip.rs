//! What goes in comes out, for every codec, level, kind of data and length; and a stream never passes its room.

use blosc_codecs::{Codec, DecodeOptions, EncodeOptions, Level, Registry};

/// Data of four kinds: ramp, random walk, text, noise.
fn data(kind: usize, len: usize) -> Vec<u8> {
    let mut x = 0x9E37_79B9u32;
    let mut random = move || {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x >> 16
    };
    let words = ["the ", "of ", "block ", "chunk ", "byte ", "frame ", "value ", "array "];
    let mut walk = 0u8;
    let mut out = Vec::with_capacity(len + 8);
    while out.len() < len {
        match kind {
            0 => out.extend(u32::try_from(out.len() / 4).expect("short").to_le_bytes()),
            1 => {
                walk = walk.wrapping_add(u8::try_from(random() % 7).expect("small")).wrapping_sub(3);
                out.extend([walk, 0, 0, walk >> 7]);
            }
            2 => out.extend(words[random() as usize % 8].bytes()),
            _ => out.push(random().to_le_bytes()[0]),
        }
    }
    out.truncate(len);
    out
}

fn check(codec: &dyn Codec, level: u8, lens: impl Iterator<Item = usize>) {
    let options =
        EncodeOptions { level: Level::try_from(level).expect("a level"), ..EncodeOptions::default() };
    let mut encoder = codec.new_encoder(&options).expect("an encoder");
    let mut decoder = codec.new_decoder(&DecodeOptions::default()).expect("a decoder");
    for len in lens {
        for kind in 0..4 {
            let plain = data(kind, len);
            let what = format!("{} level {level}, kind {kind}, {len} bytes", codec.name());
            let mut stream = vec![0; codec.max_compressed_len(len)];
            let Some(csize) = encoder.encode(&plain, &mut stream).expect("no error") else {
                assert!(codec.name() == "blosclz", "{what}: {} bytes of room are enough", stream.len());
                continue;
            };
            let mut back = vec![0xA5; len];
            decoder.decode(&stream[..csize], &mut back).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(back == plain, "{what}");

            let mut tight = vec![0; csize];
            if let Some(n) = encoder.encode(&plain, &mut tight).expect("no error") {
                decoder.decode(&tight[..n], &mut back).unwrap_or_else(|e| panic!("{what}, tight: {e}"));
                assert!(back == plain, "{what}, tight");
            }
            for room in [0, csize / 2, csize.saturating_sub(1)] {
                if let Some(n) = encoder.encode(&plain, &mut tight[..room]).expect("no error") {
                    assert!(n <= room, "{what}: {n} bytes in {room}");
                    decoder
                        .decode(&tight[..n], &mut back)
                        .unwrap_or_else(|e| panic!("{what}, room {room}: {e}"));
                    assert!(back == plain, "{what}, room {room}");
                }
            }
        }
    }
}

#[test]
fn short_streams_of_every_length() {
    for codec in Registry::builtin().iter() {
        let step = if codec.name() == "zstd" { 7 } else { 1 };
        for level in [1, 5, 9] {
            check(&**codec, level, (1..300).step_by(step));
        }
    }
}

#[test]
fn long_streams_at_every_level() {
    for codec in Registry::builtin().iter() {
        for level in 0..=9 {
            check(&**codec, level, [1000, 4096, 40_001].into_iter());
        }
    }
}

#[test]
fn streams_longer_than_every_window() {
    for codec in Registry::builtin().iter() {
        check(&**codec, 3, [300_000].into_iter());
    }
}
