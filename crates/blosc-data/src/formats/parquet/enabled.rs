//! With the feature `parquet`.

use std::{fs::File, io::BufWriter, path::Path, sync::Arc};

use b2store::{Store, StoreForm, StoreWriter, Table};
use bcolz_store::{
    CArray, CTable, Durability,
    parquet::{self, WriteOptions},
};
use blosc_io::{replace::Unfinished, tree::DirTree};

use crate::content::{Bcolz, Object, TableRows};
use crate::error::{Doing, Error, Result};
use crate::params::OpenOptions;
use crate::spool::Station;

/// The table in the file at `path`, kept for a while as one of bcolz, or with `is_for_store` as one
/// of a store: lists, nulls and words stay there.
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
    let file = File::open(path).map_err(Error::io(Doing::Open))?;
    if is_for_store {
        read_to_store(&file, station.path())?;
        let table = Store::open_with(station.path(), &params.store())?.table("/")?;
        return Ok(Object::Table(Box::new(TableRows::open(table)?.kept_in(station, "parquet"))));
    }
    parquet::read(&file, station.path(), &|_, mut options| {
        options.durability = Durability::ProcessDeath;
        options
    })?;
    let tree = Arc::new(DirTree::new(station.path()));
    let set = Bcolz::open(tree as Arc<dyn blosc_io::Tree>, params.clone())?;
    Ok(Object::Bcolz(Box::new(set.kept_in(station).called("parquet"))))
}

fn read_to_store(file: &File, to: &Path) -> Result<()> {
    let (schema, batches) = parquet::batches(file)?;
    let options = b2store::WriteOptions::default().form(StoreForm::Zip);
    let options = options.durability(Durability::ProcessDeath);
    let mut writer = StoreWriter::create_with(to, &options)?;
    writer.insert_batches("/", &schema, batches.map(|batch| batch.map_err(Error::from)))?;
    writer.commit()?;
    Ok(())
}

/// Writes all rows of a table of bcolz to a new file, objects too where they are all of one kind.
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

/// Writes all rows of a table of a store to a new file; its columns that have no counterpart, which
/// are left out.
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
