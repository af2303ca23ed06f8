//! `.npy` files: NumPy's own format for one array, a text header and the items.
//!
//! ```text
//! 0  \x93NUMPY, major and minor version
//! 8  length of the text: u16 in version 1, u32 in versions 2 and 3
//!    {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   blanks and a line end
//!    the items
//! ```

use std::io::{Read, Seek, Write};

use blosc_dtype::Dtype;

use super::{ArrayInfo, Order, array_writer};
use crate::input::Input;
use crate::{Corrupt, Error, Param, Part, Reader, Result, WriteOptions};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Items begin at a multiple of so many bytes.
const ALIGN: usize = 64;

/// Reads the header of a `.npy` file; the items follow in `npy`.
///
/// ```
/// use bloscpack::numpy::{Order, npy};
///
/// let mut file = &b"\x93NUMPY\x01\0\x3c\0{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }  \n"[..];
/// let info = npy::read_header(&mut file)?;
/// assert_eq!((info.dtype().to_string(), info.shape(), info.order()), ("<i4".into(), &[3][..], Order::C));
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Corrupt`], [`Error::Dtype`] or [`Error::Io`].
pub fn read_header(npy: &mut dyn Read) -> Result<ArrayInfo> {
    let mut input = Input::new(npy, 0, None);
    let mut start = [0; 8];
    input.exact(Part::Npy, &mut start)?;
    let len = match start {
        [magic @ .., 1, _] if magic == *MAGIC => u32::from(u16::from_le_bytes(read(&mut input)?)),
        [magic @ .., 2 | 3, _] if magic == *MAGIC => u32::from_le_bytes(read(&mut input)?),
        [magic @ .., _, _] if magic == *MAGIC => return Err(npy_error(6, "version 1, 2 or 3")),
        _ => return Err(npy_error(0, "\\x93NUMPY")),
    };
    if len as usize > blosc_dtype::MAX_TEXT {
        return Err(npy_error(8, "a header of at most 1 MiB"));
    }
    let mut text = vec![];
    input.append(Part::Npy, len.into(), &mut text)?;
    // Versions 1 and 2 are in Latin-1, version 3 in UTF-8.
    let text = if start[6] == 3 {
        String::from_utf8(text).ok()
    } else {
        Some(text.into_iter().map(char::from).collect())
    };
    parse(&text.ok_or(npy_error(12, "UTF-8"))?)
}

fn read<R: Read, const N: usize>(input: &mut Input<R>) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    input.exact(Part::Npy, &mut bytes)?;
    Ok(bytes)
}

fn npy_error(at: u64, expected: &'static str) -> Error {
    Error::corrupt(at, Corrupt::Npy { expected })
}

fn parse(text: &str) -> Result<ArrayInfo> {
    let wrong = |expected| npy_error(10, expected);
    let entries = entries(text.trim()).ok_or(wrong("a dict of descr, fortran_order and shape"))?;
    let get = |key: &str| {
        entries
            .iter()
            .find(|(k, _)| k.get(1..k.len().saturating_sub(1)) == Some(key))
            .map(|(_, v)| *v)
    };
    let descr = get("descr").ok_or(wrong("'descr'"))?;
    let order = match get("fortran_order") {
        Some("True") => Order::F,
        Some("False") => Order::C,
        _ => return Err(wrong("'fortran_order': True or False")),
    };
    let shape = get("shape").and_then(shape).ok_or(wrong("'shape': (lengths)"))?;
    ArrayInfo::new(Dtype::parse(descr)?, shape, order)
}

/// The entries of a dict, keys and values as they stand in the text.
fn entries(dict: &str) -> Option<Vec<(&str, &str)>> {
    let mut rest = dict.strip_prefix('{')?.strip_suffix('}')?.trim();
    let mut entries = vec![];
    while !rest.is_empty() {
        let (key, behind) = rest.split_at(value_len(rest, ':')?);
        let behind = behind.strip_prefix(':')?.trim_start();
        let (value, behind) = behind.split_at(value_len(behind, ',').unwrap_or(behind.len()));
        entries.push((key.trim(), value.trim()));
        rest = behind.strip_prefix(',').unwrap_or(behind).trim_start();
    }
    Some(entries)
}

/// Bytes before the first `end` that is not inside brackets or a string.
fn value_len(text: &str, end: char) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), _) => quote = (c != open).then_some(open),
            (None, '\'' | '"') => quote = Some(c),
            (None, _) if c == end && depth == 0 => return Some(at),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// `(3, 4)`, `(3,)` or `()`; Python 2 may write `3L`.
fn shape(tuple: &str) -> Option<Vec<u64>> {
    let inside = tuple.strip_prefix('(')?.strip_suffix(')')?.trim();
    let lengths = inside.strip_suffix(',').unwrap_or(inside);
    if lengths.is_empty() {
        return Some(vec![]);
    }
    lengths.split(',').map(|length| length.trim().trim_end_matches('L').parse().ok()).collect()
}

/// Writes the header of a `.npy` file; the items follow. Version 1 if that can hold it.
///
/// # Errors
///
/// [`Param::Array`] if the type of the items cannot be written down, or [`Error::Io`].
pub fn write_header(npy: &mut dyn Write, info: &ArrayInfo) -> Result<()> {
    npy.write_all(&header(info)?).map_err(|source| Error::io(0, source))
}

fn header(info: &ArrayInfo) -> Result<Vec<u8>> {
    let descr =
        info.dtype().descr().ok_or(Param::Array { what: "overlapping fields or sub-arrays" })?;
    let order = if info.order() == Order::F { "True" } else { "False" };
    let shape: Vec<String> = info.shape().iter().map(u64::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let text = format!(
        "{{'descr': {descr}, 'fortran_order': {order}, 'shape': ({}{comma}), }}",
        shape.join(", ")
    );
    let latin = text.is_ascii();
    let version = match text.len() {
        len if latin && len + ALIGN < usize::from(u16::MAX) => 1,
        _ if latin => 2,
        _ => 3,
    };
    let before = if version == 1 { 10 } else { 12 };
    let padded = (before + text.len() + 1).next_multiple_of(ALIGN) - before;
    let len =
        u32::try_from(padded).map_err(|_| Param::Array { what: "more than 4 GiB of names" })?;
    let mut bytes = [&MAGIC[..], &[version, 0]].concat();
    bytes.extend_from_slice(&len.to_le_bytes()[..before - 8]);
    bytes.extend_from_slice(text.as_bytes());
    bytes.resize(before + padded - 1, b' ');
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes the array of a `.npy` file to a new `.blp` file, chunk by chunk, and returns the
/// destination.
///
/// # Errors
///
/// As [`read_header`] and [`array_writer`]; [`Param::DataSize`] if there are more or fewer items
/// than the header says.
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
