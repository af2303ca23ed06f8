//! `.npy` files: NumPy's own format for one array, a header ([`blosc_dtype::npy`]) and the items.

use std::io::{Read, Seek, Write};

use blosc_dtype::npy::{NpyError, NpyHeader, START_NBYTES, header_len};

use super::{ArrayInfo, Order, array_writer};
use crate::input::Input;
use crate::{Corrupt, Error, Param, Part, Reader, Result, WriteOptions};

/// Reads the header of a `.npy` file; the items follow in `npy`.
///
/// ```
/// use bloscpack::numpy::{Order, npy};
///
/// let mut file = &b"\x93NUMPY\x01\0\x3c\0{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }  \n"[..];
/// let info = npy::read_header(&mut file)?;
/// assert_eq!(info.dtype().to_string(), "<i4");
/// assert_eq!((info.shape(), info.order()), (&[3][..], Order::C));
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Corrupt`], [`Error::Dtype`] or [`Error::Io`].
pub fn read_header(npy: &mut dyn Read) -> Result<ArrayInfo> {
    let mut input = Input::new(npy, 0, None);
    let mut bytes = vec![0; START_NBYTES];
    input.exact(Part::Npy, &mut bytes)?;
    let rest = header_len(&bytes).map_err(npy_error)?.saturating_sub(START_NBYTES);
    input.append(Part::Npy, rest as u64, &mut bytes)?;
    let NpyHeader { dtype, fortran_order, shape, .. } =
        NpyHeader::parse(&bytes).map_err(npy_error)?;
    ArrayInfo::new(dtype, shape, if fortran_order { Order::F } else { Order::C })
}

fn npy_error(error: NpyError) -> Error {
    match error {
        NpyError::Dtype(source) => source.into(),
        NpyError::Objects => Error::corrupt(0, Corrupt::ArrayObjects),
        what => Error::corrupt(0, Corrupt::Npy(what)),
    }
}

/// Writes the header of a `.npy` file, as `numpy.save` does; the items follow.
///
/// # Errors
///
/// [`Param::Array`] if the type of the items has no text, or [`Error::Io`].
pub fn write_header(npy: &mut dyn Write, info: &ArrayInfo) -> Result<()> {
    npy.write_all(&header(info)?).map_err(|source| Error::io(0, source))
}

fn header(info: &ArrayInfo) -> Result<Vec<u8>> {
    let header = NpyHeader {
        fortran_order: info.order() == Order::F,
        ..NpyHeader::new(info.dtype().clone(), info.shape().to_vec())
    };
    Ok(header.to_bytes().ok_or(Param::Array { what: "overlapping fields or sub-arrays" })?)
}

/// Writes the array of a `.npy` file to a new `.blp` file, chunk by chunk, and returns the
/// destination.
///
/// # Errors
///
/// As [`read_header`] and [`array_writer`]; [`Param::DataSize`] for more or fewer items than the
/// header announces.
pub fn to_blp<W: Write + Seek>(mut npy: impl Read, blp: W, options: WriteOptions) -> Result<W> {
    let info = read_header(&mut npy)?;
    let mut writer = array_writer(blp, &info, options)?;
    std::io::copy(&mut npy, &mut writer).map_err(crate::pack::own)?;
    writer.finish()
}

/// Writes the array of a `.blp` file to a `.npy` file, chunk by chunk, and returns its description.
///
/// # Errors
///
/// [`Param::NotAnArray`] if the file holds none; otherwise as [`Reader::array_info`] and
/// [`Reader::copy_to`].
pub fn from_blp<R: Read>(reader: &mut Reader<R>, npy: &mut dyn Write) -> Result<ArrayInfo> {
    let info = reader.array_info()?.ok_or(Param::NotAnArray)?;
    write_header(npy, &info)?;
    let found = reader.copy_to(npy)?;
    info.check_nbytes(found)?;
    Ok(info)
}

#[cfg(test)]
mod tests;
