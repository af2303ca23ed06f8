//! Some columns and rows of a table, which are what is converted.

use std::{io::Write as _, path::Path, sync::Arc};

use bcolz_store::{CTable, CTableWriter, CreateOptions, DataSet, Durability};
use blosc_dtype::Dtype;
use blosc_io::{Tree, replace::Unfinished, tree::DirTree};

use crate::boxes::Stored;
use crate::content::{Bcolz, Content, Items, Object, Records};
use crate::error::{Doing, Error, Refusal, Result};
use crate::params::OpenOptions;
use crate::spool::{Spool, Station};

/// These columns of the content, in this order, and the rows that meet a condition; all of it if
/// nothing is chosen.
///
/// # Errors
///
/// Content that is no table; columns that do not exist; a condition that makes no sense.
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
        Content::Items(items) => of_items(&items, columns, condition).map(Content::Items),
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
        Content::Object(_) => Err(Refusal::NotATable.into()),
    }
}

/// The fields and rows that were chosen of items of one dimension.
pub(super) fn of_items(
    items: &Items,
    columns: &[String],
    condition: Option<&str>,
) -> Result<Items> {
    let [nrows] = items.stored.shape[..] else { return Err(Refusal::NotATable.into()) };
    let records = Records::new(columns, condition, &items.dtype)?.nullable(&items.nullable);
    let fields = records.columns.iter().map(|it| (it.name().to_owned(), it.dtype().clone()));
    let dtype = Dtype::packed(fields).map_err(|error| Error::Npy(error.into()))?;
    let (itemsize, mut kept) = (records.itemsize(), 0u64);
    let mut out = Spool::default();
    for start in (0..nrows).step_by(ROWS_AT_ONCE) {
        let len = (nrows - start).min(ROWS_AT_ONCE as u64);
        let mut bytes = vec![0; itemsize * usize::try_from(len).unwrap_or(ROWS_AT_ONCE)];
        items.stored.read(start.saturating_mul(itemsize as u64), &mut bytes)?;
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
    Ok(Items { stored, dtype, file_len, ..items.clone() })
}

/// Rows that are looked at together.
const ROWS_AT_ONCE: usize = 1 << 12;

/// Copies what was chosen of a table of bcolz to a directory that is not there yet.
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
        // It is an intermediate station.
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
