//! Some columns and rows of a table, which are what is converted.

use bcolz_store::{CTable, CTableWriter, CreateOptions, DataSet, Durability};

use crate::{
    args::ConvertArgs,
    context::Context,
    error::{Result, message},
    formats::bcolz::Bcolz,
    inputs::object::Object,
    output::staged::Nest,
};

/// Whether something is to be chosen.
pub(super) fn is_wanted(args: &ConvertArgs) -> bool {
    !args.columns.is_empty() || args.condition.is_some()
}

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
                let station = Nest::for_stream(&cx.unfinished)?;
                copy(args, table, station.path())?;
                let format = set.format();
                let copied = Bcolz::open(station.path(), cx.dparams())?;
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
