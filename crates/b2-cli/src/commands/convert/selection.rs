//! Some columns and rows of a table, which are what is converted.

use std::{io::Write as _, sync::Arc};

use bcolz_store::{CTable, CTableWriter, CreateOptions, DataSet, Durability};

use blosc_data::{Station, content::Records};
use blosc_dtype::Dtype;
use blosc_io::FileStore;

use super::source::Items;
use crate::{
    args::ConvertArgs,
    context::Context,
    error::{Doing, Error, Result, message},
    formats::{bcolz::Bcolz, stored_array::Stored},
    inputs::{Object, Place},
};

/// Whether something is to be chosen.
fn is_wanted(args: &ConvertArgs) -> bool {
    !args.columns.is_empty() || args.condition.is_some()
}

/// The fields and rows that were chosen of items of one dimension, in a file without a name.
///
/// # Errors
///
/// Items without fields; fields that do not exist; a condition that makes no sense.
pub(super) fn choose_items(args: &ConvertArgs, items: Items) -> Result<Items> {
    if !is_wanted(args) {
        return Ok(items);
    }
    let [nrows] = items.stored.shape[..] else { return Err(message::NOT_A_TABLE.error()) };
    let records = Records::new(&args.columns, args.condition.as_deref(), &items.dtype)?;
    let fields = records.columns.iter().map(|it| (it.name().to_owned(), it.dtype().clone()));
    let dtype = Dtype::packed(fields).map_err(|error| Error::Npy(error.into()))?;
    let (itemsize, mut kept) = (records.itemsize(), 0u64);
    let file = tempfile::tempfile().map_err(Error::io(Doing::Spool))?;
    let mut out = std::io::BufWriter::new(file);
    for start in (0..nrows).step_by(ROWS_AT_ONCE) {
        let len = (nrows - start).min(ROWS_AT_ONCE as u64);
        let mut bytes = vec![0; itemsize * usize::try_from(len).unwrap_or(ROWS_AT_ONCE)];
        let at = items.stored.start.saturating_add(start.saturating_mul(itemsize as u64));
        items.stored.store.read_exact_at(at, &mut bytes).map_err(Error::io(Doing::Read))?;
        let truth = records.truth(&bytes)?;
        for (row, _) in bytes.chunks_exact(itemsize).zip(truth).filter(|(_, is_wanted)| *is_wanted)
        {
            kept += 1;
            for field in &records.columns {
                out.write_all(field.bytes_of(row)).map_err(Error::io(Doing::Spool))?;
            }
        }
    }
    let file = out.into_inner().map_err(|error| Error::io(Doing::Spool)(error.into_error()))?;
    let (shape, itemsize) = (vec![kept], dtype.itemsize() as u64);
    let file_len = kept.saturating_mul(itemsize);
    let store = Arc::new(FileStore::from_file(file));
    let stored = Stored { store, start: 0, fortran_order: false, shape, itemsize };
    Ok(Items { stored, dtype, file_len, format: items.format })
}

/// Rows that are looked at together.
const ROWS_AT_ONCE: usize = 1 << 12;

/// The columns and rows of an object that were chosen.
///
/// # Errors
///
/// What is no table; columns that do not exist; a condition that makes no sense.
pub(super) fn choose(args: &ConvertArgs, cx: &Context, object: Object) -> Result<Object> {
    if !is_wanted(args) {
        return Ok(object);
    }
    match object {
        Object::Table(rows) if !rows.is_column() => {
            let rows = rows.select(&args.columns)?;
            Ok(Object::Table(Box::new(match &args.condition {
                Some(condition) => rows.filter(condition)?,
                None => rows,
            })))
        }
        Object::Bcolz(set) if args.condition.is_none() => {
            Ok(Object::Bcolz(Box::new(set.select(&args.columns)?)))
        }
        Object::Bcolz(set) => match &set.set {
            DataSet::CTable(table) => {
                let station = Station::new(&cx.unfinished)?;
                copy(args, table, station.path())?;
                let format = set.format();
                let copied = Bcolz::open(&Place::from(station.path()), cx.read_params())?;
                Ok(Object::Bcolz(Box::new(copied.kept_in(station).called(format))))
            }
            DataSet::CArray(_) => Err(message::NOT_A_TABLE.error()),
        },
        _ => Err(message::NOT_A_TABLE.error()),
    }
}

/// Copies what was chosen of a table of bcolz to a directory that is not there yet.
fn copy(args: &ConvertArgs, table: &CTable, root: &std::path::Path) -> Result<()> {
    let names: Vec<&str> = match args.columns.is_empty() {
        true => table.names().collect(),
        false => args.columns.iter().map(String::as_str).collect(),
    };
    let mut scan = table.scan().columns(&names)?;
    if let Some(condition) = &args.condition {
        let filtered = scan.filter(condition);
        scan = filtered.map_err(|error| message::in_condition(error, table.names()))?;
    }
    let mut columns = Vec::with_capacity(names.len());
    for name in &names {
        let array = table.column(name)?;
        if array.is_object() {
            return Err(message::OBJECTS_STAY_WHOLE.about(name));
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
