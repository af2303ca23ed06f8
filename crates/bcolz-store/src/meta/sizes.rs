//! `meta/sizes`: the shape, and two statistics that reading ignores.

use super::{in_range, need, read_object, sizes_path, wrong_type};
use crate::error::{Field, Result};
use crate::tree::Tree;
use blosc_dtype::json::Json;

/// The shape of an array, and its sizes by its writer's count.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sizes {
    /// At least one dimension; all but the first one are at least 1.
    pub(crate) shape: Vec<u64>,
    /// Bytes of data, if it is a number.
    pub(crate) nbytes: Option<i128>,
    /// An unreliable number: it counts a missing chunk too, and can be negative.
    pub(crate) cbytes: Option<i128>,
}

impl Sizes {
    pub(crate) fn parse(json: &Json, path: &str) -> Result<Self> {
        let shape = need(json, path, "shape")?;
        let list = shape.as_array().ok_or_else(|| wrong_type(path, "shape", "a list", shape))?;
        in_range(path, Field::Dimensions, list.len() as i128, 1, MAX_DIMENSIONS)?;
        let dimension = |(i, length): (usize, &Json)| {
            let (field, min) = if i == 0 { (Field::Length, 0) } else { (Field::RowShape, 1) };
            let value = length
                .as_int()
                .ok_or_else(|| wrong_type(path, "shape", "a list of integers", length))?;
            in_range(path, field, value, min, i64::MAX.into())
        };
        let shape = list.iter().enumerate().map(dimension).collect::<Result<_>>()?;
        let statistic = |key| json.get(key).and_then(Json::as_int);
        Ok(Self { shape, nbytes: statistic("nbytes"), cbytes: statistic("cbytes") })
    }

    /// Reads the file of the array at `path`.
    pub(crate) fn read(tree: &dyn Tree, path: &str) -> Result<Self> {
        let path = sizes_path(path);
        Self::parse(&read_object(tree, &path)?, &path)
    }

    /// These sizes with another number of rows.
    pub(crate) fn with_len(mut self, len: u64) -> Self {
        self.shape.first_mut().into_iter().for_each(|rows| *rows = len);
        self
    }

    /// The text of the file.
    pub(crate) fn to_text(&self) -> String {
        let shape: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        let number = |statistic: Option<i128>| statistic.unwrap_or(0);
        format!(
            "{{\"shape\": [{}], \"nbytes\": {}, \"cbytes\": {}}}\n",
            shape.join(", "),
            number(self.nbytes),
            number(self.cbytes)
        )
    }
}

/// NumPy's limit.
const MAX_DIMENSIONS: i128 = 64;
