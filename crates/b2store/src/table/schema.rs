//! The schema of a table ("Tables: schema and columns" in `docs/formats/store.md`).

use std::collections::BTreeSet;

use blosc_dtype::json::{self, Json};

use super::names::column_path;
use crate::error::{Corrupt, Error, Result};

/// The schema of a table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Schema {
    /// Its version, 1 to 3.
    pub version: u8,
    /// The columns in their order.
    pub columns: Vec<ColumnSpec>,
    /// Columns without data, which are computed from others.
    pub computed: Vec<ComputedColumn>,
    /// The whole schema.
    pub json: Json,
}

/// A column as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ColumnSpec {
    /// Its name; dots divide the names of nested columns.
    pub name: String,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// The marking of nulls.
    pub nulls: Nulls,
    /// Its whole description in the schema.
    pub json: Json,
    /// The path of its frames below `_cols/`; `None` for a name that leads outside.
    pub(crate) path: Option<String>,
}

/// The kind of a column's values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnKind {
    /// Numbers or truth values, by NumPy's type without byte order, such as `i4`, `f8`, `b1`.
    Fixed(&'static str),
    /// Text of a fixed number of characters.
    String,
    /// Bytes of a fixed length.
    Bytes,
    /// Time since 1970.
    Timestamp {
        /// `s`, `ms`, `us` or `ns`.
        unit: String,
        /// The name of the time zone, if there is one.
        timezone: Option<String>,
    },
    /// An array in each row.
    NdArray {
        /// Length of each dimension of a row.
        item_shape: Vec<u64>,
    },
    /// Text of any length.
    Utf8,
    /// Text of any length, in batches of objects.
    VlString,
    /// Bytes of any length.
    VlBytes,
    /// Maps.
    Struct,
    /// Any values.
    Object,
    /// Lists.
    List,
    /// Words that are stored once.
    Dictionary {
        /// The code of a null.
        null_code: i32,
    },
    /// Values of a reference that is not resolved.
    Remote,
    /// An unknown kind.
    Unknown(String),
}

impl ColumnKind {
    /// Whether nil or a code marks nulls.
    pub(crate) const fn has_native_nulls(&self) -> bool {
        matches!(
            self,
            Self::VlString
                | Self::VlBytes
                | Self::Struct
                | Self::Object
                | Self::List
                | Self::Dictionary { .. }
        )
    }
}

/// The marking of nulls in a column.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Nulls {
    /// The column has no nulls.
    None,
    /// An array of truth values beside the column.
    Mask,
    /// A value that means null.
    Sentinel(Json),
    /// Nil, or the code of a dictionary.
    Native,
}

/// A column that is computed from others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComputedColumn {
    /// Its name.
    pub name: String,
    /// The expression in the schema; it is shown, never evaluated.
    pub expression: String,
    /// NumPy's type of the result.
    pub dtype: String,
}

/// The kinds of numbers: their names in schemas and in NumPy.
pub(crate) const FIXED_KINDS: [(&str, &str); 13] = [
    ("int8", "i1"),
    ("int16", "i2"),
    ("int32", "i4"),
    ("int64", "i8"),
    ("uint8", "u1"),
    ("uint16", "u2"),
    ("uint32", "u4"),
    ("uint64", "u8"),
    ("float32", "f4"),
    ("float64", "f8"),
    ("complex64", "c8"),
    ("complex128", "c16"),
    ("bool", "b1"),
];

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    ///
    /// Text that is not JSON or not a schema, an unknown version, two columns of one name. Reading
    /// a column reports its own errors.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let corrupt = |what| Error::corrupt(name, what);
        let json = json::parse(text.as_bytes()).map_err(|error| corrupt(Corrupt::Json(error)))?;
        let version = match json.get("version") {
            None => 1,
            Some(Json::Int(version @ 1..=3)) => u8::try_from(*version).unwrap_or(1),
            Some(Json::Int(found)) => {
                let (field, known) = ("the schema", "1 to 3");
                return Err(corrupt(Corrupt::Version { field, found: *found, known }));
            }
            Some(other) => {
                let found = other.type_name();
                return Err(corrupt(Corrupt::wrong_type("version", "a number", found)));
            }
        };
        let columns = json.get("columns").and_then(Json::as_array).ok_or_else(|| {
            let found = json.get("columns").map_or("missing", Json::type_name);
            corrupt(Corrupt::wrong_type("columns", "a list", found))
        })?;
        let remote = names_in(&json, "source_columns");
        let columns: Vec<ColumnSpec> = columns
            .iter()
            .map(|column| ColumnSpec::parse(column, &remote).map_err(corrupt))
            .collect::<Result<_>>()?;
        let mut names = BTreeSet::new();
        for column in &columns {
            if !names.insert(&column.name) {
                let (name, why) = (column.name.clone(), "stands twice");
                return Err(corrupt(Corrupt::Column { name, why }));
            }
        }
        let computed = json.get("computed_columns").and_then(Json::as_array).unwrap_or_default();
        let computed = computed.iter().filter_map(ComputedColumn::parse).collect();
        Ok(Self { version, columns, computed, json })
    }
}

impl ColumnSpec {
    /// Whether a value can be null. Cells of any length have nil, which their column may exclude.
    #[must_use]
    pub fn is_nullable(&self) -> bool {
        match self.nulls {
            Nulls::Native => self.json.get("nullable") == Some(&Json::Bool(true)),
            _ => self.nulls != Nulls::None,
        }
    }

    fn parse(json: &Json, remote: &BTreeSet<String>) -> Result<Self, Corrupt> {
        let text = |field: &str| json.get(field).and_then(Json::as_str);
        let (Some(name), Some(kind)) = (text("name"), text("kind")) else {
            let found = json.type_name();
            return Err(Corrupt::wrong_type("a column", "an object with name and kind", found));
        };
        let kind = match kind {
            _ if remote.contains(name) => ColumnKind::Remote,
            "string" => ColumnKind::String,
            "bytes" => ColumnKind::Bytes,
            "timestamp" => ColumnKind::Timestamp {
                unit: text("unit").unwrap_or("ns").to_owned(),
                timezone: text("timezone").map(str::to_owned),
            },
            "ndarray" => {
                let shape = json.get("item_shape").and_then(Json::as_array).unwrap_or_default();
                let len = |len: &Json| len.as_int().and_then(|len| u64::try_from(len).ok());
                let item_shape = shape.iter().map(len).collect::<Option<_>>();
                let wrong = || Corrupt::wrong_type("item_shape", "a list of lengths", "another");
                ColumnKind::NdArray { item_shape: item_shape.ok_or_else(wrong)? }
            }
            "utf8" => ColumnKind::Utf8,
            "vlstring" => ColumnKind::VlString,
            "vlbytes" => ColumnKind::VlBytes,
            "struct" => ColumnKind::Struct,
            "object" => ColumnKind::Object,
            "list" => ColumnKind::List,
            "dictionary" => {
                let code = json.get("null_code").and_then(Json::as_int);
                let code = code.and_then(|code| i32::try_from(code).ok());
                ColumnKind::Dictionary { null_code: code.unwrap_or(-1) }
            }
            other => match FIXED_KINDS.iter().find(|(known, _)| *known == other) {
                Some((_, short)) => ColumnKind::Fixed(short),
                None => ColumnKind::Unknown(other.to_owned()),
            },
        };
        let nulls = match (&kind, text("null_storage"), json.get("null_value")) {
            (kind, ..) if kind.has_native_nulls() => Nulls::Native,
            (_, Some("mask"), _) => Nulls::Mask,
            (_, _, None | Some(Json::Null)) => Nulls::None,
            (_, _, Some(value)) => Nulls::Sentinel(value.clone()),
        };
        let path = column_path(name);
        Ok(Self { name: name.to_owned(), kind, nulls, json: json.clone(), path })
    }
}

impl ComputedColumn {
    fn parse(json: &Json) -> Option<Self> {
        let text = |field: &str| json.get(field).and_then(Json::as_str).map(str::to_owned);
        Some(Self {
            name: text("name")?,
            expression: text("expression").or_else(|| text("dsl_source")).unwrap_or_default(),
            dtype: text("dtype").unwrap_or_default(),
        })
    }
}

/// The names in a list of names or of objects with a name, or the keys of an object.
fn names_in(json: &Json, field: &str) -> BTreeSet<String> {
    let name_of = |entry: &Json| {
        entry.as_str().or_else(|| entry.get("name").and_then(Json::as_str)).map(str::to_owned)
    };
    match json.get(field) {
        Some(Json::Array(entries)) => entries.iter().filter_map(name_of).collect(),
        Some(Json::Object(entries)) => entries.iter().map(|(name, _)| name.clone()).collect(),
        _ => BTreeSet::new(),
    }
}
