//! Elements of object arrays that are plain data, in Python's spelling or as JSON.

use bcolz_store::{CArray, pickle::Object};
use serde_json::{Map, Number, Value};

use super::ShowReport;
use crate::{
    args::{ShowArgs, slice},
    context::Context,
    error::{Error, Result},
    formats::msgpack_json,
    memory,
};

/// Shows elements of an object array, one in a line.
pub(super) fn run(args: &ShowArgs, cx: &Context, name: &str, array: &CArray) -> Result<()> {
    let rows = match &args.slice {
        Some(slice) => slice::range(slice, array.len())?,
        None => 0..array.len().min(args.lines.unwrap_or(u64::MAX)),
    };
    let wanted = memory::as_len(rows.end - rows.start);
    let start = memory::as_len(rows.start);
    let elements = array.objects()?.skip(start).take(wanted);
    if !cx.console.json() {
        for element in elements {
            cx.console.print(&format!("{}\n", text(&element?)))?;
        }
        return Ok(());
    }
    let limit = cx.memory() / ELEMENT;
    if rows.end - rows.start > limit {
        return Err(Error::ShowLess { nitems: rows.end - rows.start, limit });
    }
    let values = elements.map(|element| Ok(json(&element?))).collect::<Result<Value>>()?;
    let shape = [rows.end - rows.start];
    let dtype = array.dtype().to_string();
    cx.console.document(&ShowReport { path: name, dtype, shape: &shape, values })
}

/// Estimate of the bytes of an element as JSON.
const ELEMENT: u64 = 256;

/// The spelling of Python.
fn text(object: &Object) -> String {
    let list = |items: &[Object]| items.iter().map(text).collect::<Vec<_>>().join(", ");
    match object {
        Object::None => "None".to_owned(),
        Object::Bool(true) => "True".to_owned(),
        Object::Bool(false) => "False".to_owned(),
        Object::Int(n) => n.to_string(),
        Object::BigInt(bytes) => hex(bytes),
        Object::Float(n) => format!("{n:?}"),
        Object::Str(text) => format!("'{}'", text.escape_debug()),
        Object::Bytes(bytes) => format!("b'{}'", bytes.escape_ascii()),
        Object::List(items) => format!("[{}]", list(items)),
        Object::Tuple(items) if items.len() == 1 => format!("({},)", list(items)),
        Object::Tuple(items) => format!("({})", list(items)),
        Object::Set(items) => format!("{{{}}}", list(items)),
        Object::Dict(entries) => {
            let entries =
                entries.iter().map(|(key, value)| format!("{}: {}", text(key), text(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        Object::Scalar { dtype, item } => match dtype.parse() {
            Ok(dtype) => super::item::text(&dtype, item),
            Err(_) => format!("b'{}'", item.escape_ascii()),
        },
        _ => "?".to_owned(),
    }
}

/// The nearest JSON: keys become text, and bytes that are not text become objects.
fn json(object: &Object) -> Value {
    match object {
        Object::None => Value::Null,
        Object::Bool(is) => (*is).into(),
        Object::Int(n) => i64::try_from(*n).map_or_else(|_| n.to_string().into(), Value::from),
        Object::Float(n) => {
            Number::from_f64(*n).map_or_else(|| msgpack_json::float_name(*n).into(), Value::Number)
        }
        Object::Str(text) => (&**text).into(),
        Object::Bytes(bytes) => match core::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => msgpack_json::base64_object(bytes),
        },
        Object::List(items) | Object::Tuple(items) | Object::Set(items) => {
            items.iter().map(json).collect()
        }
        Object::Dict(entries) => {
            let key = |key: &Object| match key {
                Object::Str(key) => (**key).to_owned(),
                key => text(key),
            };
            Value::Object(
                entries.iter().map(|(name, value)| (key(name), json(value))).collect::<Map<_, _>>(),
            )
        }
        Object::Scalar { dtype, item } => match dtype.parse() {
            Ok(dtype) => super::item::json(&dtype, item),
            Err(_) => msgpack_json::base64_object(item),
        },
        object => text(object).into(),
    }
}

/// An integer of any size, from its bytes, the least significant first.
fn hex(little: &[u8]) -> String {
    let is_negative = little.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut carry = true;
    let mut magnitude: Vec<u8> = little
        .iter()
        .map(|byte| {
            if !is_negative {
                return *byte;
            }
            let (sum, over) = (!byte).overflowing_add(u8::from(carry));
            carry = over;
            sum
        })
        .collect();
    magnitude.reverse();
    let digits = blosc_dtype::text::hex(&magnitude, "");
    let digits = digits.trim_start_matches('0');
    format!(
        "{}0x{}",
        if is_negative { "-" } else { "" },
        if digits.is_empty() { "0" } else { digits }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_integers_are_hexadecimal() {
        assert_eq!(hex(&[0, 0, 1]), "0x10000");
        assert_eq!(hex(&[0xff, 0xff]), "-0x1");
        assert_eq!(hex(&[0, 0xff]), "-0x100");
        assert_eq!(hex(&[]), "0x0");
    }

    #[test]
    fn nested_values_are_shown_as_python_does() {
        let list = Object::List([Object::Int(1), Object::None, Object::Str("a'b".into())].into());
        let dict = Object::Dict([(Object::Int(2), Object::Tuple([list.clone()].into()))].into());
        assert_eq!(text(&dict), r"{2: ([1, None, 'a\'b'],)}");
        assert_eq!(json(&dict).to_string(), r#"{"2":[[1,null,"a'b"]]}"#);
        assert_eq!(json(&Object::Float(f64::NAN)), Value::from("NaN"));
        assert_eq!(json(&Object::Bytes([0xff].into())).to_string(), r#"{"base64":"/w=="}"#);
    }
}
