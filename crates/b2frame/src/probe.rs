//! Recognises the format of a file from its first bytes: to open it, or for an error message.

use core::fmt;

use crate::header::MAGIC;

/// Number of bytes that [`Kind::recognize`] needs.
pub const PROBE_LEN: usize = 32;

/// The kind of a file, as its first bytes suggest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A frame of the current layout, or the index file of a sparse one.
    Frame,
    /// A frame of the 2.0.0 betas.
    OlderFrame,
    /// A bare chunk. Chunks have no magic: the header is merely plausible.
    Chunk,
    /// A Bloscpack file.
    Bloscpack,
    /// A NumPy array.
    Npy,
    /// A zip archive, as `.npz` and `.b2z` are.
    Zip,
    /// A file of another kind, by its usual name.
    Foreign(&'static str),
    /// No bytes at all.
    Empty,
    /// A file of an unknown kind.
    Unknown,
}

/// The kind of a file, from its first [`PROBE_LEN`] bytes, or all of them if it has fewer.
#[must_use]
pub fn probe(prefix: &[u8]) -> Kind {
    Kind::recognize(prefix)
}

impl Kind {
    /// See [`probe`].
    #[must_use]
    pub fn recognize(prefix: &[u8]) -> Self {
        match prefix {
            [] => Self::Empty,
            [first, 0xa8, rest @ ..] if rest.starts_with(&MAGIC) => match first {
                0x9b..=0x9d => Self::OlderFrame,
                _ => Self::Frame,
            },
            _ => MAGICS
                .iter()
                .find(|(magic, _)| prefix.starts_with(magic))
                .map_or_else(|| unnamed(prefix), |m| m.1),
        }
    }

    /// Whether bytes resemble the beginning of a frame: at most two bytes differ. After a frame,
    /// these are a damaged frame.
    #[must_use]
    pub fn is_nearly_frame(prefix: &[u8]) -> bool {
        let start = [&[0x9e, 0xa8][..], &MAGIC].concat();
        let nequal = prefix.iter().zip(&start).filter(|(found, expected)| found == expected);
        Self::recognize(prefix) == Self::Unknown && nequal.count().saturating_add(2) >= start.len()
    }

    /// The usual name of a file of this kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Frame => "a Blosc2 frame",
            Self::OlderFrame => "a Blosc2 frame of the 2.0.0 betas",
            Self::Chunk => "a bare Blosc chunk",
            Self::Bloscpack => "a Bloscpack file",
            Self::Npy => "a NumPy array",
            Self::Zip => "a zip archive",
            Self::Foreign(name) => name,
            Self::Empty => "an empty file",
            Self::Unknown => "nothing known",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The kind of a file without a magic: perhaps a chunk.
fn unnamed(prefix: &[u8]) -> Kind {
    if looks_like_chunk(prefix) { Kind::Chunk } else { Kind::Unknown }
}

/// Whether the first 16 bytes could be a chunk header: a known version, and sizes that agree with
/// each other.
fn looks_like_chunk(prefix: &[u8]) -> bool {
    let Some(&[version, _, flags, typesize, ref sizes @ ..]) = prefix.first_chunk::<16>() else {
        return false;
    };
    let size = |n: usize| {
        sizes
            .get(n.saturating_mul(4)..)
            .and_then(|b| b.first_chunk().copied())
            .map(i32::from_le_bytes)
    };
    let (Some(nbytes), Some(blocksize), Some(cbytes)) = (size(0), size(1), size(2)) else {
        return false;
    };
    let header_len = if flags & 5 == 5 { 32 } else { 16 };
    matches!(version, 1..=6)
        && typesize > 0
        && nbytes >= 0
        && blocksize > 0
        && (blocksize <= nbytes.max(1) || version == 6)
        && cbytes >= header_len
}

/// First bytes and their kind. A longer magic precedes a shorter one with the same start.
const MAGICS: &[(&[u8], Kind)] = &[
    (b"blpk", Kind::Bloscpack),
    (b"\x93NUMPY", Kind::Npy),
    (b"PK\x03\x04", Kind::Zip),
    (b"PK\x05\x06", Kind::Zip),
    (b"\x89PNG\r\n\x1a\n", Kind::Foreign("a PNG image")),
    (b"\xff\xd8\xff", Kind::Foreign("a JPEG image")),
    (b"GIF8", Kind::Foreign("a GIF image")),
    (b"II*\0", Kind::Foreign("a TIFF image")),
    (b"MM\0*", Kind::Foreign("a TIFF image")),
    (b"%PDF-", Kind::Foreign("a PDF document")),
    (b"\x89HDF\r\n\x1a\n", Kind::Foreign("an HDF5 file")),
    (b"CDF", Kind::Foreign("a NetCDF file")),
    (b"PAR1", Kind::Foreign("a Parquet file")),
    (b"ARROW1", Kind::Foreign("an Arrow file")),
    (b"SQLite format 3\0", Kind::Foreign("an SQLite database")),
    (b"\x1f\x8b", Kind::Foreign("gzip data")),
    (b"BZh", Kind::Foreign("bzip2 data")),
    (b"\xfd7zXZ\0", Kind::Foreign("xz data")),
    (b"\x28\xb5\x2f\xfd", Kind::Foreign("a Zstandard stream")),
    (b"\x04\x22\x4d\x18", Kind::Foreign("an LZ4 stream")),
    (b"7z\xbc\xaf\x27\x1c", Kind::Foreign("a 7-zip archive")),
    (b"Rar!\x1a\x07", Kind::Foreign("a RAR archive")),
    (b"\x7fELF", Kind::Foreign("an ELF program")),
    (b"<?xml", Kind::Foreign("an XML document")),
    (b"\x80\x02", Kind::Foreign("a pickle of Python")),
    (b"\x80\x03", Kind::Foreign("a pickle of Python")),
    (b"\x80\x04", Kind::Foreign("a pickle of Python")),
    (b"\x80\x05", Kind::Foreign("a pickle of Python")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_old_and_new_are_told_apart() {
        assert_eq!(probe(b"\x9e\xa8b2frame\0\xd2"), Kind::Frame);
        for first in [0x9b, 0x9c, 0x9d] {
            assert_eq!(probe(&[&[first], &b"\xa8b2frame\0\xd2"[..]].concat()), Kind::OlderFrame);
        }
        assert_eq!(probe(b"\x9e\xa8b2framE\0\xd2"), Kind::Unknown);
    }

    #[test]
    fn every_magic_is_found() {
        for (magic, kind) in MAGICS {
            assert_eq!(probe(&[magic, &b"and so on"[..]].concat()), *kind, "{kind}");
        }
        assert_eq!(probe(b""), Kind::Empty);
        assert_eq!(probe(b"hello, world: a text"), Kind::Unknown);
        assert_eq!(probe(b"\x89PNG\r\n\x1a\n").to_string(), "a PNG image");
    }

    #[test]
    fn a_plausible_header_is_a_chunk() {
        let frame = include_bytes!("../../../conformance/samples/frames/tiny.b2frame");
        let chunk = &frame[0x75..0x75 + 32];
        assert_eq!(probe(chunk), Kind::Chunk);
        assert_eq!(probe(&chunk[..15]), Kind::Unknown);
        let mut other = chunk.to_vec();
        other[0] = 7;
        assert_eq!(probe(&other), Kind::Unknown);
    }
}
