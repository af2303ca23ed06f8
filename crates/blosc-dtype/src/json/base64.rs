//! Base 64, the form of bytes in JSON.

use alloc::string::String;
use alloc::vec::Vec;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The digits of `bytes`, with padding.
///
/// ```
/// assert_eq!(blosc_dtype::json::base64::encode(b"Ma"), "TWE=");
/// ```
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3).saturating_mul(4));
    for group in bytes.chunks(3) {
        let byte = |n: usize| u32::from(group.get(n).copied().unwrap_or_default());
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (n, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let digit = usize::try_from(word >> shift & 63).unwrap_or_default();
            let digit = DIGITS.get(digit).filter(|_| n <= group.len());
            text.push(char::from(digit.copied().unwrap_or(b'=')));
        }
    }
    text
}

/// The bytes of digits, with padding or without; `None` for any other character.
///
/// ```
/// assert_eq!(blosc_dtype::json::base64::decode("TWE=").as_deref(), Some(&b"Ma"[..]));
/// ```
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len().div_ceil(4).saturating_mul(3));
    let (mut bits, mut nbits) = (0_u32, 0_u32);
    for c in text.trim_end_matches('=').bytes() {
        let digit = match c {
            b'A'..=b'Z' => c.wrapping_sub(b'A'),
            b'a'..=b'z' => c.wrapping_sub(b'a').wrapping_add(26),
            b'0'..=b'9' => c.wrapping_sub(b'0').wrapping_add(52),
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(digit);
        nbits = nbits.saturating_add(6);
        if nbits >= 8 {
            nbits = nbits.saturating_sub(8);
            bytes.push(u8::try_from((bits >> nbits) & 0xff).unwrap_or_default());
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_everyone() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"M", "TQ=="),
            (b"Ma", "TWE="),
            (b"Man", "TWFu"),
            (b"\xff\xef", "/+8="),
        ] {
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text).as_deref(), Some(bytes));
            assert_eq!(decode(text.trim_end_matches('=')).as_deref(), Some(bytes));
        }
        assert_eq!(decode("a*"), None);
        let bytes: Vec<u8> = (0..=255).collect();
        (0..200)
            .for_each(|n| assert_eq!(decode(&encode(&bytes[n..])).as_deref(), Some(&bytes[n..])));
    }
}
