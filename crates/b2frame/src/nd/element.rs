//! Items as values: the Rust type for each NumPy type.

pub mod fields;

use std::borrow::Cow;

use blosc_dtype::{ByteOrder, Dtype, Kind, Scalar};
use blosc_io::zeroed;
use zerocopy::{FromZeros as _, IntoBytes as _};

use crate::error::Result;

/// A type of items. Implemented for integers, floats and `bool`; with features for `half::f16` and
/// `num_complex::Complex`; for structs by [`element!`](crate::element), or by `#[derive(Element)]`
/// with the feature `derive`.
///
/// Items of both byte orders can be read; items are written little-endian.
pub trait Element: Copy + Send + Sync + 'static {
    /// The NumPy type of written items.
    fn dtype() -> Dtype;

    /// Whether items of this NumPy type can be read as `Self`.
    fn accepts(dtype: &Dtype) -> bool;

    /// An item from its bytes; `dtype` is an accepted type.
    fn decode(dtype: &Dtype, bytes: &[u8]) -> Self;

    /// Writes an item as [`dtype`](Self::dtype) describes it.
    fn encode(&self, bytes: &mut [u8]);

    /// Reads `nitems` items; `read` fills a buffer with their bytes.
    ///
    /// # Errors
    /// The error of `read`.
    fn read_vec(
        dtype: &Dtype,
        nitems: usize,
        read: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<Vec<Self>> {
        let bytes = read_bytes(dtype, nitems, read)?;
        Ok(items(dtype, &bytes).collect())
    }

    /// Fills `dest` with items; `read` fills a buffer with their bytes.
    ///
    /// # Errors
    /// The error of `read`.
    fn read_into(
        dtype: &Dtype,
        dest: &mut [Self],
        read: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let bytes = read_bytes(dtype, dest.len(), read)?;
        dest.iter_mut().zip(items(dtype, &bytes)).for_each(|(dest, item)| *dest = item);
        Ok(())
    }

    /// The bytes of items, as [`dtype`](Self::dtype) describes them.
    #[must_use]
    fn to_bytes(items: &[Self]) -> Cow<'_, [u8]> {
        let itemsize = Self::dtype().itemsize();
        let mut bytes = vec![0; itemsize.saturating_mul(items.len())];
        bytes
            .chunks_exact_mut(itemsize.max(1))
            .zip(items)
            .for_each(|(bytes, item)| item.encode(bytes));
        Cow::Owned(bytes)
    }
}

fn read_bytes(
    dtype: &Dtype,
    nitems: usize,
    read: &mut dyn FnMut(&mut [u8]) -> Result<()>,
) -> Result<Vec<u8>> {
    let mut bytes = zeroed(nitems.saturating_mul(dtype.itemsize()));
    read(&mut bytes)?;
    Ok(bytes)
}

fn items<T: Element>(dtype: &Dtype, bytes: &[u8]) -> impl Iterator<Item = T> {
    bytes.chunks_exact(dtype.itemsize().max(1)).map(|bytes| T::decode(dtype, bytes))
}

/// The plain little-endian type of this kind; raw bytes if there is none (unreachable).
pub(super) fn plain(kind: Kind, itemsize: usize) -> Dtype {
    let size = u32::try_from(itemsize).unwrap_or(0);
    let scalar = Scalar::new(kind, ByteOrder::Little, size);
    scalar.map_or_else(|_| super::array::raw(itemsize), Dtype::from)
}

/// Whether this is a plain type of this kind and size, in either byte order.
pub(super) fn is_plain(dtype: &Dtype, kind: Kind, itemsize: usize) -> bool {
    dtype.kind() == Some(kind) && dtype.itemsize() == itemsize
}

/// Whether items have the other byte order than the machine.
pub(super) fn is_swapped(dtype: &Dtype) -> bool {
    match dtype.scalar().map(Scalar::order) {
        Some(ByteOrder::Big) => cfg!(target_endian = "little"),
        Some(ByteOrder::Little) => cfg!(target_endian = "big"),
        _ => false,
    }
}

macro_rules! plain_elements {
    ($($type:ident: $kind:ident,)*) => {$(
        impl Element for $type {
            fn dtype() -> Dtype {
                plain(Kind::$kind, size_of::<Self>())
            }

            fn accepts(dtype: &Dtype) -> bool {
                is_plain(dtype, Kind::$kind, size_of::<Self>())
            }

            fn decode(dtype: &Dtype, bytes: &[u8]) -> Self {
                let mut item = Self::new_zeroed();
                item.as_mut_bytes().iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                if is_swapped(dtype) { swapped(item) } else { item }
            }

            fn encode(&self, bytes: &mut [u8]) {
                bytes.iter_mut().zip(self.to_le_bytes()).for_each(|(to, from)| *to = from);
            }

            fn read_vec(
                dtype: &Dtype,
                nitems: usize,
                read: &mut dyn FnMut(&mut [u8]) -> Result<()>,
            ) -> Result<Vec<Self>> {
                let mut items = zeroed(nitems);
                Self::read_into(dtype, &mut items, read)?;
                Ok(items)
            }

            fn read_into(
                dtype: &Dtype,
                dest: &mut [Self],
                read: &mut dyn FnMut(&mut [u8]) -> Result<()>,
            ) -> Result<()> {
                read(dest.as_mut_bytes())?;
                if is_swapped(dtype) {
                    dest.iter_mut().for_each(|item| *item = swapped(*item));
                }
                Ok(())
            }

            #[cfg(target_endian = "little")]
            fn to_bytes(items: &[Self]) -> Cow<'_, [u8]> {
                Cow::Borrowed(items.as_bytes())
            }
        }
    )*};
}
plain_elements! {
    i8: Int, i16: Int, i32: Int, i64: Int,
    u8: Uint, u16: Uint, u32: Uint, u64: Uint,
    f32: Float, f64: Float,
}

/// An item with its bytes reversed.
fn swapped<T: zerocopy::FromBytes + zerocopy::IntoBytes + zerocopy::Immutable>(mut item: T) -> T {
    item.as_mut_bytes().reverse();
    item
}

/// Any byte except 0 is true, as in NumPy.
impl Element for bool {
    fn dtype() -> Dtype {
        plain(Kind::Bool, 1)
    }

    fn accepts(dtype: &Dtype) -> bool {
        dtype.kind() == Some(Kind::Bool)
    }

    fn decode(_: &Dtype, bytes: &[u8]) -> Self {
        bytes.first().is_some_and(|byte| *byte != 0)
    }

    fn encode(&self, bytes: &mut [u8]) {
        bytes.iter_mut().for_each(|byte| *byte = u8::from(*self));
    }
}

#[cfg(feature = "half")]
macro_rules! half_element {
    ($type:ty) => {
        impl Element for $type {
            fn dtype() -> Dtype {
                plain(Kind::Float, 2)
            }

            fn accepts(dtype: &Dtype) -> bool {
                is_plain(dtype, Kind::Float, 2)
            }

            fn decode(dtype: &Dtype, bytes: &[u8]) -> Self {
                Self::from_bits(u16::decode(dtype, bytes))
            }

            fn encode(&self, bytes: &mut [u8]) {
                self.to_bits().encode(bytes);
            }
        }
    };
}
#[cfg(feature = "half")]
half_element!(half::f16);

#[cfg(feature = "num-complex")]
macro_rules! complex_element {
    ($($part:ty),*) => {$(
        impl Element for num_complex::Complex<$part> {
            fn dtype() -> Dtype {
                plain(Kind::Complex, 2 * size_of::<$part>())
            }

            fn accepts(dtype: &Dtype) -> bool {
                is_plain(dtype, Kind::Complex, 2 * size_of::<$part>())
            }

            fn decode(dtype: &Dtype, bytes: &[u8]) -> Self {
                // The parts have the byte order of the whole.
                let (re, im) = bytes.split_at(size_of::<$part>().min(bytes.len()));
                Self::new(<$part>::decode(dtype, re), <$part>::decode(dtype, im))
            }

            fn encode(&self, bytes: &mut [u8]) {
                let (re, im) = bytes.split_at_mut(size_of::<$part>().min(bytes.len()));
                self.re.encode(re);
                self.im.encode(im);
            }
        }
    )*};
}
#[cfg(feature = "num-complex")]
complex_element!(f32, f64);

/// Declares a struct whose values are items of a structured type: each field of the struct is a
/// field of the item.
///
/// The struct is [`Element`] and `Copy`; its layout in memory does not matter. It can be read from
/// every type that has fields of these names and types in this order, with padding or without. It
/// is written as the packed type.
///
/// ```
/// use b2frame::{Element, element};
///
/// element! {
///     /// A station.
///     #[derive(Debug, PartialEq)]
///     pub struct Station {
///         /// Its number.
///         pub id: u32,
///         /// Degrees.
///         pub temperature: f64,
///     }
/// }
///
/// assert_eq!(Station::dtype().to_string(), "[('id', '<u4'), ('temperature', '<f8')]");
/// let padded = "{'names': ['id', 'temperature'], 'formats': ['<u4', '>f8'], \
///     'offsets': [0, 8], 'itemsize': 16}";
/// assert!(Station::accepts(&padded.parse()?));
/// # Ok::<(), blosc_dtype::Error>(())
/// ```
#[macro_export]
macro_rules! element {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $type),+
        }

        impl $crate::Element for $name {
            fn dtype() -> $crate::Dtype {
                $crate::element_fields::packed(&[
                    $((::core::stringify!($field), <$type as $crate::Element>::dtype())),+
                ])
            }

            fn accepts(dtype: &$crate::Dtype) -> bool {
                $crate::element_fields::has_fields(
                    dtype,
                    &[$((::core::stringify!($field), <$type as $crate::Element>::accepts)),+],
                )
            }

            fn decode(dtype: &$crate::Dtype, bytes: &[u8]) -> Self {
                let mut fields = dtype.fields().iter();
                Self { $($field: $crate::element_fields::decode_field(fields.next(), bytes)),+ }
            }

            fn encode(&self, bytes: &mut [u8]) {
                let mut rest = bytes;
                $(rest = $crate::element_fields::encode_field(&self.$field, rest);)+
                let _ = rest;
            }
        }
    };
}
