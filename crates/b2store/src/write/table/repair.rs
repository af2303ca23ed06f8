//! Repairs tables that lost a part.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use b2frame::nd::Fill;
use blosc_dtype::json::Json;
use blosc_dtype::{Dtype, Kind};
use blosc_io::ReadAt;

use super::appender::count_rows;
use super::items::Items;
use super::{NewColumn, StoreWriter, TableParams, spec};
use crate::content::{Content, vlmetalayer};
use crate::error::Result;
use crate::key;
use crate::store::Store;
use crate::table::{ColumnKind, ColumnValues, FIXED_KINDS, Nulls, Values, column_name};
use crate::value::Value;
use crate::write::{At, NewFile};

impl StoreWriter {
    /// Adds a frame at a path, as any part of the store.
    pub(crate) fn insert_part(&mut self, path: &str, source: Arc<dyn ReadAt>) {
        self.is_changed = true;
        self.files.insert(path.to_owned(), Some(NewFile(source)));
        if let Some(key) = key::key_of_file(path) {
            self.keys.entry(key).or_insert_with(|| At::File(path.to_owned()));
        }
    }

    /// Adds a frame to the embedded values.
    pub(crate) fn insert_embedded(&mut self, key: &str, source: Arc<dyn ReadAt>) {
        self.is_changed = true;
        self.keys.insert(key.to_owned(), At::New(NewFile(source)));
    }

    /// Restores the entries of a registry, and registers every table with a manifest.
    pub(crate) fn restore_registry(&mut self, registry: &BTreeMap<String, Value>) {
        self.registry.extend(registry.iter().map(|(key, entry)| (key.clone(), entry.clone())));
        let manifests = self.keys.keys().filter_map(|key| key.strip_suffix("/_meta"));
        let roots: Vec<String> = manifests.map(str::to_owned).collect();
        for root in roots {
            let meta_key = format!("{root}/_meta");
            let frame = self.frame(&meta_key);
            let kind = frame.and_then(|frame| vlmetalayer(&frame, &meta_key, "kind"));
            let is_table = matches!(&kind, Ok(Some(Value::Str(kind))) if kind == "ctable");
            if is_table && !self.registry.contains_key(&root) {
                self.register_table(if root.is_empty() { "/" } else { &root }, &root);
            }
        }
    }

    /// Makes a table from arrays of one length that were its columns. The manifest is lost, and
    /// with it the distinction of times from numbers. Returns whether this was possible.
    pub(crate) fn restore_manifest(&mut self, table: &str) -> Result<bool> {
        let root = table.trim_end_matches('/').to_owned();
        let prefix = format!("{root}/_cols/");
        let is_part = |key: &str| key.starts_with(&prefix) || key == format!("{root}/_valid_rows");
        // If the store itself became a table, its other values would be hidden.
        if root.is_empty() && !self.keys().all(is_part) {
            return Ok(false);
        }
        let keys: BTreeSet<String> = self.below(&prefix).map(str::to_owned).collect();
        let (mut columns, mut values, mut nrows) = (vec![], vec![], None);
        for key in &keys {
            let Some(path) = key.strip_prefix(&prefix) else { continue };
            if key.strip_suffix(".notnull").is_some_and(|column| keys.contains(column)) {
                continue;
            }
            let Ok(Content::Array(array)) = self.get(key) else { return Ok(false) };
            let len = array.shape().first().copied();
            let item_shape: Vec<u64> = array.shape().iter().skip(1).copied().collect();
            let Some(kind) = kind_of(array.dtype(), &item_shape) else { return Ok(false) };
            if len.is_none() || *nrows.get_or_insert(len) != len {
                return Ok(false);
            }
            let has_mask = keys.contains(&format!("{key}.notnull"));
            let nulls = if has_mask { Nulls::Mask } else { Nulls::None };
            columns.push(NewColumn::new(column_name(path), kind).nulls(nulls));
            let dtype = array.dtype().clone();
            let none = Values::Fixed { dtype, item_shape, bytes: vec![] };
            values.push(ColumnValues { values: none, valid: None });
        }
        let Ok(schema) = spec::schema_of(&columns, &values) else { return Ok(false) };
        let flags_key = format!("{root}/_valid_rows");
        let alive = match self.array(&flags_key) {
            Ok(flags) => count_rows(&flags, &flags_key)?.0,
            Err(_) => nrows.flatten().unwrap_or(0),
        };
        self.is_changed = true;
        let key = if root.is_empty() { "/" } else { &root };
        self.add_manifest(key, &root, schema, alive)?;
        Ok(true)
    }

    /// Makes all rows of a table alive: the number of rows of its longest column, or of the schema.
    pub(crate) fn restore_flags(&mut self, table: &str) -> Result<()> {
        let root = table.trim_end_matches('/').to_owned();
        let prefix = format!("{root}/_cols/");
        let columns = self.keys.keys().filter(|key| key.starts_with(&prefix));
        let lens = columns.filter_map(|key| match self.get(key) {
            Ok(Content::Array(array)) if !key.ends_with(".utf8") => array.shape().first().copied(),
            _ => None,
        });
        let schema = self.parsed_schema(&format!("{root}/_meta"))?;
        let stated = match schema.get("n_rows") {
            Some(Json::Int(rows)) => u64::try_from(*rows).ok(),
            _ => None,
        };
        let longest = lens.max().unwrap_or(0);
        let rows = stated.map_or(longest, |stated| stated.min(longest)).max(1);
        let key = format!("{root}/_valid_rows");
        let (fill, how) = (Fill::Value(vec![1]), TableParams::default());
        let flags = Items::create(&key, (rows, &[]), "|b1", fill, (None, &how))?;
        self.store_value(&key, ".b2nd", flags.finish()?);
        Ok(())
    }
}

/// The kind of a column with these items.
fn kind_of(dtype: &Dtype, item_shape: &[u64]) -> Option<ColumnKind> {
    if !item_shape.is_empty() {
        return Some(ColumnKind::NdArray { item_shape: item_shape.to_vec() });
    }
    match dtype.kind()? {
        Kind::Unicode => Some(ColumnKind::String),
        Kind::Bytes => Some(ColumnKind::Bytes),
        _ => {
            let text = dtype.to_string();
            let short = text.trim_matches(['\'', '<', '|', '=']);
            let known = FIXED_KINDS.iter().find(|(_, known)| *known == short);
            known.map(|(_, short)| ColumnKind::Fixed(short))
        }
    }
}

impl Store {
    /// Whether a table has flags of deleted rows.
    pub(crate) fn has_flags(&self, table: &str) -> bool {
        self.contains(&format!("{}/_valid_rows", table.trim_end_matches('/')))
    }

    /// The columns of a table without a readable row.
    pub(crate) fn lost_columns(&self, table: &str) -> Result<Vec<String>> {
        let table = self.table(table)?;
        let last = table.len()?.saturating_sub(1);
        let can_read = |name: &str| {
            let column = table.column(name);
            column.is_ok_and(|column| {
                let rows = [0, last / 2, last];
                last == 0 && table.is_empty().unwrap_or(true)
                    || rows.iter().any(|row| column.read(*row..row.saturating_add(1)).is_ok())
            })
        };
        let names = table.schema().columns.iter().map(|spec| &spec.name);
        Ok(names.filter(|name| !can_read(name)).cloned().collect())
    }
}
