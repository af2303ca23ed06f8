//! The operations of the arrays and tables of bcolz. `write_rows` writes rows of several chunks
//! chunk by chunk, so the rows here lie in one chunk.

use std::sync::Arc;

use bcolz_store::{
    CArray, CArrayWriter, CTable, CTableWriter, CreateOptions, DataSet, Dtype,
    repair::{Repair, repair_in},
};
use blosc_io::tree::{MemTree, Tree};

use super::{Content, Operation, disk::TreeDisk, frames::data};
use crate::{
    container::bcolz::{open_options, verify},
    failure::{Result, fail},
};

/// Two rows.
const MORE: &[u8] = b"moreMORE";
const ROW_NBYTES: usize = 4;
const NROWS: usize = 600;

type ChangeArray = fn(&mut CArrayWriter) -> Result<()>;
type ChangeTable = fn(&mut CTableWriter) -> Result<()>;

macro_rules! operations {
    (
        $container:literal, $change_type:ty, $open:expr, $make:expr, $read:expr, $next:expr;
        $($name:literal: |$writer:ident| $change:expr,)*
    ) => {
        vec![$(Operation {
            container: $container,
            name: $name,
            make: $make,
            change: |tree| {
                let change: $change_type = |$writer| Ok($change?);
                let mut writer = $open(tree, "", &open_options())?;
                change(&mut writer)?;
                Ok(writer.finish()?)
            },
            read: $read,
            next: $next,
            more: MORE,
        }),*]
    };
}

pub(super) fn all() -> Vec<Operation<TreeDisk>> {
    let mut all = operations! {
        "carray", ChangeArray, CArrayWriter::open_in, make_array, read_array, append_to_array;
        "append": |array| array.append(&data(500 * ROW_NBYTES, 7)),
        "append within the chunk": |array| array.append(b"1row"),
        "append up to a chunk": |array| array.append(&data(168 * ROW_NBYTES, 7)),
        "trim": |array| array.trim(350),
        "trim to a chunk": |array| array.trim(88),
        "trim to nothing": |array| array.trim(NROWS as u64),
        "grow": |array| array.resize(1000),
        "shrink": |array| array.resize(350),
        "write in a chunk": |array| array.write_rows(10, &data(200 * ROW_NBYTES, 8)),
        "attribute": |array| array.set_attr("unit", "K"),
    };
    all.extend(operations! {
        "carray", ChangeArray, CArrayWriter::open_in, make_empty, read_array, append_to_array;
        "append to nothing": |array| array.append(b"1row"),
    });
    all.extend(operations! {
        "ctable", ChangeTable, CTableWriter::open_in, make_table, read_table, append_to_table;
        "append": |table| append_to_all(table, &data(500 * ROW_NBYTES, 7)),
        "append within the chunk": |table| append_to_all(table, b"1row"),
        "trim": |table| table.trim(350),
        "trim to nothing": |table| table.trim(NROWS as u64),
        "grow": |table| table.resize(1000),
        "shrink": |table| table.resize(350),
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

/// Appends the same rows to every column.
fn append_to_all(table: &mut CTableWriter, rows: &[u8]) -> bcolz_store::Result<()> {
    let columns = vec![rows; table.names().count()];
    table.append(&columns)
}

/// The next writer of an array; it removes all leftovers of a killed one.
fn append_to_array(tree: Arc<dyn Tree>) -> Result<()> {
    let mut writer = CArrayWriter::open_in(tree.clone(), "", &open_options())?;
    writer.append(MORE)?;
    writer.finish()?;
    nothing_dead(CArray::open_in(tree, "", &open_options())?.dead_nbytes()?)
}

/// The next writer of a table; it trims longer columns to the length of all.
fn append_to_table(tree: Arc<dyn Tree>) -> Result<()> {
    let mut writer = CTableWriter::open_in(tree.clone(), "", &open_options())?;
    let len = writer.len();
    let is_other = |what: &Repair| matches!(what, Repair::Trimmed { to, .. } if *to != len);
    if let Some(other) = writer.repairs().iter().find(|action| is_other(&action.what)) {
        return fail(format!("{len} rows, and {other:?}"));
    }
    append_to_all(&mut writer, MORE)?;
    writer.finish()?;
    let table = CTable::open_in(tree, "", &open_options())?;
    if let Some(note) = table.notes().next() {
        return fail(note.to_string());
    }
    nothing_dead(table.dead_nbytes()?)
}

fn nothing_dead(nbytes: u64) -> Result<()> {
    if nbytes == 0 { Ok(()) } else { fail(format!("{nbytes} dead bytes are left")) }
}

fn make_array() -> Result<TreeDisk> {
    array_of(NROWS)
}

fn make_empty() -> Result<TreeDisk> {
    array_of(0)
}

fn array_of(nrows: usize) -> Result<TreeDisk> {
    let tree = Arc::new(MemTree::new());
    let mut array = CArrayWriter::create_in(tree.clone(), "", &options(256)?)?;
    array.append(&data(nrows * ROW_NBYTES, 1))?;
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

fn read_array(disk: &TreeDisk) -> Result<Content> {
    let content = array_in(disk.tree())?;
    repaired(disk, &content, array_in)?;
    Ok(content)
}

fn read_table(disk: &TreeDisk) -> Result<Content> {
    let content = table_in(disk.tree())?;
    repaired(disk, &content, table_in)?;
    Ok(content)
}

/// Checks that repair does not change the readable data, and leaves no fault.
fn repaired(
    disk: &TreeDisk,
    content: &Content,
    read: fn(Arc<dyn Tree>) -> Result<Content>,
) -> Result<()> {
    let tree = disk.tree();
    if repair_in(tree.clone(), "")?.is_empty() {
        return Ok(());
    }
    let again = repair_in(tree.clone(), "")?;
    match read(tree)? == *content && again.is_empty() {
        true => Ok(()),
        false => fail(format!("repaired, it is another; and again {again:?}")),
    }
}

fn array_in(tree: Arc<dyn Tree>) -> Result<Content> {
    let (DataSet::CArray(array), _) = verify(tree)? else { return fail("no array") };
    Ok(Content { data: array.read(0..array.len())?, rest: format!("{:?}", array.attrs()?) })
}

/// The rows of the first column; all others are compared with the metadata.
fn table_in(tree: Arc<dyn Tree>) -> Result<Content> {
    let (DataSet::CTable(table), _) = verify(tree)? else { return fail("no table") };
    let mut columns = vec![];
    for column in table.columns() {
        columns.push((&column.name, column.array.read(0..table.len())?));
    }
    let data = columns.first().map(|(_, data)| data.clone()).unwrap_or_default();
    Ok(Content { data, rest: format!("{:?} {columns:?}", table.attrs()?) })
}
