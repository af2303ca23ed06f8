//! A choice of columns and rows of a table, to be converted.

use core::ops::Range;
use std::{io::Write as _, path::Path, sync::Arc};

use bcolz_store::{CTable, CTableWriter, CreateOptions, DataSet, Durability};
use blosc_dtype::Dtype;
use blosc_io::{Tree, replace::Unfinished, tree::DirTree};
use serde_json::{Map, Value};

use crate::boxes::Stored;
use crate::content::{Bcolz, Content, Items, Object, Records};
use crate::error::{Doing, Error, Refusal, Result};
use crate::params::OpenOptions;
use crate::size::as_len;
use crate::spool::{Spool, Station};
use crate::{Array, Budget, Data};

/// These columns of the content, in this order, and the rows that meet a condition; the whole
/// content if nothing is chosen.
///
/// # Errors
///
/// Content other than a table; columns that do not exist; a condition that does not parse.
pub fn select(
    content: Content,
    columns: &[String],
    condition: Option<&str>,
    options: &OpenOptions,
    unfinished: &Unfinished,
) -> Result<Content> {
    if columns.is_empty() && condition.is_none() {
        return Ok(content);
    }
    match content {
        Content::Items(items) => {
            of_items(&items, columns, condition, &options.budget).map(Content::Items)
        }
        Content::Object(Object::Table(rows)) if !rows.is_column() => {
            let rows = rows.select(columns)?;
            Ok(Content::Object(Object::Table(Box::new(match condition {
                Some(condition) => rows.filter(condition)?,
                None => rows,
            }))))
        }
        Content::Object(Object::Bcolz(set)) => {
            let Some(condition) = condition else {
                return Ok(Content::Object(Object::Bcolz(Box::new(set.select(columns)?))));
            };
            let DataSet::CTable(table) = &set.set else { return Err(Refusal::NotATable.into()) };
            let station = Station::new(unfinished)?;
            copy(columns, condition, table, station.path())?;
            let tree: Arc<dyn Tree> = Arc::new(DirTree::new(station.path()));
            let copied = Bcolz::open(tree, options.clone())?;
            let copied = copied.kept_in(station).called(set.format());
            Ok(Content::Object(Object::Bcolz(Box::new(copied))))
        }
        Content::Object(object) => {
            let Data::Array(array) = Content::Object(object).into_data("", &options.budget)? else {
                return Err(Refusal::NotATable.into());
            };
            let items = of_array(&*array, &[], (columns, condition), &options.budget)?;
            Ok(Content::Object(Object::Opened(Arc::new(Chosen { items, array }))))
        }
    }
}

/// The chosen rows of an array with fields, written to a file; other properties are those of the
/// array.
#[derive(Debug)]
struct Chosen {
    items: Items,
    array: Arc<dyn Array>,
}

impl Array for Chosen {
    fn format(&self) -> &'static str {
        self.array.format()
    }

    fn dtype(&self) -> &Dtype {
        self.items.dtype()
    }

    fn shape(&self) -> &[u64] {
        self.items.shape()
    }

    fn attributes(&self) -> Result<Map<String, Value>> {
        self.array.attributes()
    }

    fn lost(&self) -> Vec<String> {
        self.array.lost()
    }

    fn read_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> Result<()> {
        self.items.read_box(bounds, dest)
    }
}

/// The chosen fields and rows of items in a file.
pub(super) fn of_items(
    items: &Items,
    columns: &[String],
    condition: Option<&str>,
    budget: &Budget,
) -> Result<Items> {
    let chosen = of_array(items, &items.nullable, (columns, condition), budget)?;
    Ok(Items { format: items.format, nullable: items.nullable.clone(), ..chosen })
}

/// The chosen fields and rows of items of one dimension.
fn of_array(
    array: &dyn Array,
    nullable: &[String],
    (columns, condition): (&[String], Option<&str>),
    budget: &Budget,
) -> Result<Items> {
    let [nrows] = array.shape()[..] else { return Err(Refusal::NotATable.into()) };
    let records = Records::new(columns, condition, array.dtype())?.nullable(nullable);
    let fields = records.columns.iter().map(|it| (it.name().to_owned(), it.dtype().clone()));
    let dtype = Dtype::packed(fields).map_err(|error| Error::Npy(error.into()))?;
    let (itemsize, mut kept) = (records.itemsize(), 0u64);
    let mut out = Spool::default();
    let fits = budget.max_memory / 4 / (itemsize as u64).max(1);
    let at_once = as_len(fits.clamp(1, ROWS_AT_ONCE));
    for start in (0..nrows).step_by(at_once) {
        let len = (nrows - start).min(at_once as u64);
        let mut bytes = vec![0; itemsize * as_len(len)];
        let rows = start..start.saturating_add(len);
        array.read_box(core::slice::from_ref(&rows), &mut bytes)?;
        let truth = records.truth(&bytes)?;
        for (row, _) in bytes.chunks_exact(itemsize).zip(truth).filter(|(_, is_wanted)| *is_wanted)
        {
            kept += 1;
            for field in &records.columns {
                out.write_all(field.bytes_of(row)).map_err(Error::io(Doing::Spool))?;
            }
        }
    }
    let (shape, itemsize) = (vec![kept], dtype.itemsize() as u64);
    let file_len = kept.saturating_mul(itemsize);
    let stored = Stored { store: out.finish()?, start: 0, fortran_order: false, shape, itemsize };
    Ok(Items { stored, dtype, file_len, format: "raw", nullable: vec![], is_marked: false })
}

/// The most rows for which a condition is evaluated at once.
const ROWS_AT_ONCE: u64 = 1 << 12;

/// Copies the chosen part of a table of bcolz to a new directory.
fn copy(columns: &[String], condition: &str, table: &CTable, root: &Path) -> Result<()> {
    let names: Vec<&str> = match columns.is_empty() {
        true => table.names().collect(),
        false => columns.iter().map(String::as_str).collect(),
    };
    let scan = table.scan().columns(&names)?.filter(condition);
    let scan =
        scan.map_err(|error| Refusal::in_condition(error.into(), condition, table.names()))?;
    let mut columns = Vec::with_capacity(names.len());
    for name in &names {
        let array = table.column(name)?;
        if array.is_object() {
            return Err(Refusal::ObjectsStayWhole((*name).to_owned()).into());
        }
        let inner = array.shape().get(1..).unwrap_or_default();
        let mut options = CreateOptions::new(array.dtype().clone()).row_shape(inner.to_vec());
        options = options.attrs(array.attrs()?);
        // The copy is intermediate, and need not survive a crash.
        options.durability = Durability::ProcessDeath;
        columns.push((*name, options));
    }
    let mut writer = CTableWriter::create(root, &columns)?;
    for batch in scan.batches() {
        let batch = batch?;
        let items: Vec<&[u8]> = batch.columns.iter().map(|column| &column.items[..]).collect();
        writer.append(&items)?;
    }
    writer.replace_attrs(table.attrs()?)?;
    writer.finish()?;
    Ok(())
}
