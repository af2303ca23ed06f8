//! The description of an array, and its form in the metadata.

use blosc_dtype::{Dtype, npy::without_unnamed_padding};
use serde_json::{Value, json};

use super::dtype;
use crate::{Corrupt, Error, Param, Result};

/// Type of the items, shape and order of an array.
///
/// Its invariants: the items are not objects, and the size in bytes fits an `u64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayInfo {
    dtype: Dtype,
    shape: Vec<u64>,
    order: Order,
    nbytes: u64,
}

/// The order in which the items follow one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last index runs fastest.
    #[default]
    C,
    /// The first index runs fastest. The shape is not reversed.
    F,
}

impl ArrayInfo {
    /// An array of this type and shape. If both orders are the same, it has C order, as in NumPy.
    ///
    /// # Errors
    ///
    /// [`Corrupt::ArrayObjects`] or [`Corrupt::ArrayOverflow`] in [`Error::Corrupt`].
    pub fn new(dtype: Dtype, shape: Vec<u64>, order: Order) -> Result<Self> {
        if dtype.has_objects() {
            return Err(Error::corrupt(0, Corrupt::ArrayObjects));
        }
        // A literal keeps its quotes, which have no meaning here.
        let dtype = dtype.scalar().cloned().map_or(dtype, Dtype::from);
        let itemsize = dtype.itemsize() as u64;
        // A length of 0 makes an empty array, but must not hide impossible lengths.
        let full =
            shape.iter().filter(|n| **n > 0).try_fold(itemsize, |nbytes, n| nbytes.checked_mul(*n));
        let full = full.ok_or(Error::corrupt(0, Corrupt::ArrayOverflow))?;
        let nbytes = if shape.contains(&0) { 0 } else { full };
        let info = Self { dtype, shape, order: Order::C, nbytes };
        Ok(info.with_order(order))
    }

    /// The description in the metadata of a file; `None` if they do not mark it as an array.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] or [`Error::Dtype`] if the file is marked as an array and the description
    /// cannot be used.
    pub fn from_metadata(metadata: &Value) -> Result<Option<Self>> {
        if metadata.get("container").and_then(Value::as_str) != Some("numpy") {
            return Ok(None);
        }
        let wrong = |key| Error::corrupt(0, Corrupt::ArrayKey { key });
        let dtype = dtype::from_json(metadata.get("dtype").ok_or(wrong("dtype"))?)?;
        // `descr` lists padding as fields; the type that it describes has none of them.
        let dtype = without_unnamed_padding(dtype)?;
        let shape = metadata.get("shape").and_then(Value::as_array).ok_or(wrong("shape"))?;
        let shape: Option<Vec<u64>> = shape.iter().map(Value::as_u64).collect();
        let order = match metadata.get("order").and_then(Value::as_str) {
            Some("C") => Order::C,
            Some("F") => Order::F,
            _ => return Err(wrong("order")),
        };
        Self::new(dtype, shape.ok_or(wrong("shape"))?, order).map(Some)
    }

    /// The metadata of a file that holds this array, as Bloscpack 0.16.0 writes them.
    ///
    /// # Errors
    ///
    /// [`Param::Array`] if the type of the items has no text.
    pub fn to_metadata(&self) -> Result<Value> {
        let descr =
            self.dtype.descr().ok_or(Param::Array { what: "overlapping fields or sub-arrays" })?;
        let order = if self.order == Order::C { "C" } else { "F" };
        Ok(json!({ "dtype": descr, "shape": self.shape, "order": order, "container": "numpy" }))
    }

    /// The type of an item.
    #[must_use]
    pub const fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    /// Items per dimension. An empty shape means one item.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The order of the items.
    #[must_use]
    pub const fn order(&self) -> Order {
        self.order
    }

    /// Bytes of all items.
    #[must_use]
    pub const fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// The same array in another order.
    pub(super) fn with_order(self, order: Order) -> Self {
        let same = self.nbytes == 0 || self.shape.iter().filter(|n| **n != 1).count() < 2;
        Self { order: if same { Order::C } else { order }, ..self }
    }

    pub(crate) fn check_nbytes(&self, found: u64) -> Result<()> {
        let needed = self.nbytes;
        if needed == found {
            Ok(())
        } else {
            Err(Error::corrupt(0, Corrupt::ArraySize { needed, found }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(metadata: &Value) -> Corrupt {
        match ArrayInfo::from_metadata(metadata) {
            Err(Error::Corrupt { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn metadata_are_those_of_bloscpack_0_16() {
        let info =
            ArrayInfo::new("[('a', '<i4'), ('b', 'S3')]".parse().unwrap(), vec![2, 3], Order::F)
                .unwrap();
        let metadata = info.to_metadata().unwrap();
        let text = String::from_utf8(crate::json::to_text(&metadata)).unwrap();
        assert_eq!(
            text,
            r#"{"dtype":"[('a', '<i4'), ('b', '|S3')]","shape":[2,3],"order":"F","container":"numpy"}"#
        );
        assert_eq!(ArrayInfo::from_metadata(&metadata).unwrap(), Some(info));
    }

    #[test]
    fn missing_and_wrong_keys_are_named() {
        let full = json!({ "dtype": "'<f8'", "shape": [3], "order": "C", "container": "numpy" });
        for (key, wrong) in [
            ("dtype", json!(7)),
            ("shape", json!("3")),
            ("shape", json!([-3])),
            ("shape", json!([3.5])),
            ("order", json!("A")),
        ] {
            let mut metadata = full.clone();
            metadata[key] = wrong;
            assert_eq!(error(&metadata), Corrupt::ArrayKey { key });
            metadata.as_object_mut().unwrap().remove(key);
            assert_eq!(error(&metadata), Corrupt::ArrayKey { key });
        }
        let mut other = full;
        other["container"] = json!("Numpy");
        assert_eq!(ArrayInfo::from_metadata(&other).unwrap(), None);
        assert_eq!(ArrayInfo::from_metadata(&json!([1])).unwrap(), None);
    }

    #[test]
    fn objects_and_sizes_without_count_are_refused() {
        let of = |dtype: &str, shape: Value| json!({ "dtype": dtype, "shape": shape, "order": "C", "container": "numpy" });
        assert_eq!(error(&of("'|O'", json!([1]))), Corrupt::ArrayObjects);
        assert_eq!(error(&of("[('a', '<i4'), ('b', '|O')]", json!([1]))), Corrupt::ArrayObjects);
        assert_eq!(error(&of("'<f8'", json!([1_u64 << 32, 1_u64 << 32]))), Corrupt::ArrayOverflow);
        assert_eq!(
            error(&of("'<f8'", json!([1_u64 << 32, 0, 1_u64 << 32]))),
            Corrupt::ArrayOverflow
        );
        let code = ArrayInfo::from_metadata(&of("__import__('os')", json!([1])));
        assert!(matches!(code, Err(Error::Dtype { .. })));
    }

    #[test]
    fn orders_that_are_the_same_are_c() {
        let order = |shape: &[u64]| {
            ArrayInfo::new("<f8".parse().unwrap(), shape.to_vec(), Order::F).unwrap().order()
        };
        for shape in [&[][..], &[5], &[1, 5], &[5, 1, 1], &[0, 3], &[1, 1]] {
            assert_eq!(order(shape), Order::C, "{shape:?}");
        }
        assert_eq!(order(&[2, 2]), Order::F);
    }

    #[test]
    fn no_dimensions_are_one_item_and_a_zero_length_is_none() {
        let nbytes = |shape: &[u64]| {
            ArrayInfo::new("<f8".parse().unwrap(), shape.to_vec(), Order::C).unwrap().nbytes()
        };
        assert_eq!([nbytes(&[]), nbytes(&[0, 3]), nbytes(&[2, 3])], [8, 0, 48]);
    }
}
