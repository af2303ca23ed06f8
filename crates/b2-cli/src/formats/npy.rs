//! The header of a `.npy` file: how NumPy describes the bytes behind it.
//!
//! ```text
//! 93 "NUMPY"  major minor  length (u16; u32 from version 2 on)  dictionary, spaces, line break  items
//!
//! {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
//! ```
//!
//! The dictionary is a Python literal. Only one like this is read: nothing is evaluated.

use blosc_dtype::Dtype;

/// What the header of a `.npy` file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NpyHeader {
    /// Type of the items.
    pub(crate) dtype: Dtype,
    /// Is the first dimension the fastest, and not the last?
    pub(crate) fortran_order: bool,
    /// Items per dimension.
    pub(crate) shape: Vec<u64>,
    /// Bytes before the items.
    pub(crate) len: usize,
}

/// Why a header cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NpyError {
    #[error("not the beginning of a .npy file")]
    NotNpy,
    #[error("a .npy file of version {version}, known are 1 to 3")]
    Version { version: u8 },
    #[error("the header of the .npy file ends too early")]
    Truncated,
    #[error("the header of the .npy file has no {key} that makes sense")]
    Key { key: &'static str },
    #[error("the items of the .npy file")]
    Dtype(#[from] blosc_dtype::Error),
    #[error("the items of the .npy file are Python objects")]
    Objects,
}

impl NpyHeader {
    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// When it is none, or describes items that cannot be kept.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, NpyError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(NpyError::NotNpy)?;
        let [version, _, rest @ ..] = rest else { return Err(NpyError::Truncated) };
        let (len, rest) = match version {
            1 => rest
                .split_first_chunk()
                .map(|(len, rest)| (u32::from(u16::from_le_bytes(*len)), rest)),
            2 | 3 => rest.split_first_chunk().map(|(len, rest)| (u32::from_le_bytes(*len), rest)),
            version => return Err(NpyError::Version { version: *version }),
        }
        .ok_or(NpyError::Truncated)?;
        let text =
            usize::try_from(len).ok().and_then(|len| rest.get(..len)).ok_or(NpyError::Truncated)?;
        let before = bytes.len() - rest.len();
        let text =
            if *version == 3 { String::from_utf8_lossy(text).into_owned() } else { latin1(text) };
        Self::of_dictionary(&text, before + usize::try_from(len).unwrap_or_default())
    }

    /// The header that `numpy.save` would write for items in C order; `None` for items that it
    /// cannot describe.
    pub(crate) fn encode(dtype: &Dtype, shape: &[u64]) -> Option<Vec<u8>> {
        Self { dtype: dtype.clone(), fortran_order: false, shape: shape.to_vec(), len: 0 }
            .to_bytes()
    }

    /// The header that `numpy.save` would write; `None` for items that it cannot describe.
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        let descr = self.dtype.descr()?;
        let lens: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        let comma = if lens.len() == 1 { "," } else { "" };
        let order = if self.fortran_order { "True" } else { "False" };
        let mut text = format!(
            "{{'descr': {descr}, 'fortran_order': {order}, 'shape': ({}{comma}), }}",
            lens.join(", ")
        );
        // NumPy leaves room for the slowest dimension to grow in place.
        if let Some(slowest) = if self.fortran_order { lens.last() } else { lens.first() } {
            text.extend(core::iter::repeat_n(' ', GROWTH.saturating_sub(slowest.len())));
        }
        let (version, is_short) = match text.is_ascii() {
            _ if text.chars().any(|c| u32::from(c) > 255) => (3, false),
            _ if text.len() + ALIGNMENT < usize::from(u16::MAX) => (1, true),
            _ => (2, false),
        };
        let text = if version == 3 { text.into_bytes() } else { to_latin1(&text) };
        let before = MAGIC.len() + 2 + if is_short { 2 } else { 4 };
        let len = (before + text.len() + 1).next_multiple_of(ALIGNMENT) - before;
        let mut bytes = [MAGIC, &[version, 0]].concat();
        if is_short {
            bytes.extend(u16::try_from(len).ok()?.to_le_bytes());
        } else {
            bytes.extend(u32::try_from(len).ok()?.to_le_bytes());
        }
        bytes.extend(text);
        bytes.resize(before + len - 1, b' ');
        bytes.push(b'\n');
        Some(bytes)
    }

    /// Bytes of all items; `None` if they are more than can be counted.
    pub(crate) fn nbytes(&self) -> Option<u64> {
        let itemsize = u64::try_from(self.dtype.itemsize()).ok()?;
        self.shape.iter().try_fold(itemsize, |nbytes, len| nbytes.checked_mul(*len))
    }

    fn of_dictionary(text: &str, len: usize) -> Result<Self, NpyError> {
        let descr = value(text, "descr").ok_or(NpyError::Key { key: "descr" })?;
        // A plain type is kept without quotes, as arrays describe it.
        let descr =
            descr.strip_prefix('\'').and_then(|descr| descr.strip_suffix('\'')).unwrap_or(descr);
        let dtype = without_padding(Dtype::parse(descr)?)?;
        if dtype.has_objects() {
            return Err(NpyError::Objects);
        }
        let fortran_order = match value(text, "fortran_order") {
            Some("True") => true,
            Some("False") => false,
            _ => return Err(NpyError::Key { key: "fortran_order" }),
        };
        let shape =
            value(text, "shape").and_then(shape_of).ok_or(NpyError::Key { key: "shape" })?;
        Ok(Self { dtype, fortran_order, shape, len })
    }
}

/// `descr` writes padding as fields without a name; arrays describe such items by the offsets of
/// the others.
fn without_padding(dtype: Dtype) -> Result<Dtype, blosc_dtype::Error> {
    if dtype.fields().iter().all(|field| !field.name().is_empty()) {
        return Ok(dtype);
    }
    let fields = || dtype.fields().iter().filter(|field| !field.name().is_empty());
    let list = |texts: Vec<String>| texts.join(", ");
    let quoted = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    let format = |dtype: &Dtype| match dtype.scalar() {
        Some(_) => quoted(&dtype.to_string()),
        None => dtype.to_string(),
    };
    Dtype::parse(&format!(
        "{{'names': [{}], 'formats': [{}], 'offsets': [{}], 'itemsize': {}}}",
        list(fields().map(|field| quoted(field.name())).collect()),
        list(fields().map(|field| format(field.dtype())).collect()),
        list(fields().map(|field| field.offset().to_string()).collect()),
        dtype.itemsize()
    ))
}

/// The text of the value behind `'key':`, up to the comma or brace that ends it.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let rest = text.split_once(&format!("'{key}':"))?.1.trim_start();
    let (mut depth, mut quote) = (0usize, None);
    for (at, letter) in rest.char_indices() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ',' | '}') if depth == 0 => return Some(rest[..at].trim_end()),
            (None, ')' | ']' | '}') => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// `(3, 4)`; Python 2 wrote `3L`.
fn shape_of(text: &str) -> Option<Vec<u64>> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let lens = inner.split(',').map(str::trim).filter(|len| !len.is_empty());
    lens.map(|len| len.strip_suffix('L').unwrap_or(len).parse().ok()).collect()
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

fn to_latin1(text: &str) -> Vec<u8> {
    text.chars().map(|letter| u8::try_from(letter).unwrap_or(b'?')).collect()
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// Items begin at a multiple of so many bytes.
const ALIGNMENT: usize = 64;

/// Digits that NumPy leaves room for.
const GROWTH: usize = 21;

#[cfg(test)]
mod tests {
    use super::*;

    fn dictionary(text: &str) -> Result<NpyHeader, NpyError> {
        let len = u16::try_from(text.len()).unwrap().to_le_bytes();
        NpyHeader::parse(&[MAGIC, &[1, 0], &len, text.as_bytes(), b"items"].concat())
    }

    #[test]
    fn what_numpy_writes_is_read() {
        let header =
            dictionary("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   \n").unwrap();
        assert_eq!((header.dtype.to_string().as_str(), &header.shape[..]), ("<f8", &[3, 4][..]));
        assert_eq!((header.fortran_order, header.len, header.nbytes()), (false, 73, Some(96)));
        let header =
            dictionary("{'descr': '|S3', 'fortran_order': True, 'shape': (5L,), }").unwrap();
        assert_eq!((header.fortran_order, &header.shape[..]), (true, &[5][..]));
        let header = dictionary("{'descr': '<i2', 'fortran_order': False, 'shape': (), }").unwrap();
        assert_eq!((&header.shape[..], header.nbytes()), (&[][..], Some(2)));
        let fields = "[('a, }', '<i4'), ('b', '<f8', (2, 3))]";
        let header =
            dictionary(&format!("{{'descr': {fields}, 'fortran_order': False, 'shape': (7,)}}"))
                .unwrap();
        assert_eq!((header.dtype.itemsize(), header.dtype.to_string().as_str()), (52, fields));
    }

    #[test]
    fn padding_is_told_by_offsets() {
        let text = "{'descr': [('a', '|i1'), ('', '|V7'), ('b', '<f8')], 'fortran_order': False, 'shape': (5,), }";
        let dtype = dictionary(text).unwrap().dtype;
        let expected =
            "{'names': ['a', 'b'], 'formats': ['|i1', '<f8'], 'offsets': [0, 8], 'itemsize': 16}";
        assert_eq!(dtype.to_string(), expected);
        assert_eq!(dtype.descr().unwrap(), "[('a', '|i1'), ('', '|V7'), ('b', '<f8')]");
    }

    #[test]
    fn other_headers_are_told_apart() {
        assert_eq!(NpyHeader::parse(b"\x93NUMPX"), Err(NpyError::NotNpy));
        assert_eq!(NpyHeader::parse(b"\x93NUMPY\x04\0\0\0"), Err(NpyError::Version { version: 4 }));
        assert_eq!(NpyHeader::parse(b"\x93NUMPY\x01\0\xff\xff{}"), Err(NpyError::Truncated));
        for (text, key) in [
            ("{}", "descr"),
            ("{'descr': '<f8', 'shape': (1,), }", "fortran_order"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': 1, }", "shape"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", "shape"),
        ] {
            assert_eq!(dictionary(text), Err(NpyError::Key { key }), "{text}");
        }
        let objects = "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }";
        assert_eq!(dictionary(objects), Err(NpyError::Objects));
    }

    #[test]
    fn headers_are_those_of_numpy() {
        let of =
            |dtype: &str, shape: &[u64]| NpyHeader::encode(&dtype.parse().unwrap(), shape).unwrap();
        let bytes = of("<f8", &[3, 4]);
        assert_eq!(bytes.len(), 128);
        assert!(bytes.starts_with(
            b"\x93NUMPY\x01\0v\0{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }     "
        ));
        assert!(bytes.ends_with(b"  \n"));
        for (dtype, shape) in
            [("|u1", &[][..]), ("<M8[ns]", &[5]), ("[('a', '<i4'), ('b', '|S3')]", &[2, 0])]
        {
            let header = NpyHeader::parse(&of(dtype, shape)).unwrap();
            assert_eq!((header.dtype, &header.shape[..]), (dtype.parse().unwrap(), shape));
        }
        let fortran = NpyHeader {
            dtype: "<i4".parse().unwrap(),
            fortran_order: true,
            shape: vec![8, 15_000],
            len: 128,
        };
        let bytes = fortran.to_bytes().unwrap();
        assert_eq!(NpyHeader::parse(&bytes), Ok(fortran));
        assert!(bytes.starts_with(
            b"\x93NUMPY\x01\0v\0{'descr': '<i4', 'fortran_order': True, 'shape': (8, 15000), }     "
        ));
        assert!(NpyHeader::encode(&"('<i4', (2,))".parse().unwrap(), &[1]).is_none());
    }
}
