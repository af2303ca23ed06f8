//! The nine checksums, of chunks and of metadata ("Checksums" in the format document).

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "lengths of digests are constants"
)]

use core::fmt;
use core::str::FromStr;

use blosc_container::crc32::crc32;
use blosc_dtype::text::hex;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};

use crate::Param;

/// A kind of checksum. The order is that of the ids in the file, 0 to 8.
///
/// ```
/// use bloscpack::Checksum;
///
/// let checksum: Checksum = "crc32".parse()?;
/// assert_eq!(checksum.digest(b"123456789").as_bytes(), 0xcbf4_3926_u32.to_le_bytes());
/// # Ok::<(), bloscpack::error::Param>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Checksum {
    /// No checksum: a damaged chunk may go unnoticed.
    None,
    /// Adler-32 as in zlib: fast, and weak for short chunks. The default of Bloscpack 0.16.0.
    #[default]
    Adler32,
    /// CRC-32 as in zlib.
    Crc32,
    /// MD5.
    Md5,
    /// SHA-1.
    Sha1,
    /// SHA-224.
    Sha224,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl Checksum {
    /// All kinds, in the order of their ids.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::Adler32,
        Self::Crc32,
        Self::Md5,
        Self::Sha1,
        Self::Sha224,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
    ];

    /// The kind of an id, 0 to 8.
    #[must_use]
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.get(usize::from(id)).copied()
    }

    /// The id in the file.
    #[must_use]
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// The name that Bloscpack 0.16.0 uses, `None` capitalised.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Adler32 => "adler32",
            Self::Crc32 => "crc32",
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha224 => "sha224",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    /// Bytes of a digest.
    #[must_use]
    pub const fn digest_len(self) -> usize {
        match self {
            Self::None => 0,
            Self::Adler32 | Self::Crc32 => 4,
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// The digest of `bytes` as it is stored: the 32-bit sums little-endian, unlike zlib's.
    #[must_use]
    pub fn digest(self, bytes: &[u8]) -> Digest {
        match self {
            Self::None => Digest::new(&[]),
            Self::Adler32 => Digest::new(&simd_adler32::adler32(&bytes).to_le_bytes()),
            Self::Crc32 => Digest::new(&crc32(bytes).to_le_bytes()),
            Self::Md5 => Digest::new(&Md5::digest(bytes)),
            Self::Sha1 => Digest::new(&Sha1::digest(bytes)),
            Self::Sha224 => Digest::new(&Sha224::digest(bytes)),
            Self::Sha256 => Digest::new(&Sha256::digest(bytes)),
            Self::Sha384 => Digest::new(&Sha384::digest(bytes)),
            Self::Sha512 => Digest::new(&Sha512::digest(bytes)),
        }
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Checksum {
    type Err = Param;

    /// Finds a kind by its exact name.
    fn from_str(name: &str) -> Result<Self, Param> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| Param::ChecksumName { name: name.into() })
    }
}

/// A digest as it is stored in a file, 0 to 64 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest {
    bytes: [u8; Self::MAX_LEN],
    len: u8,
}

impl Digest {
    /// Bytes of the longest digest.
    pub const MAX_LEN: usize = 64;

    /// A digest of at most 64 bytes; a longer one is cut.
    pub(crate) fn new(digest: &[u8]) -> Self {
        let mut bytes = [0; Self::MAX_LEN];
        let mut len = 0;
        for (to, from) in bytes.iter_mut().zip(digest) {
            *to = *from;
            len += 1;
        }
        Self { bytes, len }
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }
}

impl fmt::Display for Digest {
    /// Lower-case hexadecimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(self.as_bytes(), ""))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_a_known_text_are_the_known_ones() {
        let known = [
            "",
            "27014d02", // 0x024d0127
            "c2412435", // 0x352441c2
            "900150983cd24fb0d6963f7d28e17f72",
            "a9993e364706816aba3e25717850c26c9cd0d89d",
            "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ];
        for (checksum, hex) in Checksum::ALL.into_iter().zip(known) {
            assert_eq!(checksum.digest(b"abc").to_string(), hex, "{checksum}");
        }
        assert!(
            Checksum::Sha384
                .digest(b"abc")
                .to_string()
                .starts_with("cb00753f45a35e8bb5a03d699ac65007")
        );
        assert!(
            Checksum::Sha512
                .digest(b"abc")
                .to_string()
                .starts_with("ddaf35a193617abacc417349ae204131")
        );
    }

    #[test]
    fn adler32_starts_with_one() {
        assert_eq!(Checksum::Adler32.digest(b"").as_bytes(), [1, 0, 0, 0]);
    }

    #[test]
    fn ids_names_and_lengths_agree() {
        for (id, checksum) in Checksum::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(checksum.id()), id);
            assert_eq!(Checksum::from_id(checksum.id()), Some(checksum));
            assert_eq!(checksum.name().parse::<Checksum>().unwrap(), checksum);
            assert_eq!(checksum.digest(b"x").as_bytes().len(), checksum.digest_len());
        }
        assert_eq!(Checksum::from_id(9), None);
    }

    #[test]
    fn names_are_case_sensitive() {
        assert_eq!(
            "none".parse::<Checksum>().unwrap_err(),
            Param::ChecksumName { name: "none".into() }
        );
    }
}
