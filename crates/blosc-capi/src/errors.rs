//! The error codes of C-Blosc2, and the code for each of our errors.

use core::ffi::{CStr, c_int};

use blosc_chunk::Error;
use blosc_chunk::error::{Corrupt, Param};

/// Declares the codes with their texts.
macro_rules! codes {
    ($( $NAME:ident = $code:literal, $text:literal; )+) => {
        $( #[doc = $text]
        pub const $NAME: c_int = $code; )+

        /// The text of a code.
        const fn known(code: c_int) -> Option<&'static str> {
            match code {
                $( $NAME => Some(concat!($text, "\0")), )+
                _ => None,
            }
        }
    };
}

codes! {
    FAILURE = -1, "Generic failure";
    STREAM = -2, "Bad stream";
    DATA = -3, "Invalid data";
    MEMORY_ALLOC = -4, "Memory alloc/realloc failure";
    READ_BUFFER = -5, "Not enough space to read";
    WRITE_BUFFER = -6, "Not enough space to write";
    CODEC_SUPPORT = -7, "Codec not supported";
    CODEC_PARAM = -8, "Invalid parameter supplied to codec";
    CODEC_DICT = -9, "Codec dictionary error";
    VERSION_SUPPORT = -10, "Version not supported";
    INVALID_HEADER = -11, "Invalid value in header";
    INVALID_PARAM = -12, "Invalid parameter supplied to function";
    FILE_READ = -13, "File read failure";
    FILE_WRITE = -14, "File write failure";
    FILE_OPEN = -15, "File open failure";
    NOT_FOUND = -16, "Not found";
    RUN_LENGTH = -17, "Bad run length encoding";
    FILTER_PIPELINE = -18, "Filter pipeline error";
    CHUNK_INSERT = -19, "Chunk insert failure";
    CHUNK_APPEND = -20, "Chunk append failure";
    CHUNK_UPDATE = -21, "Chunk update failure";
    SIZE_LIMIT = -22, "Sizes larger than 2gb not supported";
    SCHUNK_COPY = -23, "Super-chunk copy failure";
    FRAME_TYPE = -24, "Wrong type for frame";
    FILE_TRUNCATE = -25, "File truncate failure";
    THREAD_CREATE = -26, "Thread or thread context creation failure";
    POSTFILTER = -27, "Postfilter failure";
    FRAME_SPECIAL = -28, "Special frame failure";
    SCHUNK_SPECIAL = -29, "Special super-chunk failure";
    PLUGIN_IO = -30, "IO plugin error";
    FILE_REMOVE = -31, "Remove file failure";
    NULL_POINTER = -32, "Pointer is null";
    INVALID_INDEX = -33, "Invalid index";
    METALAYER_NOT_FOUND = -34, "Metalayer has not been found";
    MAX_BUFSIZE_EXCEEDED = -35, "Maximum buffersize exceeded";
    TUNER = -36, "Tuner failure";
    LOCK = -37, "Frame lock failure";
}

/// The text of a code; a common one for all numbers that are no codes, including 0.
#[must_use]
pub fn text(code: c_int) -> &'static CStr {
    known(code)
        .and_then(|text| CStr::from_bytes_with_nul(text.as_bytes()).ok())
        .unwrap_or(c"Unknown error")
}

/// The code for a chunk that was not read.
#[must_use]
pub fn read(error: &Error) -> c_int {
    match error {
        Error::Block { source, .. } => read(source),
        Error::Corrupt { what, .. } => corrupt(what),
        Error::Codec { .. } => DATA,
        Error::UnknownCodec { .. } => CODEC_SUPPORT,
        Error::Filter { .. } | Error::UnknownFilter { .. } => FILTER_PIPELINE,
        Error::UnknownVersion { .. } => VERSION_SUPPORT,
        Error::Limit { .. } | Error::Memory { .. } => MEMORY_ALLOC,
        Error::Dest { .. } => WRITE_BUFFER,
        Error::Range { .. } | Error::Param(_) | Error::Unsupported(_) => INVALID_PARAM,
        Error::Hook { .. } => POSTFILTER,
        _ => FAILURE,
    }
}

fn corrupt(what: &Corrupt) -> c_int {
    match what {
        Corrupt::TooShort { .. }
        | Corrupt::StreamHeader { .. }
        | Corrupt::StreamSize { .. }
        | Corrupt::TokenMissing { .. }
        | Corrupt::Token { .. } => READ_BUFFER,
        Corrupt::Typesize
        | Corrupt::Nbytes { .. }
        | Corrupt::Blocksize { .. }
        | Corrupt::Cbytes { .. }
        | Corrupt::Truncated { .. }
        | Corrupt::ValueWidth { .. } => INVALID_HEADER,
        Corrupt::RunValue { .. } => RUN_LENGTH,
        Corrupt::Lazy => INVALID_PARAM,
        Corrupt::DictSize { .. } => CODEC_DICT,
        _ => DATA,
    }
}

/// The code for data that were not compressed; 0 if the chunk does not fit.
#[must_use]
pub fn write(error: &Error) -> c_int {
    match error {
        Error::Dest { .. } => 0,
        Error::UnknownCodec { .. } => CODEC_SUPPORT,
        Error::Codec { .. } => DATA,
        Error::Memory { .. } => MEMORY_ALLOC,
        Error::Filter { .. } | Error::UnknownFilter { .. } | Error::Hook { .. } => FILTER_PIPELINE,
        Error::Param(param) => match param {
            Param::Nbytes { .. } => MAX_BUFSIZE_EXCEEDED,
            Param::DictSize { .. } => CODEC_PARAM,
            Param::CodecForTarget { .. } => CODEC_SUPPORT,
            Param::TwoDeltas
            | Param::DeltaNotFirst
            | Param::DeltaLossyCodec
            | Param::FiltersForTarget { .. } => FILTER_PIPELINE,
            _ => INVALID_PARAM,
        },
        _ => FAILURE,
    }
}

/// The code for a frame that was not read or written.
#[must_use]
pub fn frame(error: &b2frame::Error) -> c_int {
    use b2frame::Error as E;
    match error {
        E::Io { .. } | E::Outdated { .. } => FILE_READ,
        E::Write { .. } | E::Output { .. } | E::ChangedByOther => FILE_WRITE,
        E::Open { .. } => FILE_OPEN,
        E::Lock { .. } | E::Locked { .. } => LOCK,
        E::Chunk { source, .. } | E::Index { source, .. } => read(source),
        E::Compress { source, .. } => match write(source) {
            0 => WRITE_BUFFER,
            code => code,
        },
        E::UnknownVersion { .. } | E::UnknownNdVersion { .. } => VERSION_SUPPORT,
        E::UnknownTrailerVersion { .. } => VERSION_SUPPORT,
        E::Corrupt { .. } | E::NotAFrame { .. } => INVALID_HEADER,
        E::Limit { .. } => MEMORY_ALLOC,
        E::Param(_) => INVALID_PARAM,
        _ => FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_text_and_other_numbers_have_one_together() {
        let texts: Vec<_> = (-37..0).map(text).collect();
        assert!(texts.iter().all(|text| *text != c"Unknown error"));
        assert_eq!(texts.iter().collect::<std::collections::BTreeSet<_>>().len(), 37);
        assert_eq!(text(INVALID_HEADER), c"Invalid value in header");
        assert!([-38, 0, 1, c_int::MIN].iter().all(|code| text(*code) == c"Unknown error"));
    }

    #[test]
    fn an_error_inside_a_block_has_the_code_of_its_cause() {
        let cause = Error::Corrupt { at: 40, what: Corrupt::RunValue { csize: -300 } };
        let error = Error::Block { nblock: 3, at: 36, source: Box::new(cause) };
        assert_eq!((read(&error), write(&Error::Dest { needed: 2, room: 1 })), (RUN_LENGTH, 0));
    }
}
