//! Whole files in memory: the one-line functions.

use std::io::{Cursor, Write};

use crate::{Error, Reader, Result, WriteOptions, Writer};

/// Data as a file.
///
/// ```
/// let blp = bloscpack::pack(b"some data", bloscpack::WriteOptions::default())?;
/// assert_eq!(bloscpack::unpack(&blp)?, b"some data");
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
///
/// As [`Writer::seekable`] and [`Writer::finish`].
pub fn pack(data: &[u8], options: WriteOptions) -> Result<Vec<u8>> {
    let options = options.nbytes(Some(data.len() as u64));
    let mut writer = Writer::seekable(Cursor::new(vec![]), options)?;
    writer.write_all(data).map_err(own)?;
    Ok(writer.finish()?.into_inner())
}

/// The data of a file. Bytes after its last chunk are ignored.
///
/// # Errors
///
/// As [`Reader::new`] and [`Reader::next_data`].
pub fn unpack(blp: &[u8]) -> Result<Vec<u8>> {
    let mut data = vec![];
    Reader::new(blp)?.copy_to(&mut data)?;
    Ok(data)
}

/// The error of this crate inside an [`io::Error`](std::io::Error), or the I/O error itself.
pub(crate) fn own(error: std::io::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => error,
        Err(source) => Error::io(0, source),
    }
}
