//! The operations of the arrays and tables of bcolz. Rows of several chunks are written chunk by
//! chunk, as `write_rows` says, so here they are those of one.

use std::sync::Arc;

use bcolz_store::{
    CArray, CArrayWriter, CTable, CTableWriter, CreateOptions, DataSet, Dtype, OpenOptions,
    open_in, verify::VerifyOptions,
};
use blosc_io::tree::{MemTree, Tree};

use super::{Content, Operation, disk::TreeDisk, frames::data};
use crate::failure::{Result, fail};

/// Two rows.
const MORE: &[u8] = b"moreMORE";
const ROW_NBYTES: usize = 4;
const NROWS: usize = 600;

type ChangeArray = fn(&mut CArrayWriter) -> Result<()>;
type ChangeTable = fn(&mut CTableWriter) -> Result<()>;

macro_rules! operations {
    (
        $container:literal, $change_type:ty, $open:expr, $make:expr, $read:expr, $append:expr;
        $($name:literal: |$writer:ident| $change:expr,)*
    ) => {
        vec![$(Operation {
            container: $container,
            name: $name,
            make: $make,
            change: |tree| {
                let change: $change_type = |$writer| Ok($change?);
                let mut writer = $open(tree, "", &OpenOptions::default())?;
                change(&mut writer)?;
                Ok(writer.finish()?)
            },
            read: $read,
            next: |tree| {
                let mut writer = $open(tree, "", &OpenOptions::default())?;
                $append(&mut writer, MORE)?;
                Ok(writer.finish()?)
            },
            more: MORE,
        }),*]
    };
}

pub(super) fn all() -> Vec<Operation<TreeDisk>> {
    let mut all = operations! {
        "carray", ChangeArray, CArrayWriter::open_in, make_array, read_array, CArrayWriter::append;
        "append": |array| array.append(&data(500 * ROW_NBYTES, 7)),
        "append within the chunk": |array| array.append(b"1row"),
        "trim": |array| array.trim(350),
        "trim to nothing": |array| array.trim(NROWS as u64),
        "grow": |array| array.resize(1000),
        "write in a chunk": |array| array.write_rows(10, &data(200 * ROW_NBYTES, 8)),
        "attribute": |array| array.set_attr("unit", "K"),
    };
    all.extend(operations! {
        "ctable", ChangeTable, CTableWriter::open_in, make_table, read_table, append_to_all;
        "append": |table| append_to_all(table, &data(500 * ROW_NBYTES, 7)),
        "append within the chunk": |table| append_to_all(table, b"1row"),
        "trim": |table| table.trim(350),
        "grow": |table| table.resize(1000),
        "write in a chunk": |table| table.write_rows("b", 110, &data(80 * ROW_NBYTES, 8)),
        "attribute": |table| table.set_attr("unit", "K"),
        "new column": |table| {
            let options = options(100)?;
            table.add_column("d", &options, &data(NROWS * ROW_NBYTES, 9))
        },
        "no column": |table| table.delete_column("b"),
        "another name": |table| table.rename_column("b", "z"),
    });
    all
}

fn options(chunklen: u64) -> Result<CreateOptions> {
    Ok(CreateOptions::new(Dtype::parse("<i4")?).chunklen(Some(chunklen)))
}

/// The same rows to every column.
fn append_to_all(table: &mut CTableWriter, rows: &[u8]) -> bcolz_store::Result<()> {
    let columns = vec![rows; table.names().count()];
    table.append(&columns)
}

fn make_array() -> Result<TreeDisk> {
    let tree = Arc::new(MemTree::new());
    let mut array = CArrayWriter::create_in(tree.clone(), "", &options(256)?)?;
    array.append(&data(NROWS * ROW_NBYTES, 1))?;
    array.finish()?;
    Ok(TreeDisk::new(MemTree::clone(&tree)))
}

fn make_table() -> Result<TreeDisk> {
    let tree = Arc::new(MemTree::new());
    let columns = [("a", options(256)?), ("b", options(100)?), ("c", options(5000)?)];
    let mut table = CTableWriter::create_in(tree.clone(), "", &columns)?;
    append_to_all(&mut table, &data(NROWS * ROW_NBYTES, 1))?;
    table.finish()?;
    Ok(TreeDisk::new(MemTree::clone(&tree)))
}

/// What is verified is returned.
fn open_sound(tree: Arc<dyn Tree>) -> Result<DataSet> {
    let set = open_in(tree, "", &OpenOptions::default())?;
    let report = set.verify(&VerifyOptions::default(), |_| ())?;
    if report.is_ok() { Ok(set) } else { fail(format!("{:?} {:?}", report.bad, report.other)) }
}

fn read_array(disk: &TreeDisk) -> Result<Content> {
    open_sound(disk.tree())?;
    let array = CArray::open_in(disk.tree(), "", &OpenOptions::default())?;
    Ok(Content { data: array.read(0..array.len())?, rest: format!("{:?}", array.attrs()?) })
}

/// The rows of the first column; all others are compared with the metadata.
fn read_table(disk: &TreeDisk) -> Result<Content> {
    open_sound(disk.tree())?;
    let table = CTable::open_in(disk.tree(), "", &OpenOptions::default())?;
    let mut columns = vec![];
    for column in table.columns() {
        columns.push((&column.name, column.array.read(0..table.len())?));
    }
    let data = columns.first().map(|(_, data)| data.clone()).unwrap_or_default();
    Ok(Content { data, rest: format!("{:?} {columns:?}", table.attrs()?) })
}
