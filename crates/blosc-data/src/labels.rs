//! Names of values and dimensions from metadata and attributes.

use serde_json::Value;

/// Names and units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// The name of the values.
    pub name: Option<String>,
    /// The unit of the values.
    pub units: Option<String>,
    /// The names of the dimensions.
    pub dims: Vec<String>,
}

/// Keys of units, names and dimensions in the order of the search: those of the CF conventions, of
/// xarray and of Zarr.
const UNITS: [&str; 2] = ["units", "unit"];
const NAMES: [&str; 4] = ["long_name", "standard_name", "name", "title"];
const DIMS: [&str; 4] = ["dims", "dimensions", "dimension_names", "_array_dimensions"];

/// Letters of a label.
const MAX_LETTERS: usize = 120;

impl Labels {
    /// The labels in metadata, or in objects within them.
    #[must_use]
    pub fn new(metadata: Vec<(String, Value)>) -> Self {
        let mut flat: Vec<(String, Value)> = vec![];
        for (key, value) in metadata {
            match value {
                Value::Object(map) => flat.extend(map),
                value => flat.push((key, value)),
            }
        }
        let find = |keys: &[&str]| {
            let found = keys.iter().filter_map(|key| {
                let mut named = flat.iter().filter(|(name, _)| name.eq_ignore_ascii_case(key));
                named.next().map(|(_, value)| value)
            });
            found.collect::<Vec<_>>()
        };
        let text = |keys: &[&str]| {
            let texts = find(keys).into_iter().filter_map(Value::as_str).map(short);
            texts.into_iter().find(|text| !text.trim().is_empty())
        };
        let lists = find(&DIMS).into_iter().filter_map(Value::as_array).filter_map(|names| {
            names.iter().map(|name| name.as_str().map(short)).collect::<Option<Vec<_>>>()
        });
        Self {
            name: text(&NAMES),
            units: text(&UNITS),
            dims: lists.into_iter().next().unwrap_or_default(),
        }
    }
}

fn short(text: &str) -> String {
    text.chars().take(MAX_LETTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_and_units_are_found_where_people_write_them() {
        let labels =
            |value: Value| Labels::new(value.as_object().unwrap().clone().into_iter().collect());
        let found = labels(json!({
            "units": "K", "long_name": "air temperature", "_ARRAY_DIMENSIONS": ["time", "lat"],
        }));
        let text = |text: &str| Some(text.to_owned());
        assert_eq!((found.units, found.name), (text("K"), text("air temperature")));
        assert_eq!(found.dims, ["time", "lat"]);
        let nested = labels(json!({"attrs": {"unit": "m", "dims": ["x"]}, "n": 5}));
        assert_eq!(
            (nested.units, nested.name, nested.dims),
            (text("m"), None, vec!["x".to_owned()])
        );
        let strange = labels(json!({"units": 7, "name": " ", "dims": ["x", 2]}));
        assert_eq!(strange, Labels::default());
    }
}
