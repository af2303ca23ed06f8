//! Items as Rust values.

use crate::{ByteOrder, Dtype, Kind};

/// A Rust value that items can be read as.
pub trait Element: Copy {
    /// The name of the type, for messages.
    const NAME: &'static str;

    /// Whether items of this NumPy type can be read as this value.
    fn accepts(dtype: &Dtype) -> bool;

    /// The value of an item: `bytes` has the size of one, in the byte order of `dtype`.
    fn decode(dtype: &Dtype, bytes: &[u8]) -> Self;
}

macro_rules! elements {
    ($($type:ident: $($kind:ident)|+,)*) => {$(
        impl Element for $type {
            const NAME: &'static str = stringify!($type);

            fn accepts(dtype: &Dtype) -> bool {
                let is_of_kind = matches!(dtype.kind(), Some($(Kind::$kind)|+));
                is_of_kind && dtype.itemsize() == size_of::<Self>()
            }

            fn decode(dtype: &Dtype, bytes: &[u8]) -> Self {
                let item = bytes.first_chunk().copied().unwrap_or_default();
                match dtype.scalar().map(crate::Scalar::order) {
                    Some(ByteOrder::Big) => Self::from_be_bytes(item),
                    _ => Self::from_le_bytes(item),
                }
            }
        }
    )*};
}
elements! {
    i8: Int, i16: Int, i32: Int, i64: Int | DateTime | TimeDelta,
    u8: Uint, u16: Uint, u32: Uint, u64: Uint,
    f32: Float, f64: Float,
}

/// Any byte other than 0 is true, as in NumPy.
impl Element for bool {
    const NAME: &'static str = "bool";

    fn accepts(dtype: &Dtype) -> bool {
        dtype.kind() == Some(Kind::Bool)
    }

    fn decode(_: &Dtype, bytes: &[u8]) -> Self {
        bytes.first().is_some_and(|byte| *byte != 0)
    }
}
