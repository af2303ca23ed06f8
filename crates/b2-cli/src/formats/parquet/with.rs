//! The library does it all.

use std::{fs::File, io::BufWriter, path::Path};

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
