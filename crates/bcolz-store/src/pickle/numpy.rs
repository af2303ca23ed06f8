//! The functions that pickles of NumPy's scalars name, and pickles of a few plain values in old
//! protocols.

use std::sync::Arc;

use super::Object;
use super::machine::Node;
use blosc_dtype::items;

/// A function that only builds values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    /// `numpy.dtype(code, align, copy)`
    Dtype,
    /// `numpy.core.multiarray.scalar(dtype, bytes)`
    Scalar,
    /// `_codecs.encode(text, 'latin1')`: bytes in protocols below 3.
    Encode,
    /// `bytes()`
    Bytes,
    /// `bytearray(...)`
    ByteArray,
    /// `set([...])`, `frozenset([...])`
    Set,
}

impl Function {
    pub(super) fn known(name: &str) -> Option<Self> {
        Some(match name {
            "numpy.dtype" => Self::Dtype,
            "numpy.core.multiarray.scalar" | "numpy._core.multiarray.scalar" => Self::Scalar,
            "_codecs.encode" => Self::Encode,
            "__builtin__.bytes" | "builtins.bytes" => Self::Bytes,
            "__builtin__.bytearray" | "builtins.bytearray" => Self::ByteArray,
            "__builtin__.set" | "builtins.set" | "__builtin__.frozenset" | "builtins.frozenset" => {
                Self::Set
            }
            _ => return None,
        })
    }
}

/// A dtype in a pickle: plain ones only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScalarType {
    code: String,
    order: char,
    unit: String,
}

impl ScalarType {
    /// Sets the state that `BUILD` passes: `(version, order, None, None, None, size, alignment,
    /// flags[, metadata])`.
    pub(super) fn set_state(&mut self, state: &[&Node], unit: Option<&[&Node]>) -> bool {
        let Some(order) = state.get(1).and_then(|node| text(node)) else { return false };
        let is_plain = |place: usize| matches!(state.get(place), Some(Node::Leaf(Object::None)));
        let Some(order @ ('<' | '>' | '|' | '=')) = order.chars().next() else { return false };
        self.order = order;
        match unit {
            Some([name, Node::Leaf(Object::Int(count)), ..]) => match text(name) {
                // A time without a unit.
                Some("generic") => {}
                Some(name) if *count == 1 => self.unit = format!("[{name}]"),
                Some(name) => self.unit = format!("[{count}{name}]"),
                None => return false,
            },
            Some(_) => return false,
            None => {}
        }
        // Neither a sub-array nor fields are allowed.
        is_plain(2) && is_plain(3) && is_plain(4)
    }

    fn value(&self, item: &[u8]) -> Option<Object> {
        let is_big = self.order == '>';
        match self.code.as_bytes().first() {
            Some(b'S') => return Some(Object::Bytes(items::trimmed(item).into())),
            Some(b'U') => return Some(Object::Str(items::text(item, is_big).into())),
            _ => {}
        }
        let mut wide = [0; 16];
        if item.len() > wide.len() || is_big && self.code.starts_with('V') {
            return self.opaque(item);
        }
        let little: Vec<u8> =
            if is_big { item.iter().rev().copied().collect() } else { item.to_vec() };
        let is_negative =
            self.code.starts_with('i') && little.last().is_some_and(|byte| *byte > 0x7f);
        wide.fill(if is_negative { 0xff } else { 0 });
        wide.iter_mut().zip(&little).for_each(|(to, from)| *to = *from);
        match (self.code.as_str(), little.as_slice()) {
            ("b1", [byte]) => Some(Object::Bool(*byte != 0)),
            ("i1", [_]) | ("u1", [_]) | ("i2" | "u2", [_, _]) | ("i4" | "u4", [_, _, _, _]) => {
                Some(Object::Int(i128::from_le_bytes(wide)))
            }
            ("i8" | "u8", bytes) if bytes.len() == 8 => {
                Some(Object::Int(i128::from_le_bytes(wide)))
            }
            ("f8", bytes) => {
                bytes.try_into().ok().map(|bytes| Object::Float(f64::from_le_bytes(bytes)))
            }
            ("f2", bytes) => bytes
                .try_into()
                .ok()
                .map(|bytes| Object::Float(half::f16::from_le_bytes(bytes).to_f64())),
            ("f4", bytes) => {
                bytes.try_into().ok().map(|bytes| Object::Float(f32::from_le_bytes(bytes).into()))
            }
            _ => self.opaque(item),
        }
    }

    fn opaque(&self, item: &[u8]) -> Option<Object> {
        let order = if self.order == '=' { '<' } else { self.order };
        let dtype: Arc<str> = format!("{order}{}{}", self.code, self.unit).into();
        Some(Object::Scalar { dtype, item: item.into() })
    }
}

/// The result of a function; `None` for arguments that NumPy and Python never write.
pub(super) fn call(function: Function, arguments: &[&Node]) -> Option<Node> {
    match (function, arguments) {
        (Function::Dtype, [code, ..]) => {
            let code = text(code).filter(|code| !code.starts_with('O'))?.to_owned();
            Some(Node::Dtype(ScalarType { code, order: '|', unit: String::new() }))
        }
        (Function::Scalar, [Node::Dtype(dtype), Node::Leaf(item)]) => {
            dtype.value(&bytes(item)?).map(Node::Leaf)
        }
        (Function::Encode, [Node::Leaf(Object::Str(text)), Node::Leaf(Object::Str(code))])
            if matches!(&**code, "latin1" | "latin-1") =>
        {
            latin1(text).map(|bytes| Node::Leaf(Object::Bytes(bytes.into())))
        }
        (Function::Bytes | Function::ByteArray, []) => Some(Node::Leaf(Object::Bytes([].into()))),
        (Function::ByteArray, [Node::Leaf(object), ..]) => {
            Some(Node::Leaf(Object::Bytes(bytes(object)?.into())))
        }
        (Function::Set, [Node::List(items)]) => Some(Node::Set(items.clone())),
        _ => None,
    }
}

fn text(node: &Node) -> Option<&str> {
    match node {
        Node::Leaf(Object::Str(text)) => Some(text),
        Node::Leaf(Object::Bytes(bytes)) => core::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

fn bytes(object: &Object) -> Option<Vec<u8>> {
    match object {
        Object::Bytes(bytes) => Some(bytes.to_vec()),
        Object::Str(text) => latin1(text),
        _ => None,
    }
}

fn latin1(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect()
}
