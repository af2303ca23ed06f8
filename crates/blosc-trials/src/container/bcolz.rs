//! Arrays and tables of bcolz.

use std::sync::Arc;

use bcolz_store::{
    CArray, CArrayWriter, CTable, CTableWriter, Checksums, CreateOptions, DataSet, Dtype,
    OpenOptions, open_in,
    repair::{Fill, rescue_in},
    verify::VerifyOptions,
};
use blosc_io::tree::{MemTree, Tree};

use super::{Files, MAX_NBYTES, Rescued, Sample, StoredChunk, budget, data, dparams};
use crate::failure::{Result, fail};

const ROW_NBYTES: usize = 4;
const CHUNKLEN: u64 = 256;
const NROWS: usize = 1200;
const COLUMNS: [&str; 2] = ["a", "b"];

pub(super) fn samples(is_sealed: bool) -> Result<Vec<Sample>> {
    let options = CreateOptions::new(Dtype::parse("<i4")?).chunklen(Some(CHUNKLEN));
    let options = options.checksums(if is_sealed { Checksums::Chunks } else { Checksums::None });
    let tree = Arc::new(MemTree::new());
    let mut array = CArrayWriter::create_in(tree.clone(), "", &options)?;
    array.append(&data(NROWS * ROW_NBYTES, 5))?;
    array.finish()?;
    let files = Files::from_tree(&*tree, "")?;
    let chunks = chunks_of(&open_array(&files)?, &files, "")?;
    let array = Sample {
        container: "carray",
        is_sealed,
        covered: files.parts(),
        files,
        chunks,
        verify: verify_all,
        read: |files| {
            let array = open_array(files)?;
            array.read(0..array.len().min(MAX_NBYTES / 8)).map(drop)?;
            Ok(())
        },
        rescue: Some(|files| {
            let tree = files.tree()?;
            rescue_in(tree.clone(), "", &open_options(), &Fill::Zeros.into())?;
            rows_of(&CArray::open_in(tree, "", &open_options())?)
        }),
    };
    let tree = Arc::new(MemTree::new());
    let columns = COLUMNS.map(|name| (name, options.clone()));
    let mut table = CTableWriter::create_in(tree.clone(), "", &columns)?;
    table.append(&[&data(NROWS * ROW_NBYTES, 6), &data(NROWS * ROW_NBYTES, 7)])?;
    table.finish()?;
    let files = Files::from_tree(&*tree, "")?;
    let table = open_table(&files)?;
    let mut chunks = vec![];
    for column in table.columns() {
        chunks.extend(chunks_of(&column.array, &files, &column.name)?);
    }
    let table = Sample {
        container: "ctable",
        is_sealed,
        covered: files.parts(),
        files,
        chunks,
        verify: verify_all,
        read: |files| {
            let table = open_table(files)?;
            for column in table.columns() {
                column.array.read(0..table.len().min(MAX_NBYTES / 8))?;
            }
            Ok(())
        },
        rescue: Some(rescue_table),
    };
    Ok(vec![array, table])
}

/// The rows of an array, by chunks of the sample.
fn rows_of(array: &CArray) -> Result<Rescued> {
    let starts = (0..NROWS as u64).step_by(usize::try_from(CHUNKLEN)?);
    let rows = |start: u64| {
        let end = (start + CHUNKLEN).min(NROWS as u64);
        let is_there = end <= array.len() && array.rowsize() == ROW_NBYTES;
        Ok(is_there.then(|| array.read(start..end)).transpose()?)
    };
    starts.map(rows).collect()
}

fn chunks_of(array: &CArray, files: &Files, path: &str) -> Result<Vec<StoredChunk>> {
    let mut chunks = vec![];
    for (nchunk, data) in rows_of(array)?.into_iter().enumerate() {
        let name = blosc_io::tree::join(path, &format!("data/__{nchunk}.blp"));
        let nfile = files.0.iter().position(|(path, _)| *path == name);
        let (Some(nfile), Some(data)) = (nfile, data) else { return fail(format!("no {name}")) };
        let stored = 0..files.0[nfile].1.len();
        chunks.push(StoredChunk { number: nchunk, nfile, stored, data });
    }
    Ok(chunks)
}

pub(crate) fn open_options() -> OpenOptions {
    OpenOptions::default().dparams(dparams()).budget(budget()).max_nbytes(4 * MAX_NBYTES)
}

fn open_array(files: &Files) -> Result<CArray> {
    Ok(CArray::open_in(files.tree()?, "", &open_options())?)
}

fn open_table(files: &Files) -> Result<CTable> {
    Ok(CTable::open_in(files.tree()?, "", &open_options())?)
}

fn verify_all(files: &Files) -> Result<()> {
    // Damaged checksums are a note: the data may be sound.
    verify(files.tree()?)?.1.map_or(Ok(()), fail)
}

/// Returns a sound data set, with a note about its harmless faults.
pub(crate) fn verify(tree: Arc<dyn Tree>) -> Result<(DataSet, Option<String>)> {
    let set = open_in(tree, "", &open_options())?;
    match &set {
        DataSet::CArray(array) => drop((array.attrs()?, array.shape().len(), array.nbytes())),
        DataSet::CTable(table) => drop((table.attrs()?, table.nbytes())),
    }
    let report = set.verify(&VerifyOptions::default().budget(budget()), |_| ())?;
    if let Some(bad) = report.bad.first() {
        return fail(format!("chunk {}: {:?}", bad.nchunk, bad.error));
    }
    let note = report.notes.first().map(ToString::to_string);
    report.other.first().map_or(Ok((set, note)), |error| fail(format!("{error:?}")))
}

fn rescue_table(files: &Files) -> Result<Rescued> {
    let tree = files.tree()?;
    rescue_in(tree.clone(), "", &open_options(), &Fill::Zeros.into())?;
    let table = CTable::open_in(tree, "", &open_options())?;
    let mut all = vec![];
    for name in COLUMNS {
        let column = table.columns().iter().find(|column| column.name == name);
        let nchunks = NROWS.div_ceil(usize::try_from(CHUNKLEN)?);
        all.extend(column.map_or(Ok(vec![None; nchunks]), |column| rows_of(&column.array))?);
    }
    Ok(all)
}
