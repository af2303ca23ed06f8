//! The library does it all.

use std::{fs::File, io::BufWriter, path::Path};

use b2store::{StoreForm, StoreWriter, Table};
use bcolz_store::{
    CTable, Durability,
    parquet::{self, WriteOptions},
};

use crate::error::{Doing, Error, Result};

/// Writes all rows of a table, objects too where they are all of one kind.
pub(crate) fn write(table: &CTable, path: &Path) -> Result<()> {
    let is_object = |name: &&str| table.column(name).is_ok_and(bcolz_store::CArray::is_object);
    let objects: Vec<&str> = table.names().filter(is_object).collect();
    let mut batches = table.scan().record_batches()?;
    if !objects.is_empty() {
        batches = batches.objects(&objects)?;
    }
    let file = File::create_new(path).map_err(Error::io_at(Doing::Create, path))?;
    parquet::write(batches, BufWriter::new(file), &WriteOptions::default())?;
    Ok(())
}

/// Writes all rows of a table of a store; its columns that have no counterpart, which are left out.
pub(crate) fn write_table(table: &Table, path: &Path) -> Result<Vec<String>> {
    let batches = table.scan().record_batches()?;
    let schema = batches.schema();
    let columns = table.schema().columns.iter().map(|column| column.name.clone());
    let left_out = columns.filter(|name| schema.field_with_name(name).is_err()).collect();
    let file = File::create_new(path).map_err(Error::io_at(Doing::Create, path))?;
    let batches = batches.map(|batch| batch.map_err(Error::from));
    parquet::write_batches(&schema, batches, BufWriter::new(file), &WriteOptions::default())?;
    Ok(left_out)
}

/// Makes a table of a file, in a directory that is not there yet.
pub(crate) fn read(path: &Path, root: &Path) -> Result<()> {
    let file = File::open(path).map_err(Error::io(Doing::Open))?;
    // It is an intermediate station.
    parquet::read(&file, root, &|_, mut options| {
        options.durability = Durability::ProcessDeath;
        options
    })?;
    Ok(())
}

/// Makes a store that is a table of a file, at a path where nothing is yet: lists, nulls and words
/// stay what they are.
pub(crate) fn read_to_store(path: &Path, to: &Path) -> Result<()> {
    let file = File::open(path).map_err(Error::io(Doing::Open))?;
    let (schema, batches) = parquet::batches(&file)?;
    // It is an intermediate station.
    let options = b2store::WriteOptions::default().form(StoreForm::Zip);
    let options = options.durability(Durability::ProcessDeath);
    let mut writer = StoreWriter::create_with(to, &options)?;
    writer.insert_batches("/", &schema, batches.map(|batch| batch.map_err(Error::from)))?;
    writer.commit()?;
    Ok(())
}
