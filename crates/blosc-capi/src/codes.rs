//! Converts errors to the codes of C-Blosc.

use core::ffi::c_int;

use blosc_chunk::Error;

/// The code of C-Blosc for a failure: for damage of any kind, and for an unknown name.
pub const FAILURE: c_int = -1;
/// No codec decodes the chunk, or has this name.
pub const CODEC_SUPPORT: c_int = -5;
/// The library does not know the version of the chunk, or of its codec's format.
pub const VERSION_SUPPORT: c_int = -9;
/// An argument of `compress` is out of range.
pub const INVALID_PARAM: c_int = -10;

/// The code of C-Blosc for an error of a chunk that was read.
#[must_use]
pub fn blosc1_read(error: &Error) -> c_int {
    use blosc_chunk::error::Corrupt;
    match error {
        Error::Block { source, .. } => blosc1_read(source),
        Error::UnknownCodec { .. } => CODEC_SUPPORT,
        Error::Corrupt { what: Corrupt::VersionLz { .. }, .. } => VERSION_SUPPORT,
        _ => FAILURE,
    }
}

/// The code of C-Blosc for data that were not compressed: 0 if the chunk does not fit.
#[must_use]
pub fn blosc1_write(error: &Error) -> c_int {
    match error {
        Error::Dest { .. } => 0,
        Error::Param(blosc_chunk::error::Param::Nbytes { .. }) => 0,
        Error::UnknownCodec { .. } => CODEC_SUPPORT,
        Error::Param(_) => INVALID_PARAM,
        _ => FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_chunk::error::Corrupt;

    #[test]
    fn damage_is_minus_one_whatever_it_is() {
        let damage = |what| Error::Corrupt { at: 0, what };
        assert_eq!(blosc1_read(&damage(Corrupt::Typesize)), -1);
        let block = Error::Block { nblock: 1, at: 2, source: Box::new(damage(Corrupt::Lazy)) };
        assert_eq!(blosc1_read(&block), -1);
        assert_eq!(blosc1_read(&damage(Corrupt::VersionLz { versionlz: 3 })), -9);
        assert_eq!(blosc1_write(&Error::Dest { needed: 2, room: 1 }), 0);
    }
}
