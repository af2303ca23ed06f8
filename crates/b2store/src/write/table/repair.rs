//! Tables that lost a part.

use std::collections::BTreeMap;
use std::sync::Arc;

use b2frame::nd::Fill;
use blosc_dtype::json::Json;
use blosc_io::ReadAt;

use super::items::Items;
use super::{StoreWriter, TableParams};
use crate::content::{Content, vlmetalayer};
use crate::error::Result;
use crate::key;
use crate::store::Store;
use crate::value::Value;
use crate::write::{At, NewFile};

impl StoreWriter {
    /// Puts a frame at a path, whatever it is a part of.
    pub(crate) fn insert_part(&mut self, path: &str, source: Arc<dyn ReadAt>) {
        self.is_changed = true;
        self.files.insert(path.to_owned(), Some(NewFile(source)));
        if let Some(key) = key::key_of_file(path) {
            self.keys.entry(key).or_insert_with(|| At::File(path.to_owned()));
        }
    }

    /// Puts a frame into that of the embedded values.
    pub(crate) fn insert_embedded(&mut self, key: &str, source: Arc<dyn ReadAt>) {
        self.is_changed = true;
        self.keys.insert(key.to_owned(), At::New(NewFile(source)));
    }

    /// Registers what a registry says, and every table that has a manifest.
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

    /// Makes all rows of a table alive: as many as its longest column has, or the schema says.
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

impl Store {
    /// Whether a table has flags of deleted rows.
    pub(crate) fn has_flags(&self, table: &str) -> bool {
        self.contains(&format!("{}/_valid_rows", table.trim_end_matches('/')))
    }

    /// The columns of a table of which no row can be read.
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
