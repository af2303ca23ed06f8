//! With the feature `parquet`.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
    sync::Arc,
};

use b2store::{Store, StoreForm, StoreWriter, Table};
use bcolz_store::{
    CArray, CTable, Durability,
    parquet::{self, WriteOptions},
};
use blosc_io::{ReadAt, replace::Unfinished, tree::DirTree};

use crate::content::{Bcolz, Copied, Object, TableRows, starts};
use crate::error::{Doing, Error, Result};
use crate::params::OpenOptions;
use crate::size::as_len;
use crate::spool::Station;

/// The table in the file at `path`, as a temporary table of bcolz; with `is_for_store` of a store,
/// which keeps lists, nulls and words.
///
/// # Errors
///
/// A file that cannot be read.
pub fn open(
    path: &Path,
    is_for_store: bool,
    params: &OpenOptions,
    unfinished: &Unfinished,
) -> Result<Object> {
    let station = Station::new(unfinished)?;
    let file = File::open(path).map_err(Error::open(path))?;
    if is_for_store {
        return in_store(&file, station, params);
    }
    parquet::read(&file, station.path(), &|_, mut options| {
        options.durability = Durability::ProcessDeath;
        options
    })?;
    let tree = Arc::new(DirTree::new(station.path()));
    let set = Bcolz::open(tree as Arc<dyn blosc_io::Tree>, params.clone())?;
    Ok(Object::Bcolz(Box::new(set.kept_in(station).called(FORMAT))))
}

/// The table in a file, as a temporary table of a store.
///
/// # Errors
///
/// A file that cannot be read or kept.
pub(crate) fn of_file(file: &dyn ReadAt, params: &OpenOptions) -> Result<Object> {
    let len = file.len().map_err(Error::io(Doing::Open))?;
    let mut copy = tempfile::tempfile().map_err(Error::io(Doing::Spool))?;
    let mut piece = vec![0; as_len(len).min(PIECE_NBYTES)];
    for start in starts(0..len, PIECE_NBYTES as u64) {
        let piece = &mut piece[..as_len(len - start).min(PIECE_NBYTES)];
        file.read_exact_at(start, piece).map_err(Error::io(Doing::Read))?;
        copy.write_all(piece).map_err(Error::io(Doing::Spool))?;
    }
    in_store(&copy, Station::new(&Unfinished::default())?, params)
}

/// Bytes that are copied at once.
const PIECE_NBYTES: usize = 1 << 20;

fn in_store(file: &File, station: Station, params: &OpenOptions) -> Result<Object> {
    read_to_store(file, station.path())?;
    let table = Store::open_with(station.path(), &params.store())?.table("/")?;
    let stored = file.metadata().map_err(Error::io(Doing::Open))?.len();
    let copied = Copied { format: FORMAT, stored, folder: station };
    Ok(Object::Table(Box::new(TableRows::open(table)?.copied(copied))))
}

/// The name of the format of a copy.
const FORMAT: &str = "parquet";

fn read_to_store(file: &File, to: &Path) -> Result<()> {
    let (schema, batches) = parquet::batches(file)?;
    let options = b2store::WriteOptions::default().form(StoreForm::Zip);
    let options = options.durability(Durability::ProcessDeath);
    let mut writer = StoreWriter::create_with(to, &options)?;
    writer.insert_batches("/", &schema, batches.map(|batch| batch.map_err(Error::from)))?;
    writer.commit()?;
    Ok(())
}

/// Writes all rows of a table of bcolz to a new file. Objects need a single kind.
///
/// # Errors
///
/// Rows that cannot be read or written.
pub fn write(table: &CTable, path: &Path) -> Result<()> {
    let is_object = |name: &&str| table.column(name).is_ok_and(CArray::is_object);
    let objects: Vec<&str> = table.names().filter(is_object).collect();
    let mut batches = table.scan().record_batches()?;
    if !objects.is_empty() {
        batches = batches.objects(&objects)?;
    }
    let file = File::create_new(path).map_err(Error::io_at(Doing::Create, path))?;
    parquet::write(batches, BufWriter::new(file), &WriteOptions::default())?;
    Ok(())
}

/// Writes all rows of a table of a store to a new file. Returns the columns without a counterpart,
/// which are left out.
///
/// # Errors
///
/// As [`write`].
pub fn write_table(table: &Table, path: &Path) -> Result<Vec<String>> {
    let batches = table.scan().record_batches()?;
    let schema = batches.schema();
    let columns = table.schema().columns.iter().map(|column| column.name.clone());
    let left_out = columns.filter(|name| schema.field_with_name(name).is_err()).collect();
    let file = File::create_new(path).map_err(Error::io_at(Doing::Create, path))?;
    let batches = batches.map(|batch| batch.map_err(Error::from));
    parquet::write_batches(&schema, batches, BufWriter::new(file), &WriteOptions::default())?;
    Ok(left_out)
}
