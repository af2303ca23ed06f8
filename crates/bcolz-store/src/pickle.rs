//! Pickles of plain data, read without running code.
//!
//! A pickle is a program for a stack machine, and Python's reader calls any function that it names.
//! This reader knows the opcodes that build plain values - protocols 0 to 5 - and a closed list of
//! the names that make NumPy's scalars. Any other opcode is an error that gives it and its
//! position. Values are shared, never copied, so a short program cannot make a large value.

mod machine;
mod numpy;

use std::sync::Arc;

use blosc_chunk::error::Blame;

/// A plain Python value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Object {
    /// `None`
    None,
    /// `bool`
    Bool(bool),
    /// `int`, and NumPy's integers.
    Int(i128),
    /// An `int` that does not fit: its bytes, two's complement, least significant first.
    BigInt(Arc<[u8]>),
    /// `float`, and NumPy's floats.
    Float(f64),
    /// `str`, and NumPy's. Halves of surrogate pairs have become U+FFFD.
    Str(Arc<str>),
    /// `bytes`, including NumPy's, and `bytearray`; also a Python 2 `str` that is not ASCII.
    Bytes(Arc<[u8]>),
    /// `list`
    List(Arc<[Self]>),
    /// `tuple`
    Tuple(Arc<[Self]>),
    /// `dict`, in its order; later entries replace earlier ones.
    Dict(Arc<[(Self, Self)]>),
    /// `set` and `frozenset`, in the order of the pickle.
    Set(Arc<[Self]>),
    /// A NumPy scalar of another type: its dtype, and the bytes of the item.
    Scalar {
        /// The text of the dtype, such as `<M8`.
        dtype: Arc<str>,
        /// One item.
        item: Arc<[u8]>,
    },
}

/// The reason why a pickle is not plain data. Positions count bytes of the pickle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PickleError {
    /// An opcode that could run code, or that is unknown.
    #[error("opcode {opcode:#04x} at byte {at} builds no plain data")]
    Opcode {
        /// The opcode.
        opcode: u8,
        /// Its position.
        at: usize,
    },
    /// A name of a class or function that is not on the list.
    #[error("{name:?} at byte {at} is not plain data")]
    Global {
        /// Module and name.
        name: String,
        /// The position of the opcode.
        at: usize,
    },
    /// The pickle ends within an opcode or without `STOP`.
    #[error("ends at byte {at}, {needed} more are needed")]
    Truncated {
        /// The position of the end.
        at: usize,
        /// The least number of missing bytes.
        needed: u64,
    },
    /// An opcode with a wrong operand.
    #[error("opcode {opcode:#04x} at byte {at}: {what}")]
    Malformed {
        /// The opcode.
        opcode: u8,
        /// Its position.
        at: usize,
        /// The fault.
        what: &'static str,
    },
    /// Deeper nesting, or more opcodes, than the limit.
    #[error("more than {limit} {what} at byte {at}")]
    Limit {
        /// The limited quantity.
        what: &'static str,
        /// The limit.
        limit: usize,
        /// The position.
        at: usize,
    },
}

impl PickleError {
    /// The party that has to act.
    #[must_use]
    pub const fn blame(&self) -> Blame {
        match self {
            Self::Opcode { .. } | Self::Global { .. } => Blame::NotOurs,
            Self::Limit { .. } => Blame::Limit,
            _ => Blame::Data,
        }
    }
}

/// The value of a pickle.
///
/// ```
/// use bcolz_store::pickle::{self, Object};
///
/// assert_eq!(pickle::load(b"\x80\x02K\x2a.")?, Object::Int(42));
/// let error = pickle::load(b"cos\nsystem\n(S'true'\ntR.").unwrap_err();
/// assert_eq!(error.to_string(), "\"os.system\" at byte 0 is not plain data");
/// # Ok::<(), pickle::PickleError>(())
/// ```
///
/// # Errors
///
/// Any variant of [`PickleError`].
pub fn load(pickle: &[u8]) -> Result<Object, PickleError> {
    machine::run(pickle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(values: &[i128]) -> Arc<[Object]> {
        values.iter().copied().map(Object::Int).collect()
    }

    #[test]
    fn plain_values_of_all_protocols() {
        let text = |text: &str| Object::Str(text.into());
        for (pickle, expected) in [
            (&b"I1\nL-2L\n\x86."[..], Object::Tuple(ints(&[1, -2]))),
            (b"(lp0\nI1\naI2\na.", Object::List(ints(&[1, 2]))),
            (b"(dp0\nS'k'\nI01\ns.", Object::Dict([(text("k"), Object::Bool(true))].into())),
            (b"F1.5\n.", Object::Float(1.5)),
            (b"Vab\\u00e9\n.", text("abé")),
            (b"\x80\x02X\x02\0\0\0\xc3\xa9q\x00.", text("é")),
            (b"\x80\x02U\x01\xe9.", Object::Bytes([0xe9][..].into())),
            (
                b"\x80\x02]q\x00(K\x01J\xff\xff\xff\xffM\x00\x01e.",
                Object::List(ints(&[1, -1, 256])),
            ),
            (b"\x80\x02\x8a\x09\0\0\0\0\0\0\0\0\x01.", Object::Int(1 << 64)),
            (b"\x80\x03C\x02ab.", Object::Bytes(b"ab"[..].into())),
            (b"\x80\x04\x95\x07\0\0\0\0\0\0\0\x8c\x03abc\x94.", text("abc")),
            (b"\x80\x04\x8f\x94(K\x01K\x02\x90.", Object::Set(ints(&[1, 2]))),
            (
                b"\x80\x04N\x88\x89\x87.",
                Object::Tuple([Object::None, Object::Bool(true), Object::Bool(false)].into()),
            ),
            (b"\x80\x05\x96\x01\0\0\0\0\0\0\0x.", Object::Bytes(b"x"[..].into())),
            (b"\x80\x02G?\xf8\0\0\0\0\0\0.", Object::Float(1.5)),
        ] {
            assert_eq!(load(pickle), Ok(expected), "{}", pickle.escape_ascii());
        }
    }

    #[test]
    fn a_list_can_be_shared_but_not_hold_itself() {
        assert_eq!(
            load(b"\x80\x02]q\x00K\x01ah\x00\x86."),
            Ok(Object::Tuple([Object::List(ints(&[1])), Object::List(ints(&[1]))].into()))
        );
        assert!(load(b"\x80\x02]q\x00h\x00a.").is_err());
    }

    #[test]
    fn nothing_is_ever_called() {
        for (pickle, text) in [
            (&b"cposix\nsystem\n."[..], "\"posix.system\" at byte 0 is not plain data"),
            (
                b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93.",
                "\"builtins.eval\" at byte 18 is not plain data",
            ),
            (b"\x80\x02K\x01)R.", "opcode 0x52 at byte 5: not a known function"),
            (b"(iposix\nsystem\n.", "opcode 0x69 at byte 1 builds no plain data"),
            (b"\x80\x02\x82\x01.", "opcode 0x82 at byte 2 builds no plain data"),
            (b"P1\n.", "opcode 0x50 at byte 0 builds no plain data"),
            (b"\x80\x02K\x01K\x01Q.", "opcode 0x51 at byte 6 builds no plain data"),
            (b"\x80\x02}}b.", "opcode 0x62 at byte 4: not a known object"),
        ] {
            assert_eq!(load(pickle).unwrap_err().to_string(), text, "{}", pickle.escape_ascii());
        }
    }

    #[test]
    fn damage_is_named_with_its_place() {
        for (pickle, text) in [
            (&b""[..], "ends at byte 0, 1 more are needed"),
            (b"\x80\x02X\xff\xff\xff\x7fab", "ends at byte 9, 2147483645 more are needed"),
            (b"\x80\x02.", "opcode 0x2e at byte 2: nothing on the stack"),
            (b"\x80\x09N.", "opcode 0x80 at byte 0: a later protocol"),
            (b"\x80\x02K\x01t.", "opcode 0x74 at byte 4: no mark"),
            (b"\x80\x02K\x01a.", "opcode 0x61 at byte 4: nothing on the stack"),
            (b"\x80\x02K\x01K\x02a.", "opcode 0x61 at byte 6: not a list"),
            (b"Iabc\n.", "opcode 0x49 at byte 0: not a number"),
        ] {
            assert_eq!(load(pickle).unwrap_err().to_string(), text, "{}", pickle.escape_ascii());
        }
    }

    #[test]
    fn short_programs_do_not_make_deep_or_large_values() {
        let deep = [&b"\x80\x02N"[..], &b"\x85".repeat(100_000), b"."].concat();
        assert!(matches!(load(&deep), Err(PickleError::Limit { what: "levels", .. })));
        // Each line doubles the value, by reference.
        let bomb = [&b"\x80\x02]q\x00"[..], &b"h\x00h\x00\x86q\x00"[..].repeat(60), b"."].concat();
        assert!(matches!(load(&bomb), Err(PickleError::Limit { what: "values", .. })));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..80)) {
            let _ = load(&bytes);
        }
    }
}
