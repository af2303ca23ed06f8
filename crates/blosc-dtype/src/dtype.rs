//! The type of an item: plain, structured or a sub-array, from any of the four textual forms.

#![allow(clippy::arithmetic_side_effects, reason = "64-bit sums of sizes below 2^32")]

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::literal::{Literal, MAX_DEPTH, MAX_TEXT_NBYTES};
use crate::print::print;
use crate::{Error, Kind, Scalar};

/// The type of the items of an array.
///
/// Immutable, and consistent once made: every field lies inside its item, names are unique, and an
/// item has at most 2^31 - 1 bytes. Two are equal when they describe the same items, however they
/// were written.
#[derive(Clone, Debug)]
pub struct Dtype {
    shape: Shape,
    /// The text it was parsed from, or NumPy's text for it.
    text: Box<str>,
}

/// The three shapes an item can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Scalar(Scalar),
    Struct(Struct),
    Subarray { base: Box<Dtype>, shape: Vec<u64>, itemsize: usize },
}

/// A structured item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Struct {
    pub(crate) fields: Vec<Field>,
    pub(crate) itemsize: usize,
    pub(crate) aligned: bool,
}

/// A field of a structured item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    name: String,
    title: Option<String>,
    dtype: Dtype,
    offset: usize,
}

impl Dtype {
    /// The deepest nesting of lists, tuples and dicts that is parsed.
    pub const MAX_DEPTH: usize = MAX_DEPTH;

    /// The longest text that is parsed (bytes).
    pub const MAX_TEXT_NBYTES: usize = MAX_TEXT_NBYTES;

    /// Parses a dtype in any of the four forms, or as a NumPy name such as `float64`.
    ///
    /// A text that does not start with a bracket is taken as a plain type code without quotes.
    ///
    /// # Errors
    ///
    /// Any variant of [`Error`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        let trimmed = text.trim();
        let shape = if trimmed.starts_with(['(', '[', '{', '\'', '"']) {
            shape_of(&Literal::parse(trimmed)?)?
        } else {
            Shape::Scalar(Scalar::parse(trimmed)?)
        };
        Ok(Self { shape, text: text.into() })
    }

    /// A structured type with the given fields one after the other, without padding.
    ///
    /// # Errors
    ///
    /// [`Error::DuplicateField`] or [`Error::TooLarge`].
    pub fn packed(fields: impl IntoIterator<Item = (String, Self)>) -> Result<Self, Error> {
        let parts = fields.into_iter().map(|(name, dtype)| (name, None, dtype)).collect();
        Ok(Self::from_shape(Shape::Struct(Struct::packed(parts)?)))
    }

    /// The structured type with this many bytes of padding more at the end.
    ///
    /// ```
    /// let row: blosc_dtype::Dtype = "[('day', '<i2'), ('price', '<i4')]".parse()?;
    /// assert_eq!((row.padded(2)?.itemsize(), row.padded(2)?.fields()), (8, row.fields()));
    /// # Ok::<(), blosc_dtype::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`].
    pub fn padded(&self, nbytes: usize) -> Result<Self, Error> {
        let Shape::Struct(item) = &self.shape else { return Ok(self.clone()) };
        let itemsize = limited((item.itemsize as u64).saturating_add(nbytes as u64))?;
        let item = Struct { fields: item.fields.clone(), itemsize, aligned: false };
        Ok(Self::from_shape(Shape::Struct(item)))
    }

    fn from_shape(shape: Shape) -> Self {
        let text = print(&shape).into();
        Self { shape, text }
    }

    /// Size of an item (bytes).
    pub fn itemsize(&self) -> usize {
        match &self.shape {
            Shape::Scalar(scalar) => scalar.itemsize(),
            Shape::Struct(item) => item.itemsize,
            Shape::Subarray { itemsize, .. } => *itemsize,
        }
    }

    /// The plain type, unless the item is structured or a sub-array.
    pub fn scalar(&self) -> Option<&Scalar> {
        if let Shape::Scalar(scalar) = &self.shape { Some(scalar) } else { None }
    }

    /// Kind of a plain type; `None` for structured items and sub-arrays.
    pub fn kind(&self) -> Option<Kind> {
        self.scalar().map(Scalar::kind)
    }

    /// The fields of a structured item, in their order; empty for others.
    pub fn fields(&self) -> &[Field] {
        if let Shape::Struct(item) = &self.shape { &item.fields } else { &[] }
    }

    /// The field at a name with dots, and its position in an item (bytes). A field whose name
    /// contains the dot comes before a field of a field.
    #[must_use]
    pub fn field_at(&self, path: &str) -> Option<(Self, usize)> {
        let find = |name: &str| self.fields().iter().find(|field| field.name() == name);
        if let Some(field) = find(path) {
            return Some((field.dtype().clone(), field.offset()));
        }
        let (name, rest) = path.split_once('.')?;
        let field = find(name)?;
        let (dtype, offset) = field.dtype().field_at(rest)?;
        Some((dtype, field.offset().checked_add(offset)?))
    }

    /// The name of a type that cannot be read as numbers, for people.
    #[must_use]
    pub fn kind_text(&self) -> String {
        let name = match self.kind() {
            Some(Kind::Bytes) => "byte strings",
            Some(Kind::Unicode) => "strings",
            Some(Kind::Complex) => "complex numbers",
            Some(Kind::Float) => "floats of another size",
            Some(_) => "bytes without a type",
            None => "arrays",
        };
        format!("{name} ({self})")
    }

    /// Element type and shape (elements per dimension) of a sub-array.
    pub fn subarray(&self) -> Option<(&Self, &[u64])> {
        if let Shape::Subarray { base, shape, .. } = &self.shape {
            Some((base, shape))
        } else {
            None
        }
    }

    /// Whether any part of the item is an object pointer. Such items must never be interpreted.
    pub fn has_objects(&self) -> bool {
        match &self.shape {
            Shape::Scalar(scalar) => scalar.kind() == Kind::Object,
            Shape::Struct(item) => item.fields.iter().any(|field| field.dtype.has_objects()),
            Shape::Subarray { base, .. } => base.has_objects(),
        }
    }

    /// The text of NumPy's `dtype.descr`, as in `.npy` and Bloscpack files: one literal, with
    /// padding as fields without a name. `None` if the item has no such text: a sub-array, or
    /// fields that overlap.
    ///
    /// ```
    /// use blosc_dtype::Dtype;
    ///
    /// let text = "{'names': ['a', 'b'], 'formats': ['i1', '<f8'], \
    ///              'offsets': [0, 8], 'itemsize': 16}";
    /// let padded = Dtype::parse(text)?;
    /// assert_eq!(padded.descr().as_deref(), Some("[('a', '|i1'), ('', '|V7'), ('b', '<f8')]"));
    /// assert_eq!(Dtype::parse("float32")?.descr().as_deref(), Some("'<f4'"));
    /// # Ok::<(), blosc_dtype::Error>(())
    /// ```
    #[must_use]
    pub fn descr(&self) -> Option<String> {
        crate::print::descr(&self.shape)
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }
}

impl PartialEq for Dtype {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape
    }
}

impl Eq for Dtype {}

impl From<Scalar> for Dtype {
    fn from(scalar: Scalar) -> Self {
        Self::from_shape(Shape::Scalar(scalar))
    }
}

impl core::str::FromStr for Dtype {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl core::fmt::Display for Dtype {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Field {
    /// Name of the field.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Title of the field, a second name that NumPy allows.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Type of the field.
    pub fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    /// Position of the field in the item (bytes).
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The bytes of the field in an item; empty if the item is too short.
    ///
    /// ```
    /// let dtype: blosc_dtype::Dtype = "[('day', '<i2'), ('price', '<i4')]".parse()?;
    /// assert_eq!(dtype.fields()[1].bytes_of(&[1, 0, 2, 0, 0, 0]), [2, 0, 0, 0]);
    /// assert!(dtype.fields()[1].bytes_of(&[1, 0, 2]).is_empty());
    /// # Ok::<(), blosc_dtype::Error>(())
    /// ```
    pub fn bytes_of<'a>(&self, item: &'a [u8]) -> &'a [u8] {
        let end = self.offset.saturating_add(self.dtype.itemsize());
        item.get(self.offset..end).unwrap_or_default()
    }
}

impl Struct {
    fn packed(parts: Vec<(String, Option<String>, Dtype)>) -> Result<Self, Error> {
        let mut fields = Vec::with_capacity(parts.len());
        let mut offset = 0;
        for (name, title, dtype) in parts {
            let end = limited(offset as u64 + dtype.itemsize() as u64)?;
            fields.push(Field { name, title, dtype, offset });
            offset = end;
        }
        Self { fields, itemsize: offset, aligned: false }.checked()
    }

    fn checked(self) -> Result<Self, Error> {
        // Padding that was written as fields has no name.
        let names =
            self.fields.iter().map(|field| field.name.as_str()).filter(|name| !name.is_empty());
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        let twice = names.iter().zip(names.iter().skip(1)).find(|(name, next)| name == next);
        if let Some((name, _)) = twice {
            return Err(Error::DuplicateField { name: name.to_string() });
        }
        for field in &self.fields {
            let end = field.offset as u64 + field.dtype.itemsize() as u64;
            if end > self.itemsize as u64 {
                let itemsize = self.itemsize as u64;
                return Err(Error::FieldOutside { name: field.name.clone(), end, itemsize });
            }
        }
        Ok(self)
    }
}

fn shape_of(literal: &Literal) -> Result<Shape, Error> {
    match literal {
        Literal::Str(code) => Scalar::parse(code).map(Shape::Scalar),
        Literal::List(fields) => {
            let parts = fields.iter().map(field_of).collect::<Result<_, _>>()?;
            Struct::packed(parts).map(Shape::Struct)
        }
        Literal::Dict(_) => struct_of(literal).map(Shape::Struct),
        Literal::Tuple(parts) => match parts.as_slice() {
            [base, shape] => subarray_of(dtype_of(base)?, shape),
            _ => Err(Error::Form { expected: "(type, shape) for a sub-array" }),
        },
        _ => {
            Err(Error::Form { expected: "a type code, a list of fields, a dict or (type, shape)" })
        }
    }
}

fn dtype_of(literal: &Literal) -> Result<Dtype, Error> {
    shape_of(literal).map(Dtype::from_shape)
}

/// `('name', type)`, `('name', type, shape)` or `(('title', 'name'), type)`.
fn field_of(literal: &Literal) -> Result<(String, Option<String>, Dtype), Error> {
    let wrong = Error::Form { expected: "('name', type) or ('name', type, shape) for a field" };
    let Literal::Tuple(parts) = literal else { return Err(wrong) };
    let (name, dtype) = match parts.as_slice() {
        [name, dtype] => (name, dtype_of(dtype)?),
        [name, dtype, shape] => (name, Dtype::from_shape(subarray_of(dtype_of(dtype)?, shape)?)),
        _ => return Err(wrong),
    };
    match name {
        Literal::Str(name) => Ok((name.clone(), None, dtype)),
        Literal::Tuple(pair) => match pair.as_slice() {
            [Literal::Str(title), Literal::Str(name)] => {
                Ok((name.clone(), Some(title.clone()), dtype))
            }
            _ => Err(wrong),
        },
        _ => Err(wrong),
    }
}

/// `{'names': [..], 'formats': [..], 'offsets': [..], 'titles': [..], 'itemsize': n, 'aligned':
/// bool}`.
fn struct_of(dict: &Literal) -> Result<Struct, Error> {
    let list =
        |key, expected| dict.get(key).and_then(Literal::as_list).ok_or(Error::Form { expected });
    let names = list("names", "'names': [...] in a dict")?;
    let formats = list("formats", "'formats': [...] in a dict")?;
    let offsets = dict.get("offsets").and_then(Literal::as_list);
    let titles = dict.get("titles").and_then(Literal::as_list).unwrap_or_default();
    let noffsets = offsets.map_or(names.len(), <[_]>::len);
    if names.len() != formats.len() || names.len() != noffsets {
        return Err(Error::FieldCounts {
            names: names.len(),
            formats: formats.len(),
            offsets: noffsets,
        });
    }
    let mut fields = Vec::with_capacity(names.len());
    let mut end = 0;
    for (i, (name, format)) in names.iter().zip(formats).enumerate() {
        let name =
            name.as_str().ok_or(Error::Form { expected: "a string as the name of a field" })?;
        let dtype = dtype_of(format)?;
        let offset = match offsets.and_then(|offsets| offsets.get(i)) {
            Some(offset) => size_of_literal(offset)?,
            None => end,
        };
        end = limited(offset as u64 + dtype.itemsize() as u64)?.max(end);
        let title = titles.get(i).and_then(Literal::as_str).map(ToString::to_string);
        fields.push(Field { name: name.to_string(), title, dtype, offset });
    }
    let itemsize = dict.get("itemsize").map(size_of_literal).transpose()?.unwrap_or(end);
    let aligned = dict.get("aligned") == Some(&Literal::Bool(true));
    Struct { fields, itemsize, aligned }.checked()
}

fn subarray_of(base: Dtype, shape: &Literal) -> Result<Shape, Error> {
    let single;
    let lengths = match shape {
        Literal::Tuple(lengths) => lengths.as_slice(),
        Literal::Int(_) => {
            single = [shape.clone()];
            &single
        }
        _ => {
            return Err(Error::Form { expected: "a tuple of lengths as the shape of a sub-array" });
        }
    };
    let shape: Vec<u64> = lengths
        .iter()
        .map(|length| size_of_literal(length).map(|n| n as u64))
        .collect::<Result<_, _>>()?;
    let nitems = shape
        .iter()
        .try_fold(1_u64, |product, n| product.checked_mul(*n))
        .ok_or(Error::TooLarge)?;
    let nbytes = nitems.checked_mul(base.itemsize() as u64).ok_or(Error::TooLarge)?;
    Ok(Shape::Subarray { base: Box::new(base), shape, itemsize: limited(nbytes)? })
}

fn size_of_literal(literal: &Literal) -> Result<usize, Error> {
    match literal {
        Literal::Int(n) if *n >= 0 => limited(n.unsigned_abs()),
        _ => Err(Error::Form { expected: "a size that is not negative" }),
    }
}

/// A size as `usize`, if items may have that size.
fn limited(nbytes: u64) -> Result<usize, Error> {
    let fits = i32::try_from(nbytes).map_err(|_| Error::TooLarge)?;
    usize::try_from(fits).map_err(|_| Error::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn list_of_fields_is_packed() {
        let dtype = Dtype::parse(
            "[('a', '<i4'), ('x', '<i2', (3,)), ('n', [('p', 'u1'), ('q', '<f4', (2, 2))])]",
        );
        let dtype = dtype.unwrap();
        assert_eq!(dtype.itemsize(), 4 + 6 + 1 + 16);
        let offsets: Vec<usize> = dtype.fields().iter().map(Field::offset).collect();
        assert_eq!(offsets, [0, 4, 10]);
        assert_eq!(dtype.fields()[1].dtype().subarray().unwrap().1, [3]);
        assert_eq!(dtype.fields()[2].dtype().fields()[1].offset(), 1);
        assert_eq!(dtype.kind(), None);
    }

    #[test]
    fn dict_has_offsets_and_padding() {
        let text = "{'names': ['a', 'b'], 'formats': ['<i4', '<f8'], 'offsets': [0, 8], 'itemsize': 16, 'aligned': True}";
        let dtype = Dtype::parse(text).unwrap();
        assert_eq!((dtype.itemsize(), dtype.fields()[1].offset()), (16, 8));
        assert_eq!(dtype.to_string(), text);
        let outside =
            Dtype::parse("{'names': ['a'], 'formats': ['<i4'], 'offsets': [2], 'itemsize': 4}");
        assert_eq!(
            outside,
            Err(Error::FieldOutside { name: "a".to_string(), end: 6, itemsize: 4 })
        );
        let counts = Dtype::parse("{'names': ['a'], 'formats': [], 'offsets': [2, 3]}");
        assert_eq!(counts, Err(Error::FieldCounts { names: 1, formats: 0, offsets: 2 }));
    }

    #[test]
    fn titles_are_kept() {
        let dtype = Dtype::parse("[(('t', 'n'), '<f4', (2,))]").unwrap();
        assert_eq!((dtype.fields()[0].name(), dtype.fields()[0].title()), ("n", Some("t")));
    }

    #[test]
    fn subarray_multiplies() {
        let dtype = Dtype::parse("('<i4', (2, 3))").unwrap();
        assert_eq!(dtype.itemsize(), 24);
        assert_eq!(dtype.subarray().unwrap().0.itemsize(), 4);
        assert_eq!(Dtype::parse("('<i4', (65536, 65536))"), Err(Error::TooLarge));
        assert_eq!(
            Dtype::parse("('<i4', (-1,))"),
            Err(Error::Form { expected: "a size that is not negative" })
        );
    }

    #[test]
    fn equal_items_are_equal_however_spelled() {
        assert_eq!(Dtype::parse("?"), Dtype::parse("|b1"));
        assert_eq!(Dtype::parse("float64"), Dtype::parse("<f8"));
        assert_ne!(Dtype::parse("<f8"), Dtype::parse(">f8"));
        assert_eq!(Dtype::parse("?").unwrap().to_string(), "?");
    }

    #[test]
    fn objects_are_seen_at_any_depth() {
        assert!(Dtype::parse("[('a', '<i4'), ('b', [('c', '|O', (2,))])]").unwrap().has_objects());
        assert!(!Dtype::parse("[('a', '<i4')]").unwrap().has_objects());
    }

    #[test]
    fn other_literals_are_refused() {
        for text in ["(1, 2, 3)", "[1]", "{'a': 1}", "[('a',)]", "[(1, '<i4')]", "('<i4', 'x')"] {
            assert!(matches!(Dtype::parse(text), Err(Error::Form { .. })), "{text}");
        }
        let padded = Dtype::parse("[('a', '|i1'), ('', '|V3'), ('b', '<i4'), ('', '|V4')]");
        assert_eq!(padded.map(|dtype| dtype.itemsize()), Ok(12));
        let twice = Dtype::parse("[('a', '<i4'), ('a', '<i4')]");
        assert_eq!(twice, Err(Error::DuplicateField { name: "a".to_string() }));
    }

    #[test]
    fn built_types_print_as_numpy() {
        let float = Dtype::from(Scalar::parse("f8").unwrap());
        let flag = Dtype::parse("|b1").unwrap();
        let built =
            Dtype::packed(vec![("x".to_string(), float), ("it's".to_string(), flag)]).unwrap();
        assert_eq!(built.to_string(), r#"[('x', '<f8'), ("it's", '?')]"#);
        assert_eq!(Dtype::parse(&built.to_string()).unwrap(), built);
    }
}
