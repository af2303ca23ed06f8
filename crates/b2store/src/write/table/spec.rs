//! A new column, and its description in the schema.

use std::collections::BTreeMap;

use b2frame::Checksums;
use blosc_chunk::CParams;
use blosc_dtype::json::Json;

use crate::error::{Param, Result};
use crate::table::{ColumnKind, ColumnSpec, ColumnValues, FIXED_KINDS, Nulls, Values, column_path};

/// Rows of a batch.
pub(super) const BATCH_ROWS: usize = 2048;

blosc_chunk::setters! {
/// Storage parameters for the columns of a new table.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TableParams {
    /// The compression of columns. Each column sets its own typesize.
    pub cparams: CParams,
    ;
    /// Rows of a chunk of columns of fixed width; `None` for a chunk of a few megabytes.
    pub chunk_rows: Option<u32>,
    /// Rows of a block of such columns; `None` for an eighth of a chunk.
    pub block_rows: Option<u32>,
    /// The checksums that detect damage of a frame; `None` for the custom: no checksums in frames
    /// with cells of any length.
    pub checksums: Option<Checksums>,
}
}

impl TableParams {
    /// The parameters of an existing frame, for others beside it.
    pub(super) fn like(schunk: &b2frame::SChunk) -> Self {
        Self { cparams: schunk.cparams(), ..Self::default() }
    }
}

/// A column of a new table.
///
/// The first values set the width of text and bytes, and the shape and type of rows that are
/// arrays.
/// first values.
#[derive(Clone, Debug)]
pub struct NewColumn {
    name: String,
    kind: ColumnKind,
    nulls: Nulls,
    options: Vec<(String, Json)>,
}

impl NewColumn {
    /// Whether a column can have this name.
    #[must_use]
    pub fn can_be_called(name: &str) -> bool {
        check_names(&[Self::new(name, ColumnKind::Utf8)]).is_ok()
    }

    /// A column without nulls, except those that its kind always has. Dots divide the names of
    /// nested columns.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: ColumnKind) -> Self {
        Self { name: name.into(), kind, nulls: Nulls::None, options: Vec::new() }
    }

    /// A column like one of another table: of the same kind, with its nulls and further fields.
    #[must_use]
    pub fn like(spec: &ColumnSpec) -> Self {
        let mut column = Self::new(spec.name.clone(), spec.kind.clone());
        column.nulls = match &spec.nulls {
            Nulls::Native => Nulls::Mask,
            nulls => nulls.clone(),
        };
        if let Json::Object(fields) = &spec.json {
            let is_kept = |name: &str| KEPT_FIELDS.contains(&name);
            column.options = fields.iter().filter(|(name, _)| is_kept(name)).cloned().collect();
        }
        column
    }

    /// The column with another name.
    pub(super) fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// The column with this marking of nulls.
    #[must_use]
    pub fn nulls(self, nulls: Nulls) -> Self {
        Self { nulls, ..self }
    }

    /// The column with a further field of the schema: `item`, the type of the items of lists, as
    /// `{"kind": "int64"}`; `fields`, the names and types of the fields of maps; `default` and
    /// others.
    #[must_use]
    pub fn option(mut self, field: impl Into<String>, value: Json) -> Self {
        self.options.push((field.into(), value));
        self
    }

    #[cfg(feature = "arrow")]
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    #[cfg(feature = "arrow")]
    pub(super) fn kind(&self) -> ColumnKind {
        self.kind.clone()
    }

    fn wrong(&self, why: &'static str) -> Param {
        Param::Column { name: self.name.clone(), why }
    }

    /// The description of the column in the schema.
    fn json(&self, values: &ColumnValues) -> Result<Json, Param> {
        let mut fields = vec![field("name", text(&self.name))];
        self.add_kind(values, &mut fields)?;
        self.add_nulls(&mut fields)?;
        let others = self.options.iter().filter(|(name, _)| name != "fields" && name != "item");
        fields.extend(others.cloned());
        Ok(Json::Object(fields))
    }

    fn add_kind(&self, values: &ColumnValues, fields: &mut Fields) -> Result<(), Param> {
        let fixed = match &values.values {
            Values::Fixed { dtype, item_shape, .. } => Some((dtype, item_shape)),
            _ => None,
        };
        let varlen =
            || [field("serializer", text("msgpack")), field("batch_rows", count(BATCH_ROWS))];
        let nullable = self.nulls != Nulls::None;
        let is_nullable = || field("nullable", Json::Bool(nullable));
        let length = |divisor: usize| {
            let (dtype, _) = fixed.ok_or_else(|| self.wrong("its values have no fixed width"))?;
            let len = dtype.itemsize().checked_div(divisor).unwrap_or(1);
            Ok::<_, Param>(field("max_length", count(len.max(1))))
        };
        let kind = |kind: &str| field("kind", text(kind));
        let cells = |name| [[kind(name), is_nullable()], varlen()].into_iter().flatten();
        match &self.kind {
            ColumnKind::Fixed(name) => {
                fields.push(kind(fixed_name(name).ok_or_else(|| self.wrong("unknown kind"))?));
            }
            ColumnKind::String => fields.extend([kind("string"), length(4)?]),
            ColumnKind::Bytes => fields.extend([kind("bytes"), length(1)?]),
            ColumnKind::Timestamp { unit, timezone } => {
                fields.extend([kind("timestamp"), field("unit", text(unit))]);
                fields.extend(timezone.as_ref().map(|zone| field("timezone", text(zone))));
            }
            ColumnKind::NdArray { item_shape } => {
                let (dtype, _) = fixed.ok_or_else(|| self.wrong("its values are no arrays"))?;
                let shape = item_shape.iter().map(|len| Json::Int((*len).into())).collect();
                let dtype = dtype.to_string();
                fields.extend([
                    kind("ndarray"),
                    field("item_shape", Json::Array(shape)),
                    field("dtype_str", text(dtype.trim_matches('\''))),
                ]);
            }
            ColumnKind::Utf8 => fields.push(kind("utf8")),
            ColumnKind::VlString => fields.extend(cells("vlstring")),
            ColumnKind::VlBytes => fields.extend(cells("vlbytes")),
            ColumnKind::Object => fields.extend(cells("object")),
            ColumnKind::Struct => {
                fields.extend([kind("struct"), self.needed("fields")?, is_nullable()]);
            }
            ColumnKind::List => {
                fields.extend([kind("list"), self.needed("item")?, is_nullable()]);
                fields.push(field("storage", text("batch")));
                fields.extend(varlen());
            }
            ColumnKind::Dictionary { null_code } => fields.extend(dictionary(*null_code)),
            ColumnKind::Remote | ColumnKind::Unknown(_) => {
                return Err(self.wrong("a column of this kind cannot be written"));
            }
        }
        Ok(())
    }

    fn add_nulls(&self, fields: &mut Fields) -> Result<(), Param> {
        match &self.nulls {
            _ if self.kind.has_native_nulls() => {}
            Nulls::Mask => fields
                .extend([field("nullable", Json::Bool(true)), field("null_storage", text("mask"))]),
            Nulls::Sentinel(value) => fields
                .extend([field("nullable", Json::Bool(true)), field("null_value", value.clone())]),
            Nulls::Native => return Err(self.wrong("its kind has no nulls of its own")),
            Nulls::None => {}
        }
        Ok(())
    }

    fn needed(&self, name: &'static str) -> Result<(String, Json), Param> {
        let found = self.options.iter().find(|(field, _)| field == name);
        found.cloned().ok_or_else(|| self.wrong("its option `item` or `fields` is missing"))
    }
}

/// Fields of a column's description that do not concern its storage.
const KEPT_FIELDS: [&str; 8] = ["item", "fields", "default", "ge", "gt", "le", "lt", "pattern"];

/// The schema of a new table, without rows.
pub(super) fn schema_of(columns: &[NewColumn], values: &[ColumnValues]) -> Result<Json> {
    if columns.len() != values.len() {
        let (found, expected) = (values.len() as u64, columns.len() as u64);
        let name = "columns with values".to_owned();
        return Err(Param::Rows { name, found, expected }.into());
    }
    check_names(columns)?;
    let described = columns.iter().zip(values).map(|(column, values)| column.json(values));
    let described: Vec<Json> = described.collect::<Result<_, Param>>()?;
    let has_mask = described.iter().any(|column| column.get("null_storage").is_some());
    Ok(Json::Object(vec![
        field("version", Json::Int(if has_mask { 3 } else { 1 })),
        field("columns", Json::Array(described)),
        field("n_rows", Json::Int(0)),
    ]))
}

/// Case 41: refuses names that would share a file, or of which one is a directory of the other.
pub(super) fn check_names(columns: &[NewColumn]) -> Result<()> {
    let mut paths: BTreeMap<String, &NewColumn> = BTreeMap::new();
    for column in columns {
        if column.name.is_empty() || column.name.starts_with('_') {
            return Err(column.wrong("a name is not empty and does not begin with '_'").into());
        }
        let Some(path) = column_path(&column.name) else {
            return Err(column.wrong("a part of its name is empty or leads elsewhere").into());
        };
        if path.split('/').any(|name| name.len() > MAX_NAME_NBYTES) {
            return Err(column
                .wrong("a part of its name is longer than file systems allow")
                .into());
        }
        if paths.insert(path, column).is_some() {
            return Err(column.wrong("another column has the same path").into());
        }
    }
    for (path, column) in &paths {
        let ends = path.match_indices('/').map(|(at, _)| at);
        if ends.filter_map(|end| path.get(..end)).any(|group| paths.contains_key(group)) {
            return Err(column.wrong("a part of its name is a column").into());
        }
        let is_dictionary = matches!(column.kind, ColumnKind::Dictionary { .. });
        if is_dictionary && let Some(other) = paths.get(&format!("{path}_dict")) {
            return Err(other.wrong("the words of a dictionary have this path").into());
        }
    }
    Ok(())
}

/// The fields of a description.
type Fields = Vec<(String, Json)>;

/// The longest part of the name of a column: `.notnull.b2nd` follows (bytes).
const MAX_NAME_NBYTES: usize = 240;

fn dictionary(null_code: i32) -> Fields {
    let words = vec![
        field("kind", text("vlstring")),
        field("nullable", Json::Bool(false)),
        field("serializer", text("msgpack")),
        field("batch_rows", count(BATCH_ROWS)),
    ];
    vec![
        field("kind", text("dictionary")),
        field("index_type", Json::Object(vec![field("kind", text("int32"))])),
        field("value_type", Json::Object(words)),
        field("ordered", Json::Bool(false)),
        field("nullable", Json::Bool(true)),
        field("null_code", Json::Int(null_code.into())),
    ]
}

pub(crate) fn fixed_name(name: &str) -> Option<&'static str> {
    FIXED_KINDS.iter().find(|(_, short)| *short == name).map(|(kind, _)| *kind)
}

fn field(name: &str, value: Json) -> (String, Json) {
    (name.to_owned(), value)
}

fn count(count: usize) -> Json {
    // 64 bits and a sign always fit.
    Json::Int((count as u64).into())
}

fn text(text: &str) -> Json {
    Json::String(text.to_owned())
}
