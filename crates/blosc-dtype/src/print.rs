//! The texts of dtypes in NumPy's form.

#![allow(clippy::arithmetic_side_effects, reason = "sums of offsets and sizes that were checked")]

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::dtype::{Shape, Struct};
use crate::{Dtype, Field, Kind, Scalar};

/// The text of a whole dtype: a plain code without quotes, otherwise a literal.
pub(crate) fn print(shape: &Shape) -> String {
    match shape {
        Shape::Scalar(scalar) => scalar.to_string(),
        _ => literal(shape),
    }
}

/// The literal of `dtype.descr`, if there is one.
pub(crate) fn descr(shape: &Shape) -> Option<String> {
    match shape {
        Shape::Scalar(scalar) => Some(str_repr(&scalar.to_string())),
        Shape::Subarray { .. } => None,
        Shape::Struct(item) => descr_fields(item),
    }
}

fn descr_fields(item: &Struct) -> Option<String> {
    let pad = |nbytes: usize| (nbytes > 0).then(|| format!("('', '|V{nbytes}')"));
    let mut parts = Vec::new();
    let mut end = 0;
    for field in &item.fields {
        parts.extend(pad(field.offset().checked_sub(end)?));
        parts.push(descr_field(field)?);
        end = field.offset() + field.dtype().itemsize();
    }
    parts.extend(pad(item.itemsize.checked_sub(end)?));
    Some(format!("[{}]", parts.join(", ")))
}

fn descr_field(field: &Field) -> Option<String> {
    let name = name(field);
    match field.dtype().shape() {
        Shape::Subarray { base, shape, .. } => {
            Some(format!("({name}, {}, {})", descr(base.shape())?, tuple(shape)))
        }
        plain => Some(format!("({name}, {})", descr(plain)?)),
    }
}

fn literal(shape: &Shape) -> String {
    match shape {
        Shape::Scalar(scalar) => inner_code(scalar),
        Shape::Subarray { base, shape, .. } => {
            format!("({}, {})", literal(base.shape()), tuple(shape))
        }
        Shape::Struct(item) if is_packed(item) => {
            format!("[{}]", join(item.fields.iter().map(field)))
        }
        Shape::Struct(item) => dict(item),
    }
}

/// Inside a description NumPy leaves out the `|` and writes booleans as `?`.
fn inner_code(scalar: &Scalar) -> String {
    if scalar.kind() == Kind::Bool {
        return "'?'".to_string();
    }
    str_repr(scalar.to_string().trim_start_matches('|'))
}

fn field(field: &Field) -> String {
    let name = name(field);
    match field.dtype().shape() {
        Shape::Subarray { base, shape, .. } => {
            format!("({name}, {}, {})", literal(base.shape()), tuple(shape))
        }
        plain => format!("({name}, {})", literal(plain)),
    }
}

/// `'name'` or `('title', 'name')`.
fn name(field: &Field) -> String {
    match field.title() {
        Some(title) => format!("({}, {})", str_repr(title), str_repr(field.name())),
        None => str_repr(field.name()),
    }
}

fn dict(item: &Struct) -> String {
    let names = join(item.fields.iter().map(|f| str_repr(f.name())));
    let formats = join(item.fields.iter().map(|f| literal(f.dtype().shape())));
    let offsets = join(item.fields.iter().map(|f| f.offset().to_string()));
    let titles = if item.fields.iter().any(|f| f.title().is_some()) {
        let each =
            item.fields.iter().map(|f| f.title().map_or_else(|| "None".to_string(), str_repr));
        format!(", 'titles': [{}]", join(each))
    } else {
        String::new()
    };
    let aligned = if item.aligned { ", 'aligned': True" } else { "" };
    format!(
        "{{'names': [{names}], 'formats': [{formats}], 'offsets': [{offsets}]{titles}, 'itemsize': {}{aligned}}}",
        item.itemsize
    )
}

/// Whether the fields fill the item, one after the other without gaps.
fn is_packed(item: &Struct) -> bool {
    let mut end = 0;
    let in_order = item.fields.iter().all(|field| {
        let follows = field.offset() == end;
        end = field.offset() + Dtype::itemsize(field.dtype());
        follows
    });
    in_order && end == item.itemsize && !item.aligned
}

pub(crate) fn tuple(shape: &[u64]) -> String {
    match shape {
        [only] => format!("({only},)"),
        _ => format!("({})", join(shape.iter().map(ToString::to_string))),
    }
}

pub(crate) fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

/// A text in the form of Python's `repr`: in single quotes, unless it contains one and no double
/// quote.
///
/// ```
/// assert_eq!(blosc_dtype::str_repr("it's\n"), r#""it's\n""#);
/// ```
#[must_use]
pub fn str_repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if c == quote => {
                out.push('\\');
                out.push(c);
            }
            _ if c.is_control() && u32::from(c) < 0x100 => {
                out.push_str(&format!("\\x{:02x}", u32::from(c)))
            }
            _ => out.push(c),
        }
    }
    out.push(quote);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_follow_python() {
        assert_eq!(str_repr("a"), "'a'");
        assert_eq!(str_repr("it's"), "\"it's\"");
        assert_eq!(str_repr("it's \"x\""), "'it\\'s \"x\"'");
        assert_eq!(str_repr("a\n\u{1}\\"), "'a\\n\\x01\\\\'");
    }

    #[test]
    fn descr_writes_out_padding_and_all_byte_orders() {
        for (text, descr) in [
            ("?", Some("'|b1'")),
            (
                "[('a', 'u1'), ('x', '<i2', (3,)), ('n', [('p', '?')])]",
                Some("[('a', '|u1'), ('x', '<i2', (3,)), ('n', [('p', '|b1')])]"),
            ),
            ("[(('t', 'n'), '<f4', (2,))]", Some("[(('t', 'n'), '<f4', (2,))]")),
            (
                "{'names': ['a'], 'formats': ['<i4'], 'offsets': [4], 'itemsize': 16}",
                Some("[('', '|V4'), ('a', '<i4'), ('', '|V8')]"),
            ),
            (
                "{'names': ['a', 'b'], 'formats': ['<i4', '<i4'], 'offsets': [0, 2], 'itemsize': 6}",
                None,
            ),
            ("('<i4', (2, 3))", None),
        ] {
            assert_eq!(Dtype::parse(text).unwrap().descr().as_deref(), descr, "{text}");
        }
    }

    #[test]
    fn nested_types_print_without_loss() {
        for text in [
            "[('a', '<i4'), ('x', '<i2', (3,)), ('n', [('p', 'u1'), ('q', '<f4', (2, 2))])]",
            "{'names': ['a', 'b'], 'formats': ['<i4', '<f8'], 'offsets': [0, 8], 'itemsize': 16, 'aligned': True}",
            "{'names': ['a'], 'formats': ['O'], 'offsets': [8], 'titles': ['T'], 'itemsize': 16}",
            "[(('t', 'n'), '<f4', (2,))]",
            "[('x', [('p', 'u1')], (2,))]",
            "('<i4', (2, 3))",
            "<M8[25us]",
            "|S300",
            "<M8",
        ] {
            assert_eq!(print(Dtype::parse(text).unwrap().shape()), text);
        }
    }
}
