//! The kind of an error of the reader: unknown formats and errors of the system are not damage.

use core::fmt;
use std::io;

use hdf5_blosc::datatype::TypeError;
use hdf5_reader::error::Error;

pub(super) fn invalid(error: impl fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

pub(super) fn unsupported(error: impl fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, error.to_string())
}

pub(super) fn of_type(error: TypeError) -> io::Error {
    match error {
        TypeError::Unsupported(_) => unsupported(error),
        _ => invalid(error),
    }
}

/// The class of the layout of a virtual data set, which the reader does not know.
const VIRTUAL: u8 = 3;

pub(super) fn of_reader(error: Error) -> io::Error {
    if let Error::UnsupportedLayoutClass(VIRTUAL) = within(&error) {
        return unsupported("a virtual data set, whose items are in other data sets");
    }
    let kind = match within(&error) {
        Error::Io(inner) => inner.kind(),
        inner if is_unsupported(inner) => io::ErrorKind::Unsupported,
        _ => io::ErrorKind::InvalidData,
    };
    io::Error::new(kind, error.to_string())
}

/// The error without its path.
fn within(error: &Error) -> &Error {
    match error {
        Error::Context { source, .. } => within(source),
        error => error,
    }
}

/// Whether the file lacks the name.
pub(super) fn is_missing(error: &Error) -> bool {
    matches!(within(error), Error::DatasetNotFound(_) | Error::GroupNotFound(_))
}

fn is_unsupported(error: &Error) -> bool {
    matches!(
        error,
        Error::UnsupportedSuperblockVersion(_)
            | Error::UnsupportedDatatypeClass(_)
            | Error::UnsupportedLayoutClass(_)
            | Error::UnsupportedLayoutVersion(_)
            | Error::UnsupportedLinkType(_)
            | Error::UnsupportedChunkIndexType(_)
            | Error::UnsupportedOffsetSize(_)
            | Error::UnsupportedLengthSize(_)
            | Error::UnsupportedFilter(_)
            | Error::UnsupportedEncoding(_)
            | Error::ResourceLimit(_)
    )
}
