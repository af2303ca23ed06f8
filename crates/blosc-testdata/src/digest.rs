//! Digests for comparing contents.

use core::fmt::Write;

use sha2::{Digest, Sha256};

/// The SHA-256 of `bytes` in lower-case hexadecimal, as in the manifest (64 characters).
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The CRC-32 (IEEE 802.3) of `bytes`, as in tables of the documents.
pub fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8)
            .fold(crc ^ u32::from(*byte), |c, _| (c >> 1) ^ (0xEDB8_8320 & (c & 1).wrapping_neg()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_of_nothing_is_the_known_one() {
        assert_eq!(
            sha256_hex(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn checksum_of_nine_digits_is_the_known_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
