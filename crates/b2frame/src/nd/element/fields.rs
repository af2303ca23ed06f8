//! Functions that [`element!`](crate::element) calls: they read and write fields of a structured
//! item, one by one.

use blosc_dtype::{Dtype, Field};

use super::Element;

/// The name of a field, and a function that says whether a type can be read as the field's.
pub type Expected<'a> = (&'a str, fn(&Dtype) -> bool);

/// The type of items with these fields one after the other.
#[must_use]
pub fn packed(fields: &[(&str, Dtype)]) -> Dtype {
    let named = fields.iter().map(|(name, dtype)| (plain_name(name).to_owned(), dtype.clone()));
    // Items of gigabytes fail; such a type accepts no other, and it is never written.
    Dtype::packed(named).unwrap_or_else(|_| super::super::array::raw(1))
}

/// Whether items have just these fields, in this order.
#[must_use]
pub fn has_fields(dtype: &Dtype, fields: &[Expected<'_>]) -> bool {
    let fits = |(field, (name, accepts)): (&Field, &Expected<'_>)| {
        field.name() == plain_name(name) && accepts(field.dtype())
    };
    dtype.fields().len() == fields.len() && dtype.fields().iter().zip(fields).all(fits)
}

/// The value of a field of an item.
#[must_use]
pub fn decode_field<T: Element>(field: Option<&Field>, item: &[u8]) -> T {
    match field {
        Some(field) => T::decode(field.dtype(), item.get(field.offset()..).unwrap_or_default()),
        None => T::decode(&T::dtype(), &[]),
    }
}

/// Writes a field where `bytes` begin, and returns the bytes after it.
#[must_use]
pub fn encode_field<'a, T: Element>(value: &T, bytes: &'a mut [u8]) -> &'a mut [u8] {
    let (field, rest) = bytes.split_at_mut(T::dtype().itemsize().min(bytes.len()));
    value.encode(field);
    rest
}

/// A name without Rust's marker for names that are keywords.
fn plain_name(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}
