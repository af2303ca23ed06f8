//! Compares bytes that cannot be read side by side.

use core::hash::Hasher as _;
use std::{
    collections::hash_map::DefaultHasher,
    io::{self, Write},
};

/// Length and hash of bytes, independent of their division into pieces. A digest finds accidents,
/// not attacks.
#[derive(Clone, Debug, Default)]
pub struct Digest {
    hasher: DefaultHasher,
    nbytes: u64,
}

impl Digest {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.hasher.write(bytes);
        self.nbytes = self.nbytes.saturating_add(bytes.len() as u64);
    }
}

impl Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.nbytes == other.nbytes && self.hasher.finish() == other.hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_does_not_depend_on_how_bytes_are_cut() {
        let data: Vec<u8> = (0..200).collect();
        let mut whole = Digest::default();
        whole.update(&data);
        for cut in 1..20 {
            let mut pieces = Digest::default();
            data.chunks(cut).for_each(|piece| pieces.update(piece));
            assert_eq!(pieces, whole);
        }
        let mut other = Digest::default();
        other.update(&data[1..]);
        assert_ne!(other, whole);
    }
}
