//! The named data sets for comparing the sizes of codecs.
//!
//! All random ones start from the first output of [`XorShift32`] with its default seed. Checksums
//! pin their first 262,144 bytes, so that a size in a table can be reproduced anywhere.

use crate::data::{XorShift32, low_byte, sparse_byte};

/// One named data set.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    /// The name in the tables.
    pub name: &'static str,
    make: fn(usize) -> Vec<u8>,
}

impl Set {
    /// The first `nbytes` bytes of the set.
    pub fn bytes(&self, nbytes: usize) -> Vec<u8> {
        let mut bytes = (self.make)(nbytes);
        bytes.truncate(nbytes);
        bytes
    }
}

/// Every set, in the order of the tables.
pub const SETS: [Set; 11] = [
    Set { name: "zeros", make: |nbytes| vec![0; nbytes] },
    Set { name: "ramp_u32", make: ramp_u32 },
    Set { name: "lin_f64", make: lin_f64 },
    Set { name: "walk_i32", make: walk_i32 },
    Set { name: "words", make: words },
    Set { name: "noise", make: noise },
    Set { name: "two_bit", make: two_bit },
    Set { name: "period1000", make: |nbytes| repeat(&noise(1000), nbytes) },
    Set { name: "period20000", make: |nbytes| repeat(&noise(20_000), nbytes) },
    Set { name: "words24k", make: |nbytes| repeat(&words(24_000)[..24_000], nbytes) },
    Set { name: "sparse", make: sparse },
];

/// The first `nbytes` bytes of the set called `name`.
pub fn set(name: &str, nbytes: usize) -> Option<Vec<u8>> {
    SETS.iter().find(|set| set.name == name).map(|set| set.bytes(nbytes))
}

fn ramp_u32(nbytes: usize) -> Vec<u8> {
    (0_u32..).flat_map(u32::to_le_bytes).take(nbytes).collect()
}

fn lin_f64(nbytes: usize) -> Vec<u8> {
    (0_u32..).flat_map(|i| (f64::from(i) * 0.001).to_le_bytes()).take(nbytes).collect()
}

fn walk_i32(nbytes: usize) -> Vec<u8> {
    let mut rng = XorShift32::default();
    let mut sum = 0_i32;
    let step = || {
        sum = sum.wrapping_add_unsigned(rng.next_hi() % 7).wrapping_sub(3);
        sum
    };
    core::iter::repeat_with(step).flat_map(i32::to_le_bytes).take(nbytes).collect()
}

fn words(nbytes: usize) -> Vec<u8> {
    let mut rng = XorShift32::default();
    let mut out = Vec::with_capacity(nbytes + 8);
    while out.len() < nbytes {
        out.extend_from_slice(WORDS[(rng.next_hi() & 15) as usize].as_bytes());
    }
    out
}

fn noise(nbytes: usize) -> Vec<u8> {
    random(nbytes, |x| low_byte(x >> 16))
}

fn two_bit(nbytes: usize) -> Vec<u8> {
    random(nbytes, |x| low_byte(x >> 16) & 3)
}

fn sparse(nbytes: usize) -> Vec<u8> {
    random(nbytes, sparse_byte)
}

fn random(nbytes: usize, byte: impl Fn(u32) -> u8) -> Vec<u8> {
    let mut rng = XorShift32::default();
    (0..nbytes).map(|_| byte(rng.next_u32())).collect()
}

fn repeat(period: &[u8], nbytes: usize) -> Vec<u8> {
    period.iter().copied().cycle().take(nbytes).collect()
}

const WORDS: [&str; 16] = [
    "the ", "of ", "block ", "chunk ", "byte ", "frame ", "value ", "array ", "shuffle ", "delta ",
    "level ", "header ", "offset ", "length ", "filter ", "codec ",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crc32;

    #[test]
    fn checksums_of_all_sets_are_the_published_ones() {
        for (set, expected) in SETS.iter().zip(CRC32) {
            let bytes = set.bytes(262_144);
            assert_eq!(bytes.len(), 262_144);
            // The table has lin_f64 only after shuffling.
            let bytes = if set.name == "lin_f64" { transpose(&bytes, 8) } else { bytes };
            assert_eq!(crc32(&bytes), expected, "{}", set.name);
        }
    }

    #[test]
    fn sets_are_found_by_name_and_are_prefixes_of_themselves() {
        for Set { name, .. } in SETS {
            let long = set(name, 50_001).unwrap();
            assert_eq!(set(name, 777).unwrap(), long[..777], "{name}");
        }
        assert_eq!(set("no such set", 10), None);
    }

    /// The shuffle filter: byte 0 of all items, byte 1 of all items, and so on.
    fn transpose(bytes: &[u8], typesize: usize) -> Vec<u8> {
        (0..typesize).flat_map(|k| bytes.iter().skip(k).step_by(typesize).copied()).collect()
    }

    const CRC32: [u32; 11] = [
        0xE20E_EA22,
        0xD761_C955,
        0xC1B9_8B6A,
        0xFF5E_5ACF,
        0x3F3D_4A3D,
        0x2A28_826C,
        0xE24D_1E86,
        0x1112_0553,
        0x25AA_67A3,
        0x2A69_A9A1,
        0xA2FB_AE33,
    ];
}
